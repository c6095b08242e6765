"""Types: uses that no value survives are refused, those that some survive are assumptions (A8, verdicts.md section 6)."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.linking.types import (
    ANY,
    COUNT,
    TEXT,
    NoType,
    joined,
    list_of,
    object_of,
    parsed,
    shown,
)
from fdc_toolchain.rules.solver.types import views

from tests.support.linting import findings, lint
from tests.support.repository import ROOT, plans

HEAD = "use fsm any.json\n"


def refused(text: str, **more: str) -> list[tuple[str, int]]:
    """(path, line) of what is refused for its type."""
    checked = lint({"a.plan": HEAD + text, **more})
    return [(item.span.path, item.span.line) for item in findings(checked, "FDC481")]


def assumed(text: str, **more: str) -> list[tuple[int, str]]:
    """(line, sentence) of the assumptions about forms."""
    checked = lint({"a.plan": HEAD + text, **more}, "a.plan")
    assert not findings(checked, "FDC481")
    return [(item.span.line, item.message) for item in checked.assumptions if item.code == "FDC706"]


TEXT_ = "t <- read_file any.json\n"
LIST = "l <- list_files\n"
SHELL = "r <- run_in_bash_session x\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT_ + "for x in {t} max 2\n  message_user {x}\n",
        TEXT_ + "fork x in {t} max 2\n  message_user {x}\n",
        'for x in "text" max 2\n  message_user {x}\n',
        LIST + "for_each_file {l}\n  read_file {file1}\n",
        LIST + "read_file {l}\n",
        LIST + "grep {l}\n",
        SHELL + "if len(r.exit_code) > 0\n  submit\n",
        LIST + "if l > 3\n  submit\n",
        LIST + "if 3 in len(l)\n  submit\n",
        LIST + 'if "a" < true\n  submit\n',
        "if len(3) > 1\n  submit\n",
        # The value of each is known, but the run looks at the first part, and stops.
        "if 1 in false and 0\n  submit\n",
        "if not (len(true) and 0)\n  submit\n",
        'require "b" < 1 or 1 else "no"\n',
        "iterate max 2 until 1 in 5 or 1\n  submit\n",
        SHELL + 'require r.exit_code in r.output else "no"\n',
        LIST + "iterate max 3 until l < 3\n  l <- list_files\n",
    ],
)
def test_a_use_that_no_value_survives_is_refused(text: str) -> None:
    rows = text.split("\n")
    line = next(number for number, row in enumerate(rows, 2) if "<-" not in row)
    assert [("a.plan", line)] == refused(text)


@pytest.mark.parametrize(
    "text",
    [
        'if false and len(3) > 0\n  submit\nif true or "a" > 3\n  submit\n',
        LIST + 'if len(l) > 3 and "a" in l and "a" in "abc"\n  submit\n',
        LIST + "for x in {l} max 9\n  read_file {x}\n",
        'hits <- grep "x"\nfor hit in {hits} max 9\n  read_file {hit.path}\n  if hit.line > 3\n    submit\n',
        SHELL + "if r.exit_code >= 1\n  submit\n",
        "param p = 3\nread_file {p}\ngrep x {p}\n",
        LIST + "grep x {l.none}\n",  # FDC315 is another rule; an optional argument may be null
        'if "12" > 3\n  submit\n',
    ],
)
def test_what_every_value_survives_is_neither_refused_nor_assumed(text: str) -> None:
    checked = lint(HEAD + text)
    assert not findings(checked, "FDC481")
    assert not [item for item in checked.assumptions if item.code == "FDC706"]


def test_a_text_beside_a_number_has_to_spell_one_which_is_assumed_where_the_name_is_bound() -> None:
    made = assumed(TEXT_ + "if t > 3\n  submit\nif t > 4\n  submit\n")
    sentence = "the result `t` of `read_file` has the form that the plan needs: `t` is a number, or a text that contains one"
    assert [(2, sentence)] == made


def test_beside_a_name_that_nothing_binds_the_assumption_is_about_the_side_that_is_known() -> None:
    needs = "has the form that the plan needs: `len(l)` is something that has an order with `nope`"
    sentence = f"the result `l` of `list_files` {needs}"
    for compared in ("len(l) > nope", "nope > len(l)"):
        assert [(2, sentence)] == assumed(f"{LIST}if {compared}\n  submit\n")


def test_there_is_one_assumption_for_each_place_that_binds() -> None:
    row = {
        "summary": "x",
        "action": "read_op",
        "effect": "read",
        "trust": "workspace",
        "parameters": [],
    }
    tools = json.dumps({"format": 1, "name": "own", "tools": {"look": row}})
    text = "a <- look\nb <- look\nfor x in {a.rows} max 3\n  read_file {x}\nfor y in {b} max 2\n  message_user {y}\n"
    made = assumed(text, **{"fdc_tools.json": tools})
    assert [2, 3] == [line for line, _ in made]
    assert made[0][1].endswith("`a.rows` is a list, `x` is text")


def test_what_a_call_gives_is_followed_into_the_plan_and_its_result_out_of_it() -> None:
    sub = "param p\nparam q = 3\nfor x in {p} max 3\n  message_user {x}\nif q > 2\n  submit\nyield {p}\n"
    assert [("a.plan", 3)] == refused(
        TEXT_ + "w <- call_plan s.plan p={t}\nmessage_user {w}\n", **{"s.plan": sub}
    )
    assert [("a.plan", 4)] == refused(
        LIST + "w <- call_plan s.plan p={l}\nread_file {w}\n", **{"s.plan": sub}
    )
    assert [("a.plan", 3)] == refused(LIST + "call_plan s.plan p={l} q=many\n", **{"s.plan": sub})
    assert [] == refused(LIST + "call_plan s.plan p={l} q=12\n", **{"s.plan": sub})


def test_a_root_is_given_text_and_a_plan_that_needs_more_says_so() -> None:
    made = assumed("param items\nfor x in {items} max 3\n  read_file {x}\n")
    needs = "in the form that the plan needs: `items` is a list, `x` is text"
    sentence = f"the parameter `items` is given {needs}; `fdc run` gives text"
    assert [(2, sentence)] == made


def test_a_call_whose_depth_is_used_up_gives_null() -> None:
    sub = "yield x\nw <- call_plan s.plan depth 1\nread_file {w}\n"
    assert [("s.plan", 2)] == refused("call_plan s.plan\n", **{"s.plan": sub})
    other = sub.replace("read_file {w}", "if len(w) > 0\n  read_file {w}")
    assert [("s.plan", 2)] == refused("call_plan s.plan\n", **{"s.plan": other})
    for step, wrong in (("message_user", [("s.plan", 2)]), ("message_user it:", [])):
        assert wrong == refused("call_plan s.plan\n", **{"s.plan": sub.replace("read_file", step)})


def test_a_name_that_changes_its_type_from_round_to_round_is_of_both() -> None:
    text = TEXT_ + "iterate max 3\n  read_file {t}\n  t <- list_files\n"
    assert [
        (5, "the result `t` of `list_files` has the form that the plan needs: `t` is text")
    ] == assumed(text)
    assert [("a.plan", 5)] == refused(TEXT_ + "iterate max 3\n  t <- list_files\nread_file {t}\n")


def test_a_kept_failure_is_a_record_among_the_results() -> None:
    kept = LIST + "r <- fork x in {l} max 3 keep failures\n  t <- read_file {x}\n  yield {t}\n"
    assert [] == refused(kept + "for o in {r} max 9\n  if o.line > 3\n    message_user {o.why}\n")
    assert ["`o` is text"] == [
        said.split(": ")[1] for _, said in assumed(kept + "for o in {r} max 9\n  read_file {o}\n")
    ]


def test_a_catalogue_s_types_are_read_as_they_are_written() -> None:
    made = parsed("list[object{name: text, sizes: list[number]}]")
    assert list_of(object_of({"name": TEXT, "sizes": list_of(COUNT)})) == made
    assert TEXT == made.of_item().field("name") and "a list" == shown(made)
    assert ANY == parsed("object").field("x")
    lists = ("list[", "list[txt]", "list[text", "list[text}", "list]")
    objects = (
        "object{a text}",
        "object{a: text",
        "object{",
        "object{a",
        "object{a:",
        "object{a: text, b",
    )
    for wrong in (*lists, *objects, "txt", "text text", ""):
        with pytest.raises(NoType):
            parsed(wrong)


def test_what_is_of_two_types_has_the_fields_of_both_or_null() -> None:
    one, other = object_of({"a": TEXT}), object_of({"b": COUNT})
    assert "null or text" == shown(joined(one, other).field("a"))
    assert "null or a number" == shown(joined(one, joined(other, TEXT)).field("b"))


def test_the_shipped_plans_have_no_error_and_at_most_two_assumptions_each() -> None:
    """With those of the plans that they call."""
    many, some = {}, 0
    for path in map(str, plans()):
        checked = check_paths([path], str(ROOT))
        assert [] == [item for item in checked.diagnostics if item.severity == "error"]
        some += len(checked.assumptions)
        if len(checked.assumptions) > 2:
            many[path] = [item.code for item in checked.assumptions]
    assert some and not many


GIVES = {
    "summary": "x",
    "action": "read_op",
    "effect": "read",
    "trust": "workspace",
    "parameters": [],
}
NEEDS = {**GIVES, "parameters": [{"name": "what", "kind": "word"}]}
OWN = json.dumps(
    {
        "format": 1,
        "name": "own",
        "tools": {"gives": {**GIVES, "result": {"a": "any", "b": "any"}}, "needs": NEEDS},
    }
)


@pytest.mark.parametrize(
    "text",
    [
        'v <- gives\nrequire v.a else "nothing"\nneeds {v.a}\n',
        "v <- gives\nif v.a and v.b\n  needs {v.a}\n  needs {v.b}\n",
        "v <- gives\nif not v.a or not v.b\n  message_user no\nelse\n  needs {v.a}\n",
        'v <- gives\nif v.a == "x"\n  needs {v.a}\n',
        "v <- gives\nif v.a\n  for x in {v.b} max 2\n    needs {v.a}\n",
    ],
)
def test_a_tested_value_is_not_null_and_what_is_below_a_test_knows_it(text: str) -> None:
    said = [
        item
        for _, sentence in assumed(text, **{"fdc_tools.json": OWN})
        for item in sentence.partition(": ")[2].split(", ")
    ]
    assert all(item == "`v.b` is a list" for item in said), said


@pytest.mark.parametrize(
    "text",
    [
        "v <- gives\nif v.a\n  message_user yes\nneeds {v.a}\n",
        "v <- gives\nif not v.a\n  needs {v.a}\n",
        "v <- gives\nif v.a or v.b\n  needs {v.a}\n",
        "v <- gives\nif v.a\n  v <- gives\n  needs {v.a}\n",
        "v <- gives\nif v.a\n  iterate max 3 until false\n    needs {v.a}\n    v <- gives\n",
        'v <- gives\nrequire v.b else "nothing"\nneeds {v.a}\n',
        'v <- gives\nif v.a != "x"\n  needs {v.a}\n',
    ],
)
def test_a_test_says_nothing_of_other_values_other_branches_and_names_bound_again(
    text: str,
) -> None:
    assert any(
        "`v.a` is not null" in sentence for _, sentence in assumed(text, **{"fdc_tools.json": OWN})
    )


@pytest.mark.parametrize(
    ("default", "line"), [("out.md", 4), ('"a b"', 4), ("3", None), ('"12"', None), ("true", 4)]
)
def test_a_default_that_no_use_survives_is_refused_where_the_plan_is_a_root(
    default: str, line: int | None
) -> None:
    """`fdc run a.plan` without arguments would certainly stop; with another argument the assumption can be true."""
    expected = [] if line is None else [("a.plan", line)]
    assert expected == refused(
        f'param p = {default}\nparam q\nrequire p < 3 else "no"\nmessage_user {{q}}\n'
    )
    # what the run is always given is an assumption only
    assert [] == refused('param p\nparam q\nrequire p < 3 else "no"\nmessage_user {q}\n')


def test_a_default_that_no_use_survives_is_fine_where_each_call_gives_another_value() -> None:
    plan = HEAD + "k <- run_in_bash_session true\ncall_plan b.plan p={k.exit_code}\n"
    files = {"a.plan": plan, "b.plan": 'param p = out.md\nrequire p < 3 else "no"\n'}
    assert [] == findings(lint(files, "a.plan"), "FDC481")
    assert [("b.plan", 2)] == [
        (item.span.path, item.span.line) for item in findings(lint(files, whole=True), "FDC481")
    ]


def test_an_assumption_of_a_form_names_each_line_that_uses_it() -> None:
    """A run that stops in one of them says that this assumption was false, also in a plan that was called."""
    plan = HEAD + 'param p\nrequire p < 3 else "no"\nif p > 1\n  call_plan b.plan q={p}\n'
    checked = lint({"a.plan": plan, "b.plan": 'param q\nrequire q < 9 else "no"\n'}, "a.plan")
    [one] = [item for item in checked.assumptions if item.code == "FDC706"]
    assert ("a.plan", 2) == (one.span.path, one.span.line)
    assert [("a.plan", 3), ("a.plan", 4), ("a.plan", 5), ("b.plan", 2)] == [
        (at.span.path, at.span.line) for at in one.labels
    ]


def test_a_text_that_a_run_brings_may_be_no_pattern_and_no_message() -> None:
    made = assumed(TEXT_ + 'grep {t}\ngrep "x{t}"\ngit_commit {t}\n')
    who = "the result `t` of `read_file` has the form that the plan needs: "
    assert made == [
        (2, who + "`t` is a regular expression, `t` is more than white space"),
        (4, "`pattern` of `grep` has the form that the plan needs: `x{t}` is a regular expression"),
    ]


def test_lines_are_counted_from_1() -> None:
    wrong = "read_lines any.json 0\nread_lines any.json 1 -1\ngrep x most=0\nread_lines any.json \u0663\n"
    found = findings(lint({"a.plan": HEAD + wrong}, "a.plan"), "FDC304")
    assert [(one.span.line, one.message) for one in found] == [
        (2, "`first` takes a number from 1, found `0`"),
        (3, "`last` takes a number from 1, found `-1`"),
        (4, "`most` takes a number from 1, found `0`"),
        (5, "`first` takes a number from 1, found `\u0663`"),
    ]
    made = assumed("l <- read_lines any.json\nread_lines any.json {l.first} 1{l.lines}\n")
    whose = " has the form that the plan needs: "
    assert made == [
        (2, f"the result `l` of `read_lines`{whose}`l.first` is a number from 1"),
        (3, f"`last` of `read_lines`{whose}`1{{l.lines}}` is a number from 1"),
    ]


def test_a_tool_that_needs_one_of_two_arguments_is_given_one_that_is_not_null() -> None:
    sub = "param on\nl <- list_files\nif on\n  yield {l}\n"
    call = "x <- call_plan b.plan on=a\n"
    said = "the result `x` of `b.plan` has the form that the plan needs: `x` is not null"
    assert [(2, said)] == assumed(call + "message_user {x}\n", **{"b.plan": sub})
    for safe in (
        "message_user {x}\n  text\n",
        "message_user it: {x}\n",
        "if x\n  message_user {x}\n",
    ):
        assert [] == assumed(call + safe, **{"b.plan": sub})
    given = "call_plan c.plan x={x}\n"
    found = assumed(call + given, **{"b.plan": sub, "c.plan": "param x\nmessage_user {x}\n"})
    assert [(2, said.replace(": `x`", ": in `c.plan` `x`"))] == found
    nothing = "if true\n  list_files\n"
    assert [("a.plan", 3)] == refused(
        "x <- call_plan b.plan\nmessage_user {x}\n", **{"b.plan": nothing}
    )


def test_what_a_caller_gives_on_may_be_no_message() -> None:
    made = assumed(
        "param m = x\ncall_plan b.plan m={m}\n", **{"b.plan": "param m\ngit_commit {m}\n"}
    )
    assert [line for line, _ in made] == [2]
    assert "in `b.plan` `m` is more than white space" in made[0][1]


@pytest.mark.parametrize(
    "text",
    [
        TEXT_ + "git_commit About {t}\n",
        "h <- grep x\nfor x in {h} max 2\n  git_commit Line {x.line}\n",
        LIST + "t <- read_file any.json\none <- among {t} {l}\n",
    ],
)
def test_a_text_that_holds_something_is_filled_and_a_list_is_a_list(text: str) -> None:
    assert not assumed(text)


def test_a_member_is_sought_in_a_list() -> None:
    assert [("a.plan", 3)] == refused(TEXT_ + "one <- among x {t}\n")


SEEK = "param p\nx <- grep {p}\n"


@pytest.mark.parametrize("call", ["call_plan b.plan p=a+", "call_plan c.plan q=a+", "call_plan d.plan"])  # fmt: skip
def test_a_pattern_that_a_call_gives_literally_is_no_assumption(call: str) -> None:
    more = {
        "b.plan": SEEK, "c.plan": "param q\ncall_plan b.plan p={q}\n", "d.plan": 'param p = "a+"\nx <- grep {p}\n'
    }  # fmt: skip
    assert [] == assumed(call + "\n", **more)
    wrong = {name: text.replace("a+", "(") for name, text in more.items()}
    assert [("a.plan", 2)] == refused(call.replace("a+", '"("') + "\n", **wrong)


@pytest.mark.parametrize(
    "sub",
    [
        "param p\nparam q\nif q\n  x <- grep {p}\n",
        "param p\nparam q\nfor_each_file *.nothing\n  x <- grep {p}\n",
        "param p\nparam q\nif q\n  call_plan c.plan p={p}\n",
    ],
)
def test_a_literal_that_is_no_pattern_is_assumed_where_a_run_may_pass_its_use_by(sub: str) -> None:
    more = {"b.plan": sub, "c.plan": SEEK}
    text = 't <- read_file any.json\ncall_plan b.plan q={t} p="("\n'
    assert [3] == [line for line, _ in assumed(text, **more)]


def test_a_pattern_that_is_made_of_what_is_given_or_kept_apart_is_told_as_before() -> None:
    sub = {"b.plan": 'param p\nx <- grep "a{p}"\n'}
    lines = lint({"a.plan": HEAD + 'call_plan b.plan p="("\n', **sub}, "a.plan").assumptions
    assert [("b.plan", 2)] == [(one.span.path, one.span.line) for one in lines if one.code == "FDC706"]  # fmt: skip
    kept = LIST + 'n <- fork i in {l} max 2 keep failures\n  call_plan b.plan p="("\n'
    assert not assumed(kept, **{"b.plan": SEEK})


def test_each_place_that_a_value_may_come_from_is_assumed_to_give_the_form() -> None:
    """One of two is not enough: the run that stops may have bound the other."""
    sub = {"b.plan": "param p\nparam q\nif q\n  p <- read_file any.json\nx <- grep {p}\n"}
    made = assumed('t <- read_file any.json\ncall_plan b.plan q={t} p="("\n', **sub)
    assert [3, 4] == [line for line, _ in made]  # the call, and the result in b.plan
    checked = lint({"a.plan": HEAD + 'call_plan b.plan q=x p="("\n', **sub})
    assert ("b.plan", 4) in [(one.span.path, one.span.line) for one in checked.assumptions]
    two = "if {q}\n  v <- read_file any.json\nelse\n  v <- list_files\ngit_commit {v}\n"
    both = TEXT_ + two.replace("{q}", "t")
    assert [4, 6] == [line for line, _ in assumed(both)]
    many = "".join("if {t}\n  v <- read_file any.json\n" for _ in range(12))
    assert len(assumed(f"{TEXT_}v <- read_file any.json\n{many}git_commit {{v}}\n")) == 13


def test_a_name_that_deep_loops_bind_again_is_not_taken_for_what_a_call_gives() -> None:
    """Such loops are not followed round by round, so a literal argument settles nothing there."""
    loops = "".join(f"{'  ' * deep}for v{deep} in {{l}} max 2\n" for deep in range(5))
    sub = f"param p\nparam l\n{loops}{'  ' * 5}x <- grep {{p}}\n{'  ' * 5}p <- read_file any.json\n"
    for pattern in ("ok", '"("'):
        made = assumed(
            f"l <- list_files\ncall_plan b.plan p={pattern} l={{l}}\n", **{"b.plan": sub}
        )
        assert any("in `b.plan` `p` is a regular expression" in said for _, said in made)


@pytest.mark.parametrize("deep", [1, 2, 5])
@pytest.mark.parametrize(
    "round_", ["iterate max 2", "for_each_file docs/*.md", "for i in {l} max 2"]
)
def test_what_a_round_hands_to_the_next_is_assumed_of_each_place_that_binds_it(
    round_: str, deep: int
) -> None:
    """Two results of one type: the second round uses what the first one bound."""
    loops = "".join(f"{'  ' * number}{round_}\n" for number in range(deep))
    body = "if x > 0\n  message_user k\nx <- read_file any.json\n"
    inside = "".join(f"{'  ' * deep}{line}\n" for line in body.splitlines())
    made = assumed(f"l <- list_files\nx <- read_file any.json\n{loops}{inside}")
    assert [3, 6 + deep] == sorted(line for line, said in made if "`x` is a number" in said)


def test_what_a_called_plan_does_on_every_run_is_judged_after_its_branches_too() -> None:
    """A pattern that a call gives literally is refused if the called plan uses it whatever its conditions and loops do."""
    call, use = 'call_plan sub.plan p="["\n', "h <- grep {p} docs\n"
    branch = f"{LIST}if len(l) > 3\n  message_user many\n"
    loop = f"{LIST}for x in {{l}} max 2\n  message_user {{x}}\n"
    for before in ("", branch, loop, branch + loop):
        assert refused(call, **{"sub.plan": f"param p\n{before}{use}"}) == [("a.plan", 2)], before
    for around in (branch, loop):
        inside = f"param p\n{around}  {use}"
        assert refused(call, **{"sub.plan": inside}) == [], around


@pytest.mark.parametrize(
    ("most", "told"), [(16, [5, 6, 7]), (4, [5, 6, 7]), (3, [5, 6]), (2, [5]), (1, [])]
)
def test_a_plan_is_looked_at_for_so_many_types_of_its_arguments(
    monkeypatch: pytest.MonkeyPatch, most: int, told: list[int]
) -> None:
    """With further types it is taken to be given anything: less is refused, and nothing wrongly."""
    monkeypatch.setattr(views, "MOST_VIEWS", most)
    calls = "".join(f"call_plan b.plan p={{{name}}}\n" for name in ("l", "h", "r"))
    text = f"l <- list_files\nh <- grep x\nr <- read_lines a.md\n{calls}"
    sub = "param p\nif p > 3\n  message_user {p}\n"
    assert [line for _, line in refused(text, **{"b.plan": sub})] == told
