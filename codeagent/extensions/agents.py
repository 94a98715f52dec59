"""Kinds of subagents that the user or a project defines: `agents/*.md`, a head and the prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from codeagent.core.agents import AgentKind
from codeagent.core.display import visible
from codeagent.core.events import Notice
from codeagent.extensions.frontmatter import items, split

MOST = 50
"""Files of one folder that are read."""
SIZE = 64_000
"""Bytes of one file."""
_NAME = re.compile(r"\w[\w.-]{0,39}")
_UNTRUSTED = "The agents of this folder are not used until you trust it: codeagent config trust"


class AgentFiles:
    """The user's agents, and those of the project where it is trusted; of one name the project's counts."""

    def __init__(self, user: Path, project: Path | None, trusted: Callable[[], bool], tools: Collection[str]) -> None:
        """`tools` are the names that a subagent can be given."""
        self._user = user
        self._project = project
        self._trusted = trusted
        self._tools = tools
        self._notices: list[Notice] = []
        self._told: set[str] = set()

    def load(self) -> dict[str, AgentKind]:
        """What the files define now, by name."""
        found = self._kinds(self._user)
        if self._project is not None and _files(self._project):
            if self._trusted():
                found |= self._kinds(self._project)
            else:
                self._tell(Notice(_UNTRUSTED, level="warning"))
        return found

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, each told once."""
        news = tuple(self._notices)
        self._notices.clear()
        return news

    def _kinds(self, folder: Path) -> dict[str, AgentKind]:
        kinds: dict[str, AgentKind] = {}
        for path in _files(folder):
            try:
                kind = _read(path)
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                values = {"path": path, "reason": reason}
                self._tell(Notice("The agent {path} is left out: {reason}.", values, "warning"))
                continue
            kinds[kind.name] = kind
            for tool in set(kind.tools or ()) - set(self._tools):
                values = {"path": path, "tool": visible(tool), "known": ", ".join(self._tools)}
                told = "{path}: no subagent can have the tool {tool}; there are {known}."
                self._tell(Notice(told, values, "warning"))
        return kinds

    def _tell(self, notice: Notice) -> None:
        if str(notice) not in self._told:
            self._told.add(str(notice))
            self._notices.append(notice)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.is_file())[:MOST]
    except OSError:
        return []


def _read(path: Path) -> AgentKind:
    """Raises OSError; ValueError that says why it is none."""
    with path.open("rb") as file:
        data = file.read(SIZE + 1)
    if len(data) > SIZE:
        raise ValueError(f"it is larger than {SIZE:,} bytes")
    try:
        head, prompt = split(data.decode())
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8 text") from None
    name = head.get("name", path.stem).strip()
    if not _NAME.fullmatch(name):
        raise ValueError("its name is no word of at most 40 letters")
    if not prompt:
        raise ValueError("there is no text below its head")
    model = head.get("model", "").strip()
    return AgentKind(
        name,
        " ".join(visible(head.get("description", "")).split()),
        prompt,
        items(head["tools"]) if head.get("tools", "").strip() else None,
        model="" if model == "inherit" else model,
        source=str(path),
    )
