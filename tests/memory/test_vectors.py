"""Vectors that are kept, and the nearest among them."""

from __future__ import annotations

import math
import random
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.vectors import NEAREST, VectorCache

VECTORS = {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0]}


def filled(path: Path, model: str = "m") -> VectorCache:
    cache = VectorCache(path, model)
    cache.put(list(VECTORS), list(VECTORS.values()))
    return cache


def test_the_nearest_is_1_the_mean_0_and_beyond_nothing(tmp_path: Path) -> None:
    cosines = {"east": 0.8, "north": 0.6, "west": -0.8}
    mean = sum(cosines.values()) / 3
    alike = filled(tmp_path / "v.db").alike([4.0, 3.0])
    assert alike == pytest.approx({"east": 1.0, "north": (0.6 - mean) / (0.8 - mean)})


def test_where_all_are_equally_near_all_are_near(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.db", "m")
    assert cache.alike([1, 0]) == {}
    cache.put(["one"], [[0.5, 0.5]])
    assert cache.alike([1, 0]) == {"one": 1.0}


def test_the_next_process_finds_them_in_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "v.db"
    first = filled(file)
    first.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = VectorCache(file, "m")
    assert again.missing(["east", "south", "north", "west", "south"]) == ["south"]
    assert again.alike([4, 3]) == filled(tmp_path / "other.db").alike([4, 3])


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    filled(tmp_path / "v.db").close()
    assert VectorCache(tmp_path / "v.db", "another").missing(["east"]) == ["east"]


def test_what_was_forgotten_is_dropped_from_the_disk_too(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v.db")
    assert cache.missing(["north", "west"]) == []
    assert set(cache.alike([1, 0])) == {"north"}
    cache.close()
    assert VectorCache(tmp_path / "v.db", "m").missing(["east", "north"]) == ["east"]


def test_vectors_of_another_length_are_no_neighbours(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v.db")
    cache.put(["odd"], [[1.0, 0.0, 0.0]])
    assert "odd" not in cache.alike([1.0, 0.1])


@pytest.mark.parametrize("damage", ["no database", "cut short", "a folder"])
def test_a_file_that_cannot_be_used_does_no_harm(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "v.db"
    if damage == "no database":
        file.write_bytes(b"nonsense" * 1000)
    elif damage == "cut short":
        cache = VectorCache(file, "m")
        cache.put([str(number) for number in range(500)], [[float(number), 1.0] * 50 for number in range(500)])
        cache.close()
        file.write_bytes(file.read_bytes()[:20_000])
    else:
        file.mkdir()
    cache = VectorCache(file, "m")
    cache.missing(list(VECTORS))
    cache.put(list(VECTORS), list(VECTORS.values()))
    cache.alike([4, 3])
    again = VectorCache(file, "m")
    again.put(list(VECTORS), list(VECTORS.values()))
    assert max(again.alike([4, 3]).items(), key=lambda pair: pair[1]) == ("east", 1.0)


def test_among_many_the_nearest_are_found_though_all_lie_in_one_corner(tmp_path: Path) -> None:
    chance, cache = random.Random(7), VectorCache(tmp_path / "v.db", "m")
    vectors = {str(number): [5 + chance.gauss(0, 1) for _ in range(64)] for number in range(6 * NEAREST)}
    cache.put(list(vectors), list(vectors.values()))
    for number in range(0, 6 * NEAREST, 50):
        asked = [component + chance.gauss(0, 0.2) for component in vectors[str(number)]]
        alike = cache.alike(asked)
        assert (max(alike, key=lambda content: alike[content]), len(alike) < NEAREST) == (str(number), True)


NUMBERS = st.floats(-100, 100, width=32)


@given(st.dictionaries(st.text(), st.lists(NUMBERS, min_size=3, max_size=3).filter(any), max_size=8))
def test_likeness_lies_between_nothing_and_1(vectors: dict[str, list[float]]) -> None:
    usable = {content: vector for content, vector in vectors.items() if math.hypot(*vector) > 1e-3}
    cache = VectorCache(Path("/dev/null/none"), "m")
    cache.put(list(usable), list(usable.values()))
    alike = cache.alike([1.0, 2.0, 3.0])
    assert all(0 < value <= 1 for value in alike.values())
    assert bool(alike) == bool(usable)
    cache.close()
