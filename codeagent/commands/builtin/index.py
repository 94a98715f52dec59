"""/index: the code index, brought up to date, searched, and told of."""

from __future__ import annotations

from codeagent.codebase.disk import LARGEST, LARGEST_DATA
from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.code import Built, CodeHit, CodeStatus
from codeagent.core.events import Notice
from codeagent.core.ui import Table

_REASONS = {"large": f"over {LARGEST // 1_000_000} MB, data over {LARGEST_DATA // 1_000} kB"}
"""Why files are left out, where one word does not say it."""
_WIDE = 60
"""Characters of the line that is shown of a hit."""
_MAP = 2_000
"""Tokens of the map as a person sees it."""


async def run(args: str, context: CommandContext) -> Outcome:
    verb, _, rest = args.strip().partition(" ")
    if verb in ("", "status"):
        context.ui.show(status_table(await context.desk.code.status()))
    elif verb == "build":
        context.ui.show(built(await context.desk.code.build()))
    elif verb == "map":
        context.ui.show(await context.desk.code.map(_MAP) or Notice("There are no definitions in the index."))
    elif verb == "search" and rest.strip():
        await _search(rest.strip(), context)
    else:
        context.ui.show(Notice("Say /index, /index build, /index search <words>, or /index map."))
    return Done()


async def _search(words: str, context: CommandContext) -> None:
    found = await context.desk.code.search(words)
    if found.hits:
        rows = tuple((f"{hit.path}:{hit.start}", hit.kind, hit.symbol, _line(hit)) for hit in found.hits)
        context.ui.show(Table(("where", "kind", "what", "line"), rows))
    else:
        context.ui.show(Notice("Nothing was found for “{words}”.", {"words": words}))
    if found.left:
        context.ui.show(
            Notice("Files that are not indexed yet: {count}; search again to go on with them.", {"count": found.left})
        )


def _line(hit: CodeHit) -> str:
    """The first line of the passage with something on it."""
    line = next((line.strip() for line in hit.passage.split("\n") if line.strip()), "")
    return line if len(line) <= _WIDE else f"{line[:_WIDE]}…"


def status_table(status: CodeStatus) -> Table:
    """What the index holds, as rows."""
    rows = [
        ("index", status.path),
        ("size", f"{status.size / 1e6:.1f} MB"),
        ("files", f"{status.files:,}"),
        ("parts", f"{status.chunks:,}"),
        ("definitions", f"{status.symbols:,}"),
        ("found by meaning", f"{status.vectors:,} parts"),
        ("not indexed yet", f"{status.left:,} files"),
        *((f"left out, {_REASONS.get(reason, reason)}", f"{count:,} files") for reason, count in status.left_out),
    ]
    if status.others:
        gone = f", {status.others_gone:,} of them gone" if status.others_gone else ""
        rows.append(("other projects", f"{status.others:,}{gone}; {status.others_files:,} files"))
    return Table(("what", "value"), tuple(rows))


def built(outcome: Built) -> Notice:
    """What a build did, in a sentence."""
    told = {"added": outcome.added, "removed": outcome.removed, "left": outcome.left}
    if outcome.by_other:
        return Notice("Another codeagent is building the index; {left} files are still to come.", told)
    if outcome.left:
        return Notice("Indexed {added} files, forgot {removed}; {left} are left for the next time.", told)
    if outcome.added or outcome.removed:
        return Notice("Indexed {added} files, forgot {removed}; the index is up to date.", told)
    return Notice("The index is up to date.")


COMMAND = Command("index", "Build, search or show the code index.", run, arguments="[build|status|search <words>|map]")
