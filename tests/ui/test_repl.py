"""The REPL in a real terminal, over a session that plays written events."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.terminal import Terminal
from tests.pictures import png

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def _start(*, columns: int = 80, rows: int = 24, environ: dict[str, str] | None = None, **told: Any) -> Terminal:
        command = [sys.executable, "-m", "tests.ui.doubles", json.dumps({"folder": str(tmp_path), **told})]
        opened.append(Terminal(command, cwd=ROOT, columns=columns, rows=rows, environ=environ))
        return opened[-1]

    yield _start
    for terminal in opened:
        terminal.close()


def _ready(terminal: Terminal) -> Terminal:
    terminal.wait_for("context")
    return terminal


def test_a_question_and_its_answer(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("answer")
    terminal.wait_for("Done.")
    shown = terminal.settle()
    assert "记忆系统     3  good" in shown
    assert "1.5 s · 2 steps · 9.1k in, 600 out · $0.03" in shown
    assert shown.split("\n")[-2:] == ["❯", "test-model · 12% context · 18.2k tokens · $0.03 · ? for keys"]
    assert terminal.everything.count("first point") == 1
    terminal.press("Ctrl-D")
    assert terminal.wait_exit() == 0
    assert terminal.text.split("\n")[-3:] == [
        "1.5 s · 2 steps · 9.1k in, 600 out · $0.03",
        "",
        "To go on with this session: codeagent --resume 20260101-000000-abcdef",
    ]


def test_first_words_and_lines_typed_too_early_wait(start: Open) -> None:
    terminal = start(delay=1.0, first="hello")
    terminal.wait_for("❯")
    terminal.say("early")
    terminal.wait_for("starting…")
    terminal.wait_for("You said 'early'.")
    assert "You said 'hello'." in terminal.everything


def test_each_enter_before_the_program_takes_the_keys_ends_a_line_of_its_own(start: Open) -> None:
    terminal = start()
    terminal.say("第一 one")
    terminal.say("!pwd")
    terminal.say("two")
    terminal.send("half")
    terminal.wait_for("You said 'two'.")
    shown = terminal.settle()
    told = [line for line in terminal.everything.split("\n") if line.startswith(("You said", "● Run"))]
    assert told == ["You said '第一 one'.", "● Run pwd (told)  exit 0", "You said 'two'."]
    assert shown.split("\n")[-2] == "❯ half"


def test_escape_interrupts_and_steering_joins(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    assert "line two" in terminal.wait_for("Run sleep 60")
    terminal.press("Esc")
    terminal.wait_for("interrupted · 1.5 s")
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    terminal.send("later words")
    terminal.press("Alt-Enter")
    terminal.wait_for("↳ later words")
    terminal.say("now words")
    terminal.wait_for("❯ now words")
    terminal.wait_for("You said 'later words'.")


def test_what_was_to_follow_a_stopped_turn_goes_back_to_the_input(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    terminal.send("later words")
    terminal.press("Alt-Enter")
    terminal.wait_for("↳ later words")
    terminal.press("Esc")
    terminal.wait_for("interrupted · 1.5 s")
    terminal.wait_for("❯ later words")
    assert "You said" not in terminal.everything


def test_a_typed_command_is_shown_with_its_output_and_a_queued_one_waits(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("!echo one two")
    terminal.wait_for("● Run echo one two (told)")
    terminal.wait_for("  first\n  second")
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    terminal.say("!! pwd")
    terminal.wait_for("↳ !! pwd")
    terminal.say("now words")
    terminal.wait_for("● Run pwd (kept)")


def test_control_c_interrupts_clears_hints_and_leaves(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    terminal.press("Ctrl-C")
    terminal.wait_for("interrupted")
    terminal.send("some words")
    terminal.wait_for("some words")
    terminal.press("Ctrl-C")
    terminal.wait_for("some words", gone=True)
    terminal.press("Ctrl-C")
    terminal.wait_for("Ctrl-C again leaves")
    terminal.press("Ctrl-C")
    assert terminal.wait_exit() == 0


def test_leaving_in_the_middle_of_a_turn_interrupts_it(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    terminal.press("Ctrl-D")
    assert terminal.wait_exit() == 0
    assert "interrupted" in terminal.everything


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_kill_ends_the_turn_in_good_order(start: Open, number: signal.Signals) -> None:
    terminal = _ready(start())
    terminal.say("wait")
    terminal.wait_for("Esc to interrupt")
    os.kill(terminal.pid, number)
    assert terminal.wait_exit() == 130
    assert "interrupted" in terminal.everything


def test_escape_twice_clears_the_draft_and_up_brings_it_back(start: Open, tmp_path: Path) -> None:
    terminal = _ready(start())
    terminal.send("first line")
    terminal.press("Ctrl-J")
    terminal.send("第二行\\")
    terminal.press("Enter")
    terminal.send("third")
    terminal.wait_for("third")
    terminal.press("Esc")
    terminal.wait_for("Esc again clears the input")
    terminal.press("Esc")
    terminal.wait_for("first line", gone=True)
    terminal.press("Up")
    terminal.wait_for("第二行")
    terminal.press("Enter")
    terminal.wait_for(r"You said 'first line\n第二行\nthird'.")
    assert stat.S_IMODE((tmp_path / "typed").stat().st_mode) == 0o600
    again = _ready(start())
    again.press("Up")
    again.wait_for("❯ first line")
    again.press("Esc", "Esc")
    again.press("Ctrl-R")
    again.send("二行")
    again.wait_for("third")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("1", "yes"), ("2", "session"), ("\r", "yes"), ("\x1b[B\r", "session"), ("3use tabs\r", "no use tabs")],
)
def test_a_question_is_answered_by_digits_arrows_and_words(start: Open, keys: str, answer: str) -> None:
    terminal = _ready(start(rows=40))
    terminal.say("edit")
    terminal.wait_for("3. No")
    assert "14 + 第十四行 changed" in terminal.text
    terminal.send(keys)
    terminal.wait_for(f"The answer was {answer}")
    terminal.wait_for("3. No", gone=True)
    terminal.wait_for("2 steps")


def test_a_preview_without_room_can_be_seen_whole(start: Open) -> None:
    terminal = _ready(start(rows=12))
    terminal.say("edit")
    terminal.wait_for("3. No")
    assert "\n\nEdit src/a.py?\n  src/a.py  +1 −1\n  11   line 11\n" in terminal.settle()
    terminal.wait_for("more lines (Ctrl-O)")
    terminal.press("Ctrl-O")
    terminal.wait_for("14 + 第十四行 changed")
    terminal.send("1")
    terminal.wait_for("The answer was yes")


def test_escape_dismisses_a_question_and_control_c_the_turn_with_it(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("run")
    terminal.wait_for("$ rm -rf build^[[2J")
    terminal.press("Esc")
    terminal.wait_for("The answer was nothing")
    terminal.wait_for("boom: bad")
    terminal.say("run")
    terminal.wait_for("1. Yes")
    terminal.press("Ctrl-C")
    terminal.wait_for("interrupted")


def test_a_question_in_the_middle_of_a_word_is_not_answered_by_it(start: Open) -> None:
    terminal = start(delay=1.5, first="edit")
    terminal.wait_for("❯")
    terminal.send("step ")
    terminal.wait_for("1. Yes")
    terminal.send("1")
    assert "The answer was" not in terminal.settle(0.7)
    terminal.send("2")
    terminal.wait_for("The answer was session")
    terminal.wait_for("❯ step 1")


def test_completion_of_commands(start: Open) -> None:
    terminal = _ready(start())
    terminal.send("/resu")
    terminal.wait_for("Go on with an earlier session.")
    terminal.press("Enter")
    terminal.wait_for("type to search")
    terminal.send("第12")
    terminal.wait_for("1 of 30")
    terminal.press("Enter")
    terminal.wait_for("Resumed an earlier day · 3 turns")


def test_completion_of_files(start: Open, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "记忆 系统.py").write_text("")
    terminal = _ready(start())
    terminal.send("see @jyxt")
    terminal.wait_for("src/记忆 系统.py")
    terminal.press("Enter")
    terminal.say("now")
    terminal.wait_for("""You said 'see @"src/记忆 系统.py" now'.""")


def test_an_unknown_command_stays_here(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("/hlep")
    terminal.wait_for("Did you mean /help?")
    terminal.say("/exit")
    assert terminal.wait_exit() == 0


def test_text_of_others_cannot_touch_the_terminal(start: Open) -> None:
    terminal = _ready(start())
    terminal.paste("x \x1b[2J\x1b]0;evil\x07\r\ny\u202e")
    terminal.wait_for("y⟨202e⟩")
    terminal.press("Ctrl-C")
    terminal.say("evil")
    terminal.wait_for("a^[[2Jb ^[]0;title^G ⟨202e⟩abc ⟨9b⟩31m")
    terminal.say("run")
    terminal.wait_for("1. Yes")
    terminal.send("1")
    terminal.wait_for("boom: bad")
    assert not any(bad in terminal.raw for bad in (b"\x1b[2J", b"\x1b]0;", b"\xe2\x80\xae", b"\x1b[31mbad"))


def test_keys_modes_and_the_whole_output(start: Open) -> None:
    terminal = _ready(start(rows=40))
    terminal.send("?")
    terminal.wait_for("the whole of the last tool output")
    terminal.press("Shift-Tab", "Shift-Tab")
    terminal.wait_for("plan")
    terminal.say("run")
    terminal.wait_for("1. Yes")
    terminal.send("1")
    terminal.wait_for("exit 1 · 3.2 s")
    assert "more" not in terminal.settle().split("\n")
    terminal.press("Ctrl-O")
    terminal.wait_for("▾ Run rm -rf build")
    assert "  more" in terminal.settle().split("\n")


def test_retries_notices_and_compaction_are_one_line_each(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("retry")
    terminal.wait_for("Context compacted: 95.0k → 12.0k tokens")
    for line in (
        "What is above was cut off and does not count.",
        "The connection to x broke. Trying again (2 of 5) after 0.2 s.",
        "The budget is 80 % used.",
    ):
        assert line in terminal.everything


def test_a_wait_is_counted_down_and_ends_by_enter(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("hold")
    terminal.wait_for("Trying again (1 of 5) in 49")
    terminal.wait_for("Enter: now")
    terminal.press("Enter")
    terminal.wait_for("At last.")


def test_a_picture_is_pasted_by_its_name(start: Open, tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    (tmp_path / "xclip").write_text(f"#!/bin/sh\nexec cat {tmp_path}/shot.png\n")
    (tmp_path / "xclip").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    terminal = _ready(start(environ={"PATH": path, "DISPLAY": ":0", "WAYLAND_DISPLAY": ""}))
    terminal.send("看看 ")
    terminal.press("Ctrl-V")
    terminal.wait_for(f"看看 @pasted-{len(png())}.png")


def test_limits_and_faults_end_the_turn_and_not_the_session(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("limit")
    terminal.wait_for("✗ The turn took 9 steps, its limit.")
    terminal.wait_for("Say “go on”.")
    terminal.say("crash")
    terminal.wait_for("✗ This failed unexpectedly: ValueError: a fault")
    terminal.say("hello")
    terminal.wait_for("You said 'hello'.")


def test_the_editor_writes_the_draft(start: Open, tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys\nopen(sys.argv[1], 'a', encoding='utf-8').write(' and 更多\\n')\n")
    terminal = _ready(start(editor=[sys.executable, str(script)]))
    terminal.send("draft")
    terminal.press("Ctrl-G")
    terminal.wait_for("❯ draft and 更多")
    terminal.press("Ctrl-X", "Ctrl-E")
    terminal.wait_for("更多 and 更多")


def test_a_conversation_that_goes_on(start: Open) -> None:
    terminal = _ready(start(resumed=True))
    shown = terminal.wait_for("✗ Run make  interrupted")
    assert "✗ Run task  interrupted" in shown
    assert "… 1 earlier turn\n" in shown
    assert "● Read a.py\n" in shown
    assert "long ago" not in shown
    assert "Resumed an earlier day · 3 turns" in shown
    assert "❯ and now?" in shown


def test_without_a_model_it_says_what_to_do(start: Open) -> None:
    terminal = start(unset=True)
    assert terminal.wait_exit() == 2
    assert "No model is set up.\nSet OPENAI_API_KEY.\nOr run codeagent setup." in terminal.everything


def test_forty_columns_and_other_sizes(start: Open) -> None:
    terminal = _ready(start(columns=40))
    terminal.say("answer")
    terminal.wait_for("Done.")
    terminal.resize(120, 30)
    terminal.settle()
    terminal.say("hello")
    terminal.wait_for("You said 'hello'.")
    assert terminal.settle().split("\n")[-2] == "❯"


def test_idle_is_idle(start: Open) -> None:
    terminal = _ready(start())
    terminal.say("hello")
    terminal.wait_for("2 steps")
    terminal.settle(1.5)
    process = psutil.Process(terminal.pid)
    written, woken = len(terminal.raw), process.num_ctx_switches().voluntary
    terminal.pump(1.2)
    assert (len(terminal.raw), process.num_ctx_switches().voluntary) == (written, woken)


def test_no_colour_when_none_is_wanted(start: Open) -> None:
    terminal = _ready(start(environ={"NO_COLOR": "1"}))
    terminal.say("answer")
    terminal.wait_for("Done.")
    codes = {code for part in terminal.raw.split(b"\x1b[")[1:] for code in part.split(b"m")[0].split(b";")}
    assert codes & {str(number).encode() for number in (*range(30, 38), 38, *range(90, 98))} == set()


def test_vi_keys(start: Open) -> None:
    terminal = _ready(start(vim=True))
    terminal.send("hello")
    terminal.wait_for("❯ hello")
    terminal.press("Esc")
    terminal.settle(0.3)
    terminal.send("0xihi j")
    terminal.wait_for("❯ hi jello")
    terminal.press("Enter")
    terminal.wait_for("You said 'hi jello'.")


def test_a_dumb_terminal_gets_plain_lines(start: Open) -> None:
    terminal = start(environ={"TERM": "dumb"})
    terminal.wait_for("One notice before the first turn.")
    terminal.say("edit")
    terminal.wait_for("1–3:")
    terminal.say("3")
    terminal.wait_for("1–3: 3\n>")
    terminal.say("use tabs")
    terminal.wait_for("The answer was no use tabs")
    terminal.say("ask")
    terminal.wait_for("你想要哪一种颜色？")
    terminal.say("蓝色")
    terminal.wait_for("The answer was own 蓝色")
    terminal.say("wait")
    terminal.wait_for("I am at it")
    terminal.press("Ctrl-C")
    terminal.wait_for("interrupted")
    terminal.say("/exit")
    assert terminal.wait_exit() == 0
    assert b"\x1b" not in terminal.raw


def test_the_status_line_can_be_switched_off(start: Open) -> None:
    terminal = start(status_line=False)
    terminal.wait_for("❯")
    terminal.say("answer")
    terminal.wait_for("Done.")
    assert terminal.settle().split("\n")[-1] == "❯"


def test_the_todo_list_stands_above_the_input_and_folds(start: Open) -> None:
    terminal = _ready(start(columns=40, rows=30))
    terminal.say("todo 1")
    terminal.wait_for("☐ check 8")
    shown = terminal.settle().split("\n")
    place = shown.index("Todo 1/11 · Ctrl-T folds · 1–8 shown")
    assert shown[place + 1 : place + 4] == [
        "  ☑ 读一遍解析器的代码，找出错误",
        "  ▸ write a test that fails",
        "  ☐ mend it",
    ]
    assert place + 8 < shown.index("❯")
    terminal.press("Ctrl-T")
    terminal.wait_for("☐ mend it", gone=True)
    assert "▸ Todo 1/11 · write a test that fails" in terminal.settle()
    terminal.say("todo 2")
    terminal.wait_for("▸ Todo 2/11 · mend it")
    terminal.press("Ctrl-T")
    terminal.wait_for("☐ check 8")
    terminal.say("todo 11")
    terminal.wait_for("Ctrl-T folds", gone=True)
    assert "☑" not in terminal.settle()


def test_where_words_are_the_only_answer_they_are_typed_at_once(start: Open) -> None:
    terminal = _ready(start(columns=40))
    terminal.say("ask")
    terminal.wait_for("Enter sends")
    terminal.say("1 蓝色")
    terminal.wait_for("The answer was own 1 蓝色")
    terminal.settle()
    terminal.say("ask")
    terminal.wait_for("Enter sends")
    terminal.press("Esc")
    terminal.wait_for("Esc: no")
    terminal.press("Esc")
    terminal.wait_for("The answer was nothing")


def test_a_person_who_is_elsewhere_is_called(start: Open) -> None:
    terminal = _ready(start(notify="desktop"))
    terminal.say("edit")
    terminal.wait_for("Edit src/a.py?")
    terminal.press("Enter")
    terminal.wait_for("❯")
    terminal.settle()
    called = [line.split(b"\x07")[0].decode() for line in terminal.raw.split(b"\x1b]9;")[1:]]
    assert called == ["codeagent: Edit src/a.py?", "codeagent: the turn is over"]


@pytest.mark.parametrize(("notify", "away", "rings"), [("bell", 0.0, True), ("bell", 60.0, False), ("off", 0.0, False)])
def test_the_bell_rings_where_one_wants_it_and_no_key_was_pressed(
    start: Open, notify: str, away: float, rings: bool
) -> None:
    terminal = _ready(start(notify=notify, away=away))
    terminal.say("hello")
    terminal.wait_for("You said 'hello'.")
    terminal.settle()
    assert (b"\x07" in terminal.raw) is rings
