"""BM25 over an index in memory that grows and shrinks with its documents; one costs some dozen microseconds."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping

from codeagent.text.terms import document_terms

SATURATION = 0.5
"""How soon a term that is repeated counts no more (k1): facts and sentences are short."""
LENGTH = 0.3
"""How much a long document is held back (b)."""
_BITS = 4
_MOST = (1 << _BITS) - 1
"""A term counts so often in a document at most."""
_VISITS = 300_000
"""Postings looked at for one query, about 60 ms: the rarest terms first, so that what is left out tells least."""


class Bm25:
    """Documents by number, in the order they were added; a number is never used again.

    After any additions and removals it ranks as an index made of the remaining documents would.
    """

    def __init__(self) -> None:
        # Per term: (document << 4 | times it occurs there), ascending.
        self._postings: dict[str, array[int]] = {}
        self._texts: list[str] = []
        self._lengths: list[int] = []
        self._live = 0
        self._total = 0

    def __len__(self) -> int:
        return self._live

    def add(self, text: str) -> int:
        """Take a document in and return its number."""
        number = len(self._texts)
        counts = Counter(document_terms(text))
        postings, head = self._postings, number << _BITS
        for term, count in counts.items():
            posting = head | (count if count < _MOST else _MOST)
            if term in postings:
                postings[term].append(posting)
            else:
                postings[term] = array("I", (posting,))
        length = counts.total()
        self._texts.append(text)
        self._lengths.append(length)
        self._live += 1
        self._total += length
        return number

    def remove(self, number: int) -> None:
        """Drop a document that is in the index."""
        for term in set(document_terms(self._texts[number])):
            found = self._postings[term]
            del found[bisect_left(found, number << _BITS)]
            if not found:
                del self._postings[term]
        self._live -= 1
        self._total -= self._lengths[number]
        self._texts[number] = ""

    def scores(self, query: Mapping[str, float]) -> dict[int, float]:
        """The score of each document that has a term of `query` (terms with their weights), above 0."""
        scores: dict[int, float] = defaultdict(float)
        rarest = sorted((len(found), term) for term in query if (found := self._postings.get(term)))
        if not rarest:
            return scores
        lengths, visits = self._lengths, 0
        plain = SATURATION * (1 - LENGTH)
        by_length = SATURATION * LENGTH * self._live / self._total
        for count, term in rarest:
            visits += count
            if visits > _VISITS and scores:
                break
            gain = query[term] * math.log(1 + (self._live - count + 0.5) / (count + 0.5)) * (SATURATION + 1)
            for posting in self._postings[term]:
                number, times = posting >> _BITS, posting & _MOST
                scores[number] += gain * times / (times + plain + by_length * lengths[number])
        return scores
