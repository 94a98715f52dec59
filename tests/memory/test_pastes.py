"""The person's own rules are told apart from what was pasted, wherever they stand and whatever the paste says."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from codeagent.core.entries import Compaction
from codeagent.core.events import told
from codeagent.core.tokens import estimate_tokens
from codeagent.memory.ledger import Ledger, Words, read, render
from codeagent.memory.pastes import laid_down, own, without_pastes
from tests.agent.test_survival import RULES
from tests.memory._world import Talk
from tests.memory.test_ladder import climb, steps

OWN = "Please rework the connection pool in src/pool.py.\n" + "\n".join(RULES)
SUBJECTS = ("client", "server", "proxy", "cache", "gateway", "resolver", "queue")
DUTIES = ("send the header", "never drop the frame", "keep the lease", "always close the stream", "not retry")


def sentences(random: Random) -> str:
    """Rules of a specification, no two of one shape."""
    return (
        f"The {random.choice(SUBJECTS)} must {random.choice(DUTIES)} before the {random.choice(SUBJECTS)} "
        f"{random.choice(('answers', 'retries', 'is told to stop', 'has read it'))}."
    )


PASTES: dict[str, Callable[[int], str]] = {
    "numbered rules": lambda n: f"{n}. The client must send header X-{n} and never reply {n + 400}.",
    "numbered rules in Chinese": lambda n: f"第 {n} 条：客户端必须发送请求头 X-{n}，不得省略。",
    "a specification": lambda n: sentences(Random(n)),
    "a log": lambda n: f"2026-01-{n % 28 + 1:02d} 10:{n % 60:02d}:11 INFO worker-{n} must wait {n * 7} ms, never more",
    "code": lambda n: f"    if not pool[{n}].only_{n}: raise ValueError('must never be {n}')",
    "a table": lambda n: f"| field_{n} | required | must be at least {n} |",
    "wrapped text": lambda n: (
        f"that the {SUBJECTS[n % 7]} of chapter {chr(97 + n % 26)}{chr(97 + n // 26 % 26)} must always be told to and"
    ),
}
PLACES: dict[str, Callable[[str], str]] = {
    "before": lambda paste: f"{paste}\n{OWN}",
    "after": lambda paste: f"{OWN}\n{paste}",
    "around": lambda paste: f"{paste}\n{OWN}\n{paste}",
    "in a fence": lambda paste: f"```\n{paste}\n```\n{OWN}",
}


@pytest.mark.parametrize("size", [3_000, 30_000, 200_000])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", PASTES)
def test_all_of_the_persons_rules_stay_and_none_of_the_paste(kind: str, place: str, size: int) -> None:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(PASTES[kind](len(lines)))
    said = PLACES[place]("\n".join(lines))
    assert list(laid_down(said)) == list(RULES)
    kept = without_pastes(said, "m7")
    assert [rule for rule in RULES if rule not in kept] == []
    assert len(kept) < 5_000
    assert (len(said) <= 4_000 and kept == said) or 'recall(id="m7")' in kept


def test_a_document_that_looks_like_nothing_else_takes_no_more_than_its_room() -> None:
    random = Random(7)
    words = ["".join(random.choice("abcdefghijklmnop") for _ in range(random.randint(3, 9))) for _ in range(4_000)]
    document = "\n".join(f"The {random.choice(words)} {random.choice(words)} must {' '.join(random.sample(words, 25))}."
                         for _ in range(200))  # fmt: skip
    half = document.find("\n", len(document) // 2)
    said = f"{document[:half]}\n{OWN}\n{document[half:]}"
    kept = without_pastes(said, "m1")
    assert ([rule for rule in RULES if rule not in kept], len(kept) < 5_000) == ([], True)


@pytest.mark.parametrize(
    ("said", "mine"),
    [
        ("短的话。" * 300, "短的话。" * 300),
        ("Do it.\n> You must not.\nNow.", "Do it.\nNow."),
        ("Do it.\n```\nnever\n```\nNow.", "Do it.\nNow."),
        ("Do it.\n```\nnever closed", "Do it.\n```\nnever closed"),
        ("", ""),
    ],
)
def test_what_is_short_is_the_persons_own_but_for_what_is_fenced_or_quoted(said: str, mine: str) -> None:
    assert own(said) == mine


def test_what_is_cut_already_stays_as_it_is() -> None:
    kept = without_pastes(PLACES["around"]("\n".join(map(PASTES["a log"], range(2_000)))), "m1")
    assert (without_pastes(kept, "m1"), list(laid_down(kept))) == (kept, list(RULES))


def test_rules_go_before_what_was_agreed_to_and_that_before_whole_messages() -> None:
    words = (
        Words("m1", "Some talk that is long. " * 40),
        Words("m3", "好，就这样", answers="def op(): ...\n" * 20, answered="m2"),
        Words("m5", "Hm.\nNever touch vendor/.\n" + "Some more talk. " * 60),
    )
    rule = Words("m5", "Never touch vendor/.", whole=False)
    kept, text = render(Ledger(words), estimate_tokens, 60, 10)
    assert [one for one in kept.words if one.text or one.answers][-1] == rule
    kept, text = render(Ledger(words), estimate_tokens, 260, 10)
    assert kept.words[1] == words[1]
    assert kept.words[2] == rule
    assert read(f"[The context was compacted here: what follows stands for the messages that left it.]\n{text}") == kept


async def test_a_receipt_counts_what_is_in_the_next_request_and_says_what_is_not() -> None:
    talk = Talk()
    laid = [
        f"Never touch the folder {chr(97 + n)}{chr(97 + n)}-{'long-name-' * 12}{n} of the project." for n in range(60)
    ]
    for rule in laid:
        talk.user(rule).assistant("Noted. " * 30)
    proposal = await climb(steps(talk.user("go on"), 3), "We made good progress.")
    assert proposal is not None
    stays = "\n".join(item.message.text for item in proposal.messages)
    left = {id for item in proposal.messages for id in item.of}
    stays += "\n".join(entry.message.text for entry in talk.entries if entry.id not in left)
    held = [rule for rule in laid if rule in stays]
    assert (proposal.held, list(proposal.unheld)) == (len(held), [rule for rule in laid if rule not in stays])
    assert 0 < len(held) < len(laid)
    assert (proposal.coverage, f"{len(proposal.unheld)} not held" in str(told(proposal))) == (0.0, True)


async def test_a_summary_of_platitudes_holds_nothing_by_itself() -> None:
    talk = Talk().user("Rework the pool.\nNever touch vendor/.")
    for _ in range(13):
        talk.assistant("thinking aloud " * 200)
    empty, faithful = await climb(talk, "All goes well."), await climb(talk, "Rework the pool. Never touch vendor/.")
    assert empty is not None and faithful is not None
    assert [(one.coverage, one.repaired, one.held) for one in (empty, faithful)] == [
        (0.0, ("Never touch vendor/.",), 1),
        (1.0, (), 1),
    ]


@pytest.mark.parametrize(
    ("receipt", "line"),
    [
        (Compaction("c1", 1, "", (), 9_000, 900), "Context compacted: 9.0k → 900 tokens; /compact show"),
        (
            Compaction("c1", 3, "", (), 9_000, 900, repaired=("x",), held=1),
            "Context compacted: 9.0k → 900 tokens; 1 agreement held, 1 put back; /compact show",
        ),
        (
            Compaction("c1", 3, "", (), 9_000, 900, held=2, unheld=("x", "y")),
            "Context compacted: 9.0k → 900 tokens; 2 agreements held; 2 not held, recall finds them; /compact show",
        ),
    ],
)
def test_a_compaction_is_told_in_one_line(receipt: Compaction, line: str) -> None:
    assert str(told(receipt)) == line
