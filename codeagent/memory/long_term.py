"""Long-term memory: the rules by which facts are kept, whatever keeps them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.ports import LONGEST_FACT, Saved
from codeagent.memory.changes import Undone, changed, changed_at, restored, taken_back, together
from codeagent.memory.entry import Backend, Fact, Scope, Source, stamp
from codeagent.memory.merging import Merged, merge
from codeagent.text.secrets import find_secret

_NOTHING_LOST = "Nothing that was remembered, forgotten or changed can be taken back here."


def _new_id() -> str:
    return secrets.token_hex(4)


class LongTermMemory:
    """The facts of one project and the global ones. Changed at the user's word alone."""

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
        facts = [fact for fact in self._backend.load() if fact.forgotten is None and self._sees(fact)]
        everywhere = {fact.content for fact in facts if fact.scope == "global"}
        return [fact for fact in facts if fact.scope == "global" or fact.content not in everywhere]

    def get(self, reference: str) -> Fact:
        """The visible fact of this id, or of the one id that begins so. Raises StoreError."""
        return self._find(self._backend.load(), reference)

    def save(self, content: str, *, scope: Scope, type: str | None, key: str | None, source: Source) -> Saved:
        """Keep a fact, written through at once.

        Within a scope and project a content is one fact and a key belongs to one fact: the same key replaces, what
        has no such key yet gets it, and another type is a change. What stood before stays in the fact's versions.
        Without a `type` a fact keeps its own; a new one is a "fact".

        Raises:
            StoreError: it could not be written.
        """
        content, key = content.strip(), (key or "").strip() or None
        if refusal := _refusal(content, key):
            return Saved("refused", "", refusal)
        if find_secret(source.quote):
            source = replace(source, quote="")
        outcome: list[Saved] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            changed, saved = self._with(facts, content, scope, type, key, source)
            outcome.append(saved)
            return changed

        self._backend.update(change)
        return outcome[0]

    def edit(self, reference: str, content: str, source: Source) -> Saved:
        """Give the fact of this id (or unique prefix) another content; the old one stays in its versions.

        Raises:
            StoreError: no fact, or several, have such an id; or it could not be written.
        """
        content = content.strip()
        if refusal := _refusal(content):
            return Saved("refused", "", refusal)
        outcome: list[Saved] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            fact = self._find(facts, reference)
            same = next((other for other in facts if _twins(other, replace(fact, content=content))), None)
            if same is not None:
                outcome.append(Saved("known", same.id, f"Already remembered: {content}"))
                return facts
            outcome.append(Saved("replaced", fact.id, f"Changed: {content}"))
            return _swap(facts, fact, changed(fact, replace(fact, content=content, source=source), self._clock()))

        self._backend.update(change)
        return outcome[0]

    def forget(self, reference: str) -> Fact:
        """Forget the visible fact of this id, or of the one id that begins so, and return it; see `undo`.

        Raises:
            StoreError: no fact, or several, have such an id; or it could not be written.
        """
        gone: list[Fact] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            gone.append(fact := self._find(facts, reference))
            return _swap(facts, fact, replace(fact, forgotten=stamp(self._clock(), exact=True)))

        self._backend.update(change)
        return gone[0]

    def forgotten(self) -> list[Fact]:
        """What was forgotten and can be brought back, the newest loss first."""
        facts = self._backend.load()
        gone = [fact for fact in facts if fact.forgotten is not None and self._sees(fact)]
        taken = {_place(fact) for fact in facts if fact.forgotten is None} if gone else set()
        keys = {_place(fact, fact.key) for fact in facts if fact.forgotten is None and fact.key} if gone else set()
        free = [fact for fact in gone if _place(fact) not in taken and _place(fact, fact.key) not in keys]
        return sorted(free, key=lambda fact: fact.forgotten or "", reverse=True)

    def undo(self, reference: str = "") -> Undone:
        """Take back the newest change of a fact, whether it was added, forgotten, edited or replaced: of the fact of
        this id, else of the one changed last for which that can be done. An import is taken back as a whole. What was
        added is forgotten then, and comes back by its id.

        Raises:
            StoreError: there is none, or its content or key has been saved anew; or it could not be written.
        """
        undone: list[Undone] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            fact = self._lost(facts, reference)
            whole = {id(one): restored(one) for one in ([fact] if reference else together(facts, fact))}
            after = [whole.get(id(one), one) for one in facts]
            for one in whole.values():
                if other := next((other for other in after if one.forgotten is None and _twins(other, one)), None):
                    raise StoreError("{fact} is remembered again already, as {id}.", fact=one.content, id=other.id)
            undone.append(Undone(whole[id(fact)], fact, len(whole)))
            return after

        self._backend.update(change)
        return undone[0]

    def _lost(self, facts: Sequence[Fact], reference: str) -> Fact:
        """The fact whose newest change is to be taken back."""
        seen = (fact for fact in reversed(facts) if self._sees(fact) and fact.id.startswith(reference))
        lost = sorted(filter(changed_at, seen), key=changed_at, reverse=True)
        if reference:
            return _one(lost, reference, _NOTHING_LOST)
        lost = [fact for fact in lost if not taken_back(fact)]
        for fact in lost:
            whole = restored(fact)
            if whole.forgotten is not None or not any(_twins(other, whole) for other in facts):
                return fact
        return _one(lost[:1], reference, _NOTHING_LOST)

    def all(self) -> Sequence[Fact]:
        """Every fact of every project, forgotten ones too, in the order they were added."""
        return self._backend.load()

    def merge(self, incoming: Sequence[Fact]) -> Merged:
        """Take over facts of any project that are not there yet. Raises StoreError when they cannot be written."""
        outcome: list[Merged] = []

        def change(facts: Sequence[Fact]) -> Sequence[Fact]:
            merged, counts = merge(facts, incoming, lambda content: bool(_refusal(content)), self._free, self._clock())
            outcome.append(counts)
            return merged

        self._backend.update(change)
        return outcome[0]

    @property
    def path(self) -> Path:
        """The file that holds the facts."""
        return self._backend.path

    def notices(self) -> tuple[Notice, ...]:
        return self._backend.notices()

    def _with(
        self, facts: Sequence[Fact], content: str, scope: Scope, type: str | None, key: str | None, source: Source
    ) -> tuple[Sequence[Fact], Saved]:
        """`facts` with the new one in, and what became of it."""
        project = None if scope == "global" else self._project
        live = [fact for fact in facts if fact.forgotten is None]
        mine = [fact for fact in live if fact.scope == scope and fact.project == project]
        moment = self._clock()
        keyed = next((fact for fact in mine if key is not None and fact.key == key), None)
        twin = next((fact for fact in mine if fact.content == content), None)
        if keyed is not None and keyed is not twin:
            if twin is not None:  # the content moves under the key; beside it it would be there twice
                facts = _swap(facts, twin, replace(twin, forgotten=stamp(moment, exact=True)))
            new = replace(keyed, content=content, type=type or keyed.type, source=source)
            return _swap(facts, keyed, changed(keyed, new, moment)), Saved(
                "replaced", keyed.id, f"Replaced what was remembered as “{key}”: {content}"
            )
        if twin is not None:
            return self._known(facts, twin, type, key, source)
        if scope == "project":
            everywhere = next((fact for fact in live if fact.scope == "global" and fact.content == content), None)
            if everywhere is not None:
                return facts, Saved("known", everywhere.id, f"Already remembered: {content}")
        id = self._free({fact.id for fact in facts})
        added = stamp(moment, exact=bool(moment.microsecond))
        fact = Fact(id, content, type or "fact", scope, project, key, added, stamp(moment), source)
        where = "for every project" if scope == "global" else "for this project"
        return [*facts, fact], Saved("saved", fact.id, f"Remembered {where}: {content}")

    def _known(
        self, facts: Sequence[Fact], fact: Fact, type: str | None, key: str | None, source: Source
    ) -> tuple[Sequence[Fact], Saved]:
        """`facts` with the key and the type that `fact`, of the content to save, is to have."""
        type, key = type or fact.type, key or fact.key
        if (type, key) == (fact.type, fact.key):
            return facts, Saved("known", fact.id, f"Already remembered: {fact.content}")
        new = replace(fact, key=key, type=type, source=source)
        told = f"Already remembered, now as {f'“{key}”' if key != fact.key else type}: {fact.content}"
        return _swap(facts, fact, changed(fact, new, self._clock())), Saved("replaced", fact.id, told)

    def _sees(self, fact: Fact) -> bool:
        return fact.scope == "global" or fact.project == self._project

    def _find(self, facts: Sequence[Fact], reference: str) -> Fact:
        seen = [fact for fact in facts if fact.forgotten is None and self._sees(fact)]
        found = [fact for fact in seen if fact.id == reference] or [
            fact for fact in seen if reference and fact.id.startswith(reference)
        ]
        return _one(found, reference, "No fact has the id {id}.")

    def _free(self, taken: Collection[str]) -> str:
        while (id := self._new_id()) in taken:
            pass
        return id


