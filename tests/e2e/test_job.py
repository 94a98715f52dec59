"""The main job on a real repository: find a fault, mend it, prove it, and leave a true account behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.llm.providers.scripted import Step, call, say
from tests.e2e.program import Program, whole_lines
from tests.server.endpoint import ScriptedEndpoint

PRICES = '''"""Prices in cents."""


def total(prices: list[int], discount: int) -> int:
    """The sum less `discount` percent, rounded down."""
    return sum(prices) * (100 + discount) // 100
'''
CART = """from shop.prices import total


class Cart:
    def __init__(self) -> None:
        self.prices: list[int] = []

    def add(self, price: int) -> None:
        self.prices.append(price)

    def sum(self, discount: int = 0) -> int:
        return total(self.prices, discount)
"""
TESTS = """import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_discount(self) -> None:
        cart = Cart()
        cart.add(1000)
        self.assertEqual(cart.sum(discount=10), 900)

    def test_plain(self) -> None:
        cart = Cart()
        cart.add(250)
        cart.add(50)
        self.assertEqual(cart.sum(), 300)


if __name__ == "__main__":
    unittest.main()
"""
RUN_TESTS = f"{sys.executable} -B -m unittest discover -q"


def git(folder: Path, *argv: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", *argv], cwd=folder, env=environ, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """In a repository whose discount is added instead of taken off."""
    top = tmp_path / "商店"
    (top / "shop").mkdir(parents=True)
    (top / "shop" / "__init__.py").write_text("")
    (top / "shop" / "prices.py").write_text(PRICES)
    (top / "shop" / "cart.py").write_text(CART)
    (top / "test_cart.py").write_text(TESTS)
    (top / "说明.txt").write_bytes("折扣：打九折\r\n中文说明。\r\n".encode("gbk"))
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-qm", "a shop")
    return Program(top, tmp_path)


MEND = [
    call("shell", command=RUN_TESTS),
    call("grep", pattern="discount", glob="*.py", mode="content"),
    call("read_file", path="shop/prices.py"),
    call("edit_file", path="shop/prices.py", old_string="(100 + discount)", new_string="(100 - discount)"),
    call("shell", command=RUN_TESTS),
    say("The discount was added; it is taken off now, and both tests pass."),
]


def results(server: ScriptedEndpoint) -> list[str]:
    """What the tools answered, as the model read it in the last request."""
    return [message["content"] for message in server.requests[-1].messages if message["role"] == "tool"]


def test_a_fault_is_found_mended_and_proved(program: Program) -> None:
    with ScriptedEndpoint(MEND) as server:
        code, result = program.run(server, "-y", "-p", "the cart test fails: mend it")
    assert (code, result["subtype"], result["num_turns"]) == (0, "success", 6)
    assert result["result"] == "The discount was added; it is taken off now, and both tests pass."
    assert (server.leftover, result["permission_denials"]) == ([], [])
    before, found, read, _, after = results(server)
    assert "AssertionError: 1100 != 900" in before and before.endswith("[exit 1]")
    assert "shop/prices.py" in found
    assert "6\t    return sum(prices) * (100 + discount) // 100" in read
    assert "OK" in after and after.endswith("[exit 0]")
    assert git(program.folder, "status", "--porcelain") == " M shop/prices.py\n"
    assert (program.folder / "shop" / "prices.py").read_text() == PRICES.replace("100 + discount", "100 - discount")


def test_the_journal_tells_all_of_it(program: Program) -> None:
    with ScriptedEndpoint(MEND) as server:
        _, result = program.run(server, "-y", "-p", "the cart test fails: mend it")
    (session,) = program.sessions
    assert session.stem == result["session_id"]
    lines = list(whole_lines(session.read_bytes()))
    kinds = ["session", "prompt", "message", *["message", "usage", "message"] * 5, "message", "usage"]
    assert [line["type"] for line in lines if line["type"] != "checkpoint"] == kinds
    kept = [line["message"] for line in lines if line["type"] == "message"]
    assert kept[:-1] == server.requests[-1].messages[1:]
    assert kept[-1] == {"role": "assistant", "content": result["result"]}
    (prompt,) = [line for line in lines if line["type"] == "prompt"]
    assert prompt["system"] == server.requests[0].messages[0]["content"]
    assert prompt["tools"] == server.requests[0].json["tools"]
    failed = [line["failed"] for line in lines if line["type"] == "message" and line["origin"] == "tool"]
    assert failed == [True, False, False, False, False]
    usage = [line for line in lines if line["type"] == "usage"]
    assert sum(line["prompt_tokens"] for line in usage) == result["usage"]["prompt_tokens"]


def test_the_next_day_it_goes_on(program: Program) -> None:
    with ScriptedEndpoint([*MEND, call("shell", command="git diff --stat"), say("One line.")]) as server:
        program.run(server, "-y", "-p", "the cart test fails: mend it")
        code, result = program.run(server, "-y", "-c", "-p", "what did you change?")
    assert (code, result["result"]) == (0, "One line.")
    texts = [message["content"] for message in server.requests[-1].messages if message["role"] == "user"]
    assert texts == ["the cart test fails: mend it", "what did you change?"]
    assert "shop/prices.py | 2 +-" in results(server)[-1]
    assert len(program.sessions) == 1


def test_without_a_terminal_what_needs_a_yes_is_denied_and_listed(program: Program) -> None:
    edit, remove = MEND[3], call("shell", command="rm -r shop")
    with ScriptedEndpoint([MEND[1], MEND[2], edit, remove, say("I may not.")]) as server:
        code, result = program.run(server, "-p", "mend it")
    assert (code, result["result"]) == (0, "I may not.")
    denied = [(denial["tool"], denial["subject"]) for denial in result["permission_denials"]]
    assert denied == [("edit_file", str(program.folder / "shop" / "prices.py")), ("shell", "rm -r shop")]
    found, read, *_ = results(server)
    assert "shop/prices.py" in found and "(100 + discount)" in read
    assert git(program.folder, "status", "--porcelain") == ""


def edits(old: str, new: str) -> list[Step]:
    return [
        call("glob", pattern="*.txt"),
        call("grep", pattern="中文", path="说明.txt"),
        call("read_file", path="说明.txt"),
        call("edit_file", path="说明.txt", old_string=old, new_string=new),
        say("改好了。"),
    ]


def test_chinese_names_and_a_file_in_gbk(program: Program) -> None:
    with ScriptedEndpoint(edits("打九折", "打八折")) as server:
        code, result = program.run(server, "--permission-mode", "accept-edits", "-p", "把说明改成八折")
    assert (code, result["result"], result["permission_denials"]) == (0, "改好了。", [])
    listed, _, read, _ = results(server)
    assert "说明.txt" in listed
    assert "1\t折扣：打九折" in read
    assert (program.folder / "说明.txt").read_bytes() == "折扣：打八折\r\n中文说明。\r\n".encode("gbk")
    assert json.loads(program.sessions[0].read_bytes().splitlines()[2])["said"] == "把说明改成八折"
    assert "商店" in program.sessions[0].parent.name


def test_chinese_without_a_yes(program: Program) -> None:
    with ScriptedEndpoint(edits("打九折", "打八折")) as server:
        _, result = program.run(server, "-p", "把说明改成八折")
    assert [denial["subject"] for denial in result["permission_denials"]] == [str(program.folder / "说明.txt")]
    assert git(program.folder, "status", "--porcelain") == ""
