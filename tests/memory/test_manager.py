"""The facade, with all real parts behind it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from codeagent.core.entries import Need
from codeagent.core.paths import Home, Project
from codeagent.core.ports import FactStore, Memory, Recalled
from codeagent.core.tokens import ContextBudget, estimate_classes, estimate_tokens
from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.entry import Source
from codeagent.memory.extract import extract_facts
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.manager import MemoryManager
from codeagent.memory.project import ProjectMemoryLoader
from codeagent.memory.recall import FactBlock
from codeagent.memory.retriever import KeywordRetriever
from tests.memory._task import task_memory
from tests.memory._world import Clock, Summariser, Talk, counted_ids, split


class World:
    def __init__(self, root: Path, window: int = 128_000) -> None:
        self.root, self.clock, self.ids = root, Clock(), counted_ids()
        self.budget = ContextBudget(window)
        self.summariser = Summariser("The summary.")
        self.memory = self.open()

    def open(self, turn: int = 3) -> MemoryManager:
        project = Project(self.root, self.root, self.root)
        backend = JsonFile(Home(self.root / "home").facts)
        return MemoryManager(
            LongTermMemory(backend, project.id, self.clock, self.ids),
            KeywordRetriever(split, self.clock),
            ProjectMemoryLoader(
                Home(self.root / "home"),
                project,
                self.root / "home",
                tokens=self.budget.static,
                estimate=estimate_tokens,
            ),
            ConversationHistoryCompactor(self.summariser, estimate_classes),
            split,
            FactBlock(self.budget.facts, estimate_tokens, self.clock),
            task_memory(self.root, self.root / "home", now=self.clock),
            extract=partial(extract_facts, self.summariser),
            session=lambda: ("s1", turn),
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


def test_it_is_what_the_agent_and_the_tools_ask_for(world: World) -> None:
    memory: Memory = world.memory
    facts: FactStore = world.memory
    assert (memory.recall("port"), facts.intends("hello", "the port")) == (Recalled(""), False)


def test_a_fact_saved_in_one_turn_is_found_in_the_next(world: World) -> None:
    world.memory.save("数据库端口是 5433", by="tool", quote="记一下，数据库端口是 5433")
    world.clock.pass_hours(50)
    assert world.memory.recall("数据库端口") == Recalled("## 相关长期记忆\n- [f1, 2 天前] 数据库端口是 5433", ("f1",))
    assert world.memory.facts()[0].source == Source("tool", "s1", 3, "记一下，数据库端口是 5433")


def test_a_fact_is_found_by_the_next_process_too(world: World) -> None:
    world.memory.save("The port is 5433.\nThe host is atlas.", scope="global")
    assert world.open().recall("which port?") == Recalled(
        "## Relevant long-term memory\n- [f1, 0 h old] The port is 5433.\n  The host is atlas.", ("f1",)
    )


def test_each_fact_travels_once_until_the_next_safe_point(world: World) -> None:
    world.memory.save("The port is 5433.")
    first = world.memory.recall("port")
    assert (first.ids, world.memory.recall("port")) == (("f1",), Recalled(""))
    world.memory.safe_point()
    assert world.memory.recall("port") == first


def test_a_changed_fact_travels_again(world: World) -> None:
    world.memory.save("The port is 5433.", key="port")
    world.memory.recall("port")
    world.clock.pass_hours(1)
    world.memory.save("The port is 5434.", key="port")
    assert world.memory.recall("port").text == (
        "## Changes to long-term memory (these hold)\n- [f1, changed] The port is 5434."
    )
    assert world.memory.recall("port") == Recalled("")


def test_a_forgotten_fact_in_the_context_is_called_off_once(world: World) -> None:
    world.memory.save("The port is 5433.\nNot 80.")
    world.memory.recall("port")
    world.memory.forget("f1")
    assert [world.memory.recall("thanks").text for _ in range(2)] == [
        "## Changes to long-term memory (these hold)\n- [f1, no longer true] The port is 5433.\n  Not 80.",
        "",
    ]
    world.memory.undo()
    assert world.memory.recall("port").ids == ("f1",)


def test_at_a_safe_point_facts_form_a_section_and_count_as_injected(world: World) -> None:
    assert world.memory.facts_section("port") is None
    world.memory.save("The port is 5433.")
    world.memory.recall("port")
    section = world.memory.facts_section("port")
    assert section is not None
    assert (section.name, section.render()) == (
        "facts",
        "## Relevant long-term memory\n- [f1, 0 h old] The port is 5433.",
    )
    assert world.memory.recall("port") == Recalled("")


def test_facts_in_the_context_stay_within_the_budget_together(world: World) -> None:
    for number in range(60):
        world.memory.save(f"Fact {number} about the port: " + "x9 " * 20)
    blocks = [world.memory.recall("port").text for _ in range(20)]
    assert sum(map(estimate_tokens, filter(None, blocks))) <= world.budget.facts
    assert sum(block.count("\n") for block in blocks) > 5


def test_a_fact_too_long_for_the_budget_travels_in_part(tmp_path: Path) -> None:
    world = World(tmp_path.resolve(), window=32_000)
    world.memory.save("端口" * 900)
    recalled = world.memory.recall("端口")
    assert recalled.ids == ("f1",)
    assert recalled.text.endswith("端口 …") or recalled.text.endswith("端 …")
    assert estimate_tokens(recalled.text) <= world.budget.facts


@pytest.mark.parametrize(
    ("said", "heading"),
    [
        ("把 README.md 里的 port 改掉", "## 相关长期记忆"),
        ("change the port in README.md, 谢谢", "## Relevant long-term memory"),
        ("port", "## Relevant long-term memory"),
    ],
)
def test_the_heading_follows_the_language_of_the_message(world: World, said: str, heading: str) -> None:
    world.memory.save("The port is 5433.")
    assert world.memory.recall(said).text.splitlines()[0] == heading


def test_facts_are_listed_searched_and_forgotten(world: World) -> None:
    world.memory.save("The port is 5433.")
    world.memory.save("Use tabs.", scope="global", type="preference")
    assert [fact.content for fact in world.memory.facts()] == ["The port is 5433.", "Use tabs."]
    assert [fact.content for fact in world.memory.facts("tabs")] == ["Use tabs."]
    assert world.memory.forget("f2").content == "Use tabs."
    assert [fact.content for fact in world.memory.facts()] == ["The port is 5433."]


def test_project_files_are_read_anew_and_their_faults_are_told(world: World) -> None:
    assert world.memory.project_section() is None
    (world.root / "CODEAGENT.md").write_text("Use pnpm. @gone.md")
    section = world.memory.project_section()
    assert section is not None
    assert "Use pnpm." in section.body
    assert len(world.memory.notices()) == 1
    assert world.memory.notices() == ()


def test_a_damaged_memory_file_is_told_and_its_backup_used(world: World) -> None:
    world.memory.save("The port is 5433.")
    world.memory.save("Use tabs.")
    Home(world.root / "home").facts.write_text("{")
    again = world.open()
    assert [fact.content for fact in again.facts()] == ["The port is 5433."]
    assert [notice.level for notice in again.notices()] == ["warning"]


async def test_compaction_is_handed_on(world: World) -> None:
    proposal = await world.memory.compact(Talk().turns(1, 4), Need(9_000, force=True))
    assert proposal is not None
    assert (proposal.first_kept, len(world.summariser.asked)) == ("m5", 1)
