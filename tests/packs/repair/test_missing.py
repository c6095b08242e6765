"""What a forgotten statement was, by what its place lacks and has in vain."""

from __future__ import annotations

import pytest
from fdc_packs.repair.mutate.known import Known
from fdc_packs.repair.mutate.missing.exchanged import idle_of_module
from fdc_packs.repair.mutate.missing.place import late
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import Function, edited

EARLY = 60
"""Among how many of the first edits the statement must be."""
STATEMENTS = {
    "for one thing what is done for each of many": (
        ("def f(rows):\n    if isinstance(rows, tuple):\n        names = [one.name.upper() for one in rows]\n"
        "    else:\n        pass\n    return names\n"),
        "names = [rows.name.upper()]"),
    "the member of one thing that is joined of many": (
        ("from operator import attrgetter\n\n\ndef f(kinds):\n    if isinstance(kinds, tuple):\n"
        "        name = '_'.join(map(attrgetter('__name__'), kinds))\n    else:\n        pass\n    return name\n"),
        "name = kinds.__name__"),
    "what is done elsewhere where the same is asked": (
        ("from m import good, told\n\n\ndef one(x):\n    if not good(float(x)):\n        return told(float(x))\n\n\n"
        "def f(x, y):\n    if not good(float(x)):\n        pass\n    return x / y\n"),
        "return told(float(x))"),
    "what is done elsewhere where the same is asked of another name": (
        ("from m import good, told\n\n\ndef one(b):\n    if not good(b):\n        told(b, 'x')\n    return b\n\n\n"
        "def f(x, y):\n    if not good(y):\n        pass\n    return x / y\n"),
        "told(y, 'x')"),
    "a number where the name counts": (
        "class A:\n    @staticmethod\n    def sizeof(value):\n        pass\n", "return 1"),
    "what a method gives for the parameter that nothing reads": (
        ("class A:\n    def parts(self, text):\n        return text.split()\n\n"
        "    def f(self, text):\n        pass\n        return self.g(parts)\n"),
        "parts = self.parts(text)"),
    "a function of two names, one bound last": (
        "def take(n, seq):\n    return seq[:n]\n\n\ndef f(n, seq):\n    it = iter(seq)\n    pass\n    return first, it\n",
        "first = take(n, it)"),
    "a method that stands alone elsewhere, of another member": (
        ("class A:\n    def f(self):\n        self.full.wait()\n\n    def g(self):\n        self.empty.set()\n\n"
        "    def h(self):\n        if self.empty.x:\n            pass\n"),
        "self.empty.wait()"),
    "a member that no `__init__` stores": (
        ("class A:\n    def __init__(self):\n        pass\n        self.n = 0\n\n    def f(self):\n"
        "        if self.rows is None:\n            self.rows = [self.n]\n        return self.rows\n"),
        "self.rows = None"),
    "the empty value that is filled": (
        "def f(x):\n    pass\n    for key, value in x:\n        found[key] = value\n    return found\n", "found = {}"),
    "the number that is added to": ("def f(x):\n    pass\n    for one in x:\n        n += one\n    return n\n", "n = 0"),
    "the method of a base": (
        "class E(Exception):\n    def __init__(self, said):\n        pass\n        self.said = said\n",
        "Exception.__init__(self, said)"),
    "what a special method says of others": (
        ("class A:\n    def __eq__(self, other):\n        if not isinstance(other, A):\n            pass\n"
        "        return self.n == other.n\n"),
        "return NotImplemented"),
    "an item of a parameter": ("def f(state):\n    pass\n    if head:\n        return state\n", "head = state[0]"),
    "a table of the module": ("SIZES = {'s': 1}\n\n\ndef f(size):\n    pass\n", "return SIZES[size]"),
    "two names in the order of the text": (
        "def f(rows):\n    out = {}\n    for row in rows:\n        pass\n        out[k] = v\n    return out\n", "k, v = row"),
    "what is taken out where it is in": (
        "def f(rows, row):\n    if row in rows:\n        pass\n    return rows\n", "rows.remove(row)"),
    "a parameter made as another one": (
        "import os\n\n\ndef f(name, pat):\n    pass\n    pat = os.path.normcase(pat)\n    return name == pat\n",
        "name = os.path.normcase(name)"),
    "a pattern of the module that nothing reads": (
        ("import re\n\none = re.compile('a')\ntwo = re.compile('b')\n\n\ndef f(x):\n    m = one.match(x)\n    return m\n\n\n"
        "def g(x):\n    pass\n    return m\n"),
        "m = two.match(x)"),
    "a name of the function around": (
        "def f(x):\n    n = 0\n\n    def g(y):\n        pass\n        n = n + y\n\n    return g, n\n", "nonlocal n"),
    "a statement of another function, of names that are bound here": (
        ("def f(d, key):\n    new = dict()\n    new.update(d)\n    return new\n\n\n"
        "def g(make, d, keys):\n    new = make()\n    pass\n    for key in keys:\n        del new[key]\n    return new\n"),
        "new.update(d)"),
    "a name that is declared to be of the module": (
        "made = None\n\n\ndef f(db):\n    global made\n    db.read()\n    pass\n", "made = db"),
    "a flag of an object of the file": (
        "class L:\n    def __init__(self):\n        self.split = False\n\n\ndef f():\n    lex = L()\n    pass\n    return lex\n",
        "lex.split = True"),
    "the method of the object that does the work": (
        "_db = make()\n\n\ndef kind(x, strict):\n    return _db.kind(x, strict)\n\n\ndef ending(y, strict):\n    pass\n",
        "return _db.ending(y, strict)"),
    "the function that is wrapped": (
        "def f(call):\n    @wraps(call)\n    def inner(self):\n        pass\n        return got\n\n    return inner\n",
        "got = call(self)"),
    "many names that one thing has": (
        "def f(info):\n    pass\n    return [d, c, b, a]\n", "d, c, b, a = info"),
    "what a static method gives, named like it": (
        ("class A:\n    def put(self, key, value):\n        pass\n        self.rows[key] = itemsize\n\n"
        "    @staticmethod\n    def getsizeof(value):\n        return 1\n"),
        "itemsize = self.getsizeof(value)"),
    "what was given by its name": (
        "def f(g, kwargs):\n    pass\n    if kwargs:\n        raise TypeError(g)\n    return factory\n",
        "factory = kwargs.pop('factory', dict)"),
    "what was given by its name, and is left": (
        "def f(g, **more):\n    pass\n    return g(size, **more)\n", "size = more.pop('size')"),
    "a parameter that the maker keeps, and another method changes": (
        ("class A:\n    def __init__(self, limit):\n        pass\n        self.n = limit\n\n    def f(self):\n"
        "        self.limit -= self.n\n        return self.limit\n"),
        "self.limit = limit"),
    "several names that were bound last": (
        "def f(x):\n    r = x + 1\n    g = x + r\n    b = g * r\n    if b > g > r:\n        b = 0\n    pass\n", "return r, g, b"),
    "a collection of the module that nothing reads": (
        "ODD = set(load())\n\n\ndef f(x):\n    c = ord(x)\n    if c < 3:\n        return True\n    pass\n", "return c in ODD"),
    "what a loop used up": (
        "def f(s, left):\n    while left > 0:\n        data = s.read(left)\n        s.put(data)\n        pass\n",
        "left -= len(data)"),
    "a function of what a function that was given makes": (
        "def flat(x):\n    return sum(x, [])\n\n\ndef g(x):\n    return flat(x)\n\n\ndef f(func, rows):\n    pass\n",
        "return flat(map(func, rows))"),
    "as it was at first": (
        ("class A:\n    def __init__(self):\n        self.last = ''\n\n    def f(self, x):\n        self.last = x\n\n"
        "    def g(self, x):\n        pass\n        return x\n"),
        "self.last = ''"),
}  # fmt: skip


