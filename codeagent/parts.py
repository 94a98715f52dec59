"""Parts that every conversation of a run needs, whoever holds it: the session, a subagent (L5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from codeagent.agent.compaction import HistoryGuard
from codeagent.agent.limits import Limits
from codeagent.connection import Connection
from codeagent.core.entries import Entry, Prompt
from codeagent.core.paths import Project
from codeagent.core.plugins import discover
from codeagent.core.ports import Memory, Purpose, Summarize
from codeagent.core.tokens import ContextBudget
from codeagent.history.history import History
from codeagent.history.past import SessionPast
from codeagent.memory import strategies
from codeagent.memory.calibration import Calibration
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.estimators import make_estimate
from codeagent.memory.meter import TokenMeter
from codeagent.memory.project import ProjectMemoryLoader
from codeagent.options import Options
from codeagent.settings import Settings, Trust
from codeagent.summaries import make_session_summarizer
from codeagent.text.secrets import mask_secrets
from codeagent.text.segment import Segmenter
from codeagent.toolkit import child_environ


class Parts:
    """Makes them as options and settings say; keeps nothing of a conversation."""

    def __init__(self, options: Options, project: Project, settings: Settings) -> None:
        self.options = options
        self.project = project
        self.settings = settings
        self.home = options.home
        self.segmenter = Segmenter(options.home.cache)
        self.estimate = make_estimate(settings.memory.estimator)
        self.roots = (project.top, *(path.resolve() for path in options.add_dirs))
        self.environ = child_environ(options.environ, settings)
        self._calibration = Calibration(options.home.calibration)

    def tokens(self, text: str) -> int:
        return self.estimate(text.encode("utf-8", "replace"))

    @property
    def trusted(self) -> bool:
        return Trust(self.home).state(self.project) == "trusted"

    def meter(self, connection: Connection) -> TokenMeter:
        anchored = self.settings.memory.anchor
        return TokenMeter(self.estimate, self._calibration, connection.place, anchored=anchored)

    def guard(
        self,
        history: History,
        memory: Memory,
        meter: TokenMeter,
        budget: ContextBudget,
        rebuild: Callable[[str], Prompt],
    ) -> HistoryGuard:
        compaction = self.settings.compaction
        hard = compaction.mode == "ladder"
        return HistoryGuard(
            history, memory, meter, budget, rebuild, retry_after=compaction.retry_after, hard=hard
        )  # fmt: skip

    def summarizer(self, connection: Connection, history: History, purpose: Purpose = "summary") -> Summarize:
        return make_session_summarizer(connection, history, self.settings.compaction.timeout, purpose)

    def limits(self) -> Limits:
        settings = self.settings
        return Limits(settings.max_turns, self.options.max_tokens_total, settings.max_budget_usd, settings.timeout)

    def compactor(self, connection: Connection, history: History) -> ConversationHistoryCompactor:
        compaction = self.settings.compaction
        return ConversationHistoryCompactor(
            self.summarizer(connection, history),
            self.estimate,
            mode=compaction.mode,
            keep_turns=compaction.keep_turns,
            mask=compaction.mask,
            verify=compaction.verify,
            strategy=discover(strategies, "STRATEGY")[self.settings.memory.strategy],
            budget=connection.model.budget,
        )

    def loader(self, budget: ContextBudget, history: History) -> ProjectMemoryLoader:
        return ProjectMemoryLoader(
            self.home,
            self.project,
            Path.home(),
            tokens=budget.static,
            estimate=self.tokens,
            trusted=self.trusted,
            stands=lambda text: any(text in entry.message.text for entry in history.entries),
        )

    def past(self, path: Path, entries: Callable[[], Sequence[Entry]] = lambda: ()) -> SessionPast:
        """The past of the session in `path`, whose request holds `entries`."""
        return SessionPast(
            self.home, self.project.id, self.segmenter.words, mask_secrets, path, entries=entries
        )  # fmt: skip
