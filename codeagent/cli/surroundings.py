"""The world that a run was started in. Imports nothing slow, for it is the bare start."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from codeagent.core.errors import CodeAgentError
from codeagent.options import Options, find_home


def on_terminal() -> bool:
    """Whether somebody sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def here() -> Options:
    """Options of which nothing was said: the world alone.

    Raises:
        CodeAgentError: the working folder is gone.
    """
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        raise CodeAgentError("The working folder no longer exists.", hint="Change to another one.") from None
    environ = dict(os.environ)
    return Options(cwd=cwd, home=find_home(environ), environ=environ)
