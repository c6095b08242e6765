"""The call graph: cycles, the depth of the stack, stated recursion (FDC-33, FDC-34, FDC-39, C-02)."""

from __future__ import annotations

import itertools
import random

import pytest
from fdc_toolchain.linking import graph
from fdc_toolchain.linking.graph import Graph, calls_of, components
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import findings, lint, places


def calling(**edges: str) -> dict[str, str]:
    """Plans that call others: `a="b c"` is a plan a.plan with two calls. `b!2` is a call with `depth 2`."""
    out = {}
    for name, callees in edges.items():
        lines = ["plan_step_complete"]
        for callee in callees.split():
            target, _, depth = callee.partition("!")
            lines.append(f"call_plan {target}.plan" + (f" depth {depth}" if depth else ""))
        out[f"{name}.plan"] = "\n".join(lines) + "\n"
    return out


# ---- cycles -----------------------------------------------------------------------------------


def test_a_plan_that_calls_itself_is_a_cycle():
    """FDC-34: found statically, with its trace; the look always ends."""
    [found] = findings(lint(calling(a="a")), "FDC322")
    assert (found.span.path, found.span.line) == ("a.plan", 2)
    assert found.message == "plans call each other in a cycle without a depth: a.plan -> a.plan"


def test_a_cycle_is_told_from_its_smallest_member():
    for root in ("a", "b", "c"):
        plans = calling(c="a", a="b", b="c")
        [found] = findings(lint(plans, f"{root}.plan"), "FDC322")
        assert found.message.endswith(": a.plan -> b.plan -> c.plan -> a.plan")
        assert [(label.span.path, label.span.line) for label in found.trace] == [
            ("a.plan", 2), ("b.plan", 2), ("c.plan", 2),
        ]  # fmt: skip


def test_all_cycles_are_told_smallest_first():
    """Two that share a plan are two; a cycle below another is told as well."""
    found = findings(lint(calling(m="a x", a="b c", b="a", c="a", x="y", y="x")), "FDC322")
    told = [item.message.partition(": ")[2] for item in found]
    assert told == [
        "a.plan -> b.plan -> a.plan",
        "a.plan -> c.plan -> a.plan",
        "x.plan -> y.plan -> x.plan",
    ]


def test_what_only_calls_a_cycle_is_on_none():
    found = findings(lint(calling(m="a", a="b", b="a", z="z")), "FDC322")
    assert [item.span.path for item in found] == ["a.plan", "z.plan"]


def cyclic_edges(edges: dict[str, list[str]]) -> set[tuple[str, str]]:
    """By reachability alone: the calls from whose target their caller can be reached."""

    def reached(start: str) -> set[str]:
        seen, work = {start}, [start]
        while work:
            for other in edges[work.pop()]:
                if other not in seen:
                    seen.add(other)
                    work.append(other)
        return seen

    return {
        (caller, callee)
        for caller in edges
        for callee in edges[caller]
        if caller in reached(callee)
    }


def test_every_call_that_can_come_back_is_in_a_cycle_that_is_told_and_no_other():
    """FDC-34 on random graphs, by reachability."""
    some = none = 0
    for seed in range(300):
        rng = random.Random(seed)
        names = [f"p{number}" for number in range(rng.randint(1, 6))]
        edges = {
            name: [other for other in names if rng.random() < rng.choice((0.1, 0.3))]
            for name in names
        }
        found = findings(
            lint(calling(**{name: " ".join(callees) for name, callees in edges.items()})), "FDC322"
        )
        told = set()
        for item in found:
            chain = [
                name.removesuffix(".plan") for name in item.message.partition(": ")[2].split(" -> ")
            ]
            assert chain[0] == chain[-1] == min(chain), "from the smallest member"
            assert len(set(chain)) == len(chain) - 1, "no plan twice"
            told |= set(itertools.pairwise(chain))
        assert told == cyclic_edges(edges), (seed, edges)
        some += bool(found)
        none += not found
    assert min(some, none) > 50


# ---- depth ------------------------------------------------------------------------------------


def chain(length: int) -> dict[str, str]:
    """A chain of plans that makes a stack of `length`, the root counted."""
    edges = {f"p{number:02}": f"p{number + 1:02}" for number in range(1, length)}
    return calling(**edges, **{f"p{length:02}": ""})


