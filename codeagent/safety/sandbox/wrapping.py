"""Programs that confine the command they are given: bubblewrap, and sandbox-exec of macOS."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from codeagent.safety.places import inside
from codeagent.safety.sandbox.policy import Policy

T = TypeVar("T")

_SEATBELT = "/usr/bin/sandbox-exec"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Implements `sandbox.Means`."""

    name: str
    words: Callable[[Policy], list[str]]
    """What stands before the command."""

    def launch(self, policy: Policy, argv: Sequence[str], start: Callable[[Sequence[str]], T]) -> T:
        return start([*self.words(policy), *argv])

    def close(self) -> None:
        """There is nothing to let go of."""


def bubblewrap(environ: Mapping[str, str]) -> Wrapper | None:
    """None where it is not installed."""
    program = shutil.which("bwrap", path=environ.get("PATH"))
    return Wrapper("bubblewrap", lambda policy: [program, *_bubble(policy), "--"]) if program else None


def seatbelt() -> Wrapper | None:
    """None but on macOS."""
    if not Path(_SEATBELT).exists():
        return None
    return Wrapper("sandbox-exec", lambda policy: [_SEATBELT, "-p", profile(policy)])


def _bubble(policy: Policy) -> Iterator[str]:
    """The whole disk read-only, and over it, from the outside in, what may be written, what is hidden and what of that
    is shown."""
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    if not policy.network:
        yield "--unshare-net"
    if not policy.local:
        yield from ("--tmpfs", "/run")  # where services listen
    layers = [(path, "--bind") for path in policy.writable if not path.is_relative_to("/dev")]
    layers += [(path, "--ro-bind") for path in policy.shown if inside(path, policy.hidden) and path.exists()]
    for path, how in sorted(layers + [(path, "--tmpfs") for path in policy.hidden if path.is_dir()]):
        yield from (how, str(path)) if how == "--tmpfs" else (how, str(path), str(path))
    for path in policy.devices:
        if path.name.startswith("nvidia") or path.name in ("dri", "kfd"):
            yield from ("--dev-bind-try", str(path), str(path))


def profile(policy: Policy) -> str:
    """The policy in the words of macOS; where several lines fit, the last one counts."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(allow file-write* {_below(path)})" for path in (*policy.writable, *policy.devices)]
    lines.append('(allow file-write* (literal "/dev/null") (regex #"^/dev/fd/"))')
    lines += [f"(deny file-read* {_below(path)})" for path in policy.hidden]
    lines += [f"(allow file-read* {_below(path)})" for path in policy.shown]
    lines.append("(deny signal)")
    lines.append("(allow signal (target same-sandbox))")
    if not policy.network:
        lines.append("(deny network*)")
        lines += ["(allow network* (local unix) (remote unix))"] if policy.local else []
    return "\n".join(lines)


def _below(path: Path) -> str:
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{quoted}")'
