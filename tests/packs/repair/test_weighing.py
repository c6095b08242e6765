"""What speaks for an edit that passes beside what it changes: that lines are used, and that many tests run it."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair import weighing
from fdc_packs.repair.mutate.mutate import propose


def _row(key: str, score: float, risky: bool = False) -> dict[str, Any]:
    return {"key": key, "confidence": score, "score": score, "risky": risky, "mends": False}


@pytest.mark.parametrize(
    ("idle", "decided"),
    [(1, True), (0, False)],
)
def test_an_edit_that_leaves_lines_idle_counts_for_less(idle: int, decided: bool) -> None:
    """`if self is type(other): return NotImplemented` never returns that; `if type(self) is not type(other)` does."""
    found = [_row("wrapped-1", 0.16), _row("comparison-1", 0.22, risky=True)]
    changes = {
        "wrapped-1": [1, 5, "x", False, False, {"f:1": 0}, 1],
        "comparison-1": [5, 5, "y", False, False, {"f:1": idle}, 1],
    }
    ordered = weighing.weighed(found, {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes})  # type: ignore[arg-type]  # fmt: skip
    assert ordered[0]["key"] == "wrapped-1"
    assert decided == weighing.told_apart(ordered)


def test_an_edit_that_leaves_an_argument_without_effect_is_one_that_drops_something() -> None:
    """`if not upper` passes with `or s is not None` added, and the default exchanged: `upper` never matters then."""
    found = [
        _row("constant-1", 0.03),
        _row("narrowed-1", 0.01),
        _row("negation-1", 0.2, risky=True),
    ]
    changes = {
        "constant-1": [2, 9, "x", False, False, {"f:1": 0, "f:1:s": 0, "f:1:upper": 1}, 1],
        "narrowed-1": [8, 9, "y", False, False, {"f:1": 0, "f:1:s": 0, "f:1:upper": 1}, 1],
        "negation-1": [9, 9, "z", False, False, {"f:1": 0, "f:1:s": 0, "f:1:upper": 0}, 1],
    }
    probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
    ordered = weighing.weighed(found, probed)  # type: ignore[arg-type]
    assert (ordered[0]["key"], weighing.told_apart(ordered)) == ("negation-1", True)
    changes["narrowed-1"][5]["f:1:upper"] = 0
    assert not weighing.told_apart(weighing.weighed(found, probed))  # type: ignore[arg-type]


def test_what_never_gets_to_where_it_failed_does_not_show_that_an_argument_has_a_use() -> None:
    """`if ind > 1` for `if len(ind) > 1`: `if default > no_default` two lines above it passes, too, and never asks that."""
    found = [_row("wrapped-1", 0.12), _row("comparison-1", 0.02)]
    changes = {
        "wrapped-1": [2, 9, "x", False, False, {"f:1": 0, "f:1:default": 1}, 1],
        "comparison-1": [3, 9, "y", False, True, {"f:1": 1, "f:1:default": 0}, 1],
    }
    probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
    ordered = weighing.weighed(found, probed)  # type: ignore[arg-type]
    assert (ordered[0]["key"], weighing.told_apart(ordered)) == ("wrapped-1", True)
    changes["comparison-1"][4] = False
    assert not weighing.told_apart(weighing.weighed(found, probed))  # type: ignore[arg-type]


def test_what_can_never_be_meant_is_replaced_even_where_no_test_gets_there_any_more() -> None:
    """`elif not isinstance(str, int)`: a condition more would leave the question about `str` as it is."""
    broken = "def f(value):\n    if not isinstance(str, int):\n        g(value)\n    return value\n"
    found = [{"path": "f.py", "line": 2, "score": 0.8}]
    rows = {(row["old"], row["new"]): row for row in propose(broken, "f.py", found, [], 4000)}
    wanted = rows["str", "value"]
    assert wanted["turned"] and wanted["mends"] and not wanted["risky"]
    assert not rows["not isinstance(str, int)", "isinstance(str, int)"].get("turned")


def test_an_edit_that_gives_idle_code_a_use_is_not_doubted_for_an_argument() -> None:
    """A lost `return` before `args`: with `if self` in place of `if kwargs` the tests pass, too, and `self` has an effect."""
    found = [
        _row("return-1", 1.3) | {"mends": True},
        _row("name-1", 0.08),
        _row("condition-1", 0.07),
    ]
    changes = {
        "return-1": [5, 12, "x", False, False, {"f:1": 0, "f:1:self": 1}, 1],
        "name-1": [5, 12, "y", False, False, {"f:1": 0, "f:1:self": 0}, 1],
        "condition-1": [5, 12, "z", False, False, {"f:1": 1, "f:1:self": 1}, 1],
    }
    probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
    ordered = weighing.weighed(found, probed)  # type: ignore[arg-type]
    assert (ordered[0]["key"], weighing.told_apart(ordered)) == ("return-1", True)
    found[0]["mends"] = False
    assert not weighing.told_apart(weighing.weighed(found, probed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "inputs", "tests", "decided"),
    [("name", 9, 3, True), ("name", 0, 3, False), ("constant", 9, 3, False), ("pattern", 9, 3, False), ("pattern", 9, 90, True)],
)  # fmt: skip
def test_a_far_fetched_edit_is_applied_where_it_was_measured_and_nothing_is_invented(
    kind: str, inputs: int, tests: int, decided: bool
) -> None:
    found: Any = [_row("likely", 1.0), {**_row("far", 0.008), "kind": kind}]
    changes = {"far": [2, inputs, "x", False, False, {}, tests]}
    ordered = weighing.weighed(found, {"verdicts": {"far": "passes"}, "changes": changes})  # type: ignore[arg-type]
    passing = [row for row in ordered if row.get("probe") == "passes"]
    assert decided == weighing.told_apart(passing)


@pytest.mark.parametrize(("worth", "decided"), [(0.012, True), (0.0095, False)])
def test_a_far_fetched_edit_is_a_rival_of_its_like_only(worth: float, decided: bool) -> None:
    """`sum(xs)` for `list(xs)`: `sorted(xs)` passes as well, behind hundreds of others."""
    found: Any = [
        _row("likely", 1.0),
        {**_row("list", worth), "kind": "name"},
        _row("sorted", 0.009),
    ]
    changes = {name: [2, 9, name, False, False, {}, 3] for name in ("list", "sorted")}
    ordered = weighing.weighed(found, {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes})  # type: ignore[arg-type]  # fmt: skip
    passing = [row for row in ordered if row.get("probe") == "passes"]
    assert decided == weighing.told_apart(passing)


@pytest.mark.parametrize(
    ("broken", "wanted"),
    [
        ("def f(x):\n    return int(x.ljust(6, ''))\n", "'0'"),
        ("def f(xs):\n    return ''.join('1' if x else '' for x in xs)\n", "'0'"),
        ("def f(day, step):\n    return (day.weekday() + 1) % step\n", "(day.weekday() + 1) % 7"),
        ("def f(d, keys):\n    left = set(d)\n    left.update(keys)\n    return left\n", "left.difference_update"),
        ("def f(n):\n    late = n > 9 and 'th'\n    return late or {1: 'st'}.get(n)\n", "{1: 'st'}.get(n, 'th')"),
        ("def f(keys):\n    ks = iter(keys)\n    pass\n    print(k)\n    for k in ks:\n        print(k)\n", "k = next(ks)"),
        ("class A:\n    def f(self, g):\n        self.__doc__ = getattr(g)\n", "getattr(g, '__doc__')"),
        (("class A:\n    @classmethod\n    def g(cls, text):\n        return cls(text)\n\n    @classmethod\n"
         "    def f(cls, s):\n        pass\n"), "return cls.g(s)"),
        ("from . import _a, _b\n\n\ndef g(p):\n    return _b.one(_a)\n\n\ndef f(p):\n    return p.two(p)\n", "_b"),
        ("def f(rows):\n    return rows[*1]\n", "-1"),
        ("def f(text, end, at):\n    if end <= at:\n        yield text[:at]\n", "text[end:at]"),
        ("def f(g, d):\n    return dict(map(g))\n\n\ndef h(d):\n    return d.items()\n", "map(g, d.items())"),
    ],
)  # fmt: skip
def test_what_is_common_is_proposed_early(broken: str, wanted: str) -> None:
    suspects: list[Any] = [{"path": "f.py", "line": n, "score": 0.8} for n in range(1, 9)]
    error = "AssertionError: assert '4th' == '4None'" if ".get" in broken else ""
    found = [row["new"] for row in propose(broken, "f.py", suspects, [], 2000, error)]
    assert wanted in found[:25], found[:25]


@pytest.mark.parametrize(
    "broken",
    [
        "def f(a, b):\n    if b:\n        return a + b + [1]\n    else:\n        pass\n",
        "def f(a, b):\n    if b:\n        pass\n    else:\n        return a + b + [1]\n",
        "def f(a, b):\n    if b:\n        return a + b + [1]\n    pass\n",
        "def f(a, b):\n    if b:\n        pass\n    return a + b + [1]\n",
    ],
)
def test_no_edit_makes_a_condition_decide_nothing(broken: str) -> None:
    suspects: list[Any] = [{"path": "f.py", "line": n, "score": 0.8} for n in (2, 3, 4, 5)]
    found = [row["new"] for row in propose(broken, "f.py", suspects, [], 3000)]
    assert "return a" in found
    assert "return a + b + [1]" not in found


def test_a_line_that_becomes_like_one_of_another_function_comes_first() -> None:
    """`tuple(kw.items())` passes, too, where no test gives two words."""
    line = "    return args + MARK + tuple(sorted(kw.items()))\n"
    head = "MARK = (1,)\n\n\ndef f(args, kw):\n"
    broken = f"{head}{line}\n\ndef g(args, kw):\n{line.replace('tuple(sorted(kw.items()))', 'sorted(kw.items())')}"
    suspects: list[Any] = [{"path": "f.py", "line": 9, "score": 0.8}]
    found: list[Any] = propose(broken, "f.py", suspects, [], 2000)
    both = [row for row in found if row["new"] in ("tuple(sorted(kw.items()))", "tuple")]
    assert 2 == len(both)
    change = [1, 9, "x", False, False, {}, 3]
    changes = {row["key"]: change for row in both}
    probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
    assert weighing.weighed(both, probed)[0]["new"] == "tuple(sorted(kw.items()))"


@pytest.mark.parametrize(
    ("code", "idle", "without"),
    [("x + 1", "0", "x"), ("x - 2", "0", "x"), ("2 * x", "1", "x"), ("x // 2", "1", "x"), ("2 - x", "1", "")],
)  # fmt: skip
def test_an_operation_is_left_out_and_not_made_idle(code: str, idle: str, without: str) -> None:
    """`start + 0` is `start`, which says so."""
    suspects: list[Any] = [{"path": "f.py", "line": 2, "score": 0.8}]
    found = propose(f"def f(x):\n    return {code}\n", "f.py", suspects, [], 2000)
    put = {row["new"] for row in found}
    assert (idle in put) is not bool(without) and (without in put or not without)


def test_what_was_much_likelier_is_taken_of_edits_that_behave_alike() -> None:
    """`hasattr(x, '__no__')` for `'__len__'` does what `len(x)` does behind it, and adds fewer characters."""
    found: Any = [
        {**_row("call", 0.47), "pieces": [[5, 6, "len(x)"]]},
        {**_row("text", 0.02), "pieces": [[5, 14, "'__no__'"]]},
    ]
    changes = {row["key"]: [7, 9, "x", False, False, {}, 1] for row in found}
    ordered = weighing.weighed(found, {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes})  # type: ignore[arg-type]  # fmt: skip
    assert ordered[0]["key"] == "call"


def test_an_edit_a_hundred_times_less_likely_does_not_compete_with_a_condition_turned_round() -> (
    None
):
    """`not isinstance(x, Mapping)`: `isinstance(x, list)` passes as well, for the tests give nothing else."""
    for worth, decided in ((0.001, True), (0.007, False)):
        found: Any = [
            _row("likely", 1.0),
            {**_row("negation-1", 0.4, risky=True), "kind": "negation"},
            {**_row("list", worth), "kind": "name"},
        ]
        changes = {name: [2, 9, name, False, False, {}, 3] for name in ("negation-1", "list")}
        probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
        ordered = weighing.weighed(found, probed)
        passing = [row for row in ordered if row.get("probe") == "passes"]
        assert decided == weighing.told_apart(passing)
        assert decided == (passing[0]["key"] == "negation-1")


def test_an_edit_of_less_of_a_line_is_elaborated_by_one_of_more_of_it() -> None:
    """`set(rows)` for `iter(rows)`: `iter(set(rows))` passes as well."""
    broken = "def f(rows):\n    made = set(rows)\n    return next(made)\n\n\ndef g(x):\n    return iter(x)\n"
    found = propose(broken, "f.py", [{"path": "f.py", "line": 2, "score": 0.8}], [], 4000)
    rows = {(row["old"], row["new"]): row for row in found}
    whole, part = rows["set(rows)", "iter(set(rows))"], rows["set", "iter"]
    other = rows["rows", "list(rows)"]
    assert weighing._elaborates(whole, part) and not weighing._elaborates(part, whole)
    assert not weighing._elaborates(other, part)


def test_of_edits_that_behave_alike_a_line_of_the_file_comes_before_a_shorter_one() -> None:
    """No test asks what is given back where something is not finite: another place of the file says it."""
    rows: list[Any] = [
        {
            **_row("long", 1.2),
            "pieces": [[0, 4, "return not_finite(float(value))"]],
            "stands": True,
        },
        {**_row("short", 1.0), "pieces": [[0, 4, "return other(value)"]]},
    ]
    changes = {row["key"]: [0, 9, "x", False, False, {}, 3] for row in rows}
    probed: Any = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
    assert "long" == weighing.weighed(rows, probed)[0]["key"]
    del rows[0]["stands"]
    assert "short" == weighing.weighed(rows, probed)[0]["key"]


@pytest.mark.parametrize(
    ("code", "wanted", "never"),
    [
        ("    if len(x) > 0:\n        return x\n", "len(x) == 0", "len(x) <= 0"),
        ("    return x.partition('e')\n", "x.split", "x.rsplit"),
    ],
)
def test_nothing_is_said_in_a_way_that_nobody_says_it(code: str, wanted: str, never: str) -> None:
    """`len(x) <= 0` is `len(x) == 0`, and `rsplit` with no number of parts is `split`."""
    suspects: list[Any] = [{"path": "f.py", "line": 2, "score": 0.8}]
    found = [row["new"] for row in propose(f"def f(x):\n{code}", "f.py", suspects, [], 2000)]
    assert wanted in found and never not in found


def test_what_a_comparison_of_objects_gives_back_may_be_not_implemented() -> None:
    for name, likely in (("__eq__", True), ("equals", False)):
        code = f"class A:\n    def {name}(self, other):\n        return self\n"
        suspects: list[Any] = [{"path": "f.py", "line": 3, "score": 0.8}]
        found = [row["new"] for row in propose(code, "f.py", suspects, [], 2000)]
        assert likely == ("NotImplemented" in found[:25])


def test_a_longer_edit_that_was_likelier_does_not_only_elaborate_a_shorter_one() -> None:
    """`zip(x, d)` and `zip(x, d.values())`: the second one says more, and was likelier."""
    rows = {"short": 0.37, "keys": 0.35, "long": 0.5}
    found = [_row(key, score) for key, score in rows.items()]
    for row, new in zip(found, ("zip(x, d)", "zip(x, d.keys())", "zip(x, d.values())")):
        row["diff"] = f"--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-zip(x)\n+{new}\n"
    changes: dict[str, list[Any]] = {
        key: [4, 30, name, False, False, {}, 2]
        for key, name in (("short", "x"), ("keys", "x"), ("long", "y"))
    }  # fmt: skip
    probed: Any = {"verdicts": dict.fromkeys(rows, "passes"), "changes": changes}
    assert not weighing.told_apart(weighing.weighed(found, probed))
    found[2]["confidence"] = found[2]["score"] = 0.3
    ordered = weighing.weighed(found, probed)
    assert (ordered[0]["key"], weighing.told_apart(ordered)) == ("short", True)


TRUSTED = {
    "another name for one that has no value yet": (
        "def f(value):\n    if g(mark):\n        return 1\n    mark = h(value)\n    return mark\n", 2,
        "UnboundLocalError: cannot access local variable 'mark' where it is not associated with a value", "mark", "value", True),
    "what asks in the place of what changes a text": (
        "import re\n\n\ndef f(p, word):\n    if re.sub(p, word):\n        return 1\n    return re.search(p, word)\n", 5,
        "", "re.sub", "re.search", True),
    "a text less in the question": (
        "import re\n\n\ndef f(p, word):\n    if re.sub(p, word):\n        return 1\n    return re.sub(p, \"\", word)\n", 5,
        "", "re.sub(p, word)", 're.sub(p, "", word)', False),
    "a parameter of a method as a condition": (
        "class A:\n    def f(self, x, exc):\n        if x.a:\n            return 1\n        return 2\n", 3,
        "", "x.a", "x.a or exc", False),
    "a parameter of a function as a condition": (
        "def f(x, exc):\n    if x.a:\n        return 1\n    return 2\n", 2, "", "x.a", "x.a or exc", True),
}  # fmt: skip


@pytest.mark.parametrize("what", TRUSTED)
def test_what_mends_is_trusted_more(what: str) -> None:
    text, line, message, old, new, mends = TRUSTED[what]
    rows = propose(text, "f.py", [{"path": "f.py", "line": line, "score": 0.8}], [], 1800, message)
    row = next(row for row in rows if (row["old"], row["new"]) == (old, new))
    assert row["mends"] is mends


def test_a_statement_goes_where_alone_its_names_are_bound() -> None:
    text = "def f(d):\n    for one in d:\n        if one.ok:\n            k, v = one.pair\n        put(k, v)\n"
    bound = text.replace("    for", "    k, v = 0, 0\n    for")
    for source, sure in ((text, True), (bound, False)):
        suspects = [{"path": "f.py", "line": at, "score": 0.8} for at in range(2, 7)]
        moved = [
            row
            for row in propose(source, "f.py", suspects, [], 1800)
            if row["kind"] == "nested" and "put(k, v)" in row["old"]
        ]
        assert [(row["risky"], row["mends"]) for row in moved] == [(not sure, sure)]


def test_nothing_is_given_to_a_name_that_the_next_loop_binds() -> None:
    text = (
        "def f(d):\n    out = {}\n    for k, v in k.items():\n        out[k] = v\n    return out\n"
    )
    fails = "UnboundLocalError: cannot access local variable 'k' where it is not associated with a value"
    suspects = [{"path": "f.py", "line": at, "score": 0.8} for at in (3, 4)]
    made = [row["new"] for row in propose(text, "f.py", suspects, [], 1800, fails)]
    assert "d" in made and not [one for one in made if one.startswith("k = ")]
