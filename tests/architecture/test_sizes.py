"""Files and functions stay small: a slope, kept by a number."""

from __future__ import annotations

from tests.architecture._source import functions, modules, name

FILE_LINES = 320
FUNCTION_LINES = 48


def test_files_stay_small() -> None:
    sizes = {name(path): path.read_text(encoding="utf-8").count("\n") for path in modules()}
    assert {path: lines for path, lines in sizes.items() if lines > FILE_LINES} == {}


def test_functions_stay_small() -> None:
    long = {
        f"{name(path)}:{function.name}": lines
        for path in modules()
        for function in functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}
