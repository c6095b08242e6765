"""Operators that repairs of real packages needed: each finds the edit among those of the line."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import edited
from fdc_packs.repair.patch.patch import apply_patch
from fdc_packs.repair.patch.region import parse_region

FOUND = {
    "a parameter made plain before it is used": (
        "def f(s):\n    if not s:\n        return 0\n    return TABLE[s.replace('a', 'b')]\n",
        "    if not s:\n", "    s = s.upper()\n    if not s:\n"),
    "what a loop asks of and never changes": (
        ("def f(val):\n    out = val\n    while len(val) != 1:\n        out = []\n        if g(val):\n"
        "            out.append(1)\n        else:\n            out.append(2)\n    return out[0]\n"),
        "            out.append(2)\n", "            out.append(2)\n        val = out\n"),
    "the next one of a chain": (
        "def f(node):\n    while node is not None:\n        g(node.parent)\n    return 1\n",
        "        g(node.parent)\n", "        g(node.parent)\n        node = node.parent\n"),
    "a step as long as what was found": (
        ("def f(s):\n    at = 0\n    for key, n in TABLE:\n        while s[at : at + len(key)] == key:\n            g(n)\n"
        "            at += 1\n"),
        "at += 1\n", "at += len(key)\n"),
    "all but the last of what is gone through": (
        "def f(self):\n    for x in self.xs:\n        g(x)\n", "self.xs:", "self.xs[:-1]:"),
    "a part that the file takes of the same thing": (
        "def g(p):\n    return h(p.path[2:])\n\n\ndef f(p):\n    return h(p.path)\n", "p.path)", "p.path[2:])"),
    "a copy of what is changed then": (
        "def f(self, x):\n    self.xs = x.xs\n    self.xs.append(1)\n", "x.xs\n", "x.xs[:]\n"),
    "what two calls of one method are given, exchanged": (
        "def f(x):\n    return x.replace('a', 'b').replace('b', 'c')\n",
        "replace('a', 'b').replace('b', 'c')", "replace('b', 'c').replace('a', 'b')"),
    "a condition that another comprehension has": (
        "def g(xs):\n    return [x for x in xs if not x.old]\n\n\ndef f(ys):\n    return [y for y in ys]\n",
        "in ys]", "in ys if not y.old]"),
    "one condition more of a comprehension": (
        "def g(xs):\n    return [x for x in xs if not x.old]\n\n\ndef f(ys):\n    return [y for y in ys if y.a]\n",
        "if y.a]", "if y.a and not y.old]"),
    "an exception of the file's own": (
        ("class Bad(Exception):\n    pass\n\n\ndef g():\n    raise Bad('x')\n\n\ndef f():\n    try:\n        g()\n"
        "    except KeyError:\n        return 1\n"), "KeyError", "Bad"),
    "a keyword that gets the member of its name": (
        ("class A:\n    def find(self, n, *, at=None):\n        return n, at, self.at\n\n    def f(self, e):\n"
        "        return self.find(e.n)\n"), "(e.n)", "(e.n, at=e.at)"),
    "the statement that follows another one elsewhere, at the end of a block": (
        ("class A:\n    def g(self, x):\n        if x:\n            self.n = None\n            self.xs = []\n        else:\n"
        "            self.n = 2\n            self.xs = []\n        self.h()\n\n    def f(self, x):\n        if x:\n"
        "            self.n = x\n        self.h()\n"),
        "            self.n = x\n", "            self.n = x\n            self.xs = []\n"),
    "the question that stands elsewhere between two statements": (
        "def g(x):\n    y = h(x)\n    if not y:\n        y = 1\n    return k(y)\n\n\ndef f(x):\n    y = h(x)\n    return k(y)\n",
        "    y = h(x)\n", "    y = h(x)\n    if not y:\n        y = 1\n"),
    "a statement under the question that it stands under elsewhere": (
        ("def f(x, whole):\n    mark = '.'\n    if x.a:\n        if not whole:\n            form = 1\n            mark = ','\n"
        "        return mark, form\n    return mark\n"),
        "    return mark\n", "    if not whole:\n        mark = ','\n    return mark\n"),
    "a call of what else is known there": (
        "def f(a, b):\n    for x in a:\n        a.drop(x)\n", "a.drop(x)\n", "a.drop(x)\n        b.drop(x)\n"),
    "a guard of a member that nobody may have given": (
        ("class A:\n    def __init__(self, names=None):\n        self.names = names\n\n    def f(self, x):\n"
        "        y = x.y\n        return self.names[y]\n"),
        "        y = x.y\n", "        if self.names is None:\n            return x\n        y = x.y\n"),
    "an operation that the file does elsewhere with what a call gives": (
        "def g(at):\n    return at.weekday() % 7\n\n\ndef f(end):\n    return end.weekday()\n",
        "return end.weekday()\n", "return end.weekday() % 7\n"),
    "an index that the file takes elsewhere of what a call gives": (
        "def g(x):\n    return x.split()[0]\n\n\ndef f(line):\n    y = line.split()\n    return y\n",
        "line.split()\n", "line.split()[0]\n"),
    "a method that the file calls elsewhere of what a call gives": (
        "def g(x):\n    return x.read(1).hex()\n\n\ndef f(x):\n    y = x.read(2)\n    return y\n",
        "x.read(2)", "x.read(2).hex()"),
    "the result of a method of the class as an argument": (
        "class A:\n    def rows(self):\n        return []\n\n    def f(self):\n        return zip(list)\n",
        "zip(list)", "zip(list, self.rows())"),
    "a number that does not begin with zero": (
        'import re\n\n\ndef f(x):\n    return re.match(r"a:\\d+", x)\n', '\\d+"', '[1-9]\\d*"'),
    "a number of at most so many digits that does not begin with zero": (
        'import re\n\n\ndef f(x):\n    return re.match(r"a:[0-9]{1,5}", x)\n', '[0-9]{1,5}"', '[1-9]\\d{0,4}"'),
    "a number that goes round as others of the file do": (
        "def g(n):\n    return n % 7\n\n\ndef f(n):\n    return n + 1\n", "n + 1", "(n + 1) % 7"),
    "no control character": (
        'import re\n\n\ndef f(x):\n    return re.match(r"[^\\s<]*", x)\n', "<]", "<\\x00-\\x1f]"),
    "a twin's assignment with the other word": (
        "def f(g):\n    minute = int(g['minute'])\n    pass\n    return hour, minute\n", "pass", "hour = int(g['hour'])"),
    "a number of the file": (
        "def f(x):\n    pass\n    return x[:least]\n\n\nMOST = 16\n", "pass", "least = 16"),
    "a function that takes all that this one does": (
        "from itertools import tee\n\n\ndef f(xs, n):\n    pass\n    return ys\n", "pass", "ys = tee(xs, n)"),
    "what is made and nobody uses": (
        "def f(x):\n    token = x\n    floor_token = x[1:]\n    if x:\n        pass\n    return token\n",
        "pass", "token = floor_token"),
    "a name of the module": (
        "CACHE = {}\n\n\ndef f(x):\n    if x not in CACHE:\n        CACHE[x] = 1\n    pass\n", "pass", "return CACHE"),
    "the member that is asked for": (
        "class A:\n    def f(self):\n        if not hasattr(self):\n            self.n = 1\n        return self.n\n",
        "hasattr(self)", 'hasattr(self, "n")'),
    "a keyword that a built-in function lacks": (
        "def f(xs):\n    return zip(*xs)\n", "zip(*xs)", "zip(*xs, strict=True)"),
    "the encoding of a file": ("def f(x):\n    return open(x)\n", "open(x)", 'open(x, encoding="utf-8")'),
    "the statement of the opposite operator's method, with all its operators turned": (
        "class B:\n    def __rshift__(self, n):\n        return B(self >> n, n - 1)\n    def __lshift__(self, n): pass\n",
        "pass", "return B(self << n, n + 1)"),
    "a call that another call is given": (
        "def g(x):\n    return h(x, repeat(None))\n\n\ndef f(x):\n    return k(x)\n", "k(x)", "k(x, repeat(None))"),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_an_edit_that_real_bugs_need_is_proposed(what: str) -> None:
    """Issue 14: the operators of repairs that people made between two releases."""
    broken, old, new = FOUND[what]
    wanted = new.join(broken.rsplit(old, 1))
    rows = propose(
        broken, "f.py", [{"path": "f.py", "line": n, "score": 0.8} for n in range(1, 20)], [], 4000
    )
    texts = [
        apply_patch(broken, row["diff"], region=parse_region(row["affected_region"])).text
        for row in rows
    ]
    assert wanted in texts


def test_what_yields_or_is_called_no_more_comes_first_where_it_fits() -> None:
    """`yield from` wants what can be iterated over; a private function that nothing calls was called here, mostly."""
    text = "def g(x):\n    yield x\n\n\ndef _h(x):\n    return x\n\n\ndef f(x):\n    {} len(x)\n"
    for line, name in (("yield from", "g"), ("return", "_h")):
        rows = propose(
            text.format(line), "f.py", [{"path": "f.py", "line": 10, "score": 1.0}], [], 500
        )
        called = [row["new"] for row in rows if row["kind"] == "callee"]
        assert name in called[:2], (line, called[:4])


def test_a_feature_of_the_compiler_is_no_function_that_nothing_calls() -> None:
    text = "from __future__ import annotations\n\n\ndef f(x, y):\n    return min(x, y)\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 5, "score": 1.0}], [], 500)
    called = [row["new"] for row in rows if row["kind"] == "callee"]
    assert "annotations" not in called and "max" in called[:3], called[:5]


def test_the_twin_of_a_word_comes_before_all_others() -> None:
    """`min` in place of `max` in click's tables: 364 edits of that file alone were tried before it (issue 14)."""
    text = "def f(rows, widths):\n    for row in rows:\n        for idx, col in enumerate(row):\n"
    text += "            widths[idx] = min(widths.get(idx, 0), len(col))\n    return list(sorted(widths.items()))\n"
    suspects = [{"path": "f.py", "line": n, "score": 0.4} for n in range(2, 6)]
    rows = propose(text, "f.py", suspects, [], 500)
    assert ("min", "max") in [(row["old"], row["new"]) for row in rows[:10]]


