"""What tests of several rooms share."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.text.segment import Segmenter


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the dictionary of words in it: making it takes seconds, and each home without it makes its own."""
    folder = tmp_path_factory.mktemp("words")
    Segmenter(folder).warm()
    return folder
