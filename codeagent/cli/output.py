"""What subcommands print: lines, JSON, tables whose columns stay aligned with Chinese in them."""

from __future__ import annotations

import os
import pydoc
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from codeagent.core.display import visible
from codeagent.core.errors import CodeAgentError, StoreError
from codeagent.core.messages import encode_json

PIPE_CLOSED = 141
"""What a shell reports for a program whose reader went away (128 + SIGPIPE)."""


def say(text: str = "") -> None:
    """One line of ours or of a file's content on standard output, harmless for a terminal."""
    _write(visible(text) + "\n")


def say_raw(text: str) -> None:
    """Data as it is, for a file or a program; harmless all the same where standard output is a terminal."""
    _write(visible(text) if sys.stdout.isatty() else text)


def say_json(value: object) -> None:
    _write(encode_json(value).decode() + "\n")


def tell(text: str) -> None:
    """One line on standard error; where it cannot go there is no other place for it."""
    with suppress(OSError):
        sys.stderr.write(visible(text) + "\n")
        sys.stderr.flush()


def tell_error(error: CodeAgentError) -> None:
    tell(f"codeagent: {error}")
    if error.hint:
        tell(error.hint)


def table(rows: Sequence[Sequence[str]], *, paged: bool = False) -> None:
    """Columns two blanks apart; the last one may be of any length. A long list can be `paged` on a terminal."""
    from codeagent.ui.rows import width

    shown = [[visible(cell).replace("\n", " ") for cell in row] for row in rows]
    sizes = [max(map(width, column)) for column in zip(*(row[:-1] for row in shown), strict=True)]
    lines = []
    for *row, last in shown:
        cells = [cell + " " * (size - width(cell)) for cell, size in zip(row, sizes, strict=True)]
        lines.append("  ".join([*cells, last]).rstrip() + "\n")
    if paged and sys.stdout.isatty() and len(lines) >= os.get_terminal_size(sys.stdout.fileno()).lines:
        pydoc.pager("".join(lines))
    else:
        _write("".join(lines))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        leave_pipe()
    except OSError as error:
        raise unwritable(error) from error


def flush() -> None:
    """Hand over what is still buffered, at the end of a command."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        leave_pipe()
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> StoreError:
    return StoreError("Standard output cannot be written: {reason}.", reason=error.strerror or str(error))


def leave_pipe() -> NoReturn:
    """The reader has gone: end quietly, as other programs in a pipe do."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(PIPE_CLOSED)
