"""Kinds of subagents out of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.agents import AgentKind
from codeagent.extensions.agents import AgentFiles
from codeagent.extensions.frontmatter import split

TOOLS = ("read_file", "grep", "shell")


def files(tmp_path: Path, *, trusted: bool = True) -> AgentFiles:
    return AgentFiles(tmp_path / "user", tmp_path / "project", lambda: trusted, TOOLS)


def write(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def told(agents: AgentFiles) -> list[str]:
    return [str(notice) for notice in agents.notices()]


def test_a_whole_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "project/审查.md",
        "---\nname: reviewer\ndescription: Reads a change: finds faults\ntools: [read_file, grep]\nmodel: deepseek/x\n"
        "---\n\nLook twice.\n\nThen report.\n",
    )
    agents = files(tmp_path)
    assert agents.load() == {
        "reviewer": AgentKind(
            "reviewer",
            "Reads a change: finds faults",
            "Look twice.\n\nThen report.",
            ("read_file", "grep"),
            model="deepseek/x",
            source=str(path),
        )
    }
    assert told(agents) == []


def test_the_least_there_can_be(tmp_path: Path) -> None:
    path = write(tmp_path, "user/审查.md", "看两遍。\n")
    assert files(tmp_path).load() == {"审查": AgentKind("审查", "", "看两遍。", source=str(path))}


def test_of_one_name_the_projects_counts_and_without_trust_none_of_it(tmp_path: Path) -> None:
    write(tmp_path, "user/a.md", "the user's")
    write(tmp_path, "user/b.md", "the user's")
    write(tmp_path, "project/a.md", "the project's")
    prompts = {name: kind.prompt for name, kind in files(tmp_path).load().items()}
    assert prompts == {"a": "the project's", "b": "the user's"}
    agents = files(tmp_path, trusted=False)
    assert {kind.prompt for kind in agents.load().values()} == {"the user's"}
    agents.load()
    assert told(agents) == ["The agents of this folder are not used until you trust it: codeagent config trust"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "there is no text below its head"),
        ("---\nname: x\n---\n", "there is no text below its head"),
        ("---\nname: two words\n---\nx", "its name is no word of at most 40 letters"),
        ("---\nname: \x1b[31m\n---\nx", "its name is no word of at most 40 letters"),
        (b"\xff\xfe\x00", "it is no UTF-8 text"),
        ("x" * 70_000, "it is larger than 64,000 bytes"),
    ],
)
def test_what_is_none_is_left_out_with_a_sentence_and_the_rest_stays(
    tmp_path: Path, content: str | bytes, reason: str
) -> None:
    path = write(tmp_path, "user/bad.md", content)
    write(tmp_path, "user/good.md", "good")
    agents = files(tmp_path)
    assert list(agents.load()) == ["good"]
    assert told(agents) == [f"The agent {path} is left out: {reason}."]


def test_a_tool_that_is_none_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "user/a.md", "---\ntools:\n  - grep\n  - Bash\n---\nx")
    agents = files(tmp_path)
    assert agents.load()["a"].tools == ("grep", "Bash")
    assert told(agents) == [f"{path}: no subagent can have the tool Bash; there are read_file, grep, shell."]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("---\na: 1\nb: 'x: y'\n---\nrest", {"a": "1", "b": "x: y"}),
        ("\ufeff---\r\nA: one\r\n---\r\nrest", {"a": "one"}),
        ("---\na: >\n  one\n  two\n# no\n---\nrest", {"a": "one two"}),
        ("---\na:\n- x\n- 'y'\n---\nrest", {"a": "x, y"}),
        ("---\nstray\na:\n---\nrest", {"a": ""}),
        ("rest", {}),
    ],
)
def test_heads(text: str, head: dict[str, str]) -> None:
    assert split(text) == (head, "rest")
