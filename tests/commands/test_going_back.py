from __future__ import annotations

from pathlib import Path

from codeagent.commands.base import Done, Draft
from codeagent.core.messages import UserMessage
from codeagent.core.tools import Diff, Patch
from codeagent.core.ui import Answer, Row
from codeagent.llm.providers.scripted import call, say
from tests.commands.conftest import Sit


def top(table: object) -> Path:
    return Path(table.session.history.session.cwd)  # type: ignore[attr-defined]


TWO_TURNS = (
    call("write_file", path="a.txt", content="一\n"),
    say("Written."),
    call("shell", command="echo two > a.txt; mkdir 新; echo b > 新/b.txt"),
    say("Done."),
)


async def test_undo_and_redo_go_turn_by_turn_and_the_model_hears_of_it(sit: Sit) -> None:
    table = await sit(*TWO_TURNS, say("I see."))
    assert await table.told("/undo") == ["There is no change of files to take back."]
    await table.type("write it")
    await table.type("change it")
    a, b = top(table) / "a.txt", top(table) / "新/b.txt"
    assert await table.told("/undo") == ["Taken back, turn 2: a.txt, 新, 新/b.txt. /redo does it again."]
    assert (a.read_text(), b.parent.exists()) == ("一\n", False)
    assert await table.told("/undo") == ["Taken back, turn 1: a.txt. /redo does it again."]
    assert not a.exists()
    assert await table.told("/redo") == ["Done again, turn 1: a.txt. /undo takes it back."]
    assert await table.told("/redo") == ["Done again, turn 2: a.txt, 新, 新/b.txt. /undo takes it back."]
    assert await table.told("/redo") == ["There is nothing to do again."]
    assert (a.read_text(), b.read_text()) == ("two\n", "b\n")
    await table.type("and now?")
    said = [entry.message for entry in table.session.history.entries if entry.said == "and now?"]
    assert isinstance(said[0], UserMessage) and said[0].text.count(str(b)) == 2


async def test_what_the_person_changed_since_is_asked_about(sit: Sit) -> None:
    table = await sit(*TWO_TURNS)
    await table.type("write it")
    await table.type("change it")
    a = top(table) / "a.txt"
    a.write_text("mine\n")
    table.person.answers = [Answer("no"), Answer("keep"), Answer("over")]
    assert await table.told("/undo") == ["Nothing was changed."]
    question = table.person.asked[-1]
    assert question.preview == Patch((Diff("a.txt", "mine\n", "一\n"),))
    assert await table.told("/undo") == [
        "Taken back, turn 2: 新, 新/b.txt. /redo does it again.",
        "Kept as you changed them: a.txt.",
    ]
    assert a.read_text() == "mine\n"
    assert await table.told("/undo") == ["Taken back, turn 1: a.txt. /redo does it again."]
    assert not a.exists()
    await table.type("/redo")
    assert a.read_text() == "mine\n"


async def test_undo_reaches_back_after_resuming(sit: Sit) -> None:
    table = await sit(*TWO_TURNS)
    await table.type("write it")
    await table.type("change it")
    await table.type("/undo")
    await table.session.aclose()
    again = await sit(resume=table.session.id)
    assert await again.told("/redo") == ["Done again, turn 2: a.txt, 新, 新/b.txt. /undo takes it back."]
    await again.type("/undo")
    assert await again.told("/undo") == ["Taken back, turn 1: a.txt. /redo does it again."]
    assert list(top(again).iterdir()) == []


async def test_rewind_takes_back_conversation_and_files(sit: Sit) -> None:
    table = await sit(*TWO_TURNS, say("Again."))
    assert await table.told("/rewind") == ["There is no turn to go back to yet."]
    await table.type("write it")
    await table.type("change it")
    opening = [entry.id for entry in table.session.history.entries if entry.said]
    table.person.picks, table.person.answers = [opening[0]], [Answer("both")]
    outcome = await table.type("/rewind")
    assert outcome == Draft("write it")
    assert table.person.offered[-1][1] == [
        Row(opening[1], ("change it", "3 files")),
        Row(opening[0], ("write it", "1 file")),
    ]
    assert table.person.asked[-1].preview == Patch((Diff("a.txt", "two\n", None), Diff("新/b.txt", "b\n", None)))
    assert list(top(table).iterdir()) == []
    assert list(table.session.history.entries) == []
    await table.type("/redo")
    assert (top(table) / "新/b.txt").read_text() == "b\n"
    await table.type("anew")
    assert [entry.said for entry in table.session.history.entries] == ["anew", None]


async def test_rewind_of_the_files_alone_and_of_the_conversation_alone(sit: Sit) -> None:
    table = await sit(*TWO_TURNS)
    await table.type("write it")
    await table.type("change it")
    opening = [entry.id for entry in table.session.history.entries if entry.said]
    table.person.picks, table.person.answers = [None, *reversed(opening)], [Answer("files"), Answer("talk")]
    assert await table.type("/rewind") == Done()
    assert await table.type("/rewind") == Done()
    assert [path.name for path in top(table).iterdir()] == ["a.txt"]
    assert await table.type("/rewind") == Draft("write it")
    assert [path.name for path in top(table).iterdir()] == ["a.txt"]
    assert list(table.session.history.entries) == []
