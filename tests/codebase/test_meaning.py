"""Finding by meaning: vectors by content, as far as an embedder gives them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from codeagent.core.code import Built
from codeagent.core.errors import ModelError
from tests.codebase.ground import LONG_AGO, Ground, told

TOPICS = (("cat", "feline", "猫"), ("money", "invoice", "发票"), ("rain", "weather", "天气"))
"""Words of one line mean the same to the stand-in."""


@dataclass
class StandIn:
    """An embedder that knows a few words; says how many texts it was given, and fails past `room` of them."""

    name: str = "stand-in"
    room: int = 1_000_000
    slow: bool = False
    given: list[str] = field(default_factory=list)
    closed: bool = False

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        if len(self.given) + len(texts) > self.room:
            raise ModelError("There is no more.")
        if self.slow and kind == "query":
            await asyncio.sleep(3600)
        self.given += texts
        return [[0.1, *(float(any(word in text for word in topic)) for topic in TOPICS)] for text in texts]

    async def aclose(self) -> None:
        self.closed = True


def fill(ground: Ground) -> None:
    ground.write("a.py", "def feed(animal):\n    # for the feline\n    return animal\n")
    ground.write("b.py", "def charge(client):\n    # writes an invoice\n    return client\n")
    ground.write("c.py", "def forecast(day):\n    # the weather\n    return day\n")


async def test_what_means_the_same_is_found_without_a_word_in_common(ground: Ground) -> None:
    fill(ground)
    code = ground.code()
    assert (await code.search("猫")).total == 0
    code.find_by_meaning(StandIn())
    steps: list[tuple[int, int, str]] = []
    assert await code.build(lambda *step: steps.append(step)) == Built(0, 0, 0, False)
    assert steps == [(3, 3, "vectors")]
    assert told(await code.search("猫", limit=1)) == ["a.py feed"]
    assert told(await code.search("money", limit=1)) == ["b.py charge"]
    assert told(await code.search("money", limit=1, path="c.py")) == [], "the nearest of all is not near for that"
    assert (await code.status()).vectors == 3


async def test_each_content_is_embedded_once(ground: Ground) -> None:
    fill(ground)
    stand_in = StandIn()
    code = ground.code()
    code.find_by_meaning(stand_in)
    await code.build()
    before = len(stand_in.given)
    ground.write("d.py", "def feed(animal):\n    # for the feline\n    return animal\n")
    ground.write(
        "b.py", "# moved down\n\n\ndef charge(client):\n    # writes an invoice\n    return client\n", when=LONG_AGO + 1
    )
    await code.build()
    assert (before, len(stand_in.given)) == (3, 4)  # "moved down" alone is new
    assert (await code.status()).vectors == 5


async def test_a_few_new_parts_are_embedded_by_the_way(ground: Ground) -> None:
    fill(ground)
    code = ground.code()
    code.find_by_meaning(StandIn())
    await code.search("anything")
    none_yet = (await code.status()).vectors
    await code.build()
    ground.write("d.py", "def umbrella():\n    # against rain\n    pass\n")
    await code.search("anything")
    assert (none_yet, (await code.status()).vectors) == (0, 4)


async def test_when_the_embedder_gives_up_words_still_find(ground: Ground) -> None:
    for number in range(100):
        ground.write(f"f{number}.py", f"def f{number}():\n    return marker\n")
    code = ground.code()
    code.find_by_meaning(StandIn(room=40))
    await code.build()
    assert ((await code.status()).vectors, (await code.search("marker")).total) == (32, 100)
    code.find_by_meaning(StandIn())  # and goes on where it was
    steps: list[tuple[int, int, str]] = []
    await code.build(lambda *step: steps.append(step))
    assert (steps[-1], (await code.status()).vectors) == ((68, 68, "vectors"), 100)


async def test_vectors_of_another_model_are_not_compared(ground: Ground) -> None:
    fill(ground)
    code = ground.code()
    code.find_by_meaning(StandIn())
    await code.build()
    code.find_by_meaning(StandIn(name="another"))
    assert ((await code.search("猫")).total, (await code.status()).vectors) == (0, 0)


async def test_vectors_of_what_is_gone_go(ground: Ground) -> None:
    fill(ground)
    code = ground.code()
    code.find_by_meaning(StandIn())
    await code.build()
    (ground.top / "a.py").unlink()
    ground.write("b.py", "def charge():\n    # another invoice\n    pass\n", when=LONG_AGO + 1)
    await code.build()
    with ground.store.open() as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (2,)


async def test_the_embedder_is_closed_with_the_index(ground: Ground) -> None:
    stand_in = StandIn()
    code = ground.code()
    code.find_by_meaning(stand_in)
    await code.aclose()
    assert stand_in.closed


async def test_one_huge_file_does_not_take_all_the_time(ground: Ground) -> None:
    ground.write("huge.py", "\n".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(1_000)))
    ground.write("small.py", "def feline(): pass\n")
    stand_in = StandIn()
    code = ground.code()
    code.find_by_meaning(stand_in)
    await code.build()
    assert (len(stand_in.given), (await code.status()).left) == (301, 0)
    assert told(await code.search("f999", limit=1)) == ["huge.py f999"]
