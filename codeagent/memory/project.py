"""Static memory: the CODEAGENT.md layers of a user and a project as one section of the prompt (MEMORY.md 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.events import Notice
from codeagent.core.paths import FOLDER, Home, Project
from codeagent.core.sections import Section
from codeagent.memory.decoding import decode
from codeagent.memory.imports import find_imports

CHARACTERS = 24_000
DEPTH = 3
NESTED = 4
"""Files that join on the way may take so much of the budget: a fourth part."""
_READ = 4 * CHARACTERS
"""Bytes of one file at most; more could never be shown."""
_CUT = "[The rest of this file is left out here; read it with read_file when it matters.]"
_OUT = "[This file is left out here; read it with read_file before you work on what it is about.]"
_FOREIGN = {"node_modules", "site-packages", "vendor", "third_party", "venv", ".venv", ".git", ".codeagent", FOLDER}
"""Folders whose instructions are not the team's."""
_JOINED = "Instructions from the team for the files below this folder. They are binding there."
_INTRO = "Instructions from the user and the team. They are binding; where two disagree, the later one wins."


@dataclass(frozen=True, slots=True)
class _Text:
    """One file of a layer."""

    path: Path
    text: str
    whole: bool = True


class ProjectMemoryLoader:
    """Reads the layers anew at each call; what is wrong with a file is told once."""

    def __init__(
        self,
        home: Home,
        project: Project,
        user_home: Path,
        *,
        tokens: int,
        estimate: Callable[[str], int],
        trusted: bool = False,
        stands: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """`tokens` bounds the section, `user_home` is what `~` stands for, `trusted` allows imports from anywhere.

        `stands` answers whether the conversation holds a text already, as one that goes on may.
        """
        self._home = home
        self._project = project
        self._user_home = user_home
        self._tokens = tokens
        self._estimate = estimate
        self._trusted = trusted
        self._stands = stands
        self._notices: list[Notice] = []
        self._told: set[str] = set()
        self._read_in: set[Path] = set()
        self._joined: dict[Path, None] = {}

    @property
    def project(self) -> Project:
        return self._project

    def section(self) -> Section | None:
        """The `project_context` section; None when there are no instructions."""
        shown = self._shown()
        if not shown:
            return None
        body = "\n\n".join([_INTRO, *(self._show(text) for text in shown)])
        return Section("project_context", body, "Project context", order=200)

    def touched(self, path: Path) -> str:
        """Instructions of the folders between the working folder and `path`, for the message at hand; each once,
        and none that the conversation holds word for word.

        From then on they are layers like the others.
        """
        new = [folder for folder in self._way(path) if folder not in self._joined]
        self._joined.update(dict.fromkeys(new))
        files = [file for folder in new for file in self._files(folder)]
        layers = [list(self._with_imports(file, self._read_in, False, depth=0)) for file in files]
        texts = [text for layer in self._fit(layers, CHARACTERS // NESTED, self._tokens // NESTED) for text in layer]
        new_to_it = [said for text in texts if not self._stands(said := self._show(text))]
        return "\n\n".join([_JOINED, *new_to_it]) if new_to_it else ""

    def shown(self) -> list[tuple[str, int]]:
        """(name, tokens) of every file of which the section holds something, read anew."""
        return [(self._name(text.path), self._estimate(text.text)) for text in self._shown() if text.text]

    def notices(self) -> tuple[Notice, ...]:
        """What has become known since the last call."""
        news = tuple(self._notices)
        self._notices.clear()
        return news

    def _shown(self) -> list[_Text]:
        self._read_in = set()
        layers = [list(self._with_imports(path, self._read_in, mine, depth=0)) for path, mine in self._layers()]
        return [text for layer in self._fit(layers, CHARACTERS, self._tokens) for text in layer]

    def _layers(self) -> Iterator[tuple[Path, bool]]:
        """(file, whether it is the user's own) from the most general to the most specific; files that exist."""
        if self._is_file(self._home.instructions):
            yield self._home.instructions, True
        top, cwd = self._project.top, self._project.cwd
        folders = [folder for folder in (cwd, *cwd.parents) if folder == top or top in folder.parents]
        for folder in (*reversed(folders), *sorted(self._joined)):
            yield from ((path, False) for path in self._files(folder))

    def _files(self, folder: Path) -> list[Path]:
        """The instruction files of one folder, the most specific last."""
        places = (
            (folder / "CODEAGENT.md", folder / "AGENTS.md"),
            (folder / FOLDER / "CODEAGENT.md", folder / ".codeagent" / "CODEAGENT.md"),
            (folder / "CODEAGENT.local.md",),
        )
        found = [next(filter(self._is_file, names), None) for names in places]
        return [path for path in found if path is not None]

    def _is_file(self, path: Path) -> bool:
        """Whether there is such a file; what has its name and is none is told."""
        if path.is_file():
            return True
        if path.is_dir():
            self._tell("{path} is a folder, not a file: no instructions are read from it.", path=path)
        elif path.is_symlink() and not path.exists():
            self._tell("{path} is a link that leads nowhere: no instructions are read from it.", path=path)
        elif path.exists():
            self._tell("{path} is not a regular file: no instructions are read from it.", path=path)
        return False

    def _way(self, path: Path) -> list[Path]:
        """The folders below the working folder that lead to `path`, outermost first; none through foreign code."""
        cwd, real = self._project.cwd, path.resolve()
        folder = real if real.is_dir() else real.parent
        if cwd not in folder.parents:
            return []
        parts = folder.relative_to(cwd).parts
        return [] if _FOREIGN.intersection(parts) else [cwd.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]

    def _with_imports(self, path: Path, seen: set[Path], mine: bool, *, depth: int) -> Iterator[_Text]:
        """The file and what it imports, each file once in all."""
        real = path.resolve()
        if real in seen:
            return
        seen.add(real)
        if not (mine or self._trusted or self._project.top in real.parents):
            self._tell("{path} lies outside the project and is not read: trust this folder to allow it.", path=path)
            return
        text = self._read(path)
        if text is None:
            return
        yield text
        for target in find_imports(text.text, path.parent, self._user_home):
            if not target.is_file():
                self._tell("{path} imports {target}, which is no file.", path=path, target=target)
            elif depth == DEPTH:
                self._tell("{path} is left out: imports go {depth} deep.", path=target, depth=DEPTH)
            else:
                yield from self._with_imports(target, seen, mine, depth=depth + 1)

    def _read(self, path: Path) -> _Text | None:
        try:
            with path.open("rb") as file:
                data = file.read(_READ + 1)
        except OSError as error:
            self._tell("{path} cannot be read: {error}.", path=path, error=error.strerror or error)
            return None
        text = decode(data[:_READ])
        if text is None:
            self._tell("{path} is not text and is left out.", path=path)
            return None
        text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        return _Text(path, text, whole=len(data) <= _READ) if text.strip() else None

    def _fit(self, layers: list[list[_Text]], characters: int, tokens: int) -> list[list[_Text]]:
        """What the budget holds, given out from the most specific layer to the most general."""
        fitted: list[list[_Text]] = []
        for layer in reversed(layers):
            kept: list[_Text] = []
            for text in layer:
                cut = self._cut(text, characters, tokens)
                if not cut.text:
                    self._tell("{path} does not fit into the prompt: it is left out.", path=text.path)
                elif not cut.whole:
                    self._tell("{path} does not fit into the prompt whole: the end is left out.", path=text.path)
                characters -= len(cut.text)
                tokens -= self._estimate(cut.text) if cut.text else 0
                kept.append(cut)
            fitted.append(kept)
        return fitted[::-1]

    def _cut(self, text: _Text, characters: int, tokens: int) -> _Text:
        """`text` cut at a line so that it holds at most so many characters and tokens; the note comes on top."""
        if len(text.text) <= characters and self._estimate(text.text) <= tokens:
            return text
        lines = text.text[: max(0, characters)].split("\n")
        if len(text.text) > characters:
            lines.pop()
        kept = 0
        for line in lines:
            tokens -= self._estimate(line + "\n")
            if tokens < 0:
                break
            kept += 1
        return _Text(text.path, "\n".join(lines[:kept]).rstrip("\n"), whole=False)

    def _show(self, text: _Text) -> str:
        said = text.text if text.whole else f"{text.text}\n{_CUT}" if text.text else _OUT
        return f'<instructions path="{self._name(text.path)}">\n{said}\n</instructions>'

    def _name(self, path: Path) -> str:
        top = self._project.top
        return path.relative_to(top).as_posix() if path.is_relative_to(top) else path.as_posix()

    def _tell(self, message: str, **arguments: object) -> None:
        notice = Notice(message, {name: str(value) for name, value in arguments.items()}, "warning")
        if str(notice) not in self._told:
            self._told.add(str(notice))
            self._notices.append(notice)
