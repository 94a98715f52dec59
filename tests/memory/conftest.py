"""The local embedding model is an extra: its tests are collected where it is installed."""

from __future__ import annotations

from codeagent.llm.embeddings import has_local_model

collect_ignore = [] if has_local_model() else ["test_local_model.py"]
