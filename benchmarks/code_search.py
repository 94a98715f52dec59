"""How well code is found: python -m benchmarks.code_search [folder ...] [--hybrid]

Questions come out of real code, without anybody's judgement: the first sentence of a docstring asks for its function,
from whose text the docstring was taken away; in a folder with a history of git, a commit's message asks for the files
it changed, and in an unpacked Debian source (apt-get source grub2) each patch's message for the files it changes.
Printed are, in percent, the share of questions answered by the first hit and by one of the first five, and the mean
reciprocal rank, each with half the width of its 95 % interval; below, between what it is more than plain BM25 over
whole files, over the same questions. What is found is a file, so that plain BM25 can stand beside; `function` tells how
often the very function was found. Without a folder: this project, and the interpreter's library.
"""

from __future__ import annotations

import ast
import asyncio
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._measure import table
from codeagent.codebase.chunks import cut
from codeagent.codebase.grammars import Parsers
from codeagent.codebase.index import ProjectCode
from codeagent.core.paths import Home
from codeagent.core.ports import Embedder
from codeagent.llm.embeddings import LocalEmbedder
from codeagent.text.segment import Segmenter
from codeagent.text.terms import document_terms, query_terms
from codeagent.toolkit import make_code

QUESTIONS = 600
SAMPLES = 1_000
"""Of the questions, drawn again, for an interval."""
FIRST = 20
"""Files that are looked at for a rank."""
FEWEST = 30
"""Fewer questions tell nothing."""
LARGEST = 10
"""A commit that changes more files has no subject of its own."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    files: frozenset[str]
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Files in order, and the definitions where they are told."""

    files: list[str]
    symbols: list[tuple[str, str]]


Finder = Callable[[str], Awaitable[Found]]


# ---- questions -----------------------------------------------------------------------------------------------------


def of_docstrings(top: Path, copy: Path) -> list[Question]:
    """Copies the Python files of `top` and takes the docstrings that are asked about out of the copy."""
    rng = random.Random(1)
    asked: list[tuple[str, str, str, ast.expr]] = []
    for path in sorted(top.rglob("*.py")):
        name = path.relative_to(top).as_posix()
        if re.search(r"(^|/)(tests?|site-packages|dist-packages|\.\w+)/", name):
            continue
        try:
            text = path.read_text(encoding="utf-8")
            found = list(_documented(ast.parse(text), ""))
        except (SyntaxError, UnicodeDecodeError, OSError):
            continue
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text, encoding="utf-8")
        asked += [(name, symbol, said, where) for symbol, said, where in found]
    chosen = rng.sample(asked, min(QUESTIONS, len(asked)))
    for name in {one[0] for one in chosen}:
        _cut_out(copy / name, [one[3] for one in chosen if one[0] == name])
    return [Question(said, frozenset([name]), symbol) for name, symbol, said, _ in chosen]


def _documented(node: ast.AST, inside: str) -> Iterator[tuple[str, str, ast.expr]]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        symbol = f"{inside}.{child.name}" if inside else child.name
        yield from _documented(child, symbol)
        said = ast.get_docstring(child)
        if said and not isinstance(child, ast.ClassDef):
            sentence = " ".join(re.split(r"\n\s*\n|(?<=[.。])\s", said)[0].split())
            if len(document_terms(sentence)) >= 4:
                yield symbol, sentence, child.body[0].value  # type: ignore[attr-defined]


def _cut_out(path: Path, places: Sequence[ast.expr]) -> None:
    lines = [f"{line}\n" for line in path.read_text(encoding="utf-8").split("\n")]
    for place in places:
        last = place.end_lineno or place.lineno
        lines[place.lineno - 1] = " " * place.col_offset + "pass\n"
        lines[place.lineno : last] = ["\n"] * (last - place.lineno)
    path.write_text("".join(lines), encoding="utf-8")


def of_commits(top: Path) -> list[Question]:
    """The newest commits of `top` that changed a few files which are still there."""
    command = ["git", "-C", str(top), "log", "--no-merges", "-n", "3000", "--name-only", "--format=%x00%B%x01"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    questions = []
    for entry in told.split("\0")[1:]:
        said, _, names = entry.partition("\1")
        files = frozenset(name for name in names.split("\n") if name and (top / name).is_file())
        if 0 < len(files) <= LARGEST and len(document_terms(said)) >= 4:
            questions.append(Question(said.strip(), files))
    return questions[:QUESTIONS]


def of_patches(top: Path, copy: Path) -> list[Question]:
    """Copies an unpacked Debian source without its patches, whose messages ask for the files they change."""
    shutil.copytree(top, copy, symlinks=True, ignore=shutil.ignore_patterns(".pc", ".git", "debian"))
    questions = []
    for name in (top / "debian" / "patches" / "series").read_text().split("\n"):
        if not name.strip() or name.startswith("#"):
            continue
        text = (top / "debian" / "patches" / name.split()[0]).read_text(encoding="utf-8", errors="replace")
        head = re.split(r"^---", text, maxsplit=1, flags=re.MULTILINE)[0]
        _, _, told = head.partition("Subject:")
        said = re.sub(
            r"^([\w-]+:|https?:|\(cherry).*", "", re.sub(r"^\s*\[[^]]*\]", "", told), flags=re.MULTILINE
        ).strip()
        changed = re.findall(r"^\+\+\+ [^/\n]+/(\S+)", text, re.MULTILINE)
        files = frozenset(name for name in changed if (copy / name).is_file())
        if 0 < len(files) <= LARGEST and len(document_terms(said)) >= 4:
            questions.append(Question(said, files))
    return questions[:QUESTIONS]


# ---- finders -------------------------------------------------------------------------------------------------------


class WholeFiles:
    """Plain BM25 over files, by their text or only by their path and what they define."""

    def __init__(self, files: dict[str, str], words: Callable[[str], Sequence[str]], *, names: bool) -> None:
        self._words = words
        self._names = list(files)
        self._db = sqlite3.connect(":memory:")
        self._db.execute("""CREATE VIRTUAL TABLE t USING fts5(x, content='', tokenize="ascii tokenchars '._-/:@'")""")
        parsers = Parsers()
        for number, (name, text) in enumerate(files.items(), 1):
            if names:
                text = " ".join([name, *(chunk.symbol for chunk in cut(Path(name).suffix, text, parsers))])
            self._db.execute("INSERT INTO t (rowid, x) VALUES (?, ?)", (number, " ".join(document_terms(text))))

    async def __call__(self, query: str) -> Found:
        asked = " OR ".join('"' + term.replace('"', '""') + '"' for term in query_terms(query, self._words).weights)
        found = self._db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (asked, FIRST))
        return Found([self._names[number - 1] for (number,) in found], [])


