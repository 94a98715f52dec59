from __future__ import annotations

import os
from pathlib import Path

import pytest

from codeagent.core.tools import Action, Command
from codeagent.core.ui import Answer
from codeagent.safety.losses import Loss, Losses
from codeagent.safety.permissions import Mode, Permissions
from codeagent.safety.rules import parse_rules
from codeagent.safety.threats import threats
from tests.safety.checkpoints.world import GIT, Place
from tests.tools.world import Person

READS = {
    "rm -rf src": [("rm", "named", ["src"])],
    "sudo rm -r -- src/*.py": [("rm", "named", ["src/a.py", "src/b.py"])],
    "env X=1 nice -n 5 rm a": [("rm", "named", ["a"])],
    "cd src && rm a.py": [("rm", "named", ["src/a.py"])],
    "if true; then rm a; fi": [("rm", "named", ["a"])],
    "bash -c 'rm a; git reset --hard'": [("rm", "named", ["a"]), ("git reset --hard", "changed", ["."])],
    "eval rm a": [("rm", "named", ["a"])],
    "ls | xargs rm": [("rm", "named", ["."])],
    "rm -r $DIR": [("rm", "named", ["."])],
    "find src -name '*.py' -delete": [("find", "named", ["src"])],
    "find . -exec rm {} +": [("find", "named", ["."])],
    "echo x > a": [(">", "named", ["a"])],
    "echo x >| a 2>/dev/null": [(">", "named", ["a"])],
    ": > 'a'; cat b": [(">", "named", ["a"])],
    "tee a < b": [("tee", "named", ["a"])],
    "dd if=/dev/zero of=a": [("dd", "named", ["a"])],
    "truncate -s 0 a": [("truncate", "named", ["a"])],
    "mv a b": [("mv", "named", ["b"])],
    "mv a src": [],
    "mv a ../out": [("mv", "elsewhere", ["a"])],
    "cp a src/a.py": [("cp", "named", ["src/a.py"])],
    "chmod -R 700 src": [("chmod -R", "elsewhere", ["src"])],
    "git reset --hard HEAD~1": [("git reset --hard", "changed", ["."])],
    "git -C src -c a=b clean -fd": [("git clean", "untracked", ["src"])],
    "git clean -fdx": [("git clean", "ignored", ["."])],
    "git checkout -- a": [("git checkout", "changed", ["a"])],
    "git checkout .": [("git checkout", "changed", ["."])],
    "git restore src": [("git restore", "changed", ["src"])],
    "git switch -f main": [("git switch --force", "changed", ["."])],
    "git push origin +main": [("git push --force", "elsewhere", [])],
    "git push -f": [("git push --force", "elsewhere", [])],
    "git push --force-with-lease origin main": [("git push --force", "elsewhere", [])],
    "git stash drop": [("git stash drop", "elsewhere", [])],
    "git branch -D old": [("git branch -D", "elsewhere", [])],
    "echo 'rm -rf src'": [],
    "echo x >> a": [],
    "make 2>&1 | tail": [],
    "rm gone": [("rm", "named", [])],
    "git checkout -b new": [],
    "git restore --staged a": [],
    "rm -rf 'src": [("rm", "named", ["src"])],
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for name in ("a", "b", "src/a.py", "src/b.py"):
        place.file(name, name)
    return place


@pytest.mark.parametrize("command", READS)
def test_what_a_command_threatens(place: Place, command: str) -> None:
    found = [
        (threat.what, threat.reach, sorted(os.path.relpath(path, place.top) for path in threat.paths))
        for threat in threats(place.action(command))
    ]
    assert found == READS[command]


@pytest.fixture
def repository(place: Place) -> Place:
    """`a` is committed, `b` and `src/b.py` are changed, `new` and `中.txt` are unknown to git, `x.log` is ignored."""
    place.file(".gitignore", "*.log\n")
    place.shell("git init -q && git add . && git commit -qm one")
    place.file("b", "bb")
    place.file("src/b.py", "b" * 2_000)
    place.file("new", "n" * 30)
    place.file("src/中.txt", "中")
    place.file("x.log", "log")
    return place


LOST = {
    "rm -rf a src": {"src/b.py": 2_000, "src/中.txt": 3},
    "rm a": None,
    "rm b x.log": {"b": 2, "x.log": 3},
    "git reset --hard": {"b": 2, "src/b.py": 2_000},
    "git checkout -- src": {"src/b.py": 2_000},
    "git clean -fd": {"new": 30, "src/中.txt": 3},
    "git clean -fdx": {"new": 30, "src/中.txt": 3, "x.log": 3},
    "git status": None,
    "rm -rf gone": None,
}


@pytest.mark.parametrize("command", LOST)
async def test_what_is_lost_is_what_git_does_not_have(repository: Place, command: str) -> None:
    loss = await Losses({**os.environ, **GIT}, 1_000_000).of(repository.action(command))
    found = None if loss is None else {os.path.relpath(path, repository.top): size for path, size in loss.files}
    assert found == LOST[command]


async def test_without_git_everything_is_lost(place: Place) -> None:
    loss = await Losses(dict(os.environ), 5).of(place.action("rm -r src a"))
    top = place.top
    assert loss is not None and set(loss.files) == {
        (str(top / "src/a.py"), 8),
        (str(top / "src/b.py"), 8),
        (str(top / "a"), 1),
    }
    assert set(loss.unsaved) == {(str(top / "src/a.py"), 8), (str(top / "src/b.py"), 8)}


async def test_a_repository_that_names_programs_is_not_asked(repository: Place) -> None:
    repository.shell("git config core.fsmonitor 'touch ran; false'")
    loss = await Losses({**os.environ, **GIT}, 100).of(repository.action("rm a"))
    assert loss == Loss(((str(repository.top / "a"), 1),))
    assert not (repository.top / "ran").exists()


def test_the_person_reads_files_and_sizes() -> None:
    loss = Loss((("/p/a", 1), ("/p/b", 2_500_000)), (("/p/b", 2_500_000),), ("It leaves the folder",))
    assert loss.told("/p") == (
        "It leaves the folder. Not in git: b (2.5 MB), a (1 B). Too large to be saved first: b (2.5 MB)"
    )


ASKED: dict[tuple[Mode, str, int], bool] = {
    ("default", "shell", 100): True,
    ("accept-edits", "shell", 100): True,
    ("yolo", "", 100): False,
    ("yolo", "", 10): True,
}


@pytest.mark.parametrize("mode, rule, limit", ASKED)
async def test_a_rule_or_a_mode_does_not_hide_a_loss(repository: Place, mode: Mode, rule: str, limit: int) -> None:
    person = Person([Answer("no")])
    losses = Losses({**os.environ, **GIT}, limit)
    permissions = Permissions(mode, (repository.top,), person, allow=parse_rules([rule]), losses=losses)
    verdict = await permissions.check(repository.action("rm new"))
    asked = ASKED[mode, rule, limit]
    assert verdict.allowed is not asked
    assert [question.detail.partition(". ")[0] for question in person.asked] == ["Not in git: new (30 B)"] * asked
    assert [len(question.choices) for question in person.asked] == [2] * asked
    assert (await permissions.check(repository.action("rm a"))).allowed


async def test_where_nobody_can_answer_a_rule_is_enough(repository: Place) -> None:
    person = Person(interactive=False)
    losses = Losses({**os.environ, **GIT}, 100)
    permissions = Permissions("default", (repository.top,), person, allow=parse_rules(["shell"]), losses=losses)
    assert (await permissions.check(repository.action("rm new"))).allowed


# ---- saved first ---------------------------------------------------------------------------------------------------


async def test_what_lies_outside_or_is_large_or_is_gits_own_is_saved_when_it_is_removed(repository: Place) -> None:
    outside = repository.top.parent / "outside/中/a"
    outside.parent.mkdir(parents=True)
    outside.write_text("out")
    repository.file("large", "x" * (repository.limit + 1))
    before = repository.tree()
    own = (repository.top / ".git/HEAD").read_text()
    await repository.run("rm -rf ../outside large .git")
    assert not outside.exists() and not (repository.top / ".git").exists()
    await repository.undo()
    assert (outside.read_text(), repository.tree()) == ("out", before)
    assert (repository.top / ".git/HEAD").read_text() == own


def test_other_actions_threaten_nothing() -> None:
    assert threats(Action("edit_file", "edit", "/a", "Edit")) == ()
    assert threats(Action("shell", "run", "", "Run", Command("", "/"))) == ()
