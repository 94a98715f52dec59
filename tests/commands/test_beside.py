"""Commands beside the conversation: a side question, a copy of the session, the clipboard, the editor, a diff."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

from codeagent.commands.base import Done, Draft
from codeagent.core.events import Replied, StepStarted, TurnEnded
from codeagent.core.tools import Diff, Patch
from codeagent.core.ui import Row
from codeagent.llm.providers.scripted import Step, call, say
from tests.agent._world import check_valid, messages
from tests.commands.conftest import Sit
from tests.server.endpoint import Recorded, ScriptedEndpoint

CODE = "Run this:\n\n```sh\nmake 一\n```\n\nor\n\n~~~~py\nprint('```')\n~~~~\n"


def aside(text: str) -> Step:
    return replace(say(text), purpose="aside")


# ---- /btw ----------------------------------------------------------------------------------------------------------


async def test_a_side_question_leaves_no_trace(sit: Sit) -> None:
    table = await sit(say("Done."), aside("It is 一 file."), say("Went on."))
    await table.type("work")
    before = messages(table.session)
    started, *_, replied, ended = await table.shown("/btw how many files?")
    assert isinstance(started, StepStarted)
    assert isinstance(replied, Replied) and replied.message.text == "It is 一 file."
    assert isinstance(ended, TurnEnded) and (ended.reason, ended.error) == ("done", None)
    assert messages(table.session) == before
    await table.type("go on")
    check_valid(table.session)
    assert [message.text for message in messages(table.session)] == ["work", "Done.", "go on", "Went on."]
    assert await table.told("/btw") == ["Say what you want to know: /btw <question>."]


async def test_its_request_begins_with_the_conversation_and_its_cost_counts(sit: Sit) -> None:
    def answer(request: Recorded) -> Step:
        return say("Yes." if len(request.messages) == 2 else "Beside.")

    async with ScriptedEndpoint(answer) as server:
        table = await sit(provider=None, base_url=server.base_url)
        await table.type("/btw first of all?")
        await table.type("hello")
        await table.type("/btw and now?")
        await table.type("/clear")
    first, main, second = (request.json for request in server.requests[:3])
    assert first["messages"][0]["role"] == "system" and len(first["messages"]) == 2
    assert second["messages"][: len(main["messages"])] == main["messages"]
    assert second["tools"] == main["tools"] == first["tools"]
    records = [json.loads(line) for line in table.session.history.path.read_text("utf-8").splitlines()]
    assert [one.get("purpose") for one in records if one["type"] == "usage"] == ["aside", None, "aside"]


async def test_a_side_question_that_fails_says_so(sit: Sit) -> None:
    table = await sit(Step(error="AuthError", purpose="aside"), aside(""))
    for _ in range(2):
        ended = (await table.shown("/btw why?"))[-1]
        assert isinstance(ended, TurnEnded) and (ended.reason, ended.error is None) == ("failed", False)
    assert messages(table.session) == []


# ---- /fork ---------------------------------------------------------------------------------------------------------


async def test_a_copy_goes_its_own_way(sit: Sit) -> None:
    table = await sit(say("One."))
    await table.type("first")
    original, mode = table.session.id, "accept-edits"
    table.session.mode = "accept-edits"
    assert await table.told("/fork 试验") == [f"This is a copy now; to the original: /resume {original}."]
    assert (table.session.id != original, table.session.history.name, table.session.mode) == (True, "试验", mode)
    assert table.session.history.session.parent == original
    await table.type("second")
    assert [message.text for message in messages(table.session)] == ["first", "One.", "second", "One."]
    await table.type(f"/resume {original}")
    assert [message.text for message in messages(table.session)] == ["first", "One."]


# ---- /copy ---------------------------------------------------------------------------------------------------------


async def test_an_answer_and_its_code_are_copied(sit: Sit) -> None:
    table = await sit(say(CODE))
    assert await table.told("/copy") == ["There is no answer to copy yet."]
    await table.type("how?")
    table.person.picks = ["1", None]
    assert await table.told("/copy") == ["Copied: Run this: …"]
    assert await table.told("/copy 1") == ["Copied: make 一"]
    assert await table.told("/copy code") == ["Copied: print('```')"]
    assert await table.told("/copy code") == []
    assert await table.told("/copy 3") == [
        "/copy takes nothing, “code”, or the number of a code block; the last answer has 2."
    ]
    assert table.person.copied == [CODE.rstrip("\n"), "make 一", "print('```')"]
    assert table.person.offered[0][1] == [Row("0", ("1", "make 一")), Row("1", ("2", "print('```')"))]


async def test_what_is_too_long_for_the_clipboard_is_told(sit: Sit) -> None:
    table = await sit(say("word " * 300))
    await table.type("talk")
    assert await table.told("/copy code") == ["There is no code in the last answer."]
    assert await table.told("/copy") == ["This is too long for the terminal's clipboard; /export writes a file."]


# ---- /editor -------------------------------------------------------------------------------------------------------


async def test_what_the_editor_gives_becomes_the_draft(sit: Sit) -> None:
    table = await sit()
    table.person.edits = ["修复它\nplease", "  ", None]
    assert await table.type("/editor") == Draft("修复它\nplease")
    assert await table.type("/editor") == Done()
    assert len(await table.told("/editor")) == 1


# ---- /diff ---------------------------------------------------------------------------------------------------------


async def test_changes_are_shown_by_turn_and_since_the_beginning(sit: Sit) -> None:
    table = await sit(
        call("write_file", path="a.txt", content="一\n"), say("Written."),
        call("shell", command="echo two > a.txt; echo b > b.txt"), say("Done."),
    )  # fmt: skip
    assert await table.told("/diff") == ["No file was changed."]
    await table.type("write it")
    await table.type("change it")
    last = Patch((Diff("a.txt", "一\n", "two\n"), Diff("b.txt", None, "b\n")))
    assert await table.shown("/diff") == [last]
    assert await table.shown("/diff 2") == [last]
    assert await table.shown("/diff all") == [Patch((Diff("a.txt", None, "two\n"), Diff("b.txt", None, "b\n")))]
    assert await table.told("/diff 9") == ["No file was changed since."]
    assert await table.told("/diff x") == ["/diff takes nothing (the last turn), a turn to begin with, or “all”."]


# ---- /export -------------------------------------------------------------------------------------------------------


async def test_the_session_is_written_where_one_says(sit: Sit) -> None:
    table = await sit(say("完成。"))
    assert await table.told("/export") == ["Nothing was said yet."]
    await table.type("work")
    top, id = Path(table.session.history.session.cwd), table.session.id
    assert await table.told("/export") == [f"Written: {top / f'codeagent-{id}.md'}"]
    assert await table.told("/export html") == [f"Written: {top / f'codeagent-{id}.html'}"]
    assert await table.told("/export 我的 页.html") == [f"Written: {top / '我的 页.html'}"]
    assert await table.told("/export jsonl a.txt") == [f"Written: {top / 'a.txt'}"]
    heads = {path.name: path.read_text("utf-8")[:9] for path in top.iterdir()}
    assert heads == {
        f"codeagent-{id}.md": "# work\n\nS",
        f"codeagent-{id}.html": "<!doctype",
        "我的 页.html": "<!doctype",
        "a.txt": '{"v":1,"s',
    }


# ---- /theme, /vim --------------------------------------------------------------------------------------------------


async def test_colours_and_keys_are_changed_and_kept(sit: Sit, tmp_path: Path) -> None:
    table = await sit()
    assert await table.told("/theme colour-blind") == ["The colours are colour-blind from now on."]
    assert await table.told("/theme pink") == [
        "There is no theme pink; there are default, dark, light, colour-blind, plain."
    ]
    table.person.picks = [None, "plain"]
    assert await table.told("/theme") == []
    assert await table.told("/theme") == ["The colours are plain from now on."]
    assert await table.told("/vim") == ["The input takes the keys of vi now; /vim off ends that."]
    assert await table.told("/vim off") == ["The input takes the usual keys again."]
    assert await table.told("/vim maybe") == ["/vim takes “on” or “off”."]
    assert table.person.looks == [("colour-blind", None), ("plain", None), (None, True), (None, False)]
    written = tomllib.loads((tmp_path / "home" / "config.toml").read_text("utf-8"))
    assert written == {"theme": "plain", "ui": {"vim": False}}
    table.person.interactive = False
    assert await table.told("/theme dark") == ["There is no terminal to colour."]
