"""Putting task memory together: its files, its log, its lock, the hooks, and who keeps it before the model (L5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from codeagent.agent.task import TaskKeeper
from codeagent.core.events import Notice
from codeagent.core.paths import FOLDER, Project
from codeagent.extensions.hooks import Hooks
from codeagent.history.archive import SessionArchive
from codeagent.history.history import History
from codeagent.history.lock import Held, Lock
from codeagent.memory.audit import Audit
from codeagent.memory.meter import TokenMeter
from codeagent.memory.task import TaskMemory
from codeagent.memory.taskfiles import TaskFiles
from codeagent.memory.versions import Versions
from codeagent.options import Options
from codeagent.safety.rules import Rule
from codeagent.settings import Settings, Trust
from codeagent.tools.toolbox import Toolbox

TATTOO = Rule("edit_file", f"**/{FOLDER}/memory/tattoo.md")
"""Hard constraints are the person's: the model adds to them by update_task alone, which asks in every mode."""


def make_task_memory(options: Options, project: Project, settings: Settings, now: Callable[[], datetime]) -> TaskMemory:
    files = TaskFiles(options.home, project, _take)
    versions = Versions(project.top, project.folder / "memory", options.environ)
    return TaskMemory(files, Audit(project, now), versions, now, commit=settings.memory.git_commit)


def make_task_keeper(
    options: Options,
    project: Project,
    settings: Settings,
    task: TaskMemory,
    history: History,
    meter: TokenMeter,
    toolbox: Toolbox,
    notices: list[Notice],
) -> TaskKeeper:
    """`notices` is where the keeper's notices are put."""
    trust = Trust(options.home)
    return TaskKeeper(
        task,
        Hooks(
            project,
            options.environ,
            lambda: not options.safe_mode and trust.state(project) == "trusted",
            SessionArchive(history.path),
        ),
        history,
        meter,
        notices.append,
        edits=lambda name: (tool := toolbox.get(name)) is not None and tool.kind == "edit",
        reload_every=settings.task_memory.reload_every,
        remind=settings.task_memory.remind,
    )


def _take(path: Path) -> Lock | int:
    try:
        return Lock(path)
    except Held as held:
        return held.pid or 0
