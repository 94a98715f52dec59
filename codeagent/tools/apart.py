"""Our own search in a process of its own: a pattern that goes astray there can be ended, and stops nothing else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from codeagent.tools.base import ToolFault
from codeagent.tools.own_search import search_python
from codeagent.tools.process import capture
from codeagent.tools.queries import Hit, Query
from codeagent.tools.walking import Surroundings

SECONDS = 30.0
_PACKAGES = Path(__file__).parents[2]
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from codeagent.tools.apart import main; main(sys.argv[2])"
_KNOWN = ("HOME", "XDG_CONFIG_HOME")


@dataclass(frozen=True, slots=True)
class _Place:
    roots: tuple[Path, ...]
    environ: Mapping[str, str]


async def search_apart(query: Query, ctx: Surroundings, seconds: float = SECONDS) -> list[Hit]:
    """What `search_python` finds.

    Raises:
        ToolFault: the pattern is not a regular expression, or the search took more than `seconds`.
    """
    environ = {name: ctx.environ[name] for name in _KNOWN if name in ctx.environ}
    asked = json.dumps([asdict(query) | {"target": str(query.target)}, [str(root) for root in ctx.roots], environ])
    argv = [sys.executable, "-P", "-W", "ignore", "-c", _PROGRAM, str(_PACKAGES), asked]
    try:
        async with asyncio.timeout(seconds):
            data, code = await capture(argv, cwd=ctx.roots[0], environ=ctx.environ)
    except TimeoutError:
        raise too_slow(seconds) from None
    answer = json.loads(data) if code == 0 else {"fault": "The search failed: it ended early.", "summary": "failed"}
    if isinstance(answer, dict):
        raise ToolFault(answer["fault"], answer["summary"])
    return [Hit(Path(path), number, text, match) for path, number, text, match in answer]


def too_slow(seconds: float) -> ToolFault:
    return ToolFault(
        f"The search was ended after {seconds:g} s: narrow path or glob, or write a simpler pattern; nested "
        "repetitions like (x+)+ can take for ever.",
        "too slow",
    )


def main(asked: str) -> None:
    """The program of that process: prints the hits as JSON."""
    fields, roots, environ = json.loads(asked)
    query = Query(**{**fields, "target": Path(fields["target"])})
    try:
        hits = search_python(query, _Place(tuple(map(Path, roots)), environ))
        answer: object = [(str(hit.path), hit.number, hit.text, hit.match) for hit in hits]
    except ToolFault as fault:
        answer = {"fault": str(fault), "summary": fault.summary}
    sys.stdout.write(json.dumps(answer))
