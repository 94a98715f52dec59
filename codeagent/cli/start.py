"""Open the REPL: draw first, load the heavy parts behind it. Imports nothing slow, for it is the bare start."""

from __future__ import annotations

import asyncio
import importlib
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codeagent import __version__
from codeagent.cli.output import say
from codeagent.cli.peek import Peek, peek
from codeagent.core.paths import Project
from codeagent.core.ui import UI
from codeagent.llm import presets
from codeagent.options import Options
from codeagent.ui.look import Look
from codeagent.ui.repl import run_repl
from codeagent.ui.rows import text_of, wrap_text
from codeagent.workspace import find_project

NOT_CONFIGURED = 2


def start_repl(options: Options) -> int:
    """Converse until the person leaves; returns the exit code."""
    project = find_project(options.cwd)
    known = peek(options, project)
    if not known.configured and not asyncio.run(presets.find_local()):
        code = _offer(options)
        if code is not None:
            return code

    async def open_desk(ui: UI) -> Any:
        app = await asyncio.to_thread(importlib.import_module, "codeagent.app")
        return await app.open_desk(options, ui)

    return asyncio.run(run_repl(open_desk, _look(options, project, known), options.text))


EXPLANATION = (
    "No model is configured yet, and no local server (Ollama, llama.cpp, LM Studio, vLLM) answers.",
    "Set a provider's key (OPENAI_API_KEY, DEEPSEEK_API_KEY, DASHSCOPE_API_KEY, MOONSHOT_API_KEY, …),",
    "or OPENAI_BASE_URL for an endpoint of your own, or let `codeagent setup` ask for them.",
)


def _offer(options: Options) -> int | None:
    """Explain, and let the person choose; None when things are set up now, else the exit code."""
    columns = shutil.get_terminal_size().columns - 1
    for line in EXPLANATION:
        say(text_of(wrap_text(line, columns)))
    choice = ""
    while choice not in {"1", "2", "3"}:
        say("  1  set up now\n  2  see a demonstration, without a model\n  3  leave")
        try:
            choice = input("› ").strip()
        except EOFError:
            choice = "3"
    if choice == "2":
        from codeagent.cli import demo

        return demo.show(options)
    if choice != "1":
        return NOT_CONFIGURED
    from codeagent.cli.setup import ask_and_write

    ask_and_write(options)
    return None


def _look(options: Options, project: Project, known: Peek) -> Look:
    return Look(
        cwd=options.cwd,
        history=options.home.history / project.id / "typed.txt",
        version=__version__,
        model=known.model,
        home=Path.home(),
        theme=known.theme,
        vim=known.vim,
        status_line=known.status_line,
        notify=known.notify,
        editor=editor(options.environ),
        environ=options.environ,
    )


def editor(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The command line of the person's editor."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError:
            continue
        if words:
            return tuple(words)
    return ("notepad",) if sys.platform == "win32" else ("vi",)
