"""How near token estimates come to what providers count: `python -m benchmarks.tokens [DATA]`.

DATA is a file of recorded agent runs with the provider's counts, or a folder with such a `runs.jsonl`; without it runs
are made.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks._measure import row
from benchmarks._runs import Anchor, Run, classes, made, recorded
from codeagent.core.entries import Usage
from codeagent.core.ports import Estimate
from codeagent.memory.calibration import Calibration
from codeagent.memory.estimators import make_estimate
from codeagent.memory.meter import TokenMeter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path)
    given: Path | None = parser.parse_args().data
    path = given or Path("../shared/data")
    path = path / "runs.jsonl" if path.is_dir() else path
    if given and not path.is_file():
        parser.error(f"there are no recorded runs at {path}")
    classic, by_classes = make_estimate("classic"), make_estimate("classes")
    exact = make_estimate("exact") if find_spec("bpe_openai") else None

    def runs(estimate: Estimate) -> list[Run]:
        return recorded(path, estimate) if path.is_file() else made(estimate)

    print(f"{'recorded' if path.is_file() else 'made'} runs, error against the provider's count of each request")
    row("", "median", "p90")
    shown("classic alone", replay(runs(classic), TokenMeter(classic, anchored=False)))
    shown("classes alone", replay(runs(by_classes), TokenMeter(by_classes, anchored=False)))
    if exact:
        shown("exact (o200k) alone", replay(runs(exact), TokenMeter(exact, anchored=False)))
    with tempfile.TemporaryDirectory() as folder:
        for name, estimate in (("classic", classic), ("classes", by_classes)):
            learned = TokenMeter(estimate, Calibration(Path(folder) / name), "model")
            shown(f"{name}, anchored", replay(runs(estimate), TokenMeter(estimate)))
            shown(f"{name}, anchored and learned", replay(runs(estimate), learned))
            unanchored = TokenMeter(estimate, Calibration(Path(folder) / f"{name}-alone"), "model", anchored=False)
            shown(f"{name}, learned", replay(runs(estimate), unanchored))
    if exact:
        print("\ntexts, mean error of pieces of 2 000 characters against o200k")
        row("", "classic", "classes")
        for name, text in classes().items():
            row(name, *(f"{off(estimate, exact, text):.1%}" for estimate in (classic, by_classes)))
    print("\nspeed, MB/s")
    data = "".join(classes().values()).encode() * 8
    for name, counted in (("classic", classic), ("classes", by_classes), ("exact", exact)):
        if counted:
            row(name, f"{len(data) / 1e6 / seconds(counted, data):.0f}")


def replay(runs: Sequence[Run], meter: TokenMeter) -> Iterator[float]:
    """Relative error of every request, as the meter would have told its size before it was sent."""
    for run in runs:
        for entries, count in run.counts:
            run.entries = run.all[:entries]
            yield abs(meter.request(run) / count - 1)
            before, run.anchor = run.anchor, Anchor(Usage(count, 0), entries)
            meter.learn(before, run)


def shown(name: str, errors: Iterator[float]) -> None:
    ordered = sorted(errors)
    row(name, f"{statistics.median(ordered):.2%}", f"{ordered[int(0.9 * (len(ordered) - 1))]:.2%}")


def off(estimate: Estimate, exact: Estimate, text: str) -> float:
    """Mean relative error over pieces of 2 000 characters."""
    pieces = [text[start : start + 2_000].encode() for start in range(0, len(text), 2_000)]
    return statistics.mean(abs(estimate(piece) / exact(piece) - 1) for piece in pieces)


def seconds(estimate: Estimate, data: bytes) -> float:
    started = time.perf_counter()
    estimate(data)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
