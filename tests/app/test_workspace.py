"""Projects and repository state read from files, against what git itself says."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from codeagent.core.paths import Project
from codeagent.workspace import GitState, find_project, git_state

ENVIRON = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(folder: Path, *args: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", *args]
    return subprocess.run(command, cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder.resolve()


def identity_by_git(folder: Path) -> Path:
    common = (folder / git(folder, "rev-parse", "--git-common-dir")).resolve()
    return common.parent if common.name == ".git" else common


def state_by_git(folder: Path) -> GitState:
    return GitState(git(folder, "branch", "--show-current"), git(folder, "rev-parse", "HEAD")[:7])


def test_a_folder_without_a_repository_is_its_own_project(tmp_path: Path) -> None:
    project = find_project(tmp_path)
    assert project == Project(tmp_path, tmp_path, tmp_path)
    assert project.id == f"{tmp_path.name}-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}"
    assert git_state(project) is None


def test_a_folder_inside_a_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "项目 one")
    below = top / "src" / "深い"
    below.mkdir(parents=True)
    project = find_project(below)
    assert project == Project(below, top, identity_by_git(below))
    assert project.id.startswith("项目-one-")
    assert git_state(project) == state_by_git(top)


def test_worktrees_share_the_identity_and_have_their_own_branch(tmp_path: Path) -> None:
    top = repository(tmp_path / "main")
    tree = tmp_path / "tree"
    git(top, "worktree", "add", "-q", "-b", "feature/ä", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    project = find_project(tree)
    assert project == Project(tree, tree, top)
    assert project.id == find_project(top).id
    assert git_state(project) == GitState("feature/ä", git(tree, "rev-parse", "HEAD")[:7])


def test_a_bare_repository_and_its_worktree(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    bare = tmp_path / "store.git"
    git(tmp_path, "clone", "-q", "--bare", str(source), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert find_project(bare / "refs") == Project(bare / "refs", bare / "refs", identity_by_git(bare))
    assert find_project(tmp_path / "tree") == Project(tmp_path / "tree", tmp_path / "tree", bare)
    assert git_state(find_project(bare)) == state_by_git(source)


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    part = repository(tmp_path / "part")
    whole = repository(tmp_path / "whole")
    git(whole, "submodule", "--quiet", "add", str(part), "lib")
    inside = whole / "lib"
    assert find_project(inside) == Project(inside, inside, identity_by_git(inside))
    assert find_project(inside).id != find_project(whole).id
    assert git_state(find_project(inside)) == state_by_git(inside)


def test_a_repository_reached_through_a_link_is_the_same_project(tmp_path: Path) -> None:
    top = repository(tmp_path / "real")
    (tmp_path / "link").symlink_to(top)
    assert find_project(tmp_path / "link") == find_project(top)


def test_inside_the_git_folder_the_project_is_still_the_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "a")
    assert find_project(top / ".git" / "refs").identity == identity_by_git(top / ".git" / "refs") == top


def test_states_of_head(tmp_path: Path) -> None:
    top = repository(tmp_path / "a")
    head = git(top, "rev-parse", "HEAD")[:7]
    git(top, "pack-refs", "--all")
    packed = git_state(find_project(top))
    git(top, "checkout", "-q", "--detach")
    detached = git_state(find_project(top))
    git(top, "checkout", "-q", "--orphan", "fresh")
    unborn = git_state(find_project(top))
    assert [packed, detached, unborn] == [GitState("main", head), GitState("", head), GitState("fresh", "")]


@pytest.mark.parametrize("content", [b"", b"gitdir: nowhere", b"\xff\xfe\x00", b"gitdir: ../elsewhere\n"])
def test_a_git_file_that_leads_nowhere_makes_no_repository(tmp_path: Path, content: bytes) -> None:
    repository(tmp_path / "a")
    inner = tmp_path / "a" / "inner"
    inner.mkdir()
    (inner / ".git").write_bytes(content)
    assert find_project(inner) == Project(inner, inner, inner)
    assert git_state(find_project(inner)) is None


def test_an_empty_git_folder_is_passed_over_as_git_does(tmp_path: Path) -> None:
    top = repository(tmp_path / "a")
    inner = top / "inner"
    (inner / ".git").mkdir(parents=True)
    assert find_project(inner) == Project(inner, top, identity_by_git(inner))
