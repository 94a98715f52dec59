"""What the terminal is, as the composition root tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Look:
    """Everything the first draw needs."""

    cwd: Path
    """The working folder, shown and searched for files."""
    history: Path | None = None
    """File of what was typed in this project; None keeps nothing."""
    version: str = ""
    model: str = ""
    """The model's name as far as it is known before the session is open."""
    home: Path | None = None
    """Shown as ~."""
    theme: str = "default"
    vim: bool = False
    status_line: bool = True
    notify: str = "bell"
    """How the person is called who is elsewhere: "bell", "desktop"; anything else does not."""
    away: float = 10.0
    """Seconds without a key after which they are elsewhere."""
    editor: tuple[str, ...] = ("vi",)
    """Command line of the editor, without the file."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The environment: TERM, NO_COLOR, and what the editor is started with."""

    @property
    def dumb(self) -> bool:
        return self.environ.get("TERM", "dumb") in ("dumb", "unknown", "")

    @property
    def colour(self) -> bool:
        return not self.environ.get("NO_COLOR")

    @property
    def folder(self) -> str:
        """The working folder, short."""
        if self.home is not None and self.cwd.is_relative_to(self.home):
            return str(Path("~") / self.cwd.relative_to(self.home))
        return str(self.cwd)
