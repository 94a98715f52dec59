"""`codeagent memory`: the facts that were saved, from outside a conversation."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, say_raw, table, tell
from codeagent.core.errors import ConfigError, StoreError
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.document import Document, from_bytes, to_bytes
from codeagent.memory.entry import Fact, Scope, Source, checked_type, fact_to_json
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.retriever import KeywordRetriever
from codeagent.options import Options
from codeagent.settings import load_settings
from codeagent.settings.schema import MemorySettings
from codeagent.settings.trust import write_private
from codeagent.text.segment import Segmenter
from codeagent.workspace import find_project

app = typer.Typer(help="Long-term memory.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or a beginning that only one fact has.")]


@app.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """The facts that this project sees, oldest first."""
    _show(_open(ctx.obj).visible(), json)


@app.command()
def search(ctx: typer.Context, query: Annotated[list[str], typer.Argument()], json: Json = False) -> None:
    """Facts that match, best first."""
    options: Options = ctx.obj
    kind = KeywordRetriever if _settings(options).retriever == "keyword" else Bm25Retriever
    hits = kind(Segmenter(options.home.cache).words, _now).search(" ".join(query), _open(options).visible(), top=None)
    _show([hit.fact for hit in hits], json)


@app.command()
def add(
    ctx: typer.Context,
    fact: Annotated[list[str], typer.Argument(help="What to remember.")],
    everywhere: Annotated[bool, typer.Option("--global", help="For every project, not this one alone.")] = False,
    type: Annotated[str | None, typer.Option("--type", help="fact, preference, rule or personal_info.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Replaces what has the same key.")] = None,
) -> None:
    """Remember something, as /save does."""
    content = " ".join(fact)
    source = Source(by="user", quote=content)
    scope: Scope = "global" if everywhere else "project"
    saved = _open(ctx.obj).save(content, scope=scope, type=checked_type(type) if type else None, key=key, source=source)
    if saved.state == "refused":
        raise StoreError("{reason}", reason=saved.message)
    say(f"{saved.message}  [{saved.id}]")


@app.command()
def show(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """One fact, with where it came from and what stood in its place before."""
    form = fact_to_json(_open(ctx.obj).get(id))
    if json:
        say_json(form)
        return
    say(str(form.pop("content")))
    source, versions = form.pop("source"), form.pop("versions")
    rows = [(name, str(value)) for name, value in {**form, **source}.items() if value]
    rows += [(f"until {version.get('updated', '?')}", str(version.get("content", ""))) for version in versions]
    table(rows)


@app.command()
def rm(ctx: typer.Context, id: Id) -> None:
    """Forget a fact; undo brings it back."""
    fact = _open(ctx.obj).forget(id)
    tell(f"Forgotten: {fact.content}")


@app.command()
def undo(
    ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="[ID]", help="By default the newest loss.")] = ""
) -> None:
    """Bring a forgotten fact back."""
    tell(f"Remembered again: {_open(ctx.obj).undo(id).content}")


@app.command()
def export(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="Standard output without it.")] = "-",
    backend: Annotated[str, typer.Option("--backend", help="Read from this one; by default the one in use.")] = "",
) -> None:
    """All facts of all projects as JSON, forgotten ones too."""
    facts = _open(ctx.obj, backend).all()
    data = to_bytes(Document(tuple(facts)))
    if file == "-":
        say_raw(data.decode())
        return
    write_private(Path(file), data)
    tell(f"Wrote {len(facts)} facts to {file}.")


@app.command("import")
def import_(ctx: typer.Context, file: Annotated[str, typer.Argument(help="What export wrote; - reads it.")]) -> None:
    """Take over facts that are not there yet."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        document = from_bytes(data, file)
    except OSError as error:
        raise StoreError("{file} cannot be read: {reason}.", file=file, reason=error.strerror or error) from error
    except ValueError as error:
        raise StoreError("{file} holds no facts: {reason}.", file=file, reason=error) from error
    merged = _open(ctx.obj).merge(document.facts)
    tell(f"Took over {merged.added} facts; {merged.known} were there already, {merged.refused} are not kept.")


def _settings(options: Options) -> MemorySettings:
    project = find_project(options.cwd)
    flags = options.flags()
    return load_settings(flags, options.environ, options.home, None if options.safe_mode else project).settings.memory


def _open(options: Options, backend: str = "") -> LongTermMemory:
    """The facts of this project, in the backend that is named or set.

    Raises:
        StoreError: they cannot be read.
    """
    kinds = {kind.name: kind for kind in discover(backends, "BACKEND").values()}
    name = backend or _settings(options).backend
    kind = kinds.get(name)
    if kind is None:
        raise ConfigError("There is no memory backend {name}.", name=name, hint=f"Known: {', '.join(kinds)}")
    memory = LongTermMemory(kind.open(options.home.facts), find_project(options.cwd).id, _now)
    memory.visible()
    for notice in memory.notices():
        if notice.level == "error":
            raise StoreError("{sentence}", sentence=notice)
        tell(str(notice))
    return memory


def _now() -> datetime:
    return datetime.now(UTC)


def _show(facts: list[Fact], json: bool) -> None:
    if json:
        say_json([fact_to_json(fact) for fact in facts])
    elif facts:
        table([(fact.id, fact.scope, fact.type, fact.content) for fact in facts], paged=True)
    else:
        tell("Nothing is remembered that fits here.")
