"""Source code in colour, line by line as it comes."""

from __future__ import annotations

from collections import deque

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

from codeagent.ui.rows import Row

CONTEXT = 30
"""Lines before a line that are read again to know where it stands (in a string, in a comment)."""
LONGEST = 2_000
"""Characters of a line beyond which it is not worth reading."""


class Highlighter:
    """Colours the lines of one listing, one after the other. Each line costs the same, however long the listing."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._before: deque[str] = deque(maxlen=CONTEXT)

    def line(self, text: str, *, keep: bool = True) -> Row:
        """The row for the next line; without `keep` it is a look at a line that is not over."""
        if self._lexer is None or len(text) > LONGEST:
            return [("", text)]
        source = "\n".join([*self._before, text])
        if keep:
            self._before.append(text)
        rows: list[Row] = [[]]
        for token, value in self._lexer.get_tokens(source):
            name = _style(token)
            first, *more = value.split("\n")
            rows[-1].append((name, first))
            rows += [[(name, part)] for part in more]
        number = source.count("\n")
        return [span for span in rows[number] if span[1]] if number < len(rows) else [("", text)]


def _lexer(language: str) -> Lexer | None:
    words = language.split()
    try:
        return get_lexer_by_name(words[0].strip("{}.,:").lower(), stripnl=False, ensurenl=False) if words else None
    except ClassNotFound:
        return None


def _style(token: _TokenType) -> str:
    return "" if token in (Token.Text, Token.Text.Whitespace, Token) else f"class:pygments.{'.'.join(token).lower()}"
