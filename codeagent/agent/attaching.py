"""Pictures that a message names: `@shot.png` attaches the file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

from codeagent.core.events import Notice
from codeagent.core.images import Image
from codeagent.core.tools import ToolContext
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import resolve, shown
from codeagent.tools.pictures import SUFFIXES, load_picture

MOST = 10
"""Pictures of one message."""
_NAME = 300
"""Characters of a path that is looked for."""
_ENDINGS = "|".join(re.escape(suffix) for suffix in sorted(SUFFIXES, reverse=True))
_NAMED = re.compile(
    rf'(?<![A-Za-z0-9_.%+-])@(?!@)(?:"([^"\n]{{1,{_NAME}}}(?:{_ENDINGS}))"|(\S{{1,{_NAME}}}?(?:{_ENDINGS}))(?![A-Za-z0-9_./-]*[A-Za-z0-9_/-]))',
    re.IGNORECASE,
)
"""A name in quotes or without blanks; punctuation and Chinese may follow at once."""

Attached = tuple[tuple[Image, ...], tuple[Notice, ...]]
NOTHING: Attached = ((), ())


async def attached(said: str, ctx: ToolContext) -> Attached:
    """The pictures that `said` names, and what the person should know of them."""
    paths = list(dict.fromkeys(_paths(said, ctx)))[:MOST] if "@" in said else []
    if not paths:
        return NOTHING
    images: list[Image] = []
    notices: list[Notice] = []
    for path in paths:
        name = shown(ctx, path)
        try:
            if not path.is_file():
                notices.append(Notice("There is no file {name}, so none is attached.", {"name": name}, "warning"))
                continue
            images.append(await asyncio.to_thread(load_picture, path, name, ctx.archive))
            sentence = "Attached {name}." if ctx.sees else "{name} is attached, but the model is told its name alone."
            notices.append(Notice(sentence, {"name": name}, "info" if ctx.sees else "warning"))
        except (ToolFault, OSError) as error:
            notices.append(Notice("{name} is not attached: {reason}", {"name": name, "reason": str(error)}, "warning"))
    return tuple(images), tuple(notices)


def _paths(said: str, ctx: ToolContext) -> Iterator[Path]:
    for quoted, plain in _NAMED.findall(said):
        text = quoted or plain
        if "\0" not in text:
            path = resolve(ctx, text)
            yield _pasted(path, ctx.archive.folder / text) if "/" not in text else path


def _pasted(path: Path, kept: Path) -> Path:
    """What was pasted is kept with the session, and named by its name alone."""
    try:
        return kept if not path.exists() and kept.is_file() else path
    except OSError:  # a name that no disk takes
        return path
