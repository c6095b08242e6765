"""What was forgotten is found: statements as the branches beside them say, types, items, texts of the failing comparison."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair import weighing
from fdc_packs.repair.mutate.known import Known
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import edited
from fdc_packs.repair.patch.patch import apply_patch
from fdc_packs.repair.patch.region import parse_region

STATEMENTS = {
    "the branch beside it with its words exchanged": (
        ("def f(x, low=None, high=None, low_mark='<', high_mark='>'):\n    if low is not None and x < low:\n        x = low\n"
        "        mark = low_mark\n    elif high is not None and x > high:\n        pass\n        mark = high_mark\n"
        "    else:\n        mark = ''\n    return mark, x\n"), "x = high"),
    "an item and a name with the same value": (
        ("def f(self, key, default=None):\n    if key in self:\n        value = self[key]\n    else:\n        pass\n"
        "    return value\n"), "self[key] = value = default"),
    "two functions of the module, one after the other": (
        ("def many(x):\n    return x\n\n\ndef lower(x):\n    return x\n\n\ndef f(word):\n    \"\"\"Uses :func:`many`.\"\"\"\n"
        "    pass\n"), "return many(lower(word))"),
    "a set of what was given, of which some is taken away": (
        "def f(d, keys):\n    pass\n    left.difference_update(keys)\n    return {k: d[k] for k in left}\n", "left = set(d)"),
    "a list into which something is put": (
        "def f(xs):\n    pass\n    for x in xs:\n        out.append(x)\n    return out\n", "out = []"),
    "a parameter made plain": (
        "def f(word):\n    pass\n    return word.startswith('a')\n", "word = word.lower()"),
    "a collection of what can be gone through once": (
        "def f(xs):\n    pass\n    return [x / len(xs) for x in xs]\n", "xs = list(xs)"),
    "what a list gathers": (
        "def f(xs):\n    out = []\n    for x in xs:\n        pass\n    return out\n", "out.append(x)"),
    "what a generator gives": (
        "def f(xs):\n    yield 1\n    for x in xs:\n        pass\n", "yield x"),
    "the assignment after its twin": (
        "def f(hour):\n    minute = (hour - int(hour)) * 60\n    pass\n    return minute, second\n",
        "second = (minute - int(minute)) * 60"),
    "a name of another function without the common end": (
        ("class A:\n    def is_postrelease(self):\n        return self.post is not None\n\n"
        "    def is_devrelease(self):\n        pass\n"), "return self.dev is not None"),
    "a list of what a function of the module gives": (
        "def parts(n, xs):\n    yield xs\n\n\ndef lparts(n, xs):\n    pass\n", "return list(parts(n, xs))"),
    "an imported function of the parameters": (
        "from a import shown\n\n\ndef f(x, form):\n    pass\n", "return shown(x, form)"),
    "a call without arguments": (
        "import time\n\n\ndef g():\n    return time.time()\n\n\ndef f(x):\n    pass\n    return x - now\n", "now = time.time()"),
    "the call of a function that was given": (
        "def f(xs, key=None):\n    for x in xs:\n        pass\n        yield k, x\n", "k = key(x)"),
    "several members that the class reads": (
        "class A:\n    def __init__(self, f, x):\n        pass\n\n    def g(self):\n        return self._f(self._x)\n",
        "self._f, self._x = f, x"),
    "an object of a class, of what is here": (
        ("class Made:\n    def __init__(self, func, cache, typed=False, key=None):\n        self.all = func, cache, key\n\n\n"
         "def f(cache, typed=True):\n    def decorate(func):\n        pass\n    return decorate\n"),
        "return Made(func, cache, typed=typed)"),
    "what a dictionary counts": (
        ("from collections import defaultdict\n\n\ndef f(xs):\n    n = defaultdict(int)\n    for x in xs:\n        pass\n"
        "    return dict(n)\n"), "n[x] += 1"),
    "what a dictionary gathers by a key that is computed": (
        ("from collections import defaultdict\n\n\ndef f(key, xs):\n    d = defaultdict(list)\n    for x in xs:\n"
        "        pass\n    return d\n"), "d[key(x)].append(x)"),
    "the items of a dictionary": (
        "def f(pairs):\n    out = {}\n    for name, x in pairs:\n        pass\n    return out\n", "out[name] = x"),
    "the member of an inner function": (
        "def f(g):\n    def made(x):\n        return g(x)\n    pass\n    return made, made.seen\n", "made.seen = 0"),
    "the name of a class": (
        "class A(type):\n    def __repr__(self):\n        pass\n", "return self.__name__"),
    "the method of the base": (
        "class A(B):\n    def __init__(self, x):\n        pass\n        self.x = x\n", "super().__init__(x)"),
}  # fmt: skip


@pytest.mark.parametrize("what", STATEMENTS)
def test_a_statement_that_was_forgotten_is_proposed_early(what: str) -> None:
    broken, wanted = STATEMENTS[what]
    found = [row["new"] for row in _proposed(broken) if row["kind"] == "restored"]
    assert wanted in found[:150], found[:20]


def test_a_text_that_the_failing_comparison_misses_is_returned_first() -> None:
    """`'2None'` for `'2nd'`: what stands there in place of None."""
    text = "def f(n):\n    if n == 1:\n        return 'st'\n    elif n == 2:\n        pass\n    else:\n        return 'th'\n"
    for message in ("AssertionError: assert '2None' == '2nd'", "AssertionError: '2nd' != '2None'"):
        found = [row["new"] for row in _proposed(text, message) if row["kind"] == "restored"]
        assert "return 'nd'" in found[:4], found[:8]
    assert "return 'nd'" not in [row["new"] for row in _proposed(text)]


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("", "from a.errors import TooDeep\n        raise TooDeep"),
        ("from a.errors import TooDeep\n\n\n", "raise TooDeep"),
    ],
)
def test_a_case_that_ends_silently_raises_what_the_test_wants(head: str, wanted: str) -> None:
    text = f"{head}def f(depth):\n    if depth > 9:\n        return\n    f(depth + 1)\n"
    found = _proposed(text, "Failed: DID NOT RAISE <class 'a.errors.TooDeep'>")
    assert wanted in [row["new"] for row in found[:12]], [row["new"] for row in found[:12]]
    assert wanted not in [row["new"] for row in _proposed(text, "assert 1 == 2")]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ('with pytest.raises(TooDeep, match="too deep"):', "raise TooDeep('too deep')"),
        (r"with self.assertRaisesRegex(TooDeep, r'^at 3\.5$'):", "raise TooDeep('at 3.5')"),
        ('with pytest.raises(TooDeep, match="too (deep|low)"):', "raise TooDeep"),
        ('with pytest.raises(TooDeep, match=words):', "raise TooDeep"),
    ],
)  # fmt: skip
def test_what_is_raised_says_what_the_test_wants_to_read(said: str, wanted: str) -> None:
    text = "class TooDeep(Exception):\n    pass\n\n\ndef f(depth):\n    if depth > 9:\n        return\n    f(depth + 1)\n"
    message = f"Failed: DID NOT RAISE <class 'a.TooDeep'>\n{said}"
    assert wanted == next(
        row["new"] for row in _proposed(text, message) if row["new"].startswith("raise ")
    )


@pytest.mark.parametrize(
    ("block", "first"),
    [("x = x.decode('a')", "bytes"), ("x.append(1)", "list"), ("x = x.items()", "dict"), ("x.real", "int")],
)  # fmt: skip
def test_a_question_about_a_type_gets_the_type_whose_members_are_used_then(block: str, first: str) -> None:  # fmt: skip
    text = f"def f(x):\n    if isinstance(x):\n        {block}\n    return x\n"
    found = [row["new"] for row in _proposed(text) if row["old"] == "isinstance(x)"]
    assert f"isinstance(x, {first})" == found[0] and len(found) > 8


@pytest.mark.parametrize("value", ["'+Inf'", "f'{x} ago'", "x + 1"])
def test_a_value_that_no_one_takes_is_given_back(value: str) -> None:
    """It does nothing where it stands: an edit that leaves it so, and passes, is trusted less."""
    text = f"def f(x):\n    if x > 3:\n        {value}\n    else:\n        return x\n    return 'none'\n"
    row = next(row for row in _proposed(text) if row["new"] == f"return {value}")
    assert row["mends"] and row in _proposed(text)[:3]
    other = next(row for row in _proposed(text) if row["new"] == "x >= 3")
    assert not other["mends"]


@pytest.mark.parametrize(
    ("text", "message", "wanted"),
    [
        ("def f(x, first, gs):\n    got = first(x)\n    for g in gs:\n        pass\n    return got\n", "", "got = g(got)"),
        ("def f(self):\n    return self.__name__\n", "AttributeError: 'A' object has no attribute '__name__'", "type(self)"),
        ("from fractions import Fraction\n\n\ndef f(x):\n    return Fraction(x).isfinite(9)\n",
         "AttributeError: 'Fraction' object has no attribute 'isfinite'", "Fraction(x).limit_denominator"),
        ("def f(self):\n    return hash((self.words.items() if self.words else None, 1))\n",
         "TypeError: unhashable type: 'dict_items'", "frozenset(self.words.items())"),
        ("class A:\n    @classmethod\n    def of(cls, it):\n        'A set.'\n        pass\n", "", "return cls(it)"),
        ("def f(x, y):\n    if isinstance(x, dict):\n        x = x\n    return [g(a, b) for a, b in x]\n", "", "x.items()"),
        ("def f(xs, y):\n    return ((g(x) for x in row)\n            for row in xs)\n",
         "AssertionError: assert [<generator object f.<locals>.<genexpr>>] == [(1, 2)]", "tuple(g(x) for x in row)"),
        ("def f(x):\n    try:\n        return int(x)\n    except (x, ValueError):\n        return x\n",
         "TypeError: catching classes that do not inherit from BaseException is not allowed", "TypeError"),
        ("def f(x, at):\n    return g(x, x[at].decode('utf-8', 'replace'), at)\n\n\ndef as_bytes(s):\n    return bytes(s)\n",
         "AttributeError: 'str' object has no attribute 'decode'", "as_bytes(x[at])"),
    ],
)  # fmt: skip
def test_what_the_error_or_the_loop_says_comes_early(text: str, message: str, wanted: str) -> None:
    """A name that becomes what the loop's item makes of it; a member that only types have, or that the type has."""
    assert wanted in [row["new"] for row in _proposed(text, message)[:10]]


