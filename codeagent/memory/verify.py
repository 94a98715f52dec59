"""What a summary must not lose, worked out by code from what the person typed, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONG = 4_000
"""Characters of a message up to which it is taken for the person's own words from end to end."""
_AROUND = 1_000
"""Characters at either end of a longer one that may be sentences around a paste."""
_BETWEEN = 12
"""So many rules are taken from inside of a paste."""
_SENTENCE = 400
"""Characters of one sentence; what is longer is no rule but a paragraph, and is cut."""

_ENDS = re.compile(r"(?<=[。！？!?；;])|(?<=[.])(?=\s)|\n")
_RULE = re.compile(
    r"\b(?:must(?:n't)?|never|only|always|do(?:es)? not|don't|cannot|can't|shall|should(?:n't)?|may not|no more than"
    r"|at (?:least|most)|exactly|avoid|forbid(?:den)?|required?|ensure|make sure|remember|from now on|without|keep"
    r"|instead of|prefer|not allowed|stay(?:s)? (?:as|at|under|within))\b"
    r"|必须|不要|禁止|只能|只用|只准|只许|只在|只有|记住|记得|务必|不得|不能|不许|不可|不准|不允许|一律|始终|总是|永远|千万|严禁|切勿|请勿|勿"
    r"|别[^的人处]|应当|应该|保持|统一|不超过|至少|至多|最多|以后|仅|确保|优先|避免",
    re.I,
)
_ASSENT = re.compile(
    r"\s*(?:好(?:的|啊|吧|了)?|可以|行|就这样(?:吧)?|就这么(?:办|定)(?:了)?|同意|没问题|没意见|对(?:的)?|是的|嗯+|赞成|确认|批准|照办"
    r"|yes|yeah|yep|yup|ok(?:ay)?|sure|go ahead|sounds good|looks good|do it|do that|agreed|fine|great|perfect|lgtm"
    r"|approved|please do|that works)(?=$|[\s,.!;:，。！；：、~～])",
    re.I,
)
_VALUE = re.compile(
    r"https?://[^\s<>\"'）)\]，。]+"
    r"|`[^`\n]{1,120}`|\"[^\"\n]{2,120}\"|“[^”\n]{2,120}”|「[^」\n]{1,120}」"
    r"|(?<![\w/.])[\w.-]*(?:/[\w.@-]+)+/?"
    r"|\b[A-Za-z]\w*(?:[._]\w+)+\b|\b[a-z]+(?:[A-Z]\w*)+\b|\b[A-Z]{2,}[A-Z0-9_-]*\b"
    r"|(?<![\w.])\d[\d.,:]*(?:\s?(?:%|ms|s|min|h|kB|MB|GB|px|k))?(?![\w])"
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text`, marks of lists and blanks around them taken off."""
    for piece in _ENDS.split(text):
        if piece and (found := piece.strip().lstrip("-*•·#>").strip()):
            yield found


def rules(text: str) -> list[str]:
    """Sentences that lay something down: must, never, only, 必须, 不要, 只能 and their like."""
    found = (one[:_SENTENCE] for one in sentences(text) if _RULE.search(one))
    return list(dict.fromkeys(found))


def assents(text: str) -> bool:
    """Whether a message begins by agreeing: yes, go ahead, 好, 就这样."""
    return _ASSENT.match(text) is not None


def values(text: str) -> list[str]:
    """Addresses, quoted strings, paths, identifiers and numbers in `text`."""
    return list(dict.fromkeys(found[0].rstrip(".,:") for found in _VALUE.finditer(text)))


def without_pastes(text: str, id: str) -> str:
    """`text` with the middle of what is too long to have been typed left out.

    What stands at either end stays, and so does every rule in between; `id` is that of the message, which recall gives
    whole.
    """
    if len(text) <= LONG:
        return text
    start = text.rfind("\n", _AROUND // 2, _AROUND) + 1 or _AROUND
    end = text.find("\n", len(text) - _AROUND, len(text) - _AROUND // 2) + 1 or len(text) - _AROUND
    middle = text[start:end]
    note = f'[... {len(middle):,} characters pasted here are left out; recall(id="{id}") gives them whole ...]'
    return "\n".join([text[:start].rstrip("\n"), *rules(middle)[:_BETWEEN], note, text[end:]])


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """Those of `wanted` that `text` does not hold, blanks and case aside."""
    held = _plain(text)
    return [one for one in dict.fromkeys(wanted) if _plain(one) not in held]


def _plain(text: str) -> str:
    return re.sub(r"[\s`*\"“”]+", "", text).casefold()