def test_only_what_can_be_raised_is_put_after_raise() -> None:
    """`raise sorted("...")`: an exception, and first the one that Python raises with such words."""
    text = "def f(x):\n    raise sorted('unexpected keyword argument')\n\n\ndef g(x):\n    raise KeyError(len(x))\n"
    rows = propose(text, "f.py", [{"path": "f.py", "line": 2, "score": 1.0}], [], 500)
    called = [row["new"] for row in rows if row["kind"] == "callee"]
    assert called[0] == "TypeError" and "KeyError" in called[:3]
    assert not {"len", "list", "sorted", "str"} & set(called)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("TypeError: an integer is required (got type str)", "int(p)"),
        ('TypeError: can only concatenate str (not "int") to str', "str(p)"),
        ("TypeError: a bytes-like object is required, not 'str'", "p.encode()"),
        ("TypeError: 'map' object is not subscriptable", "list(p)"),
        ("TypeError: 'list' object is not an iterator", "iter(p)"),
    ],
)
def test_an_error_that_names_a_type_has_the_conversion_to_it_first(message: str, call: str) -> None:
    """The value may be made some lines before the one that fails."""
    text = "def f(ps):\n    xs = [p for p in ps]\n    return g(*xs)\n"
    rows = propose(
        text,
        "f.py",
        [{"path": "f.py", "line": n, "score": 0.8} for n in (2, 3)],
        [],
        900,
        message,
        3,
    )
    wrapped = [row["new"] for row in rows if row["kind"] == "wrapped"]
    assert call == next(one for one in wrapped if one.startswith("p.") or one.endswith("(p)"))


