"""What a search provider must tell: how it is asked, and how its answer reads. One file each in `engines/`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from codeagent.core.errors import CodeAgentError
from codeagent.core.plugins import discover
from codeagent.core.web import Hit
from codeagent.tools.web import engines

RESULTS = 8


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a search provider."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"
    json: object = None


@dataclass(frozen=True, slots=True)
class EngineKind:
    """What a file in `engines/` exports as ENGINE."""

    name: str
    key: str
    """Name of the variable of the environment that holds the key."""
    url: str
    ask: Callable[[str, str, str], Question]
    """(address, key, query) -> request."""
    found: Callable[[Any], Iterable[Mapping[str, Any]]]
    """The results in the decoded answer."""
    fields: tuple[str, str, str]
    """Where a result has its title, address and snippet."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A provider with its key."""

    kind: EngineKind
    key: str
    url: str

    @property
    def name(self) -> str:
        return self.kind.name

    def ask(self, query: str) -> Question:
        return self.kind.ask(self.url, self.key, query)

    def hits(self, body: bytes) -> list[Hit]:
        """Raises CodeAgentError when the answer is not what it should be."""
        try:
            rows = list(self.kind.found(json.loads(body)))[:RESULTS]
            return [Hit(*(" ".join(str(row.get(name) or "").split()) for name in self.kind.fields)) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CodeAgentError("The answer of {name} cannot be read.", name=self.name) from error


def engine_keys() -> tuple[str, ...]:
    """The variables in which keys of search providers stand."""
    return tuple(kind.key for kind in _kinds())


def find_engine(environ: Mapping[str, str], wanted: str = "", url: str = "") -> Engine | None:
    """The provider of that name, else the first whose key is in the environment; None where there is no key."""
    for kind in _kinds():
        if wanted in ("", kind.name) and (key := environ.get(kind.key)):
            return Engine(kind, key, url or kind.url)
    return None


def _kinds() -> Collection[EngineKind]:
    return discover(engines, "ENGINE").values()
