"""What can be set: one pydantic-settings model; its field names are the TOML keys and the names in the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from codeagent.core.ui import Call, Theme
from codeagent.settings.values import Strings, Table, as_list, switch_or_commands

ENV_PREFIX = "CODEAGENT_"


class MemorySettings(Table):
    retriever: Literal["keyword", "bm25", "hybrid"] = "bm25"
    """How facts are found for a message: by its words, by rare words first, or by words and meaning (embeddings)."""
    backend: str = "json_file"
    """Where facts are kept."""
    strategy: Literal["summary", "sliding_window", "importance"] = "summary"
    """How the history is made smaller: summarised, or with its oldest or least important messages left out."""
    estimator: Literal["classic", "classes", "exact"] = "classes"
    """How tokens are estimated; `exact` needs the extra `tokenizer`."""
    anchor: bool = True
    """Count from what the endpoint reported last, and estimate only what came after it."""
    compression_trigger_ratio: PositiveFloat = Field(default=0.8, le=1)
    """Share of the short-term budget from which on it is compressed; under 0.5 acts as 0.5."""
    inject: Literal["message", "system"] = "message"
    """Where facts that were found are put: at the head of the newest message, or in the system prompt alone, which
    changes at safe points only."""
    git_commit: bool = False
    """Commit each change of task memory by itself, where the project is a repository."""


class TaskMemorySettings(Table):
    reload_every: PositiveInt = 20
    """Turns or steps, whichever comes first, after which task memory is sent again."""
    remind: Literal["stale", "every_message", "never"] = "stale"
    """When an edit finds the snapshot old; with every message; never."""


class CompactionSettings(Table):
    keep_turns: PositiveInt = 3
    """User turns that a compaction leaves as they are."""
    mask: bool = True
    """Shrink old tool results to a line each before anything is summarised."""
    verify: bool = True
    """Compare each summary with a record of what was agreed, and put back what it lost; else it stands alone."""
    mode: Literal["ladder", "classic"] = "ladder"
    """Mask, summarise, fold, as far as is needed; or one summary and the newest turns, nothing else."""
    retry_after: int = Field(default=10, ge=0)
    """Steps between attempts after three failures in a row; 0 tries at every check."""
    timeout: PositiveFloat = 60.0
    """Seconds without a word of the summariser after which the turn goes on without a summary."""


class ToolsSettings(Table):
    edit_format: Literal["auto", "edit", "patch"] = "auto"
    """How the model changes files: passages (edit_file), patches (apply_patch), or what it was trained for."""
    checks: Annotated[bool | dict[str, str], BeforeValidator(switch_or_commands)] = True
    """Say when a change breaks the syntax of a file; a table of glob to command line runs those too."""


class ShellSettings(Table):
    timeout: PositiveFloat = 120.0
    """Seconds after which a command goes on in the background."""
    past_timeout: Literal["background", "kill"] = "background"
    """What becomes of a command that takes longer."""


class SandboxSettings(Table):
    mode: Literal["on", "strict", "bubblewrap", "off"] = "on"
    """What commands of the model may do: write in the project, temporary folders and caches, and read no keys;
    strict: reach no network and no local service either; bubblewrap: on, kept by that program."""
    network: Literal["on", "off"] = "on"
    """Whether they reach the network."""
    write: Strings = ()
    """Further folders that they may write."""
    read: Strings = ()
    """Folders of keys that they may read, such as ~/.ssh."""


class CheckpointSettings(Table):
    enabled: bool = True
    """Save what tools change, so that /undo and /rewind can take it back."""
    store_mb: PositiveInt = 500
    """Megabytes to keep for all projects, compressed; the oldest go first."""
    file_mb: PositiveInt = 10
    """Larger files are not saved."""


class WebSettings(Table):
    private: bool = False
    """Let web_fetch reach this machine and its network, too."""
    search: Literal["", "bocha", "brave", "tavily"] = ""
    """Search provider ("" for the first whose key is in the environment)."""


class IndexSettings(Table):
    vectors: bool = True
    """Find code by meaning too, once `codeagent index build` has made vectors: where there are embeddings."""
    map: int = Field(default=0, ge=0)
    """Tokens of the symbol map that a session's prompt begins with; 0 for none."""


class PermissionSettings(Table):
    allow: Strings = ()
    ask: Strings = ()
    deny: Strings = ()


class SecretSettings(Table):
    mask: bool = True
    """Hide what looks like a secret in tool results from the model and the session file."""
    pass_env: Strings = ()
    """Variables with keys that commands and hooks get all the same."""


class UiSettings(Table):
    vim: bool = False
    status_line: bool = True
    notify: Call = "bell"
    """How you are called when a long turn ends or a question waits, and no key was pressed for a while."""


class NetworkSettings(Table):
    connect: PositiveFloat = 15.0
    """Seconds until a connection stands."""
    first_token: PositiveFloat = 300.0
    """Seconds until the reply begins."""
    idle: PositiveFloat = 120.0
    """Seconds between two pieces of a reply."""


