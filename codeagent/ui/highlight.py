"""Source code in colour, line by line as it comes."""

from __future__ import annotations

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Text, _TokenType
from pygments.util import ClassNotFound

from codeagent.ui.rows import Row

CONTEXT = 40
"""Lines before a line that are read again at most, to know where it stands (in a string, in a comment)."""
LONGEST = 2_000
"""Characters of a line beyond which it is not worth reading."""


class Highlighter:
    """Colours the lines of one listing, one after the other, at a cost that does not grow with the listing."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._markup = self._lexer is not None and any("ml" in kind for kind in self._lexer.mimetypes)
        self._open: list[str] = []
        """Lines since the last one at whose end nothing was open."""

    def line(self, text: str, *, keep: bool = True) -> Row:
        """The row for the next line; without `keep` it is a look at a line that is not over."""
        if self._lexer is None or len(text) > LONGEST:
            return [("", text)]
        source = "\n".join([*self._open, text])
        row: Row = []
        last = Text
        skip = len(source) - len(text)
        for token, value in self._lexer.get_tokens(source):
            part, skip = value[skip:], max(skip - len(value), 0)
            if part:
                row.append((_style(token), part.rstrip("\n")))
                last = token if part.strip() else last
        if keep:
            self._open = [*self._open, text][-CONTEXT:] if self._markup or _open(last, source) else []
        return row


def _open(last: _TokenType, source: str) -> bool:
    """Whether a line that ends in `last` may be in the middle of a string or a comment."""
    return not {"String", "Comment"}.isdisjoint(last) or source.rfind("/*") > source.rfind("*/")


def _lexer(language: str) -> Lexer | None:
    words = language.split()
    try:
        return get_lexer_by_name(words[0].strip("{}.,:").lower(), stripnl=False, ensurenl=False) if words else None
    except ClassNotFound:
        return None


def _style(token: _TokenType) -> str:
    return "" if token[:1] in ((), ("Text",)) else f"class:pygments.{'.'.join(token).lower()}"
