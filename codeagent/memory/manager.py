"""`MemoryManager`: the facade the agent, the tools and the commands know. It delegates and decides nothing.

Facts enter long-term memory by two doors only: the user's `/save` (and `codeagent memory add`), and the save_memory
tool when the user's own words ask for it. Nothing is ever extracted by itself: no turn, no compaction, no summary, no
file or tool output makes a fact. Passing tasks are no facts, and telling them apart is the user's to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal

from codeagent.core.entries import Compaction, Need
from codeagent.core.events import Notice
from codeagent.core.paths import Project
from codeagent.core.ports import HistoryView, Recalled, Saved
from codeagent.core.sections import Section
from codeagent.memory.changes import Undone
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.conversation import ConversationKeeper
from codeagent.memory.entry import Fact, Source
from codeagent.memory.extract import Proposal
from codeagent.memory.injected import standing
from codeagent.memory.intent import Words, intends
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.project import ProjectMemoryLoader
from codeagent.memory.recall import FactBlock, candidates, find, indented
from codeagent.memory.retriever import Retriever
from codeagent.memory.short_term import MemoryEntry
from codeagent.memory.task import TaskMemory


class MemoryManager:
    """Implements `core.ports.Memory` and `core.ports.FactStore` for one session."""

    def __init__(
        self,
        long_term: LongTermMemory,
        retriever: Retriever,
        loader: ProjectMemoryLoader,
        compactor: ConversationHistoryCompactor,
        words: Words,
        block: FactBlock,
        task: TaskMemory,
        *,
        extract: Callable[[HistoryView], Awaitable[list[Proposal]]],
        conversation: ConversationKeeper | None = None,
        session: Callable[[], tuple[str, int]] = lambda: ("", 0),
        view: HistoryView | None = None,
        inject: Literal["message", "system"] = "message",
        elsewhere: Callable[[], Notice | None] = lambda: None,
    ) -> None:
        """`words` cuts text into words, `extract` proposes facts for `suggest` alone, `conversation` remembers what was
        said in this session, `session` gives session id and turn for the provenance of a fact, `view` shows the
        messages in which facts may stand, `inject` says where they may: at the head of a message, or in the system
        prompt alone. `elsewhere` tells of facts that another backend holds."""
        self._long_term = long_term
        self._retriever = retriever
        self._loader = loader
        self._compactor = compactor
        self._words = words
        self._block = block
        self.task = task
        self._extract = extract
        self.conversation = conversation
        self._session = session
        self._view = view
        self._elsewhere = elsewhere
        self.inject: Literal["message", "system"] = inject

    # ---- facts -----------------------------------------------------------------------------------------------------

    def save(
        self,
        content: str,
        *,
        scope: Literal["project", "global"] = "project",
        type: str | None = None,
        key: str | None = None,
        by: Literal["user", "tool"] = "user",
        quote: str = "",
    ) -> Saved:
        """Keep a fact. Raises StoreError when it cannot be written."""
        session, turn = self._session()
        saved = self._long_term.save(content, scope=scope, type=type, key=key, source=Source(by, session, turn, quote))
        self.task.audit.log("save", f"fact {saved.id} {saved.state} at the word of {by}, {len(content)} characters")
        return saved

    def intends(self, said: str, content: str) -> bool:
        """Whether the message as typed asks to remember this fact, which it or an earlier one of the person states."""
        return intends(said, content, self._words, self._typed_before(said))

    def facts(self, query: str | None = None) -> list[Fact]:
        """The facts this project sees, oldest first; those that match `query`, best first."""
        visible = self._long_term.visible()
        return [hit.fact for hit in self._retriever.search(query, visible, top=None)] if query else visible

    def fact(self, reference: str) -> Fact:
        """The fact of this id or unique prefix. Raises StoreError when there is none or no single one."""
        return self._long_term.get(reference)

    def forget(self, reference: str) -> Fact:
        """Forget a fact by id or unique prefix and return it. Raises StoreError when there is none or no single one."""
        return self._long_term.forget(reference)

    def undo(self, reference: str = "") -> Undone:
        """Take back the last change of the fact of this id, or of any. Raises StoreError when there is none."""
        return self._long_term.undo(reference)

    def forgotten(self) -> list[Fact]:
        """What can be brought back, the newest loss first."""
        return self._long_term.forgotten()

    def edit(self, reference: str, content: str, *, quote: str = "") -> Saved:
        """Give a fact another content, at the user's word. Raises StoreError when there is no such fact."""
        return self._long_term.edit(reference, content, Source("user", *self._session(), quote))

    async def suggest(self, view: HistoryView) -> list[Proposal]:
        """Facts that the model proposes from this conversation, for the person to tick. Raises CodeAgentError."""
        known = {fact.content for fact in self._long_term.visible()}
        return [proposal for proposal in await self._extract(view) if proposal.content not in known]

    @property
    def place(self) -> Path:
        """The file that holds the facts."""
        return self._long_term.path

    # ---- the context -----------------------------------------------------------------------------------------------

    async def prepare(self, said: str) -> None:
        """Do what makes finding facts for `said` slow; awaited before `recall` and `facts_section`. Never raises."""
        await self._retriever.prepare(said, candidates(self._long_term.visible(), self._earlier()))

    def safe_point(self) -> None:
        """The prompt is about to be rebuilt: only facts at the heads of messages still count as injected."""
        self._block.reset(standing(self._view) if self._view is not None else ())

    def in_context(self, id: str) -> bool:
        """Whether the model has the fact of this id in its context; when it changes, the next message says so."""
        return self._block.holds(id)

    def project_section(self) -> Section | None:
        """The CODEAGENT.md layers, read anew from disk."""
        return self._loader.section()

    def instructions(self) -> list[tuple[str, int]]:
        """(name, tokens) of the files that `project_section` holds, read anew."""
        return self._loader.shown()

    @property
    def project(self) -> Project:
        return self._loader.project

    def touched(self, path: Path) -> str:
        """Instructions that hold for `path` and are not in the context yet, for the message at hand."""
        return self._loader.touched(path)

    def facts_section(self, said: str) -> Section | None:
        """Facts for the opening request, for the system prompt of a safe point; marks them as injected.

        Facts alone, which the person asked to keep: what was said earlier may be the words of a tool, a file or a page.
        """
        self.safe_point()
        recalled = self._recall(said, ()) if said else Recalled("")
        return Section("facts", recalled.text, order=400) if recalled.text else None

    def recall(self, said: str) -> Recalled:
        """What is known that matters for what was typed and is not in the context yet; it counts as injected then.

        Where facts stand in the system prompt alone, what was said earlier, and what no longer holds of the facts.
        """
        return self._recall(said, self._earlier(), facts=self.inject != "system")

    def _recall(self, said: str, earlier: Sequence[MemoryEntry], *, facts: bool = True) -> Recalled:
        known = self._long_term.visible()
        return self._block.take(said, find(self._retriever, said, known if facts else (), earlier), known)

    async def elsewhere(self) -> Notice | None:
        """A hint when the file of another backend holds facts that are not here."""
        return await asyncio.to_thread(self._elsewhere)

    def pinned(self) -> str:
        """Digest of task memory as its files are now ("" when they say nothing)."""
        self.task.load()
        return self.task.digest

    async def compact(self, view: HistoryView, need: Need) -> Compaction | None:
        """A smaller form of the history, or None when there is nothing to gain. Raises CodeAgentError."""
        return await self._compactor.compact(view, need)

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know about files of memory, each told once."""
        return self._long_term.notices() + self._loader.notices() + self.task.notices()

    def _typed_before(self, said: str) -> list[str]:
        """What the person typed before the newest message `said` and is still in the history, oldest first."""
        entries = self._view.entries if self._view is not None else ()
        typed = [entry.said for entry in entries if entry.said and not entry.piped]
        return typed[:-1] if typed[-1:] == [said] else typed

    def _earlier(self) -> Sequence[MemoryEntry]:
        """What has left the messages, but for what a summary there still has word for word."""
        if self.conversation is None:
            return ()
        entries = self._view.entries if self._view is not None else ()
        summaries = "\n".join(entry.message.text for entry in entries if entry.origin == "summary")
        return [entry for entry in self.conversation.outside() if indented(entry.content) not in summaries]

    async def aclose(self) -> None:
        if self.conversation:
            await self.conversation.aclose()
        await self._retriever.aclose()
        self.task.close()
