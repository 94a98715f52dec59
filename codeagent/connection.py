"""A model at hand, as the parts of a session take it (L5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeagent.agent.model import Model
from codeagent.core.events import Notice
from codeagent.core.messages import WireShape
from codeagent.core.ports import Embedder


@dataclass(frozen=True, slots=True)
class Connection:
    """A model ready to be asked, how it wants messages written, and what the person should know about it."""

    model: Model
    shape: WireShape
    notices: tuple[Notice, ...] = ()
    embedder: Embedder | None = None
    """Where hybrid retrieval is wanted and embeddings can be had; whoever uses it closes it."""
    code_embedder: Embedder | None = None
    """For the code index; the same one where both have it, and closing it twice does no harm."""
    small: Callable[[], Awaitable[Model]] | None = None
    """Opens the model for summaries, where one is set; whoever opens it closes it."""
    place: str = ""
    """Endpoint and model, for what is learned of them."""
    patches: bool = False
    """The model is offered apply_patch instead of edit_file."""
    other: Callable[[str], Awaitable[Connection]] | None = None
    """Connects to another model by its name; whoever does closes it. Raises ConfigError."""
