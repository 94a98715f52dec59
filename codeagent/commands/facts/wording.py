"""What is typed behind `/save` and `/memory add`: options first, then the fact."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from codeagent.core.errors import UsageError
from codeagent.memory.entry import Scope, checked_type

USAGE = "[--global] [--type <type>] [--key <key>] <fact>"


@dataclass(frozen=True, slots=True)
class Wording:
    content: str
    scope: Scope = "project"
    type: str | None = None
    key: str | None = None


def read_wording(typed: str) -> Wording:
    """The fact and how it is to be kept; `content` is "" when nothing is left to keep. `--global` may end it, too.

    Raises:
        UsageError: an option lacks its value or is nearly one of ours, or there is no such type.
    """
    scope: Scope = "project"
    given = {"type": "", "key": ""}
    rest = typed.strip()
    if rest.endswith(" --global"):
        scope, rest = "global", rest.removesuffix(" --global").rstrip()
    while rest.startswith("--"):
        word, _, after = rest.partition(" ")
        name, sign, value = word[2:].partition("=")
        if word == "--global":
            scope = "global"
        elif name in given:
            if not sign:
                value, _, after = after.strip().partition(" ")
            if not value:
                raise UsageError("--{name} needs a value.", name=name, hint=f"/save {USAGE}")
            given[name] = value
        elif near := difflib.get_close_matches(name, ("global", *given), n=1):
            raise UsageError("There is no option {word}.", word=word, hint=f"Did you mean --{near[0]}?")
        else:  # a fact about an option of something else
            break
        rest = after.strip()
    return Wording(rest, scope, checked_type(given["type"]) if given["type"] else None, given["key"] or None)
