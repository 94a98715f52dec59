"""Files by the folder that holds them: opened once, step by step and through no link, so that nobody who swaps a folder
for a link between the question and the deed leads it elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a folder that is held open. Everything raises OSError."""

    folder: int
    name: str
    path: Path
    """For people; not for access."""

    def state(self) -> os.stat_result | None:
        """Of the file or link itself; None where there is none."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def writable(self) -> bool:
        return os.access(self.name, os.W_OK, dir_fd=self.folder)

    def beside(self, name: str) -> Place:
        return Place(self.folder, name, self.path.with_name(name))

    def create(self) -> int:
        return os.open(self.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=self.folder)

    def open(self) -> BinaryIO:
        """For reading; a link is refused."""
        handle = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            return os.fdopen(handle, "rb")
        except BaseException:  # it is a folder
            os.close(handle)
            raise

    def replace(self, target: Place) -> None:
        os.replace(self.name, target.name, src_dir_fd=self.folder, dst_dir_fd=target.folder)

    def link(self, target: Place) -> None:
        os.link(self.name, target.name, src_dir_fd=self.folder, dst_dir_fd=target.folder, follow_symlinks=False)

    def unlink(self, *, missing_ok: bool = False) -> None:
        with suppress(FileNotFoundError) if missing_ok else ExitStack():
            os.unlink(self.name, dir_fd=self.folder)

    def names(self) -> list[str]:
        """What stands in the folder."""
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            return os.listdir(handle)  # noqa: PTH208 (of a handle)
        finally:
            os.close(handle)


class Folders:
    """Holds folders open until it is closed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._made: list[tuple[int, str]] = []

    def place(self, path: Path, *, make: bool = False) -> Place:
        """The place of `path`, a real path; `make` makes the folders that are missing.

        Raises:
            OSError: there is no such folder, or a link stands where a folder was.
        """
        folder = self._keep(os.open(path.anchor, _FOLDER))
        for name in path.parts[1:-1]:
            folder = self._step(folder, name, path, make=make)
        return Place(folder, path.name, path)

    def unmake(self) -> None:
        """Take away the folders that were made, as far as they are empty."""
        for folder, name in reversed(self._made):
            with suppress(OSError):
                os.rmdir(name, dir_fd=folder)

    def close(self) -> None:
        self._stack.close()

    def _step(self, folder: int, name: str, path: Path, *, make: bool) -> int:
        try:
            return self._keep(os.open(name, _FOLDER, dir_fd=folder))
        except FileNotFoundError as error:
            if not make:
                raise FileNotFoundError(error.errno, error.strerror, str(path)) from None
        except NotADirectoryError:
            if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, "A folder on the way has become a link", str(path)) from None
            raise
        with suppress(FileExistsError):  # somebody else made it meanwhile
            os.mkdir(name, dir_fd=folder)
            self._made.append((folder, name))
        return self._keep(os.open(name, _FOLDER, dir_fd=folder))

    def _keep(self, handle: int) -> int:
        self._stack.callback(os.close, handle)
        return handle


@contextmanager
def held() -> Iterator[Callable[[Path], Place]]:
    """Places for a short while."""
    folders = Folders()
    try:
        yield folders.place
    finally:
        folders.close()


def open_held(path: Path) -> BinaryIO:
    """The file at a real path, for reading: no part of it may be a link. Raises OSError."""
    with held() as place:
        return place(path).open()
