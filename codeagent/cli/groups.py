"""The subcommands: what is loaded only when one of them is called, or help is wanted."""

from __future__ import annotations

import typer

from codeagent.cli import config, doctor, index, memory, sessions, setup
from codeagent.cli.completion import completion, prepare
from codeagent.cli.demo import demo
from codeagent.cli.stats import stats


def join(app: typer.Typer) -> None:
    """Add every subcommand to the program."""
    prepare()
    groups = {"sessions": sessions.app, "memory": memory.app, "config": config.app, "index": index.app}
    for name, group in groups.items():
        app.add_typer(group, name=name)
    app.command("setup")(setup.setup)
    app.command("doctor")(doctor.doctor)
    app.command("demo")(demo)
    app.command("stats")(stats)
    app.command("completion")(completion)
