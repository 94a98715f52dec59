"""Which encoding a text without any mark is in: a guess by what its bytes would say. Pure.

Nothing in the bytes names Big5 or GBK. Each candidate is asked how much of the text would be what people write: the
first level of its characters, kana and punctuation, and the few hundred characters that make up half of all text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category

_SAMPLE = 100_000
"""Bytes beyond ASCII and their neighbours that are looked at."""
_ENOUGH = 0.75
_SURE = 1.2
"""Scores from which a guess is certain, if the next best is so far behind."""
_AHEAD = 0.2
_FREQUENT = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去"
    "法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点"
    "正业外将两高间由问很最重并物手应向头文体相见被利什二等产或新己制身果加西月话合回特代内信表化给世位次度门任常先通教提立及比员解水"
    "名真论处走义各入几口认条系气题活更别打变总何电数报结目量再建接必件计管直命指统区保形决式记件运行程序编译代码错误测试文件函数返回值"
    "這個們來為國說時會對後過發還進樣開從實無與長機沒動現當經關點業將兩間問應頭體見產員處義認條氣題別變總電數報結計統區決記運編譯碼錯"
    "誤測試檔案設定資訊請輸入輸出參數變數程式執行使用者系統訊息網路記憶體連線字串陣列物件類別註解您嗎吧呢啊日本語今昨何私見食行東京件処理"
    "値関数変実装設計画面終了開始返文字列確認追加削除更新保存読込書込対象場合必要可能"
)
_FREQUENT_KOREAN = frozenset(
    "이다는을를의에가고하지로한은도서나자사대리기시인해어아일정보수있있들과게것니부전그면라으적용제안스장습력파오류세요없음중상동위원여주"
    "행생성경입출확실만조관내치화변미마직할소우된되했합러식분트드및계구개체국문방법무선간려터메크번속발"
)
_FREQUENT_RUSSIAN = frozenset("оеаинтсрвл")
_WESTERN = frozenset("äöüßéèêëàâáãåçñíìîïóòôõøúùûæœÄÖÜÉÈÊËÀÂÁÃÅÇÑÍÎÏÓÔÕØÚÙÛÆŒ°«»¡¿§€’‘“”„–—…©®™·×±µ\xa0")
_KANA = re.compile(r"[\u3041-\u30fe]")
_EAST = re.compile(r"[\u3000-\u3020\u3041-\u30fe\uff01-\uff5e]")
"""Kana and the punctuation of Chinese and Japanese."""
_WIDE = 0.1
"""Share of usual characters (Latin, blanks, frequent ones) from which a text without a mark is UTF-16."""
_WORD = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff]{2,}(?![A-Za-z])")
_BEYOND = re.compile(rb"[\x80-\xff]")
_CONTROLS = re.compile(rb"[\x01-\x06\x0e-\x1a\x7f]")
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})


@dataclass(frozen=True, slots=True)
class _Candidate:
    names: tuple[str, ...]
    """The codec and a wider one for what it does not know."""
    unit: re.Pattern[bytes]
    """One character beyond ASCII; group 1 is a usual one."""
    frequent: frozenset[str] = _FREQUENT


_CANDIDATES = (
    _Candidate(
        ("gb18030",),
        re.compile(
            rb"([\xa1-\xa3\xb0-\xd7][\xa1-\xfe])|[\x81-\xfe][\x30-\x39][\x81-\xfe][\x30-\x39]|[\x80-\xff][\x40-\xfe]?"
        ),
    ),
    _Candidate(
        ("big5", "cp950"), re.compile(rb"([\xa1-\xa3\xa4-\xc6][\x40-\x7e\xa1-\xfe])|[\x80-\xff][\x40-\x7e\xa1-\xfe]?")
    ),
    _Candidate(
        ("shift_jis", "cp932"),
        re.compile(
            rb"(\x81[\x40-\xac]|\x82[\x4f-\xf1]|\x83[\x40-\x96]|[\x88-\x97][\x40-\x7e\x80-\xfc])"
            rb"|[\xa1-\xdf]|[\x80-\xff][\x40-\xfc]?"
        ),
    ),
    _Candidate(
        ("euc-kr", "cp949"), re.compile(rb"([\xa1-\xa3\xb0-\xc8][\xa1-\xfe])|[\x80-\xff][\x41-\xfe]?"), _FREQUENT_KOREAN
    ),
)


class Guess(NamedTuple):
    name: str
    sure: bool
    """False where another encoding is about as likely, or there is too little to tell by."""


def guess(data: bytes, *, whole: bool = True) -> Guess:
    """The codec for `data`, which is not UTF-8; with `whole=False` it is only the beginning of a text."""
    scores = [(0.0, "")]
    for candidate in _CANDIDATES:
        name = next((name for name in candidate.names if decodes(data, name, whole=whole)), "")
        scores.append((_score(data, name, candidate) if name else 0.0, name))
    single = [name for name in ("cp1251", "koi8-r") if decodes(data, name, whole=whole)]
    scores += [(_cyrillic(data, name), name) for name in single]
    scores.sort(reverse=True)
    (most, best), (second, _) = scores[:2]
    if most > _ENOUGH:
        return Guess(best, most >= _SURE and most - second >= _AHEAD)
    # Windows put typographic quotes and dashes where Latin-1 has control characters.
    windows = re.search(rb"[\x80-\x9f]", data) and decodes(data, "cp1252", whole=whole)
    name = "cp1252" if windows else "latin-1"
    return Guess(name, most < _ENOUGH / 2 and _latin(data, name))


def decodes(data: bytes, name: str, *, whole: bool = True) -> bool:
    try:
        codecs.getincrementaldecoder(name)("strict").decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _score(data: bytes, name: str, candidate: _Candidate) -> float:
    """From 0 to 2: the share of usual characters and that of frequent ones."""
    characters = usual = frequent = seen = 0
    plain, words = True, set[str]()
    for found in candidate.unit.finditer(data):
        characters += 1
        seen += len(found[0])
        text = found[0].decode(name, "replace")
        known = text in candidate.frequent or _KANA.fullmatch(text) is not None
        frequent += known
        # An accented letter before a plain one looks like a character whose second byte is ASCII.
        high = found[0][-1] >= 0x80 and len(found[0]) > 1
        usual += found[1] is not None and (known or high)
        plain = plain and not high
        if known:
            words.add(text)
        if seen > _SAMPLE:
            break
    return 0.0 if plain and len(words) < 2 else (usual + frequent) / characters


def _cyrillic(data: bytes, name: str) -> float:
    """The same for Russian and its neighbours in single bytes, by words in one case or with a capital."""
    sample = data[:_SAMPLE]
    words = [word.decode(name, "replace") for word in _WORD.findall(sample)]
    whole = "".join(word for word in words if word == word.lower() or word[1:] == word[1:].lower() or word.isupper())
    letters = [char.lower() for char in whole if "\u0400" <= char < "\u0500"]
    beyond = len(_BEYOND.findall(sample))
    if not letters or beyond == 0:
        return 0.0
    return len(letters) / beyond + sum(char in _FREQUENT_RUSSIAN for char in letters) / len(letters)


def _latin(data: bytes, name: str) -> bool:
    """Whether what is beyond ASCII is what the languages of western Europe need, one or two at a time."""
    sample = data[:_SAMPLE]
    runs = re.findall(rb"[\x80-\xff]+", sample)
    beyond = b"".join(runs).decode(name, "replace")
    scattered = 2 * sum(len(run) > 2 for run in runs) <= len(runs) and re.search(rb"[A-Za-z]", sample) is not None
    return scattered and sum(char not in _WESTERN for char in beyond) <= len(beyond) / 20


def wide(data: bytes, *, whole: bool = True) -> str:
    """utf-16-le or utf-16-be where `data`, which has NUL bytes and no mark, reads as such a text, else ""."""
    if (whole and len(data) % 2) or _strays(data):
        return ""
    shares = {name: _usual(data, name, whole) for name in ("utf-16-le", "utf-16-be")}
    name = max(shares, key=lambda each: shares[each])
    return name if shares[name] >= _WIDE else ""


def _strays(data: bytes) -> bool:
    """Whether this is a text in single bytes but for a few NUL bytes, which make it binary."""
    sample = data[:_SAMPLE]
    rest = sample.replace(b"\0", b"")
    return (
        4 * (len(sample) - len(rest)) < len(sample)
        and _CONTROLS.search(rest) is None
        and decodes(rest, "utf-8", whole=False)
    )


def _usual(data: bytes, name: str, whole: bool) -> float:
    """The share of usual characters in `data` read as UTF-16; 0 where that holds what is in no text."""
    if not decodes(data, name, whole=whole):
        return 0.0
    text = data[: _SAMPLE // 2 * 2].decode(name, "ignore")
    if any(category(char) in _NO_TEXT and char not in "\t\n\r\f" for char in text):
        return 0.0
    return sum(char < "\u0100" or char in _FREQUENT or _EAST.fullmatch(char) is not None for char in text) / len(text)
