"""What tables of settings are made of: lists and switches as files and the environment give them."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from codeagent.options import split_list


def as_list(value: Any) -> Any:
    """Lists come from the environment as JSON or separated by commas."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.lstrip().startswith("[") else list(split_list(value))


_SWITCH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


def switch_or_commands(value: Any) -> Any:
    """From the environment a switch comes as a word, a table as JSON."""
    if isinstance(value, str):
        value = json.loads(value) if value.lstrip().startswith("{") else _SWITCH.get(value.strip().lower())
    if isinstance(value, bool) or (isinstance(value, dict) and all(isinstance(line, str) for line in value.values())):
        return value
    raise ValueError("it must be true, false, or a table of glob to command line")


Strings = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
