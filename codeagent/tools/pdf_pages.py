"""A program of its own: prints the text of pages of a PDF, one JSON value a line. First the number of pages.

What PDFs hold is written by strangers, and reading one may take for ever or all memory: so a child process does it,
with a bound on its memory, and whoever started it ends it in time.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from collections.abc import Iterator

_MEMORY = 2_000_000_000


def pages(path: str, first: int, count: int) -> Iterator[object]:
    """The number of pages, then [number, text] of up to `count` pages from `first` on.

    Raises:
        Exception: whatever the library makes of a file that is no good PDF.
    """
    from pypdf import PdfReader

    reader = PdfReader(path)
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is locked by a password")
    total = len(reader.pages)
    yield total
    for number in range(first, min(first + count, total + 1)):
        yield [number, reader.pages[number - 1].extract_text()]


def main() -> None:
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    path, first, count = sys.argv[1:4]
    try:
        for value in pages(path, int(first), int(count)):
            sys.stdout.write(json.dumps(value) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        pass
    except Exception as error:
        sys.stdout.write(json.dumps({"error": str(error) or type(error).__name__}) + "\n")


if __name__ == "__main__":
    main()
