"""When to try again what has failed."""

from __future__ import annotations

FAILURES = 3
"""After so many failures in a row attempts become rare (MEMORY.md 4)."""


class Breaker:
    """After three failures in a row one attempt at every `retry_after`th check (0 or 1: at every check)."""

    def __init__(self, retry_after: int = 10) -> None:
        self._retry_after = retry_after
        self._failures = 0
        self._rest = 0

    def ready(self) -> bool:
        """Whether to try now; a check that says no brings the next attempt nearer."""
        if self._rest > 0:
            self._rest -= 1
            return False
        return True

    def failed(self) -> None:
        self._failures += 1
        self._rest = max(0, self._retry_after - 1) if self._failures >= FAILURES else 0

    def succeeded(self) -> None:
        self._failures = 0
