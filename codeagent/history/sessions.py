"""Begin a session, go on with one, go on with a copy of one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from codeagent.core.errors import SessionError, SessionNotFound, StoreError
from codeagent.core.events import Notice
from codeagent.core.messages import PLAIN, WireShape
from codeagent.core.ports import Estimate
from codeagent.core.private import make_private
from codeagent.core.tokens import estimate_classes
from codeagent.history import records
from codeagent.history.archive import share_archive
from codeagent.history.history import History
from codeagent.history.journal import Journal
from codeagent.history.reading import read_lines, read_state
from codeagent.history.records import SessionInfo
from codeagent.history.replay import Damage, State

Clock = Callable[[], float]
"""Seconds since the epoch."""


def new_session(
    path: Path,
    info: SessionInfo,
    *,
    shape: WireShape = PLAIN,
    estimate: Estimate = estimate_classes,
    now: Clock = time.time,
) -> History:
    """A session whose file is made when the first message is appended."""
    journal = Journal(path, now)
    info = replace(info, created=round(now() * 1000) / 1000)
    journal.hold(records.session_body(info), info.created)
    return History(journal, info, State(session=info, name=info.name), shape=shape, estimate=estimate)


async def open_session(
    path: Path, *, shape: WireShape = PLAIN, estimate: Estimate = estimate_classes, now: Clock = time.time
) -> History:
    """Go on with a session: cut a torn end off, replay, answer the calls that were running when it ended.

    Raises:
        SessionNotFound, SessionBusy, SessionTooNew, StoreError
    """
    journal = await asyncio.to_thread(Journal.open, path, now)
    try:
        found = await asyncio.to_thread(read_state, path, shape, estimate)
        torn = journal.cut_torn()
        session = found.state.session or SessionInfo(path.stem, path.parent.name, "", "", "")
        journal.seq = found.state.seq
        if journal.size == 0:
            journal.write(records.session_body(session))
        notices = tuple(_notices(path.stem, torn, found.damage))
        history = History(journal, session, found.state, shape=shape, estimate=estimate, notices=notices)
        history.repair_pairs()
    except BaseException:
        journal.close()
        raise
    return history


async def fork_session(source: Path, target: Path, info: SessionInfo, *, now: Clock = time.time) -> None:
    """Copy a session with all of its past, so that the copy resumes as the original would; `info.parent` names it.

    The original may be in use. Its archived tool outputs are shared where the file system can.

    Raises:
        SessionNotFound, SessionError, StoreError
    """
    first = records.line(1, records.stamp(now()), records.session_body(info))
    try:
        await asyncio.to_thread(_copy, source, target, first)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("{path} cannot be written: {reason}.", path=target, reason=reason) from error


def _copy(source: Path, target: Path, first: bytes) -> None:
    if not source.is_file():
        raise SessionNotFound("There is no session {id}.", id=source.stem)
    if target.exists():
        raise SessionError("There is a session {id} already.", id=target.stem)
    make_private(target.parent)
    unfinished = target.with_suffix(".part")
    try:
        with (
            source.open("rb") as old,
            os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new,
        ):
            new.write(first)
            new.writelines(data for _, data in read_lines(old) if not _is_session(data))
        share_archive(source, target)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_session(data: bytes) -> bool:
    try:
        return records.head_of(data).type == "session"
    except records.UNREADABLE:
        return False


def _notices(id: str, torn: int, damage: Damage) -> Iterator[Notice]:
    if torn:
        yield Notice(
            "The unfinished last line of the session file was cut off ({size} bytes).", {"size": torn}, "warning"
        )
    if damage.lines:
        yield Notice(
            "Damaged lines of the session file were skipped: {lines}. "
            "`codeagent sessions repair {id}` shows them and writes a mended copy.",
            {"lines": _listed(damage.lines), "id": id},
            "warning",
        )
    if damage.gaps:
        yield Notice(
            "Lines are missing in the session file before line {lines}. "
            "`codeagent sessions repair {id}` shows them and writes a mended copy.",
            {"lines": _listed(damage.gaps), "id": id},
            "warning",
        )


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:8])
    return f"{shown}, …" if len(numbers) > 8 else shown
