"""JSON as models write it: read strictly first, then with the slips forgiven that leave no doubt of what was meant.

Forgiven are code fences around it, commas before a bracket, single quotes, Python's True, False and None, raw line
breaks and unknown escapes in strings, a value wrapped in a string, brackets left over at the end. What is cut stays
an error: nobody knows how it would have gone on.
"""

from __future__ import annotations

import json
import re
from typing import Any

_FENCE = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_LEFT_OVER = re.compile(r"[\s}\]]*")
_BLANK = re.compile(r"\s*")
_BARE = re.compile(r"[-+\w.]+")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_DEEPEST = 100


class LooseError(ValueError):
    """What is wrong and at which character of `text`."""

    def __init__(self, reason: str, text: str, at: int) -> None:
        super().__init__(reason)
        self.text = text
        self.at = at

    @property
    def spot(self) -> str:
        """The place, with what stands around it."""
        around = " ".join(self.text[max(0, self.at - 20) : self.at + 20].split())
        where = f"at character {self.at + 1}" if self.at < len(self.text) else "at the end"
        return f"{where}, near {around!r}" if around else where


def read(text: str) -> Any:
    """The value that `text` means.

    Raises:
        LooseError: it is none, or it is cut.
    """
    fenced = _FENCE.fullmatch(text)
    text = fenced[1] if fenced else text
    try:
        value = json.loads(text, strict=False)
    except RecursionError:
        raise LooseError("nested too deeply", text, 0) from None
    except ValueError:
        value, end = _Reader(text).whole()
        if _LEFT_OVER.fullmatch(text, end) is None:
            raise LooseError("something stands behind the value", text, end) from None
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        return read(value)
    return value


class _Reader:
    """Reads one value from the beginning of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> tuple[Any, int]:
        """The value, and where it ends."""
        return self._value(), self._at

    def _fail(self, reason: str) -> LooseError:
        return LooseError(reason, self._text, self._at)

    def _peek(self) -> str:
        """The next character that is no blank; "" at the end."""
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            raise self._fail(f"{wanted} expected" if self._peek() else "it ends too early")
        self._at += 1

    def _value(self) -> Any:
        first = self._peek()
        if first in ("{", "["):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self._fail("nested too deeply")
            value = self._object() if first == "{" else self._array()
            self._depth -= 1
            return value
        return self._string(first) if first in ('"', "'") else self._word()

    def _object(self) -> dict[str, Any]:
        self._take("{")
        found: dict[str, Any] = {}
        while self._peek() != "}":
            quote = self._peek()
            if quote not in ('"', "'"):
                raise self._fail("a name in quotes expected" if quote else "it ends too early")
            name = self._string(quote)
            self._take(":")
            found[name] = self._value()
            if self._peek() != "}":
                self._take(",")
        self._at += 1
        return found

    def _array(self) -> list[Any]:
        self._take("[")
        found = []
        while self._peek() != "]":
            found.append(self._value())
            if self._peek() != "]":
                self._take(",")
        self._at += 1
        return found

    def _string(self, quote: str) -> str:
        begun, self._at, parts = self._at, self._at + 1, []
        while (char := self._text[self._at : self._at + 1]) != quote:
            if not char:
                self._at = begun
                raise self._fail("a string without its end")
            self._at += 1
            parts.append(self._escape() if char == "\\" else char)
        self._at += 1
        return "".join(parts)

    def _escape(self) -> str:
        char = self._text[self._at : self._at + 1]
        self._at += 1
        if char == "u" and _HEX.match(self._text, self._at):
            self._at += 4
            return chr(int(self._text[self._at - 4 : self._at], 16))
        if char in _ESCAPES:
            return _ESCAPES[char]
        return char if char in "\"'\\/" else f"\\{char}"

    def _word(self) -> Any:
        found = _BARE.match(self._text, self._at)
        word = found[0] if found else ""
        if word in _WORDS:
            value: Any = _WORDS[word]
        else:
            try:
                value = json.loads(word)
            except ValueError:
                raise self._fail("a value expected" if self._peek() else "it ends too early") from None
        self._at += len(word)
        return value
