"""`codeagent demo`: a short real job with a scripted model, in a folder of its own that is gone afterwards.

`world` makes the folder, `script` reads what is said (`en.toml`, `zh.toml`), `stage` types and shows it, `play` is the
performance. Everything but the model's words is the product itself.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from codeagent.options import Options

Fast = Annotated[bool, typer.Option("--fast", help="Without pauses.")]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the temporary folder behind, to look at.")]


def demo(ctx: typer.Context, fast: Fast = False, keep: Keep = False) -> None:
    """Show a short job: a scripted model, real tools, no network, no key."""
    raise typer.Exit(show(ctx.obj, fast=fast, keep=keep))


def show(options: Options, *, fast: bool = False, keep: bool = False) -> int:
    """Perform the demonstration; returns the exit code."""
    from codeagent.cli.demo.play import perform

    return asyncio.run(perform(options, fast=fast, keep=keep))
