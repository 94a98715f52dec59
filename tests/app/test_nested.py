"""Instructions of a nested folder in a session that goes on, over a real socket."""

from __future__ import annotations

import os
from pathlib import Path

from codeagent.app import House, open_desk
from codeagent.core.messages import ToolMessage
from codeagent.core.paths import Home
from codeagent.llm.providers.scripted import Step, call, say
from codeagent.options import Options
from tests.agent._world import Person, events
from tests.server.endpoint import Recorded, ScriptedEndpoint


def answer(request: Recorded) -> Step:
    """Reads the file for each message of the user, then is done."""
    if request.messages[-1]["role"] == "tool":
        return say("Read.")
    return call("read_file", path="api/a.py")


async def opened(root: Path, server: ScriptedEndpoint, *, again: bool) -> House:
    home = Home(root / "home")
    home.root.mkdir(exist_ok=True)
    home.config.write_text(f'model = "main"\nbase_url = "{server.base_url}"\ncontext_window = 32000\n')
    environ = {"PATH": os.environ["PATH"], "CODEAGENT_HOME": str(home.root)}
    return await open_desk(Options(cwd=root / "shop", home=home, environ=environ, newest=again), Person())


async def test_a_session_that_goes_on_does_not_send_them_a_second_time(tmp_path: Path) -> None:
    api = tmp_path / "shop" / "api"
    api.mkdir(parents=True)
    (api / "a.py").write_text("x = 1\n")
    (api / "CODEAGENT.md").write_text("Rule of the api.\n")
    with ScriptedEndpoint(answer) as server:
        for again in (False, True):
            desk = await opened(tmp_path, server, again=again)
            await events(desk.session.run_turn("Read it."))
            entries = list(desk.session.history.entries)
            await desk.session.aclose()
    results = [entry.message.text for entry in entries if isinstance(entry.message, ToolMessage)]
    assert ["Rule of the api." in text for text in results] == [True, False]
