from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.ports import Verdict
from codeagent.core.tools import Action, Command, Diff, Kind
from codeagent.core.ui import Answer, Choice, Question
from codeagent.safety.permissions import Denial, Mode, Permissions
from codeagent.safety.rules import parse_rules
from tests.tools.world import Person

YES = Verdict(True)
NO = Choice("no", "No, and tell the model what to do instead", feedback=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "project"
    for folder in ("src", ".git", ".code-agent-cli"):
        (top / folder).mkdir(parents=True)
    (tmp_path / "archive").mkdir()
    (top / "src/out").symlink_to(tmp_path)
    return top


def touch(path: Path, kind: Kind = "edit") -> Action:
    tool = "edit_file" if kind == "edit" else "read_file"
    return Action(tool, kind, str(path), f"{tool} {path.name}", Diff(path.name, "a", "b") if kind == "edit" else None)


def web(url: str, tool: str = "web_fetch") -> Action:
    return Action(tool, "web", url, f"Fetch {url}")


def run(command: str, cwd: Path) -> Action:
    return Action("shell", "run", command, f"Run {command}", Command(command, str(cwd)))


ACTIONS: dict[str, Callable[[Path], Action]] = {
    "read inside": lambda top: touch(top / "src/a.py", "read"),
    "read readable": lambda top: touch(top.parent / "archive/c1.txt", "read"),
    "read outside": lambda top: touch(top.parent / "x", "read"),
    "read through a link": lambda top: touch(top / "src/out/x", "read"),
    "edit inside": lambda top: touch(top / "src/a.py"),
    "edit new folder": lambda top: touch(top / "new/deep/a.py"),
    "edit outside": lambda top: touch(top.parent / "x"),
    "edit through a link": lambda top: touch(top / "src/out/new/x"),
    "edit by ..": lambda top: touch(top / "src/../../x"),
    "edit hooks": lambda top: touch(top / ".git/hooks/pre-commit"),
    "edit settings": lambda top: touch(top / ".code-agent-cli/config.toml"),
    "looking command": lambda top: run("git status", top),
    "command": lambda top: run("npm test", top),
    "command that names tattoo.md": lambda top: run("sed -i 1d .code-agent-cli/memory/TATTOO.md", top),
    "look at tattoo.md": lambda top: run("cat .code-agent-cli/memory/tattoo.md", top),
    "web": lambda top: web("https://docs.example.org/a"),
    "memory": lambda top: Action("save_memory", "memory", "x", "Remember x"),
}
# y: goes unasked; ?: is asked; n: refused unasked
TABLE: dict[str, tuple[str, str, str, str]] = {
    # name                default accept-edits plan yolo
    "read inside": ("y", "y", "y", "y"),
    "read readable": ("y", "y", "y", "y"),
    "read outside": ("?", "?", "?", "y"),
    "read through a link": ("?", "?", "?", "y"),
    "edit inside": ("?", "y", "n", "y"),
    "edit new folder": ("?", "y", "n", "y"),
    "edit outside": ("?", "?", "n", "y"),
    "edit through a link": ("?", "?", "n", "y"),
    "edit by ..": ("?", "?", "n", "y"),
    "edit hooks": ("?", "?", "n", "y"),
    "edit settings": ("?", "?", "n", "y"),
    "looking command": ("y", "y", "y", "y"),
    "command": ("?", "?", "n", "y"),
    "command that names tattoo.md": ("?", "?", "n", "y"),
    "look at tattoo.md": ("y", "y", "y", "y"),
    "web": ("?", "?", "?", "y"),
    "memory": ("y", "y", "y", "y"),
}
MODES: tuple[Mode, ...] = ("default", "accept-edits", "plan", "yolo")


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("mode", MODES)
async def test_what_each_mode_lets_through(top: Path, name: str, mode: Mode) -> None:
    person = Person([Answer("yes")])
    permissions = Permissions(mode, [top], person, readable=[top.parent / "archive"])
    allowed = (await permissions.check(ACTIONS[name](top))).allowed
    assert ("?" if person.asked else "y" if allowed else "n") == TABLE[name][MODES.index(mode)]
    assert allowed == (TABLE[name][MODES.index(mode)] != "n")


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row[0] == "?"])
async def test_without_a_terminal_a_question_is_a_no(top: Path, name: str) -> None:
    person = Person(interactive=False)
    permissions = Permissions("default", [top], person)
    action = ACTIONS[name](top)
    reason = f"{action.title}: this needs a yes, and there is no terminal to ask. It was not done."
    assert await permissions.check(action) == Verdict(False, reason)
    assert permissions.denials == [Denial(action.tool, action.subject, reason)]
    assert person.asked == []


