from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.tools import ToolResult
from tests.tools.world import World


async def test_a_call_gives_32_kb_at_most_and_paging_reads_everything(world: World) -> None:
    lines = [f"行 {n} {'字' * (n % 50)}" for n in range(1, 1_500)]
    world.file("a.txt", "\n".join(lines))
    seen: list[str] = []
    while True:
        result = await world.run("read_file", path="a.txt", offset=len(seen) + 1)
        assert len(result.text.encode()) <= 32_768
        seen += [line.split("\t", 1)[1] for line in result.text.splitlines() if "\t" in line]
        if not result.partial:
            break
    assert seen == lines


async def test_a_long_line_is_cut_with_a_note(world: World) -> None:
    world.file("min.js", "a" * 300_000 + "\nshort\n")
    result = await world.run("read_file", path="min.js")
    assert result.text == f"1\t{'a' * 2_000} [+298000 characters; see them with shell: cut -c]\n2\tshort"


LARGE = """
import asyncio, resource, sys
from pathlib import Path
from tests.tools.world import make_world

async def main():
    world = make_world(Path(sys.argv[1]))
    with world.file("huge.log", "").open("wb") as file:
        file.write(b"first\\nsecond\\n" + b"x" * 2_000_000)
        file.truncate(500_000_000)
        file.seek(0, 2)
        file.write(b"\\nlast but one\\nlast")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for offset in (1, 4, 6):
        print((await world.run("read_file", path="huge.log", offset=offset, limit=2)).text)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000)

asyncio.run(main())
"""


async def test_a_file_of_500_mb_is_paged_in_little_memory(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LARGE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (
        "1\tfirst\n2\tsecond\n[lines 1-2 of 5; go on with offset=3]\n"
        "4\tlast but one\n5\tlast\n"
        "huge.log has 5 lines; offset 6 is behind its end.\n"
        "True\n",
        "",
    )


async def test_names_outside_the_project_are_not_told(world: World) -> None:
    (world.top.parent / "secret.txt").write_text("")
    assert (await world.run("read_file", path="../secre.txt")).text == f"{world.top.parent}/secre.txt does not exist."


async def test_what_is_no_regular_file_is_not_waited_for(world: World) -> None:
    os.mkfifo(world.top / "pipe")
    assert (await world.run("read_file", path="pipe")).text == "pipe is not a regular file."


@pytest.mark.parametrize("path", ["", "a\0b"])
async def test_an_impossible_path_is_refused(world: World, path: str) -> None:
    assert await world.run("read_file", path=path) == ToolResult(
        "path is empty or holds a NUL character.", failed=True, summary="bad path"
    )


async def test_200_reads_at_once(world: World) -> None:
    for n in range(200):
        world.file(f"{n}.txt", f"file {n}")
    results = await asyncio.gather(*(world.run("read_file", path=f"{n}.txt") for n in range(200)))
    assert [result.text for result in results] == [f"1\tfile {n}" for n in range(200)]


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page, or nothing."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, text in enumerate(pages):
        body = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {4 + 2 * number} 0 R /Resources {font} >>",
            f"<< /Length {len(body)} >>\nstream\n{body}\nendstream",
        ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


async def test_the_text_of_a_pdf_comes_by_pages(world: World) -> None:
    world.file("手册.pdf", pdf("Hello", "", "Third page"))
    assert await world.run("read_file", path="手册.pdf") == ToolResult(
        "--- page 1\nHello\n--- page 2\n(no text; it may be a picture)\n--- page 3\nThird page", summary="3 pages"
    )
    assert await world.run("read_file", path="手册.pdf", offset=2, limit=1) == ToolResult(
        "--- page 2\n(no text; it may be a picture)\n[pages 2-2 of 3; go on with offset=3]",
        partial=True,
        summary="1 page",
    )
    assert await world.run("read_file", path="手册.pdf", offset=4) == ToolResult(
        "手册.pdf has 3 pages; offset 4 is behind its end.", failed=True, summary="behind the end"
    )


async def test_a_long_pdf_is_read_in_calls_of_32_kb(world: World) -> None:
    world.file("a.pdf", pdf(*(f"page {number} " + "word " * 2_000 for number in range(1, 9))))
    seen: list[str] = []
    while True:
        result = await world.run("read_file", path="a.pdf", offset=len(seen) + 1)
        assert len(result.text.encode()) < 33_000
        seen += re.findall(r"page (\d+) word", result.text)
        if not result.partial:
            break
    assert seen == [str(number) for number in range(1, 9)]


async def test_programs_of_the_project_are_not_run_for_a_pdf(world: World) -> None:
    world.file("pypdf.py", "raise SystemExit('taken')\n")
    world.file("json.py", "raise SystemExit('taken')\n")
    world.file("a.pdf", pdf("Hello"))
    assert (await world.run("read_file", path="a.pdf")).text == "--- page 1\nHello"


@given(
    st.binary(max_size=200), st.sampled_from(["a.txt", "a.ipynb", "a.png", "a.csv"]), st.integers(0, 9), st.booleans()
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_bytes_are_answered_within_bounds(
    world: World, data: bytes, name: str, offset: int, sees: bool
) -> None:
    world.file(name, data)
    world.ctx = replace(world.ctx, sees=sees)
    result = await world.run("read_file", path=name, offset=offset)
    assert result.summary not in ("broke", "") and len(result.text.encode()) < 36_000


async def test_a_file_that_goes_away_meanwhile_is_a_failed_result(world: World) -> None:
    path = world.file("a.txt", "x\n" * 100_000)
    stop = asyncio.Event()

    async def flicker() -> None:
        while not stop.is_set():
            path.unlink(missing_ok=True)
            await asyncio.sleep(0)
            path.write_bytes(b"x\n" * 100_000)
            await asyncio.sleep(0)

    flickering = asyncio.create_task(flicker())
    results = [await world.run("read_file", path="a.txt") for _ in range(50)]
    stop.set()
    await flickering
    assert "broke" not in {result.summary for result in results}