@pytest.mark.parametrize(
    ("length", "wrong"), [(1, False), (9, False), (10, False), (11, True), (12, True)]
)
def test_a_stack_of_ten_is_allowed_and_one_of_eleven_is_not(length: int, wrong: bool):
    """FDC-33: MAX_RECURSION_DEPTH is 10, the root plan counted."""
    checked = lint(chain(length), "p01.plan")
    assert checked.context.graph.instance("p01.plan").height == length
    found = findings(checked, "FDC323")
    assert bool(found) == wrong
    if found:
        assert found[0].message.startswith(
            f"the stack is {length} plans deep, the maximum is 10: p01.plan -> "
        )
        names = " -> ".join(f"p{number:02}.plan" for number in range(1, length + 1))
        assert names in found[0].message, "the message names the chain"
        assert [label.span.path for label in found[0].trace] == [
            f"p{number:02}.plan" for number in range(1, length)
        ]


def test_the_setting_lowers_the_depth_that_may_be():
    assert not findings(
        lint(chain(3), "p01.plan", settings=Settings(fsm="any.json", max_stack=3)), "FDC323"
    )
    assert findings(
        lint(chain(4), "p01.plan", settings=Settings(fsm="any.json", max_stack=3)), "FDC323"
    )


def test_the_deepest_of_many_chains_is_the_one_told():
    plans = calling(root="a b", a="", b="c", c="d", d="")
    checked = lint(plans, "root.plan", settings=Settings(fsm="any.json", max_stack=3))
    [found] = findings(checked, "FDC323")
    assert "root.plan -> b.plan -> c.plan -> d.plan" in found.message


def height_by_walking(edges: dict[str, list[str]], name: str) -> int:
    return 1 + max((height_by_walking(edges, other) for other in edges[name]), default=0)


def test_the_depth_is_the_longest_chain_on_random_graphs_without_cycles():
    for seed in range(200):
        rng = random.Random(seed)
        count = rng.randint(1, 8)
        edges = {
            f"p{number}": [f"p{other}" for other in range(number + 1, count) if rng.random() < 0.4]
            for number in range(count)
        }
        checked = lint(
            calling(**{name: " ".join(callees) for name, callees in edges.items()}), "p0.plan"
        )
        for name in sorted(edges):
            if f"{name}.plan" not in checked.context.linker.units:
                continue  # nothing calls it
            assert checked.context.graph.instance(f"{name}.plan").height == height_by_walking(
                edges, name
            ), seed


# ---- stated recursion -------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_a_stated_recursion_is_made_that_often_and_then_skipped(depth: int):
    checked = lint(calling(a=f"a!{depth}"))
    assert not findings(checked, "FDC322", "FDC323")
    assert checked.context.graph.instance("a.plan").height == depth + 1


def test_a_stated_recursion_counts_for_the_depth_of_the_stack():
    """FDC-33: ten calls of itself make a stack of eleven."""
    [found] = findings(lint(calling(a="a!10")), "FDC323")
    assert "the stack is 11 plans deep" in found.message


def test_a_recursion_that_unfolds_to_too_many_plans_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph, "MOST_INSTANCES", 3)
    assert not findings(lint(calling(a="a!3")), "FDC323")
    [found] = findings(lint(calling(a="a!4")), "FDC323")
    assert "more plans than fdc can check" in found.message


def test_a_cycle_with_one_stated_call_is_none():
    checked = lint(calling(a="b", b="a!2"))
    assert not findings(checked, "FDC322")
    assert (
        checked.context.graph.instance("a.plan").height == 6
    )  # a b a b a b: the call back is made twice


def test_a_depth_on_a_call_that_closes_no_cycle_changes_nothing():
    checked = lint(calling(a="b!1 b!1", b=""))
    assert not findings(checked, "FDC322", "FDC323")
    assert checked.context.graph.instance("a.plan").height == 2


