"""Which project a folder belongs to, and the state of its repository: by reading files, never by running git."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.paths import Project


@dataclass(frozen=True, slots=True)
class GitState:
    """`branch` is "" on a detached HEAD; `head` is the first 7 hex digits, "" before the first commit."""

    branch: str
    head: str


@dataclass(frozen=True, slots=True)
class _Repository:
    git: Path
    """The folder that holds HEAD (a worktree has its own)."""
    common: Path
    """The folder that holds refs and objects, which worktrees share."""
    top: Path | None
    """The top of the work tree; None inside a bare repository or a git folder."""


def read_regular(path: Path) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read, or is a pipe or a device, whose end may never come.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.read_bytes()


def find_project(folder: Path) -> Project:
    """The project that `folder` is part of."""
    cwd = folder.resolve()
    repository = _find_repository(cwd)
    if repository is None:
        return Project(cwd, cwd, cwd)
    common = repository.common
    return Project(cwd, repository.top or cwd, common.parent if common.name == ".git" else common)


def git_state(project: Project) -> GitState | None:
    """Branch and commit of the project's work tree; None where there is no repository or it cannot be read."""
    repository = _find_repository(project.cwd)
    head = _line(repository.git / "HEAD") if repository else None
    if repository is None or head is None:
        return None
    if not head.startswith("ref: "):
        return GitState("", head[:7])
    ref = head.removeprefix("ref: ")
    if ref == "refs/heads/.invalid":  # what the reftable format, which only git reads, leaves here
        return None
    return GitState(ref.removeprefix("refs/heads/"), _commit(repository, ref)[:7])


def _find_repository(folder: Path) -> _Repository | None:
    """Look upwards as git does: `.git` first, then the folder itself as a bare repository; not across file systems."""
    try:
        device = folder.stat().st_dev
        for place in (folder, *folder.parents):
            if place.stat().st_dev != device:
                return None
            entry = place / ".git"
            if entry.is_file():
                return _linked(entry)
            if _is_git_folder(entry):
                return _Repository(entry, entry.resolve(), place)
            if _is_git_folder(place):
                return _Repository(place, place, None)
    except OSError:
        return None
    return None


def _linked(entry: Path) -> _Repository | None:
    """A `.git` file of a worktree or a submodule: it names the folder that holds HEAD."""
    line = _line(entry)
    if line is None or not line.startswith("gitdir: "):
        return None
    git = (entry.parent / line.removeprefix("gitdir: ")).resolve()
    shared = _line(git / "commondir")
    common = (git / shared).resolve() if shared else git
    if not (git / "HEAD").is_file() or not (common / "objects").is_dir():
        return None
    return _Repository(git, common, entry.parent)


def _is_git_folder(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _commit(repository: _Repository, ref: str) -> str:
    for folder in (repository.git, repository.common):
        loose = _line(folder / ref)
        if loose:
            return loose
    try:
        packed = (repository.common / "packed-refs").read_bytes()
    except OSError:
        return ""
    wanted = b" " + ref.encode("utf-8", "surrogateescape") + b"\n"
    place = (packed + b"\n").find(wanted)
    return packed[packed.rfind(b"\n", 0, place) + 1 : place].decode("ascii", "replace") if place > 0 else ""


def _line(path: Path) -> str | None:
    """The first line of a small file, None where it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).rstrip("\r\n")
    except (OSError, ValueError):
        return None
