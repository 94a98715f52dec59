"""Is there a secret in this text? A small rule set: a fact travels to a model with every request that recalls it."""

from __future__ import annotations

import re

from codeagent.text.patterns import late

TOKENS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("a private key", ("PRIVATE KEY",), late(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----")),
    (
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        late(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ),
    ("a GitLab token", ("glpat-",), late(r"\bglpat-[A-Za-z0-9_-]{16,}")),
    ("a Slack token", ("xox",), late(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("an AWS access key", ("AKIA", "ASIA"), late(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a Google API key", ("AIza",), late(r"\bAIza[A-Za-z0-9_-]{35}")),
    (
        "a web token",
        ("eyJ",),
        late(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ),
    ("an API key", ("sk-",), late(r"\bsk-(?=[A-Za-z_-]{0,100}\d)[A-Za-z0-9_-]{20,}")),
    ("an API key", ("sk_", "rk_"), late(r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("a Hugging Face token", ("hf_",), late(r"\bhf_[A-Za-z0-9]{24,}")),
    ("an npm token", ("npm_",), late(r"\bnpm_[A-Za-z0-9]{24,}")),
    ("a PyPI token", ("pypi-",), late(r"\bpypi-[A-Za-z0-9_-]{32,}")),
    ("a SendGrid key", ("SG.",), late(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    (
        "an AWS secret key",
        ("AWS", "aws", "ecret", "SECRET"),
        late(
            r"(?<![A-Za-z0-9/+=])(?=\S{0,40}[A-Z])(?=\S{0,40}[a-z])(?=\S{0,40}\d)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=.-])"
        ),
    ),
    (
        "a bearer token",
        ("earer", "EARER"),
        late(r"\bBearer\s+(?=[A-Za-z._~+/-]{0,100}\d)[A-Za-z0-9._~+/-]{20,}", re.I),
    ),
)
"""(kind, one of these is in every text that holds such a token, how it looks)."""
_KEY_BLOCK = late(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.S)
LOGIN = late(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s/:@]*:(?P<value>[^\s/@]+)@[\w.-]", re.I)
_NAMED = late(
    r"(?<![A-Za-z])(?:pass(?:word|wd|phrase)?|pwd|secret(?:[_ -]?(?:access[_ -]?)?key)?|"
    r"(?:api|access|auth|private)[_ -]?(?:key|token)|token)(?![A-Za-z])[\"']?\s*"
    r"(?P<sign>==?|:=|[:：]|\bis\b\s*[:：]?|[是为]\s*[:：]?)\s*[\"'“]?(?P<value>[^\s\"'”，。；,;]+)"
    r"|(?:密码|密碼|口令|密钥|密鑰|令牌)\s*(?P<sign2>==?|[:：]|[是为為]\s*[:：]?)\s*[\"'“「]?(?P<value2>[^\s\"'”」，。；,;]+)"
    r"|(?:(?<![A-Za-z])pass(?:word|wd|phrase)|密码|密碼|口令|密钥|密鑰|令牌)[ \t]+[\"'“「]?"
    r"(?P<value3>[^\s\"'”」，。；,;:：=]{8,})(?![^\s\"'”」，。；,;])",
    re.I,
)
_WORDS_JOINED = late(r"[A-Za-z]{2,}(?:[-_.][A-Za-z]{2,}){2,}")
_LITTLE_WORDS = late(r"[-_.](?:to|the|of|in|and|on|by|per|not|for|as|is|at|md|txt|com|org|py)(?:[-_.]|$)", re.I)
"""What stands in words of prose that are joined ("state-of-the-art"), and in names of files and hosts."""
MASK = "[secret]"
STAND_IN = late(
    r"[<\[{(*$%].*|.*\$\{.*|(?:x{3,}|\.{3,}|…+|_+|-+)|os\.environ.*|(?:process\.)?env\b.*|"
    r"(?:none|null|nil|true|false|required|optional|empty|unset|changeme|secret|password|token|str|string|int|bytes)\b.*",
    re.I | re.S,
)
_LIKE_A_SECRET = late(r"(?=.*[A-Za-z])(?=.*[\d!@#$%^&*?~])[\x21-\x7e]{6,}")


def find_secret(text: str) -> str | None:
    """What kind of secret `text` seems to hold ("a GitHub token"); None when none is seen."""
    for kind, hints, pattern in TOKENS:
        if any(hint in text for hint in hints) and pattern.search(text):
            return kind
    if any(not STAND_IN.fullmatch(found["value"]) for found in LOGIN.finditer(text)):
        return "a password in an address"
    if any(_gives_away(found) for found in _NAMED.finditer(text)):
        return "a password or key"
    return None


def mask_secrets(text: str) -> str:
    """`text` with a mark in the place of everything that makes `find_secret` see a secret in it."""
    for _, hints, pattern in TOKENS:
        if any(hint in text for hint in hints):
            text = _KEY_BLOCK.sub(MASK, text) if hints == ("PRIVATE KEY",) else pattern.sub(MASK, text)
    if "://" in text:
        text = LOGIN.sub(lambda found: _masked(found, not STAND_IN.fullmatch(found["value"])), text)
    return _NAMED.sub(lambda found: _masked(found, _gives_away(found)), text)


def _masked(found: re.Match[str], secret: bool) -> str:
    if not secret:
        return found[0]
    group = next(name for name in ("value", "value2", "value3") if found[name] is not None)
    start, end = (at - found.start() for at in found.span(group))
    return found[0][:start] + MASK + found[0][end:]


def _gives_away(found: re.Match[str]) -> bool:
    """`password=x` gives any value away; "the token is x" only what looks like one: prose follows these words too."""
    value, sign = found["value"] or found["value2"] or found["value3"], found["sign"] or found["sign2"]
    if STAND_IN.fullmatch(value) or (value.isdigit() and "token" in found[0].lower()):
        return False
    if sign == "=" and len(value) >= 4 and "(" not in value:
        return True
    if (
        len(sign or "") > 1 and sign.endswith((":", "：")) and len(value) >= 4 and "(" not in value
    ):  # "is: x" hands x over
        return True
    value = value.rstrip(".!?")
    if "pass" in found[0][:12].lower() and len(value) >= 12 and _WORDS_JOINED.fullmatch(value):
        return not _LITTLE_WORDS.search(value)
    if sign is None and sum(map(str.isdigit, value)) < 2:
        return False
    return _LIKE_A_SECRET.fullmatch(value) is not None and "(" not in value and "/" not in value
