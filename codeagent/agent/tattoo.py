"""Asking the person about a change of their hard constraints that came while something of ours ran."""

from __future__ import annotations

from collections.abc import Callable

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.tools import Diff
from codeagent.core.ui import UI, Choice, Question
from codeagent.memory.decoding import decode
from codeagent.memory.guard import Change
from codeagent.memory.guarded import GuardedTattoos

_CHOICES = (Choice("no", "No, put it back"), Choice("yes", "Yes, it is what I want"))
_OURS = "The user alone changes hard constraints; propose one with update_task."


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

    async def begin(self) -> list[str]:
        """A tool is about to run: from now on a change is not the person's."""
        texts = await self.look()
        self._tattoos.watch()
        return texts

    async def look(self) -> list[str]:
        """Judge what has changed; a tool that ran has ended."""
        if not self._tattoos.watching:
            return []
        # Asked before the look: what ends in between may have written.
        lingering = self._lingering()
        texts = [await self._judge(change) for change in self._tattoos.changes()]
        self._tattoos.ran(lingering=lingering)
        return texts

    async def _judge(self, change: Change) -> str:
        if self._ui.interactive:
            before, after = (decode(state.data or b"") or "" for state in (change.before, change.after))
            preview = Diff(str(change.path), before, after)
            detail = "Your hard constraints were changed while a tool ran."
            if (await self._ui.ask(Question("Keep this change of tattoo.md?", _CHOICES, preview, detail))).key == "yes":
                self._tattoos.agree(change)
                return f"[{change.path} was changed meanwhile, and the user agrees.]"
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
