"""Real repositories whose configuration runs a program at a mere look; git itself is the witness."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.safety.commands import only_looks

HARM = "touch {top}/harmed; cat"


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with a change that is not committed."""
    folder = tmp_path.resolve() / "仓库"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitattributes").write_text("*.txt diff=x filter=x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    (folder / "a.txt").write_text("two\n")
    return folder


def configure(key: str) -> Callable[[Path], None]:
    return lambda top: git(top, "config", key, HARM.format(top=top))


def include(top: Path) -> None:
    (top / "more").write_text(f'[core]\nfsmonitor = "{HARM.format(top=top)}"\n')
    git(top, "config", "include.path", "../more")


def hide_behind_a_continuation(top: Path) -> None:
    with (top / ".git/config").open("a") as config:
        config.write(f'[core]\neol = lf\\\n[user]\nfsmonitor = "{HARM.format(top=top)}"\n')


def hook(top: Path) -> None:
    script = top / ".git/hooks/post-index-change"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\ntouch '{top}/harmed'\n")
    script.chmod(0o755)


def submodule(top: Path) -> None:
    inner = top / "inner"
    inner.mkdir()
    git(inner, "init", "-b", "main")
    git(inner, "commit", "--allow-empty", "-m", "inner")
    git(inner, "config", "core.fsmonitor", HARM.format(top=top))
    git(top, "add", "inner")
    git(top, "commit", "-m", "inner")


@pytest.mark.parametrize(
    ("command", "prepare"),
    [
        ("git status", configure("core.fsmonitor")),
        ("git diff", configure("diff.external")),
        ("git diff", configure("diff.x.textconv")),
        ("git log -p", configure("diff.x.textconv")),
        ("git diff", configure("filter.x.clean")),
        ("git status", include),
        ("git status", hide_behind_a_continuation),
        ("git status", hook),
        ("git status", submodule),
    ],
)
def test_a_look_that_would_run_something_is_no_look(top: Path, command: str, prepare: Callable[[Path], None]) -> None:
    prepare(top)
    assert not only_looks(command, top, [top])
    assert not (top / "harmed").exists()
    subprocess.run(command.split(), cwd=top, check=False, capture_output=True)
    assert (top / "harmed").exists()


def test_a_repository_without_a_work_tree_counts_wherever_it_lies(top: Path) -> None:
    bare = top / "data"
    git(top, "init", "--bare", "data")
    assert only_looks("git log", bare, [top])
    git(bare, "config", "core.fsmonitor", "x")
    assert not only_looks("git log", bare, [top])
    assert only_looks("git log", top, [top])


def test_an_ordinary_clone_and_its_work_tree_may_be_looked_at(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", str(top), "clone")
    clone = tmp_path.resolve() / "clone"
    git(clone, "config", "user.name", "somebody")
    git(clone, "config", "branch.main.rebase", "true")
    git(clone, "worktree", "add", "../side")
    for folder in (clone, tmp_path.resolve() / "side"):
        looks = ["git status", "git diff", "git --no-pager log -p", "git show HEAD", "git branch"]
        assert [look for look in looks if not only_looks(look, folder, [tmp_path.resolve()])] == []
    git(clone, "config", "core.fsmonitor", "x")
    assert not only_looks("git status", tmp_path.resolve() / "side", [tmp_path.resolve()])


def test_where_no_repository_is_there_is_nothing_to_run(tmp_path: Path) -> None:
    assert only_looks("git status", tmp_path.resolve(), [tmp_path.resolve()])
