"""`codeagent completion`: the script that teaches a shell to complete our flags and commands, and its answers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from typer.completion import get_completion_inspect_parameters, show_callback

Shell = Annotated[Literal["bash", "zsh", "fish", "powershell"], typer.Argument(help="The shell to write it for.")]


def completion(ctx: typer.Context, shell: Shell = "bash") -> None:
    """Print a completion script: eval "$(codeagent completion bash)"."""
    show_callback(ctx, ctx.command.params[0], shell)


def prepare() -> None:
    """Make Typer able to answer a shell: it does so on its own only when it may also install its scripts."""
    get_completion_inspect_parameters()
