"""Certificates: what the checker says yes to, construct by construct, and the claims that it refuses (`docs/certificates.md`).

Each program is judged three times: by the checker, with an honest certificate or with a careless one, which claims that
nothing is ever refused; and by the enumeration of all runs (`tests.support.allruns`).
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.automata import declare
from fdc_toolchain.certificate.control import check, digest
from fdc_toolchain.certificate.making.make_control import Wrong, make
from fdc_toolchain.check import compile_plan, program_of
from fdc_toolchain.program.codec import digest as digest_of_codec

from tests.support import allruns, certified
from tests.support.linting import lint
from tests.support.programs import (
    asks,
    call,
    choose,
    compare,
    each,
    give,
    iterate,
    loop,
    plan,
    program,
    ref,
    require,
    step,
)
from tests.support.repository import PACKAGE, ROOT, plans

A, B, C = (step(tool, action=f"{tool}_op") for tool in "abc")
ANY = compare(ref("run"), "==", 1)
"""A condition that goes either way."""
YES, NO = {"value": {"const": True}}, {"value": {"const": False}}

MACHINES = {
    # the words that each accepts, over a_op, b_op, c_op
    "any": {"start": "S", "accept": ["S"], "transitions": {"S": {"a_op": "S", "b_op": "S", "c_op": "S"}}},
    "ab": {"start": "0", "accept": ["2"], "transitions": {"0": {"a_op": "1"}, "1": {"b_op": "2"}}},
    "(ab)*": {"start": "0", "accept": ["0"], "transitions": {"0": {"a_op": "1"}, "1": {"b_op": "0"}}},
    "(ab)*a?": {"start": "0", "accept": ["0", "1"], "transitions": {"0": {"a_op": "1"}, "1": {"b_op": "0"}}},
    "a?a?": {"start": "0", "accept": ["0", "1", "2"], "transitions": {"0": {"a_op": "1"}, "1": {"a_op": "2"}}},
    "aa": {"start": "0", "accept": ["2"], "transitions": {"0": {"a_op": "1"}, "1": {"a_op": "2"}}},
    "aa*": {"start": "0", "accept": ["1"], "transitions": {"0": {"a_op": "1"}, "1": {"a_op": "1"}}},
    "a*b": {"start": "0", "accept": ["1"], "transitions": {"0": {"a_op": "0", "b_op": "1"}}},
    "even a": {"start": "0", "accept": ["0"], "transitions": {"0": {"a_op": "1", "b_op": "0"}, "1": {"a_op": "0", "b_op": "1"}}},
    "a or b": {"start": "0", "accept": ["1"], "transitions": {"0": {"a_op": "1", "b_op": "1"}}},
}  # fmt: skip


def made(automaton: str | None, *body: dict[str, Any], **plans: dict[str, Any]) -> dict[str, Any]:
    """A program of one root, which an automaton governs, and plans to call."""
    tools = {
        key: {"effect": "pure", "parameters": [{"name": "path", "kind": "path"}]} for key in "abcn"
    }
    found = program(
        *copy.deepcopy(body),
        automaton=automaton,
        automata=MACHINES,
        tools=tools,
        plans=copy.deepcopy(plans),
    )
    found["format"] = 2
    certified.number_lines(found)
    return found


def fork(*body: dict[str, Any], most: int = 2, keeps: bool = False) -> dict[str, Any]:
    return loop("fork", "i", "{run}", *body, most=most, keeps=keeps)


def every(*body: dict[str, Any], most: int = 10) -> dict[str, Any]:
    return loop("for", "i", "{run}", *body, most=most)


def chain(length: int) -> dict[str, Any]:
    """A root below which plans call each other, `length` on the stack at most."""
    plans = {
        f"p{number}": plan(call(f"p{number + 1}"), name=f"p{number}") for number in range(2, length)
    }
    return made("any", call("p2"), **plans, **{f"p{length}": plan(A, name=f"p{length}")})


GOOD = {
    "a step": made("ab", A, B),
    "a step without an action": made("ab", A, step("n"), B),
    "both sides of an if": made("a or b", choose(ANY, [A], [B])),
    "an if without else": made("a?a?", choose(ANY, [A])),
    "a constant if": made("ab", A, choose(NO, [A], [B])),
    "a constant made of others": made("ab", choose({"or": [{"not": YES}, compare("x", "==", "x")]}, [A], [A, A]), B),
    "a length": made("ab", A, choose({"test": ">", "left": {"len": {"const": "ab"}}, "right": {"const": 1}}, [B], [A])),
    "files": made("(ab)*", each("*", A, B)),
    "files, at most two": made("a?a?", each("*", A, most=2)),
    "a list, at most two": made("a?a?", every(A, most=2)),
    "loops in loops": made("(ab)*", every(A, B, each("*", A, B, most=1), most=1)),
    "once at least": made("aa*", iterate(5, A, until=ANY)),
    "twice exactly": made("aa", iterate(2, A)),
    "an even number exactly": made("even a", iterate(4, A, until=NO)),
    "once exactly": made("ab", iterate(3, A, until=YES), B),
    "a fork whose order it cannot be known": made("even a", fork(A, A, B)),
    "a fork of one branch": made("(ab)*", fork(A, B, most=1)),
    "a fork of anything": made("any", fork(A, each("*", C, most=1))),
    "a fork in a fork": made("any", fork(A, fork(B, keeps=True))),
    "a kept branch": made("a*b", fork(A, require(ANY), A, keeps=True), B),
    "a kept branch that calls": made("a*b", fork(call("p"), keeps=True), B, p=plan(every(A, most=2), name="p")),
    "a kept branch with its own cycle": made("ab", A, fork(call("p"), keeps=True), B, p=plan(A, B, name="p", automaton="ab")),
    "a fragment": made("ab", A, call("p"), p=plan(B, name="p")),
    "a fragment from two states": made("a?a?", choose(ANY, [A]), call("p"), p=plan(choose(ANY, [A]), name="p")),
    "a cycle of its own": made("ab", A, call("p"), B, p=plan(A, B, name="p", automaton="ab")),
    "a cycle in a cycle": made(
        "ab", A, call("p"), B, p=plan(A, call("q"), B, name="p", automaton="ab"), q=plan(A, name="q", automaton="aa*")
    ),
    "a call that is skipped": made("ab", A, {"op": "skip", "line": 1, "bind": "x"}, step("b", action="b_op", path="{x}")),
    "a gate, a result": made("ab", A, require(ANY), give("{run}"), B),
    "a predicate": made("a or b", choose(asks("even", "{run}"), [A], [B])),
    "no automaton": made(None, A, A),
    "a name": made("ab", step("a", bind="x", action="a_op"), step("b", action="b_op", path="{x.y}")),
    "a name of both sides": made("any", choose(ANY, [step("a", bind="x")], [step("b", bind="x")]), give("{x}")),
    "a name of every round": made("any", iterate(2, step("a", bind="x"), until=compare(ref("x"), "==", 1)), give("{x}")),
    "the name of a loop, bound before it": made("any", step("a", bind="i"), every(give("{i}")), give("{i}")),
    "files have two names": made("any", each("*", give("{file} {file1}"))),
    "a result of a loop": made("any", loop("for", "i", "{run}", give("{i}"), bind="all"), give("{all}")),
    "a parameter": made("any", call("p", x="1"), p=plan(give("{x}{y}"), name="p", params={"x": None, "y": "2"})),
    "ten on the stack": chain(10),
}  # fmt: skip

BAD = {
    "a step": made("ab", B, A),
    "the end": made("ab", A),
    "one side of an if": made("ab", A, choose(ANY, [B], [A])),
    "an if without else": made("ab", A, choose(ANY, [B])),
    "a constant if": made("ab", A, choose(YES, [A], [B])),
    "files": made("a?a?", each("*", A)),
    "files, at most three": made("a?a?", each("*", A, most=3)),
    "a list, at most three": made("a?a?", every(A, most=3)),
    "a loop that may run no time": made("aa*", every(A)),
    "the second round": made("ab", every(A, B)),
    "not twice": made("aa", iterate(2, A, until=ANY)),
    "three times": made("aa", iterate(3, A)),
    "after more rounds than are told apart": made("aa*", iterate(4, A), B),
    "an odd number": made("even a", iterate(3, A)),
    "a fork whose order matters": made("(ab)*", fork(A, B)),
    "a fork that ends well and is refused on its way": made("(ab)*a?", fork(A, B)),
    "two branches": made("a?a?", fork(A, A)),
    "a fork in a fork": made("(ab)*", fork(fork(A, B, most=1), most=2)),
    "a kept branch that stops in between": made("(ab)*", fork(A, B, most=1, keeps=True)),
    "a kept branch that stops in a loop": made("even a", fork(every(A, A, most=1), keeps=True)),
    "a kept branch that stops in a fragment": made("(ab)*", fork(call("p"), most=1, keeps=True), p=plan(A, B, name="p")),
    "a kept fork around one that keeps nothing": made("even a", fork(fork(A, A), most=1, keeps=True)),
    "a fragment": made("ab", A, call("p"), p=plan(A, name="p")),
    "a cycle of its own that is refused": made("ab", A, call("p"), B, p=plan(B, name="p", automaton="ab")),
    "a cycle of its own that is not finished": made("ab", A, call("p"), B, p=plan(A, name="p", automaton="ab")),
    "a cycle of its own that is not part of the word": made("ab", call("p"), p=plan(A, B, name="p", automaton="ab")),
    "a name that nothing binds": made("any", give("{x}")),
    "a name of one side": made("any", choose(ANY, [step("a", bind="x")]), give("{x}")),
    "a name of a loop that may run no time": made("any", every(step("a", bind="x")), give("{x}")),
    "a name of a branch": made("any", fork(step("a", bind="x")), give("{x}")),
    "the name of a loop, after it": made("any", every(A), give("{i}")),
    "the second name of a file, after it": made("any", each("*", A), give("{file1}")),
    "a name in a condition": made("any", choose({"and": [NO, {"value": ref("x")}]}, [A])),
    "a name in an `until`": made("any", iterate(2, A, until={"not": {"value": {"len": ref("x")}}})),
    "a name in a predicate": made("any", require(asks("even", "{x}"))),
    "a name of the caller": made("any", step("a", bind="x"), call("p"), p=plan(give("{x}"), name="p")),
    "a parameter that the call does not give": made("any", call("p"), p=plan(give("{x}"), name="p", params={"x": None})),
    "eleven on the stack": chain(11),
    "a circle of calls": made("any", call("p"), p=plan(A, call("q"), name="p"), q=plan(call("p"), name="q")),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_what_no_run_breaks_has_a_certificate(name: str) -> None:
    certificate = make(GOOD[name])
    assert None is check(GOOD[name], json.loads(json.dumps(certificate)))
    steps = sum(
        number * allruns.FILES ** len(sizes)
        for number, sizes in certificate["plans"]["main"]["steps"]
    )
    assert allruns.longest(GOOD[name], set()) <= steps


@pytest.mark.parametrize("name", BAD)
def test_what_some_run_breaks_has_none_and_a_careless_one_is_refused(name: str) -> None:
    with pytest.raises(Wrong):
        make(BAD[name])
    with pytest.raises(allruns.Broken):
        allruns.longest(BAD[name], set())
    try:
        careless = certified.careless(BAD[name])
    except Wrong:
        return  # not a claim about an automaton
    found = check(BAD[name], careless)
    assert found is not None and "form" not in found


def test_a_call_chain_that_is_too_deep_is_refused_whatever_heights_are_claimed() -> None:
    deep = chain(11)
    certificate = {**make(chain(10)), "program": digest(deep)}
    certificate["plans"] = {
        key: {"height": 10 - number, "names": [], "steps": [[1, []]]}
        for number, key in enumerate(["main", *(f"p{n}" for n in range(2, 12))])
    }
    assert "whole one from 1 on" in str(check(deep, certificate))
    for number, claim in enumerate(reversed(certificate["plans"].values()), 1):
        claim["height"] = number
    assert "at most 10 deep" in str(check(deep, certificate))
    for number, claim in enumerate(reversed(certificate["plans"].values()), 1):
        claim["height"] = number * 0.5 + 1
    assert "whole one" in str(check(deep, certificate))


def wrong(certificate: dict[str, Any], of: dict[str, Any]) -> str:
    """What the checker says; every certificate here is wrong."""
    found = check(of, certificate)
    assert found is not None
    return found


def test_a_certificate_is_for_one_program() -> None:
    certificate = make(GOOD["a step"])
    other = made("ab", A, B)
    other["plans"]["main"]["body"][0]["line"] = 7
    assert "another program" in wrong(certificate, other)


def test_the_digest_is_that_of_the_program() -> None:
    assert digest_of_codec(GOOD["files"]) == digest(GOOD["files"])


LIST = "a list, at most two"
ROUNDS = ("automata", "a?a?", "main", "loops", "/1", "0", "rounds")


@pytest.mark.parametrize(
    ("name", "way", "value", "said"),
    [
        (
            "a step",
            ("automata", "ab", "main", "bodies", "", "0", "ends"),
            [],
            "leave what is claimed",
        ),
        (
            "a step",
            ("automata", "ab", "main", "bodies", "", "0", "ends"),
            ["2", "1"],
            "does not accept",
        ),
        ("a step", ("automata", "ab", "main", "bodies", ""), {}, "nothing is claimed"),
        (
            "a step",
            ("automata", "ab", "main", "bodies", "", "1"),
            {"ends": ["2"]},
            "refuses `a_op`",
        ),
        ("a step", ("automata", "ab"), {}, "nothing is claimed"),
        ("a step", ("automata",), {}, "lacks a claim"),
        ("a step", ("plans", "main", "steps"), [[1, []]], "more steps"),
        ("a step", ("plans", "main", "steps"), [[2, []], [-1, ["x"]]], "whole one"),
        ("a step", ("plans", "main", "steps"), [[2.5, []]], "whole one"),
        ("a step", ("plans", "main", "steps"), [[True, []], [True, []]], "whole one"),
        ("a step", ("plans", "main", "height"), 0, "whole one"),
        ("a step", ("plans", "main", "height"), 11, "at most 10 deep"),
        ("a step", ("plans", "main", "names"), ["x"], "`x` is not bound"),
        ("a step", ("format",), 2, "not of the form"),
        ("files", ("plans", "main", "steps"), [[2, ["main.plan:2"]]], "more steps"),
        ("files", ("plans", "main", "steps"), [[2, []]], "more steps"),
        (
            "files",
            ("automata", "(ab)*", "main", "loops", "/1", "0", "rounds"),
            [["1"]],
            "lacks the state",
        ),
        (
            "files",
            ("automata", "(ab)*", "main", "loops", "/1", "0", "rounds"),
            [["0", "1"]],
            "nothing is claimed",
        ),
        (
            "files",
            ("automata", "(ab)*", "main", "bodies", "/1", "0", "ends"),
            ["1"],
            "a round of the loop",
        ),
        (LIST, ROUNDS, [["0"]], "a round of the loop"),
        (LIST, ROUNDS, [["0"], ["1"]], "a round of the loop"),
        (LIST, ROUNDS, [["0"], [], []], "a round of the loop"),
        (
            "twice exactly",
            ("automata", "aa", "main", "loops", "/1", "0", "rounds"),
            [["0"], ["1"], []],
            "a round of the loop",
        ),
        (
            "once at least",
            ("automata", "aa*", "main", "loops", "/1", "0", "rounds"),
            [["0", "1"]],
            "leave what is claimed",
        ),
        (
            "a fork whose order it cannot be known",
            ("automata", "even a", "main", "loops", "/1", "0", "reach"),
            ["0"],
            "not claimed",
        ),
        (
            "a kept branch",
            ("automata", "a*b", "main", "bodies", "/1", "0", "stops"),
            [],
            "leave what is claimed",
        ),
        (
            "a fragment",
            ("automata", "ab", "p", "bodies", "", "1", "ends"),
            [],
            "leave what is claimed",
        ),
        ("a fragment", ("automata", "ab", "p"), None, "lacks a claim"),
        ("a fragment", ("plans", "p", "height"), 2, "do not fall"),
        ("a fragment", ("plans", "p"), {}, "lacks a claim"),
        ("a cycle of its own", ("automata", "ab", "p"), {"bodies": {"": {}}}, "nothing is claimed"),
    ],
)
def test_a_wrong_claim_is_found(name: str, way: tuple[str, ...], value: Any, said: str) -> None:
    certificate = make(GOOD[name])
    holder: Any = certificate
    for key in way[:-1]:
        holder = holder[key]
    assert holder.get(way[-1]) != value
    holder[way[-1]] = value
    assert said in wrong(certificate, GOOD[name])


def test_orders_that_an_automaton_can_tell_are_not_claimed_away() -> None:
    """The body alone keeps every step: only the order of branches is wrong."""
    bad = BAD["a fork whose order matters"]
    careless = certified.careless(bad)
    rows = careless["automata"]["(ab)*"]["main"]
    rows["loops"]["/1"]["0"] = {"reach": ["0", "1"], "rounds": [["0"]], "stops": [["0", "1"]]}
    rows["bodies"]["/1"] = {"0": {"ends": ["0"]}}
    rows["bodies"][""] = {"0": {"ends": ["0"]}}
    assert "in which order" in wrong(careless, bad)


@pytest.mark.parametrize(
    "value", [None, [], "x", 3, {}, {"format": 1}, {"format": 1, "part": "control", "program": "x"}]
)
def test_what_is_no_certificate_is_refused_in_a_sentence(value: Any) -> None:
    wrong(value, GOOD["a step"])


# ---- rules of protocols ---------------------------------------------------------------------------------


def ruled(
    template: str,
    events: list[list[dict[str, Any]]],
    *body: dict[str, Any],
    same: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A program that carries one rule."""
    compiled = declare.compiled(template, 1)
    compiled = declare.from_first_step(compiled) if same else compiled
    found = made("any", *body, **more.pop("plans", {}))
    found["rules"] = [
        {
            "protocol": "p", "rule": "r", "description": "", "same": same, "automata": [], **more,
            "events": events + [[]] * (3 - len(events)), "states": list(compiled.states),
            "accept": [number for number in range(len(compiled.states)) if compiled.accept >> number & 1],
            "table": [compiled.table[letter] for letter in range(len(compiled.table))],
        }
    ]  # fmt: skip
    return found


