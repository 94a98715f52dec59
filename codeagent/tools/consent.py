"""A yes that no mode and no rule stands in for: asked in so many words, by the tools that change what is remembered."""

from __future__ import annotations

from codeagent.core.tools import ToolContext, ToolResult
from codeagent.core.ui import Choice, Question


async def refused(
    ctx: ToolContext, question: str, yes: str, content: str, *, alone: str, no: str, wary: bool = False
) -> ToolResult | None:
    """None when the person says yes to `question` about `content`, else what the model is told.

    Args:
        yes: the label of the yes.
        alone: why nothing was done when nobody is there to answer.
        no: what the person does not want, without the full stop.
        wary: the no comes first, so that Enter alone agrees to nothing.
    """
    if not ctx.ui.interactive:
        return ToolResult(alone, failed=True, denied=True, summary="denied")
    choices = (Choice("yes", yes), Choice("no", "No, and tell the model why", feedback=True))
    answer = await ctx.ui.ask(Question(question, choices[::-1] if wary else choices, content))
    if answer.key == "yes":
        return None
    return ToolResult(f"{no}{': ' + answer.text if answer.text else '.'}", failed=True, denied=True, summary="denied")
