"""A picture out of the clipboard, by the program that the system has for it."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping, Sequence
from contextlib import suppress

from codeagent.core.errors import CodeAgentError
from codeagent.core.images import image_size

PATIENCE = 10.0
"""Seconds that such a program may take."""
_LARGEST = 50_000_000
"""Bytes of a picture."""
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;"
    "$i=[Windows.Forms.Clipboard]::GetImage();"
    "if($i){$m=New-Object IO.MemoryStream;$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($m.ToArray())}"
)
_WINDOWS = ("powershell.exe", "-NoProfile", "-STA", "-Command", _POWERSHELL)
_PROGRAMS: tuple[tuple[str, Sequence[str]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
    ("", _WINDOWS),
)
"""(variable that must be set, command line that writes the picture)."""


async def clipboard_picture(environ: Mapping[str, str]) -> bytes:
    """The bytes of the picture in the clipboard.

    Raises:
        CodeAgentError: there is none, or no program to get it by.
    """
    found = False
    for variable, command in _PROGRAMS:
        if variable and not environ.get(variable):
            continue
        data = await _output(command, environ)
        found = found or data is not None
        if data and command is _WINDOWS:
            with suppress(binascii.Error):
                data = base64.b64decode(data)
        if data and image_size(data) is not None:
            return data
    if found:
        raise CodeAgentError("There is no picture in the clipboard.")
    raise CodeAgentError(
        "Nothing here can read pictures from the clipboard.",
        hint="Install wl-clipboard or xclip (Linux) or pngpaste (macOS), or name a file: @shot.png",
    )


async def _output(command: Sequence[str], environ: Mapping[str, str]) -> bytes | None:
    """What `command` writes; None where there is no such program."""
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=quiet, stdout=asyncio.subprocess.PIPE, stderr=quiet, env=dict(environ)
        )
    except OSError:
        return None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(process.stdout)
    except TimeoutError:
        return b""
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _read(stream: asyncio.StreamReader) -> bytes:
    """All of it, or nothing where it is too much."""
    data = bytearray()
    while piece := await stream.read(65_536):
        data += piece
        if len(data) > _LARGEST:
            return b""
    return bytes(data)
