"""The local reranker: refused in one sentence where it is not installed, real where it is, and never another model."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.research.explore import rerank
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.retrieval.question import concepts_of
from fdc_toolchain.tools.files.documents import scan
from fdc_toolchain.tools.model import embedder
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.explored import QUESTION, shop
from tests.support.process import fdc

installed = pytest.mark.skipif(
    bool(embedder.missing()), reason="the extra `semantic` is not installed"
)


@pytest.mark.skipif(not embedder.missing(), reason="the extra `semantic` is installed")
def test_without_the_extra_the_option_is_refused_and_nothing_is_begun(tmp_path: Path) -> None:
    done = fdc("explore", QUESTION, "--rerank", cwd=shop(tmp_path))
    assert (
        2 == done.returncode
        and "fdc-toolchain[semantic]" in done.stderr
        and not (tmp_path / "runs").exists()
    )
    with pytest.raises(ToolFailure, match="is not installed"):
        embedder.embedded(["tea"], 8)


def test_a_file_of_another_digest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"another model")
    monkeypatch.setattr(embedder, "_place", lambda what: str(other))
    with pytest.raises(ToolFailure, match="differs from the version that fdc supports"):
        embedder._bytes("model")


@installed
def test_meaning_brings_up_what_words_alone_do_not(tmp_path: Path) -> None:
    scanned = scan(str(shop(tmp_path)), code=True)
    search = Tree(scanned, scanned.documents).search(concepts_of("order"))
    again = rerank.reranked(search, "What if the customer has not enough money?")
    assert {unit.path for unit in search.units()} == {unit.path for unit in again.units()}
    assert again is rerank.reranked(search, "What if the customer has not enough money?")
    assert again.units() != search.units() and again.units()[0].path in (
        "shop/orders.py",
        "README.md",
    )
