"""Whether git only looks: a repository's own configuration can name programs that even `git status` runs.

What is known to be harmless counts, not what is known to be harmful: keys that run something come with every version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_HEAD = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"(?:[^"\\]|\\.)*")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=|$)")
_HARMLESS = {
    *("advice", "branch", "color", "column", "commit", "fetch", "gc", "http", "i18n", "init", "lfs", "pull", "push"),
    *("rebase", "rerere", "safe", "submodule", "url", "user"),
}
"""Sections of which looking runs nothing, whatever stands in them."""
_HARMLESS_KEYS = {
    "core": {
        *("autocrlf", "bare", "bigfilethreshold", "commitgraph", "compression", "eol", "filemode", "ignorecase"),
        *("logallrefupdates", "longpaths", "precomposeunicode", "preloadindex", "protecthfs", "protectntfs"),
        *("quotepath", "repositoryformatversion", "safecrlf", "sharedrepository", "sparsecheckout"),
        *("sparsecheckoutcone", "symlinks", "untrackedcache"),
    },
    "extensions": {"objectformat", "refstorage", "worktreeconfig"},
    "remote": {"fetch", "gh-resolved", "mirror", "prune", "push", "pushurl", "skipfetchall", "tagopt", "url"},
}
_GITLINK = b"\0\0\xe0\0"
"""The mode of a submodule in the index. Git asks it for its state under its own configuration."""
_ASKS_SUBMODULES = {"describe", "diff", "status"}


def looks_only(cwd: Path, subcommand: str) -> bool:
    """Whether a reading git command in `cwd` runs nothing that a repository around it names."""
    try:
        for folder in (cwd, *cwd.parents):
            for place in _repositories(folder):
                if not _plain(place) or (subcommand in _ASKS_SUBMODULES and _has_submodules(place)):
                    return False
    except (OSError, ValueError):
        return False
    return True


def _repositories(folder: Path) -> Iterator[Path]:
    """The folders that git would take for a repository's own: `.git`, where that points, and a bare one."""
    inner = folder / ".git"
    if inner.is_dir():
        yield inner
    elif inner.exists():
        yield folder / inner.read_text("utf-8").removeprefix("gitdir:").strip()
    if (folder / "objects").is_dir() and (folder / "refs").is_dir():
        yield folder


def _plain(place: Path) -> bool:
    shared = place / "commondir"
    common = place / shared.read_text("utf-8").strip() if shared.exists() else place
    for at in {place, common}:
        # Looking brings the index up to date, and that calls this hook.
        if (at / "hooks" / "post-index-change").exists():
            return False
        configs = (config for name in ("config", "config.worktree") if (config := at / name).exists())
        if not all(_harmless(config.read_text("utf-8")) for config in configs):
            return False
    return True


def _harmless(config: str) -> bool:
    section = ""
    for raw in config.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        line = raw.strip(" \t")
        if line.endswith("\\"):
            return False  # the value goes on: what looks like a section is none
        if head := _HEAD.match(line):
            section, line = head[1].lower().partition(".")[0], line[head.end() :].strip(" \t")
        if not line or line[0] in "#;" or section in _HARMLESS:
            continue
        key = _KEY.match(line)
        if key is None or key[1].lower() not in _HARMLESS_KEYS.get(section, ()):
            return False
    return True


def _has_submodules(place: Path) -> bool:
    indexes = (place / "index", *place.glob("sharedindex.*"))
    return any(_GITLINK in index.read_bytes() for index in indexes if index.exists())
