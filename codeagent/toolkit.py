"""What tools are handed that is not the session's own, and which of them are offered (L5)."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.core.ports import Permission
from codeagent.core.todo import Todo
from codeagent.core.web import Web
from codeagent.history.history import History
from codeagent.history.latest import last_call
from codeagent.settings import Settings
from codeagent.settings.schema import WebSettings
from codeagent.tools.builtin import todo
from codeagent.tools.checks import Checks
from codeagent.tools.todos import TodoList
from codeagent.tools.toolbox import Toolbox, builtin_tools
from codeagent.tools.web.client import WebClient
from codeagent.tools.web.engine import find_engine


def make_web(settings: WebSettings, environ: Mapping[str, str]) -> WebClient:
    return WebClient(environ, private=settings.private, engine=find_engine(environ, settings.search))


def make_toolbox(settings: Settings, permissions: Permission, web: Web) -> Toolbox:
    """All tools but those that lack what they need."""
    wanted = settings.tools.checks
    checks = None if wanted is False else Checks(wanted if isinstance(wanted, dict) else {})
    box = Toolbox(builtin_tools(), permissions, checks)
    return box if web.engine else box.without("web_search")


def suited(toolbox: Toolbox, patches: bool) -> Toolbox:
    """The toolbox for a model that changes files by patches, or by passages."""
    return toolbox.without("edit_file" if patches else "apply_patch")


def make_todos(history: History) -> TodoList:
    """The list as it stood at the end of the session so far."""

    def stored() -> tuple[Todo, ...]:
        arguments = last_call(history.path, todo.TOOL.name)
        return (arguments and todo.read_items(arguments)) or ()

    return TodoList(stored)
