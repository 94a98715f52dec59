"""Task memory at the person's word: /memory tattoo, snapshot, notes and what goes with them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from codeagent.core.ui import Answer
from codeagent.llm.providers.scripted import say
from tests.commands.conftest import Sit


def folder(tmp_path: Path) -> Path:
    return tmp_path / "项目" / ".code-agent-cli" / "memory"


async def test_files_are_shown_and_added_to(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."), say("Two."))
    await table.type("one")
    assert await table.told("/memory tattoo") == ["There is nothing in tattoo.md yet: /memory tattoo edit"]
    assert await table.told("/memory tattoo 禁止改表结构") == ["Written to tattoo.md."]
    assert await table.told("/memory snapshot in progress: c.py") == ["Written to snapshot.md."]
    assert await table.told("/memory snapshot in_progress d.py") == ["Written to snapshot.md."]
    assert await table.told("/memory snapshot 目标：移植") == ["Written to snapshot.md."]
    assert await table.told("/memory notes slow: the tests") == ["Written to notes.md."]
    (shown,) = await table.told("/memory snapshot")
    assert shown == (folder(tmp_path) / "snapshot.md").read_text("utf-8")
    assert shown.endswith("\n## Goal\n移植\n\n## In progress\n- c.py\n- d.py\n")
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
    (text,) = await table.told("/memory log 3")
    load, injection, save = (line[22:].split(":")[0] for line in text.splitlines())
    assert (load, injection, save) == ("load", "injection", "save")
