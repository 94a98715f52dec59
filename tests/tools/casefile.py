"""Cases of tools as data: files before, calls and answers, files after. One TOML file in `cases/` per topic.

    [[case]]
    name = "a passage is replaced"
    before."a.py" = "a = 1\\n"                  # other forms: see `put`
    edit_file = { path = "a.py", old_string = "1", new_string = "2" }
    answer = "Edited a.py, now line 1."         # the whole text; or has = [...], lacks = [...]: parts of it
    after."a.py" = "a = 2\\n"                   # false: gone

What `after` does not name is as it was before, to the byte and the mode bits, and nothing else has come into being. A
sequence is written as `[[case.step]]` tables, each with a tool and what is expected of its answer. A step may also say
`failed = true` (false is what is expected otherwise), `denied`, `partial`, `summary`, and `disk`: files that others
change before the call. Of a case: `seen = false` where the model has read no file (else it has read all), `said` (the
user's words), `person` (keys of the answers to questions, or { key, text }), `env` (for child processes), `checks`
(table of glob to command; an empty one looks at syntax alone). In texts `{top}` stands for the folder.
"""

from __future__ import annotations

import codecs
import os
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codeagent.core.tools import ToolResult
from codeagent.core.ui import Answer

FOLDER = Path(__file__).with_name("cases")
_EXPECTED = {"answer", "has", "lacks", "failed", "denied", "partial", "summary", "disk"}
_CASE = {"name", "before", "after", "seen", "said", "person", "env", "checks", "step"}
_BOMS = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


@dataclass(frozen=True)
class Step:
    tool: str
    arguments: dict[str, Any]
    expected: dict[str, Any]

    def check(self, result: ToolResult, top: Path) -> None:
        text, wanted = result.text.replace(str(top), "{top}"), self.expected
        told = (result.failed, result.denied, result.partial)
        assert told == tuple(wanted.get(name, False) for name in ("failed", "denied", "partial")), text
        if "answer" in wanted:
            assert text.rstrip("\n") == wanted["answer"].rstrip("\n")
        assert [part for part in wanted.get("has", ()) if part not in text] == [], text
        assert [part for part in wanted.get("lacks", ()) if part in text] == [], text
        assert result.summary == wanted.get("summary", result.summary)


@dataclass(frozen=True)
class Case:
    name: str
    steps: list[Step]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    seen: bool = True
    said: str = ""
    person: list[Any] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] | None = None

    @property
    def answers(self) -> list[Answer]:
        return [Answer(one) if isinstance(one, str) else Answer(**one) for one in self.person]


def load_cases() -> list[Case]:
    return [
        _case(f"{path.stem}: {raw.pop('name')}", raw)
        for path in sorted(FOLDER.glob("*.toml"))
        for raw in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    ]


def _case(name: str, raw: dict[str, Any]) -> Case:
    common = {key: raw.pop(key) for key in _CASE & set(raw)}
    steps = common.pop("step", None) or [raw]
    return Case(name, [_step(name, dict(step)) for step in steps], **common)


def _step(name: str, raw: dict[str, Any]) -> Step:
    expected = {key: raw.pop(key) for key in _EXPECTED & set(raw)}
    assert len(raw) == 1, f"{name}: a step has one tool, not {sorted(raw)}"
    assert expected.keys() & {"answer", "has"}, f"{name}: say what is answered"
    ((tool, arguments),) = raw.items()
    return Step(tool, arguments, expected)


# ---- files ---------------------------------------------------------------------------------------------------------

Found = tuple[bytes | str, int | None]
"""Content, or where a link leads; mode bits of a file, None where they do not matter."""


def put(top: Path, files: dict[str, Any]) -> None:
    """Write `files`: a name ending in "/" is a folder, false takes a file away, a string is its text in UTF-8.

    A table has `text` or `hex`, `repeat`, `encoding`, `bom`, `eol` (what a newline in `text` becomes), `mode` ("755"),
    or `link` alone.
    """
    for name, what in files.items():
        path = top / name
        if what is False:
            path.unlink()
        elif name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            content, mode = _wanted(what)
            if isinstance(content, str):
                path.symlink_to(content)
                continue
            path.write_bytes(content)
            if mode is not None:
                path.chmod(mode)


def look(top: Path) -> dict[str, Found]:
    """Everything below `top` but folders."""
    found: dict[str, Found] = {}
    for folder, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = Path(folder, name)
            key = path.relative_to(top).as_posix()
            if path.is_symlink():
                found[key] = (str(path.readlink()), None)
            elif path.is_file():
                found[key] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


def changed(before: dict[str, Found], after: dict[str, Any], now: dict[str, Found]) -> dict[str, Found]:
    """What is expected to stand there, where `now` fills in the mode bits of new files."""
    expected = dict(before)
    for name, what in after.items():
        if what is False:
            expected.pop(name, None)
            continue
        content, mode = _wanted(what)
        old = before.get(name, now.get(name, (b"", None)))[1]
        expected[name] = (content, old if mode is None else mode)
    return expected


def _wanted(what: Any) -> Found:
    if isinstance(what, str):
        return what.encode(), None
    if "link" in what:
        return str(what["link"]), None
    mode = int(what["mode"], 8) if "mode" in what else None
    if "hex" in what:
        return bytes.fromhex(what["hex"]) * what.get("repeat", 1), mode
    encoding = what.get("encoding", "utf-8")
    text = (what["text"] * what.get("repeat", 1)).replace("\n", what.get("eol", "\n"))
    return (_BOMS[encoding] if what.get("bom") else b"") + text.encode(encoding), mode
