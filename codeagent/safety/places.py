"""Where a path lies, links and `..` resolved before anything is judged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from codeagent.core.paths import FOLDER

_GUARDED = {".git", FOLDER, ".codeagent"}


def real(path: str, base: str = "/") -> Path:
    """The real path meant by `path`; what does not exist yet is resolved from its nearest existing parent."""
    return Path(os.path.realpath(os.path.join(base, path)))  # noqa: PTH118 (an absolute path replaces the base)


def inside(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def guarded(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a change there could later act on its own: repository hooks, our configuration."""
    below = (path.relative_to(root) for root in roots if path.is_relative_to(root))
    # By any spelling: there are disks on which .GIT is .git.
    return any(_GUARDED & {part.casefold() for part in place.parts} for place in below)
