"""Rules that hold for each path on its own: what can be told before the run, and what cannot (FDC-64, FDC-104)."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.rules.protocol_rules import per_value
from fdc_toolchain.rules.solver import values
from fdc_toolchain.text import glob_match

from tests.support.linting import findings, lint

READ_BACK = {"template": "response", "same": "path", "a": "write_op", "b": "read_file"}
GATE = 'require cited("x") else "no"\n'
FORK = "items <- list_files\nfork x in {items} max 3\n  "
OPENED = {"template": "alternate_succession", "same": "path", "a": "write_op", "b": "delete_file"}


def verdict(text: str, check: dict, **fragments: str) -> tuple[str, list[str]]:
    rule = {"rule_id": "r", "description": "Tea.", "enforcement": "Tea.", "check": check}
    source = json.dumps({"protocol_id": "p", "description": "Tea.", "rules": [rule]})
    files = {"a.plan": text, "protocols/": "p.protocol.json", "protocols/p.protocol.json": source}
    checked = lint(
        {**files, **{f"{name}.plan": body for name, body in fragments.items()}}, "a.plan"
    )
    found = findings(checked, "FDC461", "FDC463")
    codes = {item.code for item in found}
    return "violated" if "FDC461" in codes else "unproved" if codes else "holds", [
        item.message for item in found
    ]


def write(path: str) -> str:
    return f"overwrite_file_with_block {path}\n    x\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (write("a.md") + "read_file a.md\n", "holds"),
        (write("a.md") + "read_file b.md\n", "violated"),
        (write("a.md") + "read_file ./a.md\n", "holds"),
        ("param p\n" + write("docs/{p}") + "read_file docs/{p}\n", "holds"),
        ("param p\n" + write("docs/{p}"), "violated"),
        ("param p\nparam q\n" + write("docs/{p}") + "read_file docs/{q}\n", "unproved"),
        ("param p\n" + write("docs/{p}") + "read_file docs/a.md\n", "unproved"),
        ("param p\n" + write("docs/a.md") + "read_file {p}\n", "unproved"),
        ("param p\n" + write("docs/a.md") + "read_file src/{p}\n", "violated"),
        ("param p\n" + write("{p}") + 'if cited("x")\n  read_file {p}\n', "violated"),
        (write("{run}/notes.md") + "read_file {run}/notes.md\n", "holds"),
        (
            "for_each_file docs/*.md as f\n  "
            + write("{f}").replace("    x", "      x")
            + "  read_file {f}\n",
            "holds",
        ),
        ("for_each_file docs/*.md as f\n  " + write("{f}").replace("    x", "      x"), "violated"),
        (write("a.md") + "for_each_file *.md as f\n  read_file {f}\n", "holds"),
        (write("a.md") + "for_each_file *.txt as f\n  read_file {f}\n", "violated"),
        (
            write("a.md") + "delete_file a.md\nfor_each_file *.md as f\n  read_file {f}\n",
            "violated",
        ),
        ("call_plan w.plan page=a.md\nread_file a.md\n", "holds"),
        ("call_plan w.plan page=a.md\nread_file b.md\n", "violated"),
        ("param p\ncall_plan w.plan page={p}\nread_file {p}\n", "holds"),
    ],
)
def test_what_is_written_is_read(text: str, expected: str) -> None:
    assert verdict(text, READ_BACK, w="param page\n" + write("{page}"))[0] == expected


def test_a_finding_names_the_value_or_one_such_as_it() -> None:
    assert "for the path `a.md`" in verdict(write("a.md"), READ_BACK)[1][0]
    assert (
        "for a path such as `docs/x`" in verdict("param p\n" + write("docs/{p}"), READ_BACK)[1][0]
    )


def test_each_file_takes_its_own_turns() -> None:
    assert (
        verdict(write("a.md") + write("b.md") + "delete_file a.md\ndelete_file b.md\n", OPENED)[0]
        == "holds"
    )
    assert verdict(write("a.md") + write("a.md") + "delete_file a.md\n", OPENED)[0] == "violated"


def test_turns_for_other_files_come_after_the_one_for_this_file_too() -> None:
    """`docs/a.md` is written in every turn, and read in its own: it is written after that unless there is one turn only."""
    once = {"template": "not_succession", "same": "path", "a": "read_file", "b": "write_op"}
    body = "  overwrite_file_with_block docs/a.md\n      x\n  read_file {f}\n"
    assert verdict("for_each_file docs/* as f\n" + body, once)[0] == "violated"
    assert verdict("for_each_file docs/* as f max 1\n" + body, once)[0] == "holds"


def test_kinds_has_a_witness_of_every_combination_of_globs_that_some_path_has() -> None:
    globs = [
        values.Glob(glob_match.compiled([(False, glob)]))
        for glob in ("docs/**", "**/*.md", "docs/a*")
    ]
    found = values.kinds(["docs/a.md"], globs, paths=True)
    assert found is not None
    assert found[0] == values.Value("docs/a.md", True)
    combinations = {tuple(values.member(one.text, glob) for glob in globs) for one in found[1:]}
    paths = ["docs/a", "docs/ab.md", "docs/b", "docs/b.md", "x", "x.md", "docs/a/b", "docs/a/b.md"]
    assert combinations == {tuple(values.member(path, glob) for glob in globs) for path in paths}


def test_a_witness_is_the_shortest_of_its_kind_and_names_a_file_where_one_does() -> None:
    globs = [values.Glob(glob_match.compiled([(False, glob)])) for glob in ("docs/**", "*a*")]
    found = values.kinds([], globs, paths=True)
    assert found is not None
    assert {one.text for one in found} == {"x", "a", "docs/x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GATE + write("a.md"), "violated"),
        (write("a.md") + GATE, "holds"),
        ("call_plan gate.plan\n" + write("a.md"), "violated"),
        ('if cited("y")\n  ' + GATE + write("a.md"), "violated"),
        (FORK + GATE + write("a.md"), "violated"),
        (write("a.md") + FORK + GATE, "holds"),
    ],
)
def test_a_gate_is_an_end_of_the_run_where_a_rule_counts_aborts(text: str, expected: str) -> None:
    check = {"template": "existence", "a": "write_op", "on_abort": "check"}
    assert verdict(text, check, gate=GATE)[0] == expected
    assert verdict(text, {**check, "on_abort": "ignore"}, gate=GATE)[0] == "holds"


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("src/{p}/*", "holds"),
        ("docs/{p}", "violated"),
        ("doc[s]/{p}", "violated"),
        ("{p}", "violated"),
    ],
)
def test_a_loop_over_files_whose_glob_is_computed_may_go_through_each_file_that_it_can_name(
    glob: str, expected: str
) -> None:
    check = {**OPENED, "b": "read_file"}
    text = f"param p\n{write('docs/a.md')}read_file docs/a.md\nfor_each_file {glob} as f\n  read_file {{f}}\n"
    assert verdict(text, check)[0] == expected


@pytest.mark.parametrize(("most", "said"), [(9, "violated"), (1, "unproved")])
def test_more_values_than_are_looked_at_prove_nothing(
    monkeypatch: pytest.MonkeyPatch, most: int, said: str
) -> None:
    monkeypatch.setattr(per_value, "MOST_VALUES", most)
    found, [message] = verdict(write("a.md") + "read_file b.md\n", READ_BACK)
    assert found == said
    assert (most == 1) is message.endswith("names more values than fdc checks one by one")


def test_as_many_values_as_are_looked_at_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    text = write("a.md") + "read_file a.md\n"
    proved = []
    for most in range(6):
        monkeypatch.setattr(per_value, "MOST_VALUES", most)
        proved.append(verdict(text, READ_BACK)[0] == "holds")
    assert proved == [False, False, True, True, True, True]