EVIDENT = {
    "a tuple of what is gone through twice": (
        "def f(g, x):\n    ys = g(x)\n    n = 0\n    for y in ys:\n        n += 1\n    return [tuple(x, y, n) for y in ys]\n",
        "g(x)", "tuple(g(x))"),
    "a member by the name that it is given to": (
        ("def f(x):\n    part = Fraction(x)\n    numerator = part.denominator\n    denominator = part.denominator\n"
        "    return numerator, denominator\n"), "part.denominator\n    denominator", "part.numerator\n    denominator"),
    "a function by the name that its value is given to": (
        "def f(x, ys):\n    length = list(x)\n    return [y for y in ys if y < length]\n", "list(x)", "len(x)"),
    "a member as the value that it is given": (
        "class A:\n    def __init__(self, text, rest):\n        self.tail = text\n        self.rest = rest\n",
        "self.tail", "self.text"),
    "one of the class that a class method is of": (
        "class A:\n    @classmethod\n    def made(cls, it):\n        return it\n", "return it", "return cls(it)"),
    "the function that was made": (
        "def f(g):\n    def inner(*given):\n        return g(*given)\n\n    pass\n", "pass", "return inner"),
    "the property that another special method reads": (
        ("class A:\n    @property\n    def x(self):\n        return 1\n\n    @property\n    def y(self):\n        return 2\n\n"
        "    def __hash__(self):\n        return hash((self.x, self.y))\n\n    def __eq__(self, other):\n"
        "        return self.x == other.x\n"), "self.x == other.x", "self.x == other.x and self.y == other.y"),
    "an import that nothing uses": (
        "from heapq import merge\n\n\ndef f(xs, ys):\n    return zip(xs, ys)\n", "zip(", "merge("),
    "what can be called, where it is called then": (
        "def f(made):\n    if all(made):\n        return made()\n    return made\n", "all(", "callable("),
    "the first one of what is asked whether there is any": (
        "def f(xs):\n    return 1 if xs and xs[2] is None else 2\n", "xs[2]", "xs[0]"),
    "the class whose equal is asked": (
        "class A:\n    def __eq__(self, other):\n        return isinstance(other, other)\n", "(other, other)", "(other, A)"),
    "None where it is asked what something is": (
        "def f(x):\n    if x is not True:\n        return x.y\n    return 0\n", "not True", "not None"),
    "a truth value where another one is given": (
        "def f(xs):\n    seen = False\n    for x in xs:\n        seen = None\n    return seen\n", "None", "True"),
    "a bound that nothing uses": ("def f(xs, count):\n    del xs[:]\n    return xs\n", "[:]", "[:count]"),
    "the operator of the method's name": (
        "class A:\n    def __gt__(self, other):\n        return self.n > other.n\n\n    def __lt__(self, other):\n        pass\n",
        "pass", "return self.n < other.n"),
    "the exception again": (
        "def f(x):\n    try:\n        return x()\n    except ValueError:\n        if x:\n            pass\n", "pass", "raise"),
    "a twin's member": (
        ("class A:\n    def __init__(self):\n        self.a = self.b = 0\n\n    def f(self, it):\n        self.a = it.a\n"
        "        pass\n\n    def g(self):\n        return self.a, self.b\n"), "pass", "self.b = it.b"),
    "what the other branch binds": (
        "def f(x):\n    try:\n        y = x.y\n    except ValueError:\n        pass\n    return g(y)\n", "pass", "y = []"),
    "a parameter that the function around takes": (
        "def f(made):\n    def g(x):\n        return h(x)\n\n    def h(x):\n        return x\n\n    return g\n",
        "return h(", "return made("),
    "a twin's member of the class below": (
        ("class A:\n    def f(self):\n        return self.a, self.b\n\n\nclass B(A):\n    def g(self, it):\n"
        "        self.a = it.a\n        pass\n"), "pass", "self.b = it.b"),
    "the default that others have": (
        "def f(g):\n    return T(int(g['h'] or 0), int(g['m']))\n", "g['m']", "g['m'] or 0"),
    "the call that others are given to": (
        "def f(g):\n    return T(int(g['h']), g['m'] - 1)\n", "g['m'] - 1", "int(g['m']) - 1"),
    "a pair of what two loops go through": (
        ("class A:\n    def items(self):\n        yield self.d\n        for key in self.d:\n            for val in self.d[key]:\n"
         "                pass\n"),
        "                pass", "                yield key, val"),
    "the type that is called, of a function on one line": (
        "def f(x):\n    def g(a, b=list(x)()): return b.join(a)\n    return g\n", "list(", "type("),
    "the bracket that closes what another text opens": (
        "def f(s):\n    return ''.join('[' + c + '' for c in s)\n", "+ ''", "+ ']'"),
    "the bracket that opens what another text closes": (
        "def f(s):\n    return ' '.join('' + c + ']' for c in s)\n", "'' +", "'[' +"),
    "whether it is one of those that the module holds": (
        "NEVER = {'fish', 'rice'}\n\n\ndef f(word):\n    if not word:\n        return word\n    return word.lower() + 's'\n",
        "not word:", "not word or word.lower() in NEVER:"),
    "the item that is stored again": (
        "def f(d):\n    if 'a' in d:\n        x = cast(str)\n        d['a'] = g(x) if x else ''\n    return d\n",
        "cast(str)", "cast(str, d['a'])"),
    "what is done with a parameter and its name, with another one": (
        "def f(self, a, b, c):\n    put(self, 'a', a)\n    pass\n    put(self, 'c', c)\n", "pass", "put(self, 'b', b)"),
    "the value for nothing that nothing uses": (
        "def f(groups, usual):\n    return T(g, int(groups['m']), 1)\n", "int(groups['m'])", "int(groups['m']) or usual"),
    "what is called for its effect": (
        "def f(xs, out):\n    for x in xs:\n        out.compile(x)\n    return out\n", "out.compile", "out.append"),
    "what gives three parts": (
        "def f(x):\n    head, mark, tail = x.endswith('-')\n    return head, tail\n", "endswith", "rpartition"),
    "the method of the class above that has the method's name": (
        ("class A(Exception):\n    def __init__(self, text, code):\n        Exception.code(self, text)\n"
         "        self.code = code\n"), "Exception.code", "Exception.__init__"),
}  # fmt: skip