def test_a_text_that_differs_in_case_alone_lost_a_call_that_changes_it() -> None:
    text = "import re\n\n\ndef f(s):\n    return re.sub('b', lambda match: match.group(0), s)\n"
    message = "AssertionError: assert 'X Men: The Last' == 'x men: the last'"
    found = [row["new"] for row in _proposed(text, message)]
    other = [row["new"] for row in _proposed(text, "AssertionError: assert 'a' == 'b'")]
    assert "match.group(0).capitalize()" in found[:20]
    assert "match.group(0).capitalize()" not in other


def test_a_function_that_others_call_may_be_one_of_pythons_own() -> None:
    for call in ("map(_, xs)", "sorted(xs, key=_)", "filter(_, xs)"):
        found = _proposed(f"def f(xs):\n    return {call}\n", "NameError: name '_' is not defined")
        assert "type" in [row["new"] for row in found[:120]]


def test_what_is_caught_and_is_no_exception_is_mended_where_it_stands() -> None:
    """An edit with which nothing is raised any more leaves it as it is."""
    text = "import os\n\n\ndef f(x):\n    try:\n        return x[-1]\n    except (KeyError, os):\n        return x\n"
    told = "TypeError: catching classes that do not inherit from BaseException is not allowed"
    rows = {row["new"]: row for row in _proposed(text, told)}
    assert not rows["TypeError"].get("evades") and not rows["ValueError"].get("evades")
    elsewhere = [row for row in rows.values() if row["kind"] in ("bound", "slice", "index")]
    assert elsewhere and all(row["evades"] for row in elsewhere)


