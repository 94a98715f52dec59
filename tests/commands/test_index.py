"""/index, and the symbol map in a session's prompt."""

from __future__ import annotations

import os
from pathlib import Path

from codeagent.core.ui import Table
from codeagent.llm.providers.scripted import say
from tests.commands.conftest import Sit


def fill(tmp_path: Path) -> None:
    top = tmp_path / "项目"
    (top / "store.py").write_text("class Store:\n    # 仓库\n    def read_all(self):\n        return []\n")
    (top / "user.py").write_text("from store import Store\n\nStore().read_all()\n")


async def test_the_index_is_built_searched_and_shown(sit: Sit, tmp_path: Path) -> None:
    table = await sit(environ={"PATH": os.environ["PATH"], "CODEAGENT_INDEX__VECTORS": "false"})
    fill(tmp_path)
    assert await table.told("/index build") == ["Indexed 2 files, forgot 0; the index is up to date."]
    assert await table.told("/index build") == ["The index is up to date."]
    assert await table.shown("/index search 仓库") == [
        Table(("where", "kind", "what", "line"), (("store.py:2", "method", "Store.read_all", "# 仓库"),))
    ]
    assert await table.told("/index search zebra") == ["Nothing was found for “zebra”."]
    assert await table.told("/index map") == ["store.py\n  1: class Store:\n    3: def read_all(self):"]
    (status,) = await table.shown("/index")
    assert isinstance(status, Table)
    assert dict(status.rows)["files"] == "2"


async def test_nonsense_is_told_what_there_is(sit: Sit) -> None:
    table = await sit()
    for line in ("/index nonsense", "/index search"):
        assert await table.told(line) == ["Say /index, /index build, /index search <words>, or /index map."]


async def test_an_empty_project_has_no_map(sit: Sit) -> None:
    table = await sit()
    assert await table.told("/index map") == ["There are no definitions in the index."]


async def test_a_session_begins_with_the_map_where_that_is_set(sit: Sit, tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "config.toml").write_text("[index]\nmap = 500\n")
    first = await sit(say("One."))
    await first.type("hello")
    await first.type("/index build")
    second = await sit(say("Two."))
    await second.type("hello")
    prompts = [table.session.history.prompt.system for table in (first, second)]
    assert ["  1: class Store:" in prompt for prompt in prompts] == [False, True]
    shares = [[row[0] for row in (await table.shown("/context"))[0].rows] for table in (first, second)]  # type: ignore[union-attr]
    assert ["map of the code" in names for names in shares] == [False, True]


async def test_without_it_the_index_is_not_even_opened(sit: Sit, tmp_path: Path) -> None:
    table = await sit(say("One."))
    await table.type("hello")
    assert not (tmp_path / "home" / "rag").exists()
