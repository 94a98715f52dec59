"""From argv to an exit code, and the one place where errors become sentences."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime

from codeagent.cli.output import flush, tell, tell_error, unwritable
from codeagent.cli.surroundings import here, on_terminal
from codeagent.core.errors import CodeAgentError
from codeagent.options import find_home

FAILED = 1
INTERRUPTED = 130


def run(argv: Sequence[str]) -> int:
    """The whole program; returns its exit code and raises nothing."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding does not know is no reason to fail.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _dispatch(argv)
        flush()
        return code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except CodeAgentError as error:
        if "--debug" in argv:
            tell(traceback.format_exc())
        tell_error(error)
        return error.exit_code
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            report(error, "--debug" in argv)
        else:  # the writing of a library, to standard output
            tell_error(unwritable(error))
        return FAILED
    except Exception as error:
        report(error, "--debug" in argv)
        return FAILED


def _dispatch(argv: Sequence[str]) -> int:
    if not argv and on_terminal():
        from codeagent.cli.start import start_repl

        return start_repl(here())
    from codeagent.cli.main import run_command

    return run_command(argv)


def report(error: Exception, debug: bool) -> None:
    """Something nobody foresaw: one sentence, the rest in a log."""
    trace = "".join(traceback.format_exception(error))
    if debug:
        tell(trace.rstrip())
    what = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else error
    tell(f"codeagent: unexpected error ({type(error).__name__}: {what}).")
    log = find_home(os.environ).logs / f"error-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.log"
    try:
        for folder in (log.parent.parent, log.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        log.touch(mode=0o600)
        log.write_text(trace, encoding="utf-8", errors="replace")
    except OSError:
        tell("--debug shows the traceback.")
    else:
        tell(f"The traceback is in {log}; --debug shows it.")
