"""Every case in `cases/`: what is called, answered, and left on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.tools.checks import Checks
from codeagent.tools.toolbox import Toolbox, builtin_tools
from tests.tools.casefile import Case, changed, load_cases, look, put
from tests.tools.world import make_world

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_case(case: Case, tmp_path: Path) -> None:
    world = make_world(tmp_path, said=case.said)
    world.person.answers = case.answers
    world.ctx = replace(world.ctx, environ={**world.ctx.environ, **case.env})
    if case.checks is not None:
        world.toolbox = Toolbox(builtin_tools(), world.gate, Checks(case.checks))
    put(world.top, case.before)
    if case.seen:
        for name in look(world.top):
            world.ctx.files.note(world.top / name)
    try:
        expected = look(world.top)
        for step in case.steps:
            if disk := step.expected.get("disk"):
                put(world.top, disk)
                expected = changed(expected, disk, look(world.top))
            step.check(await world.run(step.tool, **step.arguments), world.top)
    finally:
        await world.jobs.aclose()
    now = look(world.top)
    assert now == changed(expected, case.after, now)


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
