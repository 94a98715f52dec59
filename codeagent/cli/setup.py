"""`codeagent setup`: ask for endpoint, key and model, try them with a real request, write them down."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from getpass import getpass
from typing import Annotated

import typer

from codeagent.cli import flags
from codeagent.cli.output import say, tell, tell_error
from codeagent.core.errors import CodeAgentError, UsageError
from codeagent.core.messages import UserMessage, encode
from codeagent.core.ports import Endpoint, Reply, Request
from codeagent.llm import presets, probe
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.options import Options
from codeagent.settings.write import write_setting

LISTED = 20
"""Models of an endpoint that are shown at most."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What is to be tried and written."""

    base_url: str
    api_key: str
    model: str
    keep_key: bool = True
    """Write the key down; false where it stands in the environment anyway."""


def setup(
    ctx: typer.Context,
    provider: flags.Provider = None,
    base_url: flags.BaseUrl = None,
    model: flags.Model = None,
    api_key: Annotated[str | None, typer.Option("--api-key", help="The key; - reads it from standard input.")] = None,
    test: Annotated[bool, typer.Option("--test/--no-test", help="Try it with a real request.")] = True,
) -> None:
    """Say where the model is: asks, or takes it from flags."""
    said: Options = ctx.obj
    options = replace(
        said,
        provider=provider or said.provider,
        base_url=base_url or said.base_url,
        model=model or said.model,
    )
    if options.base_url is None and options.provider is None and sys.stdin.isatty():
        ask_and_write(options)
        return
    entered = _given(options, sys.stdin.readline().strip() if api_key == "-" else api_key)
    if test:
        say(asyncio.run(try_out(entered)))
    _write(options, entered)


def ask_and_write(options: Options) -> None:
    """Ask until something works, or the person gives up.

    Raises:
        UsageError: given up (end of input).
    """
    try:
        while True:
            entered = _ask(options.environ)
            say("Trying it …")
            try:
                say(asyncio.run(try_out(entered)))
            except CodeAgentError as error:
                tell_error(error)
                if not _yes("Write it down all the same?", default=False):
                    continue
            _write(options, entered)
            return
    except EOFError:
        raise UsageError("Nothing was set up.") from None


async def try_out(entered: Entered) -> str:
    """Send a real request; one sentence that says how it went.

    Raises:
        ModelError: the endpoint refused or could not be reached.
    """
    endpoint = Endpoint(entered.base_url, entered.api_key, entered.model, first_token_timeout=60.0)
    started = time.monotonic()
    async with aclosing(OpenAIChat(endpoint)) as client:
        request = Request(entered.model, [encode(UserMessage("Say hello in three words."))])
        answer = ""
        async for item in client.stream(request):
            if isinstance(item, Reply):
                answer = " ".join(item.message.text.split())
    shown = f": {answer[:80]}" if answer else ""
    return f"{entered.model} answers after {time.monotonic() - started:.1f} s{shown}"


def _given(options: Options, api_key: str | None) -> Entered:
    preset = presets.find(options.provider or "") or presets.by_url(options.base_url or "")
    if options.provider and preset is None:
        known = ", ".join(preset.name for preset in (*presets.PRESETS, *presets.LOCAL))
        raise UsageError("There is no provider {name}.", name=options.provider, hint=f"Known: {known}")
    base_url = presets.normalise_url(options.base_url or (preset.base_url if preset else ""))
    model = options.model or (preset.model if preset else "")
    if not base_url or not model:
        raise UsageError("Give --base-url and --model, or --provider.", hint="codeagent setup --provider deepseek")
    stands = presets.standing_key(preset, options.environ)[0]
    if preset and preset.keys and not (api_key or stands):
        raise UsageError(
            "{name} needs a key.", name=preset.name, hint="Give --api-key (- reads it from standard input)."
        )
    return Entered(base_url, api_key or stands, model, keep_key=bool(api_key))


def _ask(environ: Mapping[str, str]) -> Entered:
    found = asyncio.run(presets.find_local())
    choices = [*(local.preset for local in found), *presets.PRESETS]
    for number, choice in enumerate(choices, 1):
        say(f"  {number:>2}  {choice.name:<12} {choice.base_url}")
    preset, base_url = _choose(choices)
    api_key, keep = _ask_key(preset, environ)
    entered = Entered(base_url, api_key, "", keep)
    default = preset.model if preset else ""
    listed = _models(entered)
    if listed:
        say("Models: " + ", ".join(listed[:LISTED]) + (f" and {len(listed) - LISTED} more" if listed[LISTED:] else ""))
    return replace(entered, model=_line("Model", default or next(iter(listed), "")))


def _choose(choices: list[presets.Preset]) -> tuple[presets.Preset | None, str]:
    while True:
        answer = _line("Which one (a number, a name, or a URL of your own)")
        if answer.isdigit() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1], choices[int(answer) - 1].base_url
        if (named := presets.find(answer)) is not None:
            return named, named.base_url
        if "." in answer or ":" in answer:
            base_url = presets.normalise_url(answer)
            return presets.by_url(base_url), base_url
        tell("That is none of them.")


def _ask_key(preset: presets.Preset | None, environ: Mapping[str, str]) -> tuple[str, bool]:
    """(key, whether it is to be written down)"""
    stands, name = presets.standing_key(preset, environ)
    if stands and _yes(f"Use the key in {name}?", default=True):
        return stands, False
    if preset in presets.LOCAL:
        return "", False
    if preset is None or not preset.keys:
        return getpass("Key (not shown; empty for none): ").strip(), True
    while not (key := getpass("Key (not shown): ").strip()):
        tell(f"{preset.name} needs a key.")
    return key, True


def _models(entered: Entered) -> list[str]:
    endpoint = Endpoint(entered.base_url, entered.api_key, "", connect_timeout=5.0)
    try:
        return asyncio.run(probe.list_models(endpoint))
    except CodeAgentError:
        return []


def _line(question: str, default: str = "") -> str:
    while True:
        answer = input(f"{question}{f' [{default}]' if default else ''}: ").strip() or default
        if answer:
            return answer


def _yes(question: str, *, default: bool) -> bool:
    answer = input(f"{question} [{'Y/n' if default else 'y/N'}] ").strip().lower()
    return answer in {"y", "yes", "是", "好"} if answer else default


def _write(options: Options, entered: Entered) -> None:
    path = options.home.config
    write_setting(path, "base_url", entered.base_url)
    write_setting(path, "model", entered.model)
    write_setting(path, "api_key", entered.api_key if entered.keep_key and entered.api_key else None)
    say(f"Written to {path}, which only you can read.")
