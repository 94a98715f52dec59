"""Gather the layers, highest last, and remember for each value where it came from."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from codeagent.core.errors import ConfigError
from codeagent.core.events import Notice
from codeagent.core.paths import Home, Project
from codeagent.llm.presets import by_url, parts
from codeagent.settings.schema import ENV_PREFIX, Environment, Settings, flatten, known_keys, unflatten
from codeagent.settings.shutting import shut
from codeagent.settings.trust import OWN, PROJECT_FILES, Trust, needs_trust
from codeagent.settings.values import as_list
from codeagent.workspace import read_regular

SECRETS = frozenset({"api_key"})
JOINED = frozenset({"permissions.allow", "permissions.ask", "permissions.deny"})
"""Rules of all layers hold together, so that no layer can drop what another forbids."""
NOT_SETTINGS = frozenset({"CODEAGENT_HOME"})


@dataclass(frozen=True, slots=True)
class Origin:
    value: Any
    """As the layer gave it; secrets masked."""
    source: str
    """A file's path, a variable's name, "flag", or "default"."""


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    origins: Mapping[str, Origin]
    """Every setting by dotted key, in the order of the model."""
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    values: Mapping[str, Any]
    """By dotted key."""
    sources: Mapping[str, str]
    """Where a value came from, by dotted key; for a file always the file."""


def load_settings(flags: Mapping[str, Any], environ: Mapping[str, str], home: Home, project: Project | None) -> Loaded:
    """Merge the layers. `flags` has dotted keys; with `project` None its files are not read at all.

    Raises:
        ConfigError: a file that is no TOML, or a value of the wrong kind, with place, key and what is expected.
    """
    notices: list[Notice] = []
    if told := shut(home, environ):
        notices.append(told)
    layers = [_file(home.config, notices)]
    # At the user's own home folder the project's files would be the user's.
    if project is not None and project.folder.resolve() != home.root.resolve():
        layers += _project_layers(project, Trust(home), notices)
    layers.append(_environment(environ, layers, flags, notices))
    layers.append(_Layer(flags, dict.fromkeys(flags, "flag")))
    merged, sources = _merge(_own_keys(layers))
    return _validated(merged, sources, tuple(notices))


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content, {} where there is none.

    Raises:
        ConfigError: it cannot be read, or is no TOML; the sentence has file and line.
    """
    try:
        return tomllib.loads(read_regular(path).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        return {}
    except (OSError, ValueError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        raise ConfigError("{path} cannot be read: {reason}.", path=path, reason=reason.rstrip(".")) from error


def unknown_setting(key: str) -> ConfigError:
    near = _nearest(key)
    return ConfigError(
        "There is no setting {key}.", key=key, hint=f"Did you mean {near}?" if near else "See: codeagent config show"
    )


def problem(error: Exception) -> str:
    """What is wrong with a value, in a few words that do not repeat the value itself."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        inner = ".".join(str(part) for part in first["loc"] if isinstance(part, int) or part in {"name", "base_url"})
        told = _told(first["type"], first["msg"])
        return f"{inner}: {told}" if inner and "providers" in first["loc"] else told
    return str(error)


def _told(kind: str, message: str) -> str:
    """What the validation says, without the words that speak to its programmer."""
    if kind.endswith("_parsing"):
        message = message.partition(", unable to parse")[0]
    message = message.removeprefix("Value error, ")
    return message.replace("Input should be ", "it must be ").replace("String should ", "it must ")


def _file(path: Path, notices: list[Notice]) -> _Layer:
    known = known_keys()
    flat = flatten(read_toml(path), known)
    notices += [_unknown(key, str(path)) for key in flat if key not in known]
    values = {key: value for key, value in flat.items() if key in known}
    return _Layer(values, dict.fromkeys(values, str(path)))


def _project_layers(project: Project, trust: Trust, notices: list[Notice]) -> Iterator[_Layer]:
    ignored: list[str] = []
    state = trust.state(project)
    for name in PROJECT_FILES:
        layer = _without_own(_file(project.folder / name, notices), notices)
        kept = {key: value for key, value in layer.values.items() if state == "trusted" or not needs_trust(key, value)}
        ignored += [key for key in layer.values if key not in kept and key not in ignored]
        yield _Layer(kept, layer.sources)
    if ignored:
        first = (
            "The configuration of {folder} has changed since you trusted it"
            if state == "changed"
            else ("The configuration of {folder} is not trusted")
        )
        sentence = first + "; ignored: {keys}. To allow: codeagent config trust"
        notices.append(Notice(sentence, {"folder": project.top, "keys": ", ".join(ignored)}, "warning"))


def _without_own(layer: _Layer, notices: list[Notice]) -> _Layer:
    for key in sorted(OWN & layer.values.keys()):
        told = "{path}: {key} is ignored; only your own configuration may set it."
        notices.append(Notice(told, {"path": layer.sources[key], "key": key}, "warning"))
    return replace(layer, values={key: value for key, value in layer.values.items() if key not in OWN})


def _environment(
    environ: Mapping[str, str], files: list[_Layer], flags: Mapping[str, Any], notices: list[Notice]
) -> _Layer:
    known = known_keys()
    try:
        values = flatten(Environment(environ)(), known)
    except SettingsError as error:
        raise ConfigError("The environment: {problem}.", problem=error) from error
    values = {key: value for key, value in values.items() if key in known}
    sources = {key: ENV_PREFIX + key.upper().replace(".", "__") for key in values}
    for name in sorted(environ):
        key = name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
        if name.startswith(ENV_PREFIX) and name not in NOT_SETTINGS and key not in known and environ[name]:
            notices.append(_unknown(key, "the environment", name))
    if environ.get("OPENAI_BASE_URL") and "base_url" not in values:
        values["base_url"], sources["base_url"] = environ["OPENAI_BASE_URL"], "OPENAI_BASE_URL"
    if (
        environ.get("OPENAI_API_KEY")
        and "api_key" not in values
        and _may_go([*files, _Layer(values, {}), _Layer(flags, {})])
    ):
        values["api_key"], sources["api_key"] = environ["OPENAI_API_KEY"], "OPENAI_API_KEY"
    return _Layer(values, sources)


def _may_go(layers: list[_Layer]) -> bool:
    """Whether OPENAI_API_KEY is meant for the endpoint: not where the file that names the endpoint names a key too,
    nor where another company is known to live."""
    where = next((layer for layer in reversed(layers) if layer.values.get("base_url")), None)
    if where is None:
        return True
    preset = by_url(str(where.values["base_url"]))
    return "api_key" not in where.values and (preset is None or not preset.keys or preset.name == "openai")


def _own_keys(layers: list[_Layer]) -> list[_Layer]:
    """The layers without keys that stand beside one endpoint while another layer names a different one."""
    urls = [str(layer.values["base_url"]) for layer in layers if layer.values.get("base_url")]
    place = parts(urls[-1]).netloc if urls else ""

    def own(layer: _Layer) -> bool:
        url = layer.values.get("base_url")
        return not url or parts(str(url)).netloc == place

    return [
        layer if own(layer) else replace(layer, values={k: v for k, v in layer.values.items() if k != "api_key"})
        for layer in layers
    ]


def _merge(layers: list[_Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            source = layer.sources[key]
            if key in JOINED and key in merged:
                value = [*as_list(merged[key]), *as_list(value)]
                source = f"{sources[key]}, {source}"
            merged[key], sources[key] = value, source
    return merged, sources


def _validated(merged: dict[str, Any], sources: dict[str, str], notices: tuple[Notice, ...]) -> Loaded:
    try:
        settings = Settings(**unflatten(merged))
    except ValidationError as error:
        loc = [str(part) for part in error.errors(include_url=False)[0]["loc"]]
        key = next((key for size in range(len(loc), 0, -1) if (key := ".".join(loc[:size])) in merged), ".".join(loc))
        raise ConfigError(
            "{source}: {key}: {problem}.", source=sources.get(key, "?"), key=key, problem=problem(error)
        ) from error
    dumped = flatten(settings.model_dump(), known_keys())
    origins = {}
    for key in known_keys():
        value = dumped[key]
        if key in SECRETS:
            value = masked(value.get_secret_value())
        origins[key] = Origin(value, sources.get(key, "default"))
    return Loaded(settings, origins, notices)


def masked(secret: str) -> str:
    """Enough of a key to tell it from another."""
    if len(secret) < 12:
        return "****" if secret else ""
    return f"{secret[:3]}…{secret[-4:]}"


def _unknown(key: str, source: str, name: str = "") -> Notice:
    near = _nearest(key)
    sentence = "Unknown setting {name} in {source}" + ("; did you mean {near}?" if near else ".")
    return Notice(sentence, {"name": name or key, "source": source, "near": near}, "warning")


def _nearest(key: str) -> str:
    found = difflib.get_close_matches(key, known_keys(), n=1, cutoff=0.6)
    if not found:
        tails = {known.rsplit(".", 1)[-1]: known for known in known_keys()}
        found = [tails[name] for name in difflib.get_close_matches(key.rsplit(".", 1)[-1], tails, n=1, cutoff=0.7)]
    return found[0] if found else ""
