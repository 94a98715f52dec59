"""Completion of commands and files."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from codeagent.ui.completion import DraftCompleter, matching
from codeagent.ui.files import FileIndex, initials


@dataclass(frozen=True)
class Word:
    name: str
    arguments: str = ""
    help: str = ""
    aliases: tuple[str, ...] = ()


COMMANDS = [
    Word("compact", "[focus]"),
    Word("clear", aliases=("new",)),
    Word("cost"),
    Word("save", "<fact>", "Keep it."),
]


def _files(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


async def _complete(completer: DraftCompleter, text: str) -> list[tuple[str, int]]:
    found = completer.get_completions_async(Document(text), CompleteEvent(text_inserted=True))
    return [(completion.text, completion.start_position) async for completion in found]


@pytest.mark.parametrize(
    ("typed", "names"),
    [("c", ["clear", "compact", "cost"]), ("ct", ["compact", "cost"]), ("ne", ["clear"]), ("x", []), ("sv", ["save"])],
)
def test_commands_are_found_by_some_of_their_letters(typed: str, names: list[str]) -> None:
    assert [command.name for command in matching(COMMANDS, typed)] == names


async def test_commands_complete_at_the_beginning_alone(tmp_path: Path) -> None:
    completer = DraftCompleter(FileIndex(tmp_path))
    completer.commands = COMMANDS
    assert await _complete(completer, "/sa") == [("/save ", -3)]
    assert await _complete(completer, "/cle") == [("/clear", -4)]
    assert await _complete(completer, "/save x") == []
    assert await _complete(completer, "say /sa") == []


async def test_files_complete_behind_an_at_sign(tmp_path: Path) -> None:
    _files(tmp_path, "src/main.py", "src/a b.py", ".hidden/x", "node_modules/y.js")
    completer = DraftCompleter(FileIndex(tmp_path))
    assert await _complete(completer, "see @smain") == [("@src/main.py ", -6)]
    assert await _complete(completer, "@a b") == []
    assert await _complete(completer, "@ab.py") == [('@"src/a b.py" ', -6)]
    assert await _complete(completer, "@") == [("@src/", -1), ('@"src/a b.py" ', -1), ("@src/main.py ", -1)]
    assert await _complete(completer, "me@src") == []


async def test_a_repository_lists_what_git_would(tmp_path: Path) -> None:
    _files(tmp_path, "kept.py", "ignored.log", "文档/说明.md")
    (tmp_path / ".gitignore").write_text("*.log\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    index = FileIndex(tmp_path)
    assert await index.search("") == [".gitignore", "kept.py", "文档/", "文档/说明.md"]
    assert await index.search("wd/sm") == ["文档/说明.md"]
    _files(tmp_path, "newer.py")
    assert await index.search("newer") == []
    index.forget()
    assert await index.search("newer") == ["newer.py"]


async def test_the_name_counts_more_than_the_folder(tmp_path: Path) -> None:
    _files(tmp_path, "test/other.py", "a/latest.py", "a/b/test.py", "t/e/s/t.py")
    found = await FileIndex(tmp_path).search("test")
    assert found == ["test/", "a/b/test.py", "a/latest.py", "test/other.py", "t/e/s/t.py"]


def test_initials_of_chinese_names() -> None:
    assert initials("长期记忆系统-v2.md") == "cqjyxt-v2.md"
