"""The web page of a session: whole, and nothing of what others wrote in it can act."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from codeagent.core.errors import StoreError
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.history.catalog import Found, look
from codeagent.history.exporting import FORMATS, write_export
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><b>x</b>\x1b[31m\u202e"
ANSWER = f"""# 标题

看 [here](javascript:alert(1)) and [docs](https://example.org/a?b=1&c=2), ![pixel](https://evil.example/p.png)

| 名 | n |
| --- | --- |
| 表 | 1 |

```html
{HOSTILE}
```
{HOSTILE}
"""


class _Seen(HTMLParser):
    """Elements with their attributes, and all text outside of style and script."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._quiet = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._quiet = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._quiet = False

    def handle_data(self, data: str) -> None:
        if not self._quiet:
            self.text += data


@pytest.fixture
def found(tmp_path: Path) -> Found:
    path = tmp_path / "s1.jsonl"
    history = new_session(path, SessionInfo("s1", "p", f"/tmp/{HOSTILE}", "m", "0", name=f"修复 {HOSTILE}"))
    history.append(UserMessage(f"fix it {HOSTILE}"), origin="user", said=f"fix it {HOSTILE}", new_turn=True)
    call = ToolCall("c1", "shell", '{"command": "echo </pre><script>1</script>"}')
    history.append(AssistantMessage(ANSWER, (call,)), origin="model")
    history.append(ToolMessage("c1", "shell", f"line\n{HOSTILE}"), origin="tool", failed=True)
    history.append(AssistantMessage("完成。"), origin="model")
    history.close()
    seen = look(path)
    assert seen is not None
    return seen


def _read(found: Found) -> tuple[str, _Seen]:
    page = "\n".join(FORMATS["html"](found))
    seen = _Seen()
    seen.feed(page)
    return page, seen


def test_all_that_was_said_is_there_and_folded_where_tools_spoke(found: Found) -> None:
    _, seen = _read(found)
    said = ("fix it", "标题", "完成。", "echo </pre><script>", "line\n", "表")
    assert [text for text in said if text not in seen.text] == []
    tags = [tag for tag, _ in seen.elements]
    assert (tags.count("details"), tags.count("table"), tags.count("section")) == (3, 1, 4)
    folds = [attributes.get("class") for tag, attributes in seen.elements if tag == "details"]
    assert folds == [None, "", "failed"]
    assert ("html", {"lang": "zh"}) in seen.elements


def test_nothing_in_it_can_act(found: Found) -> None:
    page, seen = _read(found)
    acting = ("script", "img", "iframe", "object", "b", "link", "form")
    assert [tag for tag, _ in seen.elements if tag in acting] == ["script"]
    assert [name for _, attributes in seen.elements for name in attributes if name.startswith("on")] == []
    links = [attributes["href"] for tag, attributes in seen.elements if tag == "a"]
    assert links == ["#m1", "https://example.org/a?b=1&c=2", "https://evil.example/p.png"]
    policy = next(attributes["content"] for tag, attributes in seen.elements if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert re.findall("[\x1b\u202e]", page) == []


def test_every_form_is_written_to_a_file_and_a_bad_place_is_named(found: Found, tmp_path: Path) -> None:
    for format in FORMATS:
        write_export(found, format, tmp_path / f"out.{format}")
    assert (tmp_path / "out.jsonl").read_bytes() == found.path.read_bytes()
    assert (tmp_path / "out.md").read_text("utf-8").startswith("# 修复")
    with pytest.raises(StoreError, match="cannot be written"):
        write_export(found, "html", tmp_path / "none" / "x.html")
    with pytest.raises(StoreError, match="cannot be read"):
        write_export(replace(found, path=tmp_path / "gone.jsonl"), "html", tmp_path / "x.html")
