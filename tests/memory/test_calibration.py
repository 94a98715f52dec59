"""What is learned of endpoints, in memory and on disk."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.calibration import UNKNOWN, Calibration, Factor

HERE = "http://localhost/v1 model"


def learned(factor: Factor, reported: int, estimated: int, times: int) -> float:
    for _ in range(times):
        factor = factor.learn(reported, estimated)
    return factor.value


def test_nothing_is_corrected_before_something_was_learned(tmp_path: Path) -> None:
    assert Calibration(tmp_path / "calibration.json").factor(HERE) == UNKNOWN
    assert UNKNOWN.value == 1.0


def test_the_factor_moves_towards_what_is_reported_and_forgets() -> None:
    assert UNKNOWN.learn(1_300, 1_000).value == pytest.approx(5_100 / 4_800)
    assert learned(UNKNOWN, 1_300, 1_000, 200) == pytest.approx(1.3, abs=0.001)
    spoilt = Factor(40_000, 20_000)
    assert learned(spoilt, 900, 1_000, 200) == pytest.approx(0.9, abs=0.001)


def test_large_growths_weigh_more_than_small_ones() -> None:
    factor = UNKNOWN.learn(20_000, 10_000).learn(10, 20)
    assert factor.value > 1.5


@pytest.mark.parametrize(("reported", "estimated"), [(-500, 300), (0, 300), (300, 0), (9_000, 1_000), (100, 1_000)])
def test_what_is_no_growth_of_ours_teaches_nothing(reported: int, estimated: int) -> None:
    assert UNKNOWN.learn(reported, estimated) == UNKNOWN


@given(st.lists(st.tuples(st.integers(-10_000, 100_000), st.integers(-10, 100_000))))
def test_the_factor_stays_between_a_half_and_two(growths: list[tuple[int, int]]) -> None:
    factor = UNKNOWN
    for reported, estimated in growths:
        factor = factor.learn(reported, estimated)
        assert 0.5 <= factor.value <= 2.0


def test_it_is_kept_privately_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "home" / "calibration.json"
    first = Calibration(path)
    first.learn(HERE, 3_000, 2_000)
    first.save()
    assert Calibration(path).factor(HERE) == first.factor(HERE) == Factor(6_800.0, 5_800.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {
        "version": 1,
        "factors": {HERE: {"factor": 1.1724, "reported": 6800.0, "estimated": 5800.0}},
    }


def test_nothing_learned_is_nothing_written(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    calibration = Calibration(path)
    calibration.factor(HERE)
    calibration.save()
    assert list(tmp_path.iterdir()) == []


def test_what_others_learned_meanwhile_is_kept(tmp_path: Path) -> None:
    one, two = (Calibration(tmp_path / "calibration.json") for _ in range(2))
    one.learn("a", 3_000, 2_000)
    two.learn("b", 2_000, 3_000)
    one.save()
    two.save()
    again = Calibration(tmp_path / "calibration.json")
    assert (again.factor("a"), again.factor("b")) == (one.factor("a"), two.factor("b"))


def _learn_and_save(path: Path, place: str) -> None:
    for _ in range(20):
        calibration = Calibration(path)
        calibration.learn(place, 3_000, 2_000)
        calibration.save()


def test_processes_do_not_lose_each_others_factors(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_learn_and_save, args=(path, f"model-{number}")) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    again = Calibration(path)
    assert all(again.factor(f"model-{number}").value > 1.4 for number in range(3))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"[]",
        b'{"factors": []}',
        b'{"factors": {"m": 1, "n": {}, "o": {"reported": "x", "estimated": 5}}}',
        b'{"factors": {"m": {"reported": NaN, "estimated": 5}, "n": {"reported": 5, "estimated": 0}}}',
        b'{"factors": {"m": {"reported": 1e999, "estimated": 5}}}',
    ],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "calibration.json"
    path.write_bytes(content)
    calibration = Calibration(path)
    assert [calibration.factor(place) for place in "mno"] == [UNKNOWN] * 3
    calibration.learn("m", 3_000, 2_000)
    calibration.save()
    assert Calibration(path).factor("m") == calibration.factor("m")


def test_a_damaged_file_is_replaced_though_nothing_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_bytes(b"{")
    calibration = Calibration(path)
    calibration.factor(HERE)
    calibration.save()
    assert json.loads(path.read_bytes()) == {"version": 1, "factors": {}}


def test_what_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    calibration = Calibration(tmp_path / "home" / "calibration.json")
    calibration.learn("m", 3_000, 2_000)
    calibration.save()
    assert calibration.factor("m").value > 1
