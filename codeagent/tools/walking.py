"""The files of a folder, ignore files honoured: by ripgrep where it is, else by our own walk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from codeagent.core.paths import FOLDER
from codeagent.core.tools import ToolContext
from codeagent.tools.process import capture

IGNORE_FILES = (".gitignore", ".ignore")
_Specs = tuple[tuple[str, GitIgnoreSpec], ...]


def ripgrep(environ: Mapping[str, str]) -> str | None:
    """The `rg` that came with us, else one on the PATH."""
    own = Path(sys.executable).with_name("rg") if sys.executable else None
    return str(own) if own and os.access(own, os.X_OK) else shutil.which("rg", path=environ.get("PATH"))


def own_ignore(ctx: ToolContext) -> Path:
    """The project's own list of what the agent is not to search."""
    return ctx.roots[0] / FOLDER / "ignore"


def rg_arguments(ctx: ToolContext) -> list[str]:
    """Which files ripgrep looks at: hidden ones too, ignored ones and .git not, in or out of a repository."""
    arguments = ["--no-config", "--color=never", "--no-messages", "--hidden", "--no-require-git"]
    if own_ignore(ctx).is_file():
        arguments.append(f"--ignore-file={own_ignore(ctx)}")
    return arguments


async def list_files(folder: Path, ctx: ToolContext, rg: str | None) -> Sequence[Path]:
    """All files below `folder` that no ignore file names."""
    if rg is None:
        return list(walk(folder, ctx))
    argv = [rg, "--files", "--null", *rg_arguments(ctx), "--glob=!.git", "--", str(folder)]
    data, _ = await capture(argv, cwd=ctx.roots[0], environ=ctx.environ)
    return [Path(os.fsdecode(name)) for name in data.split(b"\0") if name]


def walk(folder: Path, ctx: ToolContext) -> Iterator[Path]:
    """The same without ripgrep, in alphabetical order."""
    specs: _Specs = ()
    above = [parent for parent in reversed(folder.parents) if parent.is_relative_to(ctx.roots[0])]
    for parent in above:
        specs += _specs(parent, IGNORE_FILES)
    if own_ignore(ctx).is_file():
        specs += ((str(ctx.roots[0]), _spec(own_ignore(ctx))),)
    yield from _walk(str(folder), specs)


def _walk(folder: str, specs: _Specs) -> Iterator[Path]:
    specs += _specs(Path(folder), IGNORE_FILES)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or _ignored(entry.path, is_folder, specs):
            continue
        if is_folder:
            yield from _walk(entry.path, specs)
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _ignored(path: str, is_folder: bool, specs: _Specs) -> bool:
    for base, spec in reversed(specs):
        verdict = spec.check_file(os.path.relpath(path, base) + ("/" if is_folder else "")).include
        if verdict is not None:
            return verdict
    return False


def _specs(folder: Path, names: Sequence[str]) -> _Specs:
    return tuple((str(folder), _spec(folder / name)) for name in names if (folder / name).is_file())


def _spec(path: Path) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return GitIgnoreSpec.from_lines([])
