"""The sandbox of a session, out of settings and surroundings (L5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codeagent.core.events import Notice
from codeagent.core.paths import Project
from codeagent.core.ui import UI
from codeagent.options import Options
from codeagent.safety.permissions import Permissions
from codeagent.safety.sandbox.places import Ground
from codeagent.safety.sandbox.sandbox import Sandbox
from codeagent.settings.schema import SandboxSettings


def make_sandbox(
    settings: SandboxSettings,
    options: Options,
    project: Project,
    ui: UI,
    *,
    archive: Path,
    permissions: Permissions | None = None,
    tell: Callable[[Notice], object] = lambda notice: None,
) -> Sandbox:
    """`archive` holds what the session put away, which commands may read; in yolo nobody is asked."""
    ground = Ground(
        (project.top, *_elsewhere(project), *(path.resolve() for path in options.add_dirs)),
        options.environ,
        options.home.root,
        (archive,),
        settings.write,
        settings.read,
    )
    return Sandbox(
        settings.mode,
        ground,
        ui,
        network=settings.network == "on",
        asks=lambda: permissions is not None and permissions.mode != "yolo",
        tell=tell,
        marker=options.home.cache / "sandbox-told",
    )


def _elsewhere(project: Project) -> tuple[Path, ...]:
    """Where git keeps the history of a work tree, if not inside of it."""
    kept = project.identity / ".git" if (project.identity / ".git").is_dir() else project.identity
    return () if kept.is_relative_to(project.top) else (kept,)
