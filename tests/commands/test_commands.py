"""Every command, once for what it is there for and once for what it says to nonsense."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from codeagent.agent.planning import PLANNING
from codeagent.commands.base import Done, Send, Switch
from codeagent.commands.dispatch import catalog
from codeagent.core.entries import Usage
from codeagent.core.errors import SessionNotFound, UsageError
from codeagent.core.ui import Row, Table
from codeagent.llm.providers.scripted import call, say, summary
from tests.agent._world import messages, said, with_usage
from tests.commands.conftest import Sit


async def test_help_lists_every_command(sit: Sit) -> None:
    table = await sit()
    listed, keys = await table.shown("/help")
    assert isinstance(listed, Table)
    assert [row[0].split()[0] for row in listed.rows] == [f"/{command.name}" for command in catalog()]
    assert isinstance(keys, str)
    assert max(len(row[0]) for row in listed.rows) <= 42


@pytest.mark.parametrize("line", ["/help save", "/help /save"])
async def test_help_explains_one(sit: Sit, line: str) -> None:
    table = await sit()
    row = (
        "/save [--global] [--type <type>] [--key <key>] <fact>",
        "Remember a fact for this project (--global: for every project).",
    )
    assert await table.shown(line) == [Table(("command", "what it does"), (row,))]


async def test_help_for_nonsense(sit: Sit) -> None:
    table = await sit()
    assert await table.told("/help /nonsense") == ["There is no command /nonsense; /help lists them."]


# ---- the context -----------------------------------------------------------------------------------------------------


async def test_compact(sit: Sit) -> None:
    table = await sit(say("Long. " * 300), say("Two."), summary("Short."))
    await table.type("one")
    await table.type("two")
    compacting, compacted = await table.shown("/compact the parser")
    assert [type(compacting).__name__, type(compacted).__name__] == ["Compacting", "Compacted"]
    assert table.session.history.receipt is not None
    assert table.session.history.receipt.focus == "the parser"
    assert said(table.session)[2:] == ["two", "Two."]


async def test_a_compaction_is_shown_and_taken_back(sit: Sit) -> None:
    table = await sit(say("Long. " * 300), say("Two."), summary("Short."), say("Three."))
    assert await table.told("/compact show") == ["Nothing has been compacted in this session."]
    assert await table.told("/compact undo") == ["There is no compaction to take back."]
    await table.type("Never touch vendor/.")
    await table.type("two")
    before = table.session.history.wire()[1:]
    await table.type("/compact")
    shown, *_ = await table.shown("/compact show")
    assert isinstance(shown, Table)
    rows = {row[0]: row[1] for row in shown.rows}
    assert (rows["left"], rows["put back"]) == ("2 messages: m1 to m2", "Never touch vendor/.")
    assert "/compact undo" in rows["undo"]
    await table.type("/compact undo")
    assert table.session.history.wire()[1:] == before
    assert table.session.history.receipt is None
    await table.type("three")
    assert table.session.history.wire()[1 : 1 + len(before)] == before


async def test_clear(sit: Sit) -> None:
    table = await sit(say("One."), say("Two."))
    await table.type("one")
    assert await table.told("/clear") == ["The context is empty; what was said stays in the session file."]
    assert messages(table.session) == []
    await table.type("two")
    assert said(table.session) == ["two", "Two."]


async def test_context_tells_what_fills_the_window(sit: Sit) -> None:
    table = await sit(call("glob", pattern="*"), say("None."))
    await table.type("which files?")
    (shown,) = await table.shown("/context")
    assert isinstance(shown, Table)
    names = [row[0] for row in shown.rows]
    assert names == [
        "system prompt",
        "tool descriptions",
        "your messages",
        "answers",
        "tool results",
        "in use",
        "free until compaction",
        "window",
    ]
    tokens = {row[0]: int(row[1].replace(",", "")) for row in shown.rows}
    assert tokens["window"] == 128_000
    assert tokens["in use"] + tokens["free until compaction"] == table.session.model.budget.trigger
    entries = table.session.history.entries
    assert tokens["your messages"] + tokens["answers"] + tokens["tool results"] == sum(
        entry.tokens for entry in entries
    )


# ---- the session -----------------------------------------------------------------------------------------------------


async def test_status(sit: Sit) -> None:
    table = await sit(with_usage(say("One."), Usage(64_000, 20, 100)), session_id="s1", sandbox=False)
    await table.type("one")
    await table.type("/save a fact")
    await table.type("/rename 解析器")
    answer = table.session.history.entries[1].tokens
    rows = (
        ("session", "s1 解析器"),
        ("model", "first-model"),
        ("mode", "yolo"),
        ("sandbox", "off"),
        ("folder", str(table.session.history.session.cwd)),
        ("turns", "1"),
        ("context", f"{64_000 + answer:,} of 128,000 tokens (50 %)"),
        ("facts", "1"),
    )
    assert await table.shown("/status") == [Table(("what", "now"), rows)]


async def test_cost(sit: Sit) -> None:
    table = await sit(with_usage(say("One."), Usage(1_000, 20, 250)), session_id="s1")
    head = ("in", "of them cached", "out", "price")
    nothing = (("nothing asked yet", "0", "0", "0", "$0.0000"),)
    assert await table.shown("/cost") == [Table(("this session", *head), nothing)]
    await table.type("one")
    figures = ("1,000", "250 (25 %)", "20", "not known")
    session, project = await table.shown("/cost")
    assert session == Table(("this session", *head), (("first-model", *figures),))
    assert isinstance(project, Table)
    ((day, *told),) = project.rows
    assert (project.headers, date.fromisoformat(day), tuple(told)) == (("this project", *head), date.today(), figures)


async def test_rename(sit: Sit) -> None:
    table = await sit(say("One."))
    assert await table.told("/rename") == ["Say the new name: /rename <name>."]
    assert await table.told("/rename 解析器 work") == ["This session is now called “解析器 work”."]
    await table.type("one")
    assert table.session.status().name == "解析器 work"
    assert table.desk.sessions()[0].columns[1] == "解析器 work"


async def test_resume_by_id_and_from_the_list(sit: Sit, tmp_path: Path) -> None:
    first = await sit(say("One."), session_id="s1")
    assert await first.told("/resume") == ["There is no other session of this project yet."]
    await first.type("one")
    await first.session.aclose()
    table = await sit(say("Two."), session_id="s2")
    await table.type("two")
    left = table.session
    assert isinstance(await table.type("/resume s1"), Switch)
    assert (table.session.id, said(table.session)) == ("s1", ["one", "One."])
    table.person.picks = ["s2", None]
    await table.type("/resume")
    ((title, rows),) = table.person.offered
    assert (title, [row.value for row in rows]) == ("Resume which session?", ["s2"])
    assert (table.session.id, said(table.session), table.session is left) == ("s2", ["two", "Two."], False)
    assert await table.type("/sessions") == Done()
    assert table.session.id == "s2"


async def test_resume_of_what_is_not_there_leaves_the_session_open(sit: Sit) -> None:
    table = await sit(say("One."))
    with pytest.raises(SessionNotFound):
        await table.type("/resume nonsense")
    await table.type("one")
    assert said(table.session) == ["one", "One."]


async def test_model_switches_in_the_middle_of_a_conversation(sit: Sit) -> None:
    table = await sit(say("One."))
    await table.type("one")
    outcome = await table.type("/model second-model")
    assert isinstance(outcome, Switch)
    assert (table.session.model.name, said(table.session)) == ("second-model", ["one", "One."])
    assert str(table.person.shown[-1]) == "The model is now second-model."
    await table.type("two")
    assert said(table.session) == ["one", "One.", "two", "One."]
    lines = table.session.history.path.read_text("utf-8").splitlines()
    assert [line.count('"reason":"model"') for line in lines if '"type":"prompt"' in line] == [0, 1]


async def test_model_offers_what_there_is(sit: Sit) -> None:
    table = await sit()
    table.person.picks = [None, "first-model"]
    assert await table.type("/model") == Done()
    assert table.person.offered == [("Model (now first-model)", [Row("first-model", ("first-model",))])]
    assert (await table.type("/model"), table.session.model.name) == (Done(), "first-model")


async def test_plan_goes_in_and_out(sit: Sit) -> None:
    table = await sit(say("A plan."))
    assert (await table.told("/plan"), table.session.mode) == (["Mode: plan."], "plan")
    assert (await table.told("/plan"), table.session.mode) == (["Mode: default."], "default")
    assert await table.type("/plan mend the parser") == Send("mend the parser")
    assert (table.session.mode, said(table.session)) == ("plan", [f"{PLANNING}\n\nmend the parser", "A plan."])


# ---- what was said ---------------------------------------------------------------------------------------------------


async def test_search_finds_what_was_said_in_this_session_and_before(sit: Sit) -> None:
    first = await sit(say("在 SQLite 里。"))
    await first.type("记忆放在哪里？")
    table = await sit(say("Elsewhere."))
    await table.type("记忆呢？")
    hits, told = await table.shown("/search 记忆")
    assert isinstance(hits, Table)
    assert hits.headers == ("id", "age", "who", "what")
    assert sorted(hits.rows) == sorted(
        [("m1", "now", "user", "记忆呢？"), (f"{first.session.id}/m1", "now", "user", "记忆放在哪里？")]
    )
    assert str(told) == "/search <id> shows a message whole."
    assert len((await table.shown("/search --session 记忆"))[0].rows) == 1  # type: ignore[union-attr]
    (whole,) = await table.shown(f"/search {first.session.id}/m2")
    assert str(whole).splitlines()[1:] == ["在 SQLite 里。"]
    for id in ("t1", "m1-m2"):
        (turn,) = await table.shown(f"/search {first.session.id}/{id}")
        assert [line for line in str(turn).splitlines() if line and line[0] != "["] == [
            "记忆放在哪里？",
            "在 SQLite 里。",
        ]


async def test_secrets_are_masked_in_all_that_search_and_recall_show(sit: Sit) -> None:
    token, words = "ghp_" + "a1B2c3D4e5" * 3, "部署用的令牌"
    first = await sit(say("Yes."))
    await first.type(f"{words} {token}")
    id = f"{first.session.id}/m1"
    table = await sit(call("recall", query=words, scope="project"), call("recall", id=id), say("Found."))
    await table.type("find it")
    shown = [*(await table.told(f"/search {words}")), *(await table.told(f"/search {id}"))]
    returned = [entry.message.text for entry in table.session.history.entries if entry.origin == "tool"]
    assert [words in text and "[secret]" in text and token not in text for text in (shown[0], shown[2], *returned)] == [
        True
    ] * 4


async def test_search_for_nothing(sit: Sit) -> None:
    table = await sit()
    assert await table.told("/search") == ["Say what to look for: /search [--session|--all] <words>."]
    assert await table.told("/search --all") == await table.told("/search")
    assert await table.told("/search --all nowhere") == ["Nothing was found for “nowhere”."]
    with pytest.raises(UsageError):
        await table.type("/search m9")
