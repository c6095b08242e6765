"""The research protocol's tools: what they need, what they bring, and what they refuse to make up."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.files import Root

from tests.support.inside import fdc
from tests.support.research import program, write


def perform(root: Path, tool: str, **args: str) -> Outcome:
    """One step, as the engine asks for it."""
    opened = Root(str(root))
    bench = Workbench("r", opened, str(root), lambda _: None, lambda _: None, {}, 10.0)
    try:
        return LocalTools(program(), bench).perform(
            Perform("main/1", "tool", tool, args, "", "read", "a.plan", 1, True)
        )
    finally:
        opened.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, {"docs/a.md": "Text.\n", "docs/b.md": "More.\n", "bad.md": b"\xff"})


def test_local_files_and_folders_are_brought(root: Path) -> None:
    """FDC-56."""
    tool = "execute_research_protocol"
    assert (
        "Text.\n"
        == perform(root, tool, target="local_filesystem", scope="file", path="docs/a.md").value
    )
    assert (
        "docs/a.md\ndocs/b.md"
        == perform(root, tool, target="local_filesystem", scope="directory", path="docs").value
    )


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        (
            {"target": "local_filesystem", "scope": "file"},
            "input",
            "Error: 'path' not specified for local_filesystem file.",
        ),
        (
            {"target": "local_filesystem", "scope": "directory"},
            "input",
            "Error: 'path' not specified",
        ),
        (
            {"target": "external_web", "scope": "narrow"},
            "input",
            "Error: 'query' not specified for external_web narrow.",
        ),
        ({"target": "external_web", "scope": "broad"}, "input", "Error: 'url' not specified"),
        ({"target": "external_repository", "scope": "all"}, "input", "Error: 'url' not specified"),
        (
            {"target": "moon", "scope": "file"},
            "input",
            "do not map to a recognized research protocol.",
        ),
        (
            {"target": "local_filesystem", "scope": "moon"},
            "input",
            "do not map to a recognized research protocol.",
        ),
        (
            {"target": "external_web", "scope": "narrow", "query": "tea"},
            "unavailable",
            "the web is not allowed",
        ),
        (
            {"target": "local_filesystem", "scope": "file", "path": "../x"},
            "path",
            "leaves the workspace",
        ),
        (
            {"target": "local_filesystem", "scope": "file", "path": "bad.md"},
            "input",
            "is not UTF-8",
        ),
    ],
)
def test_what_cannot_be_brought_fails_and_says_why(
    root: Path, args: dict[str, str], kind: str, message: str
) -> None:
    """FDC-56, T-23."""
    failure = perform(root, "execute_research_protocol", **args).failure
    assert failure is not None and kind == failure.kind and message in failure.message


def test_the_planning_tool_returns_a_plan(root: Path) -> None:
    """FDC-48, FDC-55."""
    made = perform(root, "plan_deep_research", topic='What is "tea"?').value
    assert 'param question = "What is \\"tea\\"?"' in made and made.startswith(
        "# FSM: tooling/research_fsm.json\n"
    )
    failure = perform(root, "plan_deep_research", topic=" \u200b").failure
    assert failure is not None and "the topic is empty" == failure.message


SHOP = {
    "shop/stock.py": "LIMIT = 3\n\n\ndef reserve(basket):\n    return basket\n",
    "shop/orders.py": "from .stock import reserve\n\n\ndef place(basket):\n    return reserve(basket)\n",
    "docs/stock.md": "# Stock\n\nCall `reserve` first; preserve nothing.\n",
}


def built(folder: Path) -> Path:
    """A workspace whose knowledge graph `fdc knowledge build` made."""
    (folder / "knowledge_core").mkdir(exist_ok=True)
    write(folder, SHOP)
    done = fdc("knowledge", "build", cwd=folder)
    assert 0 == done.returncode, done.stderr
    return folder


def test_the_knowledge_graph_is_enriched_with_the_documents_that_name_it(tmp_path: Path) -> None:
    """FDC-56: knowledge_graph/enrich, by a name and by a file."""
    root = built(tmp_path)
    stated = {"target": "knowledge_graph", "scope": "enrich"}
    assert (
        "`reserve`: function, shop/stock.py:4\nshop/stock.py is imported by shop/orders.py\n"
        "docs/stock.md:3: Call `reserve` first; preserve nothing."
    ) == perform(root, "execute_research_protocol", **stated, query="reserve").value
    told = perform(root, "execute_research_protocol", **stated, query="./shop/orders.py").value
    assert "`place`: function, shop/orders.py:4\nshop/orders.py imports shop/stock.py" == told


def test_a_knowledge_graph_that_is_not_there_or_not_right_any_more_says_so(tmp_path: Path) -> None:
    """FDC-56: nothing is made up."""
    stated = {"target": "knowledge_graph", "scope": "enrich"}
    failure = perform(tmp_path, "execute_research_protocol", **stated, query="reserve").failure
    assert (
        failure is not None
        and "input" == failure.kind
        and "`fdc knowledge build` makes it" in failure.message
    )
    root = built(tmp_path)
    (root / "shop/stock.py").write_text("# moved\n" * 9)
    told = perform(root, "execute_research_protocol", **stated, query="reserve").value
    assert "shop/stock.py:4 (it is not there any more: `fdc knowledge build`)" in told
    failure = perform(root, "execute_research_protocol", **stated, query="nothing_of_it").failure
    assert failure is not None and "has nothing named `nothing_of_it`" in failure.message
    failure = perform(root, "execute_research_protocol", **stated).failure
    assert (
        failure is not None
        and "Error: 'query' not specified for knowledge_graph enrich." == failure.message
    )
    (root / "knowledge_core/symbols.json").write_text("[")
    failure = perform(root, "execute_research_protocol", **stated, query="reserve").failure
    assert failure is not None and "input" == failure.kind and "not valid JSON" in failure.message
