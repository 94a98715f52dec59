"""Long-term memory: the rules by which facts are kept, whatever keeps them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.ports import Saved
from codeagent.memory.entry import Backend, Fact, Scope, Source, source_to_json, stamp
from codeagent.memory.secrets import find_secret

LONGEST = 2_000
"""Characters of a fact at most: a fact is a sentence or two, a longer text belongs into a file."""


def _new_id() -> str:
    return secrets.token_hex(4)


class LongTermMemory:
    """The facts of one project and the global ones. Changed by `save` and `forget` alone, both at the user's word."""

    def __init__(
        self, backend: Backend, project: str, clock: Callable[[], datetime], new_id: Callable[[], str] = _new_id
    ) -> None:
        """`project` is the project id; `clock` gives aware moments."""
        self._backend = backend
        self._project = project
        self._clock = clock
        self._new_id = new_id

    def visible(self) -> list[Fact]:
        """Facts that this project sees, oldest first. What is global is not listed once more for the project."""
        facts = [fact for fact in self._backend.load() if fact.scope == "global" or fact.project == self._project]
        everywhere = {fact.content for fact in facts if fact.scope == "global"}
        return [fact for fact in facts if fact.scope == "global" or fact.content not in everywhere]

    def save(self, content: str, *, scope: Scope, type: str, key: str | None, source: Source) -> Saved:
        """Keep a fact, written through at once.

        The same content is kept once per scope and project; the same key replaces, and the old content stays in the
        fact's versions.

        Raises:
            StoreError: it could not be written.
        """
        content = content.strip()
        if refusal := _refusal(content):
            return Saved("refused", "", refusal)
        if find_secret(source.quote):
            source = replace(source, quote="")
        outcome: list[Saved] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            changed, saved = self._with(facts, content, scope, type, key or None, source)
            outcome.append(saved)
            return changed

        self._backend.update(change)
        return outcome[0]

    def forget(self, reference: str) -> Fact:
        """Remove the visible fact of this id, or of the one id that begins so, and return it.

        Raises:
            StoreError: no fact, or several, have such an id; or it could not be written.
        """
        removed: list[Fact] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            removed.append(fact := self._find(facts, reference))
            return [other for other in facts if other is not fact]

        self._backend.update(change)
        return removed[0]

    def notices(self) -> tuple[Notice, ...]:
        return self._backend.notices()

    def _with(
        self, facts: Sequence[Fact], content: str, scope: Scope, type: str, key: str | None, source: Source
    ) -> tuple[Sequence[Fact], Saved]:
        """`facts` with the new one in, and what became of it."""
        project = None if scope == "global" else self._project
        mine = [fact for fact in facts if fact.scope == scope and fact.project == project]
        now = stamp(self._clock())
        keyed = next((fact for fact in mine if key is not None and fact.key == key), None)
        if keyed is not None and keyed.content != content:
            changed = _replaced(keyed, content, type, source, now)
            kept = [changed if fact is keyed else fact for fact in facts]
            return kept, Saved("replaced", keyed.id, f"Replaced what was remembered as “{key}”: {content}")
        known = next((fact for fact in mine if fact.content == content), None)
        if known is None and scope == "project":
            known = next((fact for fact in facts if fact.scope == "global" and fact.content == content), None)
        if known is not None:
            return facts, Saved("known", known.id, f"Already remembered: {content}")
        fact = Fact(self._free_id(facts), content, type, scope, project, key, now, now, source)
        where = "for every project" if scope == "global" else "for this project"
        return [*facts, fact], Saved("saved", fact.id, f"Remembered {where}: {content}")

    def _find(self, facts: Sequence[Fact], reference: str) -> Fact:
        visible = [fact for fact in facts if fact.scope == "global" or fact.project == self._project]
        found = [fact for fact in visible if fact.id == reference] or [
            fact for fact in visible if reference and fact.id.startswith(reference)
        ]
        if not found:
            raise StoreError("No fact has the id {id}.", hint="/memory list shows them.", id=reference)
        if len(found) > 1:
            ids = ", ".join(fact.id for fact in found)
            raise StoreError("Several facts have an id that begins with {id}: {ids}.", id=reference, ids=ids)
        return found[0]

    def _free_id(self, facts: Sequence[Fact]) -> str:
        taken = {fact.id for fact in facts}
        while (id := self._new_id()) in taken:
            pass
        return id


def _refusal(content: str) -> str:
    """Why `content` is not kept; "" when it may be."""
    if not content:
        return "Not remembered: there is nothing to remember."
    if len(content) > LONGEST:
        return f"Not remembered: {len(content)} characters are no fact; at most {LONGEST} are kept. Use CODEAGENT.md."
    if kind := find_secret(content):
        return f"Not remembered: it seems to hold {kind}, and facts travel to the model. Say where to find it instead."
    return ""


def _replaced(fact: Fact, content: str, type: str, source: Source, now: str) -> Fact:
    old = {"content": fact.content, "updated": fact.updated, "source": source_to_json(fact.source)}
    return replace(fact, content=content, type=type, updated=now, source=source, versions=(*fact.versions, old))
