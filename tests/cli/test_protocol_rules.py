"""Every rule of our protocols that says it is enforced is: a workspace that breaks it, and one that does not, through `fdc lint`.

The workspaces have this repository's own protocols, automata, registry and plan library. Those that differ in a
plan only are linted together, in one process.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import fdc
from tests.support.repository import ROOT

SOURCES = [
    json.loads(path.read_bytes()) for path in sorted((ROOT / "protocols").glob("*.protocol.json"))
]
CHECKED = {
    rule["rule_id"]: rule["check"] for body in SOURCES for rule in body["rules"] if "check" in rule
}
TEMPLATES = sorted(name for name, check in CHECKED.items() if "template" in check)

BEGIN = "set_plan Work\nplan_step_complete ready\n"
END = "close_task\nsubmit\n"
NAMED = "allow read **\nallow write protocols/**\n"
RESEARCH = "# FSM: tooling/research_fsm.json\nset_plan Research\n"
EXPLORE = (ROOT / "tooling/fdc_packs/research/explore/plans/explore.plan").read_text("utf-8")
PHASES = [
    "scan <- scan_documents",
    "scope <- scope_question question=tea scan={scan}",
    "gathered <- search_passages scope={scope} scan={scan}",
    "found <- extract_evidence scope={scope} passages={gathered.passages} scan={scan}",
]
REPORT = "plan_step_complete Gathered\ncreate_file_with_block research/tea.md\n    {found.citations}\nclose_task\n"
CHANGE = "# FSM: tooling/code_change_fsm.json\n"
EDIT = "replace_with_git_merge_diff docs/tea.md\n    <<<<<<< SEARCH\n    Tea.\n    =======\n    Coffee.\n    >>>>>>> REPLACE\n"


def work(*steps: str) -> str:
    """A plan of the development cycle with these steps as its work."""
    return BEGIN + "".join(f"{step}\n" for step in steps) + END


def foreign(*steps: str) -> str:
    """A plan about other people's technology: its first line says so."""
    return work(*steps).replace("set_plan ", "set_plan external: ", 1)


def research(*phases: str, report: str = REPORT) -> str:
    """A plan of the research cycle that gathers in these steps."""
    return RESEARCH + "".join(f"{step}\n" for step in phases) + report


def written(path: str, text: str = "x") -> str:
    return f"overwrite_file_with_block {path}\n    {text}\nread_file {path}"


TURNS = """{"states": ["REST", "WRITTEN"], "alphabet": ["read_op", "write_op"], "start_state": "REST", "accept_states": ["REST"],
"transitions": {"REST": {"read_op": "REST", "write_op": "WRITTEN"}, "WRITTEN": {"read_op": "REST"}}}"""
UPDATER = "run_in_bash_session python3 tooling/protocol_updater.py add-tool --protocol-id tea --tool-name kettle"
SEARCH, WEB = "google_search current way to boil water", "view_text_website https://example.org/tea"

