"""`fdc explain` and `fdc rules`, as a user starts them; and docs/rules.md, which they write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.codes import BY_NAME, CODES
from fdc_toolchain.report import explanations

from tests.support.process import fdc
from tests.support.repository import ROOT


@pytest.mark.parametrize("word", ["FDC301", "fdc301", "unknown-tool", "Unknown-Tool"])
def test_a_rule_is_explained_by_its_code_and_by_its_name(word: str, tmp_path: Path) -> None:
    run = fdc("explain", word, cwd=tmp_path)
    assert (0, "") == (run.returncode, run.stderr)
    head, *rest = run.stdout.split("\n")
    assert "error[FDC301] unknown-tool: a tool that no catalogue declares" == head
    headings = [line for line in rest if line and line[0] != " "]
    assert ["What it flags", "Why it matters", "Example", "Instead"] == headings
    assert "    ## error: [unknown-tool]\n    list_file docs\n" in run.stdout


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("unknown-tol", "did you mean `unknown-tool`?"),
        ("FDC3O1", "did you mean `FDC301`?"),
        ("tea", "`fdc rules` lists all of them"),
        ("\x1b[31m", "the rule `\\u{1b}[31m` does not exist"),
    ],
)
def test_a_word_that_is_no_rule_is_wrong_usage_with_a_hint(
    word: str, hint: str, tmp_path: Path
) -> None:
    run = fdc("explain", word, cwd=tmp_path)
    assert (2, "") == (run.returncode, run.stdout)
    assert hint in run.stderr and "Traceback" not in run.stderr


def test_markdown_is_the_explanation_as_it_is_written(tmp_path: Path) -> None:
    run = fdc("explain", "call-cycle", "--format", "markdown", cwd=tmp_path)
    assert (ROOT / "tooling/fdc_toolchain/explain/call-cycle.md").read_text("utf-8") == run.stdout


def test_json_has_every_part(tmp_path: Path) -> None:
    document = json.loads(fdc("explain", "FDC322", "--format", "json", cwd=tmp_path).stdout)
    assert (1, "FDC322", "call-cycle", "error") == tuple(
        document[k] for k in ("format", "code", "rule", "severity")
    )
    assert ["What it flags", "Why it matters", "Example", "Instead"] == list(document["sections"])


def test_several_rules_are_explained_in_their_order(tmp_path: Path) -> None:
    both = json.loads(fdc("explain", "FDC322", "FDC301", "--format", "json", cwd=tmp_path).stdout)
    assert ["FDC322", "FDC301"] == [item["code"] for item in both]


def test_every_rule_is_listed_for_people_and_for_programs(tmp_path: Path) -> None:
    table = fdc("rules", cwd=tmp_path).stdout
    assert [] == [code for code, row in CODES.items() if code not in table or row.name not in table]
    rows = json.loads(fdc("rules", "--format", "json", cwd=tmp_path).stdout)["rules"]
    assert sorted(BY_NAME) == sorted(row["name"] for row in rows)


def test_the_page_about_rules_is_what_make_docs_writes(tmp_path: Path) -> None:
    run = fdc(
        "rules", "--format", "markdown", "--check", str(ROOT / "docs" / "rules.md"), cwd=tmp_path
    )
    assert (0, "") == (run.returncode, run.stderr), "run `make docs`"


def test_a_page_that_was_edited_or_is_gone_is_told(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    arguments = ("rules", "--format", "markdown")
    gone = fdc(*arguments, "--check", "rules.md", cwd=tmp_path)
    assert (1, "rules.md does not exist; create it with `make docs`\n") == (
        gone.returncode,
        gone.stderr,
    )
    assert 0 == fdc(*arguments, "--output", "rules.md", cwd=tmp_path).returncode
    assert 0 == fdc(*arguments, "--check", "rules.md", cwd=tmp_path).returncode
    page.write_text(page.read_text("utf-8").replace("Tea", "Coffee"), "utf-8")
    edited = fdc(*arguments, "--check", "rules.md", cwd=tmp_path)
    assert 1 == edited.returncode and "is out of date" in edited.stderr


def test_writing_and_checking_at_once_is_wrong_usage(tmp_path: Path) -> None:
    assert 2 == fdc("rules", "--output", "a", "--check", "b", cwd=tmp_path).returncode


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    assert "\x1b" not in fdc("explain", "FDC301", cwd=tmp_path).stdout
    assert (
        "\x1b[1;31merror"
        in fdc("explain", "FDC301", cwd=tmp_path, env={"NO_COLOR": "", "FORCE_COLOR": "1"}).stdout
    )


@pytest.mark.parametrize("word", ["301", "fdc301", "FDC301", " Unknown-Tool "])
def test_a_rule_is_found_by_its_number_code_or_name(word: str) -> None:
    assert "FDC301" == explanations.find(word)


@pytest.mark.parametrize("word", ["30", "999", "3010", "³01"])
def test_no_other_number_is_a_rule(word: str) -> None:
    assert explanations.find(word) is None
