"""What is found, in which order, and how it is told."""

from __future__ import annotations

import os

import pytest

from codeagent.core.code import CodeHit, CodeHits
from codeagent.core.errors import StoreError
from tests.codebase.ground import LONG_AGO, Ground, told

RETRY = '''"""Asking again."""


def backoff(attempt):
    """Seconds to wait before the request is sent again."""
    return min(60, 2**attempt)


class HttpClient:
    def fetchPage(self, url):
        return self.get(url)
'''
CONFIG = """def load(path):
    # 读取配置文件，找不到时返回默认值
    return open(path).read()


def save(path, text):
    # 写入日志
    open(path, "w").write(text)
"""


@pytest.fixture
def filled(ground: Ground) -> Ground:
    ground.write("src/retry.py", RETRY)
    ground.write("src/config.py", CONFIG)
    ground.write("tests/test_retry.py", "def test_backoff():\n    assert backoff(1) == 2  # backoff backoff\n")
    ground.write("README.md", "# 重试策略\n\n请求失败后等待再重试。\n")
    return ground


async def test_a_hit_names_file_lines_symbol_and_passage(filled: Ground) -> None:
    assert await filled.code().search("wait before sent again", limit=1) == CodeHits(
        (
            CodeHit(
                "src/retry.py", 4, 6, "backoff", "function", 4,
                'def backoff(attempt):\n    """Seconds to wait before the request is sent again."""\n'
                "    return min(60, 2**attempt)",
            ),
        ),
        total=2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("backoff", "src/retry.py backoff"),  # the definition, not the test that says it more often
        ("HttpClient.fetchPage", "src/retry.py HttpClient.fetchPage"),
        ("fetch page", "src/retry.py HttpClient.fetchPage"),
        ("fetch_page", "src/retry.py HttpClient.fetchPage"),
        ("test backoff", "tests/test_retry.py test_backoff"),
        ("怎么读取配置", "src/config.py load"),
        ("写日志", "src/config.py save"),
        ("重试策略", "README.md 重试策略"),
        ("config load", "src/config.py load"),  # by its path
    ],
)
async def test_names_words_and_chinese_find(filled: Ground, query: str, first: str) -> None:
    assert (await filled.find(query))[0] == first


@pytest.mark.parametrize("query", ["", "???", "the of", "zzzzqqq", '"', "a\0b", "\ud800", "NEAR(a b)", "x" * 10_000])
async def test_what_means_nothing_finds_nothing(filled: Ground, query: str) -> None:
    assert await filled.find(query) == []


async def test_a_very_long_question_is_asked_by_its_rarest_words(filled: Ground) -> None:
    noise = " ".join(f"word{number}" for number in range(5_000))
    assert (await filled.find(f"{noise} backoff {noise}"))[0] == "src/retry.py backoff"


