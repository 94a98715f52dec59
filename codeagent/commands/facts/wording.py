"""What is typed behind `/save` and `/memory add`: options first, then the fact; behind `--` all is the fact."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from codeagent.commands.options import NEAR, no_option
from codeagent.core.errors import UsageError
from codeagent.memory.entry import Scope, checked_type

USAGE = "[--global] [--type <type>] [--key <key>] <fact>"
_EVERYWHERE = "--global"
_KNOWN = (_EVERYWHERE, "--type", "--key")


@dataclass(frozen=True, slots=True)
class Wording:
    content: str
    scope: Scope = "project"
    type: str | None = None
    key: str | None = None


def read_wording(typed: str, line: str = "/save") -> Wording:
    """The fact and how it is to be kept; `content` is "" when nothing is left to keep. `--global` may end it, too.

    `line` is what was typed in front.

    Raises:
        UsageError: an option lacks its value or is none of ours, or there is no such type.
    """
    scope: Scope = "project"
    given = {"--type": "", "--key": ""}
    rest = typed.strip()
    while rest.startswith("--"):
        word, _, after = rest.partition(" ")
        name, sign, value = word.partition("=")
        if word == "--":
            return _wording(after.strip(), scope, given)
        if word == _EVERYWHERE:
            scope = "global"
        elif name in given:
            if not sign:
                value, _, after = after.strip().partition(" ")
            if not value:
                raise UsageError("{name} needs a value.", name=name, hint=f"{line} {USAGE}")
            given[name] = value
        else:
            raise no_option(word, _KNOWN, line)
        rest = after.strip()
    front, _, last = rest.rpartition(" ")
    if last == _EVERYWHERE:
        scope, rest = "global", front.rstrip()
    elif last.startswith("--") and difflib.get_close_matches(last, (_EVERYWHERE,), cutoff=NEAR):
        raise no_option(last, (_EVERYWHERE,), line)
    return _wording(rest, scope, given)


def _wording(content: str, scope: Scope, given: dict[str, str]) -> Wording:
    type = given["--type"]
    return Wording(content, scope, checked_type(type) if type else None, given["--key"] or None)