BROKEN: dict[str, list[tuple[str, str]]] = {
    # rule: [(a plan that breaks it, one that differs in this and does not)]
    "l4-deep-research-cycle": [
        (research(*PHASES, "delete_file docs/tea.md"), research(*PHASES)),
        (research(*PHASES, "rename_file docs/tea.md docs/old.md"), research(*PHASES)),
    ],
    "phase1-deconstruction": [
        (work("delete_file docs/tea.md"), work("read_file docs/tea.md", "delete_file docs/tea.md")),
        (work(EDIT, "read_file docs/tea.md"), work("grep Tea docs", EDIT, "read_file docs/tea.md")),
        (
            work("rename_file docs/tea.md docs/old.md", "list_files docs"),
            work(
                "run_in_bash_session git log docs",
                "rename_file docs/tea.md docs/old.md",
                "list_files docs",
            ),
        ),
    ],
    "rag-mandate": [
        (foreign(written("docs/a.md")), foreign(SEARCH, written("docs/a.md"))),
        (foreign(written("docs/a.md"), SEARCH), work(written("docs/a.md"))),
        (
            foreign("if 1 == 2", f"    {SEARCH}", written("docs/a.md")),
            foreign("if 1 == 2", f"    {SEARCH}", "else", f"    {WEB}", written("docs/a.md")),
        ),
    ],
    "fdc-toolchain-mandate": [
        (work(written("logs/activity.log.jsonl")), work(written("docs/logs.md"))),
        (work("list_files logs", "delete_file logs/old.jsonl"), work("read_file logs/old.jsonl")),
        (
            work("list_files logs", "rename_file logs/old.jsonl docs/old.jsonl", "list_files docs"),
            work("list_files docs", "rename_file docs/tea.md docs/old.md", "list_files docs"),
        ),
    ],
    "tests-before-submit": [
        (
            work(written("tooling/kettle.py")),
            work(written("tooling/kettle.py"), "run_in_bash_session make test"),
        ),
        (
            work("run_in_bash_session make test", written("tooling/kettle.py")),
            work(
                written("tooling/kettle.py"),
                "run_in_bash_session .venv/bin/python -m pytest -q tests/cli",
            ),
        ),
    ],
    "registry-management-tool": [
        (
            work(written("knowledge_core/plan_registry.json")),
            work("read_file knowledge_core/plan_registry.json"),
        ),
        (
            work("list_files knowledge_core", "delete_file knowledge_core/plan_registry.json"),
            work("run_in_bash_session python3 tooling/plan_manager.py deregister deep-research"),
        ),
    ],
    "structured-lessons": [
        (
            work(written("knowledge_core/lessons.jsonl")),
            work("run_in_bash_session python3 tooling/knowledge_compiler.py postmortems/a.md"),
        ),
        (
            work("list_files knowledge_core", "delete_file knowledge_core/lessons.jsonl"),
            work("list_files knowledge_core"),
        ),
    ],
    "programmatic-updates": [
        (work(written("protocols/07_plan_registry.protocol.json")), work("list_files protocols")),
        (
            work("list_files protocols", "delete_file protocols/07_plan_registry.protocol.json"),
            NAMED
            + work(
                "create_file_with_block protocols/12_tea.protocol.md\n    # Tea",
                "read_file protocols/12_tea.protocol.md",
            ),
        ),
    ],
    "automated-orchestration": [
        (work(UPDATER), work(UPDATER, "run_in_bash_session fdc protocols build")),
        (
            work("run_in_bash_session make AGENTS.md", UPDATER),
            work(
                UPDATER,
                "read_file protocols/07_plan_registry.protocol.json",
                "run_in_bash_session make AGENTS.md",
            ),
        ),
    ],
    "autonomous-code-suggestion": [
        (
            CHANGE + "overwrite_file_with_block docs/tea.md\n    Coffee.\n",
            CHANGE + "allow write docs/tea.md\n" + EDIT,
        ),
    ],
    "mandate-research-tools": [  # FDC-55
        (
            research(*PHASES, step),
            research(
                *PHASES, "execute_research_protocol target=local_filesystem scope=file path=x"
            ),
        )
        for step in (
            "run_in_bash_session curl https://example.org/tea",
            "read_file docs/tea.md",
            "list_files docs/*.md",
            "grep Tea docs",
            "view_image docs/tea.png",
        )
    ],
    "complex-research": [  # FDC-55
        (work(SEARCH, SEARCH, SEARCH), work(SEARCH, WEB)),
        (
            work("pages <- list_files *", "for page in {pages} max 3", "    " + WEB),
            work(WEB, "read_file docs/tea.md", WEB),
        ),
    ],
    "structured-research-phases": [
        (
            research(
                "hits <- grep Tea docs",
                SEARCH,
                WEB,
                report=REPORT.replace("{found.citations}", "{hits}"),
            ),
            research(*PHASES),
        ),
    ],
    "gathering-before-extraction": [
        (
            research(*PHASES[:2], WEB, report=REPORT.replace("{found.citations}", "{scope}")),
            research(*PHASES[:3], WEB, PHASES[3]),
        ),
    ],
    "extraction-before-synthesis": [
        (
            research(
                *PHASES[:3], report=REPORT.replace("{found.citations}", "{gathered.passages}")
            ),
            research(*PHASES),
        ),
    ],
    "checked-before-answered": [
        (
            EXPLORE.replace(
                "check_synthesis proposal={synthesis} findings={findings}",
                "gate_track question=x track=x found=x evidence=x checked={synthesis}",
            ),
            EXPLORE,
        ),
    ],
}

