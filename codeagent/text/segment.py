"""Words of a text, Chinese and other: jieba without its cold start.

jieba keeps its dictionary of half a million prefixes in memory, which costs most of a second and 73 MB at the first
cut. Here jieba looks them up in a small SQLite file instead, made once from its own dictionary; what it cuts is the
same, the first cut takes some milliseconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
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


class Segmenter:
    """Cuts text into words. Usable from any thread; loads nothing before the first cut."""

    def __init__(self, cache: Path) -> None:
        """`cache` is a folder for the dictionary file, made when it is missing; without one the cut still works."""
        self._cache = cache
        self._lock = threading.Lock()
        self._tokenizer: Any = None

    def words(self, text: str) -> list[str]:
        """The words of `text` in order, lower-cased, without punctuation and blanks."""
        if not text or text.isspace():
            return []
        with self._lock:
            cut = self._cut(text)
        return [word.lower() for word in cut if any(char.isalnum() for char in word)]

    def warm(self) -> None:
        """Load what the first cut needs."""
        with self._lock:
            self._cut("记忆")

    def _cut(self, text: str) -> list[str]:
        if self._tokenizer is None:
            self._tokenizer = _tokenizer(self._cache)
        try:
            return list(self._tokenizer.cut(text))
        except sqlite3.Error:  # the file was damaged where it had not been read yet
            self._tokenizer = _tokenizer(self._cache, anew=True)
            return list(self._tokenizer.cut(text))


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


def _tokenizer(cache: Path, *, anew: bool = False) -> Any:
    """A jieba tokenizer over the file in `cache`, or over a dictionary in memory where there can be no file."""
    jieba = _import_jieba()
    tokenizer = jieba.Tokenizer()
    source = f"{jieba.__version__} {Path(jieba.__file__).with_name(jieba.DEFAULT_DICT_NAME).stat().st_size}"
    file = cache / _FILE
    opened = None if anew else _open(file, source)
    if opened is None:
        prefixes, total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        with contextlib.suppress(OSError, sqlite3.Error):
            _build(file, source, prefixes, total)
            opened = _open(file, source)
        tokenizer.FREQ, tokenizer.total = prefixes, total
    if opened is not None:
        tokenizer.FREQ, tokenizer.total = opened
    tokenizer.initialized = True
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
    aside = file.with_name(f"{file.name}.{os.getpid()}")
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
