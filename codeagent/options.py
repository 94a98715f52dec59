"""What was said on the command line, and the world it was said in: the value that cli hands to the composition root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codeagent.core.errors import UsageError
from codeagent.core.paths import FOLDER, Home

OutputFormat = Literal["text", "json", "stream-json"]
InputFormat = Literal["text", "stream-json"]


@dataclass(frozen=True, slots=True)
class Options:
    """One run. What is None or empty was not said."""

    cwd: Path
    home: Home
    environ: Mapping[str, str]
    text: str | None = None
    """The first message."""
    once: bool = False
    """Answer and exit."""
    output: OutputFormat = "text"
    input: InputFormat = "text"
    newest: bool = False
    """Go on with the newest session of the project."""
    resume: str | None = None
    """Go on with this session (an id or a unique prefix)."""
    pick: bool = False
    """Let the person pick the session to go on with."""
    fork: bool = False
    session_id: str | None = None
    name: str | None = None
    model: str | None = None
    base_url: str | None = None
    small_model: str | None = None
    effort: str | None = None
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    add_dirs: tuple[Path, ...] = ()
    sandbox: bool | None = None
    """The strict sandbox, or none."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    max_tokens_total: int | None = None
    timeout: float | None = None
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    no_mask: bool = False
    """Old tool results are not masked: the setting `compaction.mask`."""
    safe_mode: bool = False
    """Nothing of the project's configuration is read."""
    provider: str | None = None
    verbose: bool = False
    debug: bool = False

    def flags(self) -> dict[str, Any]:
        """The settings that were given as flags, by dotted key."""
        given = {
            "model": self.model,
            "base_url": self.base_url,
            "small_model": self.small_model,
            "effort": self.effort,
            "permission_mode": self.permission_mode,
            "permissions.allow": self.allowed_tools or None,
            "permissions.deny": self.disallowed_tools or None,
            "sandbox.mode": None if self.sandbox is None else "strict" if self.sandbox else "off",
            "max_turns": self.max_turns,
            "max_budget_usd": self.max_budget_usd,
            "timeout": self.timeout,
            "secrets.mask": False if self.no_mask else None,
        }
        return {key: value for key, value in given.items() if value is not None}


def find_home(environ: Mapping[str, str]) -> Home:
    """`CODEAGENT_HOME`, else the folder in the user's own home.

    Raises:
        UsageError: HOME is set to nothing, which would mean the root of the disk.
    """
    named = environ.get("CODEAGENT_HOME")
    if not named and environ.get("HOME") == "":
        raise UsageError("HOME is empty.", hint="Set it, or CODEAGENT_HOME.")
    return Home(Path(named).expanduser().absolute() if named else Path.home() / FOLDER)


def split_list(text: str) -> tuple[str, ...]:
    """Parts between commas; a comma inside parentheses, as in `shell(echo a,b)`, parts nothing."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return tuple(part.strip() for part in (*parts, text[start:]) if part.strip())