async def test_the_question_shows_the_change_and_what_a_yes_grants(top: Path) -> None:
    person = Person()
    permissions = Permissions("default", [top], person)
    await permissions.check(touch(top / "src/a.py"))
    await permissions.check(run("npm test", top / "src"))
    await permissions.check(touch(top.parent / "archive/x", "read"))
    await permissions.check(touch(top / ".git/config"))
    assert person.asked == [
        Question(
            "edit_file a.py?",
            (Choice("yes", "Yes"), Choice("session", "Yes, and all edits below project/src/ for this session"), NO),
            Diff("a.py", "a", "b"),
        ),
        Question(
            "Run npm test?",
            (
                Choice("yes", "Yes"),
                Choice("session", "Yes, and exactly this command for this session: npm test"),
                NO,
            ),
            Command("npm test", str(top / "src")),
            f"in {top}/src",
        ),
        Question(
            "read_file x?",
            (
                Choice("yes", "Yes"),
                Choice("session", f"Yes, and all reads below {top.parent}/archive/ for this session"),
                NO,
            ),
            None,
            f"outside the project: {top.parent}/archive/x",
        ),
        Question(
            "edit_file config?",
            (Choice("yes", "Yes"), NO),
            Diff("config", "a", "b"),
            "What stands there may run on its own later.",
        ),
    ]


async def test_no_carries_a_word_to_the_model(top: Path) -> None:
    person = Person([Answer("no", " use make instead "), Answer("no"), Answer("")])
    permissions = Permissions("default", [top], person)
    action = run("npm test", top)
    assert await permissions.check(action) == Verdict(False, 'The user said no: "use make instead". It was not done.')
    assert await permissions.check(action) == Verdict(False, "The user said no. It was not done.")
    assert await permissions.check(action) == Verdict(False, "The user said no. It was not done.")
    assert len(permissions.denials) == 3


async def asked_after(top: Path, granted: Action, then: Action) -> bool:
    """Whether `then` is asked about when `granted` got a yes for the session."""
    person = Person([Answer("session"), Answer("yes")])
    permissions = Permissions("default", [top], person)
    assert await permissions.check(granted) == YES
    assert await permissions.check(then) == YES
    return len(person.asked) == 2


async def test_a_yes_for_the_session_covers_exactly_what_it_says(top: Path) -> None:
    test, a_py = run("npm test", top), touch(top / "src/a.py")
    assert not await asked_after(top, test, test)
    assert await asked_after(top, test, run("npm test ", top))
    assert await asked_after(top, test, run("npm test && rm x", top))
    assert await asked_after(top, test, run("npm test", top / "src"))
    assert await asked_after(top, test, a_py)
    assert not await asked_after(top, a_py, touch(top / "src/deep/b.py"))
    assert await asked_after(top, a_py, touch(top / "b.py"))
    assert await asked_after(top, a_py, touch(top / "src/out/b.py"))
    assert await asked_after(top, a_py, test)
    assert await asked_after(top, touch(top / "a.py"), touch(top / ".git/hooks/x"))
    assert await asked_after(top, touch(Path("/a"), "read"), touch(Path("/b"), "read"))


async def test_a_yes_for_a_site_covers_what_is_below_it(top: Path) -> None:
    page = web("https://docs.example.org/a")
    assert not await asked_after(top, page, web("http://docs.example.org:8080/b?c=d"))
    assert not await asked_after(top, page, web("https://zh.docs.example.org/"))
    assert await asked_after(top, page, web("https://example.org/"))
    assert await asked_after(top, page, web("https://docs.example.org.evil.test/"))
    assert await asked_after(top, page, web("https://docs.example.org@evil.test/"))
    assert await asked_after(top, page, web("docs.example.org", "web_search"))
    assert not await asked_after(top, web("one", "web_search"), web("two", "web_search"))


