"""A process that is killed while it saves or puts back loses nothing: another one does it once more."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.safety.checkpoints.world import Place

CHILD = textwrap.dedent(
    """
    import asyncio, shutil, sys
    from pathlib import Path
    from tests.safety.checkpoints.world import Place

    async def main():
        place = Place(Path(sys.argv[1]))
        print("ready", flush=True)
        if sys.argv[2] == "undo":
            await place.undo()
            return
        async with place.saved.around(place.action("rm -rf d")):
            shutil.rmtree(place.top / "d")

    asyncio.run(main())
    """
)


def kill(place: Place, what: str, after: float) -> None:
    """Have another process do `what`, and end it `after` seconds, wherever it is."""
    command = [sys.executable, "-c", CHILD, str(place.top.parent), what]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(after)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(400):
        place.file(f"d/{number % 20}/{number}", f"{number}\n" * 50)
    place.file("kept", "1")
    return place


@pytest.mark.parametrize("after", [0.0, 0.01, 0.02, 0.04, 0.08])
async def test_a_kill_while_putting_back(place: Place, after: float) -> None:
    before = place.tree()
    await place.run("rm -rf d; echo 2 > kept")
    place.saved.close()
    kill(place, "undo", after)
    place.open()
    await place.undo()
    stray = list(place.top.rglob(".codeagent-*"))
    for path in stray:
        path.unlink()
    assert len(stray) <= 1
    assert place.tree() == before


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.2])
async def test_a_kill_while_saving_or_running(place: Place, after: float) -> None:
    before = place.tree()
    kill(place, "run", after)
    place.open()
    await place.undo()
    assert place.tree() == before
    await place.run("rm -rf d; echo 2 > kept")
    await place.undo()
    assert place.tree() == before
