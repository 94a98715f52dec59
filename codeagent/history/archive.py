"""Whole tool outputs, one file each, in a folder beside the session file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.messages import scrub
from codeagent.core.paths import secrets_of
from codeagent.core.private import make_private

_LENGTH = 64


class SessionArchive:
    """The archive of the session whose file is `session`; its folder is made when it is first used."""

    def __init__(self, session: Path) -> None:
        self._folder = session.with_suffix("")

    @property
    def folder(self) -> Path:
        return self._folder

    def put(self, call_id: str, text: str | Iterable[str]) -> str:
        """Store `text`, or its pieces, in a new file, 0600, and return its name.

        Raises:
            StoreError: the disk refuses.
        """
        pieces = (text,) if isinstance(text, str) else text
        return self._store(call_id, ".txt", (scrub(piece).encode() for piece in pieces))

    def put_file(self, name: str, ending: str, data: bytes) -> str:
        """Store `data` as it is, as `put` does. Raises StoreError."""
        return self._store(name, ending, (data,))

    def _store(self, name: str, ending: str, pieces: Iterable[bytes]) -> str:
        try:
            make_private(self._folder)
            path = self._create(_name(name), ending)
            try:
                with path.open("wb") as file:
                    file.writelines(pieces)
            except OSError:
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError("{path} cannot be written: {reason}.", path=self._folder, reason=reason) from error
        return path.name

    def _create(self, name: str, ending: str) -> Path:
        number = 1
        while True:
            path = self._folder / (f"{name}{ending}" if number == 1 else f"{name}-{number}{ending}")
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                return path
            except FileExistsError:
                number += 1


def share_archive(source: Path, target: Path) -> None:
    """Give the session file `target` all that is archived for `source`, and the secrets it has names for.

    Raises:
        OSError
    """
    if source.with_suffix("").is_dir():
        shutil.copytree(source.with_suffix(""), target.with_suffix(""), copy_function=_share, dirs_exist_ok=True)
    if secrets_of(source).exists():
        _share(str(secrets_of(source)), str(secrets_of(target)))


def _share(old: str, new: str) -> str:
    """One file under two names (archived outputs never change), or a copy where that is not possible."""
    with suppress(OSError):
        os.link(old, new)
        return new
    return shutil.copy2(old, new)


def _name(call_id: str) -> str:
    """The id itself where it is a plain word, else what is plain of it and a hash that tells such ids apart."""
    if re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{_LENGTH - 1}}}", call_id):
        return call_id
    plain = re.sub(r"[^A-Za-z0-9]+", "-", call_id, flags=re.ASCII).strip("-")[: _LENGTH // 2]
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{plain}-{digest}" if plain else digest
