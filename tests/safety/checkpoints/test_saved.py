from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.safety.checkpoints.world import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A repository with files that git has, has not, and ignores, of several kinds and modes."""
    place = Place(tmp_path)
    place.shell("git init -q")
    place.file(".gitignore", "build/\n*.log\n")
    place.file("a.py", "print(1)\n")
    place.file("run.sh", "#!/bin/sh\n", 0o755)
    place.file("src/深/b.py", "二 = 2\n")
    place.shell("git add . && git commit -qm one")
    place.file("src/深/b.py", "二 = 22\n")
    place.file("new.txt", "never seen by git\n", 0o600)
    place.file("build/out.bin", bytes(range(256)))
    place.file("x.log", "log\n")
    (place.top / "link").symlink_to("src/深")
    (place.top / "dangling").symlink_to("nowhere")
    (place.top / "empty").mkdir(0o700)
    os.utime(place.top / "new.txt", ns=(1, 1_600_000_000_123_456_789))
    return place


DESTRUCTIVE = [
    "rm -rf src build new.txt link dangling empty",
    "rm -rf -- * .gitignore",
    "git reset --hard",
    "git clean -fdx",
    "git checkout -- .",
    "git restore .",
    "git stash -u",
    "> new.txt",
    "echo x > a.py; echo y >> x.log",
    "truncate -s 0 build/out.bin",
    "dd if=/dev/zero of=a.py bs=1 count=9",
    "chmod -R 700 .",
    "chmod -R a-w src",
    "mv src ../moved",
    "mv a.py b.py; mkdir deep; mv new.txt deep/",
    "rm link; mkdir link; echo z > link/z",
    "rm -r src; ln -s build src",
    "rm a.py; mkdir -p a.py/b; touch a.py/b/c",
    "ln -sfn elsewhere link",
    "sed -i s/1/7/ a.py; touch -d @1 run.sh; echo 7 >> run.sh",
    "mkdir 'a b' && printf x > $'a b/\\n\\xff'",
    "cp a.py run.sh; rm -r empty",
    "python3 -c \"open('a.py','r+').write('P')\"",
]


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_what_a_command_did_is_taken_back_and_done_again_to_the_byte(place: Place, command: str) -> None:
    before = place.tree()
    await place.run(command)
    after = place.tree()
    assert after != before
    assert (await place.undo()) is not None
    assert place.tree() == before
    assert (await place.redo()) is not None
    assert place.tree() == after
    assert (await place.undo()) is not None
    assert place.tree() == before
    assert place.told == []