class ProfileSettings(Table):
    """How the models of a provider are asked; what is left out is as known, or learnt from refusals."""

    limit: Literal["max_tokens", "max_completion_tokens", "none"] | None = None
    """The field that bounds a reply."""
    usage: bool | None = None
    """Usage may be asked for in streams."""
    vision: bool | None = None
    system: bool | None = None
    """There is a system role."""
    alternate: bool | None = None
    """User and assistant must take turns."""
    ids: Literal["any", "short", "nine"] | None = None
    """Which ids of tool calls are taken: any, at most 40 characters, exactly nine letters and digits."""
    thoughts: Literal["kept", "always", "never"] | None = None
    """Reasoning in messages that are sent back."""
    plain_schemas: bool | None = None
    """Tool schemas go without references, alternatives and formats."""
    plain_names: bool | None = None
    """Names of tools go in letters, digits, `_` and `-`, at most 64."""
    nulls: bool | None = None
    """The content of a message with tool calls alone may be null."""
    opened: bool | None = None
    """Replies begin inside a thought."""
    bare_calls: bool | None = None
    """JSON alone at the end of a reply is a tool call."""

    def settled(self) -> dict[str, Any]:
        """What was said, in the form in which lessons are kept."""
        said = self.model_dump(exclude_none=True)
        return {name: None if value == "none" else value for name, value in said.items()}


_OURS = frozenset({"messages", "model", "stream", "tools"})


class ProviderSettings(Table):
    name: str = Field(pattern=r"^[A-Za-z0-9_.-]+$")
    base_url: str
    api_key_env: str = ""
    """Name of the variable that holds the key ("" where none is needed)."""
    models: Strings = ()
    profile: ProfileSettings = ProfileSettings()
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request, as they are; one that is refused is left out from then on."""

    @field_validator("extra")
    @classmethod
    def _beside_ours(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if ours := _OURS.intersection(extra):
            raise ValueError(f"{min(ours)} is not for extra")
        return extra


class Settings(BaseSettings):
    """The settings of one run; `load_settings` makes it."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_prefix=ENV_PREFIX, env_nested_delimiter="__", enable_decoding=False
    )

    model: str = ""
    """Model name, or `provider/model`; "" takes the default of the provider that was found."""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    fallback_models: Strings = ()
    """Models that answer, in this order, while the main one is overloaded or cannot be reached."""
    small_model: str = ""
    """Model for summaries ("" for the main one)."""
    embedding_model: str = ""
    """Model for hybrid retrieval, at the main model's endpoint or `provider/model` ("" for the local package)."""
    context_window: PositiveInt | None = None
    """Tokens; None asks the catalogue, then the endpoint."""
    max_output_tokens: PositiveInt | None = None
    max_retries: int = Field(default=5, ge=0)
    max_turns: PositiveInt = 200
    """Model steps in one turn."""
    max_budget_usd: PositiveFloat | None = None
    timeout: PositiveFloat | None = None
    """Seconds for a whole one-shot run; in a conversation for each turn."""
    effort: Literal["low", "medium", "high"] | None = None
    permission_mode: Literal["default", "accept-edits", "plan", "yolo"] = "default"
    language: str = ""
    """Language of the interface ("" follows LANG)."""
    theme: Theme = "default"
    memory: MemorySettings = MemorySettings()
    compaction: CompactionSettings = CompactionSettings()
    task_memory: TaskMemorySettings = TaskMemorySettings()
    tools: ToolsSettings = ToolsSettings()
    shell: ShellSettings = ShellSettings()
    sandbox: SandboxSettings = SandboxSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    web: WebSettings = WebSettings()
    index: IndexSettings = IndexSettings()
    permissions: PermissionSettings = PermissionSettings()
    secrets: SecretSettings = SecretSettings()
    ui: UiSettings = UiSettings()
    network: NetworkSettings = NetworkSettings()
    providers: Annotated[tuple[ProviderSettings, ...], BeforeValidator(as_list)] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in: the layers are merged before, so that each value's origin is known."""
        return (init_settings,)


class Environment(EnvSettingsSource):
    """The CODEAGENT_* variables of the environment that is handed in."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        super().__init__(Settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items() if value}


def known_keys() -> tuple[str, ...]:
    """Every setting's dotted key, in the order of the model."""
    return tuple(_keys(Settings))


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def flatten(table: Mapping[str, Any], known: tuple[str, ...], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys; what is no table of ours keeps its value whole."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and any(other.startswith(f"{key}.") for other in known):
            flat.update(flatten(value, known, f"{key}."))
        else:
            flat[key] = value
    return flat


def unflatten(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        *tables, name = key.split(".")
        place = nested
        for table in tables:
            place = place.setdefault(table, {})
        place[name] = value
    return nested