def test_what_is_computed_last_is_given_back_once() -> None:
    """A second `return` behind it would be another edit that does the same."""
    found = [
        row["new"] for row in _proposed("def f(x):\n    made = x + 1\n    g(made)\n    made\n")
    ]
    assert 1 == found.count("return made")


def test_a_docstring_is_never_given_back() -> None:
    for text in (
        "def f(x):\n    'What it does.'\n",
        'def f(x):\n    g(x)\n    """Now\n    the rest."""\n    g(x)\n',
    ):
        assert not [
            row for row in _proposed(text) if row["new"].startswith(("return '", 'return "'))
        ]


@pytest.mark.parametrize("types", ["(set, frozenset)", "A", "str"])
def test_among_types_is_only_a_type(types: str) -> None:
    sign = "in" if "(" in types else "is"
    text = f"class A:\n    pass\n\n\ndef f(x):\n    if min(x) {sign} {types}:\n        return 1\n    return x\n"
    first = _proposed(text)[0]
    assert ("type", True) == (first["new"], first["mends"])


def test_of_two_spellings_the_one_that_the_file_says_more_often_stays() -> None:
    """Either makes the key the same in both places; `decimal` is a word of the file."""
    text = (
        "UNITS = {'decimal': 10, 'binary': 2}\n\n\ndef f(x):\n    # decimal units, or binary ones\n    if x:\n"
        "        return UNITS['binary']\n    return UNITS['ecimal']\n"
    )
    rows = _proposed(text, "KeyError: 'ecimal'")
    asked = next(row for row in rows if (row["old"], row["new"]) == ("'ecimal'", "'decimal'"))
    table = next(row for row in rows if (row["old"], row["new"]) == ("'decimal'", "'ecimal'"))
    assert asked["likelier"] - table["likelier"] >= 1
    passing: list[Any] = [
        {**row, "change": [1, 9, "x", False, False], "before": 1.0} for row in (table, asked)
    ]
    found = weighing.weighed(
        passing,
        {
            "verdicts": {row["key"]: "passes" for row in passing},
            "changes": {row["key"]: row["change"] for row in passing},
        },
    )
    assert "'decimal'" == found[0]["new"]


