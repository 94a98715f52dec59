"""What can be said of a command line without running it. Whatever is in doubt is not harmless."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from codeagent.safety.places import inside, real
from codeagent.safety.repositories import looks_only

_COMPOUND = re.compile(r"[;&|`$()<>\n\r]")
_UNPLAIN = re.compile(r"[;&|`$()<>\n\r{}\\!#\0]|(?<![\w^])~")
_PARTS = re.compile(r"[;&|`()\n\r{}]|\$\(")

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ASSIGNED = re.compile(r"\A(?:\w+=\S*\s+)+")

_LOOKING = {
    *(
        "basename",
        "cat",
        "cd",
        "cmp",
        "cut",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "false",
        "head",
        "id",
        "ls",
        "nl",
        "pwd",
    ),
    *("readlink", "realpath", "stat", "tail", "tr", "true", "uname", "wc", "which", "whoami"),
}
_GIT_LOOKING = {
    *("blame", "describe", "diff", "log", "ls-files", "ls-tree", "merge-base", "rev-list", "rev-parse", "shortlog"),
    *("show", "status"),
}
_GIT_EXACTLY = {
    *("branch", "branch -a", "branch -r", "branch -v", "branch -vv", "branch --show-current", "branch --list"),
    *("remote", "remote -v", "tag", "tag --list", "stash list", "worktree list"),
}
# Options that write, run other programs, or follow links out of the folder; git takes unique beginnings of them too.
_GIT_ACTING = ("-O", "--ou", "--ext", "--textc")
_FIND_ACTING = {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}
_RG_ACTING = re.compile(r"--pre|--hostname-bin|--search-zip|--follow|-\w*[zL]")
_GREP_ACTING = re.compile(r"--dereference|-\w*R")


def compound(command: str) -> bool:
    """Whether it may be more than one simple command: any operator, substitution, redirection or line break."""
    return bool(_COMPOUND.search(command))


def parts(command: str) -> list[str]:
    """Roughly the simple commands in it, for rules that forbid: too many rather than too few."""
    return [part for piece in _PARTS.split(command) if (part := _ASSIGNED.sub("", piece.strip()))]


def only_looks(command: str, cwd: Path, folders: Sequence[Path]) -> bool:
    """Whether it is one plain, well-known command that only reads, and only within `folders`."""
    if _UNPLAIN.search(command) or re.search(r"[*?\[]", _QUOTED.sub("", command)):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or not _looks(words[0], words[1:]) or not inside(real(str(cwd)), folders):
        return False
    if words[0] == "git" and not looks_only(real(str(cwd)), next(word for word in words[1:] if word != "--no-pager")):
        return False
    return all(inside(real(path, str(cwd)), folders) for word in words[1:] for path in _paths(word))


def _looks(name: str, words: list[str]) -> bool:
    match name:
        case "git":
            words = words[1:] if words[:1] == ["--no-pager"] else words
            acting = any(word.startswith(_GIT_ACTING) for word in words)
            return " ".join(words) in _GIT_EXACTLY or (words[:1] != [] and words[0] in _GIT_LOOKING and not acting)
        case "find":
            return not _FIND_ACTING & set(words)
        case "rg":
            return not any(_RG_ACTING.match(word) for word in words)
        case "grep":
            return not any(_GREP_ACTING.match(word) for word in words)
        case _:
            return name in _LOOKING


def _paths(word: str) -> list[str]:
    """What in a word may name a file: all of it, what follows "=", what is glued to a short option."""
    if word.startswith("-") and ".." in word:
        return ["/"]
    found = [word] if not word.startswith("-") else []
    if "=" in word:
        found.append(word.partition("=")[2])
    if word.startswith("-") and not word.startswith("--"):
        found += [word[2:], word[word.find("/") :] if "/" in word else ""]
    return [path for path in found if path]
