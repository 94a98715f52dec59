"""The toolbox: from a call as the model wrote it to a bounded result. It never raises but for a cancellation."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from dataclasses import replace

from codeagent.core.display import visible
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import ToolCall, encode_json, scrub
from codeagent.core.plugins import discover
from codeagent.core.ports import Checkpoints, Permission
from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.tools import bounds, builtin
from codeagent.tools.arguments import validated
from codeagent.tools.base import ToolFault, schema, terse_schema
from codeagent.tools.checks import Checks
from codeagent.tools.touched import touched


def builtin_tools() -> list[Tool]:
    """Every tool found in `builtin/`."""
    return list(discover(builtin, "TOOL").values())


class Toolbox:
    """The tools of a session and the permission they need. The list is fixed: it is part of the cached prefix."""

    def __init__(
        self,
        tools: Iterable[Tool],
        permission: Permission,
        checks: Checks | None = None,
        checkpoints: Checkpoints | None = None,
        *,
        terse: bool = False,
    ) -> None:
        """`checks` look at what tools change, `checkpoints` save what was there before; `terse` describes the tools in
        few words."""
        ordered = sorted(tools, key=lambda tool: (tool.order, tool.name))
        self._tools = {tool.name: tool for tool in ordered}
        self._permission = permission
        self._checks = checks
        self._checkpoints = checkpoints
        describe = terse_schema if terse else schema
        self._schemas = encode_json([describe(tool) for tool in ordered])

    @property
    def schemas(self) -> bytes:
        """JSON array of all tools in chat-completions form."""
        return self._schemas

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def without(self, *names: str) -> Toolbox:
        """The same but for some tools."""
        return self.beside((tool for tool in self._tools.values() if tool.name not in names), self._permission)

    def terse(self, names: Collection[str]) -> Toolbox:
        """Those of the tools that are named, described in few words."""
        tools = (tool for tool in self._tools.values() if tool.name in names)
        return Toolbox(tools, self._permission, self._checks, self._checkpoints, terse=True)

    def beside(self, tools: Iterable[Tool], permission: Permission) -> Toolbox:
        """Other tools and another permission under the same checks and checkpoints."""
        return Toolbox(tools, permission, self._checks, self._checkpoints)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def parallel(self, call: ToolCall) -> bool:
        """Whether the call may run beside others."""
        tool = self._tools.get(call.name)
        return tool is None or tool.kind in ("read", "web")

    def title(self, call: ToolCall) -> str:
        """One harmless line for the person; the bare name while the arguments do not fit."""
        tool = self._tools.get(call.name)
        try:
            title = tool.title(validated(tool, call)) if tool else call.name
        except ToolFault:
            title = call.name
        return " ".join(visible(title).split())

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """The result of `call`; whatever goes wrong is a failed one that says what to do.

        Cancelled, a tool that has something to tell by then ends with that, and the cancellation goes no further.
        """
        try:
            return await self._run(call, ctx if ctx.call_id == call.id else replace(ctx, call_id=call.id))
        except ToolFault as fault:
            return ToolResult(str(fault), failed=True, summary=fault.summary)
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            return ToolResult(f"{error.strerror or error}{where}", failed=True, summary="failed")
        except CodeAgentError as error:
            return ToolResult(str(error), failed=True, summary="failed")
        except Exception as error:  # a fault in a tool is not the end of the session
            return ToolResult(f"{call.name} broke: {type(error).__name__}: {error}", failed=True, summary="broke")

    async def _run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        tool = self._tools.get(call.name)
        if tool is None:
            raise ToolFault(self._unknown(call.name), "no such tool")
        params = validated(tool, call)
        about: tuple[str, ...] = ()
        action = None
        if tool.action is not None:
            action = replace(await tool.action(params, ctx), written=call.written)
            verdict = await self._permission.check(action)
            if not verdict.allowed:
                about = touched(action) if action.kind == "edit" else ()
                return ToolResult(verdict.reason or "Denied.", failed=True, denied=True, summary="denied", about=about)
            about = touched(action)
        async with self._checkpoints.around(action) if self._checkpoints and action else nullcontext():
            result = await tool.run(params, ctx)
        if result.denied and action is not None:
            self._permission.refused(action, result.text)
        faults = await self._checks.look(result.display, ctx) if self._checks and not result.failed else []
        text = scrub("\n".join((result.text, *faults)))  # names of files may hold what no request may carry
        bounded = bounds.bound(text, ctx.room + bounds.NOTES, ctx.archive, call.id)
        if bounded.partial:
            result = replace(result, partial=True, archive=result.archive or bounded.archive)
        return replace(result, text=bounded.text, about=about)

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._tools, n=3, cutoff=0.4)
        return f"There is no tool {name!r}. " + (
            f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(self._tools)}."
        )
