"""`codeagent completion`: the script that teaches a shell to complete our flags and commands."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from typer.completion import get_completion_script

from codeagent.cli.output import say_raw

Shell = Annotated[Literal["bash", "zsh", "fish", "powershell"], typer.Argument(help="The shell to write it for.")]


def completion(shell: Shell = "bash") -> None:
    """Print a completion script: eval "$(codeagent completion bash)"."""
    script = get_completion_script(prog_name="codeagent", complete_var="_CODEAGENT_COMPLETE", shell=shell)
    say_raw(script + "\n")
