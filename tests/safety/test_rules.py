from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.errors import ConfigError
from codeagent.core.tools import Action
from codeagent.safety.rules import Rule, allows, forbids, parse_rules


def run(command: str) -> Action:
    return Action("shell", "run", command, "")


def edit(path: Path, tool: str = "edit_file") -> Action:
    return Action(tool, "edit", str(path), "")


def test_rules_are_read() -> None:
    assert parse_rules(["shell", " shell(npm test:*) ", "edit_file(src/**)", "", "glob(*)", "shell(a (b))"]) == (
        Rule("shell"),
        Rule("shell", "npm test:*"),
        Rule("edit_file", "src/**"),
        Rule("glob"),
        Rule("shell", "a (b)"),
    )
    assert [str(rule) for rule in parse_rules(["shell", "shell(ls:*)"])] == ["shell", "shell(ls:*)"]


@pytest.mark.parametrize("text", ["shell(", "(x)", "two words", "shell(x) y"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no permission rule"):
        parse_rules([text])


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("shell", "rm -rf / && x", True),
        ("shell(npm test:*)", "npm test", True),
        ("shell(npm test:*)", "npm  test --watch", True),
        ("shell(npm test:*)", "npm tests", False),
        ("shell(npm test:*)", "npm", False),
        ("shell(npm test:*)", "npm test; rm x", False),
        ("shell(npm test:*)", "npm test $(rm x)", False),
        ("shell(npm test:*)", "npm test > x", False),
        ("shell(npm test:*)", "npm test\nrm x", False),
        ("shell(git status)", "git status", True),
        ("shell(git status)", "git status -s", False),
        ("shell(cd a && make)", "cd a && make", True),
        ("grep", "npm test", False),
    ],
)
def test_which_commands_a_rule_allows(rule: str, command: str, covered: bool) -> None:
    assert allows(parse_rules([rule]), run(command), []) is covered


@pytest.mark.parametrize(
    ("rule", "command", "met"),
    [
        ("shell(rm:*)", "rm x", True),
        ("shell(rm:*)", "cd a && rm x", True),
        ("shell(rm:*)", "echo $(rm x)", True),
        ("shell(rm:*)", "X=1 rm x", True),
        ("shell(rm:*)", "ls | rm", True),
        ("shell(rm:*)", "rmdir x", False),
        ("shell(git push:*)", "git X=1 push", False),
        ("shell(git push)", "git add . ; git push", True),
        ("shell(git push)", "git push --force", False),
    ],
)
def test_which_commands_a_rule_forbids(rule: str, command: str, met: bool) -> None:
    assert (forbids(parse_rules([rule]), run(command), []) is not None) is met


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("edit_file(src/**)", "src/a/b.py", True),
        ("edit_file(src/**)", "lib/a.py", False),
        ("edit_file(*.md)", "docs/a.md", True),
        ("edit_file(/{top}/docs/**)", "docs/a.md", True),
        ("edit_file(/etc/**)", "etc/a", False),
        ("write_file(src/**)", "src/a.py", False),
        ("edit_file", "anything", True),
    ],
)
def test_which_paths_a_rule_covers(tmp_path: Path, rule: str, path: str, covered: bool) -> None:
    top = tmp_path.resolve()
    rules = parse_rules([rule.replace("/{top}", str(top))])
    assert allows(rules, edit(top / path), [top]) is covered


@pytest.mark.parametrize(
    ("rule", "url", "covered"),
    [
        ("web_fetch(domain:example.org)", "https://example.org/a?b", True),
        ("web_fetch(domain:example.org)", "http://Docs.Example.org.:8080/", True),
        ("web_fetch(domain:example.org)", "https://notexample.org/", False),
        ("web_fetch(domain:example.org)", "https://example.org.evil.test/", False),
        ("web_fetch(domain:example.org)", "https://evil.test/?u=example.org", False),
        ("web_fetch(domain:)", "https://example.org/", False),
        ("web_fetch(domain:例子.中国)", "https://xn--fsqu00a.xn--fiqs8s/", True),
        ("web_fetch(example.org)", "https://example.org/", False),
        ("web_fetch", "https://anything.test/", True),
        ("web_search", "https://example.org/", False),
        ("web_fetch(domain:example.org)", "http://[::1", False),
    ],
)
def test_which_addresses_a_rule_covers(rule: str, url: str, covered: bool) -> None:
    action = Action("web_fetch", "web", url, "")
    assert allows(parse_rules([rule]), action, []) is covered
    assert (forbids(parse_rules([rule]), action, []) is not None) is covered


def test_a_rule_for_edit_file_covers_every_tool_that_edits(tmp_path: Path) -> None:
    assert allows(parse_rules(["edit_file"]), edit(tmp_path / "a", "write_file"), [])
    assert not allows(parse_rules(["write_file"]), edit(tmp_path / "a"), [])


def test_a_path_is_followed_before_it_is_matched(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "src").mkdir()
    (top / "src/link").symlink_to("/etc")
    assert not allows(parse_rules(["edit_file(src/**)"]), edit(top / "src/link/hosts"), [top])
    assert not allows(parse_rules(["edit_file(src/**)"]), edit(top / "src/../x"), [top])


def test_names_from_servers() -> None:
    action = Action("mcp__github__search", "run", "{}", "")
    for rule in ("mcp__github__search", "mcp__github", "mcp__github__*"):
        assert allows(parse_rules([rule]), action, [])
    assert not allows(parse_rules(["mcp__git"]), action, [])
