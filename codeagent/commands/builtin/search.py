"""/search: find what was said and returned, in this project's sessions or in all."""

from __future__ import annotations

import re

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.options import no_option
from codeagent.core.events import Notice
from codeagent.core.past import PastHits, Scope, age
from codeagent.core.ui import Table

PAGE = 20
_SCOPES: dict[str, Scope] = {"--session": "session", "--all": "all"}
_ID = re.compile(r"(?:\S+/)?(?:[mtc]\d+|m\d+-m\d+)")


async def run(args: str, context: CommandContext) -> Outcome:
    first, _, rest = args.partition(" ")
    scope = _SCOPES.get(first, "project")
    if first.startswith("--") and first not in (*_SCOPES, "--"):
        raise no_option(first, _SCOPES, "/search")
    words = rest.strip() if first.startswith("--") else args.strip()
    if not words:
        context.ui.show(Notice("Say what to look for: /search [--session|--all] <words>."))
    elif _ID.fullmatch(words):
        await _show(words, context)
    else:
        _list(words, await context.desk.past.search(words, scope, limit=PAGE, held=True), context)
    return Done()


def _list(words: str, found: PastHits, context: CommandContext) -> None:
    if found.hits:
        rows = tuple((hit.id, age(hit.age), hit.role, " ".join(hit.snippet.split())) for hit in found.hits)
        context.ui.show(Table(("id", "age", "who", "what"), rows))
    else:
        context.ui.show(Notice("Nothing was found for “{words}”.", {"words": words}))
    if found.total > len(found.hits):
        context.ui.show(Notice("The best {shown} of {count}.", {"shown": len(found.hits), "count": found.total}))
    if found.behind:
        told = {"size": f"{found.behind / 1e6:.1f}"}
        context.ui.show(Notice("{size} MB of sessions are not indexed yet; search again to go on with them.", told))
    if found.hits:
        context.ui.show(Notice("/search <id> shows a message whole."))


async def _show(id: str, context: CommandContext) -> None:
    page = await context.desk.past.read(id, limit=40_000)
    context.ui.show(page.text)
    if page.end < page.total:
        told = {"end": page.end, "total": page.total}
        context.ui.show(Notice("The first {end} of {total} characters.", told))


COMMAND = Command("search", "Find what was said and returned.", run, arguments="[--session|--all] <words>|<id>")
"""Without a flag: all sessions of the project."""
