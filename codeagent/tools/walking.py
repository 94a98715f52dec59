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

from codeagent.core.paths import FOLDER
from codeagent.tools.globs import Rule, ignore_rules
from codeagent.tools.process import capture

_Rules = tuple[tuple[str, list[Rule]], ...]
"""(folder that they are relative to, what they say); later ones win."""
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
    wanted = True
    found: list[str] = []

    def look() -> None:
        for path in walk(folder, ctx, hidden=hidden):
            if not wanted:
                return
            found.append(path[start:])

    try:
        await asyncio.to_thread(look)
    finally:  # nobody waits for the thread any more where this was cancelled
        wanted = False
    return found


def walk(folder: Path, ctx: Surroundings, *, hidden: bool = False) -> Iterator[str]:
    """The same without ripgrep: whole paths, folder by folder in alphabetical order."""
    rules = _global(ctx.environ, folder)
    if own_ignore(ctx).is_file():
        rules += ((str(ctx.roots[0]), _read(own_ignore(ctx))),)
    rules += _above(folder)
    yield from _walk(str(folder), rules, hidden)


def _walk(folder: str, rules: _Rules, hidden: bool) -> Iterator[str]:
    rules += _rules(Path(folder), repository=True)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name == ".git" or (entry.name.startswith(".") and not hidden):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if _ignored(entry.path, is_folder, rules):
            continue
        if is_folder:
            yield from _walk(entry.path, rules, hidden)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _ignored(path: str, is_folder: bool, rules: _Rules) -> bool:
    """Whether a path itself is named: what lies in an ignored folder is seen where that is where one looks."""
    for base, said in reversed(rules):
        name = os.path.relpath(path, base) + ("/" if is_folder else "")
        for rule in reversed(said):
            if rule.names(name):
                return rule.ignores
    return False


def _above(folder: Path) -> _Rules:
    """What the folders above say: git's files up to the top of the repository, the others from everywhere."""
    rules: _Rules = ()
    repository = not (folder / ".git").exists()
    for parent in folder.parents:
        rules = _rules(parent, repository=repository) + rules
        repository = repository and not (parent / ".git").exists()
    return rules


def _rules(folder: Path, *, repository: bool) -> _Rules:
    names = (".git/info/exclude", ".gitignore", ".ignore") if repository else (".ignore",)
    return tuple((str(folder), _read(folder / name)) for name in names if (folder / name).is_file())


def _global(environ: Mapping[str, str], folder: Path) -> _Rules:
    """What git ignores everywhere, for this user."""
    home = Path(environ.get("HOME") or "/")
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    ignore = own / "ignore"
    for config in (own / "config", home / ".gitconfig"):
        with suppress(OSError, UnicodeDecodeError):
            for found in _EXCLUDES.findall(config.read_text(encoding="utf-8")):
                ignore = Path(re.sub(r"^~(?=/)", str(home), found))
    return ((str(folder), _read(ignore)),) if ignore.is_file() else ()


def _read(path: Path) -> list[Rule]:
    try:
        return ignore_rules(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return []
