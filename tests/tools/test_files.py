from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeagent.tools.files import FileLedger


def test_states_of_a_file(tmp_path: Path) -> None:
    ledger, path = FileLedger(), tmp_path / "a"
    path.write_text("one")
    assert ledger.state(path) == "unread"
    ledger.note(path)
    assert ledger.state(path) == "current"
    path.write_text("two")
    assert ledger.state(path) == "changed"
    ledger.note(path)
    assert ledger.state(path) == "current"
    path.unlink()
    assert ledger.state(path) == "changed"
    ledger.note(path)
    assert ledger.state(path) == "unread"


def test_a_change_within_the_same_tick_is_seen(tmp_path: Path) -> None:
    ledger, path = FileLedger(), tmp_path / "a"
    path.write_text("one")
    ledger.note(path)
    stat = path.stat()
    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert ledger.state(path) == "changed"


def test_links_lead_to_the_same_file(tmp_path: Path) -> None:
    ledger, path = FileLedger(), tmp_path / "a"
    path.write_text("one")
    (tmp_path / "link").symlink_to(path)
    ledger.note(tmp_path / "link")
    assert ledger.state(path) == "current"


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_current_means_the_same_bytes(before: bytes, after: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger, path = FileLedger(), Path(folder) / "a"
        path.write_bytes(before)
        ledger.note(path)
        path.write_bytes(after)
        assert ledger.state(path) == ("current" if before == after else "changed")


def test_what_was_seen_is_kept_within_bounds(tmp_path: Path) -> None:
    ledger = FileLedger()
    large = [tmp_path / f"large{n}" for n in range(24)]
    for path in large:
        path.write_bytes(os.urandom(900_000))
        ledger.note(path)
    small, huge = tmp_path / "small", tmp_path / "huge"
    small.write_bytes(b"seen")
    huge.write_bytes(bytes(1_000_001))
    ledger.note(small)
    ledger.note(huge)
    small.write_bytes(b"changed")
    assert (ledger.content(small), ledger.content(huge), ledger.content(tmp_path / "never")) == (b"seen", None, None)
    assert [ledger.content(path) is not None for path in large] == [n >= 2 for n in range(24)]
    assert {ledger.state(path) for path in large} == {"current"}
