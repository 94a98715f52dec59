"""Slash commands as values: what one declares, what it is handed, what follows from it.

A command is one file in `commands/builtin/` that exports `COMMAND`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeagent.agent.session import Session
from codeagent.core.code import CodeIndex
from codeagent.core.events import Event, Notice
from codeagent.core.past import Past
from codeagent.core.ui import UI, Row
from codeagent.llm.doctor import Diagnosis


class Desk(Protocol):
    """What the composition root offers around the session at hand."""

    @property
    def session(self) -> Session:
        """The session to begin with."""
        ...

    @property
    def notices(self) -> Sequence[Notice]:
        """What the person should know before the first turn: settings, trust, a mended session file."""
        ...

    @property
    def past(self) -> Past:
        """What was said in this session and in earlier ones."""
        ...

    @property
    def code(self) -> CodeIndex:
        """The index of the project's code."""
        ...

    def sessions(self) -> Sequence[Row]:
        """This project's sessions, newest first, as picker rows (value = id)."""
        ...

    def models(self) -> Sequence[Row]:
        """Models that can be switched to (value = the name `/model` takes)."""
        ...

    async def resume(self, session: Session, session_id: str) -> Session:
        """Close `session` and open the one named by an id or a unique prefix."""
        ...

    async def fork(self, session: Session, name: str | None) -> Session:
        """Close `session` and go on in a copy of it. Raises CodeAgentError."""
        ...

    def keep(self, key: str, value: object) -> None:
        """Write a setting into the person's own configuration. Raises ConfigError, StoreError."""
        ...

    async def diagnose(self) -> Diagnosis:
        """Examine the endpoint of the session's model, and keep what is found. Raises CodeAgentError."""
        ...

    async def use_model(self, session: Session, name: str) -> Session:
        """The same conversation with another model: a safe point."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to do."""


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the program."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Go on with this session."""

    session: Session


@dataclass(frozen=True, slots=True)
class Send:
    """Say this to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Play:
    """Show these events as those of a turn, interruptible like one."""

    events: AsyncIterator[Event]


@dataclass(frozen=True, slots=True)
class Draft:
    """Put this into the input, to be changed and sent."""

    text: str


Outcome = Done | Exit | Switch | Send | Play | Draft


@dataclass(frozen=True, slots=True)
class CommandContext:
    session: Session
    desk: Desk
    ui: UI


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command; `help` is one line, `arguments` as shown behind the name ("<fact>")."""

    name: str
    help: str
    run: Callable[[str, CommandContext], Awaitable[Outcome]]
    arguments: str = ""
    aliases: tuple[str, ...] = ()
