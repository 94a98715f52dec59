"""Text of others made harmless for a terminal: what would move the cursor, recolour, reorder or hide is shown instead.

Characters without a width are left where writing needs them: joiners between letters of other scripts and between
emoji, single variation selectors.
"""

from __future__ import annotations

import re

_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
    "\xad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SUSPECT = re.compile(f"[{_NEVER}\u200c\u200d{_SELECTORS}]+")
"""One class of characters alone, which is looked for quickly; most texts have none."""
_HIDDEN = re.compile(f"[{_NEVER}]+|(?<=[\x00-\x7f])[\u200c\u200d]+|[{_SELECTORS}]{{2,}}")
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, the clipboard
    r"|\x1b[ -/]*[0-~]"
)


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey replaced by one that shows it.

    Newlines and tabs stay; "\\r\\n" becomes "\\n". Escape is shown as ^[, a bidirectional override as ⟨202e⟩.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(_judged, text.replace("\r\n", "\n"))


def plain(text: str) -> str:
    """`visible` for the output of programs: whole escape sequences (colours above all) are dropped first."""
    return visible(_SEQUENCE.sub("", text) if "\x1b" in text else text)


def _judged(found: re.Match[str]) -> str:
    """By the character before it, too: a joiner behind a plain letter hides, one behind an emoji joins."""
    before = found.string[max(found.start() - 1, 0) : found.start()]
    return _HIDDEN.sub(_shown, before + found[0])[len(before) :]


def _shown(found: re.Match[str]) -> str:
    run = found[0]
    if run == run[0] * len(run):  # a file of zeros is one call
        return _sign(ord(run[0])) * len(run)
    return "".join(_sign(ord(character)) for character in run)


def _sign(code: int) -> str:
    if code < 0x20:
        return f"^{chr(code + 64)}"
    if code == 0x7F:
        return "^?"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"⟨{code:x}⟩"
