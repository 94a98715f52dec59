"""Everything that can go wrong and is the user's to know: one sentence each, and where it helps a hint.

    CodeAgentError
    ├── UsageError            wrong flags or arguments                         (exit 2)
    │   └── ConfigError       settings that cannot be used
    │       └── NotConfigured no model, no endpoint
    ├── SessionError          a session file that cannot be opened
    │   ├── SessionNotFound   no or no unique session of that id
    │   ├── SessionBusy       another process holds it
    │   └── SessionTooNew     written by a newer version
    ├── StoreError            a memory or state file that cannot be read or written
    ├── ModelError            the endpoint said no, for good                   (exit 1)
    │   ├── AuthError         key refused
    │   ├── ModelNotFound
    │   ├── ContextOverflow   the request is longer than the window
    │   └── PassingError      worth a retry                                    (exit 75)
    │       ├── NetworkError, RateLimited, Overloaded, IncompleteReply
    │       └── Offline       a network error: no way there at all, and no use in asking again at once
    └── LimitReached          steps, tokens, money                             (exit 53)

What the model itself can mend is no error at all but a failed `ToolResult`. Sentences are templates with named
arguments, so that ui and cli can translate them: `SessionNotFound("No session starts with {prefix}.", prefix="x")`.
"""

from __future__ import annotations


class CodeAgentError(Exception):
    """One sentence for the user: what, where, what to do. `str()` gives it in English."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", **args: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.arguments = args

    def __str__(self) -> str:
        return self.message.format(**self.arguments) if self.arguments else self.message


class UsageError(CodeAgentError):
    exit_code = 2


class ConfigError(UsageError):
    pass


class NotConfigured(ConfigError):
    pass


class SessionError(CodeAgentError):
    pass


class SessionNotFound(SessionError):
    pass


class SessionBusy(SessionError):
    pass


class SessionTooNew(SessionError):
    pass


class StoreError(CodeAgentError):
    pass


class ModelError(CodeAgentError):
    pass


class AuthError(ModelError):
    pass


class ModelNotFound(ModelError):
    pass


class ContextOverflow(ModelError):
    pass


class PassingError(ModelError):
    """Worth a retry; `retry_after` seconds when the endpoint named a time."""

    exit_code = 75

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None, **args: object) -> None:
        super().__init__(message, hint=hint, **args)
        self.retry_after = retry_after


class NetworkError(PassingError):
    pass


class Offline(NetworkError):
    pass


class RateLimited(PassingError):
    pass


class Overloaded(PassingError):
    pass


class IncompleteReply(PassingError):
    """The stream ended before the reply was whole."""


class LimitReached(CodeAgentError):
    exit_code = 53
