"""Servers that cut a prompt to their window without a word: the count they report stays where it was."""

from __future__ import annotations

from codeagent.core.entries import Usage
from codeagent.core.events import Notice

WORTH = 300
"""Tokens that were added; of fewer the estimate says little."""
SHARE = 0.2
"""Of what was added, at least so much must be counted."""
TIMES = 2
"""Requests in a row after which it is no accident."""


class CutWatch:
    """Compares what was sent with what was counted, and says once that the two do not fit."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._doubtful = 0

    def look(self, before: Usage | None, estimated: int, usage: Usage) -> tuple[Notice, ...]:
        """What is to be said after a request of `estimated` tokens, the one before having been counted as `before`.

        Endpoints that count cached tokens apart report fewer than were sent: what is all cached tells nothing.
        """
        if before is None or usage.cached_tokens >= usage.prompt_tokens:
            return ()
        added, grown = estimated - before.prompt_tokens, usage.prompt_tokens - before.prompt_tokens
        if added < WORTH:
            return ()
        self._doubtful = self._doubtful + 1 if grown < SHARE * added else 0
        if self._doubtful != TIMES:
            return ()
        sentence = (
            "The server of {model} counts {counted:,} tokens however much is sent: it seems to cut the conversation "
            "to its window. Give it a larger one (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH); codeagent doctor shows it."
        )
        return (Notice(sentence, {"model": self._model, "counted": usage.prompt_tokens}, "warning"),)
