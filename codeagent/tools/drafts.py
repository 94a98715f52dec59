"""The files a patch touches as they would be after it, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.tools import Diff, ToolContext
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import UTF8, Encoding
from codeagent.tools.hunks import apply_hunks
from codeagent.tools.loading import check_new, encode_as, load_for_change, written_like
from codeagent.tools.patches import Added, Deleted, Section, Updated
from codeagent.tools.paths import counted, missing, resolve, shown
from codeagent.tools.writing import Change


@dataclass(slots=True)
class Draft:
    """One file; None for a text means that there is no file."""

    name: str
    before: str | None
    text: str | None
    encoding: Encoding = UTF8
    moved_from: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.text != self.before or self.moved_from is not None


class Drafts:
    """Takes sections in order; a later one sees what an earlier one did."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._drafts: dict[Path, Draft] = {}

    def take(self, section: Section) -> None:
        """Raises:
        ToolFault: the section cannot be carried out.
        """
        match section:
            case Added(path, content):
                self._add(resolve(self._ctx, path), content)
            case Deleted(path):
                draft = self._existing(self._plain(path))
                draft.text, draft.notes = None, []
            case Updated():
                self._update(section)

    def _add(self, path: Path, content: str) -> None:
        draft = self._drafts.get(path)
        if draft is not None and draft.text is not None:
            raise ToolFault(f"{draft.name} stands in the patch already; add it once, whole.", "twice")
        if draft is not None:
            draft.text = content
        elif path.exists():
            draft = self._existing(path)
            draft.text = written_like(content, draft.before or "")
        else:
            check_new(path, self._ctx)
            self._drafts[path] = Draft(shown(self._ctx, path), None, content)

    def _update(self, section: Updated) -> None:
        path = self._plain(section.path) if section.move_to else resolve(self._ctx, section.path)
        draft = self._existing(path)
        assert draft.text is not None
        patched = apply_hunks(draft.text, section.hunks, draft.name)
        draft.text = patched.text
        if patched.lines:
            spans = [str(first) if first == last else f"{first}-{last}" for first, last in patched.lines]
            draft.notes.append(f"now line{'s' if spans != [str(patched.lines[0][0])] else ''} {', '.join(spans)}")
        if patched.tolerated:
            draft.notes.append(f"the patch differed from the file in {', '.join(patched.tolerated)} and was adapted")
        for line, others in patched.elsewhere:
            draft.notes.append(f"the place at line {line} was the first of several: also {', '.join(map(str, others))}")
        if section.move_to:
            self._move(path, draft, resolve(self._ctx, section.move_to))

    def _move(self, source: Path, draft: Draft, target: Path) -> None:
        if target == source:
            return
        there = self._drafts.get(target)
        if there.text is not None if there is not None else target.exists():
            raise ToolFault(f"{shown(self._ctx, target)} exists already; nothing is moved over it.", "exists")
        check_new(target, self._ctx)
        self._drafts[target] = Draft(
            shown(self._ctx, target),
            there.before if there is not None else None,
            draft.text,
            draft.encoding,
            draft.moved_from or source,
            draft.notes,
        )
        draft.text, draft.moved_from = None, None

    def _existing(self, path: Path) -> Draft:
        """The draft of a file that is to be changed."""
        if path not in self._drafts:
            if not path.exists():
                raise ToolFault(f"{missing(self._ctx, path)} A new file needs *** Add File.", "missing")
            text, encoding = load_for_change(path, self._ctx)
            self._drafts[path] = Draft(shown(self._ctx, path), text, text, encoding)
        draft = self._drafts[path]
        if draft.text is None:
            raise ToolFault(f"{draft.name} is gone by then: the patch took it away before.", "gone")
        return draft

    def _plain(self, text: str) -> Path:
        """The path of a file that is to go away, which is no link: what it leads to is not meant."""
        path = resolve(self._ctx, text)
        named = self._ctx.cwd / text
        if named.is_symlink():
            raise ToolFault(f"{text} is a link; move or remove it with shell.", "a link")
        return path

    # ---- what comes of it ------------------------------------------------------------------------------------------

    @property
    def paths(self) -> list[Path]:
        return [path for path, draft in self._drafts.items() if draft.changed]

    def changes(self) -> list[Change]:
        """Raises:
        ToolFault: an encoding lacks a character.
        """
        return [
            Change(path, None if draft.text is None else self._encoded(draft, draft.text), draft.moved_from)
            for path, draft in self._drafts.items()
            if draft.changed
        ]

    def _encoded(self, draft: Draft, text: str) -> bytes:
        source = self._drafts[draft.moved_from] if draft.moved_from is not None else draft
        return encode_as(text, draft.encoding, draft.name, source.before or "")

    def diffs(self) -> tuple[Diff, ...]:
        """One for each file that changes; a moved one counts once, under its new name."""
        return tuple(diff for _, diff in self._changed())

    def told(self) -> list[str]:
        """A line for each change, as version control writes them."""
        return ["; ".join((_row(diff), *draft.notes)) for draft, diff in self._changed()]

    def _changed(self) -> Iterator[tuple[Draft, Diff]]:
        sources = {draft.moved_from for draft in self._drafts.values()}
        for path, draft in self._drafts.items():
            if draft.moved_from is not None:
                source = self._drafts[draft.moved_from]
                yield draft, Diff(draft.name, source.before, draft.text, source.name)
            elif draft.changed and not (draft.text is None and path in sources):
                yield draft, Diff(draft.name, draft.before, draft.text)


def _row(diff: Diff) -> str:
    if diff.moved_from:
        return f"R {diff.moved_from} -> {diff.path}"
    if diff.after is None:
        return f"D {diff.path}"
    return (
        f"M {diff.path}" if diff.before is not None else f"A {diff.path} ({counted(diff.after.count(chr(10)), 'line')})"
    )
