"""Where programs keep what they fetch and build, where keys lie, and the policy that follows from it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.safety.places import inside, real
from codeagent.safety.sandbox.policy import Policy

_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/dri", "/dev/kfd")
_TERMINALS = ("/dev/tty", "/dev/ptmx", "/dev/pts")
"""What a program needs to open terminals of its own; by their names those of the person could be written to as well."""

_CACHES: Mapping[str, tuple[str, ...]] = {
    "": (".cache", "Library/Caches"),
    "npm": (".npm",),
    "yarn": (".yarn", ".cache/yarn"),
    "pnpm": (".local/share/pnpm", ".local/state/pnpm"),
    "bun": (".bun/install",),
    "deno": (".deno",),
    "cargo": (".cargo/registry", ".cargo/git"),
    "go": ("go/pkg",),
    "gradle": (".gradle",),
    "mvn": (".m2/repository",),
    "sbt": (".sbt", ".ivy2"),
    "dotnet": (".nuget", ".dotnet", ".local/share/NuGet"),
    "uv": (".local/share/uv",),
    "poetry": (".local/share/pypoetry",),
    "pipenv": (".local/share/virtualenvs",),
    "conda": (".conda/pkgs",),
    "bundle": (".bundle/cache", ".gem"),
    "composer": (".composer/cache",),
    "mix": (".hex", ".mix"),
    "ccache": (".ccache",),
}
"""Program to the folders below the home in which it keeps what can be fetched or built again; "" for many."""
_NAMED = (
    *("XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "npm_config_cache", "YARN_CACHE_FOLDER", "GOCACHE"),
    *("GOMODCACHE", "GRADLE_USER_HOME", "CCACHE_DIR", "VIRTUAL_ENV", "CONDA_PREFIX"),
)
"""Variables that name such a folder, or the environment that packages are installed to."""
_BELOW = {"CARGO_HOME": ("registry", "git"), "GOPATH": ("pkg",)}

_KEYS = (
    *(".ssh", ".aws", ".gnupg", ".kube", ".azure", ".config/gcloud", ".config/gh", ".password-store"),
    ".local/share/keyrings",
)
_PUBLIC = ("config", "config.d", "known_hosts", "known_hosts2")
"""What in `.ssh` is no secret: with an agent, git over ssh needs no more."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a session works."""

    roots: tuple[Path, ...]
    """Folders to work in, and what belongs to them elsewhere."""
    environ: Mapping[str, str]
    own: Path
    """Our own home, of which nothing is read."""
    shown: tuple[Path, ...] = ()
    """What of it may be read nevertheless."""
    write: tuple[str, ...] = ()
    """Further folders that may be written, as the person names them."""
    read: tuple[str, ...] = ()
    """Folders of keys that may be read."""

    @property
    def home(self) -> Path | None:
        named = self.environ.get("HOME", "")
        return real(named) if named.startswith("/") else None

    def named(self, text: str) -> Path:
        """The real path of a folder as the person names it: `~` for the home, else from the first root."""
        if self.home is not None and (text == "~" or text.startswith("~/")):
            return real(text[2:], str(self.home))
        return real(text, str(self.roots[0]))


def make_policy(ground: Ground, *, strict: bool, network: bool, also: Sequence[Path] = ()) -> Policy:
    """What holds now; `also` are folders that the person has allowed since. Makes the caches of programs there are."""
    temporary = [ground.environ.get("TMPDIR", ""), *_TEMPORARY]
    allowed = (*(ground.named(text) for text in ground.write), *also)
    writable = _existing((*ground.roots, *map(real, filter(None, temporary)), *_caches(ground), *allowed))
    devices = (*_DEVICES, *(() if strict else _TERMINALS), *map(str, Path("/dev").glob("nvidia*")))
    opened = tuple(ground.named(text) for text in ground.read)
    hidden = [path for path in _keys(ground) if not inside(path, opened) and not inside(path, writable)]
    return Policy(
        writable,
        _existing(map(Path, devices)),
        tuple(hidden),
        (*_public(ground), *ground.shown, *opened),
        network=network and not strict,
        local=not strict,
    )


def keys_within(ground: Ground) -> tuple[Path, ...]:
    """Folders of keys that lie in one of the roots, where Landlock cannot hide them."""
    return tuple(path for path in _existing(_keys(ground)) if inside(path, ground.roots))


def _existing(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(path for path in paths if path.exists()))


def _keys(ground: Ground) -> Iterator[Path]:
    yield real(str(ground.own))
    if ground.home is not None:
        yield from (real(name, str(ground.home)) for name in _KEYS)


def _public(ground: Ground) -> Iterator[Path]:
    if ground.home is not None:
        folder = real(".ssh", str(ground.home))
        yield from (folder / name for name in _PUBLIC)
        yield from folder.glob("*.pub")


def _caches(ground: Ground) -> Iterator[Path]:
    if ground.home is not None:
        for program, names in _CACHES.items():
            for name in names:
                path = ground.home / name
                if not path.exists() and program and shutil.which(program, path=ground.environ.get("PATH")):
                    # Once there it can be allowed; the program itself could not make it.
                    with suppress(OSError):
                        path.mkdir(parents=True)
                yield real(str(path))
    yield from (real(named) for name in _NAMED if (named := ground.environ.get(name, "")).startswith("/"))
    for name, folders in _BELOW.items():
        if (top := ground.environ.get(name, "")).startswith("/"):
            yield from (real(folder, top) for folder in folders)
