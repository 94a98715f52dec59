"""The three estimators behind one setting."""

from __future__ import annotations

import subprocess
import sys

import pytest

from codeagent.core.images import Image, data_url, image_tokens
from codeagent.core.messages import UserMessage, encode
from codeagent.core.tokens import estimate_classes, estimate_classic
from codeagent.memory.estimators import Estimator, make_estimate
from tests.pictures import png

TEXT = "def 记忆(path):\n    return open(path).read()  # 🎉\n"


def test_each_counts_its_own_way() -> None:
    data = TEXT.encode()
    counts = [make_estimate(name)(data) for name in ("classic", "classes", "exact")]
    assert counts == [estimate_classic(TEXT), estimate_classes(data), 18]


@pytest.mark.parametrize("name", ["classic", "classes", "exact"])
@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", "\ud800".encode("utf-8", "surrogatepass"), b"<|endoftext|>", "🎉".encode() * 90_000]
)
def test_any_bytes_have_a_count(name: Estimator, data: bytes) -> None:
    assert (make_estimate(name)(data) > 0) == bool(data)


@pytest.mark.parametrize("name", ["classic", "classes", "exact"])
def test_a_long_run_of_one_letter_takes_no_time_and_counts(name: Estimator) -> None:
    assert make_estimate(name)(b"a" * 500_000) > 10_000


@pytest.mark.parametrize("name", ["classic", "classes", "exact"])
def test_pictures_count_by_their_size(name: Estimator) -> None:
    small, large = (
        encode(UserMessage("Look.", (Image("[image a.png]", data_url("png", png(side, side))),))) for side in (10, 900)
    )
    assert make_estimate(name)(large) - make_estimate(name)(small) == image_tokens(900, 900) - image_tokens(10, 10)


def test_the_tokenizer_is_loaded_for_exact_alone_and_missed_with_a_sentence() -> None:
    script = (
        "import sys; from codeagent.memory.estimators import make_estimate as make\n"
        "make('classes')(b'x'); make('classic')(b'x'); print('bpe_openai' in sys.modules)\n"
        "sys.modules['bpe_openai'] = None\n"
        "try: make('exact')\n"
        "except Exception as error: print(type(error).__name__, 'codeagent[tokenizer]' in error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "ConfigError True"]
