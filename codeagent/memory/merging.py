"""Taking over facts from elsewhere: another backend, another machine, an earlier copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from codeagent.memory.changes import changed
from codeagent.memory.entry import Fact, stamp

Identity = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True)
class Merged:
    """How many facts were taken over, were there already, and are not kept at all (secrets, whole texts)."""

    added: int = 0
    known: int = 0
    refused: int = 0


def merge(
    facts: Sequence[Fact],
    incoming: Sequence[Fact],
    refused: Callable[[str], bool],
    new_id: Callable[[set[str]], str],
    moment: datetime,
) -> tuple[list[Fact], Merged]:
    """`facts` with each of `incoming` that is not among them, and what became of all.

    The same content in the same scope and project is the same fact: remembered wins over forgotten. Of two facts under
    one key the newer holds it, the older stays without. A fact whose id another one has gets a new id. What is taken
    over, and what changes for it, bears the `moment`, by which it can be taken back.
    """
    basin = _Basin(new_id, moment)
    for fact in facts:
        basin.put(fact, None)
    counts = [0, 0, 0]
    for fact in incoming:
        if refused(fact.content):
            counts[2] += 1
        elif (twin := basin.twin(fact)) is not None and (twin.forgotten is None or fact.forgotten is not None):
            counts[1] += 1
        else:
            basin.take(fact)
            counts[0] += 1
    return basin.facts, Merged(*counts)


class _Basin:
    """Facts that grow, with what finds one at once."""

    def __init__(self, new_id: Callable[[set[str]], str], moment: datetime) -> None:
        self.facts: list[Fact] = []
        self._new_id = new_id
        self._moment = moment
        self._stamp = stamp(moment, exact=True)
        self._ids: set[str] = set()
        self._contents: dict[Identity, int] = {}
        self._keys: dict[Identity, int] = {}

    def twin(self, fact: Fact) -> Fact | None:
        """The fact of the same content; a remembered one where there is one."""
        place = self._contents.get(identity(fact))
        return None if place is None else self.facts[place]

    def take(self, fact: Fact) -> None:
        """Put in a fact from elsewhere, in the place of its forgotten twin if it has one."""
        place, fact = self._contents.get(identity(fact)), replace(fact, imported=self._stamp)
        if fact.id in self._ids and (place is None or self.facts[place].id != fact.id):
            fact = replace(fact, id=self._new_id(self._ids))
        holder = self._keys.get(_key(fact)) if fact.key and fact.forgotten is None else None
        if holder is not None and fact.updated > self.facts[holder].updated:
            held = self.facts[holder]
            self.facts[holder] = changed(held, replace(held, key=None), self._moment)
        elif holder is not None:
            fact = replace(fact, key=None)
        self.put(fact, place)

    def put(self, fact: Fact, place: int | None) -> None:
        if place is None:
            place = len(self.facts)
            self.facts.append(fact)
        else:
            self.facts[place] = fact
        self._ids.add(fact.id)
        known = self._contents.setdefault(identity(fact), place)
        if self.facts[known].forgotten is not None:
            self._contents[identity(fact)] = place
        if fact.key and fact.forgotten is None:
            self._keys[_key(fact)] = place


def identity(fact: Fact) -> Identity:
    """Facts that have it in common are one."""
    return fact.scope, fact.project, fact.content


def _key(fact: Fact) -> Identity:
    return fact.scope, fact.project, fact.key or ""