CODES: dict[str, str] = {
    # a plan for each code by which a rule of ours is enforced
    "FDC114": work("# fdc: ignore[FDC313] nothing is wrong here", "read_file docs/tea.md"),
    "FDC115": work("# fdc: ignore[FDC441]", written("docs/a.md")),
    "FDC116": work("iterate until 1 == 2", "    read_file docs/tea.md"),
    "FDC117": work("name <- read_file docs/tea.md", "call_plan {name}"),
    "FDC118": "# nothing\n",
    "FDC119": "1. **Read the tea page.**\n2. **Close the task.**\n",
    "FDC201": "# FSM: tooling/tea_fsm.json\n" + work("read_file docs/tea.md"),
    "FDC202": "# FSM: docs/tea.json\n" + work("read_file docs/tea.md"),
    "FDC301": work("boil_water docs/tea.md"),
    "FDC306": work("reset_all"),
    "FDC471": work("page <- view_text_website https://example.org/", "read_file {page}"),
    "FDC472": work(
        "page <- view_text_website https://example.org/",
        'if page == ""',
        "  run_in_bash_session ls",
    ),
    "FDC473": work("for_each_file docs/*.md as page", '  run_in_bash_session sh -c "cat {page}"'),
    "FDC307": work("run_in_bash_session fdc start --task-id T-2"),
    "FDC321": work("call_plan no-such-plan"),
    "FDC322": work("call_plan FDC322.plan"),
    "FDC324": work("call_plan deep-research question=tea"),
    "FDC401": work("submit"),
    "FDC402": BEGIN + "close_task\n",
    "FDC403": BEGIN + END + "message_user done\n",
    "FDC404": work("define_set_of_names all words"),
    "FDC323": work("call_plan chain-2.plan"),
    "FDC405": (
        "# FSM: docs/turns_fsm.json\nnames <- list_files docs\nfork name in {names} max 4\n"
        "    overwrite_file_with_block out/{name}\n        x\n    read_file out/{name}\n"
    ),
    "FDC441": work("create_file_with_block docs/a.md\n    x"),
}
ELSEWHERE = {"FDC325", "FDC326", "FDC328", "FDC329", "FDC501", "FDC502", "FDC503"}
"""Codes that other workspaces, or another command, show."""


def named(rule: str, number: int, kind: str) -> str:
    """The file of a plan."""
    return f"{rule}-{number}-{kind}.plan"


def furnished(root: Path) -> Path:
    """A workspace with this repository's protocols, and what their rules speak of."""
    (root / "docs").mkdir()
    (root / "docs" / "tea.md").write_text("Tea.\n", "utf-8")
    (root / "docs" / "tea.json").write_text("{}", "utf-8")
    (root / "docs" / "turns_fsm.json").write_text(TURNS, "utf-8")
    for number in range(2, 12):
        step = f"call_plan chain-{number + 1}.plan" if number < 11 else "read_file docs/tea.md"
        (root / f"chain-{number}.plan").write_text(step + "\n", "utf-8")
    (root / "logs").mkdir()
    for name in ("old", "activity.log"):
        (root / "logs" / f"{name}.jsonl").write_text("", "utf-8")
    for pattern in ("protocols/*.json", "plans/**/*.plan", "plans/**/*.json", "tooling/*.json", "tooling/*.py",
                    "knowledge_core/*.json"):  # fmt: skip
        for file in ROOT.glob(pattern):
            target = root / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    (root / "knowledge_core" / "lessons.jsonl").write_text("", "utf-8")
    (root / "VERSION").write_text("1.0.0\n", "utf-8")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").write_text("", "utf-8")
    return root


def _all(root: Path) -> dict[str, list[tuple[str, str, str]]]:
    """What is found in each plan of the tables: code, severity and message; one process."""
    furnished(root)
    (root / "deep-research").write_text(work("read_file docs/tea.md"), "utf-8")
    plans = {f"{code}.plan": text for code, text in CODES.items()}
    for rule, pairs in BROKEN.items():
        for number, (bad, good) in enumerate(pairs):
            plans |= {named(rule, number, "breaks"): bad, named(rule, number, "keeps"): good}
    (root / "fdc.toml").write_text('packs = ["research"]\n', "utf-8")
    for name, text in plans.items():
        (root / name).write_text(text, "utf-8")
    return linted(root, *plans)


def linted(root: Path, *plans: str) -> dict[str, list[tuple[str, str, str]]]:
    done = fdc("lint", "--format", "json", *plans, cwd=root)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for item in json.loads(done.stdout)["diagnostics"]:
        found[item["path"]].append((item["code"], item["severity"], item["message"]))
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str, str]]]:
    return _all(tmp_path_factory.mktemp("rules"))


def codes_of(check: dict[str, Any]) -> list[str]:
    codes = check.get("code", [])
    return [codes] if isinstance(codes, str) else codes


def test_most_rules_are_checked_and_each_check_is_tested() -> None:
    assert len(CHECKED) >= 20
    assert TEMPLATES == sorted(BROKEN)
    assert {code for check in CHECKED.values() for code in codes_of(check)} == set(
        CODES
    ) | ELSEWHERE


