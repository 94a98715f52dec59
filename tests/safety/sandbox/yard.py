"""A little world to break out of: a folder to work in, one outside, keys, a process and listeners that are not ours."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from codeagent.safety.sandbox.policy import Policy

SECRET = "SECRET-42"
Popen = subprocess.Popen[bytes]


class Means(Protocol):
    def launch(self, policy: Policy, argv: Sequence[str], start: Callable[[Sequence[str]], Popen]) -> Popen: ...


class Free:
    """No means at all."""

    def launch(self, policy: Policy, argv: Sequence[str], start: Callable[[Sequence[str]], Popen]) -> Popen:
        return start(argv)


@dataclass
class Yard:
    top: Path
    python: str = sys.executable
    listeners: dict[str, socket.socket] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inside, self.outside, self.keys = (self.top / name for name in ("inside", "outside", "keys"))
        self._lay()
        held = (self.outside / "file").open("r+b")
        self.victim = subprocess.Popen(
            ["sleep", "600"], env={"TOKEN": SECRET}, stdin=held, stdout=held, start_new_session=True
        )
        held.close()
        self.was = self.tree()
        self._listen()

    def _lay(self) -> None:
        for folder in (self.inside, self.outside / "folder", self.outside / "empty", self.keys):
            folder.mkdir(parents=True)
        (self.inside / "mine").write_text("mine")
        (self.outside / "file").write_text("kept")
        (self.outside / "folder" / "a").write_text("a")
        (self.keys / "id").write_text(SECRET)
        (self.keys / "id.pub").write_text("PUBLIC")

    def _listen(self) -> None:
        for name, family, kind, place in (
            ("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0codeagent-{os.getpid()}-{id(self)}"),
            ("local", socket.AF_UNIX, socket.SOCK_STREAM, str(self.inside / "l.sock")),
        ):
            listener = socket.socket(family, kind)
            listener.bind(place)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            self.listeners[name] = listener
        (self.inside / "l.sock").chmod(0o777)

    def policy(self, *, strict: bool = False) -> Policy:
        return Policy(
            (self.inside,),
            (Path("/dev/null"),),
            (self.keys,),
            (self.keys / "id.pub",),
            network=not strict,
            local=not strict,
        )

    def run(self, means: Means, command: str, *, strict: bool = False) -> tuple[int, str]:
        """Exit code and output."""
        words = {
            name: str(listener.getsockname()[1]) for name, listener in self.listeners.items() if name[-1].isdigit()
        }
        abstract = self.listeners["abstract"].getsockname()[1:].decode()
        line = command.format(
            i=self.inside,
            o=self.outside,
            k=self.keys,
            pid=self.victim.pid,
            python=self.python,
            abstract=abstract,
            **words,
        )

        def start(argv: Sequence[str]) -> Popen:
            return subprocess.Popen(
                argv,
                cwd=self.inside,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

        child = means.launch(self.policy(strict=strict), ["bash", "-c", line], start)
        output = child.communicate(timeout=30)[0]
        return child.returncode, output.decode("utf-8", "replace")

    def harm(self, printed: str) -> list[str]:
        """What an attack achieved."""
        found = [f"printed {word}" for word in (SECRET, "REACHED") if word in printed]
        if self.tree() != self.was:
            found.append("changed what is outside")
        if self.victim.poll() is not None or self._state() in "Tt":
            found.append("hit a process")
        ready, _, _ = select.select(list(self.listeners.values()), [], [], 0)
        return found + [f"reached {name}" for name, listener in self.listeners.items() if listener in ready]

    def _state(self) -> str:
        return Path(f"/proc/{self.victim.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def tree(self) -> dict[str, bytes | str]:
        found: dict[str, bytes | str] = {}
        for path in sorted(self.outside.rglob("*")):
            name = str(path.relative_to(self.outside))
            found[name] = path.read_bytes() if path.is_file() and not path.is_symlink() else str(path.lstat().st_mode)
        return found

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        for listener in self.listeners.values():
            listener.close()
