"""/save: keep a fact, because the user says so."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.facts.changing import save
from codeagent.commands.facts.wording import USAGE


async def run(args: str, context: CommandContext) -> Outcome:
    await save(args, context, "/save")
    return Done()


COMMAND = Command("save", "Remember a fact for this project (--global: for every project).", run, arguments=USAGE)
