"""Names in the place of secrets: stable, put back only where they are used, and never lost on a bad disk."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codeagent.core.messages import ToolCall
from codeagent.core.paths import secrets_of
from codeagent.core.tools import ToolResult
from codeagent.history.archive import SessionArchive
from codeagent.safety.veil import Veil

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
NAME = re.compile(r"SECRET_[0-9a-f]{8}")


def _veil(tmp_path: Path) -> Veil:
    return Veil(tmp_path / "s1.jsonl")


def test_one_secret_has_one_name_also_for_the_next_run(tmp_path: Path) -> None:
    name = _veil(tmp_path).hide(TOKEN)
    assert NAME.fullmatch(name)
    again = _veil(tmp_path)
    assert again.hide(f"a {TOKEN} b {TOKEN}") == f"a {name} b {name}"
    assert again.hide(f"API_KEY={TOKEN}x9") != f"API_KEY={name}x9", "another secret that begins like it"


def test_what_was_seen_once_is_known_bare_and_words_are_not(tmp_path: Path) -> None:
    veil = _veil(tmp_path)
    name = veil.hide("DB_PASSWORD=x7-harbour").removeprefix("DB_PASSWORD=")
    assert veil.hide("connecting with x7-harbour …") == f"connecting with {name} …"
    veil.hide("APP_SECRET=development")
    assert veil.hide("the development server") == "the development server"


@pytest.mark.parametrize(
    ("tool", "kind", "put_back"),
    [
        ("edit_file", "edit", True),
        ("apply_patch", "edit", True),
        ("shell", "run", True),
        ("grep", "read", True),
        ("read_file", "read", False),
        ("web_fetch", "web", False),
        ("web_search", "web", False),
        ("save_memory", "memory", False),
        ("task", "read", False),
        ("ask_user", "ask", False),
    ],
)
def test_who_gets_it_back(tmp_path: Path, tool: str, kind: str, put_back: bool) -> None:
    veil = _veil(tmp_path)
    secret = 'a"b\\c 1;密'
    name = veil.hide(f"DB_PASSWORD='{secret}'").split("'")[1]
    restored = veil.restore(ToolCall("c1", tool, json.dumps({"text": f"<{name}>"})), kind)
    assert json.loads(restored.arguments) == {"text": f"<{secret if put_back else name}>"}


def test_the_result_says_what_the_name_is_for(tmp_path: Path) -> None:
    veil = _veil(tmp_path)
    covered = veil.cover(ToolResult(f"token {TOKEN}", summary="1 line"))
    first, told = covered.text.splitlines()
    assert (NAME.sub("?", first), told.startswith("[SECRET_…"), covered.summary) == ("token ?", True, "1 line")
    assert veil.cover(ToolResult("plain")) == ToolResult("plain")


def test_a_secret_across_the_pieces_of_an_output_is_hidden(tmp_path: Path) -> None:
    veil, session = _veil(tmp_path), tmp_path / "s1.jsonl"
    archive = veil.archive(SessionArchive(session))
    line = f"token {TOKEN}\n"
    text = line * 5_000
    name = archive.put("call", (text[at : at + 777] for at in range(0, len(text), 777)))
    stored = (archive.folder / name).read_text("utf-8")
    assert stored == line.replace(TOKEN, veil.hide(TOKEN)) * 5_000


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"names": []}', b'{"names": {"x": 1, "SECRET_0000000g": "a"}}', b"\xff\xfe"]
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    secrets_of(tmp_path / "s1.jsonl").write_bytes(damage)
    name = _veil(tmp_path).hide(TOKEN)
    assert _veil(tmp_path).hide(TOKEN) == name


def test_without_a_disk_it_holds_for_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    veil = Veil(tmp_path / "file" / "s1.jsonl")
    name = veil.hide(TOKEN)
    call = ToolCall("c1", "shell", json.dumps({"command": f"echo {name}"}))
    assert json.loads(veil.restore(call, "run").arguments) == {"command": f"echo {TOKEN}"}
