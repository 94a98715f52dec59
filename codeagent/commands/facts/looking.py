"""The verbs that show what is remembered and what the model has of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from codeagent.commands.base import CommandContext
from codeagent.commands.facts.gone import marked
from codeagent.core.events import Notice
from codeagent.core.tokens import estimate_tokens
from codeagent.core.ui import Table
from codeagent.memory.entry import Fact, to_the_second
from codeagent.memory.injected import TASK, Injected
from codeagent.memory.injected import injected as in_context
from codeagent.memory.repeats import Repeats
from codeagent.tools.paths import counted

PAGE = 40


async def list_(typed: str, context: CommandContext) -> None:
    if typed and not typed.isdecimal():
        await search(typed, context)
        return
    _page(context.session.memory.facts(), int(typed or 1), "/memory list", context)
    if hint := await context.session.memory.elsewhere():
        context.ui.show(hint)


async def forgotten(typed: str, context: CommandContext) -> None:
    """What can be brought back, the newest loss first."""
    gone = context.session.memory.forgotten()
    if not gone:
        context.ui.show(Notice("Nothing that was forgotten can be brought back here."))
        return
    _page(gone, int(typed) if typed.isdecimal() else 1, "/memory forgotten", context)
    context.ui.show(Notice("/memory undo <id> brings one back."))


async def search(typed: str, context: CommandContext) -> None:
    if not typed:
        context.ui.show(Notice("Say what to look for: /memory search <words>."))
        return
    memory = context.session.memory
    await memory.prepare(typed)
    found = memory.facts(typed)
    if not found:
        context.ui.show(Notice("Nothing is remembered here about “{words}”.", {"words": typed}))
        return
    context.ui.show(_table(found[:PAGE]))
    if len(found) > PAGE:
        context.ui.show(Notice("The best {shown} of {count}.", {"shown": PAGE, "count": len(found)}))


async def show(typed: str, context: CommandContext) -> None:
    if not typed:
        context.ui.show(Notice("Say which: /memory show <id>; /memory lists them."))
        return
    fact = context.session.memory.fact(typed)
    source = fact.source
    rows = [
        ("id", fact.id),
        ("type", fact.type),
        ("scope", fact.scope if fact.project is None else f"{fact.scope} {fact.project}"),
        ("key", fact.key or ""),
        ("created", to_the_second(fact.created)),
        ("updated", fact.updated),
        ("expires", _expiry(fact)),
        ("asked by", {"user": "you", "tool": "the model, at your word"}.get(source.by, source.by)),
        ("in session", f"{source.session}, turn {source.turn}" if source.session else ""),
        ("you said", source.quote),
        *((f"until {version.get('updated', '?')}", str(version.get("content", ""))) for version in fact.versions),
    ]
    context.ui.show(fact.content)
    context.ui.show(Table(("", ""), tuple(row for row in rows if row[1])))


async def injected(typed: str, context: CommandContext) -> None:
    """Exactly what the model has in its context now."""
    found = in_context(context.session.history)
    if not found:
        context.ui.show(Notice("The model has nothing of memory in its context now."))
        return
    context.ui.show(Table(("where", "id", "what"), tuple(_shown(item) for item in found)))
    tokens = sum(estimate_tokens(item.content) for item in found)
    context.ui.show(Notice("{count} in the context, about {tokens} tokens.", {"count": len(found), "tokens": tokens}))


def _shown(item: Injected) -> tuple[str, str, str]:
    """One line of it; the id of a passage is that of the message that said it."""
    said = "said in " if item.passage else ""
    return item.where, f"{said}{item.id}", item.content


async def stats(typed: str, context: CommandContext) -> None:
    memory, budget = context.session.memory, context.session.model.budget
    facts, files = memory.facts(), memory.instructions()
    scopes, types = Counter(fact.scope for fact in facts), Counter(fact.type for fact in facts)
    held = [item for item in in_context(context.session.history) if item.id != TASK]
    size = memory.place.stat().st_size if memory.place.exists() else 0
    rows = (
        ("facts", f"{len(facts):,} ({scopes['project']} of this project, {scopes['global']} global)"),
        ("types", ", ".join(f"{count} {name}" for name, count in types.most_common())),
        ("forgotten", f"{len(memory.forgotten()):,}, can be brought back"),
        ("file", f"{memory.place} ({size:,} bytes)"),
        ("in context", _share(_held(held), sum(estimate_tokens(item.content) for item in held), budget.facts)),
        ("task memory", f"{estimate_tokens(memory.task.load()):,} tokens, {memory.task.folder}"),
        ("instructions", _share(counted(len(files), "file"), sum(tokens for _, tokens in files), budget.static)),
        *(("", f"{name}: {tokens:,} tokens") for name, tokens in files),
        ("repeated", _repeated(await context.session.watch.repeats())),
    )
    context.ui.show(Table(("memory", ""), rows))


async def reload(typed: str, context: CommandContext) -> None:
    context.session.reload()
    files = [name for name, _ in context.session.memory.instructions()]
    count = len(context.session.memory.facts())
    told = {"files": ", ".join(files) or "no CODEAGENT.md", "facts": f"{count} fact{'s' * (count != 1)}"}
    context.ui.show(Notice("The next message reads anew: task memory, {files}, and {facts}.", told))


def _repeated(repeats: Repeats) -> str:
    """Reads and commands done again: many more of them after a compaction say that it lost too much."""
    before, after = repeats.before, repeats.after
    told = f"{before.repeats:,} of {before.deeds:,} reads and commands"
    return f"{told} before the first compaction, {after.repeats:,} of {after.deeds:,} since" if after.deeds else told


def _expiry(fact: Fact) -> str:
    return f"{fact.expires}, expired" if fact.expired(datetime.now(UTC)) else fact.expires or ""


def _held(held: Sequence[Injected]) -> str:
    """Facts, and what stands beside them of the conversation itself."""
    passages = sum(item.passage for item in held)
    facts = counted(len(held) - passages, "fact")
    return f"{facts} and {counted(passages, 'earlier passage')}" if passages else facts


def _share(what: str, tokens: int, budget: int) -> str:
    return f"{what}, {tokens:,} of {budget:,} tokens"


def _page(facts: Sequence[Fact], page: int, line: str, context: CommandContext) -> None:
    if not facts:
        context.ui.show(Notice("Nothing is remembered here."))
        return
    pages = -(-len(facts) // PAGE)
    page = min(max(page, 1), pages)
    context.ui.show(_table(facts[(page - 1) * PAGE : page * PAGE]))
    if pages > 1:
        told = {"page": page, "pages": pages, "count": len(facts), "line": line, "next": page % pages + 1}
        context.ui.show(Notice("Page {page} of {pages}, {count} facts; go on with {line} {next}.", told))


def _table(facts: Sequence[Fact]) -> Table:
    return Table(
        ("id", "scope", "type", "fact"), tuple((fact.id, fact.scope, fact.type, marked(fact)) for fact in facts)
    )
