"""A Jupyter notebook as lines: its cells in order, each with what it printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codeagent.core.display import plain
from codeagent.tools.holding import open_held

LARGEST = 100_000_000
"""Bytes of a notebook that is shown as one."""
_OUTPUT = 2_000
"""Characters of what one cell printed."""


def notebook_lines(path: Path) -> list[str] | None:
    """The lines of the notebook at `path`; None where it is none that can be read. Blocks; raises OSError."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        with open_held(path) as file:
            form = json.load(file)
    except (ValueError, RecursionError):
        return None
    cells = form.get("cells") if isinstance(form, dict) else None
    if not isinstance(cells, list):
        return None
    shown = [cell for cell in cells if isinstance(cell, dict)]
    return [line for number, cell in enumerate(shown, 1) for line in _cell(number, cell)] or ["(no cells)"]


def _cell(number: int, cell: Mapping[str, Any]) -> Iterator[str]:
    run = cell.get("execution_count")
    yield f"--- cell {number}: {cell.get('cell_type', 'unknown')}{f', run {run}' if isinstance(run, int) else ''}"
    yield from _text(cell.get("source")).split("\n")
    outputs = cell.get("outputs")
    printed = "\n".join(text for output in outputs if (text := _output(output))) if isinstance(outputs, list) else ""
    if printed:
        yield f"--- output of cell {number}"
        yield from _bounded(printed).split("\n")


def _output(output: object) -> str:
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "error":
        return plain(_text(output.get("traceback"), "\n") or f"{output.get('ename')}: {output.get('evalue')}")
    if "text" in output:
        return plain(_text(output["text"])).rstrip("\n")
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    if "text/plain" in data:
        told = plain(_text(data["text/plain"])).rstrip("\n")
        others = [kind for kind in data if kind != "text/plain" and not kind.startswith("text/")]
        return "\n".join([told, *(f"({kind})" for kind in others)])
    return "\n".join(f"({kind})" for kind in data)


def _text(value: object, between: str = "") -> str:
    """Text as notebooks write it: in one piece, or in lines."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return between.join(map(str, value))
    return value if isinstance(value, str) else ""


def _bounded(text: str) -> str:
    if len(text) <= _OUTPUT:
        return text
    left_out = len(text) - _OUTPUT
    return f"{text[: _OUTPUT // 2]}\n[... {left_out} characters left out ...]\n{text[-_OUTPUT // 2 :]}"
