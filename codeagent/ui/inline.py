"""Inline Markdown of one line as a row: `code`, **bold**, *italic*, ~~struck~~, [links](url).

Emphasis may touch Chinese characters and their punctuation, where CommonMark would not see it; underscores inside words
(snake_case) and lone asterisks (2 * 3) are text.
"""

from __future__ import annotations

import re

from codeagent.ui.rows import Row

DEPTH = 8
"""Emphasis within emphasis beyond this is text."""
_TOKEN = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+\-.!~|<>])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.)*)\]\((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)"
    r"|<(?P<auto>https?://[^\s<>]+)>"
    r"|(?P<bare>https?://[^\s<>()\[\]`*\"'，。；：！？、（）《》]+(?<![.,;:!?]))"
    r"|(?P<mark>\*{1,3}|_{1,3}|~~)"
)
_STYLE = {
    "*": "class:md.italic",
    "**": "class:md.bold",
    "***": "class:md.bold class:md.italic",
    "~~": "class:md.strike",
}


def inline(text: str, style: str = "") -> Row:
    """`text` as styled spans; what is no markup stays as it is."""
    if style.count("class:") > DEPTH:
        return [(style, text)]
    row: Row = []
    place = 0
    while found := _TOKEN.search(text, place):
        if found.start() > place:
            row.append((style, text[place : found.start()]))
        place = found.end()
        if found["mark"]:
            place = _emphasis(text, found, style, row)
        elif found["code"] is not None:
            row.append((f"{style} class:md.code", _trim(found["code"])))
        elif found["label"] is not None:
            row += _link(found["label"], found["url"], style)
        elif url := found["auto"] or found["bare"]:
            row.append((f"{style} class:md.link", url))
        else:
            row.append((style, found["escaped"]))
    if place < len(text):
        row.append((style, text[place:]))
    return row


def _emphasis(text: str, found: re.Match[str], style: str, row: Row) -> int:
    """Append what a mark opens, or the mark itself when nothing closes it; return where to go on."""
    mark, after = found["mark"], found.end()
    inside_word = mark[0] == "_" and found.start() > 0 and text[found.start() - 1].isalnum()
    close = -1 if inside_word or text[after : after + 1].isspace() else _closing(text, mark, after)
    if close < 0:
        row.append((style, mark))
        return after
    row += inline(text[after:close], f"{style} {_STYLE[mark.replace('_', '*')]}".strip())
    return close + len(mark)


def _closing(text: str, mark: str, start: int) -> int:
    """Where `mark` is closed, or -1: not behind a blank, not inside code, not as a part of a longer run."""
    for found in _TOKEN.finditer(text, start):
        if found["mark"] != mark or found.start() == start or text[found.start() - 1].isspace():
            continue
        if mark[0] == "_" and text[found.end() : found.end() + 1].isalnum():
            continue
        return found.start()
    return -1


def _link(label: str, url: str, style: str) -> Row:
    row = inline(label, f"{style} class:md.link".strip())
    if url and url != label:
        row.append((f"{style} class:dim".strip(), f" ({url})"))
    return row


def _trim(code: str) -> str:
    """One blank on both sides only keeps backticks apart."""
    return code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " and code.strip() else code
