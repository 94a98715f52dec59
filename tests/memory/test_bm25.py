"""The bm25 rule on facts."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.retriever import TOP
from codeagent.text.segment import Segmenter
from tests.memory._finding import fact, ids
from tests.memory._world import START, Clock, split

FACTS = [
    fact("测试数据库的端口是 5433", "db"),
    fact("我不吃花生", "nuts"),
    fact("部署前要通知支付组", "deploy"),
    fact("MemoryManager 的入口在 src/memory/manager.py", "entry"),
    fact("Use pnpm instead of npm for installing packages", "pnpm"),
    fact("Caches are kept in Redis 6379", "cache"),
    fact("user_id_to_name 只在 legacy.py 里用", "legacy"),
]
OTHERS = [
    fact(f"第 {number} 号服务由第 {number} 组维护，service_{number} listens", f"s{number}") for number in range(300)
]


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory: pytest.TempPathFactory) -> Segmenter:
    return Segmenter(tmp_path_factory.mktemp("cache"), patient=True)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("端口", "db"),
        ("花生", "nuts"),
        ("数据库用哪个端口？", "db"),
        ("部署的时候要注意什么", "deploy"),
        ("MemoryManager", "entry"),
        ("memory_manager", "entry"),
        ("manager.py", "entry"),
        ("userIdToName", "legacy"),
        ("user_id_to_name", "legacy"),
        ("install a package", "pnpm"),
        ("where do we cache things", "cache"),
        ("REDIS", "cache"),
        ("ｒｅｄｉｓ", "cache"),
        ("帮我看看 MemoryManager 的测试", "entry"),
        ("5433", "db"),
    ],
)
def test_what_is_there_is_found(segmenter: Segmenter, query: str, first: str) -> None:
    assert ids(Bm25Retriever(segmenter.words, Clock()), query, [*OTHERS, *FACTS])[0] == first


@pytest.mark.parametrize("wanted", [known.id for known in FACTS])
def test_a_query_of_2000_characters_finds_what_it_speaks_of(segmenter: Segmenter, wanted: str) -> None:
    content = next(known.content for known in FACTS if known.id == wanted)
    padding = "今天的天气很好，大家一起去公园散步，然后回家吃饭。The weather was fine and nobody had to work. " * 40
    query = f"{padding[:1000]}{content}{padding[1000:]}"[:2000]
    assert ids(Bm25Retriever(segmenter.words, Clock()), query, [*OTHERS, *FACTS])[0] == wanted


def test_nothing_in_common_nothing_found(segmenter: Segmenter) -> None:
    retriever = Bm25Retriever(segmenter.words, Clock())
    assert ids(retriever, "kubernetes", FACTS) == ids(retriever, "  ", FACTS) == ids(retriever, "？！", FACTS) == []


def test_one_common_character_is_no_hit(segmenter: Segmenter) -> None:
    facts = [fact("管理员是 Ann"), fact("用户不多"), fact("集成测试很慢"), fact("他养了一只狗")]
    retriever = Bm25Retriever(segmenter.words, Clock())
    assert ids(retriever, "不用管测试了", facts) == ["集成测试很慢"]
    assert ids(retriever, "我的狗呢", facts) == ids(retriever, "狗", facts) == ["他养了一只狗"]


def test_where_no_fact_is_chinese_nothing_is_cut() -> None:
    def words(text: str) -> list[str]:
        raise AssertionError("cut for nothing")

    assert ids(Bm25Retriever(words, Clock()), "Redis 的端口", [fact("Redis listens")]) == ["Redis listens"]


def test_without_facts_nothing_is_cut() -> None:
    def words(text: str) -> list[str]:
        raise AssertionError("cut for nothing")

    assert Bm25Retriever(words, Clock()).search("数据库端口", []) == []


def test_age_counts_only_between_equals() -> None:
    old, new = "2020-01-01T00:00:00Z", "2026-04-30T00:00:00Z"
    facts = [fact("port one", "a", old), fact("port two", "b", new), fact("port port three", "c", old)]
    assert ids(Bm25Retriever(split, Clock()), "port", facts) == ["c", "b", "a"]


def test_ten_at_most_or_all() -> None:
    facts = [fact(f"port {number}") for number in range(30)]
    retriever = Bm25Retriever(split, Clock())
    assert len(ids(retriever, "port", facts)) == TOP == 10
    assert len(ids(retriever, "port", facts, None)) == 30


def test_what_has_expired_takes_no_place() -> None:
    past = "2026-04-30T00:00:00Z"
    facts = [fact(f"port {number}", expires=past) for number in range(30)] + [fact("the port of the host", "live")]
    assert ids(Bm25Retriever(split, Clock()), "port", facts) == ["live"]


def test_the_same_content_held_twice_is_found_twice() -> None:
    facts = [fact("port 1", "a"), fact("port 1", "b")]
    assert sorted(ids(Bm25Retriever(split, Clock()), "port", facts)) == ["a", "b"]


@given(st.lists(st.lists(st.integers(0, 12), unique=True)))
def test_facts_that_come_and_go_are_found_as_by_a_new_retriever(rounds: list[list[int]]) -> None:
    lasting = Bm25Retriever(split, Clock())
    for numbers in rounds:
        facts = [fact(f"port {number % 5} of host {number}") for number in numbers]
        fresh = Bm25Retriever(split, Clock())
        found = {hit.fact.id: hit.score for hit in lasting.search("port 3 host", facts, top=None)}
        assert found == pytest.approx({hit.fact.id: hit.score for hit in fresh.search("port 3 host", facts, top=None)})


async def test_preparing_changes_nothing_but_the_time(segmenter: Segmenter) -> None:
    prepared, plain = Bm25Retriever(segmenter.words, Clock()), Bm25Retriever(segmenter.words, Clock())
    await prepared.prepare("", FACTS)
    await prepared.prepare("端口", FACTS)
    await prepared.prepare("端口", [])
    assert prepared.search("端口", FACTS) == plain.search("端口", FACTS)
    await prepared.aclose()


MANY = [fact(f"service {number} listens on port {number}") for number in range(700)]


def test_the_index_of_many_facts_is_kept_privately_and_used_again(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "facts.terms"
    first = ids(Bm25Retriever(split, Clock(), file), "port 42", MANY)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [other.name for other in file.parent.iterdir()] == ["facts.terms"]
    before = file.stat()
    assert ids(Bm25Retriever(split, Clock(), file), "port 42", [*MANY, fact("new")]) == first
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_was_forgotten_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "facts.terms"
    Bm25Retriever(split, Clock(), file).search("port", [*MANY, fact("a confession")])
    assert b"confession" in file.read_bytes()
    assert ids(Bm25Retriever(split, Clock(), file), "confession", MANY) == []
    assert b"confession" not in file.read_bytes()


def test_few_facts_need_no_file(tmp_path: Path) -> None:
    Bm25Retriever(split, Clock(), tmp_path / "facts.terms").search("port", FACTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_file_that_cannot_be_used_is_made_anew(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "facts.terms"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    assert ids(Bm25Retriever(split, Clock(), file), "port 42", MANY)[0] == MANY[42].id
    assert file.is_dir() if content is None else file.stat().st_size > 1_000


def test_the_clock_is_asked_each_time() -> None:
    clock = Clock()
    retriever = Bm25Retriever(split, clock)
    facts = [fact("port", expires="2026-05-01T13:00:00Z")]
    assert ids(retriever, "port", facts) == ["port"]
    clock.pass_hours(2)
    assert (ids(retriever, "port", facts), clock.now > START) == ([], True)
