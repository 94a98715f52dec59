"""Shared by the tests of this folder: a session with somebody else's server."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from codeagent.app import House, open_desk
from codeagent.core.paths import Home
from codeagent.options import Options
from tests.agent._world import Person


async def opened(root: Path, base_url: str, config: str = "") -> House:
    home, top = Home(root / "home"), root / "shop"
    top.mkdir()
    (top / "a.py").write_text("x = 1\n")
    home.root.mkdir(0o700)
    home.config.write_text(f'model = "m"\nbase_url = "{base_url}"\ncontext_window = 32000\n{config}')
    environ = {"PATH": os.environ["PATH"], "CODEAGENT_HOME": str(home.root)}
    return await open_desk(replace(Options(cwd=top, home=home, environ=environ), permission_mode="yolo"), Person())
