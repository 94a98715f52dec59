"""The sandbox of a session: which means keep it, what the person lifted, what is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from codeagent.core.events import Notice
from codeagent.core.jobs import Lifted
from codeagent.core.private import make_private
from codeagent.core.tools import Command
from codeagent.core.ui import UI, Choice, Question
from codeagent.safety.sandbox.landlock import Landlock
from codeagent.safety.sandbox.places import Ground, keys_within, make_policy
from codeagent.safety.sandbox.policy import Policy
from codeagent.safety.sandbox.refusals import Refused, read_refusals
from codeagent.safety.sandbox.wrapping import bubblewrap, seatbelt

T = TypeVar("T")
SandboxMode = Literal["on", "strict", "bubblewrap", "off"]

_WIDE = 2
"""Parts of a path under which a folder is too much to be allowed at a stroke: the root and what stands in it."""


class Means(Protocol):
    """What keeps a policy."""

    @property
    def name(self) -> str: ...
    def launch(self, policy: Policy, argv: Sequence[str], start: Callable[[Sequence[str]], T]) -> T:
        """What `start` gives for the words to start, bound by `policy`. Raises what `start` raises, and OSError."""
        ...

    def close(self) -> None: ...


class Sandbox:
    """Implements `jobs.Confinement`. Nothing is looked at before the first command."""

    def __init__(
        self,
        mode: SandboxMode,
        ground: Ground,
        ui: UI,
        *,
        network: bool = True,
        asks: Callable[[], bool] = lambda: True,
        tell: Callable[[Notice], object] = lambda notice: None,
        marker: Path | None = None,
    ) -> None:
        """`asks` says whether the person wants to be asked; `tell` takes what they should know. `marker` is a file that
        is there once they know that there is a sandbox."""
        self._mode = mode
        self._ground = ground
        self._ui = ui
        self._network = network
        self._asks = asks
        self._tell = tell
        self._marker = marker
        self._means: Means | None = None
        self._looked = mode == "off"
        self._also: tuple[Path, ...] = ()
        self._policy: Policy | None = None
        self._free: set[Command] = set()

    # ---- commands --------------------------------------------------------------------------------------------------

    def launch(self, argv: Sequence[str], start: Callable[[Sequence[str]], T]) -> T:
        means = self._find()
        if means is None:
            return start(argv)
        return means.launch(self.policy, argv, start)

    def holds(self, command: Command) -> bool:
        return self._find() is not None and command not in self._free

    def refused(self, text: str, cwd: Path) -> str:
        return self._told(self._read(text, cwd)) if self._find() else ""

    async def lift(self, command: Command, text: str) -> Lifted:
        refused = self._read(text, Path(command.cwd))
        told = self._told(refused)
        if not refused.known:
            return Lifted("no", told)
        if not self._ui.interactive or not self._asks():
            return Lifted("no", f"{told} {_ELSEWISE}")
        folder = self._folder(refused)
        choices = [
            Choice("once", "Yes, this once"),
            Choice("always", "Yes, and always exactly this command in this session"),
        ]
        if folder is not None:
            choices.append(Choice("folder", f"Keep the sandbox, but let commands of this session write in {folder}"))
        choices.append(Choice("no", "No, and tell the model what to do instead", feedback=True))
        question = Question(
            "Run it again outside the sandbox?", tuple(choices), command, f"The sandbox refused: {refused}."
        )
        answer = await self._ui.ask(question)
        if answer.key == "always":
            self._free.add(command)
        if answer.key == "folder" and folder is not None:
            self._also, self._policy = (*self._also, folder), None
        if answer.key in ("once", "always", "folder"):
            return Lifted("inside" if answer.key == "folder" else "outside")
        word = f': "{answer.text.strip()}"' if answer.text.strip() else ""
        return Lifted("no", f"{told} The user said no to running it outside{word}.")

    def close(self) -> None:
        if self._means is not None:
            self._means.close()

    # ---- what holds ------------------------------------------------------------------------------------------------

    def describe(self) -> Notice:
        return describe(self._mode, self._ground, network=self._network)

    @property
    def policy(self) -> Policy:
        if self._policy is None:
            strict = self._mode == "strict"
            self._policy = make_policy(self._ground, strict=strict, network=self._network, also=self._also)
        return self._policy

    def _find(self) -> Means | None:
        if not self._looked:
            self._looked = True
            self._means = _choose(self._mode, self._ground)
            if self._means is None:
                self._tell(Notice(_NONE, {}, "warning"))
            elif self._ui.interactive:
                self._first(self._means.name)
        return self._means

    def _first(self, means: str) -> None:
        if self._marker is None or self._marker.exists():
            return
        with suppress(OSError):
            make_private(self._marker.parent)
            self._marker.touch(0o600)
        self._tell(Notice(_THERE_IS, {"means": means}))

    def _read(self, text: str, cwd: Path) -> Refused:
        return read_refusals(text, cwd, self.policy)

    def _told(self, refused: Refused) -> str:
        if refused.known:
            return f"The sandbox refused: {refused}. {_BOUNDS}"
        return f"Something was denied, perhaps by the sandbox. {_BOUNDS}" if refused.unclear else ""

    def _folder(self, refused: Refused) -> Path | None:
        """The one folder that would have been enough, where it is not too wide."""
        if refused.read or refused.other or not refused.written:
            return None
        folders = set()
        for path in refused.written:
            folder = path
            while not folder.is_dir():
                folder = folder.parent
            folders.add(folder)
        folder = min(folders, key=lambda path: len(path.parts))
        enough = all(path.is_relative_to(folder) for path in folders)
        wide = len(folder.parts) <= _WIDE or folder == self._ground.home
        return folder if enough and not wide else None


_BOUNDS = "Commands write only in the project, in temporary folders and in caches; keys are not read."
_ELSEWISE = "Do it within these bounds, or tell the user what needs more: it takes the setting sandbox or --no-sandbox."
_THERE_IS = (
    "Commands of the model run in a sandbox ({means}): they write only in the project, in temporary folders and in "
    "caches, and read no keys. More in /status and under [sandbox] in the settings."
)
_NONE = "Commands run without a sandbox: this system has neither Landlock nor bubblewrap. They can do what you can do."


def describe(mode: SandboxMode, ground: Ground, *, network: bool) -> Notice:
    """The state of a sandbox, in a line; nothing is kept."""
    if mode == "off":
        return Notice("off")
    if (means := _choose(mode, ground)) is None:
        return Notice("none: this system has no means for it")
    means.close()
    reached = "network on" if network and mode != "strict" else "network off"
    return Notice("{mode}, by {means}; {reached}", {"mode": mode, "means": means.name, "reached": reached})


def _choose(mode: SandboxMode, ground: Ground) -> Means | None:
    """The cheapest that holds. Landlock cannot hide what lies within a folder to work in; bubblewrap can."""
    wrapped = bubblewrap(ground.environ) if mode == "bubblewrap" or keys_within(ground) else None
    if wrapped is not None:
        return wrapped
    try:
        return Landlock()
    except OSError:
        return bubblewrap(ground.environ) or seatbelt()
