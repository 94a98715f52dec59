"""Proof of intent: did the person ask, in the newest message as typed, that this be remembered?

A web page or a file that says "remember" is no such proof, nor is the model's own wish, nor a message that only speaks
of remembering. Where it is doubtful the answer is no: the price of that is one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from codeagent.memory.own_words import own_words
from codeagent.memory.pastes import LONG
from codeagent.text.patterns import late

Words = Callable[[str], Sequence[str]]

_POLITE = (
    r"^[\s*#(.…-]*(?:(?:and|also|then|so|but|ok(?:ay)?|oh|btw|by the way|hey|hi|hello|now|please|pls|kindly|just|first|"
    r"next|finally|yes|well|thanks|can you|could you|will you|would you|you (?:should|must|need to|have to)|"
    r"i(?:[’']d| would)? (?:like|want|need) you to|make sure (?:to|you)|be sure to)\b[\s,]*)*"
)
"""What may stand in front of a request in its clause."""
_ENGLISH = late(
    _POLITE + r"(?:"
    r"remember(?:\s*:|\b(?! (?:me|to|when|how|what(?! (?:i|we)\b)|where|why|if|whether)\b)"
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
_ASKS_US = late(r"^\W*(?:\w+[,\s]+){0,2}?(?:can|could|will|would) you\b", re.I)
_CHINESE_POLITE = (
    r"^[\s*#(（.…-]*(?:(?:请|請|麻烦|麻煩|帮我|幫我|帮忙|幫忙|给我|給我|替我|你|您|一定要?|务必|務必|要|得|需要|先|也|再|"
    r"还|還|并且?|並且?|然后|然後|顺便|順便|另外|对了|好的?|嗯|那|这个|這個|这点|這點|这件事|这条|都|就|可以|能不能|能否|"
    r"能|可不可以|我要你|我想让你|我希望你|希望你|ok)[\s,]*)*"
)
_VERB = r"[记記](?:住|下来|下來|下|一下|好|牢|着|個|个|条|條|一笔|一条|[:：])"
_CHINESE = late(
    _CHINESE_POLITE + r"(?:" + _VERB + r"|(?<=[我你请請要])[记記](?![录錄忆憶者号號事本载載叙敘性账賬帐帳分法得])"
    r"|(?:以后|以後|往后|往後|今后|今後|每次|永远|一直)(?:都|也)?(?:要|请|請)?[记記]得"
    r"|(?:别|別|不要|勿)忘"
    r"|(?:今后|今後|从现在(?:起|开始)|從現在(?:起|開始)|从今(?:以后|往后|天起))(?!.{0,2}(?:它|他|她|会|會|返回|这|這|那))"
    r"|(?:以后|以後|往后|往後)(?:都|请|請|要|不要|别|別|不能|不许|一律|一定|务必|只|用|就|凡是|遇到|再)"
    r"|(?:把.{1,30}?)?(?:保存|存|写|寫|加|添加|放|[记記])(?:到|入|进|進|在)(?:你的?|长期|長期)*(?:记忆|記憶)(?!模|体|體|库|庫|化|文件)"
    r"|把.{1,30}(?:[记記](?:下来|下來|一下|住)|存(?:下来|起来))"
    r"|(?:保存|存)(?:一下|下来|起来)?[:：]"
    r")"
    r"|(?:帮我|幫我|请|請|麻烦你?|给我|替我)(?:也|再|先)?" + _VERB
)
_CHINESE_ABOUT = late(
    r"[让讓使]|怎么|怎麼|怎样|如何|取消|改成|改为|功能|按钮|按鈕|选项|選項|勾选|[记記](?:不|得不|错|錯)"
)
_CHINESE_ASKS = late(r"[吗嗎?？]|(?<!为)(?<!為)什[么麼]|哪")
_SENTENCES = late(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_QUESTION = late(rf"[?？]\W*$|{_CHINESE_ASKS.pattern}")
_ASKS_US_CHINESE = late(r"^\W*(?:你)?(?:能|可以|可不可以|麻烦|麻煩)(?!.*(?<!为)什[么麼])")
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
_TRADE_WORDS = """
test code file folder directory project repo repository function method class run running call need work change fix
make add error bug data line name value command script build tool program app server service version
测试 代码 文件 目录 项目 函数 方法 类 运行 调用 修改 修复 错误 数据 名字 命令 脚本 构建 工具 程序 服务 服务器 版本 接口
測試 代碼 程式 專案 檔案
"""
_TRADE = frozenset(_TRADE_WORDS.split())
"""Words that a fact about anything here may hold: one of them alone is chance."""
_PARTICULAR = late(r"[\w.-]*\d[\w.-]*|[\w./-]*\w\.[a-z]\w{1,4}\b|(?<=[\w,:;] )[A-Z]\w+|\w+_\w+", re.A)
"""Numbers, names and files: a fact that has others than the message is another fact."""
_POINTING_WORDS = """
rule fact thing things point preference decision told said mentioned wrote what just earlier above before later next
time last previous message sentence sure too also again long term
一点 点 这些 那些 这点 这件 事 事情 刚才 刚刚 上面 前面 之前 以上 上述 内容 记下来 記下來 記住 记忆里 存 保存 话 話 句
说 說 说过 提到 告诉 约定 规则 规矩 信息 偏好 決定 决定 来 按 下来 消息 那条 这条 条 長期 长期
"""
_POINTING = frozenset(_POINTING_WORDS.split())
"""Content words of a request that only points at what was said before."""


def intends(said: str, content: str, words: Words, earlier: Sequence[str] = ()) -> bool:
    """Whether `said`, a message as typed, asks to remember something, and the fact `content` is what it speaks of.

    That is so when it shares a telling word with the fact, or a third of the fact's content words. Where it only points
    ("remember that", 记一下), one of the `earlier` messages of the person must have stated that third. All numbers and
    names of the fact stand in the person's own words. `words` cuts text into lower-cased words; it is not called where
    nothing is asked.
    """
    said = own_words(said, _asks_somewhere)
    asking = [clause for clause in _clauses(said) if _asks(clause)]
    if not asking:
        return False
    known = [_Known.of(text, words) for text in (said, *map(_stated, earlier))]
    wanted = _content_words(words(content))
    if not all(any(one.names(part) for one in known) for part in map(_bare, _PARTICULAR.findall(content))):
        return False
    if known[0].tells(wanted):
        return True
    points = all(_content_words(words(clause)) <= _POINTING for clause in asking)
    return points and any(one.holds(wanted) for one in known[1:])


def _stated(text: str) -> str:
    """What an earlier message says in the person's own words, questions left out; "" for a long one, a paste."""
    spoken = own_words(text, _asks_somewhere) if len(text) <= LONG else ""
    return "\n".join(one for one in _SENTENCES.split(spoken) if not _QUESTION.search(one))