@pytest.mark.parametrize("rule", TEMPLATES)
def test_a_plan_that_breaks_the_rule_is_found_and_one_that_does_not_is_clean(
    rule: str, found: Any
) -> None:
    """FDC-52, FDC-63, FDC-64 and the seed's rules, each by its check."""
    grade = CHECKED[rule].get("severity", "error")
    for number in range(len(BROKEN[rule])):
        bad = found[named(rule, number, "breaks")]
        assert [("FDC461", grade)] == [item[:2] for item in bad if f"`{rule}`" in item[2]], (
            number,
            bad,
        )
        assert [] == found[named(rule, number, "keeps")], number


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_that_enforces_a_rule_is_found_in_a_plan_that_breaks_it(
    code: str, found: Any
) -> None:
    assert code in {item[0] for item in found[f"{code}.plan"]}, found[f"{code}.plan"]


def said(root: Path, *command: str, script: str = "fdc_cli.py") -> set[str]:
    """The codes that a command reports."""
    done = fdc(*command, cwd=root, script=script)
    return set(re.findall(r"\[(FDC\d{3})\]", done.stdout + done.stderr))


def test_a_registry_that_breaks_its_rule_is_found_and_ours_is_not(tmp_path: Path) -> None:
    """registry-definition (FDC-40)."""
    root = furnished(tmp_path)
    registry = root / "knowledge_core" / "plan_registry.json"
    (root / "a.plan").write_text(work("read_file docs/tea.md"), "utf-8")
    assert set() == said(root, "audit", script="plan_manager.py") | said(root, "lint", "a.plan")
    registry.write_text('{"tea": "plans/no-such.plan"}', "utf-8")
    assert {"FDC328"} == said(root, "audit", script="plan_manager.py")
    registry.write_text('{"tea": ["plans/tea.plan"]}', "utf-8")
    assert {"FDC325"} == said(root, "lint", "a.plan")
    registry.unlink()
    assert {"FDC329"} == said(root, "audit", script="plan_manager.py")


def test_a_source_that_breaks_its_rule_is_found_and_ours_are_not(tmp_path: Path) -> None:
    """aorp-versioning, programmatic-rule-refinement (FDC-80, FDC-95, FDC-96)."""
    root = furnished(tmp_path)
    source = root / "protocols" / "07_plan_registry.protocol.json"
    text = source.read_text("utf-8")
    assert not said(root, "protocols", "build") & {"FDC501", "FDC502", "FDC503"}
    source.write_text(text.replace('"description": "Reusable', '"descriptoin": "Reusable'), "utf-8")
    assert "FDC501" in said(root, "protocols", "build")
    source.write_text(text.replace("registry-first-resolution", "registry-definition"), "utf-8")
    assert "FDC502" in said(root, "protocols", "build")
    source.write_text(text, "utf-8")
    (root / "VERSION").write_text("1.0\n", "utf-8")
    assert "FDC503" in said(root, "protocols", "build")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.protocol.json", '{"protocol_id": "a", "description": "A.", "rules": ['),
        ("a.protocol.json", '{"protocol_id": "a", "description": "A."}'),
        ("a.protocol.yaml", "protocol_id: a\nrules: [\n"),
    ],
)
def test_a_plan_is_not_proved_beside_a_source_that_cannot_be_read(
    workspace: Path, name: str, text: str
) -> None:
    """A file that was cut off before its checks passed: nothing in it says `check`."""
    (workspace / "protocols").mkdir()
    (workspace / "protocols" / name).write_text(text, "utf-8")
    (workspace / "a.plan").write_text(work("hello_world"), "utf-8")
    done = fdc("lint", "a.plan", cwd=workspace)
    assert done.returncode == 1 and f"--> protocols/{name}:" in done.stdout, done
    assert {"FDC501"} == said(workspace, "lint", "a.plan")


def test_under_the_profile_of_the_seeds_only_research_may_be_called(tmp_path: Path) -> None:
    """bounded-recursion (C-01)."""
    root = furnished(tmp_path)
    (root / "fdc.toml").write_text('profile = "fdc"\n', "utf-8")
    (root / "a.plan").write_text(work("call_plan chain-11.plan"), "utf-8")
    (root / "b.plan").write_text(work("call_plan deep-research question=tea"), "utf-8")
    found = linted(root, "a.plan", "b.plan")
    assert ["FDC326"] == [item[0] for item in found["a.plan"]]
    assert "FDC326" not in {item[0] for item in found["b.plan"]}


def test_the_plan_library_keeps_every_rule(tmp_path: Path) -> None:
    plans = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "plans").rglob("*.plan"))
    assert plans and {} == linted(furnished(tmp_path), *plans)