async def test_pages_of_hits_are_all_hits_once(ground: Ground) -> None:
    for number in range(25):
        ground.write(f"f{number:02}.py", f"def handler{number}(): return shared\n")
    code = ground.code()
    pages = [await code.search("shared", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [(len(page.hits), page.total) for page in pages] == [(10, 25), (10, 25), (5, 25), (0, 25)]
    assert sorted(hit.path for page in pages for hit in page.hits) == [f"f{number:02}.py" for number in range(25)]


async def test_a_path_keeps_to_a_file_or_a_folder(filled: Ground) -> None:
    code = filled.code()
    for path, expected in {
        "tests": ["tests/test_retry.py test_backoff"],
        "src/retry.py": ["src/retry.py backoff"],
        str(filled.top / "src"): ["src/retry.py backoff"],
        "sr": [],
        "src/../tests/": ["tests/test_retry.py test_backoff"],
        "/nowhere": [],
    }.items():
        assert told(await code.search("backoff", path=path)) == expected, path


async def test_the_passage_of_a_long_definition_is_where_it_fits(ground: Ground) -> None:
    body = "".join(f"    step({number})\n" for number in range(40))
    ground.write("a.py", f"def long():\n{body}    unique_marker()\n{body}")
    (hit,) = (await ground.code().search("unique marker", limit=1)).hits
    assert (hit.start <= hit.line, "unique_marker" in hit.passage, hit.passage.count("\n") + 1) == (True, True, 14)


async def test_a_hit_is_fresh_even_where_another_process_is_at_it(filled: Ground) -> None:
    """The files of hits are read anew before they are shown; of the others it is said that they are behind."""
    code = filled.code()
    await code.build()
    with filled.store.open() as db:
        db.execute("INSERT INTO writer SELECT id, ?, unixepoch() + 20 FROM roots", (os.getppid(),))
    filled.write("src/retry.py", "\n\n" + RETRY.replace("2**attempt", "3**attempt"), when=LONG_AGO + 5)
    filled.write("src/new.py", "def backoff(): pass\n")
    found = await code.search("backoff attempt")
    shown = [(hit.path, hit.start, "3**attempt" in hit.passage) for hit in found.hits if hit.symbol == "backoff"]
    assert (shown, found.left) == ([("src/retry.py", 6, True)], 2)


async def test_one_file_is_refreshed_when_it_has_changed(filled: Ground) -> None:
    await filled.code().build()
    filled.write("src/retry.py", RETRY.replace("def backoff", "def pause"), when=LONG_AGO + 5)
    assert filled.builder().refresh(filled.top, "src/retry.py") is True
    assert filled.builder().refresh(filled.top, "src/retry.py") is False
    (filled.top / "src/config.py").unlink()
    assert filled.builder().refresh(filled.top, "src/config.py") is True
    with filled.store.open() as db:
        symbols = {symbol for (symbol,) in db.execute("SELECT symbol FROM chunks WHERE kind = 'function'")}
    assert symbols == {"pause", "test_backoff"}


async def test_several_roots_are_searched_and_told_apart(filled: Ground) -> None:
    other = filled.base / "other"
    other.mkdir()
    (other / "b.py").write_text("def backoff_elsewhere(): pass\n")
    assert await filled.find("backoff elsewhere", other, limit=1) == [f"{other}/b.py backoff_elsewhere"]
    assert await filled.find("backoff elsewhere", path="src") == ["src/retry.py backoff"]
    assert await filled.find("backoff", other, path=str(other)) == [f"{other}/b.py backoff_elsewhere"]


async def test_a_root_within_another_shows_each_place_once(filled: Ground) -> None:
    filled.write(".gitignore", "vendor/\n")
    filled.write("vendor/v.py", "def backoff_vendored(): pass\n")
    inner = (filled.top / "src", filled.top / "vendor")
    found = await filled.find("backoff", *inner)
    assert sorted(found) == [
        "src/retry.py backoff",
        "tests/test_retry.py test_backoff",
        "vendor/v.py backoff_vendored",
    ]


async def test_a_root_that_is_gone_leaves_the_others(filled: Ground) -> None:
    assert await filled.find("HttpClient", filled.base / "gone", limit=1) == ["src/retry.py HttpClient"]


async def test_a_top_that_is_gone_is_said(ground: Ground) -> None:
    code = ground.code(top=ground.base / "gone")
    with pytest.raises(StoreError) as raised:
        await code.search("x")
    assert str(raised.value) == f"The folder {ground.base}/gone cannot be indexed: No such file or directory."


async def test_a_root_that_is_a_link_is_the_folder_it_leads_to(filled: Ground) -> None:
    link = filled.base / "link"
    link.symlink_to(filled.top)
    await filled.code().build()
    assert (await filled.code(top=link).build()).added == 0
    assert told(await filled.code(top=link).search("backoff", path=str(link / "src"))) == ["src/retry.py backoff"]


async def test_ignored_and_hidden_files_are_not_searched(ground: Ground) -> None:
    ground.write(".gitignore", "build/\n*.log\n")
    ground.write(".code-agent-cli/ignore", "secret.py\n")
    for path in ("a.py", "build/b.py", "c.log", "secret.py", ".hidden/d.py", ".git/e.py", "sub/f.py", "sub/g.py"):
        ground.write(path, "def marker(): pass\n")
    ground.write("sub/.gitignore", "g.py\n")
    assert sorted(await ground.find("marker")) == ["a.py marker", "sub/f.py marker"]


async def test_what_is_newly_ignored_leaves(ground: Ground) -> None:
    ground.write("a.py", "def marker(): pass\n")
    ground.write("b.py", "def marker(): pass\n")
    code = ground.code()
    await code.build()
    ground.write(".gitignore", "b.py\n")
    assert told(await code.search("marker")) == ["a.py marker"]


async def test_the_status_tells_what_there_is(filled: Ground) -> None:
    filled.write("logo.py", b"\0\1")
    code = filled.code()
    before = await code.status()
    await code.build()
    filled.write("new.py", "x = 1\n")
    status = await code.status()
    assert (before.files, before.left) == (0, 5)
    assert (status.files, status.chunks, status.symbols, status.vectors, status.left) == (5, 8, 7, 0, 1)
    assert (status.left_out, status.path) == ((("binary", 1),), str(filled.home.code))


async def test_the_status_tells_what_else_is_in_the_database(filled: Ground) -> None:
    for name in ("gone", "there"):
        (filled.base / name).mkdir()
        (filled.base / name / "a.py").write_text("def theirs(): pass\n")
        await filled.code(top=filled.base / name).build()
    (filled.base / "gone" / "a.py").unlink()
    (filled.base / "gone").rmdir()
    status = await filled.code().status()
    assert (status.others, status.others_files, status.others_gone) == (2, 2, 1)
