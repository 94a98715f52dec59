"""Putting task memory together: its files, its log, its lock, the hooks, and who keeps it before the model (L5)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from codeagent.agent.task import TaskKeeper
from codeagent.agent.tattoo import TattooWatch
from codeagent.core.events import Notice
from codeagent.core.jobs import Jobs
from codeagent.core.paths import FOLDER, TATTOO, Home, Project
from codeagent.core.tokens import ContextBudget
from codeagent.core.ui import UI
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
from codeagent.safety.veil import Veil
from codeagent.settings import Settings, Trust
from codeagent.toolkit import child_environ
from codeagent.tools.toolbox import Toolbox


class Bench(Protocol):
    """What tools run with."""

    @property
    def toolbox(self) -> Toolbox: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def veil(self) -> Veil: ...


def tattoo_rules(home: Home) -> tuple[Rule, ...]:
    """Hard constraints are the person's: the model adds to them by update_task alone, which asks in every mode."""
    mine = re.sub(r"([\[\]*?!#\\ ])", r"\\\1", os.path.realpath(home.tattoo))
    return Rule("edit_file", f"**/{FOLDER}/memory/{TATTOO}"), Rule("edit_file", mine)


def make_task_memory(
    options: Options, project: Project, settings: Settings, budget: ContextBudget, now: Callable[[], datetime]
) -> TaskMemory:
    files = TaskFiles(options.home, project, take, room=budget.static)
    versions = Versions(project.top, project.folder / "memory", options.environ)
    return TaskMemory(files, Audit(project, now), versions, now, commit=settings.memory.git_commit)


def make_task_keeper(
    options: Options,
    project: Project,
    settings: Settings,
    task: TaskMemory,
    history: History,
    meter: TokenMeter,
    bench: Bench,
    ui: UI,
    notices: list[Notice],
) -> TaskKeeper:
    """`notices` is where the keeper's notices are put."""
    trust = Trust(options.home)
    return TaskKeeper(
        task,
        Hooks(
            project,
            child_environ(options.environ, settings),
            lambda: not options.safe_mode and trust.state(project) == "trusted",
            bench.veil.archive(SessionArchive(history.path)),
        ),
        history,
        meter,
        TattooWatch(task.guarded, ui, lambda: _lingering(bench.jobs), notices.append),
        notices.append,
        kind=lambda name: tool.kind if (tool := bench.toolbox.get(name)) else None,
        reload_every=settings.task_memory.reload_every,
        remind=settings.task_memory.remind,
    )


def _lingering(jobs: Jobs) -> bool:
    """Whether anything that a command started is still running."""
    return any(job.code is None or job.lingers for _, job in jobs.kept())


def take(path: Path) -> Lock | int:
    """The lock of task memory, or the number of the process that has it."""
    try:
        return Lock(path)
    except Held as held:
        return held.pid or 0
