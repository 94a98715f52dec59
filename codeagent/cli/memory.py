"""`codeagent memory`: the facts that were saved, from outside a conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, table, tell
from codeagent.core.errors import ConfigError, StoreError
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.entry import Fact, Scope, Source, fact_to_json
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.retriever import KeywordRetriever
from codeagent.options import Options
from codeagent.settings import load_settings
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
    retriever = KeywordRetriever(Segmenter(options.home.cache).words, _now)
    hits = retriever.search(" ".join(query), _open(options).visible(), top=None)
    _show([hit.fact for hit in hits], json)


@app.command()
def add(
    ctx: typer.Context,
    fact: Annotated[list[str], typer.Argument(help="What to remember.")],
    everywhere: Annotated[bool, typer.Option("--global", help="For every project, not this one alone.")] = False,
    type: Annotated[str, typer.Option("--type", help="fact, preference, rule or personal_info.")] = "fact",
    key: Annotated[str | None, typer.Option("--key", help="Replaces what has the same key.")] = None,
) -> None:
    """Remember something, as /save does."""
    content = " ".join(fact)
    source = Source(by="user", quote=content)
    scope: Scope = "global" if everywhere else "project"
    saved = _open(ctx.obj).save(content, scope=scope, type=type, key=key, source=source)
    if saved.state == "refused":
        raise StoreError("{reason}", reason=saved.message)
    say(f"{saved.message}  [{saved.id}]")


@app.command()
def show(ctx: typer.Context, id: Id, json: Json = False) -> None:
    """One fact, with where it came from and what stood in its place before."""
    form = fact_to_json(_one(_open(ctx.obj).visible(), id))
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
    """Forget a fact."""
    fact = _open(ctx.obj).forget(id)
    tell(f"Forgotten: {fact.content}")


def _open(options: Options) -> LongTermMemory:
    project = find_project(options.cwd)
    loaded = load_settings(options.flags(), options.environ, options.home, None if options.safe_mode else project)
    kinds = {kind.name: kind for kind in discover(backends, "BACKEND").values()}
    kind = kinds.get(loaded.settings.memory.backend)
    if kind is None:
        raise ConfigError(
            "There is no memory backend {name}.", name=loaded.settings.memory.backend, hint=f"Known: {', '.join(kinds)}"
        )
    memory = LongTermMemory(kind.open(options.home.facts), project.id, _now)
    memory.visible()
    for notice in memory.notices():
        tell(str(notice))
    return memory


def _now() -> datetime:
    return datetime.now(UTC)


def _one(facts: list[Fact], id: str) -> Fact:
    found = [fact for fact in facts if fact.id == id] or [fact for fact in facts if id and fact.id.startswith(id)]
    if len(found) != 1:
        word = "Several facts have" if found else "No fact has"
        raise StoreError(word + " an id that begins with {id}.", id=id, hint="See: codeagent memory list")
    return found[0]


def _show(facts: list[Fact], json: bool) -> None:
    if json:
        say_json([fact_to_json(fact) for fact in facts])
    elif facts:
        table([(fact.id, fact.scope, fact.type, fact.content) for fact in facts])
    else:
        tell("Nothing is remembered that fits here.")
