"""/copy: the newest answer, or a code block of it, into the clipboard."""

from __future__ import annotations

import re

from codeagent.agent.session import Session
from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.core.messages import AssistantMessage
from codeagent.core.ui import Row

_BLOCK = re.compile(r"^[ \t>]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ \t>]*\1[`~]*[ \t]*$", re.M | re.S)


async def run(args: str, context: CommandContext) -> Outcome:
    answer = _answer(context.session)
    blocks = [found[2] for found in _BLOCK.finditer(answer)]
    if not answer:
        context.ui.show(Notice("There is no answer to copy yet."))
    elif not args:
        await _copy(answer, context)
    elif args == "code" and not blocks:
        context.ui.show(Notice("There is no code in the last answer."))
    elif args == "code":
        await _copy(await _picked(blocks, context), context)
    elif args.isdecimal() and 1 <= int(args) <= len(blocks):
        await _copy(blocks[int(args) - 1], context)
    else:
        message = "/copy takes nothing, “code”, or the number of a code block; the last answer has {count}."
        context.ui.show(Notice(message, {"count": len(blocks)}, "warning"))
    return Done()


def _answer(session: Session) -> str:
    texts = (entry.message.text for entry in reversed(session.history.entries) if _speaks(entry.message))
    return next(texts, "")


def _speaks(message: object) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.text.strip())


async def _picked(blocks: list[str], context: CommandContext) -> str:
    if len(blocks) == 1:
        return blocks[0]
    rows = [Row(str(place), (str(place + 1), _first_line(block))) for place, block in enumerate(blocks)]
    picked = await context.ui.pick("Copy which code block?", rows)
    return blocks[int(picked)] if picked else ""


async def _copy(text: str, context: CommandContext) -> None:
    if not text:
        return
    if await context.ui.copy(text.rstrip("\n")):
        context.ui.show(Notice("Copied: {line}", {"line": _first_line(text)}))
    else:
        context.ui.show(Notice("This is too long for the terminal's clipboard; /export writes a file.", {}, "warning"))


def _first_line(text: str, most: int = 60) -> str:
    line, _, more = text.strip().partition("\n")
    return f"{line[:most]} …" if more or len(line) > most else line


COMMAND = Command("copy", "Copy the last answer, or a code block of it.", run, arguments="[code|number]")
