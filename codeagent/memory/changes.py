"""Changes of a fact that can be taken back: what stood there before is kept in its versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from codeagent.memory.entry import Fact, Source, source_from_json, source_to_json, stamp


def replaced(fact: Fact, content: str, type: str, source: Source, moment: datetime) -> Fact:
    """`fact` with another content or type; the old ones become the newest of its versions."""
    old = {
        "content": fact.content,
        "updated": fact.updated,
        "source": source_to_json(fact.source),
        "replaced": stamp(moment, exact=True),
    }
    if type != fact.type:
        old["type"] = fact.type
    versions = (*fact.versions, old)
    return replace(fact, content=content, type=type, updated=stamp(moment), source=source, versions=versions)


def changed_at(fact: Fact) -> str:
    """When `fact` was last forgotten or replaced; "" when neither ever happened or nothing tells what stood before."""
    if fact.forgotten is not None:
        return fact.forgotten
    if not fact.versions or not isinstance(fact.versions[-1].get("content"), str):
        return ""
    # What was replaced comes after what had to be forgotten for it, in the same moment.
    return f"{fact.versions[-1].get('replaced') or fact.updated}+"


def restored(fact: Fact) -> Fact:
    """`fact`, which has a change, as it was before the last one."""
    if fact.forgotten is not None:
        return replace(fact, forgotten=None)
    *versions, old = fact.versions
    return replace(
        fact,
        content=str(old["content"]),
        type=str(old.get("type") or fact.type),
        updated=str(old.get("updated") or fact.updated),
        source=source_from_json(old.get("source")),
        versions=tuple(versions),
    )
