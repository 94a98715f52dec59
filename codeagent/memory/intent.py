"""Proof of intent: did the person ask, in the newest message as typed, that this be remembered?

A web page or a file that says "remember" is no such proof, nor is the model's own wish.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

Words = Callable[[str], Sequence[str]]

_ENGLISH = re.compile(
    r"\b(?:please )?remember\b|\bmemori[sz]e\b|\b(?:keep|bear) in mind\b|\bfrom now on\b|\bgoing forward\b"
    r"|\bnote (?:that|this|down|it|to self)\b|\bnote:|\b(?:take|make) (?:a )?note\b|\bjot (?:this |that |it )?down\b"
    r"|\b(?:do not|don[’']?t|never) forget\b"
    r"|\b(?:save|store|add|put|commit) .{0,60}?\b(?:to|in|into) (?:\w+[ -]){0,3}memory\b",
    re.I,
)
_NOT_ENGLISH = re.compile(
    r"\b(?:do(?:es)? (?:you|i|we|they|he|she)|did (?:you|i|we)|can(?:not|[’']?t)|"
    r"(?:could|will|would)(?:n[’']?t| not) (?:you )?|"
    r"can (?:i|we)|(?:do|did|need|does|should|must)(?:n[’']?t| not)|do not (?:need|have) to|never|no need to|"
    r"(?<!you )(?:i|we|as i|if i) (?:still |also |vaguely |now |correctly )?)\s*(?:to )?remember\b"
    r"|\b(?:do not|don[’']?t|never|no need to) (?:memori[sz]e|note|save|store|add|put|keep)\b"
    r"|\bremember (?:me )?(?:when|how we|what|where|why)\b.*\?",
    re.I,
)
_CHINESE = re.compile(
    r"(?<![标標登日笔筆切书書传傳速游遊手忘杂雜惦])[记記](?![录錄忆憶者号號事本载載叙敘性账賬帐帳分法])"
    r"|别忘|別忘|不要忘|勿忘|今后|今後|从现在(?:起|开始)|從現在(?:起|開始)|从今(?:以后|往后|天起)"
    r"|(?:以后|以後|往后|往後)(?:都|请|請|要|不要|别|別|不能|不许|一律|一定|务必|只|用|就|凡是|遇到|再)"
)
_NOT_CHINESE = re.compile(
    r"(?:不要|不用|不必|不需要|无需|無需|没有|没|沒|别|別|勿|不)(?:再|去|帮我|把.{0,20}?)?[记記](?!错|錯)"
    r"|(?:还|還|是否|你)[记記]得.*(?:吗|嗎|么|？|\?|什么|哪)|[记記](?:不|得不|错|錯)"
)
_ENGLISH_COMMON = """
a an and are as at be but by can do does don for from has have i if in into is it its let me my not now of on or our
please so that the them then there these they this to us use user using want was we when which will with you your always
never only must should remember note memory forget keep mind save going forward down all any
"""
_CHINESE_COMMON = """
的 了 是 在 我 你 他 她 它 们 我们 你们 他们 这 那 这个 那个 这是 有 和 与 跟 也 都 就 要 会 能 请 把 被 对
为 从 到 给 用 使用 不 不要 不用 没 没有 别 再 很 上 下 里 中 个 一个 一下 一 以后 今后 现在 之后 以及 记 记住
记得 记下 记一下 帮 帮我 帮忙 用户 记忆 忘 忘记 忘了 喜欢 需要 应该 必须 只 只能 吧 啊 呢 吗 得 着 过 让 叫 说
好 什么 一直 总是 永远 今天 起 开始
"""
_COMMON = frozenset((_ENGLISH_COMMON + _CHINESE_COMMON).split())
"""Words that prove nothing when message and fact share them."""


def intends(said: str, content: str, words: Words) -> bool:
    """Whether `said`, a message as typed, holds a word of intent and shares a content word with the fact `content`.

    `words` cuts text into lower-cased words; it is not called where there is no word of intent.
    """
    return asks_to_remember(said) and not _content_words(words(said)).isdisjoint(_content_words(words(content)))


def asks_to_remember(said: str) -> bool:
    """Whether `said` holds a word of intent that is neither denied nor asked about."""
    return any(
        (_ENGLISH.search(part) and not _NOT_ENGLISH.search(part))
        or (_CHINESE.search(part) and not _NOT_CHINESE.search(part))
        for part in _clauses(said)
    )


def _clauses(text: str) -> Iterable[str]:
    """Pieces in which a denial counts: "don't remember that; from now on ..." asks in its second half."""
    return re.split(r"(?<=[.!?])\s+|(?<=[。！？?])|[\n;；，,]", text)


def _content_words(words: Iterable[str]) -> set[str]:
    """Words that say something, English plurals and their singular taken as one."""
    return {
        word[:-1] if len(word) > 3 and word.isascii() and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _COMMON and any(char.isalnum() for char in word)
    }