async def ours(code: ProjectCode, query: str) -> Found:
    hits = (await code.search(query, limit=5 * FIRST)).hits
    return Found(list(dict.fromkeys(hit.path for hit in hits)), [(hit.path, hit.symbol) for hit in hits])


# ---- figures -------------------------------------------------------------------------------------------------------


Ranks = Sequence[int]
"""For each question where its answer stands, from 1; 0 where it was not found."""


async def measure(name: str, questions: Sequence[Question], find: Finder, plain: Ranks = ()) -> Ranks:
    ranks: list[int] = []
    function, started = 0, time.perf_counter()
    for question in questions:
        found = await find(question.text)
        ranks.append(next((at for at, file in enumerate(found.files[:FIRST], 1) if file in question.files), 0))
        function += bool(question.symbol) and any(
            (file, question.symbol) in found.symbols[:5] for file in question.files
        )
    count, seconds = len(questions), time.perf_counter() - started
    cells = []
    for worth in FIGURES:
        low, high = interval([worth(rank) for rank in ranks])
        cells.append(f"{100 * sum(map(worth, ranks)) / count:.1f} ±{50 * (high - low):.1f}")
    table(name, *cells, f"{100 * function / count:.1f}" if function else "", f"{1000 * seconds / count:.0f} ms")
    if plain:
        more = [interval([worth(a) - worth(b) for a, b in zip(ranks, plain, strict=True)]) for worth in FIGURES]
        table("  more than BM25", *(f"{100 * low:+.1f}…{100 * high:+.1f}" for low, high in more))
    return ranks


FIGURES: Sequence[Callable[[int], float]] = (
    lambda rank: float(rank == 1),
    lambda rank: float(0 < rank <= 5),
    lambda rank: 1 / rank if rank else 0.0,
)
"""What a rank is worth: hit@1, hit@5, reciprocal rank."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Between what the mean lies in 95 of 100 samples of the questions."""
    rng, count = random.Random(1), len(values)
    means = sorted(sum(rng.choices(values, k=count)) / count for _ in range(SAMPLES))
    return means[SAMPLES // 40], means[-SAMPLES // 40 - 1]


def texts(top: Path) -> dict[str, str]:
    """All text files of a folder, those that git knows where it is a repository."""
    names = subprocess.run(["git", "-C", str(top), "ls-files"], capture_output=True, text=True, check=False).stdout
    files = {}
    for path in map(top.joinpath, names.split("\n")) if names else top.rglob("*"):
        if path.is_file() and path.stat().st_size < 1_000_000:
            data = path.read_bytes()
            if b"\0" not in data:
                files[path.relative_to(top).as_posix()] = data.decode("utf-8", "replace")
    return files


async def compare(top: Path, questions: Sequence[Question], scratch: Path, embedder: Embedder | None) -> None:
    home = Home(scratch / "home")
    words = Segmenter(home.cache, patient=True).words
    code = make_code(home, (top,), {}, words, len)
    built = await code.build()
    files = texts(top)
    print(f"{len(questions)} questions over {built.added} files")
    table("", "hit@1", "hit@5", "MRR", "function@5", "a query")
    await measure("names only", questions, WholeFiles(files, words, names=True))
    plain = await measure("BM25, whole files", questions, WholeFiles(files, words, names=False))
    await measure("codeagent", questions, lambda query: ours(code, query), plain)
    if embedder is not None:
        code.find_by_meaning(embedder)
        await code.build()
        await measure("codeagent, hybrid", questions, lambda query: ours(code, query), plain)
    await code.aclose()


def main() -> None:
    hybrid = "--hybrid" in sys.argv
    own = [Path(__file__).parents[1], Path(sysconfig.get_path("stdlib"))]
    tops = [Path(arg).resolve() for arg in sys.argv[1:] if not arg.startswith("--")] or own
    for top in tops:
        makers: dict[str, Callable[[Path, Path], list[Question]]] = {"docstring → function": of_docstrings}
        if (top / "debian" / "patches" / "series").is_file():
            makers["patch → files"] = of_patches
        elif (top / ".git").exists():
            makers["commit → files"] = lambda top, copy: of_commits(top)
        for what, make in makers.items():
            scratch = Path(tempfile.mkdtemp(prefix="codeagent-bench-"))
            try:
                questions = make(top, scratch / top.name)
                tree = scratch / top.name if (scratch / top.name).exists() else top
                if len(questions) >= FEWEST:
                    print(f"\n{top.name}: {what}: ", end="")
                    asyncio.run(compare(tree, questions, scratch, LocalEmbedder() if hybrid else None))
            finally:
                shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
