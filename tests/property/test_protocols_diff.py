"""Laws of `fdc protocols diff`: what it says of two checks is true of all short runs, and no difference escapes it."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any

from fdc_toolchain.automata.declare import COUNTED, NAMES, SINK, at_every_prefix, compiled
from fdc_toolchain.protocols.compare.diff import Side, differences, side
from fdc_toolchain.protocols.compare.strength import compare
from hypothesis import assume, given
from hypothesis import strategies as st

STEPS = ["read", "write", "test", "other"]
events = st.one_of(
    st.sampled_from(STEPS[:3]),
    st.lists(st.sampled_from(STEPS[:3]), min_size=1, max_size=2, unique=True),
)


@st.composite
def checks(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(NAMES))
    made: dict[str, Any] = {"template": name, "a": draw(events)}
    if name in COUNTED:
        return {**made, "n": draw(st.integers(1, 3))}
    letters = compiled(name).letters
    made.update({key: draw(events) for key, bit in (("b", 2), ("c", 4)) if letters & bit})
    return {**made, **draw(st.sampled_from([{}, {"on_abort": "ignore"}, {"on_abort": "check"}]))}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def accepts(check: dict[str, Any], run: tuple[tuple[str, ...], ...]) -> bool:
    """A reader of runs that shares nothing with `strength` but the template's table; a step is a set of events."""
    machine = compiled(check["template"], check.get("n", 1))
    machine = at_every_prefix(machine) if check.get("on_abort") == "check" else machine
    state = 0
    for step in run:
        letter = sum(
            bit
            for key, bit in (("a", 1), ("b", 2), ("c", 4))
            if {*listed(check.get(key, []))} & {*step}
        )
        state = machine.table[letter & machine.letters][state]
        if state == SINK:
            return False
    return bool(machine.accept >> state & 1)


ALL_STEPS = [step for size in range(3) for step in itertools.combinations(STEPS[:3], size)]
RUNS = [run for length in range(4) for run in itertools.product(ALL_STEPS, repeat=length)]


