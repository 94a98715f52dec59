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
from codeagent.safety.sandbox.sandbox import Sandbox, describe
from codeagent.settings.schema import SandboxSettings


def make_sandbox(
    settings: SandboxSettings,
    options: Options,
    project: Project,
    ui: UI,
    *,
    archive: Path,
    permissions: Permissions,
    tell: Callable[[Notice], object],
) -> Sandbox:
    """`archive` holds what the session put away, which commands may read; in yolo nobody is asked."""
    return Sandbox(
        settings.mode,
        _ground(settings, options, project, archive),
        ui,
        network=settings.network == "on",
        asks=lambda: permissions.mode != "yolo",
        tell=tell,
        marker=options.home.cache / "sandbox-told",
    )


def sandbox_state(settings: SandboxSettings, options: Options, project: Project) -> Notice:
    """Whether there would be a sandbox here, and which."""
    return describe(settings.mode, _ground(settings, options, project), network=settings.network == "on")


def _ground(settings: SandboxSettings, options: Options, project: Project, *shown: Path) -> Ground:
    roots = (project.top, *_elsewhere(project), *(path.resolve() for path in options.add_dirs))
    return Ground(roots, options.environ, options.home.root, shown, settings.write, settings.read)


def _elsewhere(project: Project) -> tuple[Path, ...]:
    """Where git keeps the history of a work tree, if not inside of it."""
    kept = project.identity / ".git" if (project.identity / ".git").is_dir() else project.identity
    return () if kept.is_relative_to(project.top) else (kept,)
