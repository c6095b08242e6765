"""Every rule's explanation is true: its example gives the finding, what stands below `Instead` gives none."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.diagnostics.codes import BY_NAME, CODES
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.diagnostics.edits import apply
from fdc_toolchain.report import explanations

from tests.support import spec
from tests.support.repository import PACKAGE

FOLDER = PACKAGE / "explain"

RULES = sorted(BY_NAME)


def page(rule: str) -> str:
    return (FOLDER / f"{rule}.md").read_text("utf-8")


def test_every_rule_has_an_explanation_and_every_explanation_a_rule() -> None:
    assert RULES == sorted(path.stem for path in FOLDER.iterdir())


@pytest.mark.parametrize("rule", RULES)
def test_an_explanation_has_its_four_parts_and_names_its_rule(rule: str) -> None:
    found = explanations.load(BY_NAME[rule])
    assert explanations.HEADINGS == tuple(found.sections)
    assert all(text.strip() for text in found.sections.values())
    assert found.markdown.startswith(f"# {rule} ({BY_NAME[rule]})\n\n## ")
    assert found.markdown.endswith("\n") and not found.markdown.endswith("\n\n")
    assert max(len(line) for line in found.markdown.split("\n")) <= 100


@pytest.mark.parametrize("rule", RULES)
def test_the_example_has_the_finding_and_what_to_do_instead_has_none(
    rule: str, tmp_path: Path
) -> None:
    wrong = spec.run(page(rule), tmp_path)
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("rule", RULES)
def test_the_example_expects_the_rule_and_instead_expects_nothing(rule: str) -> None:
    by_heading = {section.heading: section for section in spec.sections(page(rule))}
    assert {"Example", "Instead"} == set(by_heading)
    expected = by_heading["Example"].expected
    assert (CODES[BY_NAME[rule]].severity, rule) in {
        (item.severity, item.rule) for item in expected
    }
    assert [] == by_heading["Instead"].expected


@pytest.mark.parametrize("rule", RULES)
def test_a_fix_removes_its_finding_and_breaks_nothing(rule: str, tmp_path: Path) -> None:
    section = next(section for section in spec.sections(page(rule)) if section.heading == "Example")
    (tmp_path / "knowledge_core").mkdir()
    spec.write(section, tmp_path)

    def look() -> list[Diagnostic]:
        return check_paths(
            [str(tmp_path / name) for name in section.plans], str(tmp_path)
        ).diagnostics

    before = look() if section.plans else []
    for item in before:
        if item.fix is None:
            continue
        file = tmp_path / item.span.path
        data = file.read_bytes()
        text, applied = apply(data.decode("utf-8", "surrogateescape"), [item.fix])
        assert [item.fix] == applied
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        after = look()
        file.write_bytes(data)
        assert _count(after, item.code) < _count(before, item.code)
        assert {other.code for other in after if other.severity == "error"} <= {
            other.code for other in before
        }


def _count(found: list[Diagnostic], code: str) -> int:
    return sum(1 for item in found if item.code == code)


PAGE = """\
# A page

## One

```plan
set_plan x
## error: [unknown-tool] "read_fil"
read_fil x
```

Words.

```json name=a.json
{
## warning: [dead-state]
}
```

## Two

```plan escaped
a\\u{feff}b\\x{ff}
```

```findings
VERSION:1: error: [malformed-version]
```

```console
$ fdc lint --strict example.plan
...
```
"""


def test_a_page_is_read_as_it_says() -> None:
    one, two = spec.sections(PAGE)
    assert {"example.plan": b"set_plan x\nread_fil x\n", "a.json": b"{\n}\n"} == one.files
    assert ["example.plan"] == one.plans and one.command is None
    assert [
        ("example.plan", 2, "error", "unknown-tool", "read_fil"),
        ("a.json", 2, "warning", "dead-state", None),
    ] == [(item.path, item.line, item.severity, item.rule, item.message) for item in one.expected]
    assert {"example.plan": "a\ufeffb".encode() + b"\xff\n"} == two.files
    assert "fdc lint --strict example.plan" == two.command
    assert [("VERSION", 1, "malformed-version")] == [
        (item.path, item.line, item.rule) for item in two.expected
    ]


SILENT = """\
# A page

## One

```plan
# FSM: tooling/fdc_fsm.json
set_plan x
plan_step_complete y
close_task
submit
```
"""


@pytest.mark.parametrize(
    ("line", "report"),
    [
        ("read_fil x", "section `One`: unexpected example.plan:4:1: error: [unknown-tool]"),
        (
            "## error: [unknown-tool]\nlist_files .",
            "line 9: missing    example.plan:4: error: [unknown-tool]",
        ),
        (
            "## warning: [unknown-tool]\nread_fil x",
            "line 9: missing    example.plan:4: warning: [unknown-tool]",
        ),
        (
            '## error: [unknown-tool] "tea"\nread_fil x',
            'missing    example.plan:4: error: [unknown-tool] "tea"',
        ),
        (
            "## error: 2 [unknown-tool]\nread_fil x",
            "missing    example.plan:4: error: 2 [unknown-tool]",
        ),
        ("## error: [unknown-tool]\n## error: [unknown-tool]\nread_fil x", "line 10: missing"),
    ],
)
def test_a_planted_lie_is_found(line: str, report: str, tmp_path: Path) -> None:
    assert [] == spec.run(SILENT, tmp_path / "clean")
    wrong = spec.run(SILENT.replace("close_task", f"{line}\nclose_task"), tmp_path / "wrong")
    assert any(report in row for row in wrong), wrong


def test_a_block_that_does_not_end_is_refused() -> None:
    with pytest.raises(ValueError, match="line 3: the block does not end"):
        spec.sections("# A\n\n```plan\nx\n")
