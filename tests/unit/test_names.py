"""Names: bound before used, used once bound, not hidden, with fields that exist (FDC-22, design 5)."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.diagnostics.edits import apply
from fdc_toolchain.rules import names

from tests.support.linting import findings, lint, places


def found(text: str) -> list[tuple[int, str]]:
    return [
        (line, code)
        for _, line, code in places(lint(text))
        if code not in ("FDC411", "FDC412", "FDC441", "FDC481")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # bound by a parameter, a step, a call, a loop; and by nothing
        ("param p\nmessage_user {p}\n", []),
        ("r <- list_files\nmessage_user {r}\n", []),
        ("for_each_file *\n  message_user {file1}\n", []),
        ("for_each_file * as f\n  message_user {f} {file1}\n", []),
        ("for_each_file *\n  for_each_file *\n    message_user {file1} {file2}\n", []),
        ('for x in "a" max 2\n  message_user {x}\n', []),
        ("message_user {run}\n", []),
        # an `allow` line is read where the plan begins
        ("param p\nallow read {p}/** {run}/**\nmessage_user x\n", []),
        (
            "allow read {nobody}/** **\nnobody <- list_files\nmessage_user {nobody}\n",
            [(1, "FDC311")],
        ),
        ("message_user {nobody}\n", [(1, "FDC311")]),
        ("message_user {r}\nr <- list_files\n", [(1, "FDC311")]),
        (
            "message_user {r}\nr <- raed_file a.md",
            [(2, "FDC301")],
        ),  # the last line, without its end
        # scope ends with the loop
        ("for_each_file *\n  set_plan\nmessage_user {file1}\n", [(3, "FDC311")]),
        ('for x in "a" max 2\n  message_user {x}\nmessage_user {x}\n', [(3, "FDC311")]),
        ("for_each_file *\n  message_user {file2}\n", [(2, "FDC311")]),
        # bound in some runs
        ('if cited("a")\n  r <- list_files\nmessage_user {r}\n', [(3, "FDC312")]),
        ('if cited("a")\n  r <- list_files\nelse\n  r <- list_files\nmessage_user {r}\n', []),
        ('if cited("a")\n  set_plan\nelse\n  r <- list_files\nmessage_user {r}\n', [(5, "FDC312")]),
        ("for_each_file *\n  r <- list_files\nmessage_user {r}\n", [(3, "FDC312")]),
        ("iterate max 3\n  r <- list_files\nmessage_user {r}\n", []),
        ("iterate max 3 until len({r}) > 1\n  r <- list_files\n", []),
        ("iterate max 3\n  message_user {r}\n  r <- list_files\n", [(2, "FDC311")]),
        # a condition that is a constant is known
        ("if true\n  r <- list_files\nmessage_user {r}\n", []),
        ("if false\n  r <- list_files\nmessage_user {r}\n", [(3, "FDC311")]),
        # conditions, gates, collections and loops use names too
        ("if len({r}) > 1\n  set_plan\n", [(1, "FDC311")]),
        ('require len({r}) > 1 else "no"\n', [(1, "FDC311")]),
        ("for x in {r} max 2\n  message_user {x}\n", [(1, "FDC311")]),
        ("yield {r}\n", [(1, "FDC311")]),
        ("s <- for x in {r} max 2\n  yield {x}\n", [(1, "FDC313"), (1, "FDC311")]),
        # in a text block, what nothing binds is text
        ("message_user\n  hello {nobody}\n", [(2, "FDC316")]),
        ("message_user\n  hello {{nobody}}\n", []),
        ('if cited("a")\n  r <- list_files\nmessage_user\n  {r}\n', [(4, "FDC312")]),
        # unused, and hidden
        ("param p\nset_plan\n", [(1, "FDC313")]),
        ("param _p\nset_plan\n", []),
        ("r <- list_files\n", [(1, "FDC313")]),
        ("for_each_file *\n  set_plan\n", []),
        ('for x in "a" max 2\n  set_plan\n', []),
        ("param p\np <- list_files\nmessage_user {p}\n", [(2, "FDC314")]),
        ("r <- list_files\nmessage_user {r}\nr <- list_files\nmessage_user {r}\n", [(3, "FDC314")]),
        ("param run\nmessage_user {run}\n", [(1, "FDC317")]),
        (
            "run <- list_files docs\nfor run in {run} max 1\n  message_user {run}\n",
            [(1, "FDC317"), (2, "FDC317")],
        ),
        ('for x in "a" max 2\n  for x in "b" max 2\n    message_user {x}\n', [(2, "FDC314")]),
        (
            'if cited("a")\n  r <- list_files\n  message_user {r}\nelse\n  r <- list_files\n  message_user {r}\n',
            [],
        ),
    ],
)
def test_what_is_said_about_names(text: str, expected: list[tuple[int, str]]):
    assert found(text) == expected, text


READ, BIND, LOOP = "message_user {r}\n", "r <- list_files\n", "iterate max 2\n"
OTHER = 'if cited("a")\n    r <- list_files\n  else\n    r <- run_in_bash_session true\n'


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (BIND + LOOP + "  " + READ + "  " + BIND, None),
        (BIND + READ + LOOP + "  " + BIND + "  " + READ, 4),
        (LOOP + "  " + BIND + "  " + READ + "  " + BIND, 4),
        (BIND + LOOP + "  " + LOOP + "    " + READ + "  " + BIND, None),
        (LOOP + "  " + BIND + "  " + LOOP + "    " + READ + "  " + BIND, 5),
        (LOOP + "  set_plan\n" + BIND + READ + LOOP + "  " + BIND + "  " + READ, 6),
        (BIND + 'fork x in "a" max 2\n  message_user {r}{x}\n  ' + BIND, 4),
        (BIND + LOOP + "  " + READ + "  fork x in {r} max 2\n    message_user {x}\n    " + BIND, 6),
        (LOOP + "  " + OTHER + "  " + READ + "  " + BIND, 7),
    ],
)
def test_a_name_that_is_bound_again_hides_its_value_unless_the_next_round_reads_it(
    text: str, hidden: int | None
) -> None:
    lines = [item.span.line for item in findings(lint(text), "FDC314")]
    assert lines == ([] if hidden is None else [hidden]), text


def test_a_name_that_is_misspelt_is_met_with_the_one_that_was_meant():
    [item] = findings(lint("param question\nmessage_user {question}\nmessage_user {qestion}\n"))
    assert (item.span.line, item.span.column, item.span.end_column) == (3, 14, 23)
    assert item.help == "did you mean `question`?"


def test_the_older_name_of_the_innermost_file_is_explained():
    """Requirements 2.2: `{file}` is bound by nothing."""
    [item] = findings(
        lint("for_each_file *\n  for_each_file *\n    message_user {file}\n"), "FDC311"
    )
    assert item.help in (
        "the innermost loop binds `{file2}`",
        "did you mean `file2`?",
        "did you mean `file1`?",
    )


def test_a_text_that_only_looks_like_a_name_is_repaired_safely():
    text = "create_file_with_block a.md\n    x\n  use {Name} and {other.part}\nlist_files\n"
    items = findings(lint(text), "FDC316")
    assert [(item.span.line, item.span.column, item.span.end_column) for item in items] == [
        (3, 7, 13),
        (3, 18, 30),
    ]
    fixes = [item.fix for item in items if item.fix is not None and item.fix.safe]
    repaired, _ = apply(text, fixes)
    assert repaired == text.replace("{Name}", "{{Name}}").replace("{other.part}", "{{other.part}}")
    assert not findings(lint(repaired), "FDC316")


FIELDS = json.dumps(
    {
        "format": 1,
        "name": "own",
        "tools": {
            name: {"summary": "x", "action": None, "effect": "pure", "trust": "trusted", "parameters": [], **row}
            for name, row in {
                "t_fields": {"result": {"title": "text", "pages": "number"}}, "t_text": {"result": "text"},
                "t_any": {"result": "any"}, "t_unknown": {},
            }.items()
        },
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "use", "message"),
    [
        ("t_fields", "{r}", None),
        ("t_fields", "{r.title} {r.pages}", None),
        ("t_fields", "{r.titel}", "`r` has no field `titel`"),
        ("t_text", "{r.title}", "`r` has no fields, found `.title`"),
        ("t_any", "{r.title}", None),
        ("t_unknown", "{r.title.deep}", None),
        ("call_plan b.plan", "{r.title}", None),
    ],
)
def test_fields_are_those_of_the_result(tool: str, use: str, message: str | None):
    files = {
        "fdc_tools.json": FIELDS,
        "a.plan": f"r <- {tool}\nmessage_user {use}\n",
        "b.plan": "set_plan\n",
    }
    items = findings(lint(files, "a.plan"), "FDC315")
    assert [item.message for item in items] == ([message] if message else [])


def test_fields_after_branches_are_those_that_both_have():
    text = 'if cited("a")\n  r <- {}\nelse\n  r <- {}\nmessage_user {{r.titel}}\n'
    for one, two, count in (
        ("t_fields", "t_fields", 1),
        ("t_fields", "t_any", 0),
        ("t_text", "t_fields", 0),
    ):
        files = {"fdc_tools.json": FIELDS, "a.plan": text.format(one, two)}
        assert len(findings(lint(files), "FDC315")) == count


def test_the_file_of_a_loop_is_a_path_and_has_no_fields():
    assert found("for_each_file * as f\n  message_user {f.name} {file1.name}\n") == [
        (2, "FDC315"),
        (2, "FDC315"),
    ]


def test_a_plan_is_looked_at_once_however_often_it_is_called():
    files = {"a.plan": "call_plan b.plan\n" * 20, "b.plan": "message_user {nobody}\n"}
    assert places(lint(files, "a.plan"), "FDC311") == [("b.plan", 1, "FDC311")]


def test_a_sub_plan_sees_its_parameters_and_not_its_callers_names():
    files = {
        "a.plan": "r <- list_files\nmessage_user {r}\ncall_plan b.plan\n",
        "b.plan": "message_user {r}\n",
    }
    assert places(lint(files, "a.plan"), "FDC311") == [("b.plan", 1, "FDC311")]


def test_the_innermost_file_is_named_where_no_name_is_sought_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(names, "_SUGGESTED", 0)
    loops = "for_each_file *\n  for_each_file *\n    message_user {}\n"
    for name, said in (
        ("{file}", "the innermost loop binds `{file2}`"),
        ("{files}", "for the text itself write `{{files}}`"),
    ):
        [item] = findings(lint(loops.replace("{}", name)), "FDC311")
        assert item.help == said
    [item] = findings(lint("message_user {file}\n"), "FDC311")
    assert item.help == "for the text itself write `{{file}}`"


def test_braces_are_no_help_where_a_name_has_none() -> None:
    [item] = findings(lint("if zzz > 3\n  message_user x\n"), "FDC311")
    assert item.help == 'bind it before (`zzz <- ...`); a text has quotation marks: `"zzz"`'
