"""The JSON form of long-term memory: what the memory file holds, and what export and import exchange."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring
from typing import Any, get_args

from codeagent.core.errors import StoreError
from codeagent.memory.entry import TYPES, Fact, Scope, fact_from_json, fact_to_json

VERSION = 1


@dataclass(frozen=True, slots=True)
class Document:
    """Facts, entries that are none (kept, behind them), and unknown fields at the top."""

    facts: tuple[Fact, ...] = ()
    """In the order they were added; a forgotten one stands where it stood."""
    others: tuple[Any, ...] = ()
    top: dict[str, Any] = field(default_factory=dict)


def to_bytes(document: Document) -> bytes:
    """Readable JSON, UTF-8 unescaped. What was forgotten stands under a name of its own, and is no entry."""
    kept = [_entry(fact) for fact in document.facts if fact.forgotten is None]
    kept += [_indented(entry, 4) for entry in document.others]
    members = [f"{encode_basestring(name)}: {_indented(value, 2)}" for name, value in document.top.items()]
    members.append('"entries": [\n    ' + ",\n    ".join(kept) + "\n  ]" if kept else '"entries": []')
    gone = [(place, fact) for place, fact in enumerate(document.facts) if fact.forgotten is not None]
    if gone:
        members.append(f'"forgotten": {_indented([{**fact_to_json(fact), "place": place} for place, fact in gone], 2)}')
    text = ",\n  ".join([f'"version": {VERSION}', *members])
    return f"{{\n  {text}\n}}\n".encode("utf-8", "replace")


def _indented(value: object, margin: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n" + " " * margin)


def _entry(fact: Fact) -> str:
    """One entry; `json.dumps` has no fast way with an indent, and the whole file is written at each change."""
    source = fact.source
    if fact.versions or fact.expires is not None or fact.extra or source.extra:
        return _indented(fact_to_json(fact), 4)
    quoted = encode_basestring
    project = "null" if fact.project is None else quoted(fact.project)
    key = "null" if fact.key is None else quoted(fact.key)
    more = "" if fact.imported is None else f',\n      "imported": {quoted(fact.imported)}'
    return f"""{{
      "id": {quoted(fact.id)},
      "type": {quoted(fact.type)},
      "scope": {quoted(fact.scope)},
      "project": {project},
      "key": {key},
      "content": {quoted(fact.content)},
      "created": {quoted(fact.created)},
      "updated": {quoted(fact.updated)},
      "source": {{
        "by": {quoted(source.by)},
        "session": {quoted(source.session)},
        "turn": {source.turn:d},
        "quote": {quoted(source.quote)}
      }},
      "versions": []{more}
    }}"""


def from_bytes(data: bytes, where: object, *, strict: bool = False) -> Document:
    """Read the JSON form, or a bare list of entries; `strict` takes no entry that is none, or of an unknown kind.

    Raises:
        ValueError: it is neither.
        StoreError: a newer version wrote it, or an entry is refused; `where` names the file in the sentence.
    """
    try:
        form = json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if isinstance(form, list):
        form = {"entries": form}
    if not isinstance(form, dict) or not isinstance(entries := form.pop("entries", None), list):
        raise ValueError("no memory file")
    version = form.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise StoreError("The memory file {path} was written by a newer version of codeagent.", path=where)
    if strict:
        _check(entries, where, "entry")
        _check(gone if isinstance(gone := form.get("forgotten"), list) else [], where, "forgotten entry")
    read = [(entry, fact_from_json(entry)) for entry in entries]
    facts = [fact for _, fact in read if fact is not None]
    gone = _forgotten(form.get("forgotten"))
    if gone is not None:
        del form["forgotten"]
        for place, fact in gone:
            facts.insert(place, fact)
    return Document(tuple(facts), tuple(entry for entry, fact in read if fact is None), form)


def _check(entries: Sequence[object], where: object, what: str) -> None:
    for number, entry in enumerate(entries, 1):
        if fault := _fault(entry):
            sentence = "{what} {number} of {file} {fault}; nothing was imported."
            raise StoreError(sentence, what=what.capitalize(), number=number, file=where, fault=fault)


def _fault(entry: object) -> str:
    if not isinstance(entry, dict) or fact_from_json(entry) is None:
        return "has no content"
    for name, known in (("type", TYPES), ("scope", get_args(Scope))):
        if entry.get(name) is not None and entry[name] not in known:
            return f"has the unknown {name} {entry[name]!r}, not one of {', '.join(known)}"
    return ""


def _forgotten(form: object) -> Sequence[tuple[int, Fact]] | None:
    """(place, fact) in the order of the places; None for what is no such list, which is kept as it is."""
    if not isinstance(form, list):
        return None
    found = []
    for entry in form:
        fact = fact_from_json(entry)
        if fact is None or fact.forgotten is None:
            return None
        extra = {name: value for name, value in fact.extra.items() if name != "place"}
        place = fact.extra.get("place")
        found.append((place if isinstance(place, int) and place >= 0 else len(form), replace(fact, extra=extra)))
    return sorted(found, key=lambda item: item[0])
