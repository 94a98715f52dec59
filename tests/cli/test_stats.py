"""`codeagent stats`: tokens and money over time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from codeagent.cli.stats import chart
from codeagent.core.paths import Home
from codeagent.history.spending import Sum
from codeagent.workspace import find_project
from tests.cli.conftest import Cli

DAYS = {
    "2026-11-29": Sum(2, 1_000_000, 0, 200_000, 1.5, 0, frozenset("ab")),
    "2026-11-30": Sum(),
    "2026-12-01": Sum(1, 300_000, 0, 0, 0.0, 1, frozenset("c")),
}


def test_the_chart_in_a_wide_terminal() -> None:
    assert list(chart(DAYS, 60)) == [
        "2026-11-29 ███████████████ 1.2M tokens · $1.50 · 2 sessions",
        "2026-11-30",
        "2026-12-01 ███▊            300k tokens · $? · 1 session",
    ]


def test_the_chart_in_a_narrow_terminal() -> None:
    assert list(chart(DAYS, 30)) == ["11-29 ██████████ 1.2M $1.50 2", "11-30", "12-01 ██▌        300k $? 1"]


def begin(home: Home, project: Path, name: str = "a") -> None:
    folder = home.history / find_project(project).id
    folder.mkdir(parents=True, exist_ok=True)
    ts = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    (folder / f"{name}.jsonl").write_text(
        f'{{"v":1,"seq":1,"ts":"{ts}","type":"session","id":"a","project_id":"p","model":"大模型"}}\n'
        f'{{"v":1,"seq":2,"ts":"{ts}","type":"usage","message":"m1","prompt_tokens":1000,"completion_tokens":20,'
        f'"cached_tokens":400,"cost_usd":0.25}}\n'
    )


def test_stats_of_the_project(cli: Cli, home: Home, project: Path) -> None:
    begin(home, project)
    told = cli("stats", "--days", "2")
    assert told.code == 0
    assert told.out.splitlines()[3:] == [
        "MODEL   IN     CACHED  OUT  PRICE",
        "大模型  1,000  400     20   $0.2500",
    ]
    days = cli("stats", "--days", "2", "--json").json["days"]
    assert [(day["sessions"], day["prompt_tokens"], day["cost_usd"]) for day in days] == [(0, 0, 0.0), (1, 1000, 0.25)]


def test_stats_where_nothing_was_asked(cli: Cli, home: Home, project: Path) -> None:
    begin(home, project.parent)
    assert cli("stats").err == "No model was asked in the last 14 days in this project; --all counts the others.\n"
    assert cli("stats", "--all", "--json").json["models"][0]["model"] == "大模型"
