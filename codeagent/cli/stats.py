"""`codeagent stats`: tokens, money and sessions, day by day and by model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any

import typer

from codeagent.cli.flags import Json
from codeagent.cli.output import say, say_json, table, tell
from codeagent.history.catalog import Catalog
from codeagent.history.spending import Sum, add_up, uses_in
from codeagent.options import Options
from codeagent.ui.render import tokens
from codeagent.workspace import find_project

_EIGHTHS = " ▏▎▍▌▋▊▉"
_NARROW = 60
"""Columns of a terminal below which a day is told in brief."""


def stats(
    ctx: typer.Context,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every project.")] = False,
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many days, today the last.")] = 14,
    json: Json = False,
) -> None:
    """What models were asked for: tokens, money and sessions by day and by model."""
    options: Options = ctx.obj
    catalog = Catalog(options.home)
    paths = catalog.files() if everywhere else catalog.files(find_project(options.cwd).id)
    today = date.today()
    dates = [f"{today - timedelta(days=back):%Y-%m-%d}" for back in reversed(range(days))]
    uses = [use for use in uses_in(paths) if dates[0] <= use.day <= dates[-1]]
    by_day = {day: Sum() for day in dates} | add_up(uses, lambda use: use.day)
    by_model = add_up(uses, lambda use: use.model)
    if json:
        say_json({"days": _listed(by_day, "day"), "models": _listed(by_model, "model")})
    elif not uses:
        told = "No model was asked in the last {days} days"
        tell(told.format(days=days) + ("." if everywhere else " in this project; --all counts the others."))
    else:
        for line in chart(by_day, shutil.get_terminal_size().columns):
            say(line)
        say()
        head = ("MODEL", "IN", "CACHED", "OUT", "PRICE")
        table([head, *(_row(model, one) for model, one in by_model.items())])


def chart(by_day: Mapping[str, Sum], cells: int) -> Sequence[str]:
    """A line for each day: a bar for its tokens, then the figures; no wider than `cells`."""
    narrow = cells < _NARROW
    told = {day: _told(one, narrow) for day, one in by_day.items()}
    names = {day: day[5:] if narrow else day for day in by_day}
    figures = max(map(len, told.values()))
    room = max(cells - max(map(len, names.values())) - figures - 3, 4)
    most = max(one.tokens for one in by_day.values()) or 1
    lines = []
    for day, one in by_day.items():
        bar = _bar(one.tokens / most, room)
        lines.append(f"{names[day]} {bar}{' ' * (room - len(bar))} {told[day]}".rstrip())
    return lines


def _bar(share: float, room: int) -> str:
    whole, rest = divmod(round(share * room * 8), 8)
    # A day with anything at all shows.
    return "█" * whole + (_EIGHTHS[rest] if rest else "") or ("▏" if share else "")


def _told(one: Sum, narrow: bool) -> str:
    if not one.answers:
        return ""
    count = len(one.sessions)
    money = "$?" if one.unpriced == one.answers else f"${one.cost_usd:,.2f}{'+?' if one.unpriced else ''}"
    if narrow:
        return f"{tokens(one.tokens)} {money} {count}"
    return f"{tokens(one.tokens)} tokens · {money} · {count} session{'s' * (count != 1)}"


def _row(model: str, one: Sum) -> tuple[str, ...]:
    counts = (one.prompt_tokens, one.cached_tokens, one.completion_tokens)
    return (model, *(f"{count:,}" for count in counts), one.money)


def _listed(sums: Mapping[str, Sum], name: str) -> list[dict[str, Any]]:
    return [
        {
            name: key,
            "sessions": len(one.sessions),
            "answers": one.answers,
            "prompt_tokens": one.prompt_tokens,
            "cached_tokens": one.cached_tokens,
            "completion_tokens": one.completion_tokens,
            "cost_usd": round(one.cost_usd, 6),
            "unpriced": one.unpriced,
        }
        for key, one in sums.items()
    ]
