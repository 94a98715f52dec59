"""`codeagent index`: the code index, from outside a conversation."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from shutil import get_terminal_size
from typing import Annotated, TypeVar

import typer

from codeagent.app import gather
from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, table, tell
from codeagent.codebase.index import ProjectCode
from codeagent.commands.builtin.index import built, status_table
from codeagent.core.code import unheeded
from codeagent.core.errors import UsageError
from codeagent.core.tokens import estimate_classes
from codeagent.endpoints import Endpoints
from codeagent.options import Options
from codeagent.text.segment import Segmenter
from codeagent.toolkit import make_code
from codeagent.workspace import find_project

T = TypeVar("T")

_SURE = 5.0
"""Seconds after which the rest can be told."""

app = typer.Typer(help="The index of the project's code.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def build(ctx: typer.Context, json: Json = False) -> None:
    """Bring the index up to date; where there are embeddings, make vectors too."""
    bar = _Bar() if sys.stderr.isatty() else None
    try:
        outcome = _with(ctx.obj, lambda code: code.build(bar or unheeded), vectors=True)
    except KeyboardInterrupt:
        if bar:
            bar.clear()
        tell("Interrupted. What is done is kept, and found; codeagent index build goes on from there.")
        raise
    if bar:
        bar.clear()
    if json:
        say_json(asdict(outcome))
    else:
        say(str(built(outcome)))


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(help="Names, words, a question.")],
    path: Annotated[str, typer.Option("--path", help="Only below this folder, or this file.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Hits at most.")] = 10,
    json: Json = False,
) -> None:
    """Find code, best first."""
    options: Options = ctx.obj
    if not " ".join(query).strip():
        raise UsageError("The query is empty; give names, words or a question.")
    if path and not (options.cwd / path).exists():
        raise UsageError("{path} does not exist.", path=path)
    within = str((options.cwd / path).resolve()) if path else ""
    found = _with(options, lambda code: code.search(" ".join(query), path=within, limit=limit), vectors=True)
    if json:
        say_json(asdict(found))
        return
    for hit in found.hits:
        say(f"{hit.path}:{hit.start}-{hit.end}" + (f"  {hit.kind} {hit.symbol}" if hit.symbol else ""))
        say("\n".join(f"    {line}" for line in hit.passage.split("\n")))
    if not found.hits:
        tell("Nothing was found.")
    if found.left:
        tell(f"Files that are not indexed yet: {found.left:,}; codeagent index build takes them in at once.")


@app.command()
def status(ctx: typer.Context, json: Json = False) -> None:
    """What the index holds of this project."""
    found = _with(ctx.obj, lambda code: code.status(), vectors=True)
    if json:
        say_json(asdict(found))
    else:
        table(status_table(found).rows)


@app.command("map")
def map_(
    ctx: typer.Context, tokens: Annotated[int, typer.Option("--tokens", min=100, help="Its size at most.")] = 2_000
) -> None:
    """The definitions that the rest of the code refers to most."""
    say(_with(ctx.obj, lambda code: code.map(tokens)))


def _with(options: Options, act: Callable[[ProjectCode], Awaitable[T]], *, vectors: bool = False) -> T:
    async def run() -> T:
        words = Segmenter(options.home.cache, patient=True).words
        roots = (find_project(options.cwd).top, *(path.resolve() for path in options.add_dirs))
        code = make_code(options.home, roots, options.environ, words, lambda text: estimate_classes(text.encode()))
        if vectors:
            loaded = gather(options)
            code.find_by_meaning(await Endpoints(loaded.settings, options.environ, options.home).code_embedder())
        try:
            return await act(code)
        finally:
            await code.aclose()

    return asyncio.run(run())


class _Bar:
    """One line of the terminal that tells how far it has come, and about how long the rest will take."""

    def __init__(self) -> None:
        self._what = ""
        self._began = (0.0, 0)

    def __call__(self, done: int, total: int, what: str) -> None:
        if what != self._what:
            self._what, self._began = what, (time.monotonic(), done)
        columns = get_terminal_size().columns
        told = f"{done:,}/{total:,} {what}{self._left(done, total)}"
        width = max(4, min(24, columns - len(told) - 2))
        full = width * done // max(1, total)
        sys.stderr.write(f"\r\x1b[K{'█' * full}{'░' * (width - full)} {told}"[: columns + 3])
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")

    def _left(self, done: int, total: int) -> str:
        began, before = self._began
        seconds = time.monotonic() - began
        if seconds < _SURE or done <= before:
            return ""
        rest = seconds / (done - before) * (total - done)
        return f", {rest:.0f} s left" if rest < 100 else f", {rest / 60:.0f} min left"