@dataclass(frozen=True, slots=True)
class _Known:
    """What one message of the person says."""

    words: frozenset[str]
    whole: str

    @staticmethod
    def of(text: str, words: Words) -> _Known:
        return _Known(frozenset(_content_words(words(text))), text.lower())

    def names(self, particular: str) -> bool:
        """Whether this number or name is in it; a name in whatever form."""
        name = particular.lower()
        return name in self.whole or (name.isalpha() and self._covers(name))

    def tells(self, wanted: Set[str]) -> bool:
        """Whether it speaks of the fact with these content words: a word that is not of the trade is proof."""
        return self.holds(wanted) or any(word not in _TRADE and self._covers(word) for word in wanted)

    def holds(self, wanted: Set[str]) -> bool:
        """Whether it says a third of it."""
        shared = sum(map(self._covers, wanted))
        return shared > 0 and 3 * shared >= len(wanted)

    def _covers(self, word: str) -> bool:
        """Whether `word` is in it, in whatever form: deploy and deployment, 数据 in 数据库."""
        if word in self.words or (not word.isascii() and word in self.whole):
            return True
        return len(word) > 3 and any(
            len(other) > 3 and (word.startswith(other) or other.startswith(word)) for other in self.words
        )


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


def _bare(particular: str) -> str:
    return particular.strip(".-")


def _content_words(words: Iterable[str]) -> set[str]:
    """Words that say something, English plurals and their singular taken as one."""
    return {
        word[:-1] if len(word) > 3 and word.isascii() and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _COMMON and any(char.isalnum() for char in word)
    }
