"""Which edits come first, and that they are the same ones in the same order however few of them are looked at closely."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from fdc_packs.repair import weighing
from fdc_packs.repair.mutate import operators
from fdc_packs.repair.mutate.expected import converting
from fdc_packs.repair.mutate.hints import Said
from fdc_packs.repair.mutate.known import Known
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.ranking import worth
from fdc_packs.repair.mutate.source import Edit


def rows(text: str, message: str = "", lines: range | None = None) -> list[str]:
    """What is put there, the best first."""
    numbers = lines or range(1, text.count("\n") + 1)
    suspects = [{"path": "f.py", "line": number, "score": 0.8} for number in numbers]
    return [row["new"] for row in propose(text, "f.py", suspects, [], 1800, message)]


def ranked_at_once(known: Known, scores: dict[int, float]) -> list[tuple[Edit, float]]:
    """Every edit with what it is worth, and then sorted: what `ranked` does without looking at every edit closely."""
    prior = worth._Prior(known, Said(""), False)
    by_statement: dict[ast.stmt, list[Edit]] = {}
    for edit in operators.edits(known, known.nodes):
        statement = known.statement(edit.node)
        if edit.kind == "nesting" and statement is not None:
            statement = known.statement(known.parents[statement])
        assert statement is not None
        if worth.suspect(known, statement, scores):
            by_statement.setdefault(statement, []).append(edit)
    found = []
    for place, (statement, edits) in enumerate(by_statement.items()):
        exact = [
            (-prior.exact(one, prior.most(one)[1]), number, one) for number, one in enumerate(edits)
        ]
        seen: set[object] = set()
        for less, _, edit in sorted(exact, key=lambda row: row[:2]):
            if edit.pieces not in seen:
                again = (worth.RESTORED if edit.kind == "restored" else worth.AGAIN) ** len(seen)
                first, last = known.head(statement)
                near = [number for number, line in enumerate(scores) if first <= line <= last]
                early = 0.8 + 0.2 / (1 + min(near, default=len(scores)) / 8)
                score = worth.suspect(known, statement, scores) * early * -less * again
                found.append((-score, statement.lineno, len(seen), place, edit))
            seen.add(edit.pieces)
    return [(edit, -less) for less, *_, edit in sorted(found, key=lambda row: row[:4])]


SOURCE = """\
def area(width, height, scale=1):
    length = len(width)
    for index in range(length):
        if not width[index] and height[index:] is not None:
            width[index] = max(width.get(index, 0), height[index]) * scale
            height[index] = max(height.get(index, 0), width[index]) * scale
    if length > 3:
        pass
    return sorted(width, key=lambda one: one.start)[1:-1] or height.strip().lower()
