"""Change one setting in a TOML file and leave everything else in it, comments above all, as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from codeagent.core.errors import ConfigError
from codeagent.settings.load import problem, unknown_setting
from codeagent.settings.schema import Settings, known_keys, unflatten
from codeagent.settings.trust import write_private
from codeagent.workspace import read_regular


def write_setting(path: Path, key: str, value: object) -> object:
    """Set `key` (dotted) in the file to `value` (text is read as the setting's type), None takes it out.

    Returns the value as written. The file and its folders are made private where they are missing.

    Raises:
        ConfigError: no such setting, a value of the wrong kind, or a file that is no TOML.
        StoreError: the file cannot be written.
    """
    if key not in known_keys():
        raise unknown_setting(key)
    document = _read(path)
    plain = None if value is None else _checked(key, value)
    *tables, name = key.split(".")
    place: Any = document
    for table in tables:
        if table not in place:
            if plain is None:
                return None
            place[table] = tomlkit.table()
        place = place[table]
    if plain is None:
        place.pop(name, None)
    else:
        place[name] = plain
    write_private(path, tomlkit.dumps(document).encode())
    return plain


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(read_regular(path))
    except FileNotFoundError:
        return tomlkit.document()
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        raise ConfigError("{path} cannot be read: {reason}.", path=path, reason=reason.rstrip(".")) from error


def _checked(key: str, value: object) -> Any:
    """The value as TOML holds it, after the model has read it."""
    try:
        settings = Settings(**unflatten({key: value}))
    except (ValidationError, ValueError) as error:
        raise ConfigError("{key}: {problem}.", key=key, problem=problem(error)) from error
    found: Any = settings
    for name in key.split("."):
        found = getattr(found, name)
    if hasattr(found, "get_secret_value"):
        return found.get_secret_value()
    if isinstance(found, tuple):
        return [entry.model_dump() if hasattr(entry, "model_dump") else entry for entry in found]
    return found