def test_a_wrong_name_is_read_rather_than_bound() -> None:
    """`plain = lower(word)` and `return word + 's'`: `word = lower(word)` does the same as `return plain + 's'`."""
    text = "def f(word):\n    plain = word.lower()\n    return word + 's'\n"
    rows = [
        row
        for row in _proposed(text)
        if (row["old"], row["new"]) in {("plain", "word"), ("word", "plain")}
    ]
    read, bound = (
        next(row for row in rows if bool(row.get("rebinds")) is one) for one in (False, True)
    )
    passing: list[Any] = [{**row, "mends": True} for row in (bound, read)]
    found = weighing.weighed(
        passing, {"verdicts": {row["key"]: "passes" for row in passing},
                  "changes": {row["key"]: [3, 9, "x", False, False] for row in passing}}
    )  # fmt: skip
    assert ("word", "plain") == (found[0]["old"], found[0]["new"])


def test_a_not_before_a_question_that_has_its_own_is_one_too_many() -> None:
    """E713, E714: people write `x is not None`; where a file has several such, its author writes so."""
    text = "def f(x, y):\n    if not x is None:\n        return y\n    return x.n\n"
    row = next(row for row in _proposed(text) if row["new"] == "x is None")
    assert not row["risky"] and row["score"] == max(row["score"] for row in _proposed(text))
    twice = f"{text}\n\ndef g(x):\n    return not x in (1, 2)\n"
    assert next(row for row in _proposed(twice) if row["new"] == "x is None")["risky"]
    other = text.replace("is None", "!= 1")
    assert not next(row for row in _proposed(other) if row["new"] == "x != 1")["risky"]


