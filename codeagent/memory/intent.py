"""Proof of intent: did the person ask, in the newest message as typed, that this be remembered?

A web page or a file that says "remember" is no such proof, nor is the model's own wish, nor a message that only speaks
of remembering. Where it is doubtful the answer is no: the price of that is one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from codeagent.memory.own_words import own_words

Words = Callable[[str], Sequence[str]]

_POLITE = (
    r"^[\s*#(.…-]*(?:(?:and|also|then|so|but|ok(?:ay)?|oh|btw|by the way|hey|hi|hello|now|please|pls|kindly|just|first|"
    r"next|finally|yes|well|thanks|can you|could you|will you|would you|you (?:should|must|need to|have to)|"
    r"i(?:[’']d| would)? (?:like|want|need) you to|make sure (?:to|you)|be sure to)\b[\s,]*)*"
)
"""What may stand in front of a request in its clause."""
_ENGLISH = re.compile(
    _POLITE + r"(?:"
    r"remember(?:\s*:|\b(?! (?:me|to|when|how|what|where|why|if|whether)\b)"
    r"|(?= to\b.*\b(?:always|never|every|whenever)\b))"
    r"|memori[sz]e\b|(?:keep|bear) (?:this |that |it )?in mind\b(?! to\b)"
    r"|(?:from now on|going forward)\b(?!,? (?:it|its|this|that|there|he|she|they|the|an?|does|means?)\b)"
    r"|note (?:that|this|down|it|to self)\b|note:|(?:take|make) (?:a )?note\b|jot (?:this |that |it )?down\b"
    r"|(?:do not|don[’']?t|never) forget\b(?! (?:to|me|about)\b)"
    r"|(?:save|store|record|keep) (?:this|that|the following|my|a)(?: \w+)? (?:fact|preference|rule|memory)\b"
    r"|(?:save|store|add|put|commit)(?: (?:this|that|it|these|the following|my [\w ]{1,30}?))? (?:to|in|into) "
    r"(?:your |the )?(?:long[- ]term )?memory\b"
    r")"
    r"|\band (?:please |also )?remember (?:that\b|this\b|(?:the|my|our|i|we)\b.*\b(?:is|are|am|was|has|have|uses?|"
    r"needs?|prefers?|likes?|must|should|runs?)\b)"
    r"|^(?!\W*(?:it|its|it[’']s|this|that|there|he|she|they|the|an?|what|how|why|when|where|which|who|if|is|are|does|do|"
    r"did|will|should|can)\b).+\b(?:from now on|going forward)\W*$",
    re.I,
)
_ASKS_US = re.compile(r"^\W*(?:\w+[,\s]+){0,2}?(?:can|could|will|would) you\b", re.I)
_CHINESE_POLITE = (
    r"^[\s*#(（.…-]*(?:(?:请|請|麻烦|麻煩|帮我|幫我|帮忙|幫忙|给我|給我|替我|你|您|一定要?|务必|務必|要|得|需要|先|也|再|"
    r"还|還|并且?|並且?|然后|然後|顺便|順便|另外|对了|好的?|嗯|那|这个|這個|这点|這點|这件事|这条|都|就|可以|能不能|能否|"
    r"能|可不可以|我要你|我想让你|我希望你|希望你|ok)[\s,]*)*"
)
_VERB = r"[记記](?:住|下来|下來|下|一下|好|牢|着|個|个|条|條|一笔|一条|[:：])"
_CHINESE = re.compile(
    _CHINESE_POLITE + r"(?:" + _VERB + r"|(?<=[我你请請要])[记記](?![录錄忆憶者号號事本载載叙敘性账賬帐帳分法得])"
    r"|(?:以后|以後|往后|往後|今后|今後|每次|永远|一直)(?:都|也)?(?:要|请|請)?[记記]得"
    r"|(?:别|別|不要|勿)忘"
    r"|(?:今后|今後|从现在(?:起|开始)|從現在(?:起|開始)|从今(?:以后|往后|天起))(?!.{0,2}(?:它|他|她|会|會|返回|这|這|那))"
    r"|(?:以后|以後|往后|往後)(?:都|请|請|要|不要|别|別|不能|不许|一律|一定|务必|只|用|就|凡是|遇到|再)"
    r"|(?:把.{1,30}?)?(?:保存|存|写|寫|加|添加|放|[记記])(?:到|入|进|進|在)(?:你的?|长期|長期)*(?:记忆|記憶)(?!模|体|體|库|庫|化|文件)"
    r"|把.{1,30}(?:[记記](?:下来|下來|一下)|存(?:下来|起来))"
    r"|(?:保存|存)(?:一下|下来|起来)?[:：]"
    r")"
    r"|(?:帮我|幫我|请|請|麻烦你?|给我|替我)(?:也|再|先)?" + _VERB
)
_CHINESE_ABOUT = re.compile(
    r"[让讓使]|怎么|怎麼|怎样|如何|取消|改成|改为|功能|按钮|按鈕|选项|選項|勾选|[记記](?:不|得不|错|錯)"
)
_CHINESE_ASKS = re.compile(r"[吗嗎?？]|(?<!为)(?<!為)什[么麼]|哪")
_ASKS_US_CHINESE = re.compile(r"^\W*(?:你)?(?:能|可以|可不可以|麻烦|麻煩)(?!.*(?<!为)什[么麼])")
_ENGLISH_COMMON = """
a an and are as at be but by can could do don for from has have i if in into is it its let me my not now of on or our
please so that the them then there these they this those to us use user using want wants was we when which will with
you your always never only must should would remember note memory forget keep mind save store fact going forward down
all any
"""
_CHINESE_COMMON = """
的 了 是 在 我 你 他 她 它 们 我们 你们 他们 这 那 这个 那个 这是 有 和 与 跟 也 都 就 要 会 能 请 把 被 对
为 从 到 给 用 使用 不 不要 不用 没 没有 别 再 很 上 下 里 中 个 一个 一下 一 以后 今后 现在 之后 以及 记 记住
记得 记下 记一下 帮 帮我 帮忙 用户 记忆 忘 忘记 忘了 喜欢 希望 需要 应该 必须 只 只能 吧 啊 呢 吗 得 着 过 让 叫 说
好 什么 一直 总是 永远 今天 起 开始 位于 先 前 后
"""
_COMMON = frozenset((_ENGLISH_COMMON + _CHINESE_COMMON).split())
"""Words that prove nothing when message and fact share them."""
_PARTICULAR = re.compile(r"[\w.-]*\d[\w.-]*|(?<=[\w,:;] )[A-Z]\w+|\w+_\w+", re.A)
"""Numbers and names: a fact that has others than the message is another fact."""


def intends(said: str, content: str, words: Words) -> bool:
    """Whether `said`, a message as typed, asks to remember something, and the fact `content` says no more than it.

    That is so when a third of the fact's content words, and all its numbers and names, stand in the person's own words
    there. `words` cuts text into lower-cased words; it is not called where nothing is asked.
    """
    said = own_words(said, _asks_somewhere)
    if not _asks_somewhere(said):
        return False
    whole = said.lower()
    if any(part.strip(".-").lower() not in whole for part in _PARTICULAR.findall(content)):
        return False
    known, wanted = _content_words(words(said)), _content_words(words(content))
    shared = sum(_covered(word, known, whole) for word in wanted)
    # One word in common is not enough for a long fact: a file read meanwhile may speak of the same matter.
    return shared > 0 and 3 * shared >= len(wanted)


def asks_to_remember(said: str) -> bool:
    """Whether the person's own words ask to remember something: not denied, not asked about, not told of others."""
    return _asks_somewhere(own_words(said, _asks_somewhere))


