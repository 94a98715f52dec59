"""What a text is found by: words of code and English, and the one- and two-character pieces of Chinese.

Documents are never segmented: every piece of one and of two characters of a Chinese (Japanese, Korean) run is a term,
so that how a word is cut does not decide whether it is found, and a document costs microseconds. Only a query is cut
into words: they tell which pieces belong together, and which mean nothing.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

Words = Callable[[str], Sequence[str]]
"""Cuts text into lower-cased words."""

_EAST = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_COMPOUND = re.compile(r"\w+(?:[.\-/:@]\w+)*")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_VOWEL = re.compile("[aeiouy]")

_ENGLISH_STOPS = """
a about after all also am an and any are as at be been before being but by can could did do does doing for from had has
have having he her here him his how i if in into is it its just let me my no not of on or our please she should so some
than that the their them then there these they this those to too us was we were what when where which while who whom
whose why will with would you your
"""
_CHINESE_STOPS = """
的 地 得 了 着 过 是 在 和 与 及 或 有 没 为 以 于 之 而 也 还 就 都 被 把 从 到 对 向 由 等 其 这 那 哪 个 些 位 吗 呢
吧 啊 呀 嘛 我 你 您 他 她 它 们 几 谁 何 请 要 会 能 很 又 再 并 但 不 什么 哪些 哪个 哪里 哪儿 怎么 怎样 如何 多少
为什么 为何 什么样 怎么样 请问 这个 那个 这些 那些 这里 那里 这样 那样 我们 你们 他们 她们 它们 一下 一个 一些 以及
可以 应该 需要 是否 没有 但是 因为 所以 如果 然后 帮我 告诉
"""
_ENGLISH = frozenset(_ENGLISH_STOPS.split())
_CHINESE = frozenset(_CHINESE_STOPS.split())

ACROSS = 0.5
"""Weight of a piece that two words of the query share."""
SHORT = 2
"""A query of so few characters that mean something may find by one of them."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query looks for."""

    weights: dict[str, float]
    """The terms, each with its weight."""
    telling: frozenset[str]
    """Those by each of which alone a text is found: a single character in common tells nothing of a longer query."""


class Cuts(dict[str, tuple[str, ...]]):
    """What words are cut into, kept as they come: whoever cuts many documents alike hands in the same each time."""

    def __init__(self, longest: int = sys.maxsize) -> None:
        """Terms of more than `longest` characters are left out."""
        super().__init__()
        self._longest = longest

    def __missing__(self, compound: str) -> tuple[str, ...]:
        self[compound] = terms = tuple(term for term in _cut(compound) if len(term) <= self._longest)
        return terms


def document_terms(text: str, cuts: Cuts | None = None) -> list[str]:
    """The terms of a document, each as often as it occurs."""
    text = _folded(text)
    terms = _latin(text, Cuts() if cuts is None else cuts)
    if text.isascii():
        return terms
    for run in _EAST.findall(text):
        terms += [char for char in run if char not in _CHINESE]
        terms += [run[at : at + 2] for at in range(len(run) - 1)]
    return terms


def query_terms(text: str, words: Words) -> QueryTerms:
    """The terms of a query.

    A Chinese word of n characters has about 2n terms; each weighs n ** -0.5, so that a long name does not drown the
    words beside it. Stop words are left out, and part what stands on either side, unless there is nothing else.
    """
    text = _folded(text)
    weights = dict.fromkeys(_latin(text, Cuts()), 1.0)
    runs = [[word for word in words(run) if word] for run in _EAST.findall(text)]
    pieces = [piece for run in runs for piece in _between_stops(run)]
    for piece in pieces if weights or pieces else runs:
        _weigh(piece, weights)
    telling = {term for term in weights if len(term) > 1 or not _EAST.match(term)}
    if sum(len(word) for piece in pieces for word in piece) <= SHORT:
        telling.update(word for piece in pieces for word in piece if word in weights)
    return QueryTerms(weights, frozenset(telling or weights))


def eastern(text: str) -> bool:
    """Whether `text` has terms that only words of such a language can find."""
    return not text.isascii() and _EAST.search(_folded(text)) is not None


def stem(word: str) -> str:
    """An English word without its commonest endings: "caches", "cached" and "caching" are one term."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWEL.search(base):
            doubled = base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _folded(text: str) -> str:
    """Full-width and other compatibility forms as the plain ones; upper case stays: it parts identifiers."""
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def _latin(text: str, cuts: Cuts) -> list[str]:
    """Words that are not Chinese. An identifier counts whole and in its parts: memory_manager, memory, manager."""
    if not text.isascii():
        text = _EAST.sub(" ", text)
    return list(chain.from_iterable(map(cuts.__getitem__, _COMPOUND.findall(text))))


def _cut(compound: str) -> Iterator[str]:
    words = _WORD.findall(compound)
    if len(words) > 1:
        yield compound.lower()
    for word in words:
        lower = word.lower()
        if lower in _ENGLISH:
            continue
        parts = _PART.findall(word) if word.isascii() else ()
        if len(parts) < 2:
            yield stem(lower)
            continue
        yield lower
        for part in parts:
            small = part.lower()
            if len(part) > 1 and small not in _ENGLISH:
                yield stem(small)


def _between_stops(words: Sequence[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    for word in words:
        if word not in _CHINESE:
            piece.append(word)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _weigh(words: Sequence[str], weights: dict[str, float]) -> None:
    """Put the pieces of neighbouring words into `weights`; the greatest weight of a piece counts."""
    before = ""
    for word in words:
        weight = len(word) ** -0.5
        pieces = {char: weight for char in word if char not in _CHINESE}
        pieces |= {word[at : at + 2]: weight for at in range(len(word) - 1)}
        if before:
            pieces.setdefault(before + word[0], ACROSS)
        for piece, value in pieces.items():
            weights[piece] = max(weights.get(piece, 0.0), value)
        before = word[-1]