async def test_the_question_names_the_site_that_a_yes_grants(top: Path) -> None:
    person = Person([Answer("yes"), Answer("yes")])
    permissions = Permissions("default", [top], person)
    await permissions.check(web("https://docs.example.org/a"))
    await permissions.check(web("what is new", "web_search"))
    labels = [question.choices[1].label for question in person.asked]
    assert labels == ["Yes, and all of docs.example.org for this session", "Yes, and every search for this session"]


async def test_an_approved_plan_leaves_plan_mode(top: Path) -> None:
    permissions = Permissions("plan", [top], Person())
    assert permissions.planning
    permissions.approved(edits=True)
    assert (permissions.mode, permissions.planning) == ("accept-edits", False)
    permissions.approved(edits=False)
    assert permissions.mode == "default"


async def test_a_plain_yes_covers_one_time(top: Path) -> None:
    person = Person([Answer("yes"), Answer("yes")])
    permissions = Permissions("default", [top], person)
    for _ in range(2):
        assert await permissions.check(run("npm test", top)) == YES
    assert len(person.asked) == 2


class Slow(Person):
    """Somebody who thinks before answering."""

    async def ask(self, question: Question) -> Answer:
        self.busy = getattr(self, "busy", 0) + 1
        assert self.busy == 1, "two questions at once"
        await asyncio.sleep(0.01)
        self.busy -= 1
        return await super().ask(question)


async def test_questions_come_one_at_a_time_and_a_grant_answers_those_that_wait(top: Path) -> None:
    person = Slow([Answer("session"), Answer("no")])
    permissions = Permissions("default", [top], person)
    verdicts = await asyncio.gather(
        permissions.check(touch(top / "src/a.py")),
        permissions.check(touch(top / "src/b.py")),
        permissions.check(run("npm test", top)),
    )
    assert [verdict.allowed for verdict in verdicts] == [True, True, False]
    assert len(person.asked) == 2


@pytest.mark.parametrize(
    ("rules", "mode", "outcome"),
    [
        ({"deny": ["shell(npm:*)"]}, "yolo", "n"),
        ({"deny": ["shell"], "allow": ["shell"]}, "default", "n"),
        ({"allow": ["shell(npm test)"]}, "default", "y"),
        ({"allow": ["shell(npm test)"], "ask": ["shell(npm:*)"]}, "default", "?"),
        ({"ask": ["shell(npm:*)"]}, "yolo", "y"),
        ({"allow": ["shell(npm test)"]}, "plan", "y"),
    ],
)
async def test_rules(top: Path, rules: dict[str, list[str]], mode: Mode, outcome: str) -> None:
    person = Person([Answer("yes")])
    permissions = Permissions(mode, [top], person, **{name: parse_rules(texts) for name, texts in rules.items()})
    allowed = (await permissions.check(run("npm test", top))).allowed
    assert ("?" if person.asked else "y" if allowed else "n") == outcome


async def test_a_rule_for_commands_holds_in_the_project_alone(top: Path) -> None:
    person = Person([Answer("yes")])
    permissions = Permissions("default", [top], person, allow=parse_rules(["shell(make:*)"]))
    assert await permissions.check(run("make all", top / "src")) == YES
    assert person.asked == []
    assert await permissions.check(run("make all", top.parent)) == YES
    assert len(person.asked) == 1


async def test_a_rule_to_ask_holds_in_accept_edits(top: Path) -> None:
    person = Person([Answer("yes")])
    permissions = Permissions("accept-edits", [top], person, ask=parse_rules(["edit_file(*.lock)"]))
    assert await permissions.check(touch(top / "a.lock")) == YES
    assert await permissions.check(touch(top / "a.py")) == YES
    assert len(person.asked) == 1


async def test_memory_can_be_denied_by_a_rule(top: Path) -> None:
    permissions = Permissions("yolo", [top], Person(), deny=parse_rules(["save_memory"]))
    assert not (await permissions.check(ACTIONS["memory"](top))).allowed


