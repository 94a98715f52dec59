"""What a command in the sandbox may do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codeagent.safety.places import inside


@dataclass(frozen=True, slots=True)
class Policy:
    """All paths are real ones. What is not named may be read, and not written."""

    writable: tuple[Path, ...]
    """Folders, with all below them, and files."""
    devices: tuple[Path, ...] = ()
    """Devices, and folders of devices, that may be opened for writing."""
    hidden: tuple[Path, ...] = ()
    """Folders of which nothing can be read; none is inside of what may be written."""
    shown: tuple[Path, ...] = ()
    """What in hidden folders may be read nevertheless."""
    network: bool = True
    """Other machines, and this one by its network, can be reached."""
    local: bool = True
    """Programs that listen on a socket in the file system can be reached."""

    def writes(self, path: Path) -> bool:
        return inside(path, self.writable) or inside(path, self.devices)

    def reads(self, path: Path) -> bool:
        return not inside(path, self.hidden) or inside(path, self.shown)
