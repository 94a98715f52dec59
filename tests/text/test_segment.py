"""Segmentation: what plain jieba cuts, without its cold start."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import jieba
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeagent.text.segment import Segmenter

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmrc2018_trial.json"
OWN = """把 README.md 里的安装步骤改成 pnpm，不要再用 npm。数据库端口是 5433，缓存放在 Redis 6379！
小明硕士毕业于中国科学院计算所，后在日本京都大学深造；她说：“以后记得先跑测试，再提交。”
AT&T 的 C++ 代码在 src/memory_manager.py，版本 v1.2.3，覆盖率 98.5%。カタカナ and 한국어, emoji 🎉 too.
長期記憶只因使用者要求而改變。工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作
"""


def _chinese_text() -> str:
    if not DATA.exists():
        return OWN
    data = json.loads(DATA.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in data for paragraph in article["paragraphs"]]
    return OWN + "\n".join(paragraph["context"] for paragraph in paragraphs[:120])


def _plain(text: str) -> list[str]:
    return [word.lower() for word in _whole_jieba().cut(text) if any(char.isalnum() for char in word)]


@cache
def _whole_jieba() -> jieba.Tokenizer:
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the dictionary file has been made."""
    folder = tmp_path_factory.mktemp("cache") / "made on first use"
    Segmenter(folder).warm()
    return folder


def test_it_cuts_as_jieba_does(made: Path) -> None:
    text = _chinese_text()
    assert Segmenter(made).words(text) == _plain(text)


def test_words_are_lower_case_and_without_punctuation(made: Path) -> None:
    assert Segmenter(made).words("我来到北京清华大学，用 Python！\n\t…… ？") == [
        "我",
        "来到",
        "北京",
        "清华大学",
        "用",
        "python",
    ]


@pytest.mark.parametrize("text", ["", "  \n", "……！？", "🎉🎉", "\x00\x1b[0m", "\ud800"])
def test_text_without_words_and_garbage_are_survived(made: Path, text: str) -> None:
    assert all(word.isalnum() for word in Segmenter(made).words(text))


def test_the_cache_folder_holds_one_file_that_is_used_again(made: Path) -> None:
    assert [file.name for file in made.iterdir()] == ["jieba.db"]
    before = (made / "jieba.db").stat()
    Segmenter(made).warm()
    after = (made / "jieba.db").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_where_no_file_can_be_made_it_cuts_all_the_same(tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file where the folder should be")
    assert Segmenter(in_the_way, patient=True).words(OWN) == _plain(OWN)
    assert in_the_way.read_text() == "a file where the folder should be"


@pytest.mark.parametrize("damage", ["empty", "no database", "cut short", "overwritten", "another source"])
def test_a_damaged_file_is_made_again(made: Path, tmp_path: Path, damage: str) -> None:
    whole = (made / "jieba.db").read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "no database": b"nonsense" * 1000,
        "cut short": whole[:middle],
        "overwritten": whole[:8192] + b"\xa5" * (len(whole) - 8192),
        "another source": whole.replace(jieba.__version__.encode() + b" ", b"9.99.9 "),
    }[damage]
    file = tmp_path / "jieba.db"
    file.write_bytes(damaged)
    assert Segmenter(tmp_path, patient=True).words(OWN) == _plain(OWN)
    assert len(file.read_bytes()) == len(whole)


def test_threads_may_share_one(made: Path) -> None:
    segmenter = Segmenter(made)
    lines = OWN.splitlines() * 20
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(segmenter.words, lines)) == [_plain(line) for line in OWN.splitlines()] * 20


def test_a_first_cut_says_nothing_and_loads_no_package_index(made: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codeagent.text.segment import Segmenter\n"
        "assert 'jieba' not in sys.modules\n"
        "Segmenter(Path(sys.argv[1])).words('长期记忆')\n"
        "print(sorted({'jieba', 'pkg_resources'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(made)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['jieba']\n", "")


def test_the_dictionary_is_the_persons_alone(tmp_path: Path) -> None:
    cache = tmp_path / "home" / "cache"
    Segmenter(cache).warm()
    modes = [path.stat().st_mode & 0o777 for path in (cache.parent, cache, *cache.iterdir())]
    assert modes == [0o700, 0o700, 0o600]


def test_until_there_is_a_dictionary_chinese_is_cut_into_pairs_and_nobody_waits(tmp_path: Path) -> None:
    segmenter = Segmenter(tmp_path)
    assert segmenter.words("数据库 uses Redis，好") == ["数据", "据库", "uses", "redis", "好"]
    assert list(tmp_path.iterdir()) == []
    segmenter.warm()
    assert segmenter.words("数据库 uses Redis，好") == ["数据库", "uses", "redis", "好"]
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.db"]


def test_processes_that_make_it_at_once_do_not_disturb_each_other(made: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codeagent.text.segment import Segmenter\n"
        "print(Segmenter(Path(sys.argv[1]), patient=True).words('长期记忆'))"
    )
    makers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [maker.communicate()[0] for maker in makers] == ["['长期', '记忆']\n"] * 2
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.db"]
    assert (tmp_path / "jieba.db").read_bytes() == (made / "jieba.db").read_bytes()


def test_who_leaves_does_not_wait_for_the_dictionary(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codeagent.text.segment import Segmenter\n"
        "print(Segmenter(Path(sys.argv[1])).words('长期记忆'))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['长期', '期记', '记忆']\n", "")
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.sampled_from("abcCTA&+#.%-_ 019\n\té한カ½²ª😀，") | st.sampled_from("ATtc&"), max_size=12))
@example("AT&T, abc++ and C# at 98.5%")
def test_text_without_chinese_is_cut_as_jieba_does_without_jieba(text: str) -> None:
    assert Segmenter(Path("nowhere")).words(text) == _plain(text)


def test_text_without_chinese_loads_and_makes_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codeagent.text.segment import Segmenter\n"
        "print(Segmenter(Path(sys.argv[1])).words('Use pnpm'), 'jieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (done.stdout, list(tmp_path.iterdir())) == ("['use', 'pnpm'] False\n", [])


def test_who_needs_exact_words_waits_for_the_dictionary(tmp_path: Path) -> None:
    assert Segmenter(tmp_path / "new").exact("帮我记一下部署命令") == jieba.lcut("帮我记一下部署命令")
