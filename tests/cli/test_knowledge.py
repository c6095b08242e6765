"""`fdc knowledge` on real files: the index, and what it says about a goal (FDC-66)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import pytest
from click.testing import CliRunner
from fdc_toolchain.cli.project.knowledge import command
from fdc_toolchain.tasks.activity import LOG, faults
from fdc_toolchain.tasks.symbols import GRAPH, SYMBOLS, graph_json, index, symbols_json

from tests.support.process import fdc


@pytest.fixture
def kettle(workspace: Path) -> Path:
    files = {
        "src/tea/__init__.py": "",
        "src/tea/pot.py": "import json\nMINUTES = 3\n\nclass TeaPot:\n    def pour_out(self): ...\n",
        "src/tea/table.py": "from .pot import TeaPot\nfrom . import pot\n",
        "src/app.py": "import tea.table as t\n\ndef serve_all(): ...\n",
        "src/other.py": "import sys\n",
        "src/broken.py": "def (:\n",
        "docs/tea.md": "# Tea\n\nThe TeaPot leaks.\n",
        "old.odt": "PK",
        "postmortems/2026-01-01-T-0.md": "- **Task ID:** `T-0`\n\nA TeaPot must be dried first.\n",
        "knowledge_core/agent_meta.json": '{"model_name": "m", "knowledge_cutoff": "c"}',
        "p.plan": "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete y\nread_file src/tea/pot.py\nclose_task\nsubmit\n",
    }
    for path, text in files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    return workspace


def context(root: Path, goal: str, *options: str) -> dict[str, Any]:
    done = fdc("knowledge", "context", goal, "--format", "json", *options, cwd=root)
    assert (0, "") == (done.returncode, done.stderr)
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_the_index_says_what_is_defined_and_who_imports_whom(kettle: Path) -> None:
    done = fdc("knowledge", "build", cwd=kettle)
    assert (
        0 == done.returncode
        and "skipped src/broken.py: not valid Python for this version (line 1)" in done.stderr
    )
    symbols = json.loads((kettle / SYMBOLS).read_text())["symbols"]
    assert [
        ("serve_all", "function", "src/app.py", 3),
        ("MINUTES", "constant", "src/tea/pot.py", 2),
        ("TeaPot", "class", "src/tea/pot.py", 4),
        ("TeaPot.pour_out", "method", "src/tea/pot.py", 5),
    ] == [(row["name"], row["kind"], row["path"], row["line"]) for row in symbols]
    graph = networkx.node_link_graph(json.loads((kettle / GRAPH).read_text()), edges="edges")
    assert {("src/tea/table.py", "src/tea/pot.py"), ("src/app.py", "src/tea/table.py")} == set(
        graph.edges
    )
    before = (kettle / SYMBOLS).read_bytes()
    assert 0 == fdc("knowledge", "build", "--check", cwd=kettle).returncode
    (kettle / "src/other.py").write_text("import app\n")
    done = fdc("knowledge", "build", "--check", cwd=kettle)
    assert (
        1 == done.returncode and GRAPH in done.stderr and before == (kettle / SYMBOLS).read_bytes()
    )


def test_the_context_of_a_goal_lists_entities_impact_and_history(kettle: Path) -> None:
    fdc("knowledge", "build", cwd=kettle)
    assert 0 == fdc("start", "--task-id", "T-1", "--network", "off", cwd=kettle).returncode
    assert 0 == fdc("run", "p.plan", cwd=kettle).returncode
    made = context(kettle, "The TeaPot must not leak")
    assert [("TeaPot", "src/tea/pot.py", 4)] == [
        (row["name"], row["path"], row["line"]) for row in made["entities"]
    ]
    assert [("src/tea/table.py", 1), ("src/app.py", 2)] == [
        (row["path"], row["distance"]) for row in made["impact"]
    ]
    assert {"task": "T-1", "action": "FILE_READ", "path": "src/tea/pot.py"}.items() <= made[
        "history"
    ][0].items()
    told = {"postmortem": "postmortems/2026-01-01-T-0.md", "line": 3}
    assert any(told.items() <= row.items() for row in made["history"]), made["history"]
    assert [("docs/tea.md", 3)] == [(row["path"], row["line"]) for row in made["documents"]]
    assert [
        {"path": "old.odt", "reason": "OpenDocument is not read, because it is not text"}
    ] == made["skipped"]
    assert [] == context(kettle, "nothing of the kind")["entities"]


def test_the_context_goes_into_the_log_of_an_open_task(kettle: Path) -> None:
    fdc("start", "--task-id", "T-1", "--network", "off", cwd=kettle)
    context(kettle, "`serve_all`", "--task-id", "T-1")
    last = json.loads((kettle / LOG).read_text().splitlines()[-1])
    assert [] == faults(last) and "Phase 1" == last["phase"]
    assert ["serve_all"] == [
        row["name"] for row in last["action"]["details"]["context"]["entities"]
    ]
    done = fdc("knowledge", "context", "x", "--task-id", "T-9", cwd=kettle)
    assert 2 == done.returncode and "not open" in done.stderr


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"symbols": 3}', '{"symbols": [{"name": "x"}]}', "[" * 99_999]
)
def test_a_damaged_index_is_named(kettle: Path, text: str) -> None:
    (kettle / GRAPH).write_text('{"edges": []}')
    (kettle / SYMBOLS).write_text(text)
    done = CliRunner().invoke(command, ["context", "TeaPot"], standalone_mode=False)
    assert (1, None) == (done.return_value, done.exception) and SYMBOLS in done.stderr


def test_the_same_files_give_the_same_bytes_in_any_order() -> None:
    files = {
        "b.py": "import a\nx = 1\n",
        "a.py": "class A:\n    class B:\n        def c(self): ...\n",
    }
    turned = dict(reversed(files.items()))
    assert symbols_json(index(files)) == symbols_json(index(turned)) and graph_json(
        index(files)
    ) == graph_json(index(turned))
    assert ["A", "A.B", "A.B.c", "x"] == [one.name for one in index(files).symbols]
    assert (("b.py", "a.py"),) == index(files).edges


def test_an_import_means_the_file_that_is_nearest() -> None:
    files = {"one/util.py": "", "two/util.py": "", "two/use.py": "import util\n", "two/rel.py": "from ..one import util\n",
             "two/out.py": "from . import gone\nfrom .... import far\n"}  # fmt: skip
    assert (("two/rel.py", "one/util.py"), ("two/use.py", "two/util.py")) == index(files).edges
