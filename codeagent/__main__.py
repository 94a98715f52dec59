"""The program. `--version` is answered before anything is imported."""

from __future__ import annotations

import os
import sys

from codeagent import __version__


def main() -> None:
    argv = sys.argv[1:]
    if argv == ["--version"]:
        sys.stdout.write(f"codeagent {__version__}\n")
        return
    from codeagent.cli.entry import run

    code = run(argv)
    sys.stderr.flush()
    # Nothing is left to do; taking down the loaded libraries one by one would cost a noticeable moment.
    os._exit(code)


if __name__ == "__main__":
    main()
