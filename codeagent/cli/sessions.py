"""`codeagent sessions`: list, show, export, repair and remove what was said."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, say_raw, table, tell
from codeagent.core.past import PastHit, age
from codeagent.history import repair as mending
from codeagent.history.catalog import Catalog, Found
from codeagent.history.exporting import FORMATS, write_export
from codeagent.history.index import HistoryIndex
from codeagent.history.past import SessionPast
from codeagent.history.transcript import as_markdown, read_messages
from codeagent.options import Options
from codeagent.text.secrets import mask_secrets
from codeagent.text.segment import Segmenter
from codeagent.workspace import find_project

app = typer.Typer(help="Sessions on disk.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[
    str, typer.Argument(metavar="ID", help="An id, or a beginning that only one session of the project has.")
]


@app.command("list")
def list_(
    ctx: typer.Context,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every project.")] = False,
    json: Json = False,
) -> None:
    """This project's sessions, newest first."""
    options: Options = ctx.obj
    catalog = Catalog(options.home)
    if everywhere:
        folders = sorted(path.name for path in options.home.history.glob("*") if path.is_dir())
        found = sorted((one for name in folders for one in catalog.sessions(name)), key=lambda one: -one.modified)
    else:
        found = catalog.sessions(find_project(options.cwd).id)
    if json:
        say_json([_form(one) for one in found])
    elif found:
        now = time.time()
        head = ("ID", "AGE", "SIZE", *(("PROJECT",) if everywhere else ()), "WHAT")
        rows = [_row(one, now, everywhere) for one in found]
        table([head, *rows])
    else:
        tell("There is no session yet." if everywhere else "This project has no session yet; --all lists the others'.")


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(help="Words, a path, an error line.")],
    everywhere: Annotated[bool, typer.Option("--all", help="In the sessions of every project.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Hits at most.")] = 20,
    json: Json = False,
) -> None:
    """Find what was said and returned, best first."""
    options: Options = ctx.obj
    words = Segmenter(options.home.cache, patient=True).words
    past = SessionPast(options.home, find_project(options.cwd).id, words, mask_secrets, seconds=None)
    found = asyncio.run(past.search(" ".join(query), "all" if everywhere else "project", limit=limit))
    if json:
        say_json([_hit(hit) for hit in found.hits])
        return
    for hit in found.hits:
        say(f"{hit.id}  turn {hit.turn}  {hit.role}  {age(hit.age)}")
        say("\n".join(f"    {line}" for line in hit.snippet.splitlines()))
    if found.total > len(found.hits):
        tell(f"The best {len(found.hits)} of {found.total}; --limit shows more.")
    elif not found.hits:
        tell("Nothing was found.")


@app.command()
def show(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """What was said in a session."""
    found = _find(ctx.obj, id)
    if json:
        say_json({**_form(found), "messages": list(read_messages(found.path))})
        return
    for part in as_markdown(found, brief=True):
        say(part)


@app.command()
def export(
    ctx: typer.Context,
    id: Id,
    format: Annotated[
        Literal["md", "html", "jsonl"],
        typer.Option("--format", "-f", help="Markdown, a web page that stands alone, or the records."),
    ] = "md",
    file: Annotated[Path | None, typer.Option("--output", "-o", help="A file; else standard output.")] = None,
) -> None:
    """A whole session as Markdown, as one web page, or as its records."""
    found = _find(ctx.obj, id)
    if file is not None:
        write_export(found, format, file)
        return
    for part in FORMATS[format](found):
        say_raw(f"{part}\n")


@app.command()
def repair(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """Show what is wrong with a session's file, and write a mended copy beside it."""
    found = _find(ctx.obj, id)
    faults = mending.check(found.path)
    mended = mending.write_mended(found.path) if faults else None
    if json:
        say_json({"faults": [dataclasses.asdict(fault) for fault in faults], "mended": mended.stem if mended else None})
        return
    for fault in faults:
        say(f"line {fault.line}: {fault.kind}: {fault.detail}")
    say(f"Mended copy: codeagent --resume {mended.stem}" if mended else "Nothing is wrong with it.")


@app.command()
def rm(ctx: typer.Context, ids: Annotated[list[str], typer.Argument(metavar="ID…")]) -> None:
    """Remove sessions and their archived tool results, for good."""
    for found in [_find(ctx.obj, id) for id in ids]:
        Catalog(ctx.obj.home).remove(found)
        tell(f"Removed {found.id}.")
    index = HistoryIndex(ctx.obj.home.history, mask_secrets)
    if index.path.exists():
        index.update(())


def _find(options: Options, id: str) -> Found:
    return Catalog(options.home).find(find_project(options.cwd).id, id)


def _form(found: Found) -> dict[str, Any]:
    form = dataclasses.asdict(found)
    return {**form, "path": str(found.path), "modified": datetime.fromtimestamp(found.modified, UTC).isoformat()}


def _hit(hit: PastHit) -> dict[str, Any]:
    form = dataclasses.asdict(hit)
    del form["age"]
    return {**form, "at": datetime.fromtimestamp(hit.at, UTC).isoformat()}


def _row(found: Found, now: float, everywhere: bool) -> tuple[str, ...]:
    what = found.name or found.first or "(nothing said)"
    project = (found.project_id.rpartition("-")[0],) if everywhere else ()
    return (found.id, age(now - found.modified), size(found.size), *project, shorten(what))


def shorten(text: str, most: int = 80) -> str:
    return text if len(text) <= most or not sys.stdout.isatty() else f"{text[: most - 1]}…"


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
