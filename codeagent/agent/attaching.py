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
_NAMED = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))')
_BEHIND = ".,;:!?)]}'\"。，；：！？、）】」》"
"""What may stand right behind a name and is no part of it."""

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
            images.append(await asyncio.to_thread(load_picture, path, name, ctx.archive))
            sentence = "Attached {name}." if ctx.sees else "{name} is attached, but the model is told its name alone."
            notices.append(Notice(sentence, {"name": name}, "info" if ctx.sees else "warning"))
        except (ToolFault, OSError) as error:
            notices.append(Notice("{name} is not attached: {reason}", {"name": name, "reason": str(error)}, "warning"))
    return tuple(images), tuple(notices)


def _paths(said: str, ctx: ToolContext) -> Iterator[Path]:
    for quoted, plain in _NAMED.findall(said):
        for text in (quoted,) if quoted else (plain, plain.rstrip(_BEHIND)):
            if Path(text).suffix.lower() not in SUFFIXES or "\0" in text:
                continue
            path = resolve(ctx, text)
            if path.is_file():
                yield path
                break
