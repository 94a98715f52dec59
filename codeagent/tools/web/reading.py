"""From what a server sent to text: its characters, and of a page what there is to read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urljoin

from codeagent.tools.encodings import UTF8, detect

_META = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]{0,100}?encoding=[\"']([\w.:-]+)", re.I
)
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,600}?)</title", re.I | re.S)
_HREF = re.compile(r"(?<=\]\()(?![a-zA-Z][a-zA-Z0-9+.-]*:|#)[^)\s]+")
_BLANKS = re.compile(r"\n{3,}")
_CHARSET = re.compile(r"(?:utf-?(?:8|16|32)|iso|cp|gb|big5|shift|euc|koi8|mac|ascii|hz|johab|tis)")
"""Beginnings of the names of codecs that are charsets of pages: others are made for other ends, or unsafe."""
_HEAD = 4_096
_LONGEST = 1_000_000
"""Characters of a page that the plainer reader takes; it is slow on what is badly written."""
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/x-ndjson")
_TEXT_SUFFIXES = ("+json", "+xml", "yaml", "toml", "javascript", "x-sh")
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932"}
"""What pages say and what they mean by it, as browsers have it."""


def is_page(type: str, head: bytes) -> bool:
    """Whether it is HTML, by the media type or, without one, by its beginning."""
    if type:
        return type in ("text/html", "application/xhtml+xml")
    return bool(re.match(rb"\s*(?:<!doctype html|<html)", head[:_HEAD], re.I))


def is_text(type: str) -> bool:
    return type.startswith(_TEXTS) or type.endswith(_TEXT_SUFFIXES)


def text_of(data: bytes, charset: str, *, sniff: bool = False) -> str | None:
    """`data` as text: by a BOM, by the charset of its header, with `sniff` by what its head says, else by its looks.

    None when it is binary.
    """
    bom = data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    found = _META.search(data[:_HEAD]) if sniff and not charset else None
    name = _codec(charset or ((found[1] or found[2]).decode("ascii", "ignore") if found else ""))
    if name and not bom:
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            # It ends in the middle of a character, or is not what it says.
            name = "utf-8" if detect(data, whole=False) == UTF8 else name
            return data.decode(name, "replace")
    encoding = detect(data, whole=False)
    return data[len(encoding.bom) :].decode(encoding.name, "replace") if encoding is not None else None


def _codec(label: str) -> str:
    """The name of a charset that pages are written in; "" for what is none."""
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return ""
    return _SUPERSETS.get(name, name) if _CHARSET.match(name) else ""


def title_of(html: str) -> str:
    found = _TITLE.search(html)
    return " ".join(unescape(found[1]).split())[:200] if found else ""


def markdown_of(html: str, url: str) -> str:
    """What there is to read on a page, as Markdown; without the extra `web` as plainer text."""
    try:
        from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
    except ImportError:
        text = _plain(html)
    else:
        cleaning = PreprocessingOptions(preset="aggressive", remove_navigation=True, remove_forms=True)
        options = ConversionOptions(
            preprocessing=cleaning, strip_tags=["footer"], extract_metadata=False, skip_images=True, compact_tables=True
        )
        try:
            text = convert(html, options).content or ""
        except Exception:  # an extractor may stumble over anything
            text = ""
        text = text if text.strip() else _plain(html)
    text = _HREF.sub(lambda found: urljoin(url, found[0]), text)
    return _BLANKS.sub("\n\n", text).strip()


def _plain(html: str) -> str:
    reader = _Reader()
    reader.feed(html[:_LONGEST])
    reader.close()
    return reader.text


class _Reader(HTMLParser):
    """Text of a page with its headings, lists, links and code; what surrounds the text is left out."""

    SILENT = frozenset(("script", "style", "template", "noscript", "svg", "nav", "footer", "form", "head", "iframe"))
    BLOCKS = frozenset(
        ("p", "div", "section", "article", "main", "ul", "ol", "table", "tr", "blockquote", "dl", "dt", "dd", "br")
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._silent: list[str] = []
        self._pre = 0
        self._links: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in "".join(self._parts).split("\n"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.SILENT:
            self._silent.append(tag)
        if self._silent:
            return
        if tag == "a":
            self._links.append(dict(attrs).get("href") or "")
            self._parts.append("[")
        self._parts += self._begun(tag)

    def _begun(self, tag: str) -> Iterator[str]:
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            yield f"\n\n{'#' * int(tag[1])} "
        elif tag == "li":
            yield "\n- "
        elif tag in ("td", "th"):
            yield " | "
        elif tag == "pre":
            self._pre += 1
            yield "\n\n```\n"
        elif tag == "code" and not self._pre:
            yield "`"
        elif tag in self.BLOCKS:
            yield "\n" if tag in ("br", "tr", "dt", "dd") else "\n\n"

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            # A page that forgets to close one of them loses no more than up to the next that closes.
            if tag in self._silent:
                del self._silent[self._silent.index(tag) :]
            elif tag == "body":
                self._silent.clear()
            return
        if tag == "a" and self._links:
            url = self._links.pop()
            self._parts.append(f"]({url})" if url and not url.startswith("javascript:") else "]")
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._parts.append("\n```\n\n")
        elif tag == "code" and not self._pre:
            self._parts.append("`")
        elif tag in self.BLOCKS or re.fullmatch("h[1-6]", tag):
            self._parts.append("\n" if tag in ("tr", "dt", "dd") else "\n\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data if self._pre else re.sub(r"\s+", " ", data))
