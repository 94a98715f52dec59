"""/model: see or change the model."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome, Switch
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    wanted: str | None = args
    if not args:
        wanted = await context.ui.pick(f"Model (now {context.session.model.name})", context.desk.models())
    if not wanted or wanted == context.session.model.name:
        return Done()
    session = await context.desk.use_model(context.session, wanted)
    context.ui.show(Notice("The model is now {model}.", {"model": session.model.name}))
    return Switch(session)


COMMAND = Command("model", "Show or switch the model.", run, arguments="[name]")
