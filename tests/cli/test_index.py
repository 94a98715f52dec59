"""`codeagent index`, over a small project."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pexpect
import pytest

from codeagent.core.paths import Home
from tests.cli.conftest import Cli, Said
from tests.server.endpoint import JSON, Recorded, Response, ScriptedEndpoint


@pytest.fixture(autouse=True)
def filled(home: Home, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_INDEX__VECTORS", "false")
    (project / "配置.py").write_text("def read_config(path):\n    # 读取配置文件\n    return path\n")
    (project / "main.py").write_text("from 配置 import read_config\n\n\ndef main():\n    read_config('a')\n")
    (project / "logo.png").write_bytes(b"\x89PNG\0")


def test_it_is_built_and_says_what_it_did(cli: Cli, project: Path) -> None:
    assert cli("index", "build") == Said(0, "Indexed 3 files, forgot 0; the index is up to date.\n", "")
    assert cli("index", "build") == Said(0, "The index is up to date.\n", "")
    (project / "logo.png").unlink()
    assert cli("index", "build", "--json").json == {"added": 0, "removed": 1, "left": 0, "by_other": False}


def test_it_is_searched(cli: Cli) -> None:
    assert cli("index", "search", "读取", "配置", "--limit", "1") == Said(
        0,
        "配置.py:1-3  function read_config\n    def read_config(path):\n        # 读取配置文件\n        return path\n",
        "",
    )
    (hit,) = cli("index", "search", "read_config", "--path", "main.py", "--limit", "1", "--json").json["hits"]
    assert (hit["path"], hit["start"], hit["symbol"]) == ("main.py", 4, "main")
    assert cli("index", "search", "zebra") == Said(0, "", "Nothing was found.\n")


def test_it_tells_what_it_holds(cli: Cli, home: Home) -> None:
    cli("index", "build")
    status = cli("index", "status", "--json").json
    size = status.pop("size")
    assert status == {
        "path": str(home.code),
        "files": 3,
        "chunks": 3,
        "symbols": 2,
        "vectors": 0,
        "left": 0,
        "left_out": [["binary", 1]],
        "others": 0,
        "others_files": 0,
        "others_gone": 0,
    }
    shown = cli("index", "status")
    assert (shown.code, size > 0, "left out, binary" in shown.out) == (0, True, True)


def test_the_map_names_what_others_refer_to(cli: Cli) -> None:
    assert cli("index", "map") == Said(0, "配置.py\n  1: def read_config(path):\n", "")


def test_what_a_file_says_never_reaches_the_terminal_raw(cli: Cli, project: Path) -> None:
    (project / "evil.py").write_text("def evil():\n    return '\x1b]0;owned\x07'\n")
    said = cli("index", "search", "owned")
    assert (said.code, "evil.py" in said.out, "\x1b" in said.out) == (0, True, False)


def test_an_index_that_cannot_be_used_is_one_sentence(cli: Cli, home: Home) -> None:
    home.code.mkdir(parents=True)
    assert cli("index", "search", "x") == Said(
        1, "", f"codeagent: The code index {home.code} cannot be used: Is a directory.\n"
    )


def test_an_interrupted_build_says_that_it_goes_on(cli: Cli, project: Path) -> None:
    for number in range(1_500):
        (project / f"f{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 9)
    with pexpect.spawn(sys.executable, ["-m", "codeagent", "index", "build"], encoding="utf-8", timeout=30) as terminal:
        terminal.expect("0/1,503 files")
        terminal.sendintr()
        terminal.expect("Interrupted. What is done is kept")
        terminal.expect(pexpect.EOF)
    left = cli("index", "status", "--json").json["left"]
    assert (0 < left <= 1_503, cli("index", "build", "--json").json["added"]) == (True, left)


def by_topic(request: Recorded) -> Response:
    """Vectors that know what cats and money are, in two languages."""
    topics = (("猫", "feline"), ("发票", "invoice"))
    vectors = [
        [0.1, *(float(any(word in text for word in topic)) for topic in topics)] for text in request.json["input"]
    ]
    data = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return Response((json.dumps({"data": data}).encode(),), headers=JSON)


def test_what_an_endpoint_gives_vectors_for_is_found_by_meaning(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pets.py").write_text("def feed(animal):\n    # for the feline\n    return animal\n")
    (project / "bills.py").write_text("def charge(client):\n    # writes an invoice\n    return client\n")
    with ScriptedEndpoint(routes={"/v1/embeddings": by_topic}) as server:
        for name, value in {
            "INDEX__VECTORS": "true",
            "BASE_URL": server.base_url,
            "API_KEY": "none",
            "MODEL": "scripted",
            "EMBEDDING_MODEL": "vectors",
        }.items():
            monkeypatch.setenv(f"CODEAGENT_{name}", value)
        assert cli("index", "build").code == 0
        (hit,) = cli("index", "search", "猫", "--limit", "1", "--json").json["hits"]
        status = cli("index", "status", "--json").json
    assert (hit["path"], hit["symbol"], status["vectors"], status["chunks"]) == ("pets.py", "feed", 5, 5)
    found = cli("index", "search", "feline", "--limit", "1", "--json").json["hits"]  # the endpoint is gone
    assert [hit["path"] for hit in found] == ["pets.py"]
