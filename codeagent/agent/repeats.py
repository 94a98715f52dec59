"""The loop guard: calls that repeat with the same results are pointed out to the model, then put to the person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from hashlib import sha256

from codeagent.core.messages import ToolCall
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
        turn: Callable[[], int],
        title: Callable[[ToolCall], str],
        stop: Callable[[], None],
        *,
        polling: Collection[str] = (),
    ) -> None:
        """`turn` numbers the user turns, `stop` ends the running one; the tools in `polling` may repeat at will."""
        self._ui = ui
        self._turn = turn
        self._title = title
        self._stop = stop
        self._polling = polling
        self._seen: list[bytes] = []
        self._of = -1
        self._warned = False

    async def after(self, call: ToolCall, result: ToolResult) -> list[str]:
        """What is added to the result of a call: the remark, or what the person says to it."""
        if self._of != self._turn():
            self._of, self._seen, self._warned = self._turn(), [], False
        if call.name in self._polling:
            self._seen = []
            return []
        self._seen = [*self._seen, _print(call, result)][-2 * TIMES :]
        if not self._looping():
            self._warned = False
            return []
        if not self._warned:
            self._warned = self._ui.interactive
            if not self._ui.interactive:
                self._seen = []
            return [_remark(call)]
        return await self._ask(call)

    def _looping(self) -> bool:
        """Whether the newest call came `TIMES` times with the same result, alone or in turn with one other."""
        for period in _PERIODS:
            newest = self._seen[-(period * (TIMES - 1) + 1) :]
            whole = len(newest) == period * (TIMES - 1) + 1
            if whole and all(newest[at] == newest[at % period] for at in range(len(newest))):
                return True
        return False

    async def _ask(self, call: ToolCall) -> list[str]:
        self._seen, self._warned = [], False
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


def _remark(call: ToolCall) -> str:
    return (
        f"[You have made this call to {call.name} {TIMES} times with the same result. Another time will not differ: "
        "try something else, or say what stands in the way.]"
    )
