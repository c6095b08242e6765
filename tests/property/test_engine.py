"""Laws of the engine, over programs that Hypothesis makes."""

from __future__ import annotations

from typing import Any

from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.reach import reach
from fdc_toolchain.engine.values import Unusable, holds, render, same
from fdc_toolchain.program.codec import ProgramError, digest, encode, load
from fdc_toolchain.program.shape import problems
from fdc_toolchain.testing import Crash, CrashPoint, FunctionTools, MemoryJournal, run
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.profiles import share
from tests.support.programs import generated
from tests.support.witness import Witness

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1e9, 1e9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def programs() -> st.SearchStrategy[dict[str, Any]]:
    """Programs by seed: a composed strategy would spend its time on drawing, and the seed reproduces as well."""
    return st.integers(0, 2**32).map(generated)


class Files(Witness):
    """A witness for generated programs."""

    def answer(self, effect: Any) -> Any:
        return ["f", "g"] if effect.kind == "files" else [effect.tool, effect.address]


class Seen(Files):
    """The same, and it notes what it is asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def answer(self, effect: Any) -> Any:
        self.seen.append(effect)
        return super().answer(effect)


GIVEN = {"given": {"list": ["1", "2"]}}


@given(programs())
@settings(max_examples=share(300))
def test_a_generated_program_is_well_formed_and_survives_its_bytes(made: dict[str, Any]) -> None:
    assert problems(made) == []
    assert load(encode(made)) == made
    assert digest(load(encode(made))) == digest(made)


@given(programs())
@settings(max_examples=share(300))
def test_folding_any_prefix_never_fails_and_the_rest_brings_it_to_the_same_end(
    made: dict[str, Any],
) -> None:
    journal = MemoryJournal()
    ending = run(made, Files(), inputs=GIVEN, journal=journal)
    total = len(journal.records)
    for length in {*range(min(total, 12)), *range(0, total + 1, 1 + total // 12), total}:
        fold(made, GIVEN, journal.records[:length])
    assert run(made, FunctionTools({}), inputs=GIVEN, journal=journal) == ending


@given(programs())
@settings(max_examples=share(200))
def test_what_a_run_does_from_any_point_on_is_what_it_could_still_reach(
    made: dict[str, Any],
) -> None:
    """What a run that goes on needs of a machine rests on it: nothing that is left is overlooked, at the end nothing is left."""
    for number, item in enumerate(reach(made).steps, 1):
        item["line"] = number
    journal = MemoryJournal()
    run(made, Files(), inputs=GIVEN, journal=journal)
    records = journal.records
    for length in {
        *range(min(len(records), 8)),
        *range(0, len(records) + 1, 1 + len(records) // 8),
        len(records),
    }:
        kept = MemoryJournal()
        kept.records[:] = records[:length]
        state = fold(made, GIVEN, records[:length])
        left = reach(made, state)
        assert {id(item) for item in left.steps} <= {id(item) for item in reach(made).steps}
        tools = Seen()
        run(made, tools, inputs=GIVEN, journal=kept)
        seen = tools.seen
        assert {effect.line for effect in seen if effect.kind == "tool"} <= {
            item["line"] for item in left.steps
        }
        assert {effect.tool for effect in seen if effect.kind == "predicate"} <= left.predicates
        if state.ended:
            assert not left.steps


@given(programs())
@settings(max_examples=share(300))
def test_the_end_of_a_run_does_not_depend_on_how_many_effects_run_at_once(
    made: dict[str, Any],
) -> None:
    alone, crowd = MemoryJournal(), MemoryJournal()
    one = run(made, Files(), inputs=GIVEN, journal=alone, room=1)
    many = run(made, Files(), inputs=GIVEN, journal=crowd, room=5)
    assert one == many

    def outcomes(records: list[Record]) -> dict[str, Any]:
        return {
            record.address: record.body.get("value")
            for record in records
            if record.kind == "outcome"
        }

    assert outcomes(alone.records) == outcomes(crowd.records)


@given(programs(), st.integers(1, 60))
@settings(max_examples=share(300))
def test_a_crash_anywhere_changes_neither_the_end_nor_what_happened_once(
    made: dict[str, Any], number: int
) -> None:
    expected = run(made, Files(), inputs=GIVEN)
    witness, journal = Files(probing=True), MemoryJournal()
    try:
        run(made, witness, inputs=GIVEN, journal=journal, point=CrashPoint(number))
    except Crash:
        pass
    assert run(made, witness, inputs=GIVEN, journal=journal) == expected
    assert witness.repeated("once") == []


@given(JSON, JSON)
def test_equality_of_values_is_symmetric_and_true_of_a_value_and_itself(
    left: Any, right: Any
) -> None:
    assert same(left, left)
    assert same(left, right) == same(right, left)


@given(JSON, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]), JSON)
def test_every_comparison_of_any_values_is_a_truth_value_or_unusable(
    left: Any, operator: str, right: Any
) -> None:
    cond = {"test": operator, "left": {"const": left}, "right": {"const": right}}
    try:
        assert holds(cond, {}, []) in (True, False)
    except Unusable as said:
        assert str(said)


@given(JSON)
def test_a_lone_reference_renders_to_its_value_and_any_other_template_to_text(value: Any) -> None:
    names = {"x": value}
    assert render([{"ref": ["x"]}], names) is value
    assert isinstance(render(["a", {"ref": ["x"]}], names), str)


@given(
    st.binary(max_size=60) | JSON.map(encode) | programs().map(encode),
    st.integers(0, 2**16),
    st.binary(max_size=2),
)
@settings(max_examples=share(400))
def test_loading_any_bytes_gives_a_program_or_one_sentence(
    data: bytes, at: int, instead: bytes
) -> None:
    at %= len(data) + 1
    data = data[:at] + instead + data[at + len(instead) :]
    try:
        assert problems(load(data)) == []
    except ProgramError as wrong:
        assert str(wrong) and "\n" not in str(wrong)
