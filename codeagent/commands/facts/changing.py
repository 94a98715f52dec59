"""The verbs that change what is remembered, each at the person's word; each says in one line what it did."""

from __future__ import annotations

from codeagent.commands.base import CommandContext
from codeagent.commands.facts.gone import hidden_copy
from codeagent.commands.facts.wording import read_wording
from codeagent.commands.options import text
from codeagent.core.events import Notice
from codeagent.core.ports import Saved
from codeagent.core.ui import Choice, Question
from codeagent.memory.extract import Proposal

_YES = {
    "project": Choice("project", "Yes, for this project"),
    "global": Choice("global", "Yes, for every project"),
}
_NO = (Choice("no", "No"), Choice("stop", "No, and none of the rest"))


async def save(typed: str, context: CommandContext, line: str = "/memory add") -> None:
    wording = read_wording(typed, line)
    if not wording.content:
        told = "Say what to keep: {line} <fact>, or {line} --global <fact> for every project."
        context.ui.show(Notice(told, {"line": line}))
        return
    saved = context.session.memory.save(
        wording.content,
        scope=wording.scope,
        type=wording.type,
        key=wording.key,
        by="user",
        quote=f"{line} {typed}",
    )
    context.ui.show(_told(saved))


async def edit(typed: str, context: CommandContext) -> None:
    reference, _, content = typed.partition(" ")
    if not reference:
        context.ui.show(Notice("Say which: /memory edit <id> [new text]; /memory lists them."))
        return
    memory = context.session.memory
    if not content.strip():
        edited = await context.ui.edit(memory.fact(reference).content)
        if edited is None:
            context.ui.show(Notice("Nothing was changed: /memory edit <id> <new text> does it in one line."))
            return
    else:
        edited = text(content, f"/memory edit {reference}")
    saved = memory.edit(reference, edited, quote=f"/memory edit {typed}")
    context.ui.show(_told(saved))
    if saved.state == "replaced":
        _tell_model(saved.id, context)


async def forget(typed: str, context: CommandContext) -> None:
    if not typed:
        context.ui.show(Notice("Say which: /memory forget <id>; /memory lists them."))
        return
    fact = context.session.memory.forget(typed)
    context.ui.show(Notice("Forgotten: {fact} (/memory undo brings it back)", {"fact": fact.content}))
    if copy := hidden_copy(fact, context.session.memory.facts()):
        context.ui.show(Notice("{copy}", {"copy": copy}))
    _tell_model(fact.id, context)


def _tell_model(id: str, context: CommandContext) -> None:
    if context.session.memory.in_context(id):
        context.ui.show(Notice("The model has it in its context, and is told with your next message."))


async def undo(typed: str, context: CommandContext) -> None:
    """Take back the last change, whether a fact was added, forgotten, edited or replaced."""
    undone = context.session.memory.undo(typed)
    context.ui.show(Notice("{told}", {"told": undone.told}))
    _tell_model(undone.fact.id, context)


async def suggest(typed: str, context: CommandContext) -> None:
    """Ask the model what of this conversation may be worth keeping; the person ticks each."""
    if not context.ui.interactive:
        context.ui.show(Notice("/memory suggest needs somebody who chooses.", level="warning"))
        return
    context.ui.show(Notice("Looking for what may be worth keeping in this conversation …"))
    proposals = await context.session.memory.suggest(context.session.history)
    if not proposals:
        context.ui.show(Notice("Nothing was found that is worth keeping and not remembered yet."))
        return
    kept = 0
    for number, proposal in enumerate(proposals, 1):
        answer = await context.ui.ask(_question(proposal, f"Remember this? ({number} of {len(proposals)})"))
        if answer.key not in (*_YES, "no"):
            break
        if answer.key in _YES:
            kept += _keep(proposal, everywhere=answer.key == "global", context=context)
    context.ui.show(Notice("Remembered {kept} of {count}.", {"kept": kept, "count": len(proposals)}))


def _question(proposal: Proposal, title: str) -> Question:
    first, second = ("global", "project") if proposal.scope == "global" else ("project", "global")
    return Question(title, (_YES[first], _YES[second], *_NO), proposal.content, proposal.type)


def _keep(proposal: Proposal, *, everywhere: bool, context: CommandContext) -> bool:
    saved = context.session.memory.save(
        proposal.content,
        scope="global" if everywhere else "project",
        type=proposal.type,
        by="user",
        quote="/memory suggest",
    )
    if saved.state == "refused":
        context.ui.show(_told(saved))
    return saved.state in ("saved", "replaced")


def _told(saved: Saved) -> Notice:
    return Notice("{message}", {"message": str(saved)}, "warning" if saved.state == "refused" else "info")
