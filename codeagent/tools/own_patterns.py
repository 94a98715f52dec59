"""Regular expressions as ripgrep reads them, said so that Python reads the same: for where there is no ripgrep."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from unicodedata import category

_TOKEN = re.compile(
    r"\\[pP](?:\{(?P<no>\^?)(?P<long>[^{}]*)\}|(?P<short>[A-Z]))"
    r"|\\[xuU]\{(?P<code>[0-9A-Fa-f]{1,8})\}"
    r"|\\(?P<escaped>.)"
    r"|\[:(?P<notposix>\^?)(?P<posix>[a-z]+):\]"
    r"|\(\?<(?P<group>[A-Za-z_]\w*)>"
    r"|(?P<char>.)",
    re.DOTALL,
)
_SCRIPTS = {
    "han": r"\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufa6d\ufa70-\ufad9\U00020000-\U0003fffd",
    "hiragana": r"\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b11f",
    "katakana": r"\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff6f\uff71-\uff9d",
    "hangul": r"\u1100-\u11ff\u302e\u302f\u3131-\u318e\u3200-\u321e\u3260-\u327e\ua960-\ua97c\uac00-\ud7a3"
    r"\ud7b0-\ud7fb\uffa0-\uffdc",
    "latin": r"A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u02b8\u02e0-\u02e4\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua787"
    r"\uff21-\uff3a\uff41-\uff5a",
    "greek": r"\u0370-\u0373\u0375-\u0377\u037a-\u037d\u037f\u0384\u0386\u0388-\u03e1\u03f0-\u03ff\u1f00-\u1ffe",
    "cyrillic": r"\u0400-\u0484\u0487-\u052f\u1c80-\u1c88\u1d2b\u2de0-\u2dff\ua640-\ua69f",
}
"""The common scripts, as the inside of a set."""
_CATEGORIES = {
    "letter": "L",
    "uppercase": "Lu",
    "lowercase": "Ll",
    "mark": "M",
    "number": "N",
    "digit": "Nd",
    "punctuation": "P",
    "symbol": "S",
    "separator": "Z",
    "alphabetic": "L",
}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
    "ascii": r"\x00-\x7f",
}
_ESCAPES = {"z": r"\Z", "<": r"\b(?=\w)", ">": r"\b(?<=\w)", "h": r"[ \t]"}
_REASONS = (
    ("unterminated subpattern", "unclosed group"),
    ("unbalanced parenthesis", "unopened group"),
    ("unterminated character set", "unclosed character class"),
    ("nothing to repeat", "repetition operator missing expression"),
    ("bad character range", "invalid character class range, the start must be <= the end"),
    ("bad escape", "unrecognized escape sequence"),
    ("min repeat greater", "invalid repetition count range, the start must be <= the end"),
)


def compile_pattern(pattern: str, *, ignore_case: bool, multiline: bool) -> re.Pattern[str]:
    """Raises:
    ValueError: it is no regular expression, or one that only ripgrep can read; says why.
    """
    flags = (re.IGNORECASE if ignore_case else 0) | (re.MULTILINE if multiline else 0)
    try:
        return re.compile("".join(_translated(pattern)), flags)
    except (re.error, RecursionError, OverflowError) as error:
        told = str(error)
        raise ValueError(next((said for known, said in _REASONS if known in told), told)) from None


def _translated(pattern: str) -> Iterator[str]:
    dot = r"[^\r\n]" if "(?" not in re.sub(r"\(\?(?:[:=!>P]|<[=!\w])", "", pattern) else "."
    inside, began = False, 0
    for found in _TOKEN.finditer(pattern):
        said = found[0]
        if found["long"] is not None or found["short"]:
            members = _members(said, found["long"] or found["short"])
            yield _set(members, inside, (said[1] == "P") != bool(found["no"]), said)
        elif found["posix"] and inside:
            if found["posix"] not in _POSIX:
                raise ValueError(f"unrecognized character class {said}")
            yield _set(_POSIX[found["posix"]], inside, bool(found["notposix"]), said)
        elif found["code"]:
            yield _character(said, int(found["code"], 16))
        elif found["group"]:
            yield f"(?P<{found['group']}>" if not inside else re.escape(said)
        elif found["escaped"]:
            yield _ESCAPES.get(found["escaped"], said) if not inside else said
        elif inside and pattern.startswith("&&", found.start()):
            raise ValueError("&& in a character class is read by ripgrep alone, which is not here")
        elif not inside and said == "[":
            inside, began = True, found.end() + pattern.startswith("^", found.end())
            yield said
        elif inside and said == "]" and found.start() > began:
            inside = False
            yield said
        elif inside and said == "[":
            yield r"\["
        else:
            yield dot if said == "." and not inside else said


def _members(said: str, name: str) -> str:
    """The inside of a set for a script or a general category."""
    plain = re.sub(r"^(?:script|sc|scx|general_category|gc)=", "", name.lower()).replace(" ", "").rstrip("_")
    if plain in _SCRIPTS:
        return _SCRIPTS[plain]
    kind = _CATEGORIES.get(plain.removesuffix("_letter"), plain.capitalize())
    members = "".join(_of_category(kind)) if re.fullmatch(r"[A-Z][a-z]?", kind) else ""
    if not members:
        raise ValueError(f"the class {said} is unknown, or read by ripgrep alone, which is not here")
    return members


def _of_category(kind: str) -> Iterator[str]:
    start = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and category(chr(code)).startswith(kind)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            yield f"\\U{start:08x}-\\U{code - 1:08x}"
            start = None


def _set(members: str, inside: bool, negated: bool, said: str) -> str:
    if not inside:
        return f"[{'^' if negated else ''}{members}]"
    if negated:
        raise ValueError(f"{said} in a character class is read by ripgrep alone, which is not here")
    return members


def _character(said: str, code: int) -> str:
    if code > sys.maxunicode:
        raise ValueError(f"{said} is no character")
    return f"\\U{code:08x}"
