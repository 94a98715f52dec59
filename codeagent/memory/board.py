"""Task memory as text: sections of a snapshot, rules and notes; edits that keep what a person wrote. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeagent.core.display import plain
from codeagent.core.task import TaskPart as Part

HEADINGS: dict[Part, tuple[str, str]] = {
    "goal": ("Goal", "目标"),
    "done": ("Done", "已完成"),
    "in_progress": ("In progress", "进行中"),
    "open": ("Open", "待办"),
    "decisions": ("Key decisions", "关键决策"),
}
"""Of each part in English and Chinese, in the order of a snapshot."""
_NAMES: dict[str, Part] = {
    **{name.lower(): part for part, names in HEADINGS.items() for name in names},
    "goals": "goal", "task": "goal", "objective": "goal", "objectives": "goal", "aim": "goal", "purpose": "goal",
    "任务目标": "goal", "任务": "goal", "目的": "goal", "总目标": "goal", "当前目标": "goal",
    "completed": "done", "finished": "done", "完成": "done", "已经完成": "done", "已做": "done",
    "doing": "in_progress", "wip": "in_progress", "ongoing": "in_progress", "current": "in_progress",
    "currently": "in_progress", "working on": "in_progress", "work in progress": "in_progress",
    "current task": "in_progress", "progress": "in_progress", "status": "in_progress",
    "正在进行": "in_progress", "正在做": "in_progress", "当前任务": "in_progress", "当前": "in_progress",
    "进度": "in_progress", "当前进度": "in_progress", "进展": "in_progress",
    "todo": "open", "todos": "open", "to do": "open", "pending": "open", "remaining": "open", "backlog": "open",
    "next": "open", "next steps": "open", "未完成": "open", "待处理": "open", "待办事项": "open", "下一步": "open",
    "待完成": "open", "剩余": "open",
    "decisions": "decisions", "key decision": "decisions", "decision": "decisions", "decision log": "decisions",
    "design decisions": "decisions", "decisions made": "decisions", "决策": "decisions", "关键决定": "decisions",
    "决定": "decisions", "重要决策": "decisions", "重要决定": "decisions", "设计决策": "decisions",
}  # fmt: skip
_HEADING = re.compile(r"(#{1,6})\s+(.+?)[\s#]*")
_LABEL = re.compile(r"(?:\*\*|__)(.{1,40}?)(?:\*\*|__)\s*[:：]?|([^\s*+-].{0,39}?)[:：]")
"""What stands alone on its line and is meant as a heading: all that is in bold, else where its words are known."""
_LABELLED = 7
"""Level of such a heading: under every other."""
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CHINESE = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int
    level: int
    part: Part | None


def part_named(title: str) -> Part | None:
    """The part that a heading means, whatever is around its words."""
    latin = " ".join(re.findall("[a-z]+", title.lower()))
    return _NAMES.get(latin) or _NAMES.get("".join(_CHINESE.findall(title)))


def section(text: str, part: Part) -> str:
    """What stands under the headings of `part`, without comments."""
    lines = text.split("\n")
    bodies = ("\n".join(lines[start:end]) for start, end in _spans(text, part))
    return "\n".join(body for body in map(_bare, bodies) if body)


def says(text: str) -> bool:
    """Whether a snapshot holds anything of a task; what a person keeps beside known headings is none of it."""
    if any(heading.part for heading in _headings(text)):
        return any(section(text, part) for part in HEADINGS)
    return bool(rest(text))


def rest(text: str) -> str:
    """What stands under no heading that is known, comments and headings over nothing left out."""
    headings = {heading.line for heading in _headings(text) if heading.level < _LABELLED}
    known = {line for part in HEADINGS for start, end in _spans(text, part) for line in range(start - 1, end)}
    kept: list[str] = []
    waiting = ""
    for number, line in enumerate(_masked(text).split("\n")):
        if number in known or not line.strip():
            waiting = "" if number in known else waiting
        elif number in headings:
            waiting = f"#### {line.lstrip('# ').rstrip()}"
        else:
            kept += [waiting, line.rstrip()] if waiting else [line.rstrip()]
            waiting = ""
    return "\n".join(kept)


def items(body: str) -> list[str]:
    """The points of a list, without their marks; a line without one goes on with the point before, or is its own."""
    found: list[str] = []
    marked = False
    for line in _bare(body).split("\n"):
        bullet = _BULLET.match(line.strip())
        if bullet and (not line[:1].isspace() or not marked):
            marked = True
            found.append(line.strip()[bullet.end() :].strip())
        elif line.strip() and marked and line[:1].isspace():
            found[-1] += f"\n{line.strip()}"
        elif line.strip() and not _HEADING.fullmatch(line):
            found.append(line.strip())
    return [item for item in found if item]


def rules(text: str) -> list[str]:
    """The lines of a tattoo that say something."""
    return [line.strip() for line in _bare(text).split("\n") if line.strip() and not _HEADING.fullmatch(line.strip())]


def constraints(text: str) -> str:
    """A tattoo as it is sent: whole, but for comments, empty lines and the title: the first line, where it alone looks
    like one."""
    lines = [line.rstrip() for line in _bare(text).split("\n") if line.strip()]
    titles = [line for line in lines if line.startswith("# ")]
    return "\n".join(lines[1:] if titles == lines[:1] and len(lines) > 1 else lines)


def harmless(content: str) -> str:
    """`content` without what would make headings or comments of it, and without what a terminal would obey."""
    return re.sub(r"^#+\s+", "", plain(content).replace("<!--", "<! --"), flags=re.MULTILINE)


def same(one: str) -> str:
    """What two points share that mean the same to a reader: case, blanks and marks aside."""
    return " ".join(one.casefold().split()).strip(" .。;；!！`*_")


def replace(text: str, part: Part, content: Sequence[str]) -> str:
    """`text` with `content` in the place of what stands under `part`. Comments there stay, and what is under further
    headings; a goal takes the place of the first paragraph alone."""
    spans = _stated(text, part)
    if not spans:
        return _insert(text, part, _written(part, content))
    lines = text.split("\n")
    for start, end in reversed(spans[1:]):
        lines[start:end] = [*_comments(lines[start:end]), *_blanks(lines[start:end])]
    start, end = spans[0]
    lines[start:end] = [*_comments(lines[start:end]), *_written(part, content), *_blanks(lines[start:end])]
    return "\n".join(lines)


def stated(text: str, part: Part) -> str:
    """What `replace` would take away."""
    lines = _masked(text).split("\n")
    return "\n".join("\n".join(lines[start:end]) for start, end in _stated(text, part))


def add(text: str, part: Part, content: Sequence[str]) -> str:
    """`text` with those of `content` under `part` that are not there yet."""
    there = {same(item) for item in items(section(text, part))}
    new = _written(part, [item for item in content if same(item) not in there])
    spans = list(_spans(text, part))
    if not new:
        return text
    if not spans:
        return _insert(text, part, new)
    lines = text.split("\n")
    start, end = spans[-1]
    place = end - len(_blanks(lines[start:end]))
    lines[place:place] = new
    return "\n".join(lines)


def remove(text: str, part: Part, content: Iterable[str]) -> str:
    """`text` without the points of `content` under `part`."""
    gone = {same(item) for item in content}
    lines = text.split("\n")
    dropped: set[int] = set()
    for start, end in _spans(text, part):
        dropping = False
        for place in range(start, end):
            line = lines[place]
            if bullet := _BULLET.match(line):
                dropping = same(line[bullet.end() :]) in gone
            elif not line[:1].isspace():
                dropping = False
            if dropping:
                dropped.add(place)
    return "\n".join(line for place, line in enumerate(lines) if place not in dropped)


def append(text: str, content: Sequence[str]) -> str:
    """`text` with `content` as points at its end."""
    return f"{text.rstrip(chr(10))}\n{chr(10).join(_listed(content))}\n".lstrip("\n")


def chinese(text: str) -> bool:
    """Whether what a person wrote there is Chinese for the most part; comments and headings do not count."""
    lines = _bare(text).split("\n")
    read = "\n".join(line for line in lines if not _HEADING.fullmatch(line.rstrip()))
    signs = len(_CHINESE.findall(read))
    return 0 < signs >= len(re.findall(r"[A-Za-z][\w.-]*", read, re.ASCII))


def _stated(text: str, part: Part) -> list[tuple[int, int]]:
    """(first line, line behind the last) of what a statement of `part` takes the place of."""
    spans = list(_spans(text, part, deep=False))
    if part != "goal" or not spans:
        return spans
    lines = _masked(text).split("\n")
    start, end = next(((a, b) for a, b in spans if any(map(str.strip, lines[a:b]))), spans[0])
    begun = next((place for place in range(start, end) if lines[place].strip()), end)
    return [(start, next((place for place in range(begun, end) if not lines[place].strip()), end))]


def _spans(text: str, part: Part, *, deep: bool = True) -> Iterator[tuple[int, int]]:
    """(first line, line behind the last) of what belongs to `part`, `deep` with what is under further headings."""
    headings = list(_headings(text))
    total = text.count("\n") + 1
    for place, heading in enumerate(headings):
        if heading.part == part:
            later = headings[place + 1 :]
            own = heading.level if deep else _LABELLED
            ends = (other.line for other in later if other.part is not None or other.level <= own)
            yield heading.line + 1, next(ends, total)


def _headings(text: str) -> Iterator[_Heading]:
    fenced = False
    for number, line in enumerate(_masked(text).split("\n")):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            continue
        elif found := _HEADING.fullmatch(line.rstrip()):
            yield _Heading(number, len(found[1]), part_named(found[2]))
        elif label := _LABEL.fullmatch(line.rstrip()):
            part = part_named(label[1] or label[2])
            if part or label[1]:
                yield _Heading(number, _LABELLED, part)


def _masked(text: str) -> str:
    """`text` without comments, its lines where they were."""
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def _insert(text: str, part: Part, body: Sequence[str]) -> str:
    """A new heading before the first that comes later in a snapshot, else at the end."""
    order = list(HEADINGS)
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    behind = (h.line for h in _headings(text) if h.part and order.index(h.part) > order.index(part))
    place = next(behind, len(lines))
    titles = [lines[heading.line] for heading in _headings(text) if heading.part]
    written = bool(_CHINESE.search("\n".join(titles))) if titles else chinese("\n".join(body))
    block = [f"## {HEADINGS[part][written]}", *body, ""]
    if place and lines[place - 1].strip():
        block.insert(0, "")
    lines[place:place] = block
    return "\n".join(lines).rstrip("\n") + "\n"


def _written(part: Part, content: Sequence[str]) -> list[str]:
    return [line for item in content for line in item.split("\n")] if part == "goal" else _listed(content)


def _listed(content: Sequence[str]) -> list[str]:
    return ["- " + item.replace("\n", "\n  ") for item in content for item in [item.strip()] if item]


def _comments(lines: Sequence[str]) -> list[str]:
    return [line for found in _COMMENT.findall("\n".join(lines)) for line in found.split("\n")]


def _blanks(lines: Sequence[str]) -> list[str]:
    """The empty lines at the end."""
    count = 0
    while count < len(lines) and not lines[-1 - count].strip():
        count += 1
    return list(lines[len(lines) - count :])


def _bare(text: str) -> str:
    return _COMMENT.sub("", text).strip("\n")
