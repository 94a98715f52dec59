"""/cost: tokens and money, of this session by model and of the project by day."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.ui import Table
from codeagent.history.spending import Sum, Use, add_up, uses_in

_DAYS = 7
_FIGURES = ("in", "of them cached", "out", "price")


async def run(args: str, context: CommandContext) -> Outcome:
    path = context.session.history.path
    here, around = await asyncio.to_thread(_read, path.parent, path.stem)
    models = add_up(here, lambda use: use.model)
    if len(models) > 1:
        models["all"] = add_up(here, lambda use: "all")["all"]
    context.ui.show(Table(("this session", *_FIGURES), _rows(models or {"nothing asked yet": Sum()})))
    days = add_up(around, lambda use: use.day)
    newest = dict(list(days.items())[-_DAYS:])
    if newest:
        context.ui.show(Table(("this project", *_FIGURES), _rows(newest)))
    return Done()


def _read(folder: Path, session: str) -> tuple[list[Use], list[Use]]:
    """What this session used, and all of the project's together."""
    around = list(uses_in(sorted(folder.glob("*.jsonl"))))
    return list(uses_in([folder / f"{session}.jsonl"])), around


def _rows(sums: Mapping[str, Sum]) -> tuple[tuple[str, ...], ...]:
    return tuple((name, *_figures(one)) for name, one in sums.items())


def _figures(one: Sum) -> tuple[str, str, str, str]:
    share = f" ({100 * one.cached_tokens / one.prompt_tokens:.0f} %)" if one.prompt_tokens else ""
    return (f"{one.prompt_tokens:,}", f"{one.cached_tokens:,}{share}", f"{one.completion_tokens:,}", one.money)


COMMAND = Command(
    "cost", "Show tokens and money of this session and of the last days.", run, aliases=("usage", "stats")
)