async def test_the_mode_can_change_at_any_time(top: Path) -> None:
    permissions = Permissions("default", [top], Person())
    assert [permissions.cycle() for _ in range(4)] == ["accept-edits", "plan", "default", "accept-edits"]
    permissions.mode = "yolo"
    assert await permissions.check(run("npm test", top)) == YES
    assert permissions.cycle() == "default"


async def test_no_allow_rule_covers_a_command_that_names_the_hard_constraints(top: Path) -> None:
    person = Person([Answer("no")])
    permissions = Permissions("default", [top], person, allow=parse_rules(["shell"]))
    assert (await permissions.check(run("echo x", top))).allowed
    assert not (await permissions.check(run("echo x >> .code-agent-cli/memory/tattoo.md", top / "src"))).allowed
    (asked,) = person.asked
    assert asked.detail == f"in {top}/src. It names tattoo.md: your hard constraints are yours to change."


def patch(top: Path, *names: str) -> Action:
    """A change of several files at once."""
    first, *others = (str(top / name) for name in names)
    return Action("apply_patch", "edit", first, "Patch", None, tuple(others))


PATCHES: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    # files                                                 default accept-edits plan
    "all inside": (("src/a.py", "new/b.py"), "?", "y", "n"),
    "one outside": (("src/a.py", "../x"), "?", "?", "n"),
    "one that may run later": (("src/a.py", ".git/hooks/pre-commit"), "?", "?", "n"),
    "one denied": (("src/a.py", "secret/b.py"), "n", "n", "n"),
    "all allowed": (("docs/a.md", "docs/b.md"), "y", "y", "y"),
    "one not allowed": (("docs/a.md", "src/a.py"), "?", "y", "n"),
    "one to be asked": (("src/a.py", "careful/b.py"), "?", "?", "n"),
}


@pytest.mark.parametrize("name", PATCHES)
@pytest.mark.parametrize("mode", ["default", "accept-edits", "plan"])
async def test_several_files_are_as_free_as_the_least_free(top: Path, name: str, mode: Mode) -> None:
    person = Person([Answer("yes")])
    permissions = Permissions(
        mode,
        [top],
        person,
        allow=parse_rules(["edit_file(docs/**)"]),
        ask=parse_rules(["edit_file(careful/**)"]),
        deny=parse_rules(["edit_file(secret/**)"]),
    )
    files, *expected = PATCHES[name]
    allowed = (await permissions.check(patch(top, *files))).allowed
    assert ("?" if person.asked else "y" if allowed else "n") == expected[MODES.index(mode)]


async def test_a_yes_for_several_files_holds_below_the_folder_they_share(top: Path) -> None:
    person = Person([Answer("session"), Answer("yes"), Answer("yes")])
    permissions = Permissions("default", [top], person)
    await permissions.check(patch(top, "src/a/x.py", "src/b/y.py"))
    await permissions.check(patch(top, "src/c.py", "src/b/z.py"))
    await permissions.check(patch(top, "src/c.py", "docs/x.md"))
    await permissions.check(patch(top, "src/c.py", "../x"))
    labels = [[choice.label for choice in question.choices] for question in person.asked]
    assert labels == [
        ["Yes", "Yes, and all edits below project/src/ for this session", NO.label],
        ["Yes", "Yes, and all edits below project/ for this session", NO.label],
        ["Yes", NO.label],
    ]
    assert person.asked[-1].detail == f"outside the project: {top.parent}/x"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["read inside", "looking command", "memory", "edit inside"])
async def test_a_call_written_as_text_is_asked_whatever_mode_and_rules_say(top: Path, name: str, mode: Mode) -> None:
    person = Person([Answer("yes"), Answer("yes")])
    allow = parse_rules(("read_file", "shell", "edit_file", "save_memory"))
    permissions = Permissions(mode, [top], person, readable=[top], allow=allow)
    action = replace(ACTIONS[name](top), written=True)
    planned = mode == "plan" and action.kind not in ("read", "web")
    verdicts = [(await permissions.check(action)).allowed for _ in range(2)]
    assert verdicts == [not planned] * 2
    assert [(question.choices, question.detail) for question in person.asked] == (
        [] if planned else [((Choice("yes", "Yes"), NO), "The model wrote this call as text.")] * 2
    )
