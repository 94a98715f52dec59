"""What holds, out of a home, an environment and what the person set; and how other programs are told of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.safety.sandbox.places import Ground, keys_within, make_policy
from codeagent.safety.sandbox.policy import Policy
from codeagent.safety.sandbox.wrapping import profile


@pytest.fixture
def ground() -> Ground:
    """In the root of the disk, which is no temporary folder; nothing of it need exist."""
    return Ground((Path("/project"),), {"HOME": "/home/me", "PATH": ""}, Path("/home/me/.code-agent-cli"))


def test_keys_and_our_own_home_are_hidden(ground: Ground) -> None:
    policy = make_policy(ground, strict=False, network=True)
    hidden = (
        *(".code-agent-cli", ".ssh", ".aws", ".gnupg", ".kube", ".azure", ".config/gcloud", ".config/gh"),
        *(".password-store", ".local/share/keyrings"),
    )
    assert policy.hidden == tuple(Path("/home/me", name) for name in hidden)
    assert [
        (name, policy.reads(Path("/home/me", name)))
        for name in (".ssh/id_rsa", ".ssh/known_hosts", ".ssh/config", ".gitconfig", ".sshrc", ".code-agent-cli/x")
    ] == [
        (".ssh/id_rsa", False), (".ssh/known_hosts", True), (".ssh/config", True), (".gitconfig", True),
        (".sshrc", True), (".code-agent-cli/x", False),
    ]  # fmt: skip


def test_what_the_person_opens_is_open(ground: Ground, tmp_path: Path) -> None:
    ground = replace(ground, write=(str(tmp_path), "~/no-such-folder"), read=("~/.ssh", "~/.config"))
    policy = make_policy(ground, strict=False, network=True)
    assert policy.writes(tmp_path / "a")
    assert not policy.writes(Path("/home/me/no-such-folder"))
    assert policy.reads(Path("/home/me/.ssh/id_rsa"))
    assert policy.reads(Path("/home/me/.config/gh/hosts.yml"))
    assert not policy.reads(Path("/home/me/.aws/credentials"))


def test_strict_closes_network_local_services_and_terminals(ground: Ground) -> None:
    policy = make_policy(ground, strict=True, network=True)
    terminals = [path for path in policy.devices if path.name in ("tty", "pts", "ptmx")]
    assert (policy.network, policy.local, terminals) == (False, False, [])


def test_the_cache_of_a_program_that_is_there_is_made(ground: Ground, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npm").touch(0o755)
    home = tmp_path / "home"
    environ = {"HOME": str(home), "PATH": str(programs), "GOCACHE": str(programs), "TMPDIR": "/tmp"}
    policy = make_policy(replace(ground, environ=environ), strict=False, network=True)
    assert list(home.iterdir()) == [home / ".npm"]
    assert policy.writes(home / ".npm") and programs in policy.writable


def test_keys_within_a_folder_to_work_in_are_known(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    environ = {"HOME": str(tmp_path)}
    assert keys_within(replace(ground, roots=(tmp_path,), environ=environ)) == (tmp_path / ".ssh",)
    assert keys_within(replace(ground, environ=environ)) == ()
    assert make_policy(replace(ground, roots=(tmp_path,), environ=environ), strict=False, network=True).hidden == (
        Path("/home/me/.code-agent-cli"),
    )


def test_the_policy_in_the_words_of_macos() -> None:
    policy = Policy(
        (Path('/a "b"'),), (Path("/dev/zero"),), (Path("/me/.ssh"),), (Path("/me/.ssh/config"),), network=False
    )
    assert profile(policy).splitlines() == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (subpath "/a \\"b\\""))',
        '(allow file-write* (subpath "/dev/zero"))',
        '(allow file-write* (literal "/dev/null") (regex #"^/dev/fd/"))',
        '(deny file-read* (subpath "/me/.ssh"))',
        '(allow file-read* (subpath "/me/.ssh/config"))',
        "(deny signal)",
        "(allow signal (target same-sandbox))",
        "(deny network*)",
        "(allow network* (local unix) (remote unix))",
    ]
