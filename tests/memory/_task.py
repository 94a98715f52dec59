"""Task memory in a folder: its files, its log, and a lock that this process may hold or not."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from codeagent.core.paths import Home, Project
from codeagent.memory.audit import Audit
from codeagent.memory.digest import ROOM
from codeagent.memory.task import TaskMemory
from codeagent.memory.taskfiles import Hold, TaskFiles
from codeagent.memory.versions import Versions
from tests.memory._world import Clock


class Free:
    """A lock that nobody else wants."""

    def release(self) -> None:
        pass


def free(path: Path) -> Hold | int:
    return Free()


def task_memory(
    top: Path,
    home: Path,
    *,
    now: Callable[[], datetime] | None = None,
    take: Callable[[Path], Hold | int] = free,
    commit: bool = False,
    room: int = ROOM,
) -> TaskMemory:
    project, now = Project(top, top, top), now or Clock()
    versions = Versions(top, project.folder / "memory", dict(os.environ))
    return TaskMemory(
        TaskFiles(Home(home), project, take, room=room), Audit(project, now), versions, now, commit=commit
    )
