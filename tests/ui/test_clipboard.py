"""Pictures out of the clipboard, by programs that stand in for the system's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codeagent.core.errors import CodeAgentError
from codeagent.ui.clipboard import clipboard_picture
from tests.pictures import png


def systems(folder: Path, **programs: str) -> Mapping[str, str]:
    """An environment with these programs alone, shell scripts by name."""
    for name, script in programs.items():
        path = folder / name.replace("_", "-").replace("-exe", ".exe")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    (folder / "shot.png").write_bytes(png(3, 2))
    return {"PATH": str(folder), "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("program", "script"),
    [
        ("wl_paste", '[ "$3" = image/png ] && /bin/cat {}'),
        ("xclip", '[ "$4" = image/png ] && /bin/cat {}'),
        ("pngpaste", '[ "$1" = - ] && /bin/cat {}'),
        ("powershell_exe", "/usr/bin/base64 {}"),
    ],
)
async def test_each_system_has_its_program(tmp_path: Path, program: str, script: str) -> None:
    environ = systems(tmp_path, **{program: script.format(tmp_path / "shot.png")})
    assert await clipboard_picture(environ) == png(3, 2)


async def test_text_in_the_clipboard_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(CodeAgentError, match="no picture in the clipboard"):
        await clipboard_picture(systems(tmp_path, wl_paste="echo 文字", xclip="exit 1"))


async def test_without_a_program_it_is_said_which(tmp_path: Path) -> None:
    with pytest.raises(CodeAgentError) as failed:
        await clipboard_picture(systems(tmp_path))
    assert "xclip" in failed.value.hint
