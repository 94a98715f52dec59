"""/memory: look at and take back what is remembered."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.core.ui import Table


async def run(args: str, context: CommandContext) -> Outcome:
    verb, _, rest = args.partition(" ")
    verbs = {"": _list, "list": _list, "search": _list, "forget": _forget}
    if verb not in verbs:
        context.ui.show(Notice("/memory knows list, search <words> and forget <id>.", level="warning"))
        return Done()
    verbs[verb](rest.strip(), context)
    return Done()


def _list(words: str, context: CommandContext) -> None:
    facts = context.session.memory.facts(words or None)
    if not facts:
        context.ui.show(Notice("Nothing is remembered here{what}.", {"what": f" about “{words}”" if words else ""}))
        return
    rows = tuple((fact.id, fact.scope, fact.type, fact.content) for fact in facts)
    context.ui.show(Table(("id", "scope", "type", "fact"), rows))


def _forget(wanted: str, context: CommandContext) -> None:
    if not wanted:
        context.ui.show(Notice("Say which: /memory forget <id>; /memory lists them."))
        return
    fact = context.session.memory.forget(wanted)
    context.ui.show(Notice("Forgotten: {fact}", {"fact": fact.content}))


COMMAND = Command(
    "memory", "List, search or forget remembered facts.", run, arguments="[list|search <words>|forget <id>]"
)
