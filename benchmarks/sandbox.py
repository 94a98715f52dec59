"""What the sandbox costs a command: `true`, started bare and by each means there is.

python -m benchmarks.sandbox
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks._measure import median, row
from codeagent.safety.sandbox.landlock import Landlock
from codeagent.safety.sandbox.places import Ground, make_policy
from codeagent.safety.sandbox.sandbox import Means
from codeagent.safety.sandbox.wrapping import bubblewrap

RUNS = 200


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground((Path(folder),), dict(os.environ), Path(folder) / "home")
        row("the policy, once, ms", f"{timed(lambda: make_policy(ground, strict=False, network=True)) * 1000:.2f}")
        bare = median(lambda: timed(lambda: subprocess.run(["true"], check=True)), RUNS)
        row("bare, ms", f"{bare * 1000:.2f}")
        found: list[Means | None] = [Landlock(), bubblewrap(os.environ)]
        for means in filter(None, found):
            for strict in (False, True):
                policy = make_policy(ground, strict=strict, network=True)
                taken = median(
                    lambda means=means, policy=policy: timed(  # type: ignore[misc]
                        lambda: means.launch(policy, ["true"], lambda argv: subprocess.run(argv, check=True))
                    ),
                    RUNS,
                )
                row(f"{means.name}{', strict' if strict else ''}, ms more", f"{(taken - bare) * 1000:.2f}")


if __name__ == "__main__":
    main()
