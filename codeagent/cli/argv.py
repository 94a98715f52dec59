"""The command line in a form that Typer can read: pure, and the only place that knows what Typer cannot say.

Typer knows no option with an optional value (bare `-r`, `-p` before other flags) and no free words beside subcommands.
So words become `--text=…`, `-p` becomes `--print`, a bare `-r` becomes `--pick`; `run` and `exec` become `--print`.
"""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from codeagent.core.errors import UsageError

VALUED = frozenset(
    {
        "-m", "--model", "--base-url", "--small-model", "--effort", "-o", "--output-format", "--input-format",
        "--permission-mode", "--approval-mode", "--allowed-tools", "--disallowed-tools", "--add-dir", "--max-turns",
        "--max-budget-usd", "--max-tokens-total", "--timeout", "--system-prompt", "--append-system-prompt",
        "--session-id", "--name", "--provider", "--text",
    }
)  # fmt: skip
"""Options that take a value; all others of ours take none, but for the two below."""
PRINT = frozenset({"-p", "--print", "--prompt"})
RESUME = frozenset({"-r", "--resume"})
SWITCHES = frozenset("cyvh")
"""Letters that can be bundled (`-cp "go on"`)."""
ONE_SHOT = frozenset({"run", "exec"})
COMMANDS = frozenset({"sessions", "memory", "config", "index", "setup", "doctor", "demo", "completion", "stats"})
"""Subcommands, which keep their own arguments."""
KNOWN: Mapping[str, frozenset[str]] = {
    "sessions": frozenset({"list", "show", "search", "export", "repair", "rm"}),
    "memory": frozenset({"list", "add", "search", "rm", "show", "export", "import"}),
    "config": frozenset({"show", "get", "set", "path", "trust", "permissions"}),
    "index": frozenset({"build", "search", "status", "map"}),
    "mcp": frozenset({"list", "add", "remove", "test"}),
    "completion": frozenset({"bash", "zsh", "fish", "powershell"}),
    **dict.fromkeys(("setup", "doctor", "demo", "acp", "stats"), frozenset()),
}
"""What people may take for a subcommand, there or not, and the words that it is followed by."""
_CLOSE = 0.8
"""Likeness from which on a word is a slip of the fingers."""

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


def normalise(argv: Iterable[str]) -> list[str]:
    """`argv` (without the program's name) for Typer.

    Raises:
        UsageError: a subcommand is meant that is not there, or spelled wrongly.
    """
    given = deque(argv)
    if list(given) == ["help"]:
        return ["--help"]
    options: list[str] = []
    words: list[str] = []
    once = False
    while given:
        arg = given.popleft()
        if arg == "--":
            words += given
            break
        if arg in PRINT:
            once = True
        elif arg.startswith(("--print=", "--prompt=")):
            once = True
            words.append(arg.partition("=")[2])
        elif arg in RESUME:
            options += _resume(given)
        elif arg in VALUED:
            options += [arg, given.popleft()] if given else [arg]
        elif arg.startswith("--"):
            options.append(arg)
        elif arg.startswith("-") and len(arg) > 2:
            given.extendleft(reversed(_unbundle(arg)))
        elif arg.startswith("-") and arg != "-":
            options.append(arg)
        elif not once and not words and arg in ONE_SHOT:
            once = True
        elif not once and not words and arg in COMMANDS:
            return [*options, *_subcommand(arg, list(given))]
        elif not once and not words and (slip := _slip(arg, list(given))):
            raise slip
        elif arg != "-":  # that is standard input, which is read anyway
            words.append(arg)
    if once:
        options.append("--print")
    if words:
        options.append(f"--text={' '.join(words)}")
    return options


def _slip(word: str, rest: Sequence[str]) -> UsageError | None:
    """What is wrong with a first word that is meant as a subcommand; sentences go through."""
    near = next(iter(difflib.get_close_matches(word, KNOWN, n=1, cutoff=_CLOSE)), "")
    alone = not rest or rest[0] in KNOWN.get(near, ()) or rest[0] in {"-h", "--help", "--json"}
    if not near or not alone:
        return None
    hint = f"To say it to the model: codeagent -- {word}"
    if near in COMMANDS:
        return UsageError("There is no command {word}. Did you mean {near}?", word=word, near=near, hint=hint)
    return UsageError("There is no command {word} in this version.", word=near, hint=hint)


def _resume(given: deque[str]) -> list[str]:
    """What follows is an id if it looks like one, else the first message or another flag."""
    if given and _ID.fullmatch(given[0]):
        return [f"--resume={given.popleft()}"]
    return ["--pick"]


def _unbundle(arg: str) -> list[str]:
    """`-cp` as `-c -p`; a letter that takes a value takes the rest (`-mgpt`, `-pHello`, `-r2026`)."""
    letters = arg[1:]
    if letters[0] in SWITCHES or set(letters) <= SWITCHES | {"p", "r"}:
        return [f"-{letters[0]}", f"-{letters[1:]}"]
    if letters[0] == "p":
        return [f"--print={letters[1:]}"]
    if letters[0] == "r":
        return [f"--resume={letters[1:]}"]
    if f"-{letters[0]}" in VALUED:
        return [f"-{letters[0]}", letters[1:]]
    return ["--", arg] if letters[0].isdigit() else [f"-{letters[0]}", f"-{letters[1:]}"]


def _subcommand(name: str, rest: list[str]) -> list[str]:
    """`--debug` is understood behind a subcommand too: that is where one adds it after an error."""
    if "--debug" in rest:
        rest.remove("--debug")
        return ["--debug", name, *rest]
    return [name, *rest]