def _asks_somewhere(text: str) -> bool:
    return any(_asks(clause) for clause in _clauses(text))


def _asks(clause: str) -> bool:
    if _ENGLISH.search(clause) and (not clause.rstrip().endswith(("?", "？")) or _ASKS_US.search(clause)):
        return True
    if not _CHINESE.search(clause) or _CHINESE_ABOUT.search(clause):
        return False
    return not _CHINESE_ASKS.search(clause) or _ASKS_US_CHINESE.search(clause) is not None


def _clauses(text: str) -> Iterable[str]:
    """Pieces in which a denial counts: "don't remember that; from now on ..." asks in its second half."""
    parts = re.split(r"(?<=[.!?])\s+|(?<=[。！？?])|[\n;；，,]", text)
    return (clause for clause in parts if clause and not clause.isspace())


def _covered(word: str, known: set[str], whole: str) -> bool:
    """Whether the message holds `word`, in whatever form: deploy and deployment, 数据 in 数据库."""
    if word in known or (not word.isascii() and word in whole):
        return True
    return len(word) > 3 and any(
        len(other) > 3 and (word.startswith(other) or other.startswith(word)) for other in known
    )


def _content_words(words: Iterable[str]) -> set[str]:
    """Words that say something, English plurals and their singular taken as one."""
    return {
        word[:-1] if len(word) > 3 and word.isascii() and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _COMMON and any(char.isalnum() for char in word)
    }
