"""Folders that are the person's alone: the home and all that is kept in it."""

from __future__ import annotations

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and those above it, each 0700; existing ones stay as they are. Raises OSError."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(0o700, exist_ok=True)
