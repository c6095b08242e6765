"""Checks in protocols are read closely: a slip of the pen is a finding, never a rule that finds nothing (FDC462, FDC501)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.check import Checked
from fdc_toolchain.linking.project.files import Files

from tests.support.linting import ANY, findings, lint

PLAN = "set_plan x\nread_file a.md\n"
GOOD = {"template": "precedence", "a": "write_op", "b": "submit"}


def linted(
    check: Any, plan: str = PLAN, path: str = "protocols/p.protocol.json", **more: str
) -> Checked:
    rule = {"rule_id": "r", "description": "Tea.", "enforcement": "Tea.", "check": check}
    source = json.dumps({"protocol_id": "p", "description": "Tea.", "rules": [rule]}, indent=1)
    files = {"a.plan": plan, "protocols/": path.removeprefix("protocols/"), path: source, **more}
    return lint(files, "a.plan", there=["a.md"])


@pytest.mark.parametrize(
    ("check", "place", "message", "help_"),
    [
        ([], "[]", "a check is an object", None),
        ({}, "{}", "a check has a `template` or a `code`", None),
        ({"code": "Earl Grey"}, '"Earl Grey"', "`Earl Grey` is not a code of a diagnostic", "`fdc rules`"),
        ({"code": []}, "[]", "names no code", None),
        ({"code": "FDC401", "n": 1}, "1", "unknown key `n` in a check by code", None),
        ({**GOOD, "template": "precedense"}, '"precedense"', "`precedense` is not a valid template", "`precedence`"),
        ({**GOOD, "sevrity": "error"}, '"error"', "unknown key `sevrity` in a check", "`severity`"),
        ({**GOOD, "severity": "fatal"}, '"fatal"', "`fatal` is not a valid severity", "error, warning"),
        ({**GOOD, "on_abort": "explode"}, '"explode"', "`explode` is not a valid on_abort", "ignore, check"),
        ({**GOOD, "c": "submit"}, '"submit"', "`precedence` takes `a`, `b`", None),
        ({"template": "precedence", "a": "submit"}, "{", "`b` is missing", None),
        ({**GOOD, "n": 2}, "2", "`precedence` takes no `n`", "existence, absence, exactly"),
        ({"template": "absence", "a": "submit", "n": 0}, "0", "`n` is a whole number from 1", None),
        ({"template": "absence", "a": "submit", "n": True}, "true", "`n` is a whole number from 1", None),
        ({**GOOD, "a": "write_po"}, '"write_po"', "`write_po` is neither a tool nor an action type", "`write_op`"),
        ({**GOOD, "a": []}, "[]", "the list of events is empty", None),
        ({**GOOD, "a": ["submit", "sumbit"]}, '"sumbit"', "`sumbit` is neither", "`submit`"),
        ({**GOOD, "a": 3}, "3", "an event is an action type", None),
        ({**GOOD, "a": {"tool": "raed_file"}}, '"raed_file"', "declares a tool `raed_file`", "`read_file`"),
        ({**GOOD, "a": {"action": "raed_op"}}, '"raed_op"', "no tool has the action type `raed_op`", "`read_op`"),
        ({**GOOD, "a": {"tool": "read_file", "action": "write_op"}}, "{", "no step of `read_file` is a `write_op`", None),
        ({**GOOD, "a": {"tol": "x"}}, '"x"', "unknown key `tol` in an event", "`tool`"),
        (
            {**GOOD, "a": {"tool": "read_file", "arguments": {"pth": "x"}}}, '"x"',
            "`read_file` has no parameter `pth`", None,
        ),
        ({**GOOD, "a": {"tool": "read_file", "arguments": {}}}, "{}", "`arguments` is an object of globs", None),
        ({**GOOD, "a": {"tool": "read_file", "arguments": {"path": 1}}}, "1", "an argument is described by a glob", None),
        ({**GOOD, "same": "pth"}, '"pth"', "has a parameter `pth`", None),
        ({**GOOD, "where": {"plan": ["x"]}}, "[", "unknown key `plan` in `where`", "`plans`"),
        ({**GOOD, "where": {"plans": "x"}}, '"x"', "`plans` is a list of texts", None),
        ({**GOOD, "where": {"automata": ["gone"]}}, '"gone"', "the automaton `gone` does not exist", "tooling/NAME_fsm.json"),
    ],
)  # fmt: skip
def test_a_check_that_cannot_be_made_out_is_a_finding_at_its_place(
    check: Any, place: str, message: str, help_: str | None
) -> None:
    checked = linted(check)
    [found] = findings(checked, "FDC462")
    assert found.severity == "error"
    assert found.span.path == "protocols/p.protocol.json"
    assert message in found.message
    assert help_ is None or help_ in (found.help or "")
    lines = (checked.context.linker.files.read(found.span.path) or b"").decode().split("\n")
    assert lines[found.span.line - 1][found.span.column - 1 :].startswith(place)


@pytest.mark.parametrize(
    "source",
    [
        '{"protocol_id": "p", "rules": [{"check": }]}',
        '{"protocol_id": "p", "rules": [{"rule_id": "r", "check": {}, "check": {}}]}',
        '{"protocol_id": "p", "rules": {"check": {}}}',
        '{"protocol_id": "p", "rules": [{"check": {}}]}',
        '["check"]',
        '{"rules": [{"rule_id": "r", "description": "x", "check": {}}]}',
        '{"protocol_id": "p", "rules": [{"rule_id": "r", "description": "x", "ch\\u0065ck": ]}',
        "[" * 100_000 + '"check"',
    ],
)
def test_a_source_in_which_checks_may_be_lost_is_a_finding(source: str) -> None:
    files = {"a.plan": PLAN, "protocols/": "p.protocol.json", "protocols/p.protocol.json": source}
    assert "FDC501" in {item.code for item in findings(lint(files, "a.plan", there=["a.md"]))}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("p.protocol.json", json.dumps({"protocol_id": "p", "rules": []}).encode("utf-16")),
        ("p.protocol.json", b'{"protocol_id": "\xff"}'),
        ("p.protocol.yaml", rb'{"protocol_id": "p", "rules": [{"\x63heck": {}}], "rules": []}'),
        ("p.protocol.json", None),
    ],
    ids=["UTF-16", "Latin-1", "an escape of YAML", "no file"],
)
def test_a_source_that_cannot_be_read_may_have_checks(name: str, data: bytes | None) -> None:
    """The rules of such a source were dropped without a word, and plans that break them were proved."""
    path = f"protocols/{name}"
    files: dict[str, str | bytes] = {"a.plan": PLAN, "protocols/": name}
    found = findings(
        lint(files if data is None else {**files, path: data}, "a.plan", there=["a.md"])
    )
    assert [(item.code, item.span.path) for item in found] == [("FDC501", path)], found


def test_a_source_may_have_a_line_end_in_its_name(tmp_path: Path) -> None:
    """Its rules were dropped: the list of sources had one name in a line."""
    (tmp_path / "protocols").mkdir()
    names = ["a\nb.protocol.json", "c.protocol.json"]
    for name in names:
        (tmp_path / "protocols" / name).write_text("{}")
    assert Files(str(tmp_path)).protocols("protocols") == [f"protocols/{name}" for name in names]


def test_a_rule_speaks_of_the_plans_that_it_names() -> None:
    never = {"template": "absence", "a": "read_op"}

    def codes(**where: Any) -> set[str]:
        return {item.code for item in findings(linted({**never, **where}), "FDC461", "FDC462")}

    assert codes() == {"FDC461"}
    assert codes(where={"plans": ["a.plan"]}) == {"FDC461"}
    assert codes(where={"plans": ["lib/**", "*.plan"]}) == {"FDC461"}
    assert codes(where={"plans": ["lib/**"]}) == set()
    assert codes(where={"automata": ["any.json"]}) == {"FDC461"}
    assert codes(where={"automata": ["fdc"]}) == set()
    assert codes(where={"automata": ["any.json"], "plans": ["lib/**"]}) == set()


def test_steps_of_called_plans_count_whatever_automaton_governs_them() -> None:
    never = {"template": "absence", "a": "read_op"}
    for head in ("", "use fsm any.json\n"):
        [found] = findings(
            linted(never, "call_plan sub.plan\n", **{"sub.plan": head + "read_file a.md\n"}),
            "FDC461",
        )
        assert found.span[:2] == ("a.plan", 1)
        assert "(reached in `sub.plan`" in found.message
        assert found.labels[-1].message == "Tea."
        assert found.labels[-1].span.path == "protocols/p.protocol.json"


def test_a_run_that_stops_early_owes_what_the_rule_says() -> None:
    gated = 'set_plan x\nrequire cited("x") else "no"\nread_file a.md\n'
    needs = {"template": "existence", "a": "read_op"}
    assert findings(linted(needs, gated), "FDC461") == []
    [found] = findings(linted({**needs, "on_abort": "check"}, gated), "FDC461")
    assert found.span.line == 1


def test_severity_is_that_of_the_check() -> None:
    [found] = findings(
        linted({"template": "absence", "a": "read_op", "severity": "warning"}), "FDC461"
    )
    assert found.severity == "warning"


def test_of_two_rules_of_which_one_does_not_speak_of_a_plan_the_other_is_broken_in_it():
    """In one protocol, whose rules are looked at together: what the first is not about, the second is."""
    own = {"template": "absence", "a": "read_op", "where": {"automata": ["any.json"]}}
    both = [own, {"template": "absence", "a": "write_op"}]
    rules = [
        {"rule_id": f"r{n}", "description": "Tea.", "enforcement": "Tea.", "check": one}
        for n, one in enumerate(both)
    ]
    files = {
        "a.plan": "call_plan sub.plan\n", "sub.plan": "use fsm other.json\nread_file a.md\noverwrite_file_with_block b.md\n  x\n",
        "other.json": ANY, "protocols/": "p.protocol.json",
        "protocols/p.protocol.json": json.dumps({"protocol_id": "p", "description": "Tea.", "rules": rules}),
    }  # fmt: skip
    found = findings(lint(files, "a.plan", there=["a.md"]), "FDC461")
    assert [("r1", True)] == [("r1", "r1" in item.message) for item in found], [
        item.message for item in found
    ]
