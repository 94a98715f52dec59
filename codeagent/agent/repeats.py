"""The loop guard: calls that repeat with the same results are pointed out to the model, then put to the person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from hashlib import sha256

from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import HistoryView
from codeagent.core.tools import ToolResult
from codeagent.core.ui import UI, Choice, Question

TIMES = 3
"""The same call with the same result so often is a loop; so is one of two calls that alternate."""
_PERIODS = (1, 2)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|s|seconds?)\b")
_CHOICES = (
    Choice("go", "Let it go on"),
    Choice("stop", "Stop the turn"),
    Choice("tell", "Tell the model what to do instead", feedback=True),
)


class LoopGuard:
    """Watches the calls of a conversation; a new turn begins anew."""

    def __init__(
        self,
        ui: UI,
        view: HistoryView,
        title: Callable[[ToolCall], str],
        stop: Callable[[], None],
        *,
        polling: Collection[str] = (),
    ) -> None:
        """`stop` ends the running turn; the tools in `polling` may repeat at will."""
        self._ui = ui
        self._view = view
        self._title = title
        self._stop = stop
        self._polling = polling
        self._seen: list[bytes] = []
        self._turn = 0
        self._remarked = ""
        """Id of the reply whose calls earned the remark; "" while none did."""

    async def after(self, call: ToolCall, result: ToolResult) -> list[str]:
        """What is added to the result of a call: the remark, or what the person says to it."""
        if self._turn != self._view.turn or call.name in self._polling:
            self._turn, self._seen, self._remarked = self._view.turn, [], ""
        if call.name in self._polling:
            return []
        self._seen = [*self._seen, _print(call, result)][-2 * TIMES :]
        if not self._looping():
            self._remarked = ""
            return []
        if not self._remarked:
            return self._remark(call)
        # Calls of the reply that earned the remark were made before the model could read it.
        return [] if self._remarked == self._reply() else await self._ask(call)

    def _remark(self, call: ToolCall) -> list[str]:
        if self._ui.interactive:
            self._remarked = self._reply()
        else:
            self._seen = []
        return [
            f"[You have made this call to {call.name} {TIMES} times with the same result. Another time will not "
            "differ: try something else, or say what stands in the way.]"
        ]

    def _reply(self) -> str:
        entries = reversed(self._view.entries)
        return next((entry.id for entry in entries if isinstance(entry.message, AssistantMessage)), "")

    def _looping(self) -> bool:
        """Whether the newest call came `TIMES` times with the same result, alone or in turn with one other."""
        for period in _PERIODS:
            newest = self._seen[-(period * (TIMES - 1) + 1) :]
            whole = len(newest) == period * (TIMES - 1) + 1
            if whole and all(newest[at] == newest[at % period] for at in range(len(newest))):
                return True
        return False

    async def _ask(self, call: ToolCall) -> list[str]:
        self._seen, self._remarked = [], ""
        title = f"The model repeats itself: {self._title(call)}"
        answer = await self._ui.ask(Question(title, _CHOICES, detail="The same result came each time."))
        if answer.key == "tell" and answer.text.strip():
            return [f'[The user stepped in because you repeat yourself: "{answer.text.strip()}"]']
        if answer.key != "go":
            self._stop()
        return []


def _print(call: ToolCall, result: ToolResult) -> bytes:
    """Equal for calls that ask the same and are answered the same, however long they took."""
    try:
        asked = json.dumps(json.loads(call.arguments, strict=False), sort_keys=True)
    except (ValueError, RecursionError):
        asked = call.arguments
    told = _DURATION.sub("", result.text)
    return sha256("\0".join((call.name, asked, told)).encode("utf-8", "replace")).digest()
