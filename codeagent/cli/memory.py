"""`codeagent memory`: the facts that were saved, from outside a conversation."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from codeagent.cli.finding import find
from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, say_raw, table, tell
from codeagent.commands.facts.gone import hidden_copy, marked
from codeagent.core.errors import StoreError
from codeagent.core.ports import Saved
from codeagent.memory.document import Document, from_bytes, to_bytes
from codeagent.memory.entry import Fact, Scope, Source, checked_type, fact_to_json, to_the_second
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.opening import elsewhere, open_backend
from codeagent.options import Options
from codeagent.settings import Loaded, load_settings
from codeagent.settings.trust import write_private
from codeagent.workspace import find_project

app = typer.Typer(help="Long-term memory.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or a beginning that only one fact has.")]


@app.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """The facts that this project sees, oldest first."""
    options: Options = ctx.obj
    _show(_open(options).visible(), json)
    if hint := elsewhere(_load(options).settings.memory.backend, options.home.facts):
        tell(str(hint))


@app.command()
def search(ctx: typer.Context, query: Annotated[list[str], typer.Argument()], json: Json = False) -> None:
    """Facts that match, best first."""
    options: Options = ctx.obj
    facts = _open(options).visible()
    _show(asyncio.run(find(options, _load(options), " ".join(query), facts)), json)


@app.command()
def add(
    ctx: typer.Context,
    fact: Annotated[list[str], typer.Argument(help="What to remember.")],
    everywhere: Annotated[bool, typer.Option("--global", help="For every project, not this one alone.")] = False,
    type: Annotated[str | None, typer.Option("--type", help="fact, preference, rule or personal_info.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Replaces what has the same key.")] = None,
    json: Json = False,
) -> None:
    """Remember something, as /save does."""
    content = " ".join(fact)
    source = Source(by="user", quote=content)
    scope: Scope = "global" if everywhere else "project"
    memory = _open(ctx.obj)
    _saved(memory.save(content, scope=scope, type=checked_type(type) if type else None, key=key, source=source), json)


@app.command()
def edit(
    ctx: typer.Context, id: Id, text: Annotated[list[str], typer.Argument(help="What it says now.")], json: Json = False
) -> None:
    """Give a fact another text; show tells the old one."""
    content = " ".join(text)
    _saved(_open(ctx.obj).edit(id, content, Source(by="user", quote=content)), json)


@app.command()
def show(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """One fact, with where it came from and what stood in its place before."""
    fact = _open(ctx.obj).get(id)
    form = fact_to_json(fact)
    if json:
        say_json(form)
        return
    say(str(form.pop("content")))
    if fact.expired(_now()):
        form["expires"] = f"{fact.expires}, expired"
    source, versions = form.pop("source"), form.pop("versions")
    rows = [(name, to_the_second(str(value))) for name, value in {**form, **source}.items() if value]
    rows += [(f"until {version.get('updated', '?')}", str(version.get("content", ""))) for version in versions]
    table(rows)


@app.command()
def rm(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """Forget a fact; undo brings it back."""
    memory = _open(ctx.obj)
    fact = memory.forget(id)
    copy = hidden_copy(fact, memory.visible())
    if json:
        say_json(fact_to_json(fact))
    else:
        tell(f"Forgotten: {fact.content}")
    if copy:
        tell(copy)


@app.command()
def forget(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """The same as rm."""
    rm(ctx, id, json)


@app.command()
def undo(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="[ID]", help="By default the fact changed last.")] = "",
    json: Json = False,
) -> None:
    """Take back the last change: what was added, forgotten, edited, replaced or imported."""
    undone = _open(ctx.obj).undo(id)
    if json:
        say_json(fact_to_json(undone.fact))
    else:
        tell(undone.told)


@app.command()
def forgotten(ctx: typer.Context, json: Json = False) -> None:
    """What undo can bring back, the newest loss first."""
    _show(_open(ctx.obj).forgotten(), json, none="Nothing that was forgotten can be brought back.")


@app.command()
def stats(ctx: typer.Context, json: Json = False) -> None:
    """How many facts there are, of which kinds, and the file that holds them."""
    memory = _open(ctx.obj)
    facts = memory.visible()
    size = memory.path.stat().st_size if memory.path.exists() else 0
    form = {
        "facts": len(facts),
        "scopes": dict(Counter(fact.scope for fact in facts)),
        "types": dict(Counter(fact.type for fact in facts)),
        "forgotten": len(memory.forgotten()),
        "all_projects": sum(fact.forgotten is None for fact in memory.all()),
        "file": str(memory.path),
        "bytes": size,
    }
    if json:
        say_json(form)
    else:
        table([(name.replace("_", " "), _cell(value)) for name, value in form.items()])


@app.command()
def export(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="Standard output without it.")] = "-",
    backend: Annotated[str, typer.Option("--backend", help="Read from this one; by default the one in use.")] = "",
) -> None:
    """All facts of all projects as JSON, forgotten ones too."""
    facts = _open(ctx.obj, backend).all()
    data = to_bytes(Document(tuple(replace(fact, imported=None) for fact in facts)))
    if file == "-":
        say_raw(data.decode())
        return
    write_private(Path(file), data)
    tell(f"Wrote {len(facts)} facts to {file}.")


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="What export wrote; - reads it.")],
    json: Json = False,
) -> None:
    """Take over facts that are not there yet."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        document = from_bytes(data, file, strict=True)
    except OSError as error:
        raise StoreError("{file} cannot be read: {reason}.", file=file, reason=error.strerror or error) from error
    except ValueError as error:
        raise StoreError("{file} holds no facts: {reason}.", file=file, reason=error) from error
    merged = _open(ctx.obj).merge(document.facts)
    if json:
        say_json(asdict(merged))
        return
    tell(f"Took over {merged.added} facts; {merged.known} were there already, {merged.refused} are not kept.")


def _load(options: Options) -> Loaded:
    project = None if options.safe_mode else find_project(options.cwd)
    flags = options.flags()
    if options.provider is not None:
        from codeagent.endpoints import named_flags

        flags = named_flags(options.provider, flags, options.environ)
    return load_settings(flags, options.environ, options.home, project)


def _open(options: Options, backend: str = "") -> LongTermMemory:
    """The facts of this project, in the backend that is named or set.

    Raises:
        StoreError: they cannot be read.
    """
    name = backend or _load(options).settings.memory.backend
    memory = LongTermMemory(open_backend(name, options.home.facts), find_project(options.cwd).id, _now)
    memory.visible()
    for notice in memory.notices():
        if notice.level == "error":
            raise StoreError("{sentence}", sentence=notice)
        tell(str(notice))
    return memory


def _now() -> datetime:
    return datetime.now(UTC)


def _saved(saved: Saved, json: bool) -> None:
    if saved.state == "refused":
        raise StoreError("{reason}", reason=saved.message)
    if json:
        say_json(asdict(saved))
    else:
        say(str(saved))


def _cell(value: object) -> str:
    return ", ".join(f"{count} {name}" for name, count in value.items()) if isinstance(value, dict) else str(value)


def _show(facts: list[Fact], json: bool, none: str = "Nothing is remembered that fits here.") -> None:
    if json:
        say_json([fact_to_json(fact) for fact in facts])
    elif facts:
        table([(fact.id, fact.scope, fact.type, marked(fact)) for fact in facts], paged=True)
    else:
        tell(none)
