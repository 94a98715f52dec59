"""The demonstration as a program of its own: what it claims is true, and it leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import codeagent.cli.demo
from codeagent.cli.demo.play import spoken
from codeagent.core.paths import Home
from tests.cli.conftest import ROOT
from tests.e2e.terminal import Terminal

SCRIPTS = Path(codeagent.cli.demo.__file__).parent


@pytest.fixture
def environ(home: Home, project: Path, tmp_path: Path) -> dict[str, str]:
    """Nothing but what a program cannot do without; temporary folders are made where the test can see them."""
    (tmp_path / "temporary").mkdir()
    return {
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "CODEAGENT_HOME": str(home.root),
        "CODEAGENT_PERMISSION_MODE": "plan",
        "TMPDIR": str(tmp_path / "temporary"),
    }


def start(environ: dict[str, str], *argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "codeagent", "demo", *argv],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def left_behind(environ: dict[str, str], home: Home, project: Path) -> list[Path]:
    return [
        *Path(environ["TMPDIR"]).iterdir(),
        *project.iterdir(),
        *(home.root.iterdir() if home.root.exists() else ()),
    ]


def test_it_plays_to_its_end_and_leaves_nothing_behind(environ: dict[str, str], home: Home, project: Path) -> None:
    out, err = start(environ, "--fast").communicate()
    told = out.decode()
    steps = (
        "The model is scripted",
        "❯ A test fails.",
        "● Read money.py",
        "exit 1",
        "FAILED (failures=1)",
        "-     return int(float(text) * 100)",
        "+     return int(Decimal(text) * 100)",
        "exit 0",
        "● Remember Amounts of money are always whole cents.  saved",
        "↺ Context compacted",
        "❯ /exit",
        "codeagent --resume ",
        "Resumed ",
        "❯ What did we agree on",
        "▌ Really in the request after all that: “no function changes its name”",
        "▌ Really in the request after all that: “Amounts of money are always whole cents.”",
    )
    places = [told.find(step) for step in steps]
    assert (err, places) == (b"", sorted(places))
    assert -1 not in places
    assert "\x1b" not in told
    assert left_behind(environ, home, project) == []


def test_it_speaks_chinese_and_can_be_kept(environ: dict[str, str]) -> None:
    process = start({**environ, "LANG": "zh_CN.UTF-8"}, "--fast", "--keep")
    out, err = process.communicate()
    (folder,) = Path(environ["TMPDIR"]).iterdir()
    assert (process.returncode, err) == (0, b"")
    assert "“金额一律用整数分表示。”" in out.decode()
    assert str(folder) in out.decode().replace("\n", "")
    assert "Decimal" in (folder / "till" / "money.py").read_text(encoding="utf-8")
    assert "金额一律用整数分表示。" in Home(folder / "home").facts.read_text(encoding="utf-8")
    assert len(list((folder / "home" / "history").glob("till-*/*.jsonl"))) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_stopped_in_the_middle_it_cleans_up(environ: dict[str, str], number: signal.Signals) -> None:
    process = start(environ)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    process.wait()
    assert (process.returncode, list(Path(environ["TMPDIR"]).iterdir())) == (130, [])


def test_a_reader_that_goes_away_is_no_error(environ: dict[str, str]) -> None:
    process = start(environ, "--fast")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (process.stderr.read(), process.wait(), list(Path(environ["TMPDIR"]).iterdir())) == (b"", 141, [])


def test_on_a_narrow_terminal_it_asks_as_the_product_does_and_ctrl_c_leaves(environ: dict[str, str]) -> None:
    command = [sys.executable, "-m", "codeagent", "demo"]
    with Terminal(command, environ={**environ, "NO_COLOR": "1"}, columns=40, rows=30) as screen:
        screen.wait_for("1. Yes")
        screen.send("no typing here")
        screen.press("Ctrl-C")
        assert screen.wait_exit() == 130
        assert "no typing" not in screen.everything
        assert screen.lines[-1] == "" and "Stopped." in screen.text
    assert list(Path(environ["TMPDIR"]).iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "environ", "language"),
    [
        ("", {}, "en"),
        ("", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("", {"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"LANG": "zh_TW.UTF-8"}, "en"),
    ],
)
def test_the_setting_says_which_language_then_the_system(setting: str, environ: dict[str, str], language: str) -> None:
    assert spoken(setting, environ) == language


def _outline(script: dict[str, Any]) -> Any:
    """What must be alike in both languages."""
    return [
        [
            [
                scene["say"].startswith("/"),
                len(scene.get("carried", ())),
                [[call["name"] for call in reply.get("calls", ())] for reply in scene.get("reply", ())],
            ]
            for scene in sitting["scene"]
        ]
        for sitting in script["sitting"]
    ]


def test_both_languages_play_the_same_scenes() -> None:
    english, chinese = (tomllib.loads((SCRIPTS / f"{name}.toml").read_text("utf-8")) for name in ("en", "zh"))
    assert _outline(english) == _outline(chinese)
