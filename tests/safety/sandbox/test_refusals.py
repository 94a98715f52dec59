"""What is read in the words of programs, and what is said and asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.events import Notice
from codeagent.core.jobs import Lifted
from codeagent.core.tools import Command
from codeagent.core.ui import Answer, Choice, Question
from codeagent.safety.sandbox.places import Ground
from codeagent.safety.sandbox.policy import Policy
from codeagent.safety.sandbox.refusals import Refused, read_refusals
from codeagent.safety.sandbox.sandbox import Sandbox
from tests.tools.world import Person


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    for name in ("in", "out", "keys"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").touch()
    return Policy((tmp_path / "in",), hidden=(tmp_path / "keys",), network=False)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bash: line 1: {}/out/new: Permission denied", "writing {}/out/new"),
        ("touch: cannot touch '{}/out/new': Permission denied", "writing {}/out/new"),
        ("rm: cannot remove ‘{}/out/f’: Permission denied", "writing {}/out/f"),
        ("PermissionError: [Errno 13] Permission denied: '{}/out/a b'", "writing {}/out/a b"),
        ("Error: EACCES: permission denied, mkdir '{}/out/node_modules'", "writing {}/out/node_modules"),
        ("cp: cannot create regular file '../out/x': Read-only file system", "writing {}/out/x"),
        ("mv: 无法移动'{}/out/f': 权限不够", "writing {}/out/f"),
        ("cat: {}/keys/f: Permission denied", "reading {}/keys/f"),
        ("kill: (77) - Operation not permitted", "signals to processes that no command started"),
        ("sudo: The \"no new privileges\" flag is set, which prevents sudo", "gaining rights"),
        ("curl: (6) Could not resolve host: example.org", "the network"),
        ("  File socket.py\nPermissionError: [Errno 1] Operation not permitted", "the network"),
        # what the sandbox has no part in
        ("bash: ./in/f: Permission denied", ""),
        ("{}/in/f: Permission denied", ""),
        ("/proc/1/nothing: Permission denied", ""),
        ("{}/keys/nothing: Permission denied", ""),
        ("The sandbox is fine, and nothing was denied.", ""),
    ],
)  # fmt: skip
def test_what_a_line_tells(policy: Policy, tmp_path: Path, line: str, told: str) -> None:
    text = line.replace("{}", str(tmp_path))
    assert str(read_refusals(text, tmp_path / "in", policy)) == told.replace("{}", str(tmp_path))


def test_what_says_not_what_was_denied_is_unclear(policy: Policy, tmp_path: Path) -> None:
    for line in ("git@example.org: Permission denied (publickey).", "bash: line 1: new: Permission denied"):
        assert read_refusals(line, tmp_path, policy) == Refused(unclear=True)


def test_many_are_told_by_the_first(policy: Policy, tmp_path: Path) -> None:
    lines = [f"{tmp_path}/out/{number}: Permission denied" for number in range(9)]
    paths = tuple(tmp_path / "out" / str(number) for number in range(3))
    assert read_refusals("\n".join(lines), tmp_path, policy) == Refused(written=paths)


# ---- what is asked ---------------------------------------------------------------------------------------------------

COMMAND = Command("make install", "/project")
BOUNDS = "Commands write only in the project, in temporary folders and in caches; keys are not read."


def sandbox(person: Person, *, asks: bool = True) -> Sandbox:
    ground = Ground((Path("/project"),), {"HOME": "/nowhere", "PATH": ""}, Path("/nowhere/.code-agent-cli"))
    return Sandbox("strict", ground, person, asks=lambda: asks)


SAID = "curl: (6) Could not resolve host: example.org"
TOLD = f"The sandbox refused: the network. {BOUNDS}"


async def test_the_person_is_asked_and_their_yes_counts_once() -> None:
    person = Person([Answer("once")])
    held = sandbox(person)
    assert await held.lift(COMMAND, SAID) == Lifted("outside")
    assert person.asked == [
        Question(
            "Run it again outside the sandbox?",
            (
                Choice("once", "Yes, this once"),
                Choice("always", "Yes, and always exactly this command in this session"),
                Choice("no", "No, and tell the model what to do instead", feedback=True),
            ),
            COMMAND,
            "The sandbox refused: the network.",
        )
    ]


@pytest.mark.landlock
async def test_always_holds_for_this_command_in_this_folder() -> None:
    held = sandbox(Person([Answer("always")]))
    assert await held.lift(COMMAND, SAID) == Lifted("outside")
    others = (Command("make", "/project"), Command("make install", "/"))
    assert [held.holds(command) for command in (COMMAND, *others)] == [False, True, True]


async def test_a_no_goes_to_the_model() -> None:
    held = sandbox(Person([Answer("no", "ask Li first")]))
    assert await held.lift(COMMAND, SAID) == Lifted(
        "no", f'{TOLD} The user said no to running it outside: "ask Li first".'
    )


@pytest.mark.parametrize(("interactive", "asks"), [(False, True), (True, False)])
async def test_where_nobody_is_to_be_asked_the_model_is_told(interactive: bool, asks: bool) -> None:
    person = Person(interactive=interactive)
    assert await sandbox(person, asks=asks).lift(COMMAND, SAID) == Lifted(
        "no",
        f"{TOLD} Do it within these bounds, or tell the user what needs more: it takes the setting sandbox or "
        "--no-sandbox.",
    )
    assert person.asked == []


@pytest.mark.root
async def test_a_folder_is_offered_where_it_would_have_been_enough() -> None:
    person = Person([Answer("folder")])
    held = sandbox(person)
    assert await held.lift(COMMAND, "install: /usr/local/bin/tool: Permission denied") == Lifted("inside")
    assert person.asked[0].choices[2] == Choice(
        "folder", "Keep the sandbox, but let commands of this session write in /usr/local/bin"
    )
    assert held.policy.writes(Path("/usr/local/bin/tool"))
    assert await held.lift(COMMAND, "install: /usr/tool: Permission denied") == Lifted(
        "no", f"The sandbox refused: writing /usr/tool. {BOUNDS} The user said no to running it outside."
    )
    assert [choice.key for choice in person.asked[1].choices] == ["once", "always", "no"]


async def test_what_is_unclear_is_told_and_nobody_is_asked() -> None:
    person = Person()
    assert await sandbox(person).lift(COMMAND, "bash: line 1: new: Permission denied") == Lifted(
        "no", f"Something was denied, perhaps by the sandbox. {BOUNDS}"
    )
    assert person.asked == []


# ---- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.landlock
def test_that_there_is_one_is_told_once(tmp_path: Path) -> None:
    ground = Ground((tmp_path,), {"HOME": str(tmp_path), "PATH": ""}, tmp_path / "own")
    told: list[Notice] = []
    for _ in range(2):
        held = Sandbox("on", ground, Person(), tell=told.append, marker=tmp_path / "cache" / "told")
        assert [held.holds(COMMAND), held.holds(COMMAND)] == [True, True]
    assert [notice.message.partition(":")[0] for notice in told] == ["Commands of the model run in a sandbox ({means})"]


def test_switched_off_there_is_none() -> None:
    ground = Ground((Path("/project"),), {}, Path("/nowhere"))
    held = Sandbox("off", ground, Person())
    assert (held.holds(COMMAND), held.refused(SAID, Path("/")), str(held.describe())) == (False, "", "off")
    assert held.launch(["a"], list) == ["a"]