def test_a_parameter_that_is_true_or_false_is_not_asked_about_none() -> None:
    for default, asked in (("False", False), ("None", True)):
        text = f"def f(x, sure={default}):\n    if not sure:\n        return x\n    return [x]\n"
        assert asked == any(row["new"] == "sure is None" for row in _proposed(text))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("raise E('no %r' // x)", "'no %r' % x"), ("y = getattr('name', x)", "getattr(x, 'name')"),
        ("y = isinstance(str, x)", "isinstance(x, str)"), ("y = all(x, list)", "isinstance"),
    ],
)  # fmt: skip
def test_what_nothing_else_can_be_meant_by_comes_first(line: str, wanted: str) -> None:
    """A text that is to be filled in, a text or a type in the place of the value that is asked about."""
    text = f"def f(x):\n    {line}\n    return y\n"
    assert wanted == _proposed(text)[0]["new"]


def test_a_condition_is_never_asked_together_with_its_own_opposite() -> None:
    """Another operator says all that a second question about the same two values could say."""
    broken = (
        "def g(x, y):\n    return x is None and not y and x < y\n\n\ndef f(x, y):\n    if x is not None:\n        return y\n"
        "    if y:\n        return x\n    if x >= y or y:\n        return 1\n"
    )
    added = {row["new"] for row in _proposed(broken) if row["kind"] == "narrowed"}
    assert {"x is not None and not y", "y and x is None", "(x >= y or y) and x is None"} <= added
    assert not added & {
        "x is not None and x is None", "x is None and x is not None", "y and not y", "not y and y",
        "(x >= y or y) and x < y", "(x >= y or y) and not y",
    }  # fmt: skip


def test_a_loop_goes_through_no_number_and_no_single_element() -> None:
    """`for x in next(rows)` passes where an empty `rows` ends the function, and repairs nothing."""
    text = "def f(rows):\n    for row in rows:\n        yield len(row), next(row), int(row)\n"
    found = [row["new"] for row in _proposed(text) if row["old"] == "rows"]
    assert "sorted(rows)" in found and not {"next(rows)", "len(rows)", "int(rows)"} & set(found)


def test_a_line_that_becomes_the_copy_of_another_one_is_likelier() -> None:
    """Rows that were copied, with words exchanged, have twins; a statement that is the same twice says nothing."""
    rows = [f"    g(\n        '{{}}'.format(many[0]{call}, many[1:], 1),\n        {n},\n    )\n" for n, call in
            enumerate((".upper()", ".lower()", "", ".upper()"))]  # fmt: skip
    text = f"def f(many):\n{''.join(rows)}"
    worth = {row["new"]: row["score"] for row in _proposed(text, lines=range(11, 14))}
    others = [worth[f"many[0].{name}()"] for name in ("lower", "upper")]
    assert min(others) > 2 * worth["many[0].strip()"]
    flat = "def f(many):\n    g('{}'.format(many[0].upper(), 1))\n    g('{}'.format(many[0], 1))\n"
    worth = {row["new"]: row["score"] for row in _proposed(flat, lines=range(3, 4))}
    assert worth["many[0].upper()"] < 0.6 * min(others)


