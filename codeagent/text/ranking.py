"""BM25 over an index in memory that grows and shrinks with its documents, and that can be kept in a file."""

from __future__ import annotations

import marshal
import math
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nlargest

from codeagent.text.terms import QueryTerms, document_terms

SATURATION = 0.5
"""How soon a term that is repeated counts no more (k1): facts and sentences are short."""
LENGTH = 0.3
"""How much a long document is held back (b)."""
ENOUGH = 2
"""So many single characters in common are as good as a telling term."""
FORMAT = b"codeagent terms 1\n"
"""Changes when the terms of a text change, or how an index is written."""
_BITS = 4
_MOST = (1 << _BITS) - 1
"""A term counts so often in a document at most."""
_VISITS = 100_000
"""Postings looked at for one query: the rarest terms first, so that what is left out tells least."""


class Bm25:
    """Texts, each once. After any additions and removals they rank as in an index made of the remaining ones."""

    def __init__(self) -> None:
        # Per term: (number << 4 | times it occurs there), ascending; bytes as they were read, an array once it is used.
        self._postings: dict[str, array[int] | bytes] = {}
        self._numbers: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._lengths: dict[int, int] = {}
        self._next = 0
        self._total = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, text: str) -> bool:
        return text in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def add(self, text: str) -> None:
        """Take in a text that is not there yet."""
        counts = Counter(document_terms(text))
        number, length = self._next, counts.total()
        postings, head = self._postings, number << _BITS
        for term, count in counts.items():
            posting = head | (count if count < _MOST else _MOST)
            if term in postings:
                self._found(term).append(posting)
            else:
                postings[term] = array("I", (posting,))
        self._numbers[text], self._texts[number], self._lengths[number] = number, text, length
        self._next += 1
        self._total += length

    def remove(self, text: str) -> None:
        """Drop a text that is there."""
        number = self._numbers.pop(text)
        for term in set(document_terms(text)):
            found = self._found(term)
            del found[bisect_left(found, number << _BITS)]
            if not found:
                del self._postings[term]
        del self._texts[number]
        self._total -= self._lengths.pop(number)

    def best(self, query: QueryTerms, top: int | None = None) -> dict[str, float]:
        """Score by text for the `top` best and for what equals the last of them (None: all that share a telling term
        with `query`, or `ENOUGH` others). Scores are above 0."""
        scores = self._scores(query)
        least = nlargest(top, scores.values())[-1] if scores and top is not None else 0.0
        texts = self._texts
        return {texts[number]: score for number, score in scores.items() if score >= least}

    def dump(self) -> bytes:
        postings = {term: bytes(found) for term, found in self._postings.items()}
        data = marshal.dumps((self._numbers, self._lengths, postings, self._next))
        return FORMAT + zlib.crc32(data).to_bytes(4) + data

    @classmethod
    def load(cls, data: bytes) -> Bm25 | None:
        """The index that was dumped; None where `data` is something else, damaged, or of another version."""
        start = len(FORMAT) + 4
        if data[:start] != FORMAT + zlib.crc32(data[start:]).to_bytes(4):
            return None
        index = cls()
        index._numbers, index._lengths, index._postings, index._next = marshal.loads(data[start:])
        index._texts = {number: text for text, number in index._numbers.items()}
        index._total = sum(index._lengths.values())
        return index

    def _scores(self, query: QueryTerms) -> dict[int, float]:
        rarest = sorted((len(self._found(term)), term) for term in query.weights if term in self._postings)
        scores: dict[int, float] = defaultdict(float)
        told: dict[int, int] = defaultdict(int)
        lengths, texts, visits = self._lengths, len(self), 0
        plain = SATURATION * (1 - LENGTH)
        by_length = SATURATION * LENGTH * texts / max(1, self._total)
        for count, term in rarest:
            visits += count
            if visits > _VISITS and scores:
                break
            gain = query.weights[term] * math.log(1 + (texts - count + 0.5) / (count + 0.5)) * (SATURATION + 1)
            tells = ENOUGH if term in query.telling else 1
            for posting in self._found(term):
                number, times = posting >> _BITS, posting & _MOST
                scores[number] += gain * times / (times + plain + by_length * lengths[number])
                told[number] += tells
        return {number: score for number, score in scores.items() if told[number] >= ENOUGH}

    def _found(self, term: str) -> array[int]:
        found = self._postings[term]
        if isinstance(found, bytes):
            self._postings[term] = found = array("I", found)
        return found
