"""What a summary must not lose beside rules: values that the person named; and what of it a text holds."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VALUE = re.compile(
    r"https?://[^\s<>\"'）)\]，。]+"
    r"|`[^`\n]{1,120}`|\"[^\"\n]{2,120}\"|“[^”\n]{2,120}”|「[^」\n]{1,120}」"
    r"|(?<![\w/.])[\w.-]*(?:/[\w.@-]+)+/?"
    r"|\b[A-Za-z]\w*(?:[._]\w+)+\b|\b[a-z]+(?:[A-Z]\w*)+\b|\b[A-Z]{2,}[A-Z0-9_-]*\b"
    r"|(?<![\w.])\d[\d.,:]*(?:\s?(?:%|ms|s|min|h|kB|MB|GB|px|k))?(?![\w])"
)


def values(text: str) -> list[str]:
    """Addresses, quoted strings, paths, identifiers and numbers in `text`."""
    return list(dict.fromkeys(found[0].rstrip(".,:") for found in _VALUE.finditer(text)))


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """Those of `wanted` that `text` does not hold, blanks and case aside."""
    held = _plain(text)
    return [one for one in dict.fromkeys(wanted) if _plain(one) not in held]


def _plain(text: str) -> str:
    return re.sub(r"[\s`*\"“”]+", "", text).casefold()
