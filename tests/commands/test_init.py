"""/init, as typed."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.tools import Diff
from codeagent.core.ui import Answer
from codeagent.llm.providers.scripted import say
from tests.commands.conftest import Sit


async def test_it_writes_a_first_file_that_the_model_reads_at_once(sit: Sit, tmp_path: Path) -> None:
    top = tmp_path / "项目"
    (top / "go.mod").write_text("module shop")
    (top / ".git").mkdir()
    table = await sit(say("Hello."), say("Yes."))
    await table.type("hello")
    wrote, ignored, made = await table.told("/init")
    assert (wrote.startswith("Wrote CODEAGENT.md ("), ignored) == (True, "CODEAGENT.local.md is now in .gitignore.")
    await table.type("how are tests run?")
    assert "`go test ./...`" in table.session.history.prompt.system
    assert made.startswith("Made tattoo.md, snapshot.md, notes.md in ")
    assert await table.told("/init") == ["CODEAGENT.md says already what the repository shows."]


async def test_it_asks_before_it_overwrites(sit: Sit, tmp_path: Path) -> None:
    file = tmp_path / "项目" / "CODEAGENT.md"
    file.write_text("Mine.\n", encoding="utf-8")
    table = await sit()
    for answer in ("no", ""):
        table.person.answers = [Answer(answer)]
        assert (await table.told("/init"))[0] == "CODEAGENT.md was left as it is."
    assert file.read_text(encoding="utf-8") == "Mine.\n"
    table.person.answers = [Answer("yes")]
    await table.type("/init")
    written = file.read_text(encoding="utf-8")
    assert written.startswith("# 项目\n")
    assert table.person.asked[-1].preview == Diff("CODEAGENT.md", "Mine.\n", written)


async def test_it_offers_the_task_memory_of_another_agent(sit: Sit, tmp_path: Path) -> None:
    theirs = tmp_path / "项目" / ".agent" / "memory" / "tattoo.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("never force-push", encoding="utf-8")
    table = await sit()
    table.person.answers = [Answer("no"), Answer("yes")]
    assert (await table.told("/init"))[-1].startswith("Made tattoo.md, snapshot.md, notes.md in ")
    assert (tmp_path / "项目" / ".code-agent-cli" / ".gitignore").exists()
    assert (await table.told("/init"))[-1] == "Copied tattoo.md from .agent/memory."
    ours = tmp_path / "项目" / ".code-agent-cli" / "memory" / "tattoo.md"
    assert ours.read_text(encoding="utf-8") == "never force-push"
    assert await table.told("/init") == ["CODEAGENT.md says already what the repository shows."]
