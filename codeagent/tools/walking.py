"""The files of a folder, ignore files honoured: by ripgrep where it is, else by our own walk. The answers are equal."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pathspec import GitIgnoreSpec, RegexPattern

from codeagent.core.paths import FOLDER
from codeagent.tools.globs import ignoring
from codeagent.tools.process import capture

_Specs = tuple[tuple[str, GitIgnoreSpec], ...]
"""(folder that it is relative to, what it says); later ones win."""
_EXCLUDES = re.compile(r"^\s*excludesfile\s*=\s*\"?(.*?)\"?\s*$", re.IGNORECASE | re.MULTILINE)


class Surroundings(Protocol):
    """Where files are listed: what a tool is handed, or less."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """The first is the project's."""
        ...

    @property
    def environ(self) -> Mapping[str, str]: ...


def ripgrep(environ: Mapping[str, str]) -> str | None:
    """The `rg` that came with us, else one on the PATH."""
    own = Path(sys.executable).with_name("rg") if sys.executable else None
    return str(own) if own and os.access(own, os.X_OK) else shutil.which("rg", path=environ.get("PATH"))


def own_ignore(ctx: Surroundings) -> Path:
    """The project's own list of what the agent is not to search."""
    return ctx.roots[0] / FOLDER / "ignore"


def rg_arguments(ctx: Surroundings, *, hidden: bool) -> list[str]:
    """Which files ripgrep looks at: ignored ones and .git not, in or out of a repository; hidden ones if asked for."""
    arguments = ["--no-require-git", "--glob=!.git"]
    if hidden:
        arguments.append("--hidden")
    if own_ignore(ctx).is_file():
        arguments.append(f"--ignore-file={own_ignore(ctx)}")
    return arguments


async def list_files(folder: Path, ctx: Surroundings, rg: str | None, *, hidden: bool = False) -> Sequence[str]:
    """All files below `folder`, relative to it, that no ignore file names."""
    start = len(os.path.join(folder, ""))  # noqa: PTH118 (the length of a prefix)
    if rg is not None:
        options = ("--no-config", "--no-messages", "--files", "--null", *rg_arguments(ctx, hidden=hidden))
        with suppress(OSError):  # it does not run here
            data, _ = await capture([rg, *options, "--", str(folder)], cwd=ctx.roots[0], environ=ctx.environ)
            return [name[start:] for name in os.fsdecode(data).split("\0") if name]
    return [path[start:] for path in await asyncio.to_thread(list, walk(folder, ctx, hidden=hidden))]


def walk(folder: Path, ctx: Surroundings, *, hidden: bool = False) -> Iterator[str]:
    """The same without ripgrep: whole paths, folder by folder in alphabetical order."""
    specs = _global(ctx.environ, folder)
    if own_ignore(ctx).is_file():
        specs += ((str(ctx.roots[0]), _spec(own_ignore(ctx))),)
    specs += _above(folder)
    yield from _walk(str(folder), specs, hidden)


def _walk(folder: str, specs: _Specs, hidden: bool) -> Iterator[str]:
    specs += _specs(Path(folder), repository=True)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name == ".git" or (entry.name.startswith(".") and not hidden):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if _ignored(entry.path, is_folder, specs):
            continue
        if is_folder:
            yield from _walk(entry.path, specs, hidden)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _ignored(path: str, is_folder: bool, specs: _Specs) -> bool:
    for base, spec in reversed(specs):
        name = os.path.relpath(path, base) + ("/" if is_folder else "")
        for pattern in reversed(spec.patterns):
            if isinstance(pattern, RegexPattern) and pattern.include is not None and _names(pattern, name):
                return pattern.include
    return False


def _names(pattern: RegexPattern, path: str) -> bool:
    """Whether a pattern means the path itself: what lies in an ignored folder is seen where that is where one looks."""
    found = pattern.regex.search(path) if pattern.regex is not None else None
    return found is not None and found.groupdict().get("ps_d") in (None, path[found.end() - 1 :])


def _above(folder: Path) -> _Specs:
    """What the folders above say: git's files up to the top of the repository, the others from everywhere."""
    specs: _Specs = ()
    repository = not (folder / ".git").exists()
    for parent in folder.parents:
        specs = _specs(parent, repository=repository) + specs
        repository = repository and not (parent / ".git").exists()
    return specs


def _specs(folder: Path, *, repository: bool) -> _Specs:
    names = (".git/info/exclude", ".gitignore", ".ignore") if repository else (".ignore",)
    return tuple((str(folder), _spec(folder / name)) for name in names if (folder / name).is_file())


def _global(environ: Mapping[str, str], folder: Path) -> _Specs:
    """What git ignores everywhere, for this user."""
    home = Path(environ.get("HOME") or "/")
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    ignore = own / "ignore"
    for config in (own / "config", home / ".gitconfig"):
        with suppress(OSError, UnicodeDecodeError):
            for found in _EXCLUDES.findall(config.read_text(encoding="utf-8")):
                ignore = Path(re.sub(r"^~(?=/)", str(home), found))
    return ((str(folder), _spec(ignore)),) if ignore.is_file() else ()


def _spec(path: Path) -> GitIgnoreSpec:
    try:
        return ignoring(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return ignoring(())
