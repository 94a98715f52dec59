"""The Typer application: flags into `Options`, subcommands by group."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Sequence
from typing import Any

import typer

from codeagent import __version__
from codeagent.cli import flags
from codeagent.cli.argv import COMMANDS, normalise
from codeagent.cli.output import say
from codeagent.cli.surroundings import here, on_terminal
from codeagent.core.errors import UsageError
from codeagent.core.plugins import discover
from codeagent.history.catalog import checked_id
from codeagent.options import Options, split_list

COMPLETION = "_CODEAGENT_COMPLETE"
"""Set by the completion script when it asks."""


def start(
    ctx: typer.Context,
    text: flags.Text = None,
    once: flags.Once = False,
    output: flags.OutputFormat = "text",
    input: flags.InputFormat = "text",
    newest: flags.Newest = False,
    resume: flags.Resume = None,
    pick: flags.Pick = False,
    fork: flags.Fork = False,
    session_id: flags.SessionId = None,
    name: flags.Name = None,
    model: flags.Model = None,
    base_url: flags.BaseUrl = None,
    small_model: flags.SmallModel = None,
    effort: flags.EffortFlag = None,
    permission_mode: flags.PermissionMode = None,
    yolo: flags.Yolo = False,
    allowed_tools: flags.Allowed = None,
    disallowed_tools: flags.Disallowed = None,
    add_dirs: flags.AddDirs = None,
    sandbox: flags.Sandbox = None,
    max_turns: flags.MaxTurns = None,
    max_budget_usd: flags.MaxBudget = None,
    max_tokens_total: flags.MaxTokens = None,
    timeout: flags.Timeout = None,
    system_prompt: flags.SystemPrompt = None,
    append_system_prompt: flags.AppendPrompt = None,
    no_mask: flags.NoMask = False,
    safe_mode: flags.SafeMode = False,
    provider: flags.Provider = None,
    verbose: flags.Verbose = False,
    version: flags.Version = False,
    debug: flags.Debug = False,
) -> None:
    """A coding agent for the terminal. Without a command it opens a conversation; words are its first message."""
    if version:
        say(f"codeagent {__version__}")
        raise typer.Exit
    ctx.obj = options_from(ctx.params)
    if ctx.invoked_subcommand is None:
        raise typer.Exit(_converse(ctx.obj))


def program(*, whole: bool) -> typer.Typer:
    """The application; `whole` with its subcommands, which a plain conversation need not load."""
    app = typer.Typer(
        name="codeagent",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        subcommand_metavar="[WORDS…] | COMMAND",
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="`codeagent run TEXT` and `codeagent exec TEXT` mean `codeagent -p TEXT`.",
    )
    app.callback(invoke_without_command=True)(start)
    if whole:
        from codeagent.cli import groups

        groups.join(app)
    return app


def run_command(argv: Sequence[str]) -> int:
    """Run what `argv` says, through Typer; usage errors end with SystemExit(2)."""
    words = normalise(argv)
    whole = COMPLETION in os.environ or not {*COMMANDS, "-h", "--help"}.isdisjoint(words)
    command = typer.main.get_command(program(whole=whole))
    try:
        command.main(args=words, prog_name="codeagent", complete_var=COMPLETION)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    return 0


def options_from(params: dict[str, Any]) -> Options:
    """Raises UsageError for flags that contradict each other."""
    fields = {field.name for field in dataclasses.fields(Options)}
    given = {key: value for key, value in params.items() if key in fields}
    for key in ("allowed_tools", "disallowed_tools"):
        given[key] = tuple(rule for part in given[key] or () for rule in split_list(part))
    given["add_dirs"] = tuple(path.resolve() for path in given["add_dirs"] or ())
    if params["yolo"]:
        if given["permission_mode"] not in (None, "yolo"):
            raise UsageError("--yolo and --permission-mode {mode} exclude each other.", mode=given["permission_mode"])
        given["permission_mode"] = "yolo"
    for key in ("timeout", "max_budget_usd"):
        if given[key] == 0:
            raise UsageError("--{flag} must be above zero.", flag=key.replace("_", "-"))
    options = dataclasses.replace(here(), **given)
    if sum((options.newest, options.pick, options.resume is not None)) > 1:
        raise UsageError("--continue and --resume exclude each other.")
    goes_on = options.newest or options.pick or options.resume is not None
    if options.fork and not goes_on:
        raise UsageError("--fork-session needs --resume or --continue.")
    if options.session_id is not None:
        checked_id(options.session_id)
        if goes_on and not options.fork:
            raise UsageError("--session-id names a new session; with --resume or --continue add --fork-session.")
    if rules := (*options.allowed_tools, *options.disallowed_tools):
        _check_rules(rules)
    return options


_ELSEWHERE = {
    "bash": "shell",
    "read": "read_file",
    "write": "write_file",
    "edit": "edit_file",
    "multiedit": "edit_file",
}
"""What our tools are called in other programs."""


def _check_rules(rules: Sequence[str]) -> None:
    """Raises UsageError for a rule about a tool that is not there: it would let happen what it is to forbid."""
    from codeagent.safety.rules import parse_rules
    from codeagent.tools import builtin

    names = sorted(tool.name for tool in discover(builtin, "TOOL").values())
    for rule in parse_rules(rules):
        if rule.tool not in names and not rule.tool.startswith("mcp__"):
            meant = _ELSEWHERE.get(rule.tool.casefold(), rule.tool.casefold())
            near = difflib.get_close_matches(meant, names, n=1, cutoff=0.4)
            raise UsageError(
                "There is no tool {name}.",
                name=rule.tool,
                hint=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}.",
            )


def _converse(options: Options) -> int:
    """The conversation, or one shot of it: also where nobody sits at standard input."""
    if options.once or not on_terminal():
        from codeagent.cli.once import run_once

        return run_once(options)
    from codeagent.cli.start import start_repl

    return start_repl(options)
