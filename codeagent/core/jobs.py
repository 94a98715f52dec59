"""Child processes, as tools meet them: one command, and all the commands of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from codeagent.core.events import Notice
    from codeagent.core.tools import Command

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Printed:
    """Output as plain text; of much output both ends, with a line in between that tells how much is left out.

    `whole` is then all of it, in pieces and once, up to a bound for each job; None where `text` is all.
    """

    text: str
    whole: Iterable[str] | None = None


@dataclass(frozen=True, slots=True)
class Lifted:
    """What the person says to a command that was kept from something."""

    again: Literal["no", "inside", "outside"]
    """Whether to run it once more, and where: in what is now allowed, or without bounds."""
    reason: str = ""
    """For the model, where it is not to be run."""


class Confinement(Protocol):
    """What keeps commands within bounds."""

    def holds(self, command: Command) -> bool:
        """Whether there are bounds for it: there may be no means, or the person may have lifted them."""
        ...

    def launch(self, argv: Sequence[str], start: Callable[[Sequence[str]], T]) -> T:
        """What `start` gives for the words that are to be started, which runs within bounds."""
        ...

    def refused(self, text: str, cwd: Path) -> str:
        """What the bounds kept a command from that printed `text`, for the model; "" where nothing is known."""
        ...

    async def lift(self, command: Command, text: str) -> Lifted:
        """Ask the person, where somebody is there, about a command that printed `text`."""
        ...

    def describe(self) -> Notice:
        """What holds, in a line."""
        ...

    def close(self) -> None: ...


class Job(Protocol):
    """One command, run as a child process in a session of its own; what it prints is kept, in bounded memory."""

    @property
    def command(self) -> str: ...
    @property
    def code(self) -> int | None:
        """Exit code; negative for a signal; None while the command runs."""
        ...

    @property
    def seconds(self) -> float:
        """How long the command ran, or has been running."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where the shell stood when it ended; None when it did not come to say so."""
        ...

    @property
    def let_go(self) -> bool:
        """The person does not want it to be waited for."""
        ...

    @property
    def size(self) -> int:
        """Bytes that it printed so far."""
        ...

    @property
    def lingers(self) -> bool:
        """The command has ended, processes that it started have not."""
        ...

    async def wait(self, seconds: float) -> bool:
        """Whether the command ended within `seconds`; comes back early when it is let go."""
        ...

    def output(self) -> str:
        """All that it printed, as plain text; of very long output both ends."""
        ...

    def unread(self) -> Printed:
        """What it printed since the last call of `unread`."""
        ...

    def mute(self) -> None:
        """Report no more progress."""
        ...

    async def stop(self) -> None:
        """End the command and everything it started."""
        ...


class Jobs(Protocol):
    """Running child processes; they die with the session, but for those that the person lets outlive it."""

    folder: Path | None
    """Where the next command runs; None for the working folder."""
    sandbox: Confinement | None
    """What keeps the commands within bounds."""

    @property
    def timeout(self) -> float:
        """Seconds that a command may take before it moves to the background."""
        ...

    @property
    def kills(self) -> bool:
        """A command that takes longer is ended instead."""
        ...

    def start(
        self,
        command: str,
        *,
        cwd: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], None] | None = None,
        free: bool = False,
    ) -> Job:
        """Run `command` in a shell; `free` outside the sandbox.

        Raises:
            OSError: there is no such folder or no shell.
        """
        ...

    def keep(self, job: Job) -> str:
        """Let `job` go on in the background; its id from now on."""
        ...

    def find(self, id: str) -> Job | None: ...
    def kept(self) -> Sequence[tuple[str, Job]]:
        """The background jobs by id, oldest first."""
        ...

    def release(self) -> bool:
        """Wait no longer for the commands that are waited for: they go on in the background. False: there is none."""
        ...

    def outlive(self, id: str) -> Path | None:
        """Let a background job go on when the session ends; the file that then takes what it prints."""
        ...

    async def aclose(self) -> None: ...
