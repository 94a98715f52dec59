"""Permissions: what may happen unasked, what is asked, what is refused, and why.

Judged in this order: deny rules; calls that were written as text, which are always asked; consent that a tool asks
for itself (memory); yolo; reads within reach; ask rules; allow rules; plan mode (which lets the web be read, asked
like everywhere); commands that only look; edits inside the roots in accept-edits; grants of this session; the person.
Whatever allowed a command, the person is asked where it would destroy what git does not have; in yolo only where that
cannot be saved first. Shift-Tab goes round default, accept-edits and plan; yolo is only ever chosen by name, and left
for default.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codeagent.core.paths import TATTOO
from codeagent.core.ports import Verdict
from codeagent.core.tools import Action, Command
from codeagent.core.ui import UI, Choice, Question
from codeagent.core.web import host_of
from codeagent.safety.commands import only_looks
from codeagent.safety.losses import Loss, Losses
from codeagent.safety.places import guarded, inside, real
from codeagent.safety.rules import Rule, allows, forbids, within

Mode = Literal["default", "accept-edits", "plan", "yolo"]
_NEXT: dict[Mode, Mode] = {"default": "accept-edits", "accept-edits": "plan", "plan": "default", "yolo": "default"}
_YES = Verdict(True)
_LABEL = 60
"""Characters of a command in a label; longer ones are named, not quoted."""


@dataclass(frozen=True, slots=True)
class Denial:
    """What was refused."""

    tool: str
    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Grant:
    """A yes for the session: exactly this command in this folder, this kind of access below this folder, or this
    site (for a search: every search)."""

    tool: str
    kind: str
    subject: str
    folder: Path

    def covers(self, action: Action) -> bool:
        if action.kind != self.kind:
            return False
        if action.kind == "run":
            return (action.tool, action.subject, _cwd(action)) == (self.tool, self.subject, self.folder)
        if action.kind == "web":
            return action.tool == self.tool and within(host_of(action.subject), self.subject)
        return real(action.subject).is_relative_to(self.folder)


class Permissions:
    """Implements `ports.Permission` and `ports.Planning`.

    `roots` are the real paths of the folders to work in, `readable` of further ones that may be read.
    """

    def __init__(
        self,
        mode: Mode,
        roots: Sequence[Path],
        ui: UI,
        *,
        readable: Iterable[Path] = (),
        allow: Iterable[Rule] = (),
        ask: Iterable[Rule] = (),
        deny: Iterable[Rule] = (),
        losses: Losses | None = None,
    ) -> None:
        """`losses` knows what a command would destroy."""
        self.mode: Mode = mode
        self.denials: list[Denial] = []
        self._roots = tuple(roots)
        self._readable = (*self._roots, *readable)
        self._ui = ui
        self._allow, self._ask_first, self._deny = tuple(allow), tuple(ask), tuple(deny)
        self._grants: list[_Grant] = []
        self._losses = losses
        self._asking = asyncio.Lock()

    def cycle(self) -> Mode:
        """Go to the next mode, as Shift-Tab does."""
        self.mode = _NEXT[self.mode]
        return self.mode

    @property
    def planning(self) -> bool:
        return self.mode == "plan"

    def approved(self, *, edits: bool) -> None:
        """The person approved the plan: leave plan mode."""
        self.mode = "accept-edits" if edits else "default"

    async def check(self, action: Action) -> Verdict:
        """Judge by mode and rules; ask the person where they do not decide."""
        verdict = self._judge(action)
        loss = await self._lost(action, verdict)
        if verdict is None or loss is not None:
            async with self._asking:
                # Another question may meanwhile have been answered with a yes for this one too.
                verdict = (self._judge(action) if loss is None else None) or await self._ask(action, loss)
        if not verdict.allowed:
            self.refused(action, verdict.reason)
        return verdict

    async def _lost(self, action: Action, verdict: Verdict | None) -> Loss | None:
        """What the person has to know before `action` is done, whatever allowed it: in yolo only what cannot be saved
        first. Where nobody can answer, rules and modes have said all."""
        if self._losses is None or not self._ui.interactive or (verdict is not None and not verdict.allowed):
            return None
        loss = await self._losses.of(action)
        return loss if loss is None or self.mode != "yolo" or loss.unsaved else None

    def refused(self, action: Action, reason: str) -> None:
        self.denials.append(Denial(action.tool, action.subject, reason))

    def _judge(self, action: Action) -> Verdict | None:
        """The verdict as far as nobody need be asked: several subjects are as free as the least free."""
        verdicts = [self._judge_part(part) for part in action.parts]
        refused = next((verdict for verdict in verdicts if verdict is not None and not verdict.allowed), None)
        return refused or (None if None in verdicts else _YES)

    def _judge_part(self, action: Action) -> Verdict | None:
        if rule := forbids(self._deny, action, self._roots):
            return Verdict(False, f"Denied by the rule {rule}. Do not try to get around it.")
        if action.written:
            return self._planned(action)
        if action.kind == "memory" or self.mode == "yolo":
            return _YES
        must_ask = forbids(self._ask_first, action, self._roots) is not None
        if not must_ask and (self._free(action) or (self._ruled(action) and not _names_tattoo(action))):
            return _YES
        if refused := self._planned(action):
            return refused
        granted = any(grant.covers(action) for grant in self._grants) and not self._guarded(action)
        return _YES if granted or (self._accepted(action) and not must_ask) else None

    def _planned(self, action: Action) -> Verdict | None:
        """What plan mode refuses."""
        if self.mode != "plan" or action.kind in ("read", "web"):
            return None
        return Verdict(
            False,
            "Plan mode: nothing may be changed or run now. Go on reading, then present your plan with exit_plan.",
        )

    def _free(self, action: Action) -> bool:
        """Whether it only looks, and only where one may look."""
        if action.kind == "read":
            return inside(real(action.subject), self._readable)
        return action.kind == "run" and only_looks(action.subject, _cwd(action), self._readable)

    def _ruled(self, action: Action) -> bool:
        """Whether an allow rule covers it; for commands rules hold in the project's folders alone."""
        if isinstance(action.preview, Command) and not inside(real(action.preview.cwd), self._roots):
            return False
        return allows(self._allow, action, self._roots)

    def _accepted(self, action: Action) -> bool:
        if self.mode != "accept-edits" or action.kind != "edit":
            return False
        return inside(real(action.subject), self._roots) and not self._guarded(action)

    def _guarded(self, action: Action) -> bool:
        return action.kind == "edit" and guarded(real(action.subject), self._roots)

    async def _ask(self, action: Action, loss: Loss | None = None) -> Verdict:
        if not self._ui.interactive:
            return Verdict(
                False, f"{action.title}: this needs a yes, and there is no terminal to ask. It was not done."
            )
        # A yes to a loss is a yes to this one.
        grant = self._grant(action) if loss is None else None
        choices = [Choice("yes", "Yes")]
        if grant is not None:
            choices.append(Choice("session", self._label(grant)))
        choices.append(Choice("no", "No, and tell the model what to do instead", feedback=True))
        answer = await self._ui.ask(
            Question(f"{action.title}?", tuple(choices), action.preview, self._told(action, loss))
        )
        if answer.key == "session" and grant is not None:
            self._grants.append(grant)
        if answer.key in ("yes", "session"):
            return _YES
        word = f': "{answer.text.strip()}"' if answer.text.strip() else ""
        return Verdict(False, f"The user said no{word}. It was not done.")

    def _grant(self, action: Action) -> _Grant | None:
        if action.written:
            return None
        if action.kind == "run":
            return _Grant(action.tool, "run", action.subject, _cwd(action))
        if action.kind == "web":
            return _Grant(action.tool, "web", host_of(action.subject), Path("/"))
        if any(self._guarded(part) for part in action.parts):
            return None
        if action.also:
            folder = Path(os.path.commonpath([real(part.subject).parent for part in action.parts]))
            return _Grant(action.tool, action.kind, "", folder) if inside(folder, self._roots) else None
        path = real(action.subject)
        whole = path.is_dir() or path.parent == path.parent.parent
        return _Grant(action.tool, action.kind, "", path if whole else path.parent)

    def _label(self, grant: _Grant) -> str:
        """Exactly what is granted."""
        if grant.kind == "run":
            command = grant.subject if len(grant.subject) <= _LABEL and "\n" not in grant.subject else ""
            return f"Yes, and exactly this command for this session{': ' + command if command else ''}"
        if grant.kind == "web":
            return f"Yes, and {f'all of {grant.subject}' if grant.subject else 'every search'} for this session"
        what = "edits" if grant.kind == "edit" else "reads"
        return f"Yes, and all {what} below {self._shown(grant.folder)} for this session"

    def _shown(self, folder: Path) -> str:
        top = self._roots[0]
        return f"{folder.relative_to(top.parent)}/" if folder.is_relative_to(top) else f"{folder}/"

    def _told(self, action: Action, loss: Loss | None) -> str:
        written = "The model wrote this call as text." if action.written else ""
        lost = loss.told(str(_cwd(action))) if loss is not None else ""
        return ". ".join(part for part in (self._detail(action), lost, written) if part)

    def _detail(self, action: Action) -> str:
        if action.kind == "run":
            folder = _cwd(action)
            told = "" if folder == self._roots[0] else f"in {folder}"
            warning = "It names tattoo.md: your hard constraints are yours to change." if _names_tattoo(action) else ""
            return f"{told}. {warning}" if told and warning else told or warning
        if action.kind in ("web", "memory"):
            return ""
        if any(self._guarded(part) for part in action.parts):
            return "What stands there may run on its own later."
        outside = [str(path) for part in action.parts if not inside(path := real(part.subject), self._roots)]
        return f"outside the project: {', '.join(outside)}" if outside else ""


def _names_tattoo(action: Action) -> bool:
    return action.kind == "run" and TATTOO in action.subject.casefold()


def _cwd(action: Action) -> Path:
    return Path(action.preview.cwd) if isinstance(action.preview, Command) else Path("/")