"""


def test_edits_come_in_the_order_of_what_all_of_them_are_worth() -> None:
    scores = {line: 0.3 + 0.1 * (line * 7 % 5) for line in range(1, 10)}
    known = Known(SOURCE)
    order = {line: number for number, line in enumerate(scores)}
    wanted = [(one.pieces, score) for one, score in ranked_at_once(known, scores)]
    assert len(wanted) > 500
    assert wanted == [(one.pieces, score) for one, score in worth.ranked(known, scores, order)]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("AssertionError: assert 'Ab-c' == 'ab-c'", "lower"),
        ("assert 'a b' == ['a', 'b']", "split"),
        ("AssertionError: Lists differ: [2, 1] != [1, 2]", "sorted"),
        ("AssertionError: '4' != 4", "int"),
        ("assert ['1', 2] == [1, 2]", "int"),
        ("assert -3 == 3\n + where -3 = f(3)", "abs"),
        ("AssertionError: <map object at 0x7f25145ead10> != 5", "sum"),
        ("assert [1, 2] == <generator object f.<locals>.g at 0x7f>", "list"),
        ("assert <itertools.chain object at 0x7f1> == (1,)", "tuple"),
        ("assert <filter object at 0x1> == True", "any"),
    ],
)
def test_what_makes_one_side_of_a_comparison_of_the_other_is_seen(message: str, name: str) -> None:
    assert name in converting(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "KeyError: 'a'",
        "assert f(1) == 2",
        "assert 1 == True",
        "assert <tea.Tea object at 0x1> == 5",
    ],
)
def test_nothing_is_seen_where_nothing_is_said(message: str) -> None:
    assert [] == converting(message)


def test_a_method_that_makes_what_is_wanted_comes_before_functions_of_the_file() -> None:
    """`tidy` may make it, too; but `lower` is what the failing comparison says."""
    text = "TABLE = {}\n\n\ndef tidy(text):\n    return text.translate(TABLE)\n\n\ndef f(text):\n    return text\n"
    told = rows(text, "AssertionError: assert 'Ab' == 'ab'", range(8, 10))
    assert told.index("text.lower()") < told.index("tidy(text)")
    untold = rows(text, "AssertionError: assert f('Ab')", range(8, 10))
    assert untold.index("text.lower()") > untold.index("tidy(text)")


def test_in_place_of_a_method_of_a_text_come_those_that_can_be_called_so() -> None:
    """`x.split("0")`: no method without arguments; and of those without any the questions first, where one is asked."""
    given = rows("def f(x):\n    return x.split('0')\n")
    assert {"x.lstrip", "x.removeprefix"} <= set(given)
    assert not {"x.isascii", "x.title"} & set(given)
    asked = rows("def f(x):\n    if not x.lstrip():\n        return 1\n    return 2\n")
    assert asked.index("x.isascii") < asked.index("x.casefold")


def test_a_slice_that_lost_its_bounds_gets_those_of_another_one() -> None:
    text = "def g(y):\n    return y[:3]\n\n\ndef f(x):\n    return x[:]\n"
    made = rows(text, lines=range(5, 7))
    assert {"x[:3]", "x[1:]", "x[:-1]"} <= set(made[:12])
    assert not any("x[::]" in one for one in made)


def test_a_keyword_is_passed_as_its_twin_is() -> None:
    text = "class P:\n    def __init__(self, left=0, right=0):\n        self.left, self.right = left, right\n"
    text += "\n    def turned(self):\n        return P(left=-self.left)\n"
    made = rows(text, lines=range(5, 7))
    assert "P(left=-self.left, right=-self.right)" in made[:3]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("class D:\n    def __init__(self):\n        self.at = 0\n\n    def f(self):\n        pass\n        return self.at\n",
         "self.at += 1"),
        ("def f(xs):\n    seen = 0\n    for x in xs:\n        pass\n    return seen\n", "seen += 1"),
    ],
)  # fmt: skip
def test_what_begins_with_a_number_may_have_been_counted(text: str, wanted: str) -> None:
    assert wanted in rows(text)[:16]


def test_what_is_overwritten_at_once_was_stored_elsewhere() -> None:
    """`self.get = get; self.get = getattr(get, "__doc__")`: to exchange the two is no repair, for one stays in vain."""
    text = "class P:\n    def __init__(self, get):\n        self.get = get\n        self.get = getattr(get, '__doc__')\n"
    suspects = [{"path": "f.py", "line": number, "score": 0.8} for number in (3, 4)]
    made = {row["new"]: row for row in propose(text, "f.py", suspects, [], 1800)}
    assert made["self.__doc__"]["mends"] and list(made).index("self.__doc__") < 12
    assert ["self.__doc__"] == [new for new, row in made.items() if row["mends"]]
    assert "order" not in {row["kind"] for row in made.values()}
    used = text.replace("getattr(get, ", "wrap(self.get, ")
    rows = propose(used, "f.py", suspects, [], 1800)
    assert "order" in {row["kind"] for row in rows}  # the first one is read
    assert not any(row["mends"] for row in rows)


def test_a_function_that_is_imported_and_that_nothing_calls_is_called_first() -> None:
    text = "from m import tidy\n\n\ndef f(v, on):\n    return str(v if on else None)\n"
    assert rows(text, lines=range(5, 6)).index("tidy(v)") < 16
    called = f"{text}\n\nprint(tidy)\n"
    assert rows(called, lines=range(5, 6)).index("tidy(v)") > 16


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f(parts):\n    sign = parts['ign']\n    return sign\n", "'sign'"),
        ("def f(parts):\n    return parts['zone'], g(name=parts['x'])\n", "'name'"),
    ],
)
def test_what_is_looked_up_may_have_the_name_that_gets_it(text: str, wanted: str) -> None:
    assert wanted in rows(text)[:24]


def test_a_number_that_is_compared_may_be_any_small_one() -> None:
    made = rows("def f(x):\n    return len(x) > 0\n")
    assert {str(number) for number in range(1, 11)} <= set(made)


def mending(text: str, message: str = "") -> set[str]:
    """What is put there by the edits that also mend what can never be meant, or that nothing reads."""
    suspects: list[Any] = [
        {"path": "f.py", "line": number, "score": 0.8} for number in range(1, text.count("\n") + 1)
    ]
    return {
        row["new"] for row in propose(text, "f.py", suspects, [], 1800, message) if row["mends"]
    }


@pytest.mark.parametrize(
    ("text", "wanted", "kept"),
    [
        ("def f(self, other):\n    return NotImplemented.first == self.first or other\n", "other", ""),
        ("def f(xs):\n    return len[0] or xs\n", "xs", ""),
        ("class A(B):\n    def g(self):\n        any().g()\n", "super", "list"),
        ("def f(xs):\n    return any(xs).real\n", "", "len"),
        ("def f(x, y):\n    if not x != 1:\n        return y\n", "x != 1", "0"),
        ("from a import Req, Res\n\n\ndef f(at):\n    assert at in (Req, Res)\n", "type(at)", "at not in (Req, Res)"),
        ("from a import MOST, LEAST\n\n\ndef f(at):\n    assert at in (MOST, LEAST)\n", "", "type(at)"),
        ("def f(pair, late):\n    left, right = pair\n    if late:\n        return right\n", "", "late or left"),
        ("def f(pair, late):\n    left, right = pair\n    if late:\n        return late\n", "right", "late or left"),
    ],
)  # fmt: skip
def test_what_can_never_be_meant_is_known(text: str, wanted: str, kept: str) -> None:
    """Of what is unpacked not every part is wanted: that nothing reads one is no reason for one more condition."""
    found = mending(text)
    assert wanted in {*found, ""} and kept not in found, found


def test_between_operands_that_are_the_same_an_operand_is_wrong() -> None:
    text = "class A:\n    def __init__(self, a, b):\n        self.a, self.b, self.__doc__ = a, b, ''\n\n"
    text += "    def __hash__(self):\n        return hash(self.a) ^ hash(self.a)\n"
    suspects = [{"path": "f.py", "line": 6, "score": 0.8}]
    worth = {row["new"]: row["score"] for row in propose(text, "f.py", suspects, [], 1800)}
    assert worth["self.b"] > 2 * worth["hash(self.a) | hash(self.a)"]
    assert worth["self.b"] > 2 * worth["self.__doc__"]


def test_a_type_that_only_the_import_names_is_asked_for() -> None:
    text = "from collections.abc import Mapping\n\n\ndef f(x):\n    return isinstance(x)\n"
    suspects = [{"path": "f.py", "line": 5, "score": 0.8}]
    made = [row["new"] for row in propose(text, "f.py", suspects, [], 1800)]
    assert made.index("isinstance(x, Mapping)") < made.index("isinstance(x, str)")


def test_another_object_of_the_same_class_is_made() -> None:
    text = "class A:\n    def __init__(self, n, d=None):\n        self.n = n\n\n"
    text += "    def copy(self):\n        return self.n(n=self.n, d=self)\n"
    suspects = [{"path": "f.py", "line": 6, "score": 0.8}]
    made = [row["new"] for row in propose(text, "f.py", suspects, [], 1800)]
    assert "self.__class__" in made[:40]


def test_all_but_the_last_is_meant_where_the_last_comes_after() -> None:
    text = "def f(x):\n    return ', '.join(x[:1]) + f' and {x[-1]}'\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 2, "score": 0.8}], [], 1800)
    worth = {row["new"]: row["score"] for row in rows if row["old"] == "1"}
    assert worth["-1"] > 2 * worth["2"]
    plain = propose(
        text.replace("x[-1]", "x"), "f.py", [{"path": "f.py", "line": 2, "score": 0.8}], [], 1800
    )
    assert {row["new"]: row["score"] for row in plain if row["old"] == "1"}["2"] > 0.5 * worth["2"]


def test_a_question_about_none_keeps_none_from_where_it_fails() -> None:
    text = "class A:\n    def f(self, x):\n        if self.n is True:\n            return x\n"
    text += "        else:\n            self.n.add(x)\n"
    suspects = [{"path": "f.py", "line": at, "score": 0.8} for at in (3, 6)]
    fails = "AttributeError: 'NoneType' object has no attribute 'add'"
    for line, turned in ((6, True), (4, False)):
        rows = propose(text, "f.py", suspects, [], 1800, fails, line)
        row = next(row for row in rows if (row["old"], row["new"]) == ("True", "None"))
        assert bool(row.get("turned")) is turned


def test_a_method_that_takes_what_is_given_comes_early() -> None:
    text = "def f(text, at):\n    at = text.isdigit(' ', 0, at)\n    return text[:at].strip()\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 2, "score": 0.8}], [], 1800)
    made = [row["new"] for row in rows]
    assert max(made.index("text.rfind"), made.index("text.find")) < 60
    assert "text.isalpha" not in made or made.index("text.isalpha") > made.index("text.rfind")


def test_no_call_is_put_there_that_no_function_of_the_file_takes() -> None:
    text = (
        "def two(a, b): return a\n\n\ndef named(a, *, b): return a\n\n\ndef some(a, b=1): return a\n\n\n"
        "class A:\n    def __init__(self): self.n = 1\n\n    def takes(self, x): return self.bare()\n\n"
        "    def bare(self): return self.takes(2)\n\n    def f(self, x):\n        return some(self, x)\n"
    )
    last = text.count("\n")
    made = rows(text, lines=range(last, last + 1))
    assert {"self.bare()", "two"} <= set(made)
    assert {"self.takes()", "named", "two(x)", "A(some(self, x))", "some(self, x, x)"}.isdisjoint(
        made
    )
    # what takes it, may be meant
    loose = text.replace("b): return a", "b=1): return a").replace(
        "takes(self, x)", "takes(self, x=1)"
    )
    made = rows(loose.replace("__init__(self)", "__init__(self, n)"), lines=range(last, last + 1))
    assert {"self.takes()", "A(some(self, x))"} <= set(made)


def test_a_name_that_hides_another_one_and_is_never_read_is_the_wrong_one() -> None:
    """Both edits do the same: `lambda match: match` and `lambda re: re`."""
    texts = (
        ("import re\n\n\ndef f(x):\n    return re.sub('a', lambda re: match[0], x)\n", "re", "match"),
        ("def f(items):\n    found = [str(one) for found in items]\n    return found\n", "found", "one"),
    )  # fmt: skip
    for text, old, new in texts:
        fails, line = (
            f"NameError: name '{new}' is not defined",
            text.count("\n") - text.count("return found\n"),
        )
        found = propose(text, "f.py", [{"path": "f.py", "line": line, "score": 0.8}], [], 1800, fails, line)  # fmt: skip
        pairs = ((old, new), (new, old))
        twins: list[Any] = [
            row for row in found if row["kind"] == "name" and (row["old"], row["new"]) in pairs
        ]
        assert {(old, new), (new, old)} <= {(row["old"], row["new"]) for row in twins}
        twins = [
            row for row in twins if (row["old"], row["new"]) == (new, old) or not row.get("rebinds")
        ]
        measured = {row["key"]: [3, 9, "x", False, False] for row in twins}
        best = weighing.weighed(
            twins, {"verdicts": dict.fromkeys(measured, "passes"), "changes": measured}
        )[0]
        assert best["mends"] and (best["old"], best["new"]) == (old, new)


def test_nothing_is_put_before_a_statement_that_would_never_be_run_then() -> None:
    text = "class A(Base):\n    def f(self, x):\n        pass\n        return self\n"
    made = rows(text, lines=range(3, 4))
    assert "super().f(x)" in made and not any(one.startswith("return") for one in made)
    ending = rows(text.replace("        return self\n", ""), lines=range(3, 4))
    assert "return super().f(x)" in ending


def test_a_condition_is_not_asked_again_under_itself() -> None:
    text = "def f(x, y, low):\n    if x < low:\n        y.update(x)\n        for one in y:\n            if one not in x:\n"
    text += "                y.pop(one)\n    if low is None or y:\n        return x\n    return y\n"
    made = rows(text, lines=range(5, 6))
    assert any("low is None" in one for one in made) and not any(
        "x < low" in one and " in x" in one for one in made
    )
    stored = rows(
        text.replace("        y.update(x)\n", "        x = y.update(x)\n"), lines=range(5, 6)
    )
    assert any("x < low" in one and " in x" in one for one in stored)


def test_a_method_may_call_another_one_than_its_neighbour_does() -> None:
    text = "class A:\n    def keep(self, *x): self.n = x\n\n    def drop(self, *x): self.m = x\n\n"
    text += "    def one(self, x): self.o = x\n\n"
    text += "    def __iand__(self, *x):\n        pass\n        return self\n\n"
    text += "    def __isub__(self, *x):\n        self.drop(*x)\n        return self\n"
    made = rows(text, lines=range(9, 10))
    assert made.index("self.keep(*x)") < 30 and "self.one(*x)" not in made


def test_where_a_branch_gives_a_plain_value_the_other_one_does_so_too() -> None:
    text = "def f(x, unit):\n    n = round(abs(x), 2)\n    if not unit:\n        pass\n    else:\n        space = ' '\n"
    text += "    return f'{n}{space}{unit}'\n"
    fails = "UnboundLocalError: cannot access local variable 'space' where it is not associated with a value"
    assert rows(text, fails, range(4, 5))[0] == "space = ''"


def test_of_two_functions_the_inner_one_is_called_so_elsewhere() -> None:
    text = "def one(x): return x\n\n\ndef two(x): return x\n\n\ndef three(word): return two(two(word))\n\n\n"
    text += "def f(word):\n    pass\n"
    said = [{"path": "f.py", "line": 11, "score": 0.8}]
    found = {row["new"]: row["score"] for row in propose(text, "f.py", said, [], 1800)}
    assert found["return one(two(word))"] > 2 * found["return two(one(word))"]


def test_a_method_of_another_class_by_the_same_name_is_asked_first() -> None:
    lost = "        raise KeyError('%s is empty' % type(self).__name__) from None\n"
    body = "        try:\n            key = next(iter(self.{0}))\n        except StopIteration:\n    {1}        return key\n"
    texts = [
        f"    def popitem(self):\n{body.format(*row)}\n"
        for row in (("a", lost), ("b", "        pass\n"))
    ]
    others = "".join(f"    def m{n}(self):\n        self.a.put{n}(self.b)\n\n" for n in range(40))
    text = f"class A:\n{others}{texts[0]}\nclass B:\n{texts[1]}"
    line = 1 + text[: text.index("pass")].count("\n")
    assert lost.strip() in rows(text, lines=range(line, line + 1))[:2]


def test_of_the_type_that_an_error_says_come_the_methods_that_take_what_is_given() -> None:
    text = "def f(kwargs):\n    kwargs.items(), kwargs.values(), kwargs.keys(), ''.format()\n"
    text += "    return kwargs.__name__('factory', dict)\n"
    fails = "AttributeError: 'dict' object has no attribute '__name__'"
    found = propose(text, "f.py", [{"path": "f.py", "line": 3, "score": 0.8}], [], 1800, fails, 3)
    made = [row["new"] for row in found if row["old"] == "kwargs.__name__"]
    late = {
        f"kwargs.{name}" for name in ("items", "values", "keys", "format", "__class__", "center")
    }
    assert {"kwargs.pop", "kwargs.get", "kwargs.setdefault"} <= set(made[:6]) and late.isdisjoint(
        made[:3]
    )


def test_a_function_of_its_own_result_is_another_function() -> None:
    text = "from math import log\n\n\ndef f(x, y):\n    return log(log(x, 2), len(y))\n"
    said = [{"path": "f.py", "line": 5, "score": 0.8}]
    found = [(row["old"], row["new"]) for row in propose(text, "f.py", said, [], 1800)]
    assert ("log", "min") in found[:40] and ("log", "max") in found[:40]
