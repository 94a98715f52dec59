"""What goes on as ever in the sandbox: ordinary work, and what is allowed in so many words."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from codeagent.safety.sandbox.landlock import Landlock
from codeagent.safety.sandbox.policy import Policy
from codeagent.safety.sandbox.threads import Bound
from codeagent.safety.sandbox.wrapping import bubblewrap
from tests.safety.sandbox.attacks import py
from tests.safety.sandbox.yard import Yard

WORK = {
    "writing": "echo x > 新.txt && cat 新.txt",
    "folders": "mkdir -p a/b && mv a/b c && rmdir c a",
    "moving from folder to folder": "mkdir a b && echo x > a/f && mv a/f b/f && cat b/f",
    "links": "ln mine hard && ln -s mine soft && cat hard soft",
    "pipes": "mkfifo p && (echo x > p &) && cat p",
    "emptying": ": > mine && truncate -s 3 mine",
    "a socket": py('socket.socket(socket.AF_UNIX).bind("s")'),
    "devices": "echo x > /dev/null && head -c 3 /dev/urandom > /dev/null",
    "standard output by name": "echo x > /dev/stdout && echo x > /dev/stderr",
    "a descriptor by name": "echo x > /proc/self/fd/1",
    "substitution": "diff <(echo x) <(echo x)",
    "reading elsewhere": "cat /etc/passwd {o}/file && ls -l {k}",
    "what is shown of the keys": "cat {k}/id.pub",
    "git": "git init -q . && git add mine && git -c user.name=a -c user.email=a@b commit -qm m && git log --oneline",
    "a child and its signal": "sleep 60 & kill $! && ! wait $!",
    "pairs of sockets": py("import asyncio\nasyncio.run(asyncio.sleep(0))\nsocket.socketpair()"),
}


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path)
    yield made
    made.close()


@pytest.mark.landlock
@pytest.mark.parametrize("name", WORK)
def test_work_with_landlock(yard: Yard, name: str) -> None:
    means = Landlock()
    code, printed = yard.run(means, WORK[name], strict=name != "a socket")
    means.close()
    assert (code, yard.harm(printed)) == (0, []), printed


@pytest.mark.bubblewrap
@pytest.mark.parametrize("name", WORK)
def test_work_with_bubblewrap(yard: Yard, name: str) -> None:
    means = bubblewrap(os.environ)
    assert means is not None
    code, printed = yard.run(means, WORK[name], strict=True)
    assert (code, yard.harm(printed)) == (0, []), printed


@pytest.mark.landlock
@pytest.mark.parametrize(
    ("command", "reached"),
    [
        ("echo x > /dev/tcp/127.0.0.1/{tcp4}", "reached tcp4"),
        (py('socket.socket(socket.AF_UNIX).connect("{i}/l.sock")'), "reached local"),
    ],
)
def test_the_network_is_open_unless_it_is_closed(yard: Yard, command: str, reached: str) -> None:
    means = Landlock()
    yard.run(means, command)
    means.close()
    assert yard.harm("") == [reached]


@pytest.mark.landlock
def test_a_later_command_ends_what_an_earlier_one_started_also_when_the_bounds_changed(yard: Yard) -> None:
    means = Landlock()
    _, printed = yard.run(means, "sleep 600 > /dev/null 2>&1 & echo $!")
    code, _ = yard.run(means, f"kill {printed.strip()}", strict=True)
    means.close()
    assert code == 0


@pytest.mark.landlock
def test_what_comes_to_stand_beside_the_keys_later_can_be_read(yard: Yard) -> None:
    means = Landlock()
    yard.run(means, "true")
    (yard.top / "later").write_text("news")
    assert yard.run(means, f"cat {yard.top}/later") == (0, "news")
    means.close()


@pytest.mark.landlock
def test_a_folder_that_was_made_anew_can_be_written(yard: Yard) -> None:
    means = Landlock()
    yard.run(means, "true")
    yard.inside.rename(yard.top / "old")
    yard.inside.mkdir()
    assert yard.run(means, "echo x > {i}/new && cat {i}/new") == (0, "x\n")
    means.close()


@pytest.mark.landlock
def test_we_ourselves_are_not_confined_and_nor_is_what_we_start_otherwise(yard: Yard) -> None:
    means = Landlock()
    yard.run(means, "true", strict=True)
    (yard.outside / "ours").write_text("x")
    done = subprocess.run(["cat", str(yard.keys / "id")], capture_output=True, text=True, check=True)
    means.close()
    assert done.stdout == "SECRET-42"


@pytest.mark.landlock
def test_a_program_that_is_not_there_is_told_as_ever() -> None:
    means = Landlock()

    def start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(argv)

    with pytest.raises(FileNotFoundError):
        means.launch(Policy((Path("/tmp"),)), ["no-such-program"], start)
    means.close()


@pytest.mark.landlock
def test_no_thread_is_left() -> None:
    before = threading.active_count()
    means = Landlock()
    means.launch(Policy((Path("/tmp"),)), ["true"], lambda argv: subprocess.Popen(argv).wait())
    means.close()
    while threading.active_count() > before:
        threading.Event().wait(0.001)


def test_bounds_that_cannot_be_made_are_an_error() -> None:
    def give_up() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        Bound(give_up)
