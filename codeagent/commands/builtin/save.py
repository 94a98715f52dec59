"""/save: keep a fact, because the user says so."""

from __future__ import annotations

from typing import Literal

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    words = args.split()
    scope: Literal["project", "global"] = "global" if "--global" in words[:1] else "project"
    content = args.removeprefix("--global").strip() if scope == "global" else args
    if not content:
        context.ui.show(Notice("Say what to keep: /save <fact>, or /save --global <fact> for every project."))
        return Done()
    saved = context.session.memory.save(content, scope=scope, by="user", quote=f"/save {args}")
    context.ui.show(Notice("{message}", {"message": saved.message}, "warning" if saved.state == "refused" else "info"))
    return Done()


COMMAND = Command(
    "save", "Remember a fact for this project (--global: for every project).", run, arguments="[--global] <fact>"
)
