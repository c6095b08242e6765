"""`fdc lint` in every output format, as CI systems and editors start it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.verdict_line import verdict_line
from fdc_toolchain.report.sarif import help_uri

from tests.support import workflow_commands
from tests.support.process import fdc

PLAN = """\
# FSM: tooling/fdc_fsm.json
set_plan Read the tea page
plan_step_complete ready
list_file docs
notes <- grep tea docs
close_task
submit
"""


@pytest.fixture
def plan(workspace: Path) -> Path:
    """A workspace with a plan that has one error (with an unsafe fix) and one warning."""
    (workspace / "docs").mkdir()
    (workspace / "example.plan").write_text(PLAN, "utf-8")
    return workspace


def lint(folder: Path, form: str, *more: str) -> str:
    run = fdc("lint", "example.plan", "--format", form, *more, cwd=folder)
    assert (1, "") == (run.returncode, run.stderr)
    return run.stdout


def test_text_shows_the_line_and_the_caret(plan: Path) -> None:
    out = lint(plan, "text")
    assert "error[FDC301] unknown-tool: " in out
    assert " --> example.plan:4:1\n  |\n4 | list_file docs\n  | ^^^^^^^^^\n" in out
    assert out.endswith("1 error, 1 warning in 1 file\n")


def test_concise_is_what_editors_parse(plan: Path) -> None:
    first, second = lint(plan, "concise").splitlines()
    assert first.startswith("example.plan:4:1: error[FDC301] ") and first.endswith(
        " (unknown-tool)"
    )
    assert second.startswith("example.plan:5:1: warning[FDC313] ") and second.endswith(
        " (unused-name)"
    )


def test_json_and_jsonl_say_the_same(plan: Path) -> None:
    document = json.loads(lint(plan, "json"))
    *rows, summary = [json.loads(line) for line in lint(plan, "jsonl").splitlines()]
    assert (
        ["FDC301", "FDC313"]
        == [item["code"] for item in document["diagnostics"]]
        == [row["code"] for row in rows]
    )
    assert (1, 1, 1) == (summary["errors"], summary["warnings"], summary["files"])


def test_sarif_has_the_rules_explanation_and_the_fix(plan: Path) -> None:
    run = json.loads(lint(plan, "sarif"))["runs"][0]
    rule = run["tool"]["driver"]["rules"][0]
    assert "FDC301" == rule["id"] and "## Why it matters" in rule["help"]["markdown"]
    change = run["results"][0]["fixes"][0]["artifactChanges"][0]
    assert {"uri": "example.plan", "uriBaseId": "%SRCROOT%"} == change["artifactLocation"]
    assert "list_files" == change["replacements"][0]["insertedContent"]["text"]


def test_github_annotates_the_lines(plan: Path) -> None:
    *lines, summary = lint(plan, "github").splitlines()
    commands = [workflow_commands.read(line) for line in lines]
    assert [("error", "4"), ("warning", "5")] == [
        (c.name, c.properties["line"]) for c in commands if c
    ]
    assert "1 error, 1 warning in 1 file" == summary


def test_sarif_names_the_page_of_a_rule_where_the_pages_are_known(plan: Path) -> None:
    def uris(docs: str) -> list[object]:
        done = fdc("lint", "--format", "sarif", "example.plan", cwd=plan, env={"FDC_DOCS": docs})
        return [
            rule.get("helpUri")
            for rule in json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]
        ]

    at = "https://git.example/fdc/blob/v1/docs"
    assert [f"{at}/rules.md#unknown-tool", f"{at}/rules.md#unused-name"] == uris(at + "/")
    assert [None, None] == uris("javascript:alert(1)")


def test_the_page_of_a_rule_is_on_the_site_that_the_project_declares() -> None:
    urls = ["Source, https://git.example/fdc", "Documentation, https://fdc.example/"]
    assert "https://fdc.example/rules/FDC301.html" == help_uri("FDC301", "", urls)
    assert "https://a.example/docs/rules.md#unknown-tool" == help_uri(
        "FDC301", "https://a.example/docs/", urls
    )
    assert (
        ""
        == help_uri("FDC301", "", urls[:1])
        == help_uri("FDC301", "", ["Documentation, file:///etc"])
    )


def test_gitlab_gets_an_entry_with_a_fingerprint_of_its_own_for_each_finding(plan: Path) -> None:
    before = json.loads(lint(plan, "gitlab"))
    assert [("FDC301", "major", 4), ("FDC313", "minor", 5)] == [
        (item["check_name"], item["severity"], item["location"]["lines"]["begin"])
        for item in before
    ]
    text = (plan / "example.plan").read_text("utf-8")
    head, _, rest = text.partition("\n")
    (plan / "example.plan").write_text(f"{head}\n# one line more\n{rest}", "utf-8")
    after = json.loads(lint(plan, "gitlab"))
    assert [5, 6] == [item["location"]["lines"]["begin"] for item in after]
    marks = [item["fingerprint"] for item in before]
    assert marks == [item["fingerprint"] for item in after] and 2 == len(set(marks))


def test_junit_fails_one_case_of_two(plan: Path) -> None:
    tree = xml.fromstring(lint(plan, "junit"))
    assert ("2", "1") == (tree.attrib["tests"], tree.attrib["failures"])


def test_a_report_can_go_to_a_file(plan: Path) -> None:
    assert "" == lint(plan, "sarif", "--output-file", "out.sarif")
    assert "2.1.0" == json.loads((plan / "out.sarif").read_text("utf-8"))["version"]


def test_a_clean_lint_imports_no_renderer(plan: Path) -> None:
    (plan / "example.plan").write_text(
        PLAN.replace("list_file ", "list_files ").replace("notes <- ", ""), "utf-8"
    )
    run = fdc("lint", "example.plan", cwd=plan, env={"PYTHONVERBOSE": "1"})
    assert 0 == run.returncode
    loaded = [line for line in run.stderr.splitlines() if line.startswith("import 'fdc_toolchain")]
    assert any("fdc_toolchain.cli.linting.fast_lint'" in line for line in loaded)
    assert [] == [line for line in loaded if "fdc_toolchain.report" in line]


def test_a_plan_with_warnings_only_is_said_to_be_proved(plan: Path) -> None:
    text = (plan / "example.plan").read_text("utf-8")
    assert "proved" not in lint(plan, "text"), "it has an error"
    (plan / "example.plan").write_text(text.replace("list_file docs", "list_files docs"), "utf-8")
    done = fdc("lint", "example.plan", cwd=plan)
    assert 0 == done.returncode and done.stdout.endswith("\n1 warning in 1 file\n1 plan proved\n")
    first, last = fdc("lint", "-f", "concise", "example.plan", cwd=plan).stdout.splitlines()
    assert "warning[" in first and "1 plan proved" == last


def test_a_fragment_alone_is_no_plan_that_is_proved() -> None:
    assert "1 fragment" == verdict_line(1, 0, 1)
    assert "1 plan proved, 1 fragment" == verdict_line(2, 0, 1)
    assert "no plans found" == verdict_line(0)
