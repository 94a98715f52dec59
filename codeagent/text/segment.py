"""Words of a text, Chinese and other: jieba without its cold start.

jieba keeps its dictionary of half a million prefixes in memory, which costs most of a second and 73 MB at the first
cut. Here jieba looks them up in a small SQLite file instead, made once from its own dictionary; what it cuts is the
same, the first cut takes some milliseconds. Text without Chinese needs no dictionary, and no jieba.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codeagent.core.private import make_private

_FILE = "jieba.db"
_KEPT = 20_000
"""Looked-up prefixes kept in memory at most."""
_HAN = re.compile("([\u4e00-\u9fd5]+)")
"""What jieba takes for Chinese."""
_ENTRIES = re.compile(r"(AT&T|[cC]#|[cC]\+\+)")
_RUN = re.compile(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[^\W_]")


class Segmenter:
    """Cuts text into words. Usable from any thread; loads nothing before the first Chinese text."""

    def __init__(self, cache: Path, *, patient: bool = False) -> None:
        """`cache` is a folder for the dictionary file, made when it is missing; without one the cut still works.

        Making it takes seconds, once for a home. `patient` waits for it; else it is made in the background, and until
        then Chinese is cut into its pairs of characters.
        """
        self._cache = cache
        self._patient = patient
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._making: threading.Thread | None = None

    def words(self, text: str) -> list[str]:
        """The words of `text` in order, lower-cased, without punctuation and blanks."""
        return self._words(text, patient=self._patient)

    def exact(self, text: str) -> list[str]:
        """The same, and a dictionary that is still being made is waited for."""
        return self._words(text, patient=True)

    def _words(self, text: str, *, patient: bool) -> list[str]:
        if not _HAN.search(text):
            return _latin(text)
        cut = self._cut(text)
        if cut is None and patient:
            self.warm()
            cut = self._cut(text)
        return _pieces(text) if cut is None else [word.lower() for word in cut if any(map(str.isalnum, word))]

    def warm(self) -> None:
        """Load what Chinese text needs, and wait until it is there."""
        with self._lock:
            self._ready()
            making = self._making
        if making is not None:
            making.join()

    def _ready(self) -> bool:
        """Whether there is a dictionary; where there is none, one is being made from now on."""
        if self._tokenizer is None and self._making is None:
            self._tokenizer = _stored(self._cache)
            if self._tokenizer is None:
                self._make()
        return self._tokenizer is not None

    def _cut(self, text: str) -> list[str] | None:
        """What jieba cuts; None while there is no dictionary."""
        with self._lock:
            try:
                return list(self._tokenizer.cut(text)) if self._ready() else None
            except sqlite3.Error:  # the file was damaged where it had not been read yet
                self._tokenizer = None
                self._make()
                return None

    def _make(self) -> None:
        # A daemon: who leaves does not wait for it, and the next one begins again.
        self._making = threading.Thread(target=self._made, name="dictionary", daemon=True)
        self._making.start()

    def _made(self) -> None:
        tokenizer = _make(self._cache)
        with self._lock:
            self._tokenizer, self._making = tokenizer, None


def _latin(text: str) -> list[str]:
    """The words of a text without Chinese, as jieba cuts them; these few are in its dictionary."""
    return [
        word.lower()
        for part in _ENTRIES.split(text)
        for word in ([part] if _ENTRIES.fullmatch(part) else _RUN.findall(part))
    ]


def _pieces(text: str) -> list[str]:
    """Words without a dictionary: of Chinese each pair of neighbours."""
    words: list[str] = []
    for part in _HAN.split(text):
        if _HAN.fullmatch(part):
            words += [part[at : at + 2] for at in range(max(1, len(part) - 1))]
        else:
            words += _latin(part)
    return words


class _Prefixes(dict[str, int | None]):
    """jieba's prefix dictionary, asked word by word; None stands for a prefix that no word begins with."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection

    def __missing__(self, prefix: str) -> int | None:
        row = self._connection.execute("SELECT freq FROM prefixes WHERE prefix = ?", (prefix,)).fetchone()
        if len(self) >= _KEPT:
            self.clear()
        self[prefix] = found = row[0] if row else None
        return found

    def __contains__(self, prefix: object) -> bool:
        return isinstance(prefix, str) and self[prefix] is not None

    def get(self, prefix: str, default: Any = None) -> Any:
        found = self[prefix]
        return default if found is None else found


def _stored(cache: Path) -> Any:
    """A jieba tokenizer over the file in `cache`; None when it is missing, damaged, or of another jieba."""
    jieba = _import_jieba()
    opened = _open(cache / _FILE, _source(jieba))
    return None if opened is None else _tokenizer(jieba, *opened)


def _make(cache: Path) -> Any:
    """Make the file in `cache`; a jieba tokenizer over it, or over a dictionary in memory where there can be none."""
    jieba = _import_jieba()
    prefixes, total = jieba.Tokenizer().gen_pfdict(jieba.Tokenizer().get_dict_file())
    file, source = cache / _FILE, _source(jieba)
    opened = None
    with contextlib.suppress(OSError, sqlite3.Error):
        _build(file, source, prefixes, total)
        opened = _open(file, source)
    return _tokenizer(jieba, *(opened or (prefixes, total)))


def _source(jieba: Any) -> str:
    """What the file is made from."""
    return f"{jieba.__version__} {Path(jieba.__file__).with_name(jieba.DEFAULT_DICT_NAME).stat().st_size}"


def _tokenizer(jieba: Any, prefixes: Any, total: int) -> Any:
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total, tokenizer.initialized = prefixes, total, True
    return tokenizer


def _open(file: Path, source: str) -> tuple[_Prefixes, int] | None:
    """The prefixes in `file` and the sum of their frequencies; None when it is missing, damaged or of other source."""
    if not file.is_file():
        return None
    # Nobody writes to the file, it is only ever replaced: no locks are needed.
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        row = connection.execute("SELECT total FROM made_from WHERE source = ?", (source,)).fetchone()
    except sqlite3.Error:
        return None
    if row is None:
        connection.close()
        return None
    return _Prefixes(connection), int(row[0])


def _build(file: Path, source: str, prefixes: dict[str, int], total: int) -> None:
    """Write the file aside and put it in place whole: another process may be reading or making it."""
    memory = sqlite3.connect(":memory:")
    memory.execute("CREATE TABLE made_from (source TEXT NOT NULL, total INTEGER NOT NULL)")
    memory.execute("CREATE TABLE prefixes (prefix TEXT PRIMARY KEY, freq INTEGER NOT NULL) WITHOUT ROWID")
    memory.execute("INSERT INTO made_from VALUES (?, ?)", (source, total))
    memory.executemany("INSERT INTO prefixes VALUES (?, ?)", sorted(prefixes.items()))
    memory.commit()
    data = memory.serialize()
    memory.close()
    make_private(file.parent)
    aside = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        aside.touch(0o600)
        aside.write_bytes(data)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def _import_jieba() -> Any:
    """jieba, without the loading of pkg_resources (100 ms) that it attempts, and without its words on stderr."""
    with warnings.catch_warnings(), _hidden("pkg_resources"):
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.CRITICAL)
    return jieba


@contextlib.contextmanager
def _hidden(module: str) -> Iterator[None]:
    """Let `import module` fail for a moment, unless it is there already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(module, None)
