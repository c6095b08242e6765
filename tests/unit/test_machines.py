"""Automata: the loader's verdicts and places, the shipped ones, the schema for editors."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from fdc_toolchain.automata import wellformed
from fdc_toolchain.automata.load import load
from fdc_toolchain.automata.model import Automaton, Move, build
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from jsonschema import Draft202012Validator

TOOLING = Path(__file__).resolve().parents[2] / "tooling"
SHIPPED = ["fdc_fsm", "research_fsm", "fsm", "fsm_model_a", "fsm_model_b"]

TABLE = {
    "states": ["A", "B"],
    "alphabet": ["x", "y"],
    "transitions": {"A": {"x": "B"}, "B": {"y": "A"}},
    "start_state": "A",
    "accept_states": ["B"],
}
LIST = {
    "states": ["A", "B"],
    "initial_state": "A",
    "final_states": ["B"],
    "transitions": [
        {"source": "A", "dest": "B", "trigger": "x"},
        {"source": "B", "dest": "A", "trigger": "y"},
    ],
}


def check(value: object) -> tuple[Automaton | None, list[Diagnostic]]:
    return load(json.dumps(value).encode(), "m.json")


def text_at(text: str, found: Diagnostic) -> str:
    """The text that a one-line span covers."""
    span = found.span
    assert span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def shipped(name: str) -> Automaton:
    automaton, found = load((TOOLING / f"{name}.json").read_bytes(), f"tooling/{name}.json")
    assert found == []
    assert automaton is not None
    return automaton


# -- the shipped automata (FDC-01, FDC-46, requirements 2.4) --


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_automata_are_wellformed_without_a_warning(name: str) -> None:
    assert shipped(name).name == name


@pytest.mark.parametrize(
    ("name", "word", "expected"),
    [
        ("fdc_fsm", "plan_op step_op close_op submit_op", True),
        (
            "fdc_fsm",
            "plan_op step_op read_op write_op delete_op move_op tool_exec step_op close_op submit_op",
            True,
        ),
        ("fdc_fsm", "plan_op step_op close_op", False),
        ("fdc_fsm", "plan_op read_op close_op submit_op", False),
        ("fdc_fsm", "plan_op step_op close_op read_op submit_op", False),
        ("research_fsm", "plan_op step_op write_op close_op", True),
        ("research_fsm", "plan_op read_op tool_exec read_op step_op write_op close_op", True),
        ("research_fsm", "plan_op read_op write_op close_op", False),
        ("research_fsm", "plan_op step_op write_op write_op close_op", False),
        ("research_fsm", "plan_op step_op write_op close_op submit_op", False),
        (
            "fsm",
            "begin_task orientation_succeeded plan_op all_steps_completed finalization_succeeded",
            True,
        ),
        ("fsm", "begin_task orientation_failed", True),
        (
            "fsm",
            "begin_task orientation_failed reorient orientation_succeeded planning_failed",
            True,
        ),
        ("fsm", "begin_task orientation_succeeded plan_op define_names_op execution_failed", False),
        (
            "fsm_model_a",
            "begin_task orientation_succeeded plan_op define_names_op execution_failed",
            True,
        ),
        (
            "fsm_model_a",
            "begin_task orientation_succeeded plan_op define_diag_op execution_failed",
            False,
        ),
        (
            "fsm_model_b",
            "begin_task orientation_succeeded plan_op define_diag_op execution_failed",
            True,
        ),
        (
            "fsm_model_b",
            "begin_task orientation_succeeded plan_op define_names_op execution_failed",
            False,
        ),
    ],
)
def test_FDC16_FDC46_shipped_automata_accept_their_language(
    name: str, word: str, expected: bool
) -> None:
    assert shipped(name).accepts(word.split()) is expected


def test_orchestrator_has_22_transitions_over_12_states() -> None:
    automaton = shipped("fsm")
    assert len(automaton.states) == 12
    assert sum(len(row) for row in automaton.transitions.values()) == 22


def test_models_a_and_b_add_one_symbol_each() -> None:
    base = set(shipped("fsm").alphabet)
    assert set(shipped("fsm_model_a").alphabet) - base == {"define_names_op"}
    assert set(shipped("fsm_model_b").alphabet) - base == {"define_diag_op"}


# -- the value --


def test_both_forms_of_one_automaton_normalise_to_the_same_program_form() -> None:
    table, list_ = check(TABLE)[0], check(LIST)[0]
    assert table is not None
    assert list_ is not None
    assert table.to_json() == list_.to_json()
    assert table.to_json() == {
        "states": ["A", "B"],
        "start": "A",
        "accept": ["B"],
        "transitions": {"A": {"x": "B"}, "B": {"y": "A"}},
    }
    assert table == list_


def test_tables_say_what_the_transitions_say() -> None:
    automaton = build(
        "n", "p", "CBA", "xy", "B", "AC", {"B": {"x": "A"}, "A": {"y": "C", "x": "A"}}
    )
    assert automaton.index == {"C": 0, "B": 1, "A": 2}
    assert automaton.start_index == 1
    assert automaton.accept_mask == 0b101
    assert automaton.table == {"x": [-1, 2, 2], "y": [-1, -1, 0]}
    assert automaton.transitions == {"C": {}, "B": {"x": "A"}, "A": {"y": "C", "x": "A"}}


def test_trace_stops_at_the_refused_symbol() -> None:
    automaton = check(TABLE)[0]
    assert automaton is not None
    assert list(automaton.trace(["x", "x", "y"])) == [Move("x", "A", "B"), Move("x", "B", None)]
    assert list(automaton.trace(["y"], state="B")) == [Move("y", "B", "A")]
    assert automaton.step("nowhere", "x") is None


def test_an_automaton_cannot_be_changed_and_can_be_a_key() -> None:
    automaton = check(TABLE)[0]
    assert automaton is not None
    with pytest.raises(AttributeError):
        automaton.start = "B"  # type: ignore[misc]
    assert {automaton: 1}[automaton] == 1


def test_unreachable_and_dead_states_are_in_declared_order() -> None:
    automaton = build(
        "n", "p", "ABCDE", "x", "A", "B", {"A": {"x": "B"}, "B": {"x": "C"}, "D": {"x": "B"}}
    )
    assert wellformed.unreachable(automaton) == ("D", "E")
    assert wellformed.dead(automaton) == ("C", "E")


# -- findings and their places (requirements 2.4) --


WRONG = """\
{
  "states": ["IDLE", "BUSY", "LOST", "STUCK"],
  "alphabet": ["go", "stop"],
  "transitions": {
    "IDLE": {"go": "BUZY", "run": "BUSY"},
    "BUSSY": {"stop": "IDLE"}
  },
  "start_state": "IDEL",
  "accept_states": ["IDLE", "DONE"]
}
"""


def test_every_undeclared_name_is_reported_at_its_place_with_a_hint() -> None:
    automaton, found = load(WRONG.encode(), "wrong.json")
    assert automaton is None
    assert [(item.code, item.span.line, text_at(WRONG, item), item.help) for item in found] == [
        ("FDC203", 5, '"BUZY"', "did you mean `BUSY`?"),
        ("FDC204", 5, '"run"', None),
        ("FDC203", 6, '"BUSSY"', "did you mean `BUSY`?"),
        ("FDC203", 8, '"IDEL"', "did you mean `IDLE`?"),
        ("FDC203", 9, '"DONE"', None),
    ]
    assert found[0].message == "the state `BUZY` is not among the declared states"
    assert found[3].message == "the start state `IDEL` is not among the declared states"


def test_list_form_nondeterminism_is_an_error_that_shows_both_places() -> None:
    value = dict(
        LIST, transitions=[*LIST["transitions"], {"source": "A", "dest": "A", "trigger": "x"}]
    )
    text = json.dumps(value)
    automaton, found = load(text.encode(), "m.json")
    assert automaton is None
    assert [item.code for item in found] == ["FDC205"]
    assert found[0].message == "`x` in `A` leads to `B` and to `A`"
    assert text_at(text, found[0]) == '{"source": "A", "dest": "A", "trigger": "x"}'
    label = found[0].labels[0].span
    assert (
        text[label.column - 1 : label.end_column - 1]
        == '{"source": "A", "dest": "B", "trigger": "x"}'
    )


def test_list_form_repeated_transition_is_a_warning_and_changes_nothing() -> None:
    automaton, found = check(dict(LIST, transitions=[*LIST["transitions"], LIST["transitions"][0]]))
    assert [(item.code, item.severity) for item in found] == [("FDC208", "warning")]
    assert automaton == check(LIST)[0]


def test_useless_states_are_warned_about_and_the_automaton_is_usable() -> None:
    value = dict(LIST, states=["A", "B", "ISLAND", "PIT"])
    value["transitions"] = [*LIST["transitions"], {"source": "A", "dest": "PIT", "trigger": "z"}]
    automaton, found = check(value)
    assert automaton is not None
    assert [(item.code, item.message) for item in found] == [
        ("FDC206", "no run reaches the state `ISLAND`"),
        ("FDC207", "no run that enters the state `ISLAND` is accepted"),
        ("FDC207", "no run that enters the state `PIT` is accepted"),
    ]


def test_an_automaton_that_accepts_nothing_says_so_once() -> None:
    automaton, found = check(dict(TABLE, accept_states=[]))
    assert automaton is not None
    assert [(item.code, item.message) for item in found] == [
        ("FDC207", "no state accepts, so every run is refused in the end")
    ]


def test_C12_a_final_state_that_a_transition_leaves_is_legal() -> None:
    assert check(LIST)[1] == []


def test_findings_of_form_and_of_meaning_come_together() -> None:
    value = {
        "states": ["A"],
        "transitions": {"A": {"x": "Q"}},
        "start_state": "A",
        "accept_states": "A",
        "extra": 1,
    }
    automaton, found = check(value)
    assert automaton is None
    assert sorted((item.code, item.message) for item in found) == [
        ("FDC202", "expected an array for `accept_states`, found a string"),
        ("FDC202", "the key `alphabet` is missing"),
        ("FDC202", "unknown key `extra`"),
        ("FDC203", "the state `Q` is not among the declared states"),
    ]


def test_keys_of_both_forms_in_one_file_are_refused_by_name() -> None:
    _, found = check({**LIST, "start_state": "A", "alphabet": ["x", "y"]})
    assert [(item.code, item.message) for item in found] == [
        (
            "FDC202",
            "the key `start_state` belongs to the table form, this automaton is written in the list form",
        ),
        (
            "FDC202",
            "the key `alphabet` belongs to the table form, this automaton is written in the list form",
        ),
    ]


# -- strict JSON --


@pytest.mark.parametrize(
    ("text", "code", "message", "place"),
    [
        ("", "FDC202", "the text ends where a value is expected", (1, 1)),
        ('{"states": [', "FDC202", "the text ends where a value is expected", (1, 13)),
        ('{"a": 1,\n }', "FDC202", "expected a key in double quotes, found `}`", (2, 2)),
        ('{"a": NaN}', "FDC202", "expected a value, found `NaN`", (1, 7)),
        ('{"a": -Infinity}', "FDC202", "expected a value, found `-Infinity`", (1, 7)),
        ('{"a": 01}', "FDC202", "expected a value, found `01`", (1, 7)),
        ('{"a": True}', "FDC202", "expected a value, found `True`", (1, 7)),
        ("{'a': 1}", "FDC202", "expected a key in double quotes, found `'`", (1, 2)),
        ('{"a" 1}', "FDC202", "expected a `:` after the key, found `1`", (1, 6)),
        ('{"a": "b\n"}', "FDC202", "a string that does not end on its line", (1, 7)),
        ('{"a": "\\x41"}', "FDC202", "an escape that JSON does not have", (1, 8)),
        (
            '{"a": "\\ud800"}',
            "FDC202",
            "half of a character (U+D800) without its other half",
            (1, 8),
        ),
        ("{} {}", "FDC202", "text after the end of the value", (1, 4)),
        ("[" * 65, "FDC106", "values nested deeper than 64 levels", (1, 65)),
        ("9" * 500, "FDC106", "a number longer than 400 characters", (1, 1)),
        ("1e999", "FDC106", "the number `1e999` is too large", (1, 1)),
        ("// note\n{}", "FDC202", "expected a value, found `/`", (1, 1)),
        ("5", "FDC202", "expected an object that declares an automaton, found a number", (1, 1)),
        ("{}", "FDC202", "an object of neither automaton form", (1, 1)),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_place(
    text: str, code: str, message: str, place: tuple[int, int]
) -> None:
    automaton, found = load(text.encode(), "m.json")
    assert automaton is None
    assert [(item.code, item.message, (item.span.line, item.span.column)) for item in found] == [
        (code, message, place)
    ]


def test_repeated_keys_are_all_refused_and_the_rest_is_still_checked() -> None:
    text = '{"states": ["A"], "states": ["B"], "alphabet": ["x"], "start_state": "A",\n'
    text += ' "accept_states": ["A"], "transitions": {"A": {"x": "A", "x": "B"}}}'
    automaton, found = load(text.encode(), "m.json")
    assert automaton is None
    assert [(item.code, item.message, item.span.line) for item in found] == [
        ("FDC202", "the key `states` twice in one object", 1),
        ("FDC202", "the key `x` twice in one object", 2),
        ("FDC203", "the state `B` is not among the declared states", 2),
    ]
    assert found[0].labels[0].span.column == 2


def test_bytes_that_are_not_utf8_have_a_place() -> None:
    automaton, found = load(b'{\n "\xc3\xa9\xff": 1}', "m.json")
    assert automaton is None
    assert [(item.code, item.span.line, item.span.column) for item in found] == [("FDC101", 2, 4)]


def test_a_byte_order_mark_in_front_is_no_part_of_the_text() -> None:
    automaton, found = load(b"\xef\xbb\xbf" + json.dumps(TABLE).encode(), "m.json")
    assert automaton is not None
    assert [item.code for item in found if item.severity == "error"] == []


def test_a_text_that_hides_characters_is_not_read_further() -> None:
    for character, code in (("\u202e", "FDC103"), ("\x1b", "FDC101")):
        text = json.dumps(dict(TABLE, states=["A?"])).replace("?", character)
        automaton, found = load(text.encode(), "m.json")
        assert automaton is None
        assert [(item.code, text_at(text, item)) for item in found] == [(code, character)]


def test_an_automaton_in_one_long_line_is_read() -> None:
    states = ["A", "B", *(f"state_number_{number}" for number in range(9_000))]
    automaton, _ = check(dict(TABLE, states=states))
    assert automaton is not None


def test_columns_count_code_points_and_crlf_ends_a_line() -> None:
    text = json.dumps(dict(TABLE, states=["A", "B", "é🙂"]), ensure_ascii=False).replace(
        ", ", ",\r\n"
    )
    _, found = load(text.encode(), "m.json")
    assert {(item.span.line, item.span.column, item.span.end_column) for item in found} == {
        (3, 1, 5)
    }


@pytest.mark.parametrize("name", ["", "a\x1b[31m", "a\u202eb", "x" * 201, "a\nb", "\ufeff"])
def test_names_that_cannot_be_shown_are_refused(name: str) -> None:
    _, found = check(dict(TABLE, states=["A", "B", name]))
    assert [item.code for item in found] == ["FDC202"]


# -- hostile sizes (security 5) --


def quickly(data: bytes) -> list[Diagnostic]:
    begun = time.process_time()
    automaton, found = load(data, "m.json")
    assert automaton is None
    assert time.process_time() - begun < 20, "a hostile file takes too long"
    return found


def test_a_file_over_the_limit_is_refused_unread() -> None:
    assert [item.code for item in quickly(b" " * ((1 << 20) + 1))] == ["FDC106"]


def test_deep_nesting_neither_recurses_nor_crawls() -> None:
    assert [item.code for item in quickly(b'{"a":' * 200_000)] == ["FDC106"]


def test_a_table_that_a_small_file_would_blow_up_is_refused() -> None:
    names = [f"n{number}" for number in range(5_000)]
    found = quickly(
        json.dumps(dict(TABLE, states=["A", "B", *names], alphabet=["x", "y", *names])).encode()
    )
    assert [item.code for item in found] == ["FDC106"]


def test_a_thousand_errors_are_all_reported_in_little_time() -> None:
    names = [f"state_number_{number}" for number in range(1_000)]
    rows = {f"stat_numbr_{number}": {"x": f"sate_numbr_{number}"} for number in range(2_000)}
    found = quickly(json.dumps(dict(TABLE, states=["A", "B", *names], transitions=rows)).encode())
    assert len(found) == 4_000


# -- the schema for editors agrees with the loader's verdict about form --

SCHEMA = json.loads((TOOLING / "fsm.schema.json").read_text(encoding="utf-8"))

GOOD: list[object] = [
    TABLE,
    LIST,
    {**TABLE, "$schema": "fsm.schema.json", "description": "anything"},
    {**LIST, "$schema": "fsm.schema.json", "description": "anything"},
    {**TABLE, "accept_states": []},
    {**TABLE, "transitions": {}},
    {**LIST, "transitions": []},
    {**TABLE, "transitions": {"A": {}}},
    {**TABLE, "start_state": "undeclared, which is not a question of form"},
    {**LIST, "states": ["x" * 200]},
    {**LIST, "states": ["with space", "ünï", "🙂", "\\n", '"', "<b>"]},
]
BAD: list[object] = [
    None,
    [],
    {},
    "text",
    {"states": ["A"]},
    {"transitions": {}},
    {"transitions": []},
    {**TABLE, **LIST},
    {**LIST, **TABLE},
    {**TABLE, "transitions": LIST["transitions"]},
    {**LIST, "transitions": TABLE["transitions"]},
    {**LIST, "alphabet": ["x", "y"]},
    {**TABLE, "extra": 1},
    {**TABLE, "description": 1},
    {**LIST, "$schema": None},
    {**TABLE, "states": []},
    {**TABLE, "alphabet": []},
    {**LIST, "states": "A"},
    {**TABLE, "states": ["A", "A"]},
    {**TABLE, "alphabet": ["x", "x"]},
    {**LIST, "final_states": ["B", "B"]},
    {**TABLE, "states": ["A", 1]},
    {**TABLE, "states": ["A", ""]},
    {**TABLE, "states": ["A", "x" * 201]},
    {**TABLE, "states": ["A", "a\n"]},
    {**TABLE, "alphabet": ["x", "\u202e"]},
    {**TABLE, "start_state": ["A"]},
    {**TABLE, "accept_states": {"B": 1}},
    {**TABLE, "transitions": {"A": "B"}},
    {**TABLE, "transitions": {"A": ["B"]}},
    {**TABLE, "transitions": {"A": {"x": None}}},
    {**TABLE, "transitions": {"": {"x": "B"}}},
    {**TABLE, "transitions": {"A": {"\t": "B"}}},
    {**LIST, "transitions": [{}]},
    {**LIST, "transitions": ["A"]},
    {**LIST, "transitions": [{"source": "A", "dest": "B"}]},
    {**LIST, "transitions": [{"source": "A", "dest": "B", "trigger": ""}]},
    {**LIST, "transitions": [{"source": "A", "dest": "B", "trigger": "x", "guard": "y"}]},
    *(
        {key: item for key, item in whole.items() if key != gone}
        for whole in (TABLE, LIST)
        for gone in whole
    ),
]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_automata_validate_against_the_schema(name: str) -> None:
    Draft202012Validator(SCHEMA).validate(
        json.loads((TOOLING / f"{name}.json").read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("value", GOOD)
def test_schema_and_loader_agree_on_good_form(value: object) -> None:
    assert Draft202012Validator(SCHEMA).is_valid(value)
    assert [item for item in check(value)[1] if item.code == "FDC202"] == []


@pytest.mark.parametrize("value", BAD)
def test_schema_and_loader_agree_on_bad_form(value: object) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(value)
    automaton, found = check(value)
    assert automaton is None
    assert "FDC202" in {item.code for item in found}
