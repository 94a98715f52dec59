"""Which commands delete or rewrite, and what they name: read from the command line without running it.

Too much rather than too little: what is named here is saved before the command runs, and asked about where modes ask.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from codeagent.core.tools import Action, Command

Reach = Literal["named", "changed", "untracked", "ignored", "elsewhere"]
"""What of the paths is lost: all that they hold; changes of what git knows; what git does not know; that and what it
ignores; nothing here, but something that git or another machine keeps."""

_OPERATOR = re.compile(r"[;&|()<>]+")
_ASSIGNED = re.compile(r"\w+=")
_BEFORE = {
    *("sudo", "env", "nohup", "time", "nice", "ionice", "command", "builtin", "exec", "xargs", "timeout", "setsid"),
    *("doas", "stdbuf", "then", "do", "else", "elif", "if", "while", "until", "!", "{"),
}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_REMOVING = {"rm", "unlink", "shred", "truncate", "rmdir", "srm"}
_UNKNOWN = re.compile(r"[$`~]")
_MOST = 2_000
"""Paths that a pattern may stand for."""


@dataclass(frozen=True, slots=True)
class Threat:
    """What one simple command may destroy; the paths are absolute."""

    what: str
    reach: Reach
    paths: tuple[str, ...] = ()


def threats(action: Action) -> tuple[Threat, ...]:
    """What the command of `action` threatens; nothing for any other action."""
    if not isinstance(action.preview, Command):
        return ()
    return tuple(_read(action.preview.text, action.preview.cwd, 3))


def _read(command: str, cwd: str, depth: int) -> Iterator[Threat]:
    folder = cwd
    for words, written in _simple(command):
        paths = _existing(written, folder)
        if files := tuple(path for path in paths if os.path.isfile(path)):
            yield Threat(">", "named", files)
        piped = words[:1] == ["xargs"]
        words = _bare(words)
        if not words:
            continue
        name, rest = os.path.basename(words[0]), words[1:]
        if name == "cd":
            folder = os.path.normpath(os.path.join(folder, rest[0])) if rest else folder
        elif name == "eval" or (name in _SHELLS and "-c" in rest):
            inner = " ".join(rest) if name == "eval" else (rest[rest.index("-c") + 1 :] or [""])[0]
            yield from _read(inner, folder, depth - 1) if depth else ()
        else:
            yield from _judged(name, rest, folder, piped)


def _judged(name: str, rest: list[str], cwd: str, piped: bool) -> Iterator[Threat]:
    options = [word for word in rest if word.startswith("-")]
    named = [word for word in rest if not word.startswith("-")]
    recursive = any(re.fullmatch(r"-\w*R\w*|--recursive", option) for option in options)
    if name == "git":
        yield from _git(rest, cwd)
    elif name in _REMOVING:
        yield Threat(name, "named", (cwd,) if piped else _existing(named, cwd))
    elif name == "dd":
        yield Threat(name, "named", _existing([word[3:] for word in rest if word.startswith("of=")], cwd))
    elif name in ("chmod", "chown", "chgrp") and recursive:
        yield Threat(f"{name} -R", "elsewhere", _existing(named[1:], cwd))
    elif name == "find" and {"-delete", "-exec", "-execdir", "-ok"} & set(rest):
        first = next((at for at, word in enumerate(rest) if word.startswith(("-", "(", "!"))), len(rest))
        if "-delete" in rest or _REMOVING & set(rest):
            yield Threat("find", "named", _existing(rest[:first] or ["."], cwd))
    elif name == "tee" and not {"-a", "--append"} & set(options):
        yield Threat(name, "named", tuple(path for path in _existing(named, cwd) if os.path.isfile(path)))
    elif name in ("mv", "cp", "install", "rsync") and named:
        yield from _over(name, named, options, cwd)


def _over(name: str, named: list[str], options: list[str], cwd: str) -> Iterator[Threat]:
    """What is written over, and what leaves the place where one works."""
    target = os.path.normpath(os.path.join(cwd, named[-1]))
    into = os.path.isdir(target)
    hit = [os.path.join(target, os.path.basename(word.rstrip("/"))) for word in named[:-1]] if into else [target]
    if name == "rsync":
        hit = [target] if any(option.startswith("--del") for option in options) else []
    if files := tuple(path for path in hit if os.path.lexists(path)):
        yield Threat(name, "named", files)
    if name == "mv" and not (target == cwd or target.startswith(cwd.rstrip("/") + "/")):
        yield Threat("mv", "elsewhere", _existing(named[:-1], cwd))


def _git(rest: list[str], cwd: str) -> Iterator[Threat]:
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and len(rest) > 1:
            cwd, rest = os.path.normpath(os.path.join(cwd, rest[1])), rest[1:]
        rest = rest[2:] if rest[0] == "-c" else rest[1:]
    if not rest:
        return
    name, words = rest[0], rest[1:]
    short = "".join(word[1:] for word in words if re.fullmatch(r"-\w+", word))
    named = [word for word in words if not word.startswith("-")]
    match name:
        case "reset" if {"--hard", "--merge", "--keep"} & set(words):
            yield Threat("git reset --hard", "changed", (cwd,))
        case "clean" if "f" in short or "--force" in words:
            yield Threat("git clean", "ignored" if "x" in short.lower() else "untracked", (cwd,))
        case "checkout" | "switch":
            behind = words[words.index("--") + 1 :] if "--" in words else []
            if paths := behind or [word for word in named if os.path.lexists(os.path.join(cwd, word))]:
                yield Threat(f"git {name}", "changed", _existing(paths, cwd))
            elif "f" in short or {"--force", "--discard-changes"} & set(words):
                yield Threat(f"git {name} --force", "changed", (cwd,))
        case "restore" if "--staged" not in words or "--worktree" in words:
            yield Threat("git restore", "changed", _existing(named, cwd))
        case "rm" if "--cached" not in words:
            yield Threat("git rm", "named", _existing(named, cwd))
        case "stash" if words[:1] in (["drop"], ["clear"]):
            yield Threat(f"git stash {words[0]}", "elsewhere")
        case "branch" if "D" in short:
            yield Threat("git branch -D", "elsewhere")
        case "push" if "f" in short or any(w.startswith(("--force", "--mirror", "--delete", "+")) for w in words):
            yield Threat("git push --force", "elsewhere")


def _simple(command: str) -> Iterator[tuple[list[str], list[str]]]:
    """(words, files that `>` writes) of each simple command."""
    words: list[str] = []
    written: list[str] = []
    operator = ""
    for token in _tokens(command):
        if not _OPERATOR.fullmatch(token):
            if operator in (">", ">|", "&>"):
                written.append(token)
            elif not operator.startswith(("<", ">")):
                words.append(token)
            operator = ""
            continue
        operator = token
        if not token.strip("&|;()"):
            yield words, written
            words, written = [], []
    yield words, written


def _tokens(command: str) -> Sequence[str]:
    lexer = shlex.shlex(command.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # an odd quote: a here-document, for example
        return re.findall(r"[;&|()<>]+|[^\s;&|()<>'\"]+", command.replace("\n", " ; "))


def _bare(words: list[str]) -> list[str]:
    """Without what only stands before the command itself."""
    at = 0
    while at < len(words) and (words[at] in _BEFORE or _ASSIGNED.match(words[at])):
        wrapper = words[at] in _BEFORE
        at += 1
        while wrapper and at < len(words) and re.fullmatch(r"-.*|\d+[smhd]?|\{\}", words[at]):
            at += 1
    return words[at:]


def _existing(words: Sequence[str], cwd: str) -> tuple[str, ...]:
    """What the words stand for, as far as it is there; a name that is not known yet may be anything below `cwd`."""
    found: dict[str, None] = {}
    for word in words:
        if _UNKNOWN.search(word):
            found[cwd] = None
            continue
        path = os.path.normpath(os.path.join(cwd, word))
        if os.path.lexists(path):
            found[path] = None
        elif glob.has_magic(word):
            found.update(dict.fromkeys(islice(glob.iglob(path), _MOST)))
    return tuple(found)
