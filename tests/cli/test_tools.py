"""`fdc tools`: the tools of a workspace by where they come from, and what one of them does."""

from __future__ import annotations

import ast
import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.linking.catalogue import catalogues, document
from fdc_toolchain.packs.index import index
from fdc_toolchain.program.causes import FAILURES
from fdc_toolchain.text.suggest import near
from fdc_toolchain.tools.tool_rows import TOOLS

from tests.support import repository
from tests.support.inside import fdc

OWN = {
    "format": 1,
    "name": "shop",
    "tools": {
        "weigh_tea": {
            "summary": "weigh tea",
            "action": "read_op",
            "effect": "read",
            "trust": "untrusted",
            "parameters": [
                {"name": "tea", "kind": "word", "sink": "data"},
                {"name": "scale", "kind": "path", "access": "edit"},
                {"name": "grams", "kind": "number", "required": False, "sink": "data"},
                {"name": "note", "kind": "word", "required": False},
            ],
            "result": {"grams": "number"},
            "cost": {"model_calls": 2, "tokens": 3000},
            "failure": "value",
            "run": {"python": "scales:weigh"},
            "access": {"net": True},
        }
    },
    "predicates": {"heavy": {"summary": "true for much tea", "parameters": ["grams"]}},
}


@pytest.fixture
def shop(workspace: Path) -> Path:
    (workspace / "fdc_tools.json").write_text(json.dumps(OWN))
    return workspace


KINDS = "missing, path, file, protected, encoding, capability, result, sandbox, timeout, size, limit, error, spent"


