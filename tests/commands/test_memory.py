"""/save and /memory, as typed."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from codeagent.core.errors import CodeAgentError, ModelError, UsageError
from codeagent.core.events import Notice
from codeagent.core.paths import Home
from codeagent.core.ui import Answer, Table
from codeagent.llm.providers.scripted import call, say, summary
from codeagent.memory.entry import to_the_second
from codeagent.memory.extract import Proposal, read_proposals
from tests.commands.conftest import Sit
from tests.commands.conftest import Table as Desk


async def contents(table: Desk, line: str = "/memory list") -> list[str]:
    """The facts that typing `line` lists."""
    shown = await table.shown(line)
    return [row[3] for listed in shown if isinstance(listed, Table) for row in listed.rows]


def ids(table: Desk) -> list[str]:
    return [fact.id for fact in table.session.memory.facts()]


async def test_what_is_saved_is_listed_and_found(sit: Sit) -> None:
    table = await sit()
    assert await table.told("/memory") == ["Nothing is remembered here."]
    told = await table.told("/save 构建用 ninja")
    told += await table.told("/save --global --type preference I like short answers")
    project, everywhere = ids(table)
    assert told == [
        f"Remembered for this project: 构建用 ninja  [{project}]",
        f"Remembered for every project: I like short answers  [{everywhere}]",
    ]
    (listed,) = await table.shown("/memory list")
    assert isinstance(listed, Table)
    assert [row[1:] for row in listed.rows] == [
        ("project", "fact", "构建用 ninja"),
        ("global", "preference", "I like short answers"),
    ]
    assert await contents(table, "/memory search ninja") == ["构建用 ninja"]
    assert await contents(table, "/memory search 构建") == ["构建用 ninja"]
    assert await table.told("/memory search zebra") == ["Nothing is remembered here about “zebra”."]


async def test_a_key_replaces_and_add_is_save(sit: Sit) -> None:
    table = await sit()
    await table.type("/memory add --key=db The database is SQLite")
    told = await table.told("/save --key db The database is Postgres")
    assert told == [f"Replaced what was remembered as “db”: The database is Postgres  [{ids(table)[0]}]"]
    assert await contents(table) == ["The database is Postgres"]


async def test_a_fact_that_begins_like_an_option_stands_behind_two_dashes(sit: Sit) -> None:
    table = await sit()
    await table.type("/save -- --no-verify is forbidden here")
    await table.type("/memory add --global -- --fast is slow --global")
    await table.type("/save use --no-cache here")
    assert [(fact.content, fact.scope) for fact in table.session.memory.facts()] == [
        ("--no-verify is forbidden here", "project"),
        ("--fast is slow --global", "global"),
        ("use --no-cache here", "project"),
    ]


@pytest.mark.parametrize(
    ("line", "word", "hint"),
    [
        ("/save --globl tabs", "--globl", "Did you mean --global? As text: /save -- --globl …"),
        ("/save tabs --globl", "--globl", "Did you mean --global? As text: /save -- --globl …"),
        ("/save --bogus x", "--bogus", "Known: --global, --type, --key. As text: /save -- --bogus …"),
        ("/memory add --typ=rule x", "--typ=rule", "Did you mean --type? As text: /memory add -- --typ=rule …"),
        ("/memory edit a1 --global x", "--global", "It knows none. As text: /memory edit a1 -- --global …"),
        ("/search --sesion x", "--sesion", "Did you mean --session? As text: /search -- --sesion …"),
    ],
)
async def test_an_unknown_option_is_named_with_the_nearest(sit: Sit, line: str, word: str, hint: str) -> None:
    table = await sit()
    with pytest.raises(UsageError, match=f"There is no option {word}.") as unknown:
        await table.type(line)
    assert (unknown.value.hint, table.session.memory.facts()) == (hint, [])


async def test_show_tells_where_a_fact_comes_from(sit: Sit) -> None:
    table = await sit(session_id="s1")
    await table.type("/save --key db the database is SQLite")
    (first,) = table.session.memory.facts()
    await table.type(f"/memory edit {first.id[:6]} the database is Postgres")
    (fact,) = table.session.memory.facts()
    content, about = await table.shown(f"/memory show {first.id}")
    assert content == "the database is Postgres"
    assert isinstance(about, Table)
    assert dict(about.rows) == {
        "id": fact.id,
        "type": "fact",
        "scope": f"project {table.session.memory.project.id}",
        "key": "db",
        "created": to_the_second(fact.created),
        "updated": fact.updated,
        "asked by": "you",
        "in session": "s1, turn 0",
        "you said": f"/memory edit {first.id[:6]} the database is Postgres",
        f"until {first.updated}": "the database is SQLite",
    }


async def test_forgetting_is_undone_also_by_the_next_session(sit: Sit) -> None:
    table = await sit()
    await table.type("/save one")
    await table.type("/save two")
    before = table.session.memory.facts()
    told = [await table.told(f"/memory forget {id}") for id in ids(table)]
    assert told == [[f"Forgotten: {word} (/memory undo brings it back)"] for word in ("one", "two")]
    assert await contents(table) == []
    again = await sit()
    assert await again.told("/memory undo") == ["Remembered again: two"]
    assert await again.told(f"/memory undo {before[0].id}") == ["Remembered again: one"]
    assert again.session.memory.facts() == before
    told = [await again.told("/memory undo") for _ in before]
    assert told == [
        [f"No longer remembered: {fact.content} (undo {fact.id} brings it back)"] for fact in reversed(before)
    ]
    with pytest.raises(CodeAgentError, match="Nothing that was remembered, forgotten or changed"):
        await again.type("/memory undo")


async def test_a_fact_saved_anew_is_not_brought_back_beside_itself(sit: Sit) -> None:
    table = await sit()
    await table.type("/save one")
    (first,) = ids(table)
    await table.type(f"/memory forget {first}")
    await table.type("/save one")
    with pytest.raises(CodeAgentError, match="remembered again already"):
        await table.type(f"/memory undo {first}")
    assert await contents(table) == ["one"]


async def test_undo_takes_back_what_was_saved_and_its_id_brings_it_back(sit: Sit) -> None:
    table = await sit(call("save_memory", content="端口是 5433"), say("Noted."))
    await table.type("/save one")
    await table.type("记一下：端口是 5433")
    (one, port) = ids(table)
    assert await table.told("/memory undo") == [f"No longer remembered: 端口是 5433 (undo {port} brings it back)"]
    assert await contents(table) == ["one"]
    assert await table.told(f"/memory undo {port[:6]}") == ["Remembered again: 端口是 5433"]
    assert ids(table) == [one, port]


async def test_an_edit_and_a_replacement_are_undone(sit: Sit) -> None:
    table = await sit()
    await table.type("/save --key db 数据库是 SQLite")
    await table.type("/save --key db 数据库是 Postgres")
    await table.type(f"/memory edit {ids(table)[0]} 数据库是 MySQL")
    assert await table.told("/memory undo") == ["As it was before: 数据库是 Postgres (not: 数据库是 MySQL)"]
    assert await table.told("/memory undo") == ["As it was before: 数据库是 SQLite (not: 数据库是 Postgres)"]
    assert await contents(table) == ["数据库是 SQLite"]


async def test_forgetting_a_global_fact_tells_of_the_copy_it_hid(sit: Sit) -> None:
    table = await sit()
    await table.type("/save use tabs")
    (copy,) = ids(table)
    await table.type("/save --global use tabs")
    (everywhere,) = ids(table)
    assert await table.told(f"/memory forget {everywhere}") == [
        "Forgotten: use tabs (/memory undo brings it back)",
        f"This project has a copy of its own, which stays: {copy}",
    ]
    assert ids(table) == [copy]


async def test_long_lists_come_in_pages(sit: Sit) -> None:
    table = await sit()
    for number in range(95):
        table.session.memory.save(f"fact {number}")
    listed, told = await table.shown("/memory list 3")
    assert isinstance(listed, Table)
    assert [row[3] for row in listed.rows] == [f"fact {number}" for number in range(80, 95)]
    assert str(told) == "Page 3 of 3, 95 facts; go on with /memory list 1."
    assert len(await contents(table, "/memory")) == 40
    assert await contents(table, "/memory list 99") == [row[3] for row in listed.rows]


async def test_what_cannot_be_done_is_said(sit: Sit) -> None:
    table = await sit()
    assert await table.told("/save") == ["Say what to keep: /save <fact>, or /save --global <fact> for every project."]
    assert await table.told("/save --global ") == await table.told("/save")
    (told,) = await table.told("/memory serch x")
    assert told.endswith("Did you mean search?")
    for verb in ("forget", "edit", "show"):
        assert (await table.told(f"/memory {verb}"))[0].startswith("Say which: /memory")
        with pytest.raises(CodeAgentError, match="No fact has the id m-none"):
            await table.type(f"/memory {verb} m-none")
    with pytest.raises(UsageError, match="There is no type prefrence"):
        await table.type("/save --type prefrence tabs")
    (refused,) = await table.shown("/save the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH")
    assert isinstance(refused, Notice)
    assert (refused.level, table.session.memory.facts()) == ("warning", [])


# ---- what the model has of it ----------------------------------------------------------------------------------------


async def test_injected_shows_what_the_model_really_has(sit: Sit) -> None:
    table = await sit(say("Ninja."), say("Tabs."), say("Nothing."))
    assert await table.told("/memory injected") == ["The model has nothing of memory in its context now."]
    await table.type("/save The build uses ninja.")
    await table.type("/save 缩进用 tabs，\n不用空格")
    ninja, tabs = ids(table)
    await table.type("how does the build work?")
    await table.type("缩进用什么？")
    await table.type("thanks")
    listed, told = await table.shown("/memory injected")
    entry = table.session.history.entries[2]
    assert isinstance(listed, Table)
    assert listed.rows == (
        ("system prompt", ninja, "The build uses ninja."),
        (entry.id, tabs, "缩进用 tabs，\n不用空格"),
    )
    assert str(told).startswith("2 in the context")


async def test_stats_count_and_tell_the_budgets(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "项目" / "CODEAGENT.md").write_text("Use tabs.", encoding="utf-8")
    table = await sit()
    await table.type("/save one")
    await table.type("/save --global --type rule two")
    await table.type("/save three")
    await table.type(f"/memory forget {ids(table)[0]}")
    (shown,) = await table.shown("/memory stats")
    assert isinstance(shown, Table)
    place = table.session.memory.place
    assert shown.rows == (
        ("facts", "2 (1 of this project, 1 global)"),
        ("types", "1 rule, 1 fact"),
        ("forgotten", "1, can be brought back"),
        ("file", f"{place} ({place.stat().st_size:,} bytes)"),
        ("in context", "0 facts, 0 of 640 tokens"),
        ("task memory", f"0 tokens, {table.session.memory.task.folder}"),
        ("instructions", shown.rows[6][1]),
        ("", shown.rows[7][1]),
        ("repeated", "0 of 0 reads and commands"),
    )
    assert shown.rows[6][1].startswith("1 file, ")
    assert shown.rows[7][1].startswith("CODEAGENT.md: ")


async def test_stats_tell_what_was_done_again(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "项目" / "a.py").write_text("x = 1\n" * 90, encoding="utf-8")
    look = call("read_file", path="a.py")
    table = await sit(look, say("One."), summary("Short."), look, look, say("Two."))
    await table.type("one")
    await table.type("/compact")
    await table.type("two")
    (shown,) = await table.shown("/memory stats")
    assert isinstance(shown, Table)
    assert shown.rows[-1] == ("repeated", "0 of 1 reads and commands before the first compaction, 2 of 2 since")


async def test_reload_reads_instructions_anew(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."), say("Two."))
    await table.type("one")
    (tmp_path / "项目" / "CODEAGENT.md").write_text("Always answer in verse.", encoding="utf-8")
    (told,) = await table.told("/memory reload")
    assert told == "The next message reads anew: task memory, CODEAGENT.md, and 0 facts."
    await table.type("two")
    assert "Always answer in verse." in table.session.history.prompt.system


# ---- suggest ---------------------------------------------------------------------------------------------------------


def proposals(*forms: object) -> str:
    return f"Here they are:\n```json\n{json.dumps(forms, ensure_ascii=False)}\n```"


async def test_suggest_keeps_what_is_ticked(sit: Sit) -> None:
    found = proposals(
        {"content": "Use pnpm.", "type": "rule", "scope": "global"},
        {"content": "The port is 5433.", "type": "fact", "scope": "project"},
        {"content": "The lead is Ann."},
        {"content": "Known."},
    )
    table = await sit(say("Fine."), summary(found))
    await table.type("/save Known.")
    await table.type("we use pnpm and the port is 5433")
    table.person.answers = [Answer("global"), Answer("no"), Answer("project")]
    told = await table.told("/memory suggest")
    assert told[-1] == "Remembered 2 of 3."
    assert [(fact.scope, fact.type, fact.content) for fact in table.session.memory.facts()] == [
        ("project", "fact", "Known."),
        ("global", "rule", "Use pnpm."),
        ("project", "fact", "The lead is Ann."),
    ]
    assert [question.preview for question in table.person.asked] == [
        "Use pnpm.",
        "The port is 5433.",
        "The lead is Ann.",
    ]


@pytest.mark.parametrize("key", ["stop", ""])
async def test_suggest_ends_when_told_to(sit: Sit, key: str) -> None:
    table = await sit(say("Fine."), summary(proposals("one", "two")))
    await table.type("hello")
    table.person.answers = [Answer(key)]
    assert (await table.told("/memory suggest"))[-1] == "Remembered 0 of 2."
    assert table.session.memory.facts() == []


async def test_suggest_without_a_conversation_a_person_or_an_answer(sit: Sit) -> None:
    table = await sit(say("Fine."), summary("I found nothing."))
    assert (await table.told("/memory suggest"))[-1].startswith("Nothing was found")
    await table.type("hello")
    with pytest.raises(ModelError, match="no list of facts"):
        await table.type("/memory suggest")
    table.person.interactive = False
    assert await table.told("/memory suggest") == ["/memory suggest needs somebody who chooses."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", []),
        ('["a", "a", "  ", 5, null, {"content": 5}]', [Proposal("a")]),
        ('[{"content": " a\\n b ", "type": "mood", "scope": 7}]', [Proposal("a b")]),
        (json.dumps([f"fact {number}" for number in range(30)]), [Proposal(f"fact {number}") for number in range(10)]),
    ],
)
def test_proposals_are_read_with_care(text: str, found: list[Proposal]) -> None:
    assert read_proposals(text) == found


@pytest.mark.parametrize("text", ["", "none", "[", "]", '{"content": "a"}', "[" * 100_000])
def test_what_is_no_list_of_proposals_is_an_error(text: str) -> None:
    with pytest.raises(ModelError):
        read_proposals(text)


async def test_an_expired_fact_is_marked_and_never_told_to_the_model(sit: Sit, tmp_path: Path) -> None:
    memory = Home(tmp_path / "home").facts
    memory.parent.mkdir(parents=True)
    memory.write_text(
        '[{"id":"a1","content":"端口是 5432","expires":"2020-01-01"},{"id":"b2","content":"端口是 5433"}]'
    )
    table = await sit(say("5433."))
    assert await contents(table) == ["(expired) 端口是 5432", "端口是 5433"]
    (_, shown) = await table.shown("/memory show a1")
    assert isinstance(shown, Table)
    assert ("expires", "2020-01-01, expired") in shown.rows
    await table.type("端口是多少")
    system = table.session.history.prompt.system
    assert ("端口是 5432" in system, "端口是 5433" in system) == (False, True)


async def test_facts_of_another_backend_are_told_of_until_they_are_here(sit: Sit) -> None:
    table = await sit()
    await table.type("/save 构建用 ninja")
    other = await sit(environ={"PATH": os.environ["PATH"], "CODEAGENT_MEMORY__BACKEND": "sqlite"})
    (none, hint) = await other.told("/memory list")
    assert none == "Nothing is remembered here."
    assert hint.startswith("1 fact in ") and "export FILE --backend json_file" in hint and "import FILE" in hint
    await other.type("/save 构建用 ninja")
    assert len(await other.told("/memory list")) == 1


async def test_facts_of_another_backend_are_told_of_at_the_start(sit: Sit) -> None:
    table = await sit()
    await table.type("/save 构建用 ninja")
    other = await sit(environ={"PATH": os.environ["PATH"], "CODEAGENT_MEMORY__BACKEND": "sqlite"})
    hint = await other.session.memory.elsewhere()
    assert hint is not None
    async with asyncio.timeout(20):
        while not (news := other.desk.notices):
            await asyncio.sleep(0.01)
    assert list(news) == [hint]


# ---- instructions that join on the way -------------------------------------------------------------------------------


async def test_nested_instructions_travel_once_at_the_head_of_the_first_result(sit: Sit, tmp_path: Path) -> None:
    top = tmp_path / "项目"
    for folder, text in (("api", "Write handlers in Go."), ("api/v2", "Version 2 is frozen.")):
        (top / folder).mkdir()
        (top / folder / "CODEAGENT.md").write_text(text, encoding="utf-8")
        (top / folder / "a.txt").write_text("content", encoding="utf-8")
    table = await sit(
        call("read_file", path="api/gone.txt"),
        call("read_file", path="api/a.txt"),
        call("read_file", path="api/v2/a.txt"),
        call("read_file", path="api/a.txt"),
        say("Read."),
    )
    await table.type("read them")
    results = [entry.message.text for entry in table.session.history.entries if entry.origin == "tool"]
    assert [("in Go" in text, "is frozen" in text, text.endswith("\tcontent")) for text in results] == [
        (False, False, False),
        (True, False, True),
        (False, True, True),
        (False, False, True),
    ]
    await table.type("/clear")
    assert "Version 2 is frozen." in table.session.history.prompt.system


async def test_a_command_that_names_a_file_brings_the_instructions_that_hold_there(sit: Sit, tmp_path: Path) -> None:
    top = tmp_path / "项目"
    for folder in ("api", "网页/页", "docs"):
        (top / folder).mkdir(parents=True)
        (top / folder / "CODEAGENT.md").write_text(f"Rule of {folder}.", encoding="utf-8")
        (top / folder / "a.txt").write_text("content", encoding="utf-8")
    table = await sit(
        call("shell", command="echo docs api"),
        call("shell", command="cat api/a.txt"),
        call("shell", command="cd 网页 && cat '页/a.txt' && cat ../api/a.txt"),
        call("shell", command="cat docs/a.txt; exit 3"),
        say("Read."),
    )
    await table.type("read them")
    results = [entry.message.text for entry in table.session.history.entries if entry.origin == "tool"]
    rules = [[name for name in ("api", "网页/页", "docs") if f"Rule of {name}." in text] for text in results]
    assert rules == [[], ["api"], ["网页/页"], []]