@pytest.mark.parametrize(
    ("message", "line", "turned"),
    [
        ("AttributeError: 'NoneType' object has no attribute 'group'", 5, True),
        ("AttributeError: 'str' object has no attribute 'group'", 5, False),
        ("AttributeError: 'NoneType' object has no attribute 'group'", 2, False),
    ],
)
def test_a_guard_that_lets_none_pass_is_turned(message: str, line: int, turned: bool) -> None:
    """`if match: raise`, and `match.group()` fails behind it: that no test gets there any more is what the guard is for."""
    text = "def f(x):\n    match = g(x)\n    if match:\n        raise ValueError(x)\n    return match.group()\n"
    row = next(row for row in _proposed(text, message, line=line) if row["new"] == "not match")
    assert (turned, not turned) == (row.get("turned", False), row["risky"])
    other = {**row, "risky": False, "mends": False, "key": "other"} | {"turned": False}
    passing: list[Any] = [
        {**row, "change": [18, 28, "x", False, True], "before": 1.0},
        {**other, "change": [14, 28, "y", False, True], "before": 1.0},
    ]
    assert turned == weighing.told_apart(passing)


def test_the_other_default_of_a_parameter_is_shown_and_not_applied() -> None:
    """It was the one wrong repair of a real bug: every caller that does not give the argument gets something else."""
    rows = {
        row["new"]: row for row in _proposed("def f(x, sure=False):\n    return g(x, sure, True)\n")
    }
    turned, other = rows["True"], rows["False"]
    assert turned["turns_default"] and turned["risky"] and "turns_default" not in other
    assert not other["risky"]
    measured: list[Any] = [1, 10, "x", False, False]
    passing: list[Any] = [{**turned, "change": measured, "before": 1.0}]
    assert not weighing.told_apart(passing)
    assert "every caller" in weighing.why_undecided(passing)
    assert weighing.told_apart([{**other, "change": measured, "before": 1.0}])  # type: ignore[list-item]


def test_an_edit_that_leaves_what_the_error_speaks_of_is_shown_and_not_applied() -> None:
    """Two wrong repairs of seeded faults: `!=` for `>` between a text and a number, and a call fewer."""
    unordered = "TypeError: '>' not supported between instances of 'str' and 'int'"
    unknown = "NameError: name 'k' is not defined"
    texts = {"min(x) != 6": unordered, "min(x) >= 6": unordered, "[x]": unknown}
    code = "def g(key):\n    return k\n\n\ndef f(x):\n    if min(x) > 6:\n        return [g(x)]\n    return []\n"
    code += "\n\ndef h(k):\n    return f(k)\n"
    found = {}
    for new, message in texts.items():
        rows = _proposed(code, message, lines=range(1, 9))
        found[new] = next((row for row in rows if row["new"] in (new, new.strip("[]"))), None)
    for new, evades in (("min(x) != 6", True), ("min(x) >= 6", False), ("[x]", True)):
        row = found[new]
        assert row is not None, new
        assert evades == row.get("evades", False), new
        passing: list[Any] = [{**row, "change": [1, 10, "x", False, False], "before": 1.0}]
        assert evades is not weighing.told_apart(passing)
        assert not evades or "as it is" in weighing.why_undecided(passing)
    assert all(
        not row.get("evades")
        for row in _proposed(code, unknown, lines=range(1, 9))
        if "k" in row["new"].split()
    )


def _proposed(
    text: str, message: str = "", lines: range | None = None, line: int = 0
) -> list[dict[str, Any]]:
    numbers = lines or range(1, text.count("\n") + 1)
    suspects: list[Any] = [{"path": "f.py", "line": n, "score": 0.8} for n in numbers]
    found: list[Any] = propose(text, "f.py", suspects, [], 2000, message, line)
    assert all(text != edited(text, tuple(map(tuple, row["pieces"]))) for row in found)
    return found


def test_a_name_of_another_function_is_not_known_here() -> None:
    """What only another function binds would be a NameError; what a function makes global is known everywhere."""
    text = "ONE = 1\n\n\ndef g():\n    global ALL\n    ALL = made = 2\n    return made\n\n\nclass A:\n    inner = 3\n"
    known = Known(text)
    assert {"ONE", "ALL", "g", "A"} <= known.top and {"made", "inner"}.isdisjoint(known.top)


