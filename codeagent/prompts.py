"""The system prompt of a session, put together of what its parts have to say (L5)."""

from __future__ import annotations

import platform
from datetime import datetime

from codeagent.core.entries import Prompt
from codeagent.core.paths import Project
from codeagent.core.sections import Section
from codeagent.extensions.agents import AgentFiles
from codeagent.memory.manager import MemoryManager
from codeagent.options import Options
from codeagent.prompting.prompt import (
    Environment,
    agents_section,
    build_prompt,
    changed_section,
    environment_section,
    overview_section,
    system_section,
)
from codeagent.tools.files import FileLedger
from codeagent.tools.todos import TodoList, todo_section
from codeagent.tools.toolbox import Toolbox
from codeagent.workspace import git_state

APPENDED = 50
"""Order of what --append-system-prompt adds: behind the standing instructions, before the project's."""


def make_prompt(
    options: Options,
    project: Project,
    memory: MemoryManager,
    files: FileLedger,
    todos: TodoList,
    agents: AgentFiles,
    toolbox: Toolbox,
    said: str,
    overview: str,
    *,
    terse: bool,
) -> Prompt:
    """The prompt as of now, for a request that begins with `said`; `overview` is the symbol map, "" for none;
    `terse` says how the agent works in few words."""
    own, added = options.system_prompt, options.append_system_prompt
    sections = [
        memory.task.section(),
        Section("system", own, order=0) if own is not None else system_section(terse=terse),
        Section("appended", added, order=APPENDED) if added else None,
        memory.project_section(),
        agents_section(agents.load().values() if "task" in toolbox.names else ()),
        overview_section(overview),
        environment_section(environment_of(project)),
        memory.facts_section(said),
        changed_section(files.changed()),
        todo_section(todos.items),
    ]
    return Prompt(build_prompt(sections), toolbox.schemas, memory.task.digest)


def environment_of(project: Project) -> Environment:
    """Where a conversation takes place, as it is now."""
    git = git_state(project)
    return Environment(
        cwd=project.cwd,
        top=project.top,
        platform=f"{platform.system()} {platform.release()}",
        today=datetime.now().date(),
        branch=git.branch if git else "",
        head=git.head if git else "",
        repository=git is not None,
    )
