"""Where the output of a program, a file or a page holds a secret for sure.

`secrets.find_secret` judges a sentence that a person or a model wrote, and may err on the careful side: it is asked
again. Here whole source trees pass through, in which `token = next_token` must stay as it is: only what has the form
of a known key, what a settings file assigns to a name of that kind, and passwords in addresses count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codeagent.text.patterns import late
from codeagent.text.secrets import LOGIN, STAND_IN, TOKENS

Span = tuple[int, int]
"""Where a secret begins and where it ends, in characters."""

_AWS = "an AWS secret key"
_KEY_BLOCK = late(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?P<body>.*?)(?:-----END [A-Z0-9 ]*-----|\Z)", re.S)
_KEY_LINE = late(r"[A-Za-z0-9+/=]{16,}")
_WORDS_OF_NAMES = (
    *("pass", "Pass", "PASS", "pwd", "Pwd", "PWD", "ecret", "SECRET", "oken", "TOKEN", "key", "Key", "KEY"),
    *("redential", "CREDENTIAL"),
)
"""Looked for first: most of what is long holds none."""
_KIND = late("[Pp]ass|PASS|[Pp]wd|PWD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY|[Cc]redential|CREDENTIAL")
"""One of these is in the name of whatever holds a secret."""
_NAME = (
    r"[\w.-]{0,60}(?:pass(?:word|wd|phrase)?|pwd|secret|(?<!next)(?<!client)(?<!request)(?<!lock)(?<!change)"
    r"(?<!publickey)token|(?:api|access|private|auth|secret)[_-]?key|credential)s?(?:[_-]?(?:key|value|string|base))?"
)
_VARIABLE = late(
    r"(?:^|[\s;&])(?=[A-Z0-9_]{0,60}(?:PASS|PWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY|CREDENTIAL))"
    r"[A-Z][A-Z0-9_]*=(?:\"(?P<a>[^\"\n]{4,})\"|'(?P<b>[^'\n]{4,})'|(?P<c>[^\s\"'#;&|<>()`]{4,}))(?=[\s;&|]|$)"
)
"""A line of a .env file or of `env`: `DB_PASSWORD=hunter2`."""
_QUOTED = late(
    rf"(?<![\w.:-]){_NAME}[\"']?\s{{0,4}}(?::=|=>|[:=])\s{{0,4}}[brfu]?(?P<mark>[\"'])(?P<a>[^\"'\s\\]{{8,}})(?P=mark)",
    re.I,
)
"""`"api_key": "9f8e7d6c5b4a"`, `password = '…'`."""
_BARE = late(
    rf"^(?:\d+\t)?[ \t]*(?:-[ \t]+)?{_NAME}[ \t]*[:=][ \t]*(?P<a>[^\s\"'#,;(){{}}\[\]<>`$]{{8,}})[ \t\r]*$", re.I
)
"""A line of YAML or of an ini file."""
_LINE = 400
"""Characters of a line that are looked at on either side of such a name."""
_LETTER, _DIGIT = late("[A-Za-z]"), late("[0-9]")
_OTHER_LETTERS = late(r"[^\x21-\x7e]")
_WORDS = late(r"[A-Za-z]+\d?(?:[-_./:][A-Za-z]*\d{0,2})*")
"""What is put together from words, as names, paths and hosts are."""
_SERIAL = late(r"(.)\1*|0?123456\d*|abc(?:def)?\d*|pass(?:word|wd)?\d{0,4}|secret|example", re.I | re.S)
"""What examples use."""


def leaks(text: str) -> list[Span]:
    """The secrets in `text`, in order, none inside another."""
    parted: list[Span] = []
    for start, end in sorted({*_tokens(text), *_logins(text), *_named(text)}):
        if parted and start < parted[-1][1]:
            start, end = parted[-1][0], max(end, parted.pop()[1])
        parted.append((start, end))
    return parted


def _tokens(text: str) -> Iterator[Span]:
    for kind, hints, pattern in TOKENS:
        if kind == _AWS or not any(hint in text for hint in hints):
            continue  # forty characters alone are no proof; an AWS key has a name before it
        if hints == ("PRIVATE KEY",):
            # Line by line: what numbers or indents the lines of a listing is no part of the key.
            for block in _KEY_BLOCK.finditer(text):
                at = block.start("body")
                yield from ((at + line.start(), at + line.end()) for line in _KEY_LINE.finditer(block["body"]))
            continue
        for found in pattern.finditer(text):
            if not found[0].endswith("EXAMPLE"):
                yield found.start() + found[0].rfind(" ") + 1, found.end()


def _logins(text: str) -> Iterator[Span]:
    if "://" in text:
        for found in LOGIN.finditer(text):
            value = found["value"]
            if len(value) > 3 and not STAND_IN.fullmatch(value) and not _SERIAL.fullmatch(value) and "{" not in value:
                yield found.span("value")


def _named(text: str) -> Iterator[Span]:
    """By the name before it, and each line is looked at once."""
    if not any(word in text for word in _WORDS_OF_NAMES):
        return
    seen = 0
    for hint in _KIND.finditer(text):
        if hint.start() < seen:
            continue
        start = max(text.rfind("\n", seen, hint.start()) + 1, seen, hint.start() - _LINE)
        end = text.find("\n", hint.end(), hint.end() + _LINE)
        seen = end if end >= 0 else min(len(text), hint.end() + _LINE)
        line = text[start:seen]
        yield from ((start + first, start + last) for first, last in _of_line(line))


def _of_line(line: str) -> Iterator[Span]:
    for found in _VARIABLE.finditer(line):
        group = next(name for name in "abc" if found[name] is not None)
        if _plain(found[group]) and found[group].lower() not in _SAMPLES:
            yield found.span(group)
    for pattern in (_QUOTED, _BARE):
        yield from (found.span("a") for found in pattern.finditer(line) if _random(found["a"]))


_SAMPLES = frozenset({"test", "testing", "dummy", "sample"})


def _plain(value: str) -> bool:
    """Whether a person may have written it as a value: no reference, no path, no number, no example."""
    return (
        value[0] not in "$%/~.{"
        and "${" not in value
        and "$(" not in value
        and not value.isdigit()
        and not STAND_IN.fullmatch(value)
        and not _SERIAL.fullmatch(value)
        and "EXAMPLE" not in value
    )


def _random(value: str) -> bool:
    """Whether it looks made by chance or by a person who was told to mix: letters and digits, and no words."""
    return (
        _OTHER_LETTERS.search(value) is None
        and _LETTER.search(value) is not None
        and len(_DIGIT.findall(value)) >= 2
        and not _WORDS.fullmatch(value)
        and _plain(value)
    )
