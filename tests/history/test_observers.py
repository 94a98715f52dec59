"""Who watches a history is told what happens to it, once it is on disk."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeagent.core.entries import Entry
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import UserMessage
from codeagent.history.history import History
from tests.history.support import PROMPT, answer, ask, begin, reply, say, summary


@dataclass
class Watcher:
    history: History
    seen: list[object] = field(default_factory=list)

    def appended(self, entry: Entry) -> None:
        assert entry.wire in self.history.path.read_bytes()
        assert self.history.entries[-1] is entry
        self.seen.append(entry.id)

    def cleared(self) -> None:
        self.seen.append("cleared")

    def taken_back(self, ids: Collection[str]) -> None:
        self.seen.append(sorted(ids))


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    history = begin(tmp_path)
    watcher = Watcher(history)
    history.observers = (watcher,)
    return watcher


async def test_every_message_is_told_in_order(watcher: Watcher) -> None:
    history = watcher.history
    say(history, "hi")
    ask(history, "c1", "c2")
    answer(history, "c1")
    history.repair_pairs()
    reply(history, "done")
    assert watcher.seen == ["m1", "m2", "m3", "m4", "m5"]


async def test_what_was_refused_is_not_told(watcher: Watcher) -> None:
    history = watcher.history
    ask(history, "c1")
    with pytest.raises(ValueError):
        history.append(UserMessage("too early"), origin="user")
    history.repair_pairs()
    with pytest.raises(CodeAgentError):
        await history.undo("m9")
    assert watcher.seen == ["m1", "m2"]


async def test_clearing_is_told_and_a_new_prompt_is_not(watcher: Watcher) -> None:
    say(watcher.history, "hi")
    watcher.history.set_prompt(PROMPT, "model")
    watcher.history.set_prompt(PROMPT, "clear")
    assert watcher.seen == ["m1", "cleared"]


async def test_going_back_tells_what_is_taken_back(watcher: Watcher) -> None:
    history = watcher.history
    for text in ("one", "two"):
        say(history, text)
        reply(history, "yes")
    await history.undo("m3")
    assert watcher.seen[-1] == ["m3", "m4"]


async def test_a_compaction_takes_nothing_back_and_its_undo_only_the_summary(watcher: Watcher) -> None:
    history = watcher.history
    say(history, "one")
    reply(history, "yes")
    receipt = history.fold(summary(history.entries[:2], "They talked."))
    assert watcher.seen == ["m1", "m2"]
    await history.undo(receipt.id)
    assert watcher.seen == ["m1", "m2", ["m3", "m4"]]