@pytest.mark.parametrize("what", EVIDENT)
def test_what_names_and_neighbours_say_comes_early(what: str) -> None:
    """Among the first tenth of what is known: the budget of a probe ends long before the last edit."""
    broken, old, new = EVIDENT[what]
    rows = propose(
        broken, "f.py", [{"path": "f.py", "line": n, "score": 0.8} for n in range(1, 20)], [], 4000
    )
    wanted = broken.replace(old, new, 1)
    texts = [edited(broken, tuple((a, b, text) for a, b, text in row["pieces"])) for row in rows]
    assert wanted in texts[: max(3, len(texts) // 10)]


def test_what_has_the_member_that_the_error_misses_is_made_first() -> None:
    text = "def f(given):\n    kept = read(given)\n    kept.discard(1)\n    return sorted(kept)\n"
    message = "AttributeError: 'list' object has no attribute 'discard'"
    made = [row["new"] for row in _proposed(text, 2, message)]
    assert made.index("set(read(given))") < 3
    assert made.index("set(read(given))") < made.index("list(read(given))")


def test_nothing_is_asked_whether_it_is_of_what_only_hints_at_types() -> None:
    text = "from typing import Any, Dict\nfrom a import Mapping\n\ndef f(x):\n    if isinstance(x):\n        return x.keys()\n"
    made = [row["new"] for row in _proposed(text, 5)]
    assert made.index("isinstance(x, Mapping)") < 5
    assert {"isinstance(x, Any)", "isinstance(x, Dict)"}.isdisjoint(made[:40])


def test_marks_in_a_set_stand_for_themselves() -> None:
    """No edit takes a mark in a set for a repetition, a group or any character; what the set lacks comes first."""
    text = 'import re\n\n\ndef f(x):\n    return re.match(r"a+[/?.(]b", x)\n'
    found = [
        edited(text, tuple((a, b, new) for a, b, new in row["pieces"]))
        for row in propose(
            text, "f.py", [{"path": "f.py", "line": 5, "score": 1.0}], [], 400, told="test_f[a/#b+]"
        )
    ]
    sets = [one.partition("a+[")[2].partition("]")[0] for one in found if "a+[" in one]
    assert {"/.(", "/+.(", "/?\\.(", "/?.(?:"}.isdisjoint(sets)
    assert sets.index("/?.(#") < sets.index("/?.(+")


def _proposed(text: str, line: int, message: str = "", most: int = 500) -> list[Any]:
    suspects = [{"path": "f.py", "line": line, "score": 1.0}]
    return propose(text, "f.py", suspects, [], most, message, line)


def test_of_a_module_that_is_known_a_member_is_called_that_takes_what_is_given() -> None:
    """`re.sub(x)` was `re.escape(x)`: 1,000 edits were tried before, `re.lower(x)` and flags of `re` among them."""
    text = "import re\n\n\ndef f(x, y):\n    z = re.sub(x)\n    return x.lower(), re.sub(z, y, x)\n"
    said = "TypeError: sub() missing 2 required positional arguments: 'repl' and 'string'"
    rows = [row["new"] for row in _proposed(text, 5, said) if row["kind"] == "attribute"]
    assert "re.escape" in rows[:2], rows[:5]
    assert not {"re.lower", "re.I", "re.subn", "re.match", "re.error"} & set(rows)


def test_a_number_that_breaks_the_equal_steps_of_its_row_comes_first() -> None:
    text = "def f(n):\n    return n % 100 in (13, 12, 13)\n"
    assert [("13", "11")] == [(row["old"], row["new"]) for row in _proposed(text, 2)[:1]]
    assert "(11, 12, 13)" in _proposed(text, 2)[0]["diff"]  # most rows go up


def test_a_return_that_buries_another_one_may_stand_too_far_out() -> None:
    """Nothing is turned round with it: what no run could get to is run again."""
    text = "def f(x):\n    if x:\n        x += 1\n    return x, 1\n    return x\n"
    row = next(one for one in _proposed(text, 4)[:8] if one["kind"] == "nested")
    assert row["mends"] and not row["risky"]
    plain = text.replace("    return x\n", "")
    assert all(one["risky"] for one in _proposed(plain, 4) if one["kind"] == "nested")


@pytest.mark.parametrize(
    ("message", "risky"),
    [("AssertionError: 1 != 2", True), ("TypeError: g() takes 1 positional argument but 2", False)],
)
def test_what_only_leaves_an_argument_out_is_trusted_where_the_error_asks_for_it(
    message: str, risky: bool
) -> None:
    """`Bits(self.val >> n)` passed the tests of `Bits(self.val >> n, self.len - n)`, and was taken."""
    rows = _proposed("def f(a, b):\n    return g(a, b - a)\n", 2, message)
    assert [risky] == [one["risky"] for one in rows if (one["kind"], one["new"]) == ("argument", "g(a)")]  # fmt: skip


def test_a_shorter_text_is_another_text_and_leaves_nothing_out() -> None:
    rows = _proposed("def f(x):\n    return x + 'a bc'\n", 2, "AssertionError: 'xa bc' != 'xa'")
    assert [False] == [one["risky"] for one in rows if one["new"] == "'a'"]


def test_what_is_changed_and_kept_under_another_name_is_as_good_as_dropped() -> None:
    """`words = any(text)` for `text = any(text)` passed weak tests and was taken."""
    code = "def f(text, words):\n    text = any(text)\n    words = list(text)\n    return words\n"
    rows = [one for one in _proposed(code, 2) if (one["old"], one["new"]) == ("text", "words")]
    stored = [one for one in rows if "    words = any(text)" in one["diff"]]
    assert stored and all(one["risky"] for one in stored)
    other = code.replace("any(text)", "any(words)")
    rows = [one for one in _proposed(other, 2) if "+    words = any(words)" in one["diff"]]
    assert rows and not any(one["risky"] for one in rows)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('    return f"{x}: {y - 1}"\n', "{y + 1}"), ('    return f"""{x}:\n{y - 1}"""\n', "{y + 1}"),
        ('    return "a" f"{x!r:>{y}} {y - 1}"\n', "{y + 1}"), ("    return rf\"[a-z]{r'.?$' if x else r'$'}\"\n", "r'[.]?$'"),
    ],
)  # fmt: skip
def test_the_expressions_of_an_f_string_are_edited_and_its_text_is_not(
    line: str, wanted: str
) -> None:
    code = f"def f(x, y):\n{line}"
    texts = [
        edited(code, tuple((a, b, new) for a, b, new in row["pieces"]))
        for row in propose(
            code, "f.py", [{"path": "f.py", "line": n, "score": 1.0} for n in (2, 3)], [], 900
        )
    ]
    assert any(wanted in one for one in texts)
    assert not any('f"[A-Z]' in one or 'f"[a-z_]' in one for one in texts)
