"""Secrets that tools come across stay on this machine: the model and the journal see a name in their place.

The name stands for one secret throughout a session, also after a resume, and is put back where the model uses it in an
edit or a command. Which secret it stands for is kept in a file beside the session (`core.paths.secrets_of`), and
nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.messages import ToolCall
from codeagent.core.paths import secrets_of
from codeagent.core.ports import Archive
from codeagent.core.private import make_private
from codeagent.core.tools import ToolResult
from codeagent.text.leaks import leaks

_NAME = re.compile(r"SECRET_[0-9a-f]{8}(?![0-9a-zA-Z_])")
_TOLD = "[SECRET_… stands for a secret kept from you. Use the name as it is: edits and commands get the secret.]"
_RESTORED = frozenset({"edit", "run"})
"""Kinds of tools whose calls get the secret; `grep` looks for it, and nothing else may carry it away."""
_LOOKS = frozenset({"grep"})
_PIECE = 1 << 16
"""Characters of a long output that are looked at together."""


class Veil:
    """The names and secrets of one session. Where the disk refuses the file, they hold for this run."""

    def __init__(self, session: Path, *, hides: bool = True) -> None:
        """`session` is the session's file. `hides` False hides nothing; names from before are put back all the same."""
        self._path = secrets_of(session)
        self._hides = hides
        self._secrets: dict[str, str] | None = None
        self._names: dict[str, str] = {}
        self._bare: re.Pattern[str] | None = None

    def hide(self, text: str) -> str:
        """`text` with a name in the place of each secret."""
        if not self._hides:
            return text
        known = len(self._known())
        pieces, at = [], 0
        for start, end in leaks(text):
            pieces += [text[at:start], self._name(text[start:end])]
            at = end
        text = "".join((*pieces, text[at:]))
        if len(self._known()) > known:
            self._store()
        # What gave a secret away stands elsewhere when a program prints it bare.
        return self._bare.sub(lambda found: self._names[found[0]], text) if self._bare is not None else text

    def restore(self, call: ToolCall, kind: str) -> ToolCall:
        """The call as it is to be run: with the secrets that its names stand for, where a tool of `kind` gets them."""
        if "SECRET_" not in call.arguments or (kind not in _RESTORED and call.name not in _LOOKS):
            return call
        known = self._known()

        def put_back(found: re.Match[str]) -> str:
            secret = known.get(found[0])
            return found[0] if secret is None else json.dumps(secret, ensure_ascii=False)[1:-1]

        return replace(call, arguments=_NAME.sub(put_back, call.arguments))

    def cover(self, result: ToolResult) -> ToolResult:
        """The result as the model and the journal may have it."""
        text = self.hide(result.text)
        return result if text == result.text else replace(result, text=f"{text}\n{_TOLD}")

    def archive(self, archive: Archive) -> Archive:
        """The same archive for outputs in which secrets are hidden first."""
        return _Veiled(archive, self)

    def _name(self, secret: str) -> str:
        name = self._names.get(secret)
        if name is None:
            name = f"SECRET_{secrets.token_hex(4)}"
            self._known()[name] = secret
            self._note(name, secret)
        return name

    def _note(self, name: str, secret: str) -> None:
        self._names[secret] = name
        if telling := sorted(filter(_telling, self._names), key=len, reverse=True):
            self._bare = re.compile("|".join(map(re.escape, telling)))

    def _known(self) -> dict[str, str]:
        if self._secrets is None:
            self._secrets = _read(self._path)
            for name, secret in self._secrets.items():
                self._note(name, secret)
        return self._secrets

    def _store(self) -> None:
        """Written anew beside the old one: a copy of the session may share the file."""
        new = self._path.with_suffix(".new")
        try:
            make_private(self._path.parent)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump({"names": self._secrets}, file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        except OSError:
            with suppress(OSError):
                new.unlink()


def _telling(secret: str) -> bool:
    """Whether it is no word that may stand anywhere."""
    return len(secret) >= 8 and any(map(str.isdigit, secret)) and not secret.isdigit()


def _read(path: Path) -> dict[str, str]:
    try:
        names = json.loads(path.read_bytes())["names"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    held = names.items() if isinstance(names, Mapping) else ()
    return {name: secret for name, secret in held if _NAME.fullmatch(name) and isinstance(secret, str)}


@dataclass(frozen=True, slots=True)
class _Veiled:
    """Implements `ports.Archive`."""

    behind: Archive
    veil: Veil

    @property
    def folder(self) -> Path:
        return self.behind.folder

    def put(self, call_id: str, text: str | Iterable[str]) -> str:
        return self.behind.put(call_id, self.veil.hide(text) if isinstance(text, str) else self._pieces(text))

    def put_file(self, name: str, ending: str, data: bytes) -> str:
        return self.behind.put_file(name, ending, data)

    def _pieces(self, texts: Iterable[str]) -> Iterator[str]:
        """Cut at ends of lines, for a secret may lie across the pieces it came in."""
        held = ""
        for text in texts:
            held += text
            if len(held) >= _PIECE and (cut := held.rfind("\n") + 1):
                yield self.veil.hide(held[:cut])
                held = held[cut:]
        yield self.veil.hide(held)