@given(checks(), checks())
def test_a_check_that_is_called_stronger_accepts_fewer_runs(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    """By all runs of up to three steps, each any two events at once."""
    before, after = ({run for run in RUNS if accepts(check, run)} for check in (old, new))
    said = compare(old, new)
    assert said != "strengthened" or after <= before
    assert said != "weakened" or before <= after
    assert said != "equivalent" or before == after
    assert said != "changed" or not (before == after == set(RUNS))
    opposite = {"strengthened": "weakened", "weakened": "strengthened"}
    assert opposite.get(said, said) == compare(new, old)
    assert (
        "equivalent" == compare(old, old)
        and "weakened" == compare(old, None)
        and "strengthened" == compare(None, old)
    )


def test_what_everybody_knows_of_the_templates_is_found() -> None:
    """The hierarchy of DECLARE; short runs prove the other half of these."""

    def on(name: str, **more: Any) -> dict[str, Any]:
        return {"template": name, "a": "write", "b": "test", **more}

    for stronger, weaker in [
        ("chain_response", "alternate_response"), ("alternate_response", "response"), ("response", "responded_existence"),
        ("chain_precedence", "precedence"), ("alternate_precedence", "precedence"), ("succession", "response"),
        ("succession", "precedence"), ("succession", "coexistence"), ("exclusive_choice", "choice"),
        ("exclusive_choice", "not_coexistence"), ("not_succession", "not_chain_succession"),
    ]:  # fmt: skip
        assert "strengthened" == compare(on(weaker), on(stronger)), (weaker, stronger)
        assert "weakened" == compare(on(stronger), on(weaker)), (weaker, stronger)
    assert "changed" == compare(on("response"), on("precedence"))
    assert "equivalent" == compare(on("response"), on("response", b=["test"], severity="error"))
    assert "strengthened" == compare(on("response", severity="warning"), on("response"))
    assert "weakened" == compare(on("response"), on("response", where={"plans": ["a.plan"]}))
    one, two = {"plans": ["a.plan"]}, {"plans": ["a.plan", "b.plan"]}
    assert "strengthened" == compare(on("response", where=one), on("response", where=two))
    assert "changed" == compare(on("response", severity="warning"), on("response", where=one))
    # a step may be write and test at once, and then the one does not follow from the other
    assert "changed" == compare(on("alternate_precedence"), on("chain_precedence"))
    assert "strengthened" == compare(on("response"), on("response", on_abort="check"))
    assert "strengthened" == compare(on("response"), on("response", a=["write", "read"]))
    assert "weakened" == compare(on("response"), on("response", b=["test", "read"]))
    assert "changed" == compare(on("response"), on("response", same="path"))
    assert "strengthened" == compare({"code": "FDC401"}, {"code": ["FDC401", "FDC403"]})
    assert (
        "changed"
        == compare({"code": "FDC401"}, on("response"))
        == compare({"code": "FDC401"}, {"code": "FDC403"})
    )


words = st.sampled_from(["x", "y", "advice: x", "long words"])
rules = st.fixed_dictionaries(
    {"rule_id": st.sampled_from("abc"), "description": words, "enforcement": words},
    optional={
        "associated_tools": st.lists(st.sampled_from("pqr"), unique=True),
        "check": checks(),
        "note": words,
    },
)
bodies = st.fixed_dictionaries(
    {
        "description": words,
        "rules": st.lists(rules, min_size=1, max_size=3, unique_by=lambda rule: rule["rule_id"]),
    },
    optional={
        "tags": st.lists(st.sampled_from("st"), min_size=1, unique=True),
        "protocol_name": words,
        "$schema": words,
    },
)
sets = st.builds(
    Side,
    st.dictionaries(st.sampled_from(["tea", "pot"]), bodies).map(
        lambda made: {name: {"protocol_id": name, **body} for name, body in made.items()}
    ),
    st.dictionaries(
        st.sampled_from(["1.protocol.md", "2.protocol.md"]),
        st.sampled_from(["# A\nx", "# A\ny", "# B"]),
    ),
)


def applied(one: Side, found: list[Any]) -> dict[str, dict[str, Any]]:
    """The protocols of `one` with every difference carried out."""
    made = copy.deepcopy(dict(one.protocols))
    for item in found:
        if not item.protocol:
            continue
        if not item.rule and not item.field:
            made.pop(item.protocol, None)
            if item.other:
                made[item.protocol] = {**copy.deepcopy(item.other), "rules": []}
            continue
        if item.protocol not in made:
            continue
        body = made[item.protocol]
        if item.what == "reordered":
            body["rules"].sort(
                key=lambda rule: (
                    item.other.index(rule["rule_id"]) if rule["rule_id"] in item.other else 99
                )
            )
        elif not item.field:
            body["rules"] = [rule for rule in body["rules"] if rule["rule_id"] != item.rule]
            body["rules"] += [copy.deepcopy(item.other)] if item.other else []
        else:
            into = (
                next(rule for rule in body["rules"] if rule["rule_id"] == item.rule)
                if item.rule
                else body
            )
            if item.field in ("associated_tools", "tags"):
                into[item.field] = [name for name in into.get(item.field, []) if name != item.one]
                into[item.field] += [item.other] if item.other else []
            else:
                into[item.field] = item.other
    return made


def meaning(protocols: Any) -> Any:
    """What of protocols a difference may be about: no order of names or of rules beside those that both sides have."""

    def plain(body: dict[str, Any]) -> dict[str, Any]:
        out = {
            key: value
            for key, value in body.items()
            if key not in ("$schema", "rules") and value not in (None, [])
        }
        out.update({key: sorted(out[key]) for key in ("associated_tools", "tags") if key in out})
        if "enforcement" in out:
            out["enforcement"] = out["enforcement"].removeprefix("advice: ")
        return out

    return {
        name: (plain(body), {rule["rule_id"]: plain(rule) for rule in body["rules"]})
        for name, body in protocols.items()
    }


@given(sets, sets)
def test_the_differences_carried_out_lead_from_one_set_to_the_other(one: Side, other: Side) -> None:
    found = differences(one, other)
    assert meaning(other.protocols) == meaning(applied(one, found))
    gone = sorted(item.one for item in found if not item.protocol and item.one is not None)
    come = sorted(item.other for item in found if not item.protocol and item.other is not None)
    texts = [*other.prose.values(), *gone]
    for text in (*one.prose.values(), *come):
        assert text in texts
        texts.remove(text)
    assert [] == texts and [] == differences(one, one)


@given(sets)
def test_how_a_source_is_written_makes_no_difference(one: Side) -> None:
    assume(one.protocols)
    forms = [
        side(
            {
                f"{number}{name}.protocol.json": json.dumps(body, indent=indent).encode()
                for number, (name, body) in rows
            }
        )[0]
        for indent, rows in (
            (None, [*enumerate(one.protocols.items())]),
            (4, [*enumerate(reversed(one.protocols.items()))]),
        )
    ]
    assert [] == differences(*forms)