def data(workspace: Path, *words: str) -> list[dict[str, Any]]:
    done = fdc("tools", *words, "--format", "json", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert found["format"] == 1
    return list(found["tools"])


def test_tools_are_listed_by_where_they_come_from(shop: Path) -> None:
    done = fdc("tools", "--pack", "research", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    headings = re.findall(r"^(\S.*), (\d+) (tool|condition)s?:$", done.stdout, re.MULTILINE)
    assert headings[0][0] == "core" and headings[1] == ("core", "1", "condition")
    assert headings[-2:] == [
        ("workspace (fdc_tools.json)", "1", "tool"),
        ("workspace (fdc_tools.json)", "1", "condition"),
    ]
    assert [one[0] for one in headings[2:-2]] == ["pack research"]
    assert re.search(r"^  read_file +read a file$", done.stdout, re.MULTILINE)
    assert re.search(r"^  weigh_tea +weigh tea$", done.stdout, re.MULTILINE)
    assert re.search(r"^  lgtm +goes from a question to an ", done.stdout, re.MULTILINE)
    last = "`fdc tools NAME` explains a tool, `fdc tools --pack NAME` also lists those of a pack.\n"
    assert done.stdout.endswith(f"\n{last}")


def test_every_tool_and_predicate_that_a_plan_may_use_is_listed_once(shop: Path) -> None:
    documents = [document(path) for path in catalogues()]
    known = [name for one in (*documents, OWN) for name in (*one["tools"], *one.get("predicates", ()))]  # fmt: skip
    found = data(shop, *(f"--pack={pack}" for pack in index().packs))
    assert sorted(known) == sorted(one["name"] for one in found)
    assert {"core", "pack", "workspace"} == {one["from"]["kind"] for one in found}
    for one in found:
        path = one["from"]["path"]
        own = one["from"]["kind"] == "workspace"
        place = shop / path if own else repository.shipped(path)
        there = json.loads(place.read_text("utf-8"))
        assert one["name"] in there["predicates" if one["kind"] == "predicate" else "tools"]
        assert {*one.get("failure_kinds", ())} <= {*FAILURES}


def test_those_of_packs_are_listed_where_the_workspace_uses_them(shop: Path) -> None:
    def names(*words: str) -> set[str]:
        return {one["name"] for one in data(shop, *words)}

    assert "weigh_tea" in names() and not {"map_code", "open_case"} & names()
    (shop / "fdc.toml").write_text('packs = ["research"]\n')
    assert "map_code" in names() and "open_case" not in names()
    assert {"map_code", "open_case"} <= names("--pack", "repair")
    told = json.loads(fdc("tools", "--format", "json", cwd=shop).stdout)["packs"]
    assert {one["name"]: one["used"] for one in told}.items() >= {
        ("research", True),
        ("repair", False),
    }
    assert (
        "a plan that uses it must say: use pack repair\n"
        in fdc("tools", "open_case", cwd=shop).stdout
    )
    assert "a plan that uses it must say" not in fdc("tools", "map_code", cwd=shop).stdout
    done = fdc("tools", "open_cas", cwd=shop)
    assert "open_case" not in done.stderr and done.returncode == 2
    done = fdc("tools", "--pack", "repiar", cwd=shop)
    assert (
        done.returncode == 2
        and "the pack `repiar` does not exist; did you mean `repair`?" in done.stderr
    )
    (shop / "fdc.toml").write_text('packs = ["tea"]\n')
    done = fdc("tools", cwd=shop)
    assert done.returncode == 0 and "fdc.toml:1: the pack `tea` does not exist" in done.stderr


def test_a_tool_is_explained_with_all_that_its_row_says(shop: Path) -> None:
    done = fdc("tools", "weigh_tea", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n") == [
        "weigh_tea: weigh tea",
        "from: workspace (fdc_tools.json), fdc_tools.json",
        "in a plan: [x <- ]weigh_tea tea scale [grams] [note]",
        "action: read_op",
        "parameters:",
        "  tea: word; chooses nothing",
        "  scale: path; the file is changed and must exist; chooses a file",
        "  grams: number, optional; chooses nothing",
        "  note: word, optional; may choose anything; takes no text from outside",
        "result: {grams: number}",
        "effect: read: it reads and changes nothing; a lost step is repeated",
        "trust: untrusted: the result comes from outside, like a web page",
        f"a failure is its result: {{failed, why}}; its kinds: {KINDS}",
        "needs: a sandbox, the network (`--allow-network` or FDC_ALLOW_NETWORK=1)",
        "cost: at most 2 model calls, 3,000 tokens a step",
        "",
    ]
    [found] = data(shop, "weigh_tea")
    assert [("tea", "word", True), ("scale", "path", True), ("grams", "number", False)] == [
        (one["name"], one["kind"], one["required"]) for one in found["parameters"][:3]
    ]
    assert found["cost"] == {"model_calls": 2, "tokens": 3000} and found["failure"] == "value"


def test_the_core_says_what_its_tools_need_and_refuse(shop: Path) -> None:
    shell = fdc("tools", "run_in_bash_session", cwd=shop).stdout
    assert "needs: a sandbox, the program `bash`" in shell and "chooses a command" in shell
    assert "the web" in fdc("tools", "google_search", cwd=shop).stdout
    assert "forbidden: it destroys" in fdc("tools", "reset_all", cwd=shop).stdout
    assert "in a condition: cited(value)" in fdc("tools", "cited", cwd=shop).stdout
    assert "and diff as a block below" in fdc("tools", "replace_with_git_merge_diff", cwd=shop).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("read_file {p}", "missing"),
        ("delete_file {d}", "file"),
        ("list_files {p}", "missing"),
        ("create_file_with_block {q}\n    x", "exists"),
        ("overwrite_file_with_block docs/{q}\n    x", "file"),
        ("replace_with_git_merge_diff {q}\n    <<<<<<< SEARCH\n    no\n    =======\n    y\n    >>>>>>> REPLACE", "diff"),
        ("grep {r} {q}", "type"),
    ],
)  # fmt: skip
def test_a_failure_of_a_step_is_one_of_the_kinds_that_are_told(
    workspace: Path, step: str, kind: str
) -> None:
    (workspace / "there.md").write_text("tea\n")
    (workspace / "docs").mkdir()
    (workspace / "docs" / "there.md").mkdir()
    (workspace / "a.plan").write_text(
        f"param p\nparam q\nparam r\nparam d\nset_plan x\nplan_step_complete x\n{step}\nclose_task\nsubmit\n"
    )
    done = fdc(
        "run",
        "a.plan",
        "p=gone.md",
        "q=there.md",
        "r=(",
        "d=docs",
        "--format",
        "json",
        cwd=workspace,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    shown = json.loads(fdc("show", "last", "--format", "json", cwd=workspace).stdout)
    [failed] = [one["body"]["failed"] for one in shown["records"] if one["body"].get("failed")]
    assert failed["kind"] == kind
    [told] = data(workspace, step.split()[0])
    assert kind in told["failure_kinds"]


def test_every_tool_can_be_explained(shop: Path) -> None:
    """One that may take all that is left of the budget was an error of fdc's own."""
    said = fdc("tools", "run_plan", cwd=shop)
    assert said.returncode == 0 and "all tokens that are left" in said.stdout, said.stderr


def test_an_unknown_name_is_told_with_the_nearest(shop: Path) -> None:
    for word, says in (
        ("raed_file", "the tool `raed_file` does not exist; the nearest: read_file"),
        ("weigh_te", "the tool `weigh_te` does not exist; the nearest: weigh_tea"),
        ("zzzzzz", "the tool `zzzzzz` does not exist; `fdc tools` lists all of them"),
        ("\x1b[2J", "the tool `\\u{1b}[2J` does not exist; `fdc tools` lists all of them"),
    ):
        done = fdc("tools", word, cwd=shop)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fdc: {says}\n")


def test_the_nearest_names_come_first() -> None:
    names = ("read_file", "rename_file", "fill", "write_file", "profile_of")
    assert ["read_file"] == near("raed_file", names)
    assert ["read_file", "rename_file", "write_file", "fill", "profile_of"] == near("file", names)
    assert [] == near("x", names)


def test_a_row_that_is_wrong_is_told_and_the_others_are_listed(shop: Path) -> None:
    (shop / "fdc_tools.json").write_text(
        json.dumps({**OWN, "tools": {**OWN["tools"], "pour_tea": {"summary": 3}}})  # type: ignore[dict-item]
    )
    done = fdc("tools", cwd=shop)
    assert done.returncode == 0
    assert "fdc: warning: fdc_tools.json:1: `tools.pour_tea.summary` is 3; " in done.stderr
    assert re.search(
        r"^  pour_tea +its declaration is invalid, so plans cannot use it$", done.stdout, re.M
    )
    assert "weigh_tea" in done.stdout
    (shop / "fdc_tools.json").write_text("{")
    done = fdc("tools", cwd=shop)
    assert done.returncode == 0 and "read_file" in done.stdout and "fdc_tools.json" in done.stderr


def raised(module: str, name: str) -> set[str]:
    """The kinds of failures that a function of a module and the functions of the module that it calls raise, by their text."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    known = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    work, found, seen = [name], set(), set()
    while work:
        if (name := work.pop()) in seen or name not in known:
            continue
        seen.add(name)
        for node in ast.walk(known[name]):
            if isinstance(node, ast.Name):
                work.append(node.id)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "ToolFailure":
                constants = [
                    word for word in ast.walk(node.args[0]) if isinstance(word, ast.Constant)
                ]
                found |= {one.value for one in constants if isinstance(one.value, str)}
    return found


def test_the_kinds_of_a_tool_of_the_core_are_those_that_its_function_raises(
    workspace: Path,
) -> None:
    """Without `argument` where a parameter says its form (the step fails with `type` first)."""
    told = {one["name"]: one for one in data(workspace) if one["kind"] == "tool"}
    for name, one in told.items():
        row = TOOLS.get(name)
        kinds = raised(row.module, row.function) if row is not None else set()
        if "type" in one["failure_kinds"]:
            kinds -= {"argument"}
        assert kinds <= {*one["failure_kinds"]}, name
    assert "input" in told["among"]["failure_kinds"]
