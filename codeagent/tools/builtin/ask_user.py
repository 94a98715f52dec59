"""ask_user: a decision that only the person can take."""

from __future__ import annotations

from pydantic import BaseModel, Field

from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.core.ui import Choice, Question
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import begun

_OTHER = "other"


class Params(BaseModel):
    question: str = Field(max_length=2_000)
    options: list[str] = Field([], max_length=8)


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Ask the user what only they can answer and what changes what you do next, with two to five short options where
    you can. Never ask what you can find out.
    """
    question = params.question.strip()
    if not question:
        raise ToolFault("question is empty.", "empty")
    if not ctx.ui.interactive:
        told = "Nobody is there to answer. Decide yourself, and say in your answer what you assumed."
        return ToolResult(told, failed=True, denied=True, summary="denied")
    options = [option for given in params.options if (option := " ".join(given.split()))]
    own = Choice(_OTHER, "Something else, in my own words" if options else "Answer in my own words", feedback=True)
    choices = (*(Choice(str(number), option) for number, option in enumerate(options)), own)
    answer = await ctx.ui.ask(Question(question, choices))
    said = answer.text.strip() if answer.key == _OTHER else options[int(answer.key)] if answer.key else ""
    if not said:
        told = "The user gave no answer. Go on without it if you can, and say what you assumed; otherwise stop."
        return ToolResult(told, failed=True, denied=True, summary="no answer")
    return ToolResult(f"The user answered: {said}", summary=said, display=said if answer.key == _OTHER else None)


def title(params: Params) -> str:
    return f"Ask: {begun(params.question)}"


TOOL = Tool("ask_user", "ask", Params, run, title, order=95)
