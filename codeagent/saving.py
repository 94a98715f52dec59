"""Checkpoints of a session: the store under the home, the folders that are looked at, the session file (L5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeagent.core.events import Notice
from codeagent.core.paths import Home
from codeagent.core.tools import Action, Command
from codeagent.history.history import History
from codeagent.history.reading import read_checkpoints
from codeagent.safety.checkpoints.saved import THREATENED, SavedWork
from codeagent.safety.checkpoints.store import Store
from codeagent.safety.checkpoints.tree import Tree
from codeagent.safety.commands import only_looks
from codeagent.safety.losses import Losses
from codeagent.settings.schema import CheckpointSettings

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class _SessionLog:
    """Implements `checkpoints.timeline.Log`."""

    history: History

    @property
    def turn(self) -> int:
        return self.history.turn

    def write(self, fields: Mapping[str, object]) -> None:
        self.history.checkpoint(fields)

    def read(self) -> Sequence[Mapping[str, Any]]:
        return read_checkpoints(self.history.path)


def make_saved_work(
    home: Home,
    history: History,
    roots: Sequence[Path],
    settings: CheckpointSettings,
    tell: Callable[[Notice], object],
) -> SavedWork:
    """Nothing is opened or read before the first tool that changes something."""
    store = Store(home.checkpoints, settings.store_mb * MB)
    limit = settings.file_mb * MB
    tree = Tree(map(str, roots), store, skip=[str(home.root)], limit=limit, room=settings.store_mb * MB // 2)

    def looks(action: Action) -> bool:
        return isinstance(action.preview, Command) and only_looks(action.subject, Path(action.preview.cwd), roots)

    return SavedWork(
        store, tree, _SessionLog(history), tell,
        session=history.session.id, looks=looks, limit=limit,
    )  # fmt: skip


def make_losses(environ: Mapping[str, str], settings: CheckpointSettings) -> Losses:
    """What commands would destroy; without checkpoints nothing of it can be saved."""
    return Losses(environ, settings.file_mb * MB * THREATENED if settings.enabled else -1)
