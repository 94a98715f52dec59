"""What tools are handed that is not the session's own, and which of them are offered (L5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.codebase.index import ProjectCode
from codeagent.connection import Connection
from codeagent.core.messages import scrub
from codeagent.core.paths import Home
from codeagent.core.ports import Checkpoints, Permission
from codeagent.core.todo import Todo
from codeagent.core.tokens import ContextBudget
from codeagent.core.tools import ROOM
from codeagent.core.web import Web
from codeagent.history.history import History
from codeagent.history.latest import last_call
from codeagent.llm import presets
from codeagent.settings import Settings
from codeagent.settings.schema import WebSettings
from codeagent.text.terms import Words
from codeagent.tools.builtin import todo
from codeagent.tools.checks import Checks
from codeagent.tools.encodings import decode
from codeagent.tools.todos import TodoList
from codeagent.tools.toolbox import Toolbox, builtin_tools
from codeagent.tools.walking import list_files, ripgrep
from codeagent.tools.web.client import WebClient
from codeagent.tools.web.engine import engine_keys, find_engine

Tokens = Callable[[str], int]

NEEDED = (
    "read_file", "write_file", "edit_file", "apply_patch", "grep", "shell", "shell_job", "recall", "save_memory",
    "exit_plan",
)  # fmt: skip
"""Tools that are offered in the smallest of windows, too."""
_BYTES = 3
"""Of a token, in code and in what commands print."""


def make_web(settings: WebSettings, environ: Mapping[str, str]) -> WebClient:
    return WebClient(environ, private=settings.private, engine=find_engine(environ, settings.search))


def child_environ(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """What commands and hooks are handed: without the keys that are ours, but for those the settings pass on."""
    ours = {*presets.key_names(), *engine_keys(), *(provider.api_key_env for provider in settings.providers)}
    ours -= set(settings.secrets.pass_env)
    return {name: value for name, value in environ.items() if name not in ours}


def make_toolbox(
    settings: Settings, permissions: Permission, web: Web, checkpoints: Checkpoints | None = None
) -> Toolbox:
    """All tools but those that lack what they need."""
    wanted = settings.tools.checks
    checks = None if wanted is False else Checks(wanted if isinstance(wanted, dict) else {})
    box = Toolbox(builtin_tools(), permissions, checks, checkpoints)
    return box if web.engine else box.without("web_search")


def suited(toolbox: Toolbox, connection: Connection) -> Toolbox:
    """The toolbox for a model that changes files by patches, or by passages; for a small window the tools that no work
    goes without, in few words."""
    toolbox = toolbox.without("edit_file" if connection.patches else "apply_patch")
    return toolbox.terse(NEEDED) if connection.model.budget.cramped else toolbox


def room(budget: ContextBudget) -> int:
    """Bytes that a tool result may take."""
    return min(ROOM, _BYTES * budget.result)


def make_code(
    home: Home, roots: tuple[Path, ...], environ: Mapping[str, str], words: Words, tokens: Tokens, overview: int = 0
) -> ProjectCode:
    """The index of the code below `roots`, the project's top first; `tokens` estimates a text, and `overview` is how
    many of them the symbol map in the prompt may take.
    """
    roots = tuple(root.resolve() for root in roots)
    here = _Surroundings(roots, environ)

    async def listing(root: Path) -> Sequence[str]:
        return await list_files(root, here, ripgrep(environ))

    def text(data: bytes) -> str | None:
        decoded = decode(data)
        return scrub(decoded[0]) if decoded else None

    return ProjectCode(home.code, roots, listing, text, words, tokens, overview=overview)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    roots: tuple[Path, ...]
    environ: Mapping[str, str]


def make_todos(history: History) -> TodoList:
    """The list as it stood at the end of the session so far."""

    def stored() -> tuple[Todo, ...]:
        arguments = last_call(history.path, todo.TOOL.name)
        return (arguments and todo.read_items(arguments)) or ()

    return TodoList(stored)
