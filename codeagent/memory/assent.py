"""Whether a message agrees to what was proposed before it: a short grammar, in English and Chinese.

An assent is a first sentence that begins by agreeing, asks nothing, takes nothing back and asks for nothing else; and
no sentence behind it that begins by taking it back. "Yes, but rename it" is the person's own words and no assent.
"""

from __future__ import annotations

import re

from codeagent.memory.chinese import simplified
from codeagent.text.patterns import late

_LONGEST = 160
"""Characters of the first sentence: what is longer says more than yes."""

_SENTENCE = late(r"(?<=[。！!？?；;\n])|(?<=\.)(?=\s)")
_CLAUSE = late(r"[,，、:：—]|\s[-–]\s|\.{2,}|…")
_AROUND = " \t\n\r*_`~\"'“”‘’「」『』（）()[]【】<>《》#-•"
_HANDS = late("[👍👌✅🆗💯🙆🤝☑✔][\U0001f3fb-\U0001f3ff\ufe0f\u200d♂♀]*")
_AGAINST = late("[👎❌🙅✖⛔🚫]")
_PICTURES = late("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+")
_THING = (
    r"(?:it|this|that|these|those|them|(?:the|your|this|that) (?:\w+ )?"
    r"(?:interface|plan|design|proposal|approach|api|version|option|idea|one|solution|names?|schema|layout))"
)
_GOOD = (
    r"(?:(?:very|really|quite|pretty|all|so) )?"
    r"(?:good|great|fine|right|perfect|ok(?:ay)?|nice|reasonable|excellent|correct|awesome|like a plan)"
)
_ENGLISH = late(
    r"(?:"
    # These may go on with other words.
    r"(?:yes|yeah|yea|yep|yup|aye|ok(?:ay)?|okie|of course|absolutely|definitely|certainly|affirmative|agreed?"
    r"|[ls]gtm"
    r"|alright|all right|go ahead|(?:approv|confirm|accept)ed|please (?:do|proceed|go ahead)|you (?:may"
    r"|can) (?:proceed|go ahead)"
    r"|let[’']?s (?:go|do|use|take|build|ship|proceed)|(?:i|we) (?:fully |totally |completely )?(?:agree|approve"
    r"|accept)"
    r"|i(?:[’']m| am) (?:ok|okay|fine|good|happy) with"
    r"|(?:" + _THING + r" (?:is|are|looks?|sounds?|seems?)|(?:it|that|this)[’']s|looks|sounds) " + _GOOD + r""
    r"|" + _THING + r" works?"
    r"|(?:works|fine|good|ok|okay) (?:for|by|with) me|makes sense|go with (?:your|option|it|that|this|the))(?=$"
    r"|[\s.!])"
    r"|(?:use|take|go for|implement|build|ship) " + _THING + r"(?=$|[.!]|\s(?:please|then|now|and|as)\b)"
    # These say something else where other words follow.
    r"|(?:y|k|kk|go|sure(?: thing)?|exactly|awesome|brilliant|wonderful|fantastic|cool|deal|ack|works|precisely"
    r"|indeed|\+1"
    r"|" + _GOOD + r"|do (?:it|that|so|this)|make it so|that[’']?s (?:it|the one)|i accept"
    r"|proceed|no (?:problem|objections?)|(?:good|great) (?:idea|plan|to go)|(?:i )?(?:like|love) it"
    r"|(?:option|variant|plan|version|proposal|number) (?:\d|[a-e])|the (?:first|second|third|last|former"
    r"|latter)(?: one)?)"
    r"(?: (?:then|now|please|to me|thanks|thank you|too|it is|go ahead|do (?:it|that)))?(?=\s*$|[.!])"
    r")", re.I,
)  # fmt: skip
_FIRST = late(
    r"(?:\s*(?:(?:oh|ah|hmm+|mm+|well|then|so)\b|got it|understood|哦+|噢|喔|啊|哎"
    r"|嗯+(?=[,，]))[\s,，.]*)+(?=\S)",
    re.I,
)
"""Said while thinking, before the answer."""
_BEFORE = r"(?:嗯+|恩+|那么|那|我看|我觉得|看起来|听起来|看着)?"
_PROPOSED = (
    r"(?:这个|这样|这套|这版|这么|那个|你的|你说的|上面的|以上|刚才的|此)?(?:方案|接口|设计|计划|建议"
    r"|想法|提议|方法|做法|名字|安排|规划)?"
)
_AS = r"(?:就|先|都|那就|咱们就|我们就)?(?:按|按照|照|依|照着|用|采用|选|选用|走|要)"
_ON = (
    r"(?=$|[\s.!。！~～]|[就按照用先开继请动干上走来吧]|这[个样么套版]|那就|我(?:同意|觉得|看)|你(?:来|做|继续"
    r"|开|就|直接|改|写)|没[问意]|可以|谢)"
)
"""What may follow a word that agrees: the end, or more of the same; other characters make another word of it."""
_CHINESE = late(
    _BEFORE + r"(?:"
    r"(?:好{2,}|对{2,}|行{2,}|(?:可以){2,}|好(?:的|啊|吧|了|呀|哒|滴|嘞|哇|哦|咧)?|行(?:吧|啊|的|呀|嘞|了)?"
    r"|可以(?:的|啊|呀|吧|了)?|对(?:的|啊|呀|头)?|是(?:的|啊|呀)"
    r"|嗯+|恩+|没啥?(?:错|问题|意见|毛病|异议)|没有(?:问题|意见|异议)|无异议|当然(?:可以|好|行|同意)?|确定|确认"
    r"|肯定|我?(?:完全)?同意"
    r"|赞[成同]|批准|通过|认可|照(?:办|做)|中|妥(?:了|妥的?|当)?|成(?:吧|啊|交)?|不错|很好|挺好的?|太好了|非常好"
    r"|完美|棒|赞"
    r"|确认(?:执行|无误|通过)|就它了?|一言为定|可行|得嘞|得咧|干吧|开干|开工|开始吧|动手吧|走起|来吧|上吧|听你的"
    r"|依你|随你|没话说|正是|正确|准了|允许|支持)" + _ON
    + r"|是(?=$|[\s.!。！])"
    + r"|我?(?:同意|赞[成同]|支持|认可|接受|批准)(?:你|这|该|此|上面|以上)[^\s,，]{0,12}"
    + r"|就(?:这样|这么|那样|那么)(?:吧|了|着|做|办|定|来|干|改|写|实现|说定|决定)*"
    + r"|这(?:样|么)(?:做|办|来|定)?(?:就|也|都)?(?:可以|行|好|挺好|很好|没问题)(?:的|了|吧)?(?=$|[\s.!。！])"
    + r"|" + _AS + r"(?:你说的|你的|这个|这套|这版|这样|这种|这|那个|上面的?|以上的?|你定的|你提的|它|方案"
    r"|第)[^\s,，]{0,12}"
    + r"|" + _PROPOSED + r"(?:都|也|就|我)*(?:可以|行|没问题|不错|很好|挺好|同意|通过|OK)(?:的|了|吧|啊)?(?=$"
    r"|[\s.!。！])"
    + r"|(?:(?:选|用|要)?(?:方案|选项|第)|选)\s*(?:[一二三四五]|\d|[A-Ea-e])(?:个|种|版|套|方案)?(?:吧"
    r"|好了)?(?=$|[\s.!。！])"
    r")", re.I,
)  # fmt: skip
_HARMLESS = late(
    r"no (?:problem|objections?|worries|complaints)|not bad|don[’']t worry|no (?:further |more )?changes(?: needed)?"
    r"|nothing (?:to add|more|else)|no need to (?:ask|wait|change \w+)|why not|没(?:错|问题|意见|毛病|关系|异议"
    r"|[什啥]么?(?:问题|意见)?|话说)"
    r"|没有(?:问题|意见|异议)|无异议|不错|不用(?:改了?|问我?|等我?|再问)|(?:不用|别)担心|不客气|别客气|无所谓"
    r"|不(?:必|用)再\w{0,4}"
    r"|(?:就|你)(?:直接)?改",
    re.I,
)
"""Denials that deny nothing of what was proposed."""
_BACK = late(
    r"\b(?:but|however|except|though|although|instead|rather|unless|if|provided|wrong|wait|actually|hold on|almost"
    r"|nearly|yet|different(?:ly)?|nope|second thoughts?|(?:one|a few|some|minor|small) (?:thing|change|tweak)s?)\b"
    r"|但|不过|可是|然而|只是|除了|除非|换|改[成为一下个掉到名]|(?<!不)[要得该需]改|修改|调整|错|先别|等等"
    r"|等一下|等下|慢着|而不是|如果|要是|假如|的话"
    r"|算了|反而|还是(?!按|照|用这|这)|有点|有[个些]?问题|少了|多了|漏|缺|不对|不行|是不是|能不能|会不会|可惜"
    r"|再(?:想|考虑|看看|说)|好是好|就是(?!这|了)",
    re.I,
)
"""Words that take back a part of it, or make it depend on something."""
_NOT = late(r"\b(?:no|not|never|without|cannot)\b|n[’']t\b|不|别|勿|没|禁|莫|甭", re.I)
_OTHERWISE = late(
    r"^\W*(?:(?:and|also|just|please|only|now|then|first) )*(?:change|rename|remove|drop|replace|swap|move"
    r"|delete|switch|undo|revert)\b",
    re.I,
)
_ACCEPTS = late(
    r"就这[样么]|就[按照用]|按你|按这|照办|照做|[用按]这个|\b(?:use|take|go with|do|keep|ship) (?:it|that|this)\b"
    r"|\bgo ahead\b|\blet[’']?s\b",
    re.I,
)
"""So plain a word that a rule behind it is a further rule, and takes nothing back."""
_ASKS = late(r"[?？]\s*$|[吗么呢]\s*$|^\W*(?:why|what|how|which|when|where|who)\b", re.I)


