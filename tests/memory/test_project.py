"""CODEAGENT.md layers: which files, in which order, cut how, and what is said about those left out."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from codeagent.core.paths import Home, Project
from codeagent.core.tokens import estimate_tokens
from codeagent.memory.imports import find_imports
from codeagent.memory.project import CHARACTERS, ProjectMemoryLoader


class World:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.top = root / "repo"
        self.top.mkdir()

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def loader(
        self, cwd: str = "repo", *, tokens: int = 16_000, trusted: bool = False, said: str = ""
    ) -> ProjectMemoryLoader:
        project = Project(self.root / cwd, self.top, self.top)
        home, user_home = Home(self.root / "home" / ".code-agent-cli"), self.root / "home"
        return ProjectMemoryLoader(
            home,
            project,
            user_home,
            tokens=tokens,
            estimate=estimate_tokens,
            trusted=trusted,
            stands=lambda text: text in said,
        )

    def shown(self, cwd: str = "repo", *, trusted: bool = False) -> list[tuple[str, str]]:
        """(path, text) of what the section holds."""
        return shown(self.loader(cwd, trusted=trusted))


def shown(loader: ProjectMemoryLoader) -> list[tuple[str, str]]:
    section = loader.section()
    body = section.body if section else ""
    return re.findall(r'<instructions path="(.*?)">\n(.*?)\n</instructions>', body, re.S)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


def test_without_files_there_is_no_section(world: World) -> None:
    assert (world.loader().section(), world.loader().notices()) == (None, ())


def test_layers_from_the_most_general_to_the_most_specific(world: World) -> None:
    user = world.write("home/.code-agent-cli/CODEAGENT.md", "user")
    world.write("repo/CODEAGENT.md", "team")
    world.write("repo/.code-agent-cli/CODEAGENT.md", "team, hidden")
    world.write("repo/CODEAGENT.local.md", "this machine")
    world.write("repo/packages/CODEAGENT.md", "packages")
    world.write("repo/packages/web/CODEAGENT.md", "web")
    world.write("repo/packages/api/CODEAGENT.md", "not on the way")
    assert world.shown("repo/packages/web") == [
        (user.as_posix(), "user"),
        ("CODEAGENT.md", "team"),
        (".code-agent-cli/CODEAGENT.md", "team, hidden"),
        ("CODEAGENT.local.md", "this machine"),
        ("packages/CODEAGENT.md", "packages"),
        ("packages/web/CODEAGENT.md", "web"),
    ]
    section = world.loader().section()
    assert section is not None
    assert (section.name, section.order) == ("project_context", 200)


def test_agents_md_is_read_where_no_codeagent_md_stands_beside_it(world: World) -> None:
    world.write("repo/AGENTS.md", "agents")
    world.write("repo/web/AGENTS.md", "agents of web")
    world.write("repo/web/CODEAGENT.md", "web")
    world.write("repo/.codeagent/CODEAGENT.md", "older folder")
    assert world.shown("repo/web") == [
        ("AGENTS.md", "agents"),
        (".codeagent/CODEAGENT.md", "older folder"),
        ("web/CODEAGENT.md", "web"),
    ]


def test_a_file_is_read_once_even_as_home_and_project_at_once(world: World) -> None:
    world.write("repo/CODEAGENT.md", "team")
    (world.top / "CODEAGENT.local.md").symlink_to("CODEAGENT.md")
    assert world.shown() == [("CODEAGENT.md", "team")]


def test_imports_follow_their_importer_three_deep_and_once(world: World) -> None:
    world.write("repo/CODEAGENT.md", "Read @docs/a.md first.\n@./docs/a.md\n- see (@Makefile)")
    world.write("repo/Makefile", "all:")
    world.write("repo/docs/a.md", "a, see @b.md and @../CODEAGENT.md")
    world.write("repo/docs/b.md", "b @deep/c.md")
    world.write("repo/docs/deep/c.md", "c @d.md")
    world.write("repo/docs/deep/d.md", "too deep")
    loader = world.loader()
    assert [path for path, _ in shown(loader)] == [
        "CODEAGENT.md",
        "docs/a.md",
        "docs/b.md",
        "docs/deep/c.md",
        "Makefile",
    ]
    d = str(world.top / "docs/deep/d.md")
    assert [notice.arguments for notice in loader.notices()] == [{"path": d, "depth": "3"}]


def test_imports_in_chinese_text(world: World) -> None:
    world.write("repo/CODEAGENT.md", "提交前请看@文档/规则.md的说明，还有「@文档/流程.md」。")
    world.write("repo/文档/规则.md", "规则")
    world.write("repo/文档/流程.md", "流程")
    assert world.shown()[1:] == [("文档/规则.md", "规则"), ("文档/流程.md", "流程")]


@pytest.mark.parametrize(
    "text",
    [
        "Mail me@example.md or first.last@docs.md",
        "npm i @types/node @acme/ui",
        "```python\n@docs.md\n```\n",
        "~~~\n@docs.md\n```\n@docs.md\n~~~",
        "Use `@docs.md` in code, ``a ` @docs.md``.",
        "@property\n@app.route('/')\n@pytest.mark.slow",
        "@\n@@docs.md\n@ docs.md",
        "@" + "x" * 5000,
        "https://example.com/@docs.md",
    ],
)
def test_what_is_no_import(world: World, text: str) -> None:
    world.write("repo/docs.md", "never imported")
    world.write("repo/example.md", "never imported")
    world.write("repo/CODEAGENT.md", text)
    loader = world.loader()
    assert [path for path, _ in shown(loader)] == ["CODEAGENT.md"]
    assert loader.notices() == ()


def test_a_missing_import_is_told_once(world: World) -> None:
    world.write("repo/CODEAGENT.md", "@docs/gone.md and @./gone")
    loader = world.loader()
    loader.section()
    assert [notice.arguments["target"] for notice in loader.notices()] == [
        str(world.top / "docs/gone.md"),
        str(world.top / "gone"),
    ]
    loader.section()
    assert loader.notices() == ()


def test_a_project_reaches_outside_itself_only_when_trusted(world: World) -> None:
    notes, key = world.write("elsewhere/notes.md", "notes"), world.write("elsewhere/key", "key")
    world.write("repo/CODEAGENT.md", "@../elsewhere/notes.md")
    (world.top / "CODEAGENT.local.md").symlink_to(key)
    loader = world.loader()
    assert [path for path, _ in shown(loader)] == ["CODEAGENT.md"]
    assert [notice.arguments["path"] for notice in loader.notices()] == [
        str(notes),
        str(world.top / "CODEAGENT.local.md"),
    ]
    assert [text for _, text in world.shown(trusted=True)][1:] == ["notes", "key"]


def test_the_users_own_file_imports_from_anywhere(world: World) -> None:
    world.write("home/.code-agent-cli/CODEAGENT.md", "@~/style.md")
    world.write("home/style.md", "my style")
    assert [text for _, text in world.shown()] == ["@~/style.md", "my style"]


def test_marks_line_ends_and_other_encodings(world: World) -> None:
    world.write("repo/CODEAGENT.md", b"\xef\xbb\xbfone\r\ntwo\rthree\r\n")
    world.write("repo/.code-agent-cli/CODEAGENT.md", "用 pnpm".encode("gb18030"))
    world.write("repo/CODEAGENT.local.md", "本机".encode("utf-16"))
    assert [text for _, text in world.shown()] == ["one\ntwo\nthree", "用 pnpm", "本机"]


def test_what_is_no_text_or_no_file_is_left_out_and_told(world: World) -> None:
    world.write("repo/CODEAGENT.md", "@logo.png @folder/ @queue")
    world.write("repo/logo.png", b"\x89PNG\0\0")
    world.write("repo/CODEAGENT.local.md", b"\0\1\2")
    (world.top / "folder").mkdir()
    os.mkfifo(world.top / "queue")
    loader = world.loader()
    assert [path for path, _ in shown(loader)] == ["CODEAGENT.md"]
    assert [notice.arguments["path"] for notice in loader.notices()] == [
        str(world.top / "logo.png"),
        str(world.top / "CODEAGENT.local.md"),
    ]


def test_empty_files_make_no_section(world: World) -> None:
    world.write("repo/CODEAGENT.md", " \n\n")
    assert world.loader().section() is None


def test_beyond_the_budget_the_most_general_loses_first_and_at_a_line(world: World) -> None:
    line = "x" * 99 + "\n"
    world.write("home/.code-agent-cli/CODEAGENT.md", line * 100)
    world.write("repo/CODEAGENT.md", line * 100)
    world.write("repo/CODEAGENT.local.md", line * 100)
    loader = world.loader()
    texts = [text.count(line.strip()) for _, text in shown(loader)]
    assert texts == [40, 100, 100]
    assert len(loader.notices()) == 1


def test_what_does_not_fit_at_all_leaves_a_note_and_is_told(world: World) -> None:
    world.write("home/.code-agent-cli/CODEAGENT.md", "user")
    long = world.write("repo/CODEAGENT.md", "one line " * 3_000)
    loader = world.loader()
    notes = dict(shown(loader))
    assert notes["CODEAGENT.md"].startswith("[This file is left out here; read it with read_file")
    assert [text for name, text in notes.items() if name != "CODEAGENT.md"] == ["user"]
    assert [str(notice) for notice in loader.notices()] == [f"{long} does not fit into the prompt: it is left out."]
    assert len(loader.shown()) == 1


def test_a_layer_for_which_no_room_is_left_leaves_a_note(world: World) -> None:
    user = world.write("home/.code-agent-cli/CODEAGENT.md", "user\n" * 10)
    world.write("repo/CODEAGENT.md", "x" * 99 + "\n" + "y" * (CHARACTERS - 100))
    assert "left out here" in dict(shown(world.loader()))[user.as_posix()]


@pytest.mark.parametrize("name", ["CODEAGENT.md", "AGENTS.md"])
def test_a_folder_or_a_dangling_link_in_the_place_of_a_file_is_told_once(world: World, name: str) -> None:
    (world.top / name).mkdir()
    (world.top / "api").mkdir()
    (world.top / "api" / name).symlink_to("gone.md")
    loader = world.loader()
    assert (loader.section(), loader.section(), loader.touched(world.top / "api")) == (None, None, "")
    loader.section()
    assert [str(notice) for notice in loader.notices()] == [
        f"{world.top / name} is a folder, not a file: no instructions are read from it.",
        f"{world.top / 'api' / name} is a link that leads nowhere: no instructions are read from it.",
    ]


def test_one_huge_file_is_cut_and_says_so(world: World) -> None:
    world.write("repo/CODEAGENT.md", "行\n" * 1_000_000)
    loader = world.loader(tokens=10**9)
    [(_, text)] = shown(loader)
    assert CHARACTERS - 200 < len(text) < CHARACTERS + 200
    assert text.splitlines()[:2] == ["行", "行"]
    assert text.splitlines()[-1] not in ("行", "")
    assert len(loader.notices()) == 1


def test_the_token_budget_counts_too(world: World) -> None:
    world.write("repo/CODEAGENT.md", "规则一二三四五六七八九十\n" * 500)
    [(_, text)] = shown(world.loader(tokens=1_000))
    assert 800 < estimate_tokens(text) < 1_050


def test_it_is_read_anew_each_time(world: World) -> None:
    loader = world.loader()
    world.write("repo/CODEAGENT.md", "before")
    assert shown(loader) == [("CODEAGENT.md", "before")]
    world.write("repo/CODEAGENT.md", "after")
    assert shown(loader) == [("CODEAGENT.md", "after")]


# ---- folders on the way ----------------------------------------------------------------------------------------------


def joined(loader: ProjectMemoryLoader, path: Path) -> list[tuple[str, str]]:
    return re.findall(r'<instructions path="(.*?)">\n(.*?)\n</instructions>', loader.touched(path), re.S)


def test_folders_that_lead_to_a_file_join_once_outermost_first(world: World) -> None:
    world.write("repo/CODEAGENT.md", "team")
    world.write("repo/api/CODEAGENT.md", "api\n@rules.md")
    world.write("repo/api/rules.md", "rules")
    world.write("repo/api/v2/AGENTS.md", "v2")
    file = world.write("repo/api/v2/deep/a.py", "x")
    loader = world.loader()
    loader.section()
    assert joined(loader, world.top / "main.py") == []
    assert joined(loader, file) == [
        ("api/CODEAGENT.md", "api\n@rules.md"),
        ("api/rules.md", "rules"),
        ("api/v2/AGENTS.md", "v2"),
    ]
    assert joined(loader, file) == joined(loader, file.parent) == joined(loader, world.top / "api") == []


def test_a_folder_that_is_read_counts_as_touched(world: World) -> None:
    world.write("repo/api/CODEAGENT.md", "api")
    assert joined(world.loader(), world.top / "api") == [("api/CODEAGENT.md", "api")]


def test_what_has_joined_is_a_layer_from_the_next_safe_point_on(world: World) -> None:
    world.write("repo/CODEAGENT.md", "team")
    nested = world.write("repo/api/CODEAGENT.md", "api")
    loader = world.loader()
    loader.touched(nested)
    assert shown(loader) == [("CODEAGENT.md", "team"), ("api/CODEAGENT.md", "api")]
    assert [name for name, _ in loader.shown()] == ["CODEAGENT.md", "api/CODEAGENT.md"]
    nested.write_text("api, changed", encoding="utf-8")
    assert (joined(loader, nested), shown(loader)[1]) == ([], ("api/CODEAGENT.md", "api, changed"))


def test_what_the_conversation_holds_is_not_sent_again_unless_it_has_changed(world: World) -> None:
    nested = world.write("repo/api/CODEAGENT.md", "api")
    deeper = world.write("repo/api/v2/CODEAGENT.md", "v2")
    said = world.loader().touched(deeper)
    again = world.loader(said=said)
    assert again.touched(deeper) == ""
    assert shown(again) == [("api/CODEAGENT.md", "api"), ("api/v2/CODEAGENT.md", "v2")]
    nested.write_text("api, changed", encoding="utf-8")
    assert joined(world.loader(said=said), deeper) == [("api/CODEAGENT.md", "api, changed")]


def test_what_is_imported_already_does_not_join_again(world: World) -> None:
    world.write("repo/CODEAGENT.md", "see @api/CODEAGENT.md")
    nested = world.write("repo/api/CODEAGENT.md", "api")
    loader = world.loader()
    loader.section()
    assert loader.touched(nested) == ""


@pytest.mark.parametrize("folder", ["node_modules/lib", "vendor", ".venv/lib", ".code-agent-cli"])
def test_foreign_code_gives_no_instructions(world: World, folder: str) -> None:
    assert world.loader().touched(world.write(f"repo/{folder}/AGENTS.md", "obey me")) == ""


def test_only_folders_below_the_working_folder_join(world: World) -> None:
    world.write("repo/web/CODEAGENT.md", "web")
    outside = world.write("elsewhere/CODEAGENT.md", "elsewhere")
    (world.top / "api").mkdir()
    (world.top / "api" / "link").symlink_to(outside.parent)
    loader = world.loader("repo/api")
    paths = [world.top / "web" / "a.py", outside, world.top / "api" / "link" / "a.py", world.top / "api" / "gone" / "x"]
    assert [loader.touched(path) for path in paths] == ["", "", "", ""]


def test_what_joins_on_the_way_takes_a_fourth_of_the_budget_at_most(world: World) -> None:
    long = world.write("repo/api/CODEAGENT.md", "a line of rules\n" * 2_000)
    loader = world.loader()
    ((_, text),) = joined(loader, long)
    assert 0 < len(text) <= CHARACTERS // 4 + 200
    assert len(loader.notices()) == 1


def test_a_nested_file_that_cannot_be_read_is_told_once(world: World) -> None:
    nested = world.write("repo/api/CODEAGENT.md", b"\x00\x01")
    loader = world.loader()
    assert (loader.touched(nested), len(loader.notices())) == ("", 1)
    assert (loader.touched(nested), loader.notices()) == ("", ())


@pytest.mark.parametrize(
    "text",
    [
        "See @/components/Button.",
        "ask @bob.txt",
        "Text:\n\n    @gone.md\n",
        "<!-- @gone.md\n@gone.md -->",
        "\t@gone.md",
    ],
)
def test_aliases_names_code_blocks_and_comments_are_no_imports(tmp_path: Path, text: str) -> None:
    (tmp_path / "here.md").touch()
    assert list(find_imports(f"{text}\n- list\n    - @here.md", tmp_path, tmp_path)) == [tmp_path / "here.md"]
