"""Text from the pieces of a stream. A character may come as two halves (surrogates), even in two pieces."""

from __future__ import annotations

import re

from codeagent.core.messages import scrub

_HALF = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FIRST = re.compile("[\ud800-\udbff]$")


def mend(text: str) -> str:
    """Join the halves of characters and replace those that stayed alone."""
    return scrub(_join(text)) if _HALF.search(text) else text


def _join(text: str) -> str:
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


class Text:
    """Grows by pieces; a first half at the end of one waits for the next."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """`piece` as it can be shown now."""
        if self._held or (not piece.isascii() and _HALF.search(piece)):
            piece = _join(self._held + piece)
            self._held = piece[-1:] if _FIRST.search(piece) else ""
            piece = scrub(piece[:-1] if self._held else piece)
        self._parts.append(piece)
        return piece

    def rest(self) -> str:
        """What still waits, now that nothing more comes."""
        held, self._held = scrub(self._held), ""
        self._parts.append(held)
        return held

    def whole(self) -> str:
        return "".join(self._parts) + scrub(self._held)
