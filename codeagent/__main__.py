"""The program. `--version` is answered before anything is imported."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from codeagent import __version__


def main() -> None:
    _complete_streams()
    argv = sys.argv[1:]
    if argv == ["--version"]:
        with suppress(OSError):  # the whole program says what is wrong with standard output
            sys.stdout.write(f"codeagent {__version__}\n")
            sys.stdout.flush()
            return
    from codeagent.cli.entry import run

    code = run(argv)
    sys.stderr.flush()
    # Nothing is left to do; taking down the loaded libraries one by one would cost a noticeable moment.
    os._exit(code)


def _complete_streams() -> None:
    """Let no file of ours become a standard stream that was closed (`>&-`), and what is written there be lost."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    main()
