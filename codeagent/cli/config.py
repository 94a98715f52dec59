"""`codeagent config`: what is set, where it came from, and the files that hold it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, table, tell
from codeagent.core.errors import UsageError
from codeagent.core.messages import encode_json
from codeagent.core.paths import Project
from codeagent.options import Options
from codeagent.settings import Loaded, Trust, known_keys, load_settings
from codeagent.settings.load import masked, unknown_setting
from codeagent.settings.trust import agents, hooks
from codeagent.settings.write import write_setting
from codeagent.workspace import find_project

app = typer.Typer(help="Settings.", no_args_is_help=True, rich_markup_mode=None)

Key = Annotated[str, typer.Argument(metavar="KEY", help="As in `config show`, e.g. model or shell.timeout.")]


@app.command()
def show(ctx: typer.Context, json: Json = False) -> None:
    """Every setting, its value, and where the value came from."""
    loaded = _load(ctx.obj)
    if json:
        say_json({key: {"value": origin.value, "source": origin.source} for key, origin in loaded.origins.items()})
        return
    home = str(Path.home())
    table(
        [(key, _text(origin.value) or "-", origin.source.replace(home, "~")) for key, origin in loaded.origins.items()]
    )
    for notice in loaded.notices:
        tell(str(notice))


@app.command()
def get(ctx: typer.Context, key: Key, json: Json = False) -> None:
    """The value of one setting (keys are masked)."""
    if key not in known_keys():
        raise unknown_setting(key)
    value = _load(ctx.obj).origins[key].value
    if json:
        say_json(value)
    else:
        say("" if value is None else _text(value))


@app.command("set")
def set_(
    ctx: typer.Context,
    key: Key,
    value: Annotated[str | None, typer.Argument(help="Lists: parts between commas.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Take the setting out of the file.")] = False,
    project: Annotated[bool, typer.Option("--project", help="For everyone who works on this project.")] = False,
    local: Annotated[bool, typer.Option("--local", help="For this checkout of the project.")] = False,
) -> None:
    """Change a setting in your own file, or in the project's; comments stay."""
    if (value is None) != unset:
        raise UsageError("Give a value, or --unset.")
    if project and local:
        raise UsageError("--project and --local exclude each other.")
    options: Options = ctx.obj
    here = find_project(options.cwd)
    trust = Trust(options.home)
    trusted = trust.state(here) == "trusted"
    path = here.folder / ("config.local.toml" if local else "config.toml") if project or local else options.home.config
    written = write_setting(path, key, value)
    if (project or local) and trusted:
        trust.grant(here)  # the change is the person's own
    shown = masked(str(written)) if key == "api_key" else _text(written)
    say(f"{key} is no longer set in {path}" if unset else f"{key} = {shown}  in {path}")


@app.command()
def path(ctx: typer.Context, json: Json = False) -> None:
    """The files that are read, the strongest first."""
    options: Options = ctx.obj
    folder = find_project(options.cwd).folder
    files = [folder / "config.local.toml", folder / "config.toml", options.home.config]
    if json:
        say_json([{"path": str(file), "exists": file.is_file()} for file in files])
        return
    table([(str(file), "" if file.is_file() else "(not there)") for file in files])


@app.command()
def trust(
    ctx: typer.Context,
    remove: Annotated[bool, typer.Option("--remove", help="Trust the folder no longer.")] = False,
) -> None:
    """Let this project's files set endpoint, key, permissions and providers, until they change."""
    options: Options = ctx.obj
    project = find_project(options.cwd)
    if remove:
        had = Trust(options.home).revoke(project)
        say(f"{project.top} is {'no longer' if had else 'not'} trusted.")
        return
    _show_granted(options, project)
    Trust(options.home).grant(project)
    say(f"{project.top} is trusted, as its configuration is now. Take back: codeagent config trust --remove")


def _show_granted(options: Options, project: Project) -> None:
    for notice in load_settings({}, options.environ, options.home, project).notices:
        if "keys" in notice.arguments:
            say(f"Now allowed: {notice.arguments['keys']}")
    if names := hooks(project):
        say(f"Now run at their moments: {', '.join(names)}")
    if names := agents(project):
        say(f"Now offered as subagents: {', '.join(names)}")


def _load(options: Options) -> Loaded:
    project = None if options.safe_mode else find_project(options.cwd)
    return load_settings(options.flags(), options.environ, options.home, project)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else encode_json(value).decode()