def stack_of(
    edges: dict[str, list[tuple[str, int | None]]], name: str, made: dict[tuple[str, int], int]
) -> int:
    """The deepest stack by walking: a stated call that closes a cycle is made so often on one stack."""
    back = {
        (caller, callee)
        for caller, callee in cyclic_edges({n: [c for c, _ in e] for n, e in edges.items()})
    }
    deepest = 0
    for number, (callee, depth) in enumerate(edges[name]):
        counts = made
        if depth is not None and (name, callee) in back:
            if made.get((name, number), 0) >= depth:
                continue
            counts = {**made, (name, number): made.get((name, number), 0) + 1}
        deepest = max(deepest, stack_of(edges, callee, counts))
    return 1 + deepest


def test_the_depth_of_stated_recursion_is_that_of_walking_every_stack():
    compared = 0
    for seed in range(400):
        rng = random.Random(seed)
        count = rng.randint(1, 4)
        edges: dict[str, list[tuple[str, int | None]]] = {}
        for number in range(count):
            edges[f"p{number}"] = [
                (f"p{other}", None if other > number else rng.randint(1, 2))
                for other in range(count)
                if rng.random() < 0.35
            ]
        if sum(depth or 0 for callees in edges.values() for _, depth in callees) > 5:
            continue
        texts = {
            name: " ".join(f"{c}!{d}" if d else c for c, d in callees)
            for name, callees in edges.items()
        }
        checked = lint(calling(**texts), "p0.plan")
        assert not findings(checked, "FDC322"), (seed, texts)
        expected = stack_of(edges, "p0", {})
        assert checked.context.graph.instance("p0.plan").height == expected, (seed, texts)
        assert bool(findings(checked, "FDC323")) == (expected > 10)
        compared += 1
    assert compared >= 150


def test_a_recursion_that_unfolds_too_far_is_refused_wherever_it_stands():
    """What was not unfolded was not checked: it is an error in every plan that it stands in, not in the root only."""
    many = {f"r{number}": " ".join(f"r{number}!1" for _ in range(8)) for number in range(45)}
    checked = lint(calling(main=" ".join(many), **many), "main.plan")
    assert checked.context.graph.instance("main.plan").height == 10, (
        "deep enough for no one to say anything else"
    )
    assert findings(checked, "FDC323")


def test_whether_a_plan_is_a_root_depends_on_nobody_who_calls_it():
    """A2: neither a caller nor a registry switches a plan's own proof off."""
    plans = calling(a="b", b="a!2", m="x", x="y", y="x!2")
    judged = {instance.unit.key for instance, _ in lint(plans).context.roots}
    assert judged == {"a.plan", "b.plan", "m.plan", "x.plan", "y.plan"}
    assert {
        instance.unit.key for instance, _ in lint(calling(a="a!1"), "a.plan").context.roots
    } == {"a.plan"}


def test_the_fdc_profile_refuses_stated_recursion_and_every_other_call():
    """C-01."""
    settings = Settings(fsm="any.json", profile="fdc")
    assert (
        places(lint(calling(a="a!1"), settings=settings), "FDC326") == [("a.plan", 2, "FDC326")] * 2
    )
    assert not places(lint("call_plan deep-research topic=x\n", settings=settings), "FDC326")


# ---- components -------------------------------------------------------------------------------


def test_components_come_callees_first():
    checked = lint(calling(a="b", b="c d", c="b", d=""))
    groups = components(calls_of(checked.context.graph.units))
    assert [sorted(group) for group in groups] == [["d.plan"], ["b.plan", "c.plan"], ["a.plan"]]


def test_an_order_has_every_plan_once_and_callees_before_callers():
    checked = lint(calling(a="b c", b="d", c="d", d=""))
    graph: Graph = checked.context.graph
    order = [instance.unit.key for instance in graph.order([graph.instance("a.plan")])]
    assert sorted(order) == ["a.plan", "b.plan", "c.plan", "d.plan"]
    assert (
        order.index("d.plan")
        < order.index("b.plan")
        < order.index("a.plan")
        > order.index("c.plan")
    )


def test_a_chain_of_calls_longer_than_the_interpreters_stack_is_refused_without_falling_over():
    plans = chain(3000)
    [found] = findings(lint(plans, "p01.plan"), "FDC323")
    assert "the stack is 3000 plans deep" in found.message
    assert len(found.message) < 1000, "a chain that long is told by its ends"
