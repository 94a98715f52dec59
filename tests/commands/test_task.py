"""Task memory at the person's word: /memory tattoo, snapshot, notes and what goes with them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codeagent.core.ui import Answer
from codeagent.llm.providers.scripted import say, summary
from tests.commands.conftest import Sit


def folder(tmp_path: Path) -> Path:
    return tmp_path / "项目" / ".code-agent-cli" / "memory"


async def test_files_are_shown_and_added_to(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."), say("Two."))
    await table.type("one")
    assert await table.told("/memory tattoo") == ["There is nothing in tattoo.md yet: /memory tattoo add <text>"]
    assert await table.told("/memory tattoo 禁止改表结构") == ["Written to tattoo.md. 禁止改表结构"]
    assert await table.told("/memory snapshot in progress: c.py") == ["Written to snapshot.md. c.py"]
    assert await table.told("/memory snapshot add in_progress d.py") == ["Written to snapshot.md. d.py"]
    assert await table.told("/memory snapshot 目标：移植") == ["Written to snapshot.md. 移植"]
    assert await table.told("/memory notes add slow: the tests") == ["Written to notes.md. slow: the tests"]
    (shown,) = await table.told("/memory snapshot")
    assert shown == (folder(tmp_path) / "snapshot.md").read_text("utf-8")
    assert shown.endswith(
        "\n## Goal\n移植\n\n## Done\n\n## In progress\n- c.py\n- d.py\n\n## Open\n\n## Key decisions\n"
    )
    await table.type("two")
    (where, what, block) = next(row for row in _rows(await table.shown("/memory injected")))
    assert (where, what) == (table.session.history.entries[-2].id, "task memory")
    assert block == table.session.memory.task.block


def _rows(shown: list[object]) -> list[tuple[str, ...]]:
    return [row for item in shown for row in getattr(item, "rows", ())]


async def test_a_part_that_there_is_not_is_said(sit: Sit) -> None:
    table = await sit()
    for line in ("/memory snapshot whatever: x", "/memory snapshot goal"):
        (said,) = await failed(table.type(line))
        assert said == "A snapshot has goal, done, in progress, open, key decisions."


async def failed(doing: object) -> list[str]:
    try:
        await doing  # type: ignore[misc]
    except Exception as error:
        return [str(error)]
    return []


async def test_the_prompt_holds_it_after_a_reload(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."), say("Two."))
    await table.type("one")
    await table.type("/memory tattoo never push")
    await table.type("/memory reload")
    await table.type("two")
    assert table.session.history.prompt.system.startswith(table.session.memory.task.block)
    (row,) = _rows(await table.shown("/memory injected"))
    assert row == ("system prompt", "task memory", table.session.memory.task.block)


async def test_a_snapshot_is_archived(sit: Sit, tmp_path: Path) -> None:
    table = await sit()
    assert await failed(table.type("/memory archive")) == ["There is no snapshot to archive."]
    await table.type("/memory snapshot goal: ship it")
    (told,) = await table.told("/memory archive")
    (kept,) = (folder(tmp_path) / "archive").iterdir()
    assert (told, "ship it" in kept.read_text("utf-8")) == (
        f"The snapshot lies in {kept}; a new one begins empty.",
        True,
    )
    assert table.session.memory.task.load() == ""


async def test_notes_are_promoted_one_by_one(sit: Sit, tmp_path: Path) -> None:
    table = await sit()
    assert await table.told("/memory promote") == ["No note came three times."]
    for note in ("a", "b", "c"):
        for _ in range(3):
            await table.type(f"/memory notes {note}")
    table.person.answers = [Answer("yes"), Answer("no"), Answer("stop")]
    assert await table.told("/memory promote") == ["Written to tattoo.md."]
    assert [question.preview for question in table.person.asked] == ["a", "b", "c"]
    assert (folder(tmp_path) / "tattoo.md").read_text("utf-8").endswith("-->\n- a\n")


async def test_rollback_goes_back_to_what_is_picked(sit: Sit, tmp_path: Path) -> None:
    top = tmp_path / "项目"
    for line in ("init -q", "config user.name T", "config user.email t@example.org"):
        subprocess.run(["git", *line.split()], cwd=top, check=True)
    (top.parent / "home").mkdir()
    (top.parent / "home" / "config.toml").write_text("[memory]\ngit_commit = true\n", "utf-8")
    table = await sit()
    assert len(await failed(table.type("/memory rollback"))) == 1
    await table.type("/memory notes first")
    first = (folder(tmp_path) / "notes.md").read_text("utf-8")
    await table.type("/memory notes second")
    oldest = (await table.session.memory.task.versions.versions())[-1]
    table.person.picks = [None, oldest.id]
    assert await table.told("/memory rollback") == []
    (told,) = await table.told("/memory rollback")
    assert told == f"Back to {oldest.id}: notes.md. What they held is in archive/."
    assert (folder(tmp_path) / "notes.md").read_text("utf-8") == first
    assert await table.told(f"/memory rollback {oldest.id}") == [f"Task memory is as it was at {oldest.id}."]


async def test_the_log_says_what_happened(sit: Sit) -> None:
    table = await sit(say("One."))
    assert await table.told("/memory log") == ["Nothing has been logged here."]
    await table.type("/memory notes first")
    await table.type("one")
    await table.type("/save the build uses ninja")
    (text,) = await table.told("/memory log 4")
    assert [line[22:].split(":")[0] for line in text.splitlines()] == ["load", "injection", "load", "save"]


@pytest.mark.parametrize("name", ["tattoo", "snapshot", "notes"])
async def test_the_verbs_are_those_a_person_tries(sit: Sit, tmp_path: Path, name: str) -> None:
    table = await sit()
    part = "goal: " if name == "snapshot" else ""
    await table.type(f"/memory {name} add {part}禁止强推 \x1b[31m!")
    (shown,) = await table.told(f"/memory {name} show")
    assert ("禁止强推 !" in shown, "\x1b" in (folder(tmp_path) / f"{name}.md").read_text("utf-8")) == (True, False)
    (cleared,) = await table.told(f"/memory {name} clear")
    (kept,) = (folder(tmp_path) / "archive").iterdir()
    assert (cleared, "禁止强推" in kept.read_text("utf-8")) == (
        f"{name}.md begins anew; what it held lies in {kept}.",
        True,
    )
    assert await table.told(f"/memory {name} clear") == [f"There is nothing in {name}.md."]
    knows = f"/memory {name} knows show, edit, clear and add <text>."
    for verb in ("help", "--help", "remove", "add", "add  "):
        assert await table.told(f"/memory {name} {verb}") == [knows]
    for words in ("show all", "rm 1"):
        told = f"{knows} To write down “{words}”: /memory {name} add {words}"
        assert await table.told(f"/memory {name} {words}") == [told]
    assert await table.told(f"/memory {name} edit") == [f"{name}.md was left as it is."]


async def test_injected_tells_what_holds_after_all_was_removed(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."), say("Two."), say("Three."))
    await table.type("/memory tattoo never push")
    await table.type("one")
    for path in folder(tmp_path).glob("*.md"):
        path.unlink()
    assert [row[:2] for row in _rows(await table.shown("/memory injected"))] == [("system prompt", "task memory")]
    await table.type("two")
    assert await table.told("/memory injected") == ["The model has nothing of memory in its context now."]
    await table.type("/memory reload")
    await table.type("three")
    assert await table.told("/memory injected") == ["The model has nothing of memory in its context now."]


async def test_injected_after_a_compaction_names_no_message_that_the_summary_quotes(sit: Sit, tmp_path: Path) -> None:
    script = [say("ninja one " * 200), say("Two. " * 200), say("Three. " * 200), summary("Short."), say("Four.")]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[compaction]\nkeep_turns = 1\n", "utf-8")
    table = await sit(*script)
    await table.type("/memory tattoo never push")
    for line in ("the ninja build is broken", "tell me of ninja", "ninja again", "/compact", "and ninja?"):
        await table.type(line)
    rows = [row[:2] for row in _rows(await table.shown("/memory injected"))]
    assert rows == [("system prompt", "task memory"), ("m9", "said in m2")]
    stats = dict(row[:2] for row in _rows(await table.shown("/memory stats")))
    assert stats["in context"].startswith("0 facts and 1 earlier passage, ")


async def test_a_reload_counts_what_it_reads(sit: Sit) -> None:
    table = await sit()
    await table.type("/memory add prefer tabs")
    assert await table.told("/memory reload") == [
        "The next message reads anew: task memory, no CODEAGENT.md, and 1 fact."
    ]
