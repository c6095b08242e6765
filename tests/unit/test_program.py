"""Programs as bytes: one text for one content, and every malformed one refused with a reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from fdc_toolchain.check import program_of
from fdc_toolchain.program.codec import ProgramError, canonical, digest, encode, load
from fdc_toolchain.program.shape import problems

from tests.support.linting import lint
from tests.support.programs import call, everything, plan, program, step

Change = Callable[[dict[str, Any]], Any]


def first(made: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = made["plans"]["main"]["body"][0]
    return body


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: p.update(format=3), "format is 3"),
        (lambda p: p.update(format=2), None),
        (
            lambda p: p["plans"]["main"]["body"][4].update(keep="failures"),
            "only a fork keeps",
        ),  # not in format 1
        (
            lambda p: (p.update(format=2), p["plans"]["main"]["body"][4].update(keep="failures")),
            None,
        ),
        (
            lambda p: (p.update(format=2), p["plans"]["main"]["body"][4].update(keep="all")),
            "only a fork keeps",
        ),
        (
            lambda p: (p.update(format=2), p["plans"]["main"]["body"][3].update(keep="failures")),
            "only a fork keeps",
        ),
        (lambda p: p.pop("plans"), "`plans` is not an object"),
        (lambda p: p.update(root="none"), "`root` names no plan"),
        (lambda p: p["budget"].update(steps="many"), "budget of `steps`"),
        (lambda p: p["budget"].update(steps=True), "budget of `steps`"),
        (lambda p: p["automata"].update(a={"start": 1}), "automaton `a`"),
        (lambda p: p["tools"]["note"].pop("effect"), "`note` states no effect class"),
        (lambda p: p["plans"]["main"].update(body=None), "it has no body"),
        (lambda p: p["plans"]["main"].update(automaton="gone"), "`gone` is not in the program"),
        (lambda p: p["plans"]["main"].update(allow={"write": "**"}), "what it allows"),
        (lambda p: p["plans"]["main"].update(params=[{}]), "a parameter of it has no name"),
        (lambda p: first(p).update(op="eval"), "unknown op 'eval'"),
        (lambda p: first(p).update(op=["step"]), "unknown op"),
        (lambda p: first(p).update(tool="gone"), "the tool `gone` is not in the program"),
        (lambda p: first(p).update(args={"text": "plain"}), "neither text nor a reference"),
        (lambda p: first(p).update(args={"text": [{"ref": []}]}), "neither text nor a reference"),
        (lambda p: first(p).pop("bind"), None),  # absent and null are the same for a name
        (
            lambda p: p["plans"]["main"]["body"].append(call("gone")),
            "the plan `gone` is not in the program",
        ),
        (lambda p: p["plans"]["main"]["body"][5].update(max=True), "no proper `max`"),
        (
            lambda p: p["plans"]["main"]["body"][5].update(
                until={"test": "~", "left": {}, "right": {}}
            ),
            "`until`",
        ),
        (
            lambda p: p["plans"]["main"]["body"][6].update(cond={"value": {"call": 1, "args": []}}),
            "`cond`",
        ),
    ],
)
def test_what_is_not_of_the_form_is_named(change: Change, says: str | None) -> None:
    made = copy.deepcopy(everything())
    change(made)
    if says is None:
        assert problems(made) == []
        return
    with pytest.raises(ProgramError) as raised:
        load(encode(made))
    assert says in str(raised.value)


def test_plans_that_call_each_other_are_no_program() -> None:
    """FDC-34."""
    plans = {"a": plan(call("b"), name="a"), "b": plan(step("note"), call("a"), name="b")}
    assert problems(program(call("a"), plans=plans)) == [
        "the plans `b` and `a` call each other without end"
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[1]", "not an object"),
        ('{"format": 1, "format": 1}', "the key `format` stands twice"),
        ('{"format": NaN}', "`NaN` is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": 1}\x00', "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
)
def test_bytes_that_are_no_program_are_one_sentence(text: str, says: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load(text.encode("utf-8"))
    assert says in str(raised.value) and "\n" not in str(raised.value)


def test_blocks_that_nest_without_measure_are_refused() -> None:
    body: list[Any] = []
    for _ in range(210):
        body = [{"op": "if", "line": 1, "cond": {"value": {"const": 1}}, "then": body, "else": []}]
    made = program()
    made["plans"]["main"]["body"] = body
    assert any("nested deeper" in text for text in problems(made))


def test_equal_contents_have_equal_bytes_whatever_the_order_of_their_keys() -> None:
    made = everything()
    turned = json.loads(json.dumps(made), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert encode(turned) == encode(made) and digest(turned) == digest(made)
    assert len(digest(made)) == 64


def test_canonical_text_is_what_the_standard_library_writes() -> None:
    value = {"ü\ud800": [1, 1.5, -0.0, True, None, "\x00\u2028"], "a": {"c": 1, "b": []}}
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"))
    assert canonical("é") == '"\\u00e9"'
    for wrong in (float("nan"), float("inf"), {1: object()}, {1, 2}):
        with pytest.raises((ValueError, TypeError)):
            canonical(wrong)


def test_a_program_that_somebody_changes_changes_no_other() -> None:
    """The rows of shipped catalogues are read once in a process."""
    programs = [
        program_of(
            lint("# FSM: any.json\nx <- read_file a.txt\nmessage_user {x}\n", there=("a.txt",))
        )
        for _ in range(2)
    ]
    assert programs[0] == programs[1]
    programs[0]["tools"]["read_file"]["trust"] = "untrusted"
    assert "workspace" == programs[1]["tools"]["read_file"]["trust"]
    assert programs[1] == program_of(
        lint("# FSM: any.json\nx <- read_file a.txt\nmessage_user {x}\n", there=("a.txt",))
    )


def test_arguments_are_shown_in_the_order_in_which_the_plan_has_them() -> None:
    text = "set_plan x\nplan_step_complete x\ngrep needle tea.md\nrename_file z.md b.md\nclose_task\nsubmit\n"
    made = program_of(lint({"a.plan": text, "tea.md": "t\n", "z.md": "z\n"}, "a.plan"))
    again = load(encode(made))
    body = again["plans"][again["root"]]["body"]
    assert {"grep": ["needle", "tea.md"], "rename_file": ["z.md", "b.md"]} == {
        row["tool"]: [parts[0] for parts in row["args"].values()]
        for row in body
        if row["tool"] in ("grep", "rename_file")
    }
    assert digest(made) == digest(again)
    row = again["tools"]["grep"]
    for odd in (None, 3, [3, {}, {"name": []}], [{"name": "most"}]):
        row["parameters"] = odd
        try:
            load(encode(again))
        except ProgramError:
            pass
