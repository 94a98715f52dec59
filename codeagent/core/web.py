"""The web, as tools meet it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Page:
    """What an address answered, as text to read."""

    url: str
    """Where it was found in the end, redirects followed."""
    type: str
    """Media type, without parameters ("" when the server names none)."""
    text: str
    """Markdown of a page, text as it is, a sentence about anything else."""
    title: str = ""
    cut: bool = False
    """The answer was longer than what is read of one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    title: str
    url: str
    snippet: str = ""


class Web(Protocol):
    """Reading pages and searching for them, within limits of size and time."""

    @property
    def engine(self) -> str:
        """Name of the search provider ("" where none is set up)."""
        ...

    async def fetch(self, url: str) -> Page:
        """The page at an http(s) address, for a while from memory.

        Raises:
            CodeAgentError: it cannot be had, or may not: the sentence says why and what to do.
        """
        ...

    async def search(self, query: str) -> Sequence[Hit]:
        """What the search provider finds, best first.

        Raises:
            CodeAgentError: none is set up, or it does not answer.
        """
        ...


def ascii_host(host: str) -> str:
    """A host as it goes over the wire: small letters, other scripts encoded, no full stop at the end."""
    host = host.strip().strip(".").lower()
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


def host_of(url: str) -> str:
    """The host of an address, as `ascii_host` has it; "" for what is no address."""
    try:
        return ascii_host(urlsplit(url).hostname or "")
    except ValueError:
        return ""
