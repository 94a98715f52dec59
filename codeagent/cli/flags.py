"""The flags, as Typer declares them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Effort = Literal["low", "medium", "high"]
Mode = Literal["default", "accept-edits", "plan", "yolo"]
Output = Literal["text", "json", "stream-json"]
Input = Literal["text", "stream-json"]

Text = Annotated[str | None, typer.Option("--text", hidden=True)]
Once = Annotated[
    bool,
    typer.Option(
        "-p", "--print", "--prompt", help="[TEXT]: do it, print the answer, exit. Words and piped input join."
    ),
]
OutputFormat = Annotated[Output, typer.Option("-o", "--output-format", help="What --print prints.")]
InputFormat = Annotated[Input, typer.Option("--input-format", help="What --print reads from standard input.")]
Newest = Annotated[bool, typer.Option("-c", "--continue", help="Go on with the newest session of this project.")]
Resume = Annotated[
    str | None, typer.Option("-r", "--resume", metavar="[ID]", help="Go on with a session; without an id, pick one.")
]
Pick = Annotated[bool, typer.Option("--pick", hidden=True)]
Fork = Annotated[bool, typer.Option("--fork-session", help="Resume into a copy.")]
SessionId = Annotated[str | None, typer.Option("--session-id", metavar="ID", help="Use this id for a new session.")]
Name = Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Give the session a name.")]
Model = Annotated[str | None, typer.Option("-m", "--model", metavar="NAME", help="Model name, or provider/model.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Chat-completions endpoint.")]
SmallModel = Annotated[str | None, typer.Option("--small-model", metavar="NAME", help="Model for summaries.")]
EffortFlag = Annotated[Effort | None, typer.Option("--effort", help="How long the model may think.")]
PermissionMode = Annotated[
    Mode | None, typer.Option("--permission-mode", "--approval-mode", help="What may happen unasked.")
]
Yolo = Annotated[
    bool, typer.Option("-y", "--yolo", "--dangerously-skip-permissions", help="Ask nothing: --permission-mode yolo.")
]
Allowed = Annotated[
    list[str] | None, typer.Option("--allowed-tools", metavar="RULE,…", help='Unasked, e.g. "shell(git log:*)".')
]
Disallowed = Annotated[list[str] | None, typer.Option("--disallowed-tools", metavar="RULE,…", help="Never.")]
AddDirs = Annotated[
    list[Path] | None,
    typer.Option("--add-dir", exists=True, file_okay=False, help="A further folder to work in."),
]
Sandbox = Annotated[
    bool | None,
    typer.Option("--sandbox/--no-sandbox", help="Commands without network and local services, or without bounds."),
]
MaxTurns = Annotated[int | None, typer.Option("--max-turns", min=1, metavar="N", help="Model steps (200).")]
MaxBudget = Annotated[float | None, typer.Option("--max-budget-usd", min=0, metavar="X", help="Cap on money.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens-total", min=1, metavar="N", help="Cap on tokens.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0, metavar="SECONDS", help="Cap on time, with --print.")
]
SystemPrompt = Annotated[str | None, typer.Option("--system-prompt", metavar="TEXT", help="Instead of our own.")]
AppendPrompt = Annotated[str | None, typer.Option("--append-system-prompt", metavar="TEXT", help="Behind our own.")]
NoMask = Annotated[bool, typer.Option("--no-mask", help="Let the model see secrets in files and output.")]
SafeMode = Annotated[bool, typer.Option("--safe-mode", help="Read nothing of the project's configuration.")]
Provider = Annotated[
    str | None, typer.Option("--provider", metavar="NAME", help="Known or configured; `scripted` works offline.")
]
Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show tool calls with --print.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