def assents(text: str) -> bool:
    """Whether a message agrees to what was said before it, and no more than that: yes, go ahead, 好, 就这样."""
    parts = [part for piece in _SENTENCE.split(simplified(text[:2_000])) if (part := piece.strip(_AROUND + "\ufe0f"))]
    if not parts or _AGAINST.search(text):
        return False
    first, *rest = parts
    bare = first.rstrip(".!。！;；~～ ")
    if hands := _HANDS.match(bare):
        bare = bare[hands.end() :].strip(_AROUND + ",，") or "yes"
        return not _refuses(bare) and not _taken_back(rest)
    if len(bare) > _LONGEST or _ASKS.search(first.strip(_AROUND)):
        return False
    return _begins_well(_PICTURES.sub("", bare).strip()) and not _refuses(bare) and not _taken_back(rest)


def _begins_well(sentence: str) -> bool:
    answer = _FIRST.sub("", sentence, count=1) if _FIRST.match(sentence) else sentence
    clause = next((part for piece in _CLAUSE.split(answer) if (part := piece.strip(_AROUND))), "")
    return _ENGLISH.match(clause) is not None or _CHINESE.match(clause) is not None


def _refuses(sentence: str) -> bool:
    """Whether something of the sentence takes back what it begins with."""
    plain = _HARMLESS.sub(" ", sentence)
    if _BACK.search(plain):
        return True
    accepted = False
    for clause in _CLAUSE.split(plain):
        if (_NOT.search(clause) and not accepted) or _OTHERWISE.search(clause):
            return True
        accepted = accepted or _ACCEPTS.search(clause) is not None
    return False


def _taken_back(sentences: list[str]) -> bool:
    """Whether the sentence behind the first begins by taking it back."""
    return any(
        ((found := _BACK.search(plain)) is not None and found.start() < 4) or re.match(r"(?:no|不|别)\b", plain, re.I)
        for plain in (_HARMLESS.sub(" ", sentence).strip(_AROUND) for sentence in sentences[:1])
    )