def _refusal(content: str, key: str | None = None) -> str:
    """Why `content` is not kept; "" when it may be."""
    if not content:
        return "Not remembered: there is nothing to remember."
    if len(content) > LONGEST_FACT:
        most = f"at most {LONGEST_FACT} are kept"
        return f"Not remembered: {len(content)} characters are no fact; {most}. Use CODEAGENT.md."
    if kind := find_secret(content) or (find_secret(key) or find_secret(f"{key}: {content}") if key else None):
        return f"Not remembered: it seems to hold {kind}, and facts travel to the model. Say where to find it instead."
    return ""


def _swap(facts: Sequence[Fact], old: Fact, new: Fact) -> Sequence[Fact]:
    return [new if fact is old else fact for fact in facts]


def _place(fact: Fact, name: str | None = None) -> tuple[str, str | None, str]:
    return fact.scope, fact.project, fact.content if name is None else f"key {name}"


def _twins(one: Fact, other: Fact) -> bool:
    """Whether both, remembered at once, would be the same fact twice."""
    return (
        one.forgotten is None
        and one.id != other.id
        and (one.scope, one.project) == (other.scope, other.project)
        and (one.content == other.content or (one.key is not None and one.key == other.key))
    )


def _one(found: Sequence[Fact], reference: str, none: str) -> Fact:
    if not found:
        raise StoreError(none, hint="See: memory list.", id=reference)
    if len(found) > 1:
        ids = ", ".join(fact.id for fact in found)
        raise StoreError("Several facts have an id that begins with {id}: {ids}.", id=reference, ids=ids)
    return found[0]
