"""Attacks on the sandbox: with every means, as root and as an ordinary user, and without any, where each succeeds."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeagent.safety.sandbox.landlock import Landlock
from codeagent.safety.sandbox.wrapping import bubblewrap
from tests.safety.sandbox.attacks import ATTACKS, LOCAL, STRICT
from tests.safety.sandbox.yard import Free, Means, Yard

NOBODY = 65534


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path)
    yield made
    made.close()


@pytest.fixture
def landlock() -> Iterator[Landlock]:
    means = Landlock()
    yield means
    means.close()


def attack(yard: Yard, means: Means, name: str) -> list[str]:
    _, printed = yard.run(means, ATTACKS[name], strict=name in STRICT)
    return yard.harm(printed)


@pytest.mark.parametrize("name", ATTACKS)
def test_without_a_sandbox_it_does_harm(yard: Yard, name: str) -> None:
    assert attack(yard, Free(), name) != []


@pytest.mark.landlock
@pytest.mark.parametrize("name", ATTACKS)
def test_landlock_keeps_it_from_that(yard: Yard, landlock: Landlock, name: str) -> None:
    assert attack(yard, landlock, name) == []


@pytest.mark.bubblewrap
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in LOCAL])
def test_bubblewrap_keeps_it_from_that(yard: Yard, name: str) -> None:
    means = bubblewrap(os.environ)
    assert means is not None
    assert attack(yard, means, name) == []


@pytest.mark.bubblewrap
def test_bubblewrap_keeps_the_modes_of_files_too(yard: Yard) -> None:
    means = bubblewrap(os.environ)
    assert means is not None
    assert yard.run(means, "chmod 777 {o}/file")[0] == 1
    assert (yard.outside / "file").stat().st_mode & 0o777 == 0o644


# ---- as an ordinary user ---------------------------------------------------------------------------------------------


def _as_nobody(top: Path) -> dict[str, list[str]]:
    """What each attack achieves when root has become nobody, in a yard of its own. Run in a child process."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    means, found = Landlock(), {}
    python = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin") or sys.executable
    for number, name in enumerate(ATTACKS):
        yard = Yard(top / str(number), python)
        try:
            found[name] = attack(yard, means, name)
        finally:
            yard.close()
    return found


@pytest.mark.root
@pytest.mark.landlock
def test_landlock_needs_no_root() -> None:
    top = Path(tempfile.mkdtemp(prefix="codeagent-yard-"))
    os.chown(top, NOBODY, NOBODY)
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(writer, json.dumps(_as_nobody(top)).encode())
        except BaseException as error:
            os.write(writer, json.dumps({"broke": [repr(error)]}).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        found = json.loads(answer.read())
    os.waitpid(child, 0)
    shutil.rmtree(top)
    assert found == {name: [] for name in ATTACKS}


# ---- what root alone could do ----------------------------------------------------------------------------------------


@pytest.mark.root
@pytest.mark.landlock
@pytest.mark.parametrize(
    "command",
    [
        "mknod {i}/disk b 7 0",
        "mknod {i}/memory c 1 1",
        "mkdir {i}/m && mount --bind {o} {i}/m && touch {i}/m/new",
        "mkdir {i}/m && unshare -m mount -t tmpfs none {i}/m",
        "chroot / bash -c 'echo x > {o}/new'",
        "chattr +i {o}/file",
        'date -s "$(date)"',
        "cd /proc/sys/vm && cat swappiness > swappiness",
        "hostname $(hostname)",
        "ip link set lo up",
    ],
)
def test_root_in_the_sandbox_reaches_neither_disk_nor_machine(yard: Yard, landlock: Landlock, command: str) -> None:
    code, printed = yard.run(landlock, command)
    assert (code != 0, yard.harm(printed)) == (True, [])
