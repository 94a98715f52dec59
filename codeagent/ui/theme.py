"""How things look: names of meanings and their styles. Only the terminal's own sixteen colours are used, so that what
is set for the terminal (light, dark, solarized) holds here, too."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_toolkit.styles import Style

_COMMON: Mapping[str, str] = {
    "dim": "dim",
    "bold": "bold",
    "prompt": "bold ansicyan",
    "said": "bold",
    "good": "ansigreen",
    "bad": "ansired",
    "warn": "ansiyellow",
    "accent": "ansicyan",
    "busy": "ansicyan",
    "selected": "reverse",
    "choice": "bold ansicyan",
    "match": "bold",
    "md.bold": "bold",
    "md.italic": "italic",
    "md.strike": "strike",
    "md.code": "ansicyan",
    "md.link": "underline",
    "md.heading": "bold",
    "md.title": "bold underline",
    "md.quote": "dim",
    "md.marker": "ansicyan",
    "diff.add": "ansigreen",
    "diff.del": "ansired",
    "diff.number": "dim",
    "diff.hunk": "dim",
    "pygments.keyword": "ansimagenta",
    "pygments.name.function": "ansiblue",
    "pygments.name.class": "ansiblue",
    "pygments.name.tag": "ansiblue",
    "pygments.name.decorator": "ansiyellow",
    "pygments.name.builtin": "ansicyan",
    "pygments.literal.string": "ansigreen",
    "pygments.literal.number": "ansiyellow",
    "pygments.operator.word": "ansimagenta",
    "pygments.comment": "dim italic",
    "pygments.generic.inserted": "ansigreen",
    "pygments.generic.deleted": "ansired",
    "pygments.generic.heading": "bold",
    "search-toolbar": "nobold",
    "search": "bold",
    "incsearch": "bold",
}
_THEMES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "light": {"warn": "ansibrightred", "pygments.literal.number": "ansired", "pygments.name.decorator": "ansired"},
    "dark": {"pygments.name.function": "ansibrightblue", "pygments.name.class": "ansibrightblue"},
    "colour-blind": {
        "good": "ansiblue",
        "bad": "bold ansiyellow",
        "diff.add": "ansiblue",
        "diff.del": "ansiyellow",
        "pygments.literal.string": "ansiblue",
        "pygments.generic.inserted": "ansiblue",
        "pygments.generic.deleted": "ansiyellow",
    },
    "plain": {
        name: " ".join(word for word in style.split() if not word.startswith("ansi")) for name, style in _COMMON.items()
    },
}


def style(theme: str, background: str = "") -> Style:
    """The style sheet of a theme; an unknown one looks like the default, which is the light one where the terminal says
    that its background is (`background`: what it says in COLORFGBG)."""
    if theme == "default" and background.rpartition(";")[2] in ("7", "15"):
        theme = "light"
    return Style(list({**_COMMON, **_THEMES.get(theme, {})}.items()))
