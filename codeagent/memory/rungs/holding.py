"""What of the agreements with the person is in the request behind a compaction, word for word, and what is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from codeagent.core.entries import Compaction, Entry
from codeagent.memory import ledger
from codeagent.memory.pastes import laid_down
from codeagent.memory.verify import missing

QUOTED = 200
"""Characters of an agreement in a receipt."""


def agreements(entries: Iterable[Entry]) -> list[str]:
    """What the person laid down in `entries`, and what the records in them hold of earlier ones; each once."""
    found: dict[str, None] = {}
    for entry in entries:
        if ledger.MARK in entry.message.text and (record := ledger.read(entry.message.text)) is not None:
            found |= dict.fromkeys(record.agreements)
        if entry.said is not None:
            found |= dict.fromkeys(laid_down(entry.said))
    return list(found)


def told(proposal: Compaction, entries: Sequence[Entry], more: Iterable[str] = ()) -> Compaction:
    """`proposal` with how many agreements of `entries`, and `more`, the messages behind it hold, and those they do
    not."""
    replaced = {id for item in proposal.messages for id in item.of}
    texts = [item.message.text for item in proposal.messages]
    texts += [entry.message.text for entry in entries if entry.id not in replaced]
    wanted = dict.fromkeys([*agreements(entries), *more])
    lost = missing(wanted, "\n".join(texts))
    return replace(proposal, held=len(wanted) - len(lost), unheld=tuple(one[:QUOTED] for one in lost))
