"""Regular expressions that are compiled when they are first used: together the large ones cost a start 50 ms."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        value = getattr(self._compiled, name)
        setattr(self, name, value)  # from now on without this detour
        return value


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, made at its first use; a fault in it shows only then, so that each has to be tested."""
    return cast("re.Pattern[str]", _Late(pattern, flags))