def test_a_question_that_ends_as_the_line_before_it_is_added_as_a_whole() -> None:
    """A diff may as well begin it with the line before, which is not of the region."""
    text = (
        "def g(x):\n    if not x:\n        return x\n    return x.y\n\n\n"
        "def f(x, z):\n    if z:\n        return x\n    return x.y\n"
    )
    suspects = [{"path": "f.py", "line": 10, "score": 0.8}]
    rows = [row for row in propose(text, "f.py", suspects, [], 2000) if row["kind"] == "guarded"]
    for row in rows:
        apply_patch(text, row["diff"], region=parse_region(row["affected_region"]))
    assert "if not x:\n        return x" in {row["new"] for row in rows}


def test_another_way_out_of_a_loop_is_trusted_less() -> None:
    """Tests whose inputs end there cannot tell them apart."""
    text = "def f(xs):\n    for x in xs:\n        if x:\n            continue\n        g(x)\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 4, "score": 0.8}], [], 2000)
    assert [True] == [row["risky"] for row in rows if row["new"] == "break"]


def test_an_exception_that_a_none_causes_is_caught_by_no_edit_that_is_applied() -> None:
    """`except (KeyError, TypeError)` where `None[key]` failed: the test passes, and what was None still is."""
    text = "def f(d, key):\n    try:\n        return d[key]\n    except KeyError:\n        return key\n"
    suspects = [{"path": "f.py", "line": n, "score": 0.8} for n in (2, 3, 4)]
    for of, evades in (("'NoneType'", True), ("'int'", False)):
        message = f"TypeError: {of} object is not subscriptable"
        rows = propose(text, "f.py", suspects, [], 2000, message, 3)
        [row] = [row for row in rows if row["new"] == "(KeyError, TypeError)"]
        assert evades is row.get("evades", False)


def test_a_return_of_the_last_block_alone_is_likely_nested_too_deep() -> None:
    """The other way through the function gives nothing back; where that one gives something, nothing speaks for it."""
    text = "def f(x):\n    y = g(x)\n    if x:\n        y = h(y)\n        return y\n"
    ended = text.replace("    y = g(x)", "    if y:").replace("    if x:", "        y = 1")
    for said, likely in ((text, True), (f"{ended}    else:\n        return x\n", False)):
        suspects = [{"path": "f.py", "line": n, "score": 0.8} for n in (2, 3)]
        rows = propose(said, "f.py", suspects, [], 2000, "AssertionError: assert None == 1")
        moved = [row for row in rows if row["kind"] == "nesting" and "return" in row["diff"]]
        assert [row["mends"] for row in moved if not row["risky"]] == [True] * likely
        assert likely is any(row["kind"] == "nesting" for row in rows[:60])


def test_what_is_looked_up_to_be_called_is_an_empty_type_where_nothing_is_found() -> None:
    text = "def f(options):\n    make = options.pop('make')\n    return make()\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 2, "score": 0.8}], [], 60, "KeyError: 'make'", 2)  # fmt: skip
    assert "options.pop('make', dict)" in {row["new"] for row in rows}


def test_what_a_method_stores_afterwards_is_handed_to_its_base() -> None:
    """The base asks for it when it is made: too early for what the method stores."""
    base = "class A:\n    def __init__(self, first=1, **more):\n        self.none = first is None\n\n\n"
    text = f"{base}class B(A):\n    def __init__(self, x, **more):\n        super().__init__(**more)\n        self.first = x\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 8, "score": 0.8}], [], 60)
    assert "super().__init__(**more, first=x)" in {row["new"] for row in rows}
    text = text.replace("self.first", "self.other")
    rows = propose(text, "f.py", [{"path": "f.py", "line": 8, "score": 0.8}], [], 2000)
    assert not [row for row in rows if "other=x" in row["new"]]
