"""What a fact is, on disk and off, and what a place that keeps facts must offer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

from codeagent.core.errors import UsageError
from codeagent.core.events import Notice

Scope = Literal["project", "global"]
TYPES = ("fact", "preference", "rule", "personal_info")

_TIMES = ("created", "updated", "expires", "forgotten", "imported")
_FIELDS = frozenset(["id", "type", "scope", "project", "key", "content", *_TIMES, "source", "versions"])
_SOURCE = frozenset(["by", "session", "turn", "quote"])


@dataclass(frozen=True, slots=True)
class Source:
    """Who asked for a fact, and where."""

    by: str = ""
    """"user" (typed a command) or "tool" (asked the model to remember)."""
    session: str = ""
    turn: int = 0
    quote: str = ""
    """The message that asked, as typed."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of other versions of this program, kept as they were."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One long-term memory. Times are ISO 8601 in UTC, ending in Z."""

    id: str
    content: str
    type: str = "fact"
    scope: Scope = "project"
    project: str | None = None
    """Project id; None for a global fact."""
    key: str | None = None
    created: str = ""
    updated: str = ""
    source: Source = Source()
    versions: tuple[Mapping[str, Any], ...] = ()
    """What stood in its place before, oldest first: content, updated, source, when replaced; type and key if others."""
    expires: str | None = None
    forgotten: str | None = None
    """When it was forgotten; None while it is remembered."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of other versions of this program, kept as they were."""
    imported: str | None = None
    """When it was taken over from elsewhere; all that came with it bear the same moment."""

    def age(self, now: datetime) -> float:
        """Hours since the last change, never negative; infinite when the time cannot be read."""
        updated = parse_time(self.updated)
        return float("inf") if updated is None else max(0.0, (now - updated).total_seconds() / 3600)

    def expired(self, now: datetime) -> bool:
        end = parse_time(self.expires) if self.expires else None
        return end is not None and end <= now


def checked_type(type: str) -> str:
    """`type` when there is one of that name. Raises UsageError."""
    if type not in TYPES:
        raise UsageError("There is no type {type}.", type=type, hint=f"Known: {', '.join(TYPES)}.")
    return type


def stamp(moment: datetime, *, exact: bool = False) -> str:
    """`moment` as facts carry it, to the second, or `exact`: what is forgotten within a second has an order too."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if exact else "%Y-%m-%dT%H:%M:%SZ")


def to_the_second(moment: str) -> str:
    """A moment that facts carry, as a person wants to see it."""
    return re.sub(r"\.\d+Z$", "Z", moment)


def parse_time(text: str) -> datetime | None:
    """The moment that `text` names; a time without a zone is taken as UTC. None when it cannot be read."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def fact_to_json(fact: Fact) -> dict[str, Any]:
    """The JSON form, fields in their fixed order."""
    source = source_to_json(fact.source)
    form: dict[str, Any] = {
        "id": fact.id,
        "type": fact.type,
        "scope": fact.scope,
        "project": fact.project,
        "key": fact.key,
        "content": fact.content,
        "created": fact.created,
        "updated": fact.updated,
        "source": source,
        "versions": [dict(version) for version in fact.versions],
    }
    if fact.expires is not None:
        form["expires"] = fact.expires
    if fact.forgotten is not None:
        form["forgotten"] = fact.forgotten
    if fact.imported is not None:
        form["imported"] = fact.imported
    return {**form, **fact.extra}


def source_to_json(source: Source) -> dict[str, Any]:
    return {
        "by": source.by,
        "session": source.session,
        "turn": source.turn,
        "quote": source.quote,
        **source.extra,
    }


def fact_from_json(form: object) -> Fact | None:
    """Read one entry; None when it is none. An entry of the older form has a `timestamp` and may lack an id."""
    if not isinstance(form, dict) or not isinstance(content := form.get("content"), str) or not content.strip():
        return None
    get = form.get
    made = _time(form["timestamp"]) if "timestamp" in form else ""
    project, versions = _text(get("project")) or None, get("versions")
    named = get("scope")
    scope: Scope = "project" if named == "project" or (project and named != "global") else "global"
    return Fact(
        _text(get("id")) or sha256(content.encode("utf-8", "replace")).hexdigest()[:8],
        content,
        _text(get("type")) or "fact",
        scope,
        project,
        _text(get("key")) or None,
        _text(get("created")) or made,
        _text(get("updated")) or made,
        source_from_json(get("source")),
        tuple(filter(_is_object, versions)) if versions and isinstance(versions, list) else (),
        _text(get("expires")) or None,
        _text(get("forgotten")) or None,
        _others(form, _FIELDS),
        _text(get("imported")) or None,
    )


def source_from_json(form: object) -> Source:
    if not isinstance(form, dict):
        return Source()
    get = form.get
    turn = get("turn")
    return Source(
        _text(get("by")),
        _text(get("session")),
        turn if isinstance(turn, int) else 0,
        _text(get("quote")),
        _others(form, _SOURCE),
    )


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _others(form: dict[str, Any], known: frozenset[str]) -> Mapping[str, Any]:
    return {} if known.issuperset(form) else {name: value for name, value in form.items() if name not in known}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else ""


def _time(value: object) -> str:
    """A time in seconds since 1970 or in ISO form, as facts carry it; "" when it is neither."""
    try:
        if isinstance(value, int | float):
            return stamp(datetime.fromtimestamp(value, UTC))
    except (ValueError, OverflowError, OSError):
        return ""
    moment = parse_time(value) if isinstance(value, str) else None
    return stamp(moment) if moment else ""


Change = Callable[[Sequence[Fact]], Sequence[Fact]]
"""All facts that are stored now -> all facts that are to be stored."""


class Backend(Protocol):
    """Keeps facts, forgotten ones too. Several processes may use the same place at once, and none loses what another
    has stored."""

    @property
    def path(self) -> Path:
        """The file that holds them."""
        ...

    def load(self) -> Sequence[Fact]:
        """All facts, in the order they were added; cheap when nothing has changed. Never raises: see `notices`."""
        ...

    def update(self, change: Change) -> None:
        """Store `change(facts)` for the facts as they are stored at this very moment.

        Raises:
            StoreError: they cannot be read or written; nothing has changed.
        """
        ...

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know and has not been told yet."""
        ...


@dataclass(frozen=True, slots=True)
class BackendKind:
    """What a file in `memory/backends/` exports as BACKEND; `open` takes the path of the JSON file of facts, beside
    which other backends keep their own."""

    name: str
    open: Callable[[Path], Backend]
