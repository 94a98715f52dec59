from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.tools.encodings import Encoding, decode, decode_output, detect

CHINESE = "他说：你好，世界。\nprint('记忆')\n"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", Encoding()),
        (b"plain\r\n", "plain\r\n", Encoding()),
        (CHINESE.encode(), CHINESE, Encoding()),
        (codecs.BOM_UTF8 + CHINESE.encode(), CHINESE, Encoding("utf-8", codecs.BOM_UTF8)),
        (codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"), CHINESE, Encoding("utf-16-le", codecs.BOM_UTF16_LE)),
        (codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), CHINESE, Encoding("utf-16-be", codecs.BOM_UTF16_BE)),
        (codecs.BOM_UTF32_LE + "好".encode("utf-32-le"), "好", Encoding("utf-32-le", codecs.BOM_UTF32_LE)),
        (CHINESE.encode("gb18030"), CHINESE, Encoding("gb18030")),
        ("Müller, naïve café\n".encode("latin-1"), "Müller, naïve café\n", Encoding("latin-1")),
        ("# 計算面積".encode("big5"), "# 計算面積", Encoding("big5")),
        ("ファイルが見つかりません\n".encode("shift_jis"), "ファイルが見つかりません\n", Encoding("shift_jis")),
        ("①エラー".encode("cp932"), "①エラー", Encoding("cp932")),
        ("a = 1\n好\n".encode("utf-16-le"), "a = 1\n好\n", Encoding("utf-16-le")),
        ("a = 1\n好\n".encode("utf-16-be"), "a = 1\n好\n", Encoding("utf-16-be")),
        ("一二三\n".encode("utf-16-le"), "一二三\n", Encoding("utf-16-le")),
        ("一二三\n".encode("utf-16-be"), "一二三\n", Encoding("utf-16-be")),
        ("\u3000开始\n".encode("utf-16-le"), "\u3000开始\n", Encoding("utf-16-le")),
        ("\u3000开始\n".encode("utf-16-be"), "\u3000开始\n", Encoding("utf-16-be")),
        ("привет\n".encode("utf-16-be"), "привет\n", Encoding("utf-16-be")),
        ("“quoted” – text".encode("cp1252"), "“quoted” – text", Encoding("cp1252")),
    ],
)
def test_text_and_encoding_of_a_file_round_trip(data: bytes, text: str, encoding: Encoding) -> None:
    assert decode(data) == (text, encoding)
    assert encoding.encode(text) == data


@pytest.mark.parametrize(
    "text",
    ["Ärger im Büro", "Äpfel", "ação, não", "10°C", "«Être»", "crème brûlée", "señor", "Ça va?", "Größe", "naïve"],
)
def test_accented_letters_are_not_taken_for_chinese(text: str) -> None:
    assert detect(text.encode("latin-1")) == Encoding("latin-1")


@pytest.mark.parametrize(
    ("encoding", "texts"),
    {
        "gb18030": ["你好", "编译错误", "用户名或密码不正确", "// 配置文件", "print('没有找到记录')"],
        "big5": ["編譯錯誤", "使用者名稱或密碼不正確", "設定檔", "這是一個測試檔案", "print('找不到紀錄')"],
        "euc-kr": ["안녕하세요", "한국", "# 면적을 계산한다", "파일을 찾을 수 없습니다"],
        "cp1251": ["Привет", "ПРИВЕТ МИР", "// Ошибка: файл не найден", "да"],
        "koi8-r": ["Привет", "# Ошибка: файл не найден"],
        "shift_jis": ["こんにちは", "# 面積を計算する", "エラー", "処理を開始します。", "print('見つかりません')"],
    }.items(),
)
def test_a_few_words_tell_the_encoding(encoding: str, texts: list[str]) -> None:
    assert [detect(text.encode(encoding)) for text in texts] == [Encoding(encoding)] * len(texts)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *(("gb18030", "龘靐"), ("gb18030", "权限"), ("big5", "台灣"), ("euc-jp", "日本語"), ("latin-1", "ÄÖÜ")),
        *(("cp1250", "Žluťoučký kůň"), ("iso8859-7", "Καλημέρα κόσμε"), ("cp1255", "שלום עולם")),
        *(("cp1256", "مرحبا بالعالم"), ("tis-620", "สวัสดีชาวโลก")),
    ],
)
def test_what_may_be_guessed_wrongly_is_not_certain(encoding: str, text: str) -> None:
    found = detect(text.encode(encoding))
    assert found is not None
    assert not found.sure


def test_lines_that_end_with_carriage_returns_alone_are_lines() -> None:
    assert decode(b"a\r\rb\r") == ("a\n\nb\n", Encoding(carriage_returns=True))
    assert decode(b"a\rb\n") == ("a\rb\n", Encoding())
    assert Encoding(carriage_returns=True).encode("a\r\nb\nc") == b"a\rb\rc"


@pytest.mark.parametrize(
    "data",
    [
        *(b"\x7fELF\0\0\1", b"\0" * 64, bytes(range(256)) * 4, b"PK\3\4\0\0\x08\0"),
        b"hello wo\0ld this is text\n\n",
        "你好，世\0界，这里有一行字\n".encode(),
    ],
)
def test_binary_is_no_text(data: bytes) -> None:
    assert decode(data) is None


def test_the_beginning_of_a_file_may_end_inside_a_character() -> None:
    assert detect("好".encode()[:2], whole=False) == Encoding()
    assert detect("你好".encode("gb18030")[:3], whole=False) == Encoding("gb18030", sure=False)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_utf8_is_always_recognised(text: str) -> None:
    assert decode(text.encode()) == (text, Encoding())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("编译错误\nok\n".encode("gbk"), "编译错误\nok\n"),
        ("UTF-8 行\n".encode() + "GBK 行\n".encode("gbk"), "UTF-8 行\nGBK 行\n"),
        (b"10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        (b"a\x08\x08bold: x\x08x", "\x08bold: x"),
        (b"\xff\n", "\ufffd\n"),
    ],
)
def test_output_reads_as_a_terminal_would_have_left_it(data: bytes, text: str) -> None:
    assert decode_output(data) == text


@given(st.binary(max_size=400))
def test_any_output_is_text(data: bytes) -> None:
    decode_output(data).encode()


@given(st.binary(max_size=200))
def test_any_file_is_binary_or_some_text(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        text, encoding = decoded
        assert isinstance(encoding.encode(text), bytes)


@given(st.text(st.sampled_from("编译错误返回值函数的一是不了在人有我 x=1\n，。（）"), min_size=4))
def test_chinese_text_comes_back_from_gb18030_as_it_was(text: str) -> None:
    data = text.encode("gb18030")
    decoded = decode(data)
    assert decoded is not None
    assert decoded[1].encode(decoded[0]) == data


@pytest.mark.parametrize(
    "data",
    [
        ("中文内容一行\n" * 20).encode()[:-3],
        ("中文内容一行\n" * 20).encode()[:-2],
        ("中文内容一行\n" * 9).encode() + b"\xe4\n" + ("中文\n" * 9).encode(),
        ("naïve café, größer: " * 9).encode() + b"\xff\xfe",
    ],
)
def test_utf8_that_is_damaged_in_places_stays_utf8(data: bytes) -> None:
    decoded = decode(data)
    assert decoded is not None
    text, encoding = decoded
    assert (encoding, encoding.encode(text)) == (Encoding(damaged=True), data)
    assert text[:5] == data.decode("utf-8", "replace")[:5]
