"""What an endpoint taught: how the profile of one model there differs from the one it began with, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from codeagent.core.ports import Endpoint
from codeagent.llm.profiles import Profile, profile_for

_FLAG = (True, False)
_TAUGHT: Mapping[str, tuple[object, ...]] = {
    "limit": ("max_tokens", "max_completion_tokens", None),
    "ids": ("any", "short", "nine"),
    "thoughts": ("kept", "always", "never"),
    **dict.fromkeys(("usage", "vision", "alternate", "system", "opened", "bare_calls"), _FLAG),
    **dict.fromkeys(("plain_schemas", "plain_names", "nulls"), _FLAG),
}
"""The fields that can be taught, and what they may be."""


def profile_of(endpoint: Endpoint) -> Profile:
    """The profile of the endpoint's model, with what was learnt of it before."""
    profile = profile_for(endpoint.base_url, endpoint.model)
    return taught(profile, endpoint.lessons.of(endpoint.place)) if endpoint.lessons else profile


def taught(profile: Profile, lessons: Mapping[str, Any]) -> Profile:
    """`profile` with the lessons that can be read; others are passed over, the file may be anybody's."""
    changes: dict[str, Any] = {
        name: lessons[name]
        for name, allowed in _TAUGHT.items()
        if name in lessons and any(lessons[name] is one or lessons[name] == one for one in allowed)
    }
    if lessons.get("efforts") is False:
        changes["efforts"] = {}
    if isinstance(dropped := lessons.get("dropped"), list):
        changes["dropped"] = tuple(name for name in dropped if isinstance(name, str))
    return replace(profile, **changes)


def lessons(endpoint: Endpoint, profile: Profile) -> dict[str, Any]:
    """How `profile` differs from the one that the endpoint's model begins with."""
    begun = profile_for(endpoint.base_url, endpoint.model)
    found = {name: getattr(profile, name) for name in _TAUGHT if getattr(profile, name) != getattr(begun, name)}
    if profile.dropped:
        found["dropped"] = list(profile.dropped)
    return {**found, "efforts": False} if begun.efforts and not profile.efforts else found
