"""Laws of automata: nothing raises, strict JSON is JSON, and acceptance is what a public library says."""

from __future__ import annotations

import json
from typing import Any

from automata.fa.dfa import DFA
from fdc_toolchain import resources
from fdc_toolchain.automata import wellformed
from fdc_toolchain.automata.load import load
from fdc_toolchain.text.json_text import Node, parse
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

SCHEMA = Draft202012Validator(json.loads(resources.read("tooling/fsm.schema.json")))
STATES = ["A", "B", "C", "D", "E"]
SYMBOLS = ["x", "y", "z"]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
rows = st.dictionaries(
    st.sampled_from(STATES), st.dictionaries(st.sampled_from(SYMBOLS), st.sampled_from(STATES))
)
words = st.lists(st.sampled_from([*SYMBOLS, "unknown"]), max_size=12)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Almost automata: keys of both forms, with values that are sometimes of the right kind."""
    name = st.sampled_from([*STATES, *SYMBOLS, "", "a\n"]) | json_values
    names = st.lists(st.sampled_from(STATES), max_size=5) | st.lists(name, max_size=3) | json_values
    move = st.fixed_dictionaries(
        {"source": name, "dest": name, "trigger": name}, optional={"guard": name}
    )
    table = (
        rows
        | st.dictionaries(st.text(max_size=2), st.dictionaries(st.text(max_size=2), name))
        | json_values
    )
    parts: dict[str, st.SearchStrategy[Any]] = {
        "states": st.just(STATES) | names,
        "alphabet": st.just(SYMBOLS) | names,
        "start_state": name,
        "initial_state": name,
        "accept_states": names,
        "final_states": names,
        "transitions": table | st.lists(move, max_size=4),
        "$schema": name,
        "more": name,
    }
    form = draw(st.sampled_from(["table", "list", "any"]))
    likely = {
        "table": ["states", "alphabet", "start_state", "accept_states", "transitions"],
        "list": ["states", "initial_state", "final_states", "transitions"],
        "any": draw(st.lists(st.sampled_from(sorted(parts)), unique=True)),
    }[form]
    return {key: draw(parts[key]) for key in likely}


def written(
    form: str, table: dict[str, dict[str, str]], start: str, accept: list[str]
) -> dict[str, Any]:
    if form == "table":
        return {
            "states": STATES,
            "alphabet": SYMBOLS,
            "transitions": table,
            "start_state": start,
            "accept_states": accept,
        }
    moves = [
        {"source": source, "dest": target, "trigger": symbol}
        for source, row in table.items()
        for symbol, target in row.items()
    ]
    return {"states": STATES, "initial_state": start, "final_states": accept, "transitions": moves}


def plain(node: Node) -> object:
    if node.kind == "object":
        return {member.key.value: plain(member.value) for member in node.value}
    return [plain(item) for item in node.value] if node.kind == "array" else node.value


@given(st.binary(max_size=200))
def test_any_bytes_load_without_an_exception(data: bytes) -> None:
    automaton, found = load(data, "m.json")
    assert automaton is None
    assert found


@given(st.text(alphabet='{}[]:,"\\ \n0123456789.eE+-truefalsn\u202e🙂xu', max_size=60))
def test_strict_json_accepts_what_the_standard_library_accepts(text: str) -> None:
    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in items}) < len(items):
            raise ValueError("repeated key")
        return dict(items)

    def refuse(word: str) -> object:
        raise ValueError(word)

    try:
        expected = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
        json.dumps(
            expected, ensure_ascii=False, allow_nan=False
        ).encode()  # no half characters, no infinity
        valid = True
    except ValueError:
        valid = False
    node, problems = parse(text)
    assert (not problems) == valid
    if valid:
        assert node is not None
        assert plain(node) == expected


@given(json_values, st.booleans(), st.sampled_from([None, 2]))
def test_strict_json_reads_back_every_json_value_with_its_places(
    value: object, ascii_: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    node, problems = parse(text)
    assert problems == []
    assert node is not None
    assert plain(node) == value
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        assert json.loads(text[inner.start : inner.end]) == plain(inner)
        if inner.kind == "object":
            waiting += [part for member in inner.value for part in member]
        elif inner.kind == "array":
            waiting += inner.value


@given(documents())
def test_loader_and_schema_agree_on_form(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    automaton, found = load(text.encode(), "m.json")
    assert SCHEMA.is_valid(document) == ("FDC202" not in {item.code for item in found})
    assert (automaton is None) == any(item.severity == "error" for item in found)
    lines = text.split("\n")
    for item in found:
        assert 1 <= item.span.line <= item.span.end_line <= len(lines)
        assert 1 <= item.span.column <= len(lines[item.span.line - 1]) + 1
        assert (item.span.line, item.span.column) < (item.span.end_line, item.span.end_column)


@given(
    st.sampled_from(["table", "list"]),
    rows,
    st.sampled_from(STATES),
    st.lists(st.sampled_from(STATES), unique=True),
    st.lists(words, min_size=1, max_size=8),
)
def test_FDC16_acceptance_agrees_with_automata_lib(
    form: str,
    table: dict[str, dict[str, str]],
    start: str,
    accept: list[str],
    runs: list[list[str]],
) -> None:
    automaton, found = load(json.dumps(written(form, table, start, accept)).encode(), "m.json")
    assert automaton is not None, found
    reference = DFA(
        states=set(STATES),
        input_symbols={*SYMBOLS, "unknown"},
        transitions={state: table.get(state, {}) for state in STATES},
        initial_state=start,
        final_states=set(accept),
        allow_partial=True,
    )
    for word in runs:
        expected = reference.accepts_input(word)
        assert automaton.accepts(word) == expected
        here = automaton.start_index
        for symbol in word:
            here = automaton.table[symbol][here] if here >= 0 and symbol in automaton.table else -1
        assert (here >= 0 and bool(automaton.accept_mask >> here & 1)) == expected


@given(rows, st.sampled_from(STATES), st.lists(st.sampled_from(STATES), unique=True))
def test_useless_states_are_those_that_no_path_uses(
    table: dict[str, dict[str, str]], start: str, accept: list[str]
) -> None:
    automaton, _ = load(json.dumps(written("table", table, start, accept)).encode(), "m.json")
    assert automaton is not None
    reach = {
        state: {state} for state in STATES
    }  # the reflexive, transitive closure, by brute force
    for _ in STATES:
        for state in STATES:
            for target in table.get(state, {}).values():
                reach[state] |= reach[target]
    assert wellformed.unreachable(automaton) == tuple(
        state for state in STATES if state not in reach[start]
    )
    assert wellformed.dead(automaton) == tuple(
        state for state in STATES if not reach[state] & set(accept)
    )


@given(rows, st.sampled_from(STATES), st.lists(st.sampled_from(STATES), unique=True), words)
def test_both_forms_accept_the_same_words(
    table: dict[str, dict[str, str]], start: str, accept: list[str], word: list[str]
) -> None:
    both = [json.dumps(written(form, table, start, accept)).encode() for form in ("table", "list")]
    one, two = (load(data, "m.json")[0] for data in both)
    assert one is not None
    assert two is not None
    assert one.to_json()["transitions"] == two.to_json()["transitions"]
    assert list(one.trace(word)) == list(two.trace(word))
