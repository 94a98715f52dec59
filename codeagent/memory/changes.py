"""Changes of a fact that can be taken back: what stood there before is kept in its versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from codeagent.memory.entry import Fact, source_from_json, source_to_json, stamp


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was taken back."""

    fact: Fact
    """As it is now."""
    was: Fact
    """As it stood until then."""
    facts: int = 1
    """How many went with it: an import is one change."""

    @property
    def told(self) -> str:
        fact, was = self.fact, self.was
        if self.facts > 1:
            return f"The import is taken back: {self.facts} facts changed with it."
        if fact.forgotten is not None:
            return f"No longer remembered: {fact.content} (undo {fact.id} brings it back)"
        if was.forgotten is not None:
            return f"Remembered again: {fact.content}"
        if was.content != fact.content:
            return f"As it was before: {fact.content} (not: {was.content})"
        if was.type != fact.type:
            return f"As it was before, of type {fact.type}: {fact.content}"
        return f"As it was before, {f'as “{fact.key}”' if fact.key else 'without a key'}: {fact.content}"


def changed(fact: Fact, new: Fact, moment: datetime) -> Fact:
    """`new` in the place of `fact`, which becomes the newest of its versions."""
    old: dict[str, object] = {
        "content": fact.content,
        "updated": fact.updated,
        "source": source_to_json(fact.source),
        "replaced": stamp(moment, exact=True),
    }
    if new.type != fact.type:
        old["type"] = fact.type
    if new.key != fact.key:
        old["key"] = fact.key
    says = (new.content, new.type) != (fact.content, fact.type)
    return replace(new, updated=stamp(moment) if says else fact.updated, versions=(*fact.versions, old))


def changed_at(fact: Fact) -> str:
    """When `fact` was last forgotten, replaced or added, to be sorted by; "" where nothing tells what was before."""
    at = _moment(fact)
    if not at or fact.forgotten is not None:
        return at
    # Of what happens in one moment, what was added comes first, and what was replaced after what was forgotten for it.
    if not _is_new(fact):
        return f"{at}+"
    return at.removesuffix("Z") + ("" if "." in at else ".000000")


def together(facts: Sequence[Fact], fact: Fact) -> list[Fact]:
    """What changed with `fact`, itself among it: all that came with an import, else it alone."""
    at = _moment(fact)
    if fact.forgotten is not None or not any(other.imported == at for other in facts):
        return [fact]
    return [other for other in facts if other.forgotten is None and _moment(other) == at]


def taken_back(fact: Fact) -> bool:
    """Whether it was its addition that was undone: it was forgotten as of then, and comes back by its id alone."""
    return fact.forgotten is not None and fact.forgotten == _added(fact)


def restored(fact: Fact) -> Fact:
    """`fact`, which has a change, as it was before the last one; forgotten where that was its addition."""
    if fact.forgotten is not None:
        return replace(fact, forgotten=None)
    if _is_new(fact):
        return replace(fact, forgotten=_added(fact))
    *versions, old = fact.versions
    key = old.get("key", fact.key)
    return replace(
        fact,
        content=str(old["content"]),
        type=str(old.get("type") or fact.type),
        key=str(key) if key else None,
        updated=str(old.get("updated") or fact.updated),
        source=source_from_json(old.get("source")),
        versions=tuple(versions),
    )


def _moment(fact: Fact) -> str:
    if fact.forgotten is not None or _is_new(fact):
        return fact.forgotten or _added(fact)
    return _replaced(fact) if isinstance(fact.versions[-1].get("content"), str) else ""


def _is_new(fact: Fact) -> bool:
    """Whether nothing has changed in it since it was added, here or by an import."""
    return not fact.versions or (fact.imported is not None and fact.imported > _replaced(fact))


def _replaced(fact: Fact) -> str:
    return str(fact.versions[-1].get("replaced") or fact.updated)


def _added(fact: Fact) -> str:
    return fact.imported or fact.created
