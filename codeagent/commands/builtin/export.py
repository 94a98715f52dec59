"""/export: this session as a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.history.catalog import look
from codeagent.history.exporting import FORMATS, write_export


async def run(args: str, context: CommandContext) -> Outcome:
    history = context.session.history
    words = args.split(maxsplit=1)
    format = words[0].lower() if words and words[0].lower() in FORMATS else ""
    named = args if not format else "".join(words[1:])
    path = Path(history.session.cwd) / (named.strip() or f"codeagent-{history.session.id}.{format or 'md'}")
    found = look(history.path)
    if found is None:
        context.ui.show(Notice("Nothing was said yet."))
        return Done()
    ending = format or path.suffix.removeprefix(".").lower()
    await asyncio.to_thread(write_export, found, ending if ending in FORMATS else "md", path)
    context.ui.show(Notice("Written: {path}", {"path": path}))
    return Done()


COMMAND = Command("export", "Write this session to a file: Markdown, a web page, or records.", run,
                  arguments="[md|html|jsonl] [file]")  # fmt: skip
