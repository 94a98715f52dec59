"""`codeagent doctor`: what keeps commands within bounds, and what the endpoint can do."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace

import typer

from codeagent.app import gather
from codeagent.checkup import check_up
from codeagent.cli import flags
from codeagent.cli.output import say, say_json, table, tell
from codeagent.commands.builtin.doctor import MARKS
from codeagent.confining import sandbox_state
from codeagent.endpoints import DEFAULT_KIND, Endpoints
from codeagent.llm.doctor import Diagnosis
from codeagent.llm.learning import lessons
from codeagent.options import Options
from codeagent.settings import Loaded
from codeagent.workspace import find_project


def doctor(
    ctx: typer.Context,
    provider: flags.Provider = None,
    base_url: flags.BaseUrl = None,
    model: flags.Model = None,
    json: flags.Json = False,
) -> None:
    """Examine the endpoint by about ten small requests, and keep what is found for later; tell of the sandbox."""
    said: Options = ctx.obj
    options = replace(
        said, provider=provider or said.provider, base_url=base_url or said.base_url, model=model or said.model
    )
    loaded = gather(options)
    sandbox = str(sandbox_state(loaded.settings.sandbox, options, find_project(options.cwd)))
    diagnosis = asyncio.run(_examine(options, loaded))
    if json:
        say_json(_as_json(diagnosis) | {"sandbox": sandbox})
        return
    say(f"{diagnosis.endpoint.model} at {diagnosis.endpoint.base_url}")
    table([(MARKS[one.state], one.what, one.detail) for one in diagnosis.findings])
    say(f"Sandbox of commands: {sandbox}")
    for warning in diagnosis.warnings:
        tell(str(warning))


async def _examine(options: Options, loaded: Loaded) -> Diagnosis:
    source = loaded.origins["api_key"].source
    kind = options.provider or DEFAULT_KIND
    endpoints = Endpoints(loaded.settings, options.environ, options.home, kind, source)
    return await check_up(await endpoints.spoken(), options.home)


def _as_json(diagnosis: Diagnosis) -> dict[str, object]:
    return {
        "base_url": diagnosis.endpoint.base_url,
        "model": diagnosis.endpoint.model,
        "findings": [asdict(finding) for finding in diagnosis.findings],
        "window": diagnosis.window,
        "profile": lessons(diagnosis.endpoint, diagnosis.profile),
        "warnings": [str(warning) for warning in diagnosis.warnings],
    }
