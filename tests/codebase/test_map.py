"""The symbol map: what the rest of the code refers to, within its tokens."""

from __future__ import annotations

from codeagent.codebase.mentions import mentioned, number, unpacked
from tests.codebase.ground import Ground

CORE = '''class Store:
    def read_all(self):
        return []

    def _hidden_part(self):
        return 1


def open_store(path):
    """Say text, Helper."""
    return Store()


def text():
    return ""


class Helper:
    pass
'''
USER = """from core import Store, open_store

# Helper and unused_thing are only talked about
store: Store = open_store("Helper text unused_thing")
text = store.read_all()
"""


def fill(ground: Ground) -> None:
    ground.write("core.py", CORE)
    for number_ in range(4):
        ground.write(f"user{number_}.py", USER)
    ground.write("other.py", "def unused_thing():\n    return unused_thing\n")
    ground.write("tests/test_core.py", "def make_store():\n    return Store()\n\n\nmake_store()\n")


async def test_the_map_names_what_others_refer_to(ground: Ground) -> None:
    fill(ground)
    assert await ground.code().map(1_000) == (
        "core.py\n  1: class Store:\n    2: def read_all(self):\n  9: def open_store(path):"
    )


async def test_the_map_keeps_within_its_tokens(ground: Ground) -> None:
    fill(ground)
    code = ground.code()
    maps = {tokens: await code.map(tokens) for tokens in range(1, 30)}
    assert all(len(text) // 4 <= tokens for tokens, text in maps.items())
    assert (maps[1], maps[6], maps[29]) == ("", "core.py\n  1: class Store:", await code.map(1_000))


async def test_nothing_to_show_is_no_map(ground: Ground) -> None:
    ground.write("README.md", "# Words\n")
    assert await ground.code().map(1_000) == ""


async def test_a_prompt_begins_with_what_the_index_holds_already(ground: Ground) -> None:
    fill(ground)
    first = ground.code(overview=1_000)
    await first.prepare(500)
    await first.build()  # waits for what has begun behind
    second, small, off = ground.code(overview=1_000), ground.code(overview=1_000), ground.code()
    await second.prepare(500)
    await small.prepare(6)
    await off.prepare(500)
    assert (first.overview, second.overview) == ("", await second.map(500))
    assert (small.overview, off.overview) == ("core.py\n  1: class Store:", "")


async def test_without_the_map_nothing_is_opened(ground: Ground) -> None:
    await ground.code().prepare(500)
    assert not ground.home.code.exists()


async def test_a_session_begins_without_the_map_when_the_index_cannot_be_used(ground: Ground) -> None:
    ground.home.code.mkdir(parents=True)
    code = ground.code(overview=1_000)
    await code.prepare(500)
    assert code.overview == ""


def test_names_in_code_are_mentioned_and_those_in_prose_are_not() -> None:
    text = (
        '"""Docs of Alpha."""\nimport beta  # Gamma\nx = Delta + epsilon(1)\ny = a.zeta\nprose = "Eta theta()"\n'
        "/* Iota */ kappa_lambda = 1 // Mu\nplain = Nu\n变量 = 函数名(1)\n"
    )
    said = set(unpacked(mentioned(text)))
    found = {
        name for name in ["Alpha", "Gamma", "Eta", "theta", "Iota", "Mu", "plain", "prose"] if number(name) in said
    }
    missing = {
        name for name in ["beta", "Delta", "epsilon", "zeta", "kappa_lambda", "函数名"] if number(name) not in said
    }
    assert (found, missing, list(unpacked(b""))) == (set(), set(), [])