@pytest.mark.parametrize("what", STATEMENTS)
def test_the_statement_is_proposed_early(what: str) -> None:
    broken, wanted = STATEMENTS[what]
    suspects = [
        {"path": "x.py", "line": at, "score": 0.5} for at in range(1, broken.count("\n") + 1)
    ]
    rows = propose(broken, "x.py", suspects, [], 1800, "AssertionError")
    made = [edited(broken, tuple((a, b, c) for a, b, c in row["pieces"])) for row in rows]
    assert broken.replace("pass", wanted, 1) in made[:EARLY], made[:8]


def test_a_call_whose_value_nothing_reads_is_given_to_no_name() -> None:
    text = "def f(d):\n    new = {}\n    new.update(d)\n    return new\n\n\n"
    text += "def g(d):\n    new = {}\n    pass\n    return new, k\n"
    suspects = [{"path": "x.py", "line": 8, "score": 0.5}]
    said = [
        row["new"]
        for row in propose(text, "x.py", suspects, [], 1800, "NameError: name 'k' is not defined")
    ]
    assert said and not [
        one for one in said if one.startswith(("k = new.update(", "k = d.update("))
    ]


def test_text_with_braces_is_code_like_any_other() -> None:
    text = (
        "def g(x):\n    return 'a{}b{}'.format(x, 2).upper()\n\n\n"
        "def f(a, b):\n    c = {'k': {}}[a]\n    d = 'x{}y{0.c}{'.strip()\n    pass\n"
        "    return c + d['{q.r}']('{z}')() + {1: {}}[b]\n"
    )
    suspects = [{"path": "x.py", "line": at, "score": 0.5} for at in range(5, 10)]
    assert propose(text, "x.py", suspects, [], 1800, "")


def test_a_name_is_late_that_is_read_before_it_is_bound() -> None:
    known = Known(
        "def f(x):\n    for one in x:\n        n += one\n    if (m := one):\n        k = m\n    rest = [y for y in x]\n"
        "    while True:\n        if at:\n            break\n        at = 1\n    return k, rest\n"
    )
    function = next(one for one in known.nodes if isinstance(one, Function))
    assert late(function) == ["n", "at"]


def test_what_a_module_exports_is_not_idle() -> None:
    known = Known(
        "__all__ = ['A']\nA = 1\nB = 2\n\n\ndef _f():\n    return 1\n\n\ndef g():\n    return 2\n"
    )
    assert sorted(idle_of_module(known)) == ["B", "_f"]
