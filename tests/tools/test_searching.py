"""glob and grep: with ripgrep, and the same questions without it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.tools import ToolResult
from codeagent.history.archive import SessionArchive
from codeagent.tools import globs
from codeagent.tools.apart import search_apart
from codeagent.tools.base import ToolFault
from codeagent.tools.own_search import search_python
from codeagent.tools.queries import Query
from codeagent.tools.searching import search_rg
from codeagent.tools.walking import list_files, ripgrep, walk
from tests.tools.world import World, make_world


def archived(world: World, result: ToolResult) -> list[str]:
    """The lines of what was archived for a result."""
    assert result.archive is not None
    return (world.ctx.archive.folder / result.archive).read_text(encoding="utf-8").splitlines()


@pytest.fixture
def project(world: World) -> World:
    world.file(".gitignore", "build/\n*.log\n!keep.log\n")
    world.file(".code-agent-cli/ignore", "/vendor/\n")
    world.file("src/app.py", "import os\n\n\ndef main():\n    return os.name\n")
    world.file("src/工具.py", "def 运行():\n    return '记忆'\n")
    world.file("src/gbk.txt", "第一行\n长期记忆\n".encode("gb18030"))
    world.file("src/.gitignore", "secret.py\n")
    world.file("src/secret.py", "def main(): pass\n")
    world.file("docs/a.md", "main\nMAIN\nmain and main\n")
    world.file("build/app.py", "def main(): pass\n")
    world.file("x.log", "main\n")
    world.file("keep.log", "main\n")
    world.file("vendor/v.py", "def main(): pass\n")
    world.file(".github/ci.yml", "main: 1\n")
    world.file(".travis.yml", "main\n")
    world.file(".git/config", "main\n")
    world.file("blob.bin", b"main\0main\n")
    world.file("other/utf16.txt", "line 記憶\n".encode("utf-16"))
    world.file("other/big5.txt", "第一行 line\n這是長期記憶的說明，請仔細閱讀以後再開始。\n".encode("big5"))
    world.file("other/sjis.txt", "これは line\nメモリの説明です。よく読んでください。\n".encode("shift_jis"))
    world.file("lines/dos.txt", "one line\r\n\r\ntwo\r\n")
    world.file("lines/unix.txt", "one line\n\ntwo")
    world.file("lines/mac.txt", "zero\rone\rtwo\rthree")
    world.file("lines/long.txt", "x" * 490 + "长long" * 9_000 + "\n" + "字" * 530 + "long\n" + "字" * 700 + "long\n")
    world.file("odd/a\nb.txt", "main\none\ntwo\nthree\n\ntwo\n")
    world.file("odd/c.txt", "main\nmain\ntwo\n")
    world.file("other/late.bin", b"late\n\0late\n" + b"late\n" * 30_000)
    return world


FILES = {
    *(".code-agent-cli/ignore", ".github/ci.yml", ".travis.yml", ".gitignore", "blob.bin", "docs/a.md", "keep.log"),
    *("other/utf16.txt", "other/big5.txt", "other/sjis.txt", "other/late.bin"),
    *("src/.gitignore", "src/app.py", "src/gbk.txt", "src/工具.py"),
    *("lines/dos.txt", "lines/unix.txt", "lines/mac.txt", "lines/long.txt", "odd/a\nb.txt", "odd/c.txt"),
}


@pytest.mark.parametrize("with_rg", [True, False])
async def test_ignored_files_are_not_listed(project: World, with_rg: bool) -> None:
    rg = ripgrep(project.ctx.environ) if with_rg else None
    assert set(await list_files(project.top, project.ctx, rg, hidden=True)) == FILES
    assert set(await list_files(project.top, project.ctx, rg)) == {
        name for name in FILES if not any(part.startswith(".") for part in name.split("/"))
    }
    inner = await list_files(project.top / "src", project.ctx, rg, hidden=True)
    assert set(inner) == {".gitignore", "app.py", "gbk.txt", "工具.py"}


async def test_a_ripgrep_that_does_not_run_is_done_without(project: World) -> None:
    broken = project.file("../rg", b"\x7fELF of another machine")
    broken.chmod(0o755)
    assert set(await list_files(project.top, project.ctx, str(broken), hidden=True)) == FILES


QUERIES = {
    "plain": Query("main", Path()),
    "anchored": Query(r"^def \w+\(", Path()),
    "context": Query("return", Path(), before=1, after=1),
    "case": Query("main", Path("docs"), ignore_case=True),
    "one file": Query("main", Path("docs/a.md")),
    "files": Query("main", Path(), "files"),
    "count": Query("main", Path(), "count"),
    "glob": Query("main", Path(), glob="*.py"),
    "glob with a folder": Query("main", Path(), glob="src/*.py"),
    "glob with braces": Query("main", Path(), glob="*.{md,yml}"),
    "glob that excludes": Query("main", Path(), glob="!*.md"),
    "Chinese, also in GB18030": Query("记忆", Path()),
    "nothing": Query("nowhere to be found", Path()),
    "look-ahead": Query("main(?= and)", Path()),
    "hidden": Query("main", Path(), hidden=True),
    "over several lines": Query(r"main\(\):\n\s+return", Path(), after=1),
    "over several lines, counted": Query("\\n", Path("src"), "count"),
    "files in several encodings": Query("期", Path(), "files"),
    "a file in Big5": Query("記憶", Path("other")),
    "a file in Shift-JIS": Query("メモリ", Path("other")),
    "a file in UTF-16": Query("記", Path("other/utf16.txt")),
    "ASCII in any encoding": Query("line", Path("other")),
    "binary files": Query("late", Path("other")),
    "one binary file": Query("main", Path("blob.bin"), "count"),
    "the end of a line": Query(r"(?:line|two)$", Path("lines")),
    "the end of a line, counted": Query("two$", Path("lines"), "count"),
    "empty lines": Query("^$", Path("lines")),
    "carriage returns alone": Query("two", Path("lines/mac.txt"), before=1, after=1),
    "carriage returns alone, counted": Query("t", Path("lines"), "count"),
    "one file, counted": Query("t", Path("lines/unix.txt"), "count"),
    "a long line": Query("long", Path("lines")),
    "a name with a newline": Query("main", Path("odd")),
    "a name with a newline, counted": Query("main", Path("odd"), "count"),
    "a name with a newline, context": Query("two", Path("odd"), before=1, after=1),
    "a glob names files alone": Query("main", Path(), glob="{k,d}*"),
    "a glob names files in a folder": Query("main", Path(), glob="src/a*"),
    "a glob names a folder": Query("main", Path(), glob="src"),
    "a glob excludes a folder": Query("main", Path(), glob="!src"),
    "a glob excludes what is in a folder": Query("main", Path(), glob="!src/*.py"),
    "a glob with a place for one character": Query("def", Path(), glob="工?.py"),
    "a glob brings no hidden file": Query("main", Path(), glob="*.yml"),
    "Han": Query(r"\p{Han}{2}", Path()),
    "Han or letters": Query(r"[\p{Han}\p{Lu}]", Path("docs")),
    "not Han": Query(r"^\P{Han}+$", Path("src")),
    "POSIX classes": Query("^[[:upper:]]+$", Path("docs")),
    "a named group": Query(r"(?<first>main) and \w+", Path("docs")),
    "a character by its number": Query(r"\x{8bb0}", Path()),
    "ends of words": Query(r"\<name\>", Path("src")),
}
"""The names of those that find nothing stand in `NOTHING`."""
NOTHING = {"nothing", "a glob brings no hidden file", "binary files", "one binary file"}


@pytest.mark.parametrize("name", QUERIES)
async def test_both_ways_of_searching_find_the_same(project: World, name: str) -> None:
    query = replace(QUERIES[name], target=project.top / QUERIES[name].target)
    rg = ripgrep(project.ctx.environ)
    assert rg is not None
    ours = search_python(query, project.ctx)
    theirs = [await search_rg(query, project.ctx, rg, quick) for quick in (60, 0)]

    assert theirs == [ours, ours]
    assert (ours == []) == (name in NOTHING)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("main(", "unclosed group"),
        ("main)", "unopened group"),
        ("[a", "unclosed character class"),
        ("*a", "repetition operator missing expression"),
    ],
)
async def test_both_ways_say_the_same_of_a_broken_pattern(project: World, pattern: str, reason: str) -> None:
    rg = ripgrep(project.ctx.environ)
    assert rg is not None
    told = []
    for search in (
        search_rg(Query(pattern, project.top), project.ctx, rg),
        search_apart(Query(pattern, project.top), project.ctx),
    ):
        with pytest.raises(ToolFault) as fault:
            await search
        told.append(str(fault.value))
    assert told == [told[0]] * 2
    assert f"no regular expression: {reason}. " in told[0]


@pytest.mark.parametrize("glob", ["[", "{a", "!", "!["])
async def test_both_ways_say_the_same_of_a_broken_glob(project: World, glob: str) -> None:
    rg = ripgrep(project.ctx.environ)
    assert rg is not None
    query = Query("main", project.top, glob=glob)
    told = []
    for search in (search_rg(query, project.ctx, rg), search_apart(query, project.ctx)):
        with pytest.raises(ToolFault) as fault:
            await search
        told.append(str(fault.value))
    assert told == [told[0]] * 2
    assert told[0].startswith(f"glob {glob} cannot be read: ")


async def test_matches_come_by_file_with_line_numbers(project: World) -> None:
    assert await project.run("grep", pattern="main", path="docs") == ToolResult(
        "docs/a.md\n1:main\n3:main and main", summary="2 matches"
    )
    assert (await project.run("grep", pattern="return", glob="*.py", before=1)).text == (
        "src/app.py\n4-def main():\n5:    return os.name\nsrc/工具.py\n1-def 运行():\n2:    return '记忆'"
    )
    assert (await project.run("grep", pattern="main", path="docs", mode="count")).text == "docs/a.md: 2"
    assert (await project.run("grep", pattern="def", mode="files")).text == "src/app.py\nsrc/工具.py"
    assert await project.run("grep", pattern="zzz") == ToolResult(
        "No matches for zzz. Ignored and binary files were left out.", summary="no matches"
    )
    assert (await project.run("grep", pattern="main: 1")).text == (
        "No matches for main: 1. Ignored and binary files were left out. "
        "Hidden files match: .github/ci.yml. Name them in path or glob."
    )
    assert (await project.run("grep", pattern="main: 1", glob=".github/*")).text == ".github/ci.yml\n1:main: 1"
    assert (await project.run("grep", pattern="main", path="blob.bin")).text == (
        "blob.bin is binary; search it with shell: grep -a."
    )


async def test_context_groups_are_parted(world: World) -> None:
    world.file("a", "".join(f"{n}\n" for n in range(1, 10)))
    assert (await world.run("grep", pattern="[28]", before=1, after=1)).text == "a\n1-1\n2:2\n3-3\n--\n7-7\n8:8\n9-9"


async def test_a_call_gives_100_matches_and_says_how_to_go_on(world: World) -> None:
    world.file("a.txt", "".join(f"hit {n}\n" for n in range(1, 251)))
    seen: list[str] = []
    for offset, count in ((0, 100), (100, 100), (200, 50)):
        result = await world.run("grep", pattern="hit", offset=offset, limit=500)
        seen += re.findall(r"^\d+:(.*)$", result.text, re.MULTILINE)
        assert (len(seen), result.partial) == (offset + count, offset < 200)
        if result.partial:
            assert result.text.splitlines()[-1] == (
                f"[matches {offset + 1}-{offset + 100}, there are more; "
                f"go on with offset={offset + 100}, or narrow down]"
            )
    assert seen == [f"hit {n}" for n in range(1, 251)]
    assert (await world.run("grep", pattern="hit", offset=250)).summary == "behind the end"


async def test_matches_that_are_not_shown_are_archived(world: World) -> None:
    """The files may have changed when somebody asks for the rest."""
    world.file("a.txt", "".join(f"hit {n} {'字' * 100}\n" for n in range(1, 251)))
    result = await world.run("grep", pattern="hit", before=1)
    assert result.text.endswith(
        f", or narrow down; the whole is in {world.ctx.archive.folder}/c1.txt (read_file with offset, or grep)]"
    )
    assert archived(world, result) == ["a.txt", *(f"{n}:hit {n} {'字' * 100}" for n in range(1, 251))]
    world.file("b.txt", "hit again\n" * 9_000)
    more = await world.run("grep", pattern="hit", path="b.txt")
    assert (more.partial, len(archived(world, more)), "of the first 1000 from here" in more.text) == (True, 1_001, True)


async def test_a_full_disk_costs_the_rest_and_not_the_result(world: World, tmp_path: Path) -> None:
    (tmp_path / "s1").write_text("")  # where the archive's folder would be
    world.ctx = replace(world.ctx, archive=SessionArchive(tmp_path / "s1.jsonl"))
    world.file("a.txt", "".join(f"hit {n} {'x' * 100}\n" for n in range(250)))
    for n in range(501):
        world.file(f"d/{n}", "")
    results = [
        await world.run("grep", pattern="hit"),
        await world.run("glob", pattern="d/*"),
        await world.run("read_file", path="d"),
        await world.run("shell", command="seq 9000"),
    ]
    assert [(result.failed, result.partial, result.archive) for result in results] == [(False, True, None)] * 4
    assert all(f"it is not archived: {tmp_path}/s1 cannot be written: " in result.text for result in results)


async def test_a_call_gives_8_kb_and_no_match_is_lost_between_pages(world: World) -> None:
    world.file("a.txt", "".join(f"hit {n} {'字' * 100}\n" for n in range(60)))
    world.file("min.js", "hit " + "x" * 3_000_000)
    offset, numbers = 0, []
    while True:
        result = await world.run("grep", pattern="hit", offset=offset)
        assert len(result.text.encode()) <= 8_192
        numbers += re.findall(r"^(\d+):", result.text, re.MULTILINE)
        offset = len(numbers)
        if not result.partial:
            break
    assert numbers == [*map(str, range(1, 61)), "1"]


async def test_a_broken_pattern_says_what_is_wrong(world: World) -> None:
    result = await world.run("grep", pattern="(")
    assert (result.failed, result.summary) == (True, "bad pattern")
    assert "The search failed: " in result.text
    with pytest.raises(ToolFault, match="The search failed: "):
        search_python(Query("(", world.top), world.ctx)


HOPELESS = "(x+x+)+y"


async def test_a_pattern_that_takes_for_ever_is_ended_and_stops_nothing_else(world: World) -> None:
    world.file("a.txt", "x" * 40)
    with pytest.raises(ToolFault, match="ended after 1 s"):
        await search_apart(Query(HOPELESS, world.top), world.ctx, 1)


async def test_hidden_files_and_other_encodings_are_searched_without_backtracking(world: World) -> None:
    world.file(".hid.txt", "x" * 40)
    world.file("gbk.txt", ("x" * 40 + "\n长期记忆的说明，请仔细阅读。\n").encode("gb18030"))
    assert (await world.run("grep", pattern=HOPELESS)).summary == "no matches"
    assert (await world.run("grep", pattern=HOPELESS + "|记忆")).text == "gbk.txt\n2:长期记忆的说明，请仔细阅读。"


@pytest.mark.parametrize("pattern", ["main", "记忆", r"main\(\):\n"])
async def test_a_search_apart_finds_the_same(project: World, pattern: str) -> None:
    query = Query(pattern, project.top, after=1)
    assert await search_apart(query, project.ctx) == search_python(query, project.ctx) != []
    with pytest.raises(ToolFault, match="The search failed: "):
        await search_apart(Query("(", project.top), project.ctx)


async def test_a_pattern_over_several_lines(project: World) -> None:
    assert (await project.run("grep", pattern=r"main\(\):\n\s+return", path="src")).text == (
        "src/app.py\n4:def main():\n5:    return os.name"
    )


async def test_a_missing_path_names_the_nearest(project: World) -> None:
    assert (await project.run("grep", pattern="x", path="scr")).text == "scr does not exist. Nearest: src."
    assert (await project.run("glob", pattern="*", path="dogs")).text == "dogs does not exist. Nearest: docs."


async def test_a_name_that_looks_like_an_option(world: World) -> None:
    world.file("-v", "hit\n")
    assert (await world.run("grep", pattern="-?hit", path="-v")).text == "-v\n1:hit"
    assert (await world.run("grep", pattern="--pre=x")).summary == "no matches"


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", ".", {"src/app.py", "src/工具.py"}),
        ("**/*.py", ".", {"src/app.py", "src/工具.py"}),
        ("src/*.py", ".", {"src/app.py", "src/工具.py"}),
        ("*.py", "src", {"src/app.py", "src/工具.py"}),
        ("./docs/*", ".", {"docs/a.md"}),
        ("**/*.{md,yml}", ".", {"docs/a.md", "[2 hidden files would match, like .github/ci.yml: name it.]"}),
        ("**/.github/*.yml", ".", {".github/ci.yml"}),
        ("*.yml", ".github", {".github/ci.yml"}),
        ("src/[a-f]*", ".", {"src/app.py"}),
        ("**/工?.py", ".", {"src/工具.py"}),
        ("*", "docs", {"docs/a.md"}),
    ],
)
async def test_paths_by_pattern(project: World, pattern: str, path: str, found: set[str]) -> None:
    result = await project.run("glob", pattern=pattern, path=path)
    assert set(result.text.splitlines()) == found


async def test_an_absolute_pattern_looks_where_it_points(project: World) -> None:
    result = await project.run("glob", pattern=f"{project.top}/src/**/app.py")
    assert result == ToolResult("src/app.py", summary="1 file")
    assert project.gate.actions[-1].subject == str(project.top / "src")
    assert (await project.run("glob", pattern="../项目/docs/a.md")).text == "docs/a.md"


async def test_newest_first_and_200_at_most(world: World) -> None:
    for n in range(230):
        os.utime(world.file(f"{n}.txt", ""), (1_000 + n, 1_000 + n))
    result = await world.run("glob", pattern="*.txt", limit=900)
    assert result.text.splitlines() == [
        *(f"{n}.txt" for n in range(229, 29, -1)),
        "[200 newest of 230; narrow the pattern or the path to see others; "
        f"the whole is in {world.ctx.archive.folder}/c1.txt (read_file with offset, or grep)]",
    ]
    assert (result.partial, result.summary, result.archive) == (True, "230 files", "c1.txt")
    assert archived(world, result) == [f"{n}.txt" for n in range(229, -1, -1)]
    few = await world.run("glob", pattern="*.txt", limit=2)
    assert few == ToolResult(
        "229.txt\n228.txt\n[2 newest of 230; narrow the pattern or the path to see others; "
        f"the whole is in {world.ctx.archive.folder}/c2.txt (read_file with offset, or grep)]",
        partial=True,
        summary="230 files",
        archive="c2.txt",
    )
    assert (await world.run("glob", pattern="*.nope")).text == ("No files match *.nope. Ignored files were left out.")


def test_braces_stand_for_alternatives() -> None:
    assert sorted(globs.expand("{a,b}/{c,d{e,f}}")) == ["a/c", "a/de", "a/df", "b/c", "b/de", "b/df"]
    assert len(globs.expand("{a,b}" * 40)) < 500


def test_a_bracket_in_a_set_warns_nobody(world: World) -> None:
    ignore = world.file(".gitignore", "[[]x\n")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fits = globs.matcher("[[]b]rack.txt")
        assert (fits("[b]rack.txt"), fits("b]rack.txt")) == (True, False)
        assert list(walk(world.top, world.ctx)) == []
    assert (told, ignore.exists()) == ([], True)


async def test_a_name_that_is_no_unicode(world: World) -> None:
    Path(os.fsdecode(os.fsencode(world.top) + b"/\xff.txt")).write_text("hit")
    assert (await world.run("glob", pattern="*.txt")).text == "\ufffd.txt"
    assert (await world.run("grep", pattern="hit")).text == "\ufffd.txt\n1:hit"


async def test_a_real_repository(world: World) -> None:
    subprocess.run(["git", "init", "-q", str(world.top)], check=True)
    world.file(".git/info/exclude", "private.txt\n")
    world.file("private.txt", "hit")
    world.file("public.txt", "hit")
    assert (await world.run("grep", pattern="hit", mode="files")).text == "public.txt"


NAME = st.sampled_from(["a", "b.py", "c.log", "build", ".hid", "数据", "x y", "[z]"])
FILE = st.lists(NAME, min_size=1, max_size=3).map("/".join)
LINES = "a|*.log|!c.log|/build|build/|b.py|**/a/*|a/**|!a/b.py|数据/|# a|x\\ y|\\[z]|.hid"
RULE = st.sampled_from(LINES.split("|"))
RULES = st.lists(RULE, max_size=3).map("\n".join)


@given(
    st.lists(FILE, max_size=8),
    st.dictionaries(st.sampled_from([".gitignore", "a/.gitignore", ".ignore", "build/.ignore"]), RULES, max_size=3),
    RULES,
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_tree_is_listed_and_searched_alike(
    tmp_path: Path, files: list[str], ignores: dict[str, str], own: str, repository: bool, hidden: bool
) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        world = make_world(Path(folder))
        for name, content in {**dict.fromkeys(files, "hit\n"), **ignores, ".code-agent-cli/ignore": own}.items():
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                world.file(name, content)
        if repository:
            (world.top / ".git").mkdir()
        rg = ripgrep(world.ctx.environ)
        assert rg is not None
        start = world.top / "a" if (world.top / "a").is_dir() else world.top
        listed = await list_files(start, world.ctx, rg, hidden=hidden)
        assert sorted(listed) == sorted(await list_files(start, world.ctx, None, hidden=hidden))
        query = Query("hit", world.top, "files", hidden=hidden)
        assert await search_rg(query, world.ctx, rg) == search_python(query, world.ctx)


ATOM = st.sampled_from(
    [*"ab.中é0 _-", r"\w", r"\W", r"\d", r"\s", r"\p{Han}", "[ab]", "[^a中]", "[[:digit:]]", r"\.", r"\b"]
)
PIECE = st.tuples(ATOM, st.sampled_from(["", "", "", "*", "+", "?", "{1,2}"])).map(
    lambda pair: pair[0] + (pair[1] if pair[0] != r"\b" else "")
)
BRANCH = st.tuples(
    st.sampled_from(["", "", "^"]), st.lists(PIECE, min_size=1, max_size=3), st.sampled_from(["", "", "$"])
)
PATTERN = st.lists(BRANCH.map(lambda branch: branch[0] + "".join(branch[1]) + branch[2]), min_size=1, max_size=2).map(
    "|".join
)
LINE = st.text("ab中é0 _-.", max_size=6)
CONTENT = st.tuples(st.lists(LINE, max_size=5), st.sampled_from(["\n", "\r\n", "\r"])).map(
    lambda both: both[1].join(both[0])
)
GLOBS = "|*.py|a|a*|{a,b}*|b*/*|a/**|**/a|数?|[a-b]|*.{py,log}|build|build/|!a|!*.py|!a/*|!build/|a/|*|**|./a|/a"
GLOB = st.sampled_from(re.split(r"\|", GLOBS))


@given(
    st.dictionaries(FILE, CONTENT, max_size=6),
    PATTERN,
    GLOB,
    st.sampled_from(["content", "files", "count"]),
    st.integers(0, 1),
    st.booleans(),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_question_is_answered_alike(
    world: World,
    files: dict[str, str],
    pattern: str,
    glob: str,
    mode: Literal["content", "files", "count"],
    after: int,
    any_case: bool,
) -> None:
    rg = ripgrep(world.ctx.environ)
    assert rg is not None
    with tempfile.TemporaryDirectory(dir=world.top) as folder:
        for name, content in files.items():
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                world.file(f"{Path(folder).name}/{name}", content)
        query = Query(pattern, Path(folder), mode, glob, after=after, ignore_case=any_case)
        ours = search_python(query, world.ctx)
        assert [await search_rg(query, world.ctx, rg, quick) for quick in (60, 0)] == [ours, ours]


@pytest.mark.parametrize("glob", ["a*" * 30 + "b", "**/a*" * 20 + "/b", "?*" * 60 + "b"])
def test_stars_are_never_gone_back_over(world: World, glob: str) -> None:
    """Were they, neither would end within this age of the world."""
    path = "/".join(["a" * 250] * 10)
    assert not globs.matcher(glob)(path)
    world.file(".gitignore", glob)
    world.file("a" * 250, "")
    assert [Path(found).name for found in walk(world.top, world.ctx)] == ["a" * 250]


async def test_a_file_that_turns_out_binary_brings_nothing_and_harms_no_other(world: World) -> None:
    world.file("m.bin", b"hit\n" + b"abc\n" * 60_000 + b"\0x\nhit\n")
    world.file("n.txt", "hit\n")
    assert (await world.run("grep", pattern="hit")).text == "n.txt\n1:hit"
    assert (await world.run("grep", pattern="hit", mode="count")).text == "n.txt: 1"


async def test_what_is_far_too_long_is_refused(world: World) -> None:
    results = [
        await world.run("grep", pattern="a" * 200_000),
        await world.run("grep", pattern="a", glob="x" * 200_000),
        await world.run("glob", pattern="{a,b}" * 3_000),
        await world.run("shell", command=f": {'x' * 300_000}"),
    ]
    assert [(result.failed, result.summary) for result in results] == [(True, "bad pattern")] * 3 + [
        (True, "bad command")
    ]
    assert all(len(result.text) < 400 for result in results)


async def test_a_pipe_is_not_waited_for(world: World) -> None:
    os.mkfifo(world.top / "pipe")
    assert (await world.run("grep", pattern="x", path="pipe")).text == "pipe is not a regular file."
    assert (await world.run("grep", pattern="x")).summary == "no matches"
