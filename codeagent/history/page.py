"""A session as one HTML page that needs nothing else: it reads without a script, folds what tools returned, follows the
reader's light or dark, and prints. Everything in it is text of others: nothing of it runs, and nothing is fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from codeagent.core.display import visible
from codeagent.history.catalog import Found
from codeagent.history.transcript import content_of, read_messages

_TITLE = 100
"""Characters of a call in its folded line."""
_STYLE = """
:root{color-scheme:light dark;--dim:#667;--line:#8884;--user:#2563eb14;--code:#8881}
@media(prefers-color-scheme:dark){:root{--dim:#9aa;--user:#60a5fa1c;--code:#fff1}}
body{font:16px/1.6 system-ui,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;max-width:54rem;
margin:0 auto;padding:1.5rem 1rem 6rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.3}h2{font-size:1rem;margin:1.6em 0 .4em}
header p,time,summary small,footer{color:var(--dim);font-size:.875rem}
section.user{background:var(--user);border-radius:.5rem;padding:.1rem 1rem;margin:1.5rem 0}
section.user>pre{background:none;padding:0;font:inherit}
pre{background:var(--code);border-radius:.4rem;padding:.6rem .8rem;overflow-x:auto;white-space:pre-wrap;
font:.875rem/1.5 ui-monospace,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace}
code{font-family:ui-monospace,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace;font-size:.9em}
details{border-left:3px solid var(--line);margin:.4rem 0;padding-left:.8rem}
summary{cursor:pointer;overflow-wrap:anywhere}details.failed>summary{color:#c0392b}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.2rem .6rem}
nav ol{padding-left:1.4rem}nav a{color:inherit}a::after{content:""}
#find{width:100%;font:inherit;padding:.4rem .6rem;box-sizing:border-box;position:sticky;top:.5rem}
.away{display:none}
@media print{#find,nav{display:none}details::details-content{content-visibility:visible!important;display:block}
section .prose a::after{content:" (" attr(href) ")"}pre{white-space:pre-wrap}}
"""
_SCRIPT = """
const box=document.getElementById("find");box.hidden=false;
const parts=[...document.querySelectorAll("main>section")];
box.addEventListener("input",()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);
for(const part of parts){const has=words.every(word=>part.textContent.toLowerCase().includes(word));
part.classList.toggle("away",!has);
for(const fold of part.querySelectorAll("details"))
fold.open=words.length>0&&words.some(word=>fold.textContent.toLowerCase().includes(word))}});
"""


def as_page(found: Found) -> Iterator[str]:
    """The page in pieces.

    Raises:
        StoreError: the session file cannot be read.
    """
    prose = _prose()
    title = visible(found.name or found.first or found.id)
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    about = " · ".join((found.id, found.model or "unknown model", found.cwd))
    yield (
        f'<!doctype html>\n<html lang="{_language(title)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1><p>{escape(visible(about))}</p></header>"
    )
    yield from _contents(found)
    yield '<input id="find" type="search" placeholder="Find · 查找" aria-label="Find" hidden>\n<main>'
    for record in read_messages(found.path):
        yield from _section(record, prose)
    yield f"</main>\n<script>{_SCRIPT}</script>\n</body>\n</html>"


def _contents(found: Found) -> Iterator[str]:
    """What was asked, to go to."""
    yield "<nav><details><summary>Turns · 轮次</summary><ol>"
    for record in read_messages(found.path):
        if record["message"].get("role") == "user" and record.get("origin") == "user":
            line = " ".join(visible(_said(record)).split())[:_TITLE]
            yield f'<li><a href="#{escape(str(record.get("id")))}">{escape(line)}</a></li>'
    yield "</ol></details></nav>"


def _section(record: dict[str, Any], prose: Callable[[str], str]) -> Iterator[str]:
    message, role = record["message"], record["message"].get("role")
    text = visible(content_of(message.get("content")))
    anchor = escape(str(record.get("id")))
    when = escape(str(record.get("ts") or "")[:16].replace("T", " "))
    if role == "user" and record.get("origin") not in ("summary", "tool"):
        yield f'<section class="user" id="{anchor}"><h2>User <time>{when}</time></h2>'
        yield f"<pre>{escape(visible(_said(record)))}</pre></section>"
    elif role == "user":
        title = "Summary" if record.get("origin") == "summary" else "Images"
        yield f'<section id="{anchor}">{_folded(title, text)}</section>'
    elif role == "assistant":
        yield f'<section class="assistant" id="{anchor}">'
        if text.strip():
            yield f'<h2>Assistant <time>{when}</time></h2><div class="prose">{prose(text)}</div>'
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = visible(str(function.get("arguments") or ""))
            brief = " ".join(arguments.split())
            shown = f"{brief[:_TITLE]}…" if len(brief) > _TITLE else brief
            yield _folded(visible(str(function.get("name"))), _laid_out(arguments), shown)
        yield "</section>"
    elif role == "tool":
        failed = bool(record.get("failed"))
        lines = f"{text.count(chr(10)) + 1} lines"
        title = "Failed" if failed else "Result"
        yield f'<section id="{anchor}">{_folded(title, text, lines, "failed" if failed else "")}</section>'


def _said(record: dict[str, Any]) -> str:
    return str(record.get("said") or content_of(record["message"].get("content")))


def _folded(title: str, text: str, more: str = "", kind: str = "") -> str:
    return (
        f'<details class="{kind}"><summary>{escape(title)} <small>{escape(more)}</small></summary>'
        f"<pre>{escape(text)}</pre></details>"
    )


def _laid_out(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except ValueError:
        return arguments


def _prose() -> Callable[[str], str]:
    """Markdown to HTML: markup in it stays text, dangerous addresses are no links, pictures are links."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": False}).enable(["table", "strikethrough"])
    return reader.disable("image").render


def _language(text: str) -> str:
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"