def path(tool: str, value: str) -> dict[str, Any]:
    return step(tool, action=f"{tool}_op", path=value)


THEN = [[{"name": "a_op"}], [{"tool": "b"}]]
LOGS = [[{"action": "b_op", "arguments": {"path": "d/**"}}]]
NESTED = {"p": plan(A, name="p", automaton="aa*")}
RULES = {
    # program, whether the rule is claimed to be kept
    "a step after another": (ruled("response", THEN, A, C, B), True),
    "no step after another": (ruled("response", THEN, A, B, A), False),
    "a step after a fork": (ruled("response", THEN, fork(A, keeps=True), B), True),
    "a step in a kept branch": (ruled("response", THEN, fork(A, B, most=1, keeps=True)), False),
    "no step of a kind": (ruled("absence", LOGS, path("b", "docs/a.md"), path("a", "d/x")), True),
    "a step of the kind": (ruled("absence", LOGS, path("b", "./d//x")), False),
    "a step that may be of the kind": (ruled("absence", LOGS, path("b", "{run}")), False),
    "for each value": (ruled("precedence", THEN, path("a", "x"), path("a", "y"), path("b", "./x"), same="path"), True),
    "for each value but one": (ruled("precedence", THEN, path("a", "x"), path("b", "y"), same="path"), False),
    "for a value that is not known": (ruled("precedence", THEN, path("a", "x"), path("b", "{run}"), same="path"), False),
    "steps without the parameter": (ruled("precedence", THEN, B, same="path"), True),
    "below an automaton of which it speaks": (ruled("response", THEN, call("p"), plans=NESTED, automata=["any", "aa*"]), False),
    "below one of which it does not": (ruled("response", THEN, call("p"), plans=NESTED, automata=["any"]), True),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_claimed_to_be_kept_where_no_run_breaks_it(name: str) -> None:
    of, kept = RULES[name]
    certificate = make(of)
    assert kept is (certificate["rules"][0] is not None)
    assert None is check(of, certificate)
    if kept:
        allruns.longest(of, {0})
        return
    with pytest.raises(allruns.Broken):
        allruns.longest(of, {0})
    assert "the rule `r`" in wrong(certified.careless(of), of)


def test_a_rule_is_kept_for_every_value_that_a_step_names() -> None:
    of, _ = RULES["for each value"]
    certificate = make(of)
    assert {"others", "=x", "=y"} == set(certificate["rules"][0])
    del certificate["rules"][0]["=x"]
    assert "lacks a claim" in wrong(certificate, of)


# ---- what lint accepts, and what is shipped ---------------------------------------------------------------


def test_a_nested_cycle_under_exhausted_recursion_has_no_certificate() -> None:
    """Finding A3: the instance of `s.plan` that calls no one any more ends where `one.json` does not accept."""
    checked = lint(
        {
            "r.plan": "# FSM: any.json\ncall_plan s.plan\n",
            "s.plan": "# FSM: one.json\ncall_plan f.plan depth 1\n",
            "f.plan": "read_file x.md\ncall_plan s.plan\n",
            "any.json": '{"states": ["S"], "alphabet": ["read_op"], "transitions": {"S": {"read_op": "S"}}, '
            '"start_state": "S", "accept_states": ["S"]}',
            "one.json": '{"states": ["A", "B"], "alphabet": ["read_op"], "transitions": {"A": {"read_op": "B"}}, '
            '"start_state": "A", "accept_states": ["B"]}',
        },
        "r.plan",
        there=("x.md",),
    )
    nested = program_of(checked)
    with pytest.raises(Wrong, match=r"s\.plan#.*does not accept"):
        make(nested)
    with pytest.raises(allruns.Broken):
        allruns.longest(nested, set())
    assert "does not accept" in wrong(certified.careless(nested), nested)


def test_every_shipped_plan_is_certified() -> None:
    """Each that names its automaton by itself, each fragment with a plan that calls it."""
    shipped = {str(one.relative_to(ROOT)) for one in plans()}
    seen: set[str] = set()
    for name in sorted(shipped):
        if not any(
            line.startswith(("use fsm", "# FSM:"))
            for line in (ROOT / name).read_text("utf-8").splitlines()
        ):
            continue
        found, _ = compile_plan(str(ROOT / name), str(ROOT))
        assert found is not None, name
        assert None is check(found, make(found)), name
        seen |= {one["path"] for one in found["plans"].values()}
    assert shipped <= seen


def test_a_bound_with_too_many_sizes_has_one_for_all() -> None:
    """Each plan has two loops that call the next: written down one by one, the sizes would have 1,024 products."""
    plans = {
        f"p{number}": plan(
            *(each("*", call(f"p{number + 1}") if number < 9 else A) for _ in range(4)),
            name=f"p{number}",
        )
        for number in range(1, 10)
    }
    of = made("any", call("p1"), **plans)
    certificate = make(of)
    assert (True, [(4**9, ["n"] * 9)]) == (
        certificate["one_size"],
        certificate["plans"]["main"]["steps"],
    )
    assert None is check(of, certificate)


# ---- the checker by itself ----------------------------------------------------------------------------------


def test_the_checker_needs_nothing_else_of_fdc(tmp_path: Path) -> None:
    folder = tmp_path / "checker"
    folder.mkdir()
    for name in ("__init__", "control", "words", "plans", "constants", "readers"):
        text = (PACKAGE / "certificate" / f"{name}.py").read_text("utf-8")
        assert len(text.splitlines()) <= 200
        (folder / f"{name}.py").write_text(text, "utf-8")
    (tmp_path / "p.json").write_text(json.dumps(GOOD["files"]), "utf-8")
    (tmp_path / "c.json").write_text(json.dumps(make(GOOD["files"])), "utf-8")
    script = (
        "import json, sys; sys.path.insert(0, '.'); from checker.control import check; "
        "print(check(json.load(open('p.json')), json.load(open('c.json'))), sorted(n for n in sys.modules if 'fdc' in n))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert ("None []\n", "") == (done.stdout, done.stderr)
