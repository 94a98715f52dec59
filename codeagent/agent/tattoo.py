"""Changes of the person's hard constraints that came while something of ours ran: put back, asked about, or left.

A write by a command cannot be told from the person's own by hand at that time. What a command that names the files did
is put back. Everything else is left as it stands, and does not count until the person says so at their next message.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.messages import ToolCall
from codeagent.core.paths import FOLDER
from codeagent.core.tools import Diff
from codeagent.core.ui import UI, Choice, Question
from codeagent.memory.decoding import decode
from codeagent.memory.guard import Change
from codeagent.memory.guarded import GuardedTattoos

_SUSPECT = (Choice("no", "No, put it back"), Choice("yes", "Yes, it is what I want"))
_DOUBTFUL = (
    Choice("later", "Not now: the file stays, its old rules count"),
    Choice("yes", "Yes, it is what I want"),
    Choice("no", "No, put back what it said"),
)
_OURS = "The user alone changes hard constraints; propose one with update_task."
_NAMES = re.compile(rf"tattoo|{re.escape(FOLDER)}|\brm\b.*\s-\w*r|\bgit\s+clean\b", re.IGNORECASE | re.DOTALL)
"""What a command says that means these files, or takes away the folders above them."""


class TattooWatch:
    """What the model is told of it comes back in words, what the person is told goes to `tell`."""

    def __init__(
        self, tattoos: GuardedTattoos, ui: UI, lingering: Callable[[], bool], tell: Callable[[Notice], object]
    ) -> None:
        """`lingering` says whether something that a tool started is still running."""
        self._tattoos = tattoos
        self._ui = ui
        self._lingering = lingering
        self._tell = tell

    async def begin(self, call: ToolCall) -> list[str]:
        """A tool is about to run: from now on a change need not be the person's."""
        texts = await self.look()
        self._tattoos.watch(suspect=_NAMES.search(call.arguments.replace("\\n", "\n")) is not None)
        return texts

    async def look(self, *, opening: bool = False) -> list[str]:
        """Judge what has changed; a tool that ran has ended. With `opening` a message of the person begins: what could
        be theirs is asked about then, not in the middle of their work."""
        if not self._tattoos.watching:
            return []
        # Asked before the look: what ends in between may have written.
        lingering = self._lingering()
        texts = []
        for change in self._tattoos.changes():
            if self._tattoos.suspect:
                texts.append(await self._suspect(change))
            elif opening or not self._ui.interactive:
                texts.append(await self._doubtful(change))
        self._tattoos.ran(lingering=lingering)
        return texts

    async def _suspect(self, change: Change) -> str:
        detail = "Your hard constraints were changed while a command that names them ran."
        if await self._asked("Keep this change of tattoo.md?", _SUSPECT, detail, change) == "yes":
            return self._agree(change)
        return await self._put_back(change)

    async def _doubtful(self, change: Change) -> str:
        detail = "Your hard constraints were changed while a tool ran, by you or by what it started."
        answer = await self._asked("Do you want this change of tattoo.md?", _DOUBTFUL, detail, change)
        if answer == "yes":
            return self._agree(change)
        if answer == "no":
            return await self._put_back(change)
        self._tattoos.leave(change)
        told = "{path} was changed while a tool ran, and is left so; its old rules count until you agree"
        told += "." if self._ui.interactive else ": start codeagent in a terminal, and it asks."
        self._tell(Notice(told, {"path": str(change.path)}, "warning"))
        return f"[{change.path} was changed meanwhile; what it said before holds until the user agrees. {_OURS}]"

    async def _asked(self, title: str, choices: tuple[Choice, ...], detail: str, change: Change) -> str:
        """Key of the answer; the first choice changes nothing that counts, and none takes its place."""
        if not self._ui.interactive:
            return choices[0].key
        before, after = (decode(state.data or b"") or "" for state in (change.before, change.after))
        question = Question(title, choices, Diff(str(change.path), before, after), detail)
        return (await self._ui.ask(question)).key or choices[0].key

    def _agree(self, change: Change) -> str:
        self._tattoos.agree(change)
        return f"[{change.path} was changed meanwhile, and the user agrees.]"

    async def _put_back(self, change: Change) -> str:
        try:
            kept = await self._tattoos.put_back(change)
        except StoreError as error:
            told = "{path} was changed while a tool ran, and cannot be put back: {error} The model keeps what it said."
            self._tell(Notice(told, {"path": str(change.path), "error": str(error)}, "warning"))
            return f"[{change.path} was changed meanwhile; what it said before holds. {_OURS}]"
        told = "{path} was changed while a tool ran, and was put back."
        if kept is not None:
            told += " What was written lies in {kept}."
        self._tell(Notice(told, {"path": str(change.path), "kept": str(kept)}, "warning"))
        return f"[{change.path} was changed meanwhile and was put back. {_OURS}]"
