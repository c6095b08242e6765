"""The proposer that needs no model: it finds known faults of every kind, in small edits that keep a file as it is written."""

from __future__ import annotations

import ast
import textwrap

import pytest
from fdc_packs.repair import gates
from fdc_packs.repair.mutate.kinds import KINDS
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.patch.patch import apply_patch
from fdc_packs.repair.patch.region import KINDS as REGIONS
from fdc_packs.repair.patch.region import parse_region
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.repository import PACKS

FAULTS = {
    "restored": ("def f(xs):\n    pass\n", "def f(xs):\n    return xs\n"),
    "wrapped": ("def g(x):\n    return len(x)\n\n\ndef f(x):\n    return x\n",
                "def g(x):\n    return len(x)\n\n\ndef f(x):\n    return len(x)\n"),
    "narrowed": ("def f(a, b):\n    if a > 1:\n        return b\n", "def f(a, b):\n    if a > 1 and b:\n        return b\n"),
    "comparison": ("def f(x):\n    return x <  10  # ten\n", "def f(x):\n    return x <=  10  # ten\n"),
    "boolean": ("def f(a, b):\n    if a and b:\n        return 1\n", "def f(a, b):\n    if a or b:\n        return 1\n"),
    "arithmetic": ("def f(a, b):\n    return (a)  -  b\n", "def f(a, b):\n    return (a)  +  b\n"),
    "operand": ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a\n"),
    "bound": ("def f(n):\n    return list(range(n))\n", "def f(n):\n    return list(range(n + 1))\n"),
    "constant": ("def f(x):\n    return g(x, deep=True)\n", "def f(x):\n    return g(x, deep=False)\n"),
    "negation": ("def f(x):\n    if x.empty():\n        return 1\n", "def f(x):\n    if not x.empty():\n        return 1\n"),
    "condition": ("def f(x):\n    if x:\n        return 1\n", "def f(x):\n    if x is not None:\n        return 1\n"),
    "name": ("def f(left, right):\n    return left + left\n", "def f(left, right):\n    return left + right\n"),
    "attribute": ("def f(x):\n    return x.lstrip()\n", "def f(x):\n    return x.rstrip()\n"),
    "callee": ("def f(x):\n    return min(x)\n", "def f(x):\n    return max(x)\n"),
    "arguments": ("def f(a, b):\n    return g( b,  a )\n", "def f(a, b):\n    return g( a,  b )\n"),
    "argument": ("def f(a, b):\n    return g(a, b)\n", "def f(a, b):\n    return g(a)\n"),
    "added": ("def f(x):\n    return sorted(x)\n", "def f(x):\n    return sorted(x, reverse=True)\n"),
    "unwrapped": ("def f(x):\n    return str(x)\n", "def f(x):\n    return x\n"),
    "branches": ("def f(x):\n    return 1 if x else 2\n", "def f(x):\n    return 2 if x else 1\n"),
    "regroup": ("def f(a, b, c):\n    return a + b * c\n", "def f(a, b, c):\n    return (a + b) * c\n"),
    "sign": ("def f(x, n):\n    return x[n:]\n", "def f(x, n):\n    return x[-n:]\n"),
    "slice": ("def f(x, n):\n    return x[1:n]\n", "def f(x, n):\n    return x[1:]\n"),
    "assignment": ("def f(xs):\n    n = 0\n    for x in xs: n = x\n", "def f(xs):\n    n = 0\n    for x in xs: n += x\n"),
    "exception": ("def f(x):\n    try:\n        g()\n    except KeyError:\n        pass\n",
                  "def f(x):\n    try:\n        g()\n    except IndexError:\n        pass\n"),
    "flow": ("def f(xs):\n    for x in xs:\n        if x: break\n", "def f(xs):\n    for x in xs:\n        if x: continue\n"),
    "return": ("def f(x):\n    out = [x]\n    out.sort()\n", "def f(x):\n    out = [x]\n    out.sort()\n    return out\n"),
    "removed": ("def f(x):\n    x.clear()\n    return x\n", "def f(x):\n    pass\n    return x\n"),
    "order": ("def f(x):\n    a()\n    b()\n    return x\n", "def f(x):\n    b()\n    a()\n    return x\n"),
    "nesting": ("def f(xs):\n    for x in xs:\n        g(x)\n        return x\n",
                "def f(xs):\n    for x in xs:\n        g(x)\n    return x\n"),
    "nested": ("def f(x):\n    if x:\n        g(x)\n    x = 1\n    return x\n",
               "def f(x):\n    if x:\n        g(x)\n        x = 1\n    return x\n"),
    "base": ("def f(n):\n    return n * f(n - 1)\n", "def f(n):\n    if n <= 1:\n        return 1\n    return n * f(n - 1)\n"),
}  # fmt: skip


KNOWN = {
    "names in the wrong order": ("def f(t):\n    a, c, b = t.split()\n    return a, b, c\n",
                                 "def f(t):\n    a, b, c = t.split()\n    return a, b, c\n"),
    "a parameter that is read and never bound": (
        "def f(left, other):\n    return left + right\n", "def f(left, right):\n    return left + right\n"),
    "what a function takes and does not hand on": (
        "def f(*args, **kwargs):\n    return g(*args)\n", "def f(*args, **kwargs):\n    return g(*args, **kwargs)\n"),
    "a comparison of another method": (
        ("class A:\n    def lt(self, other):\n        return self.cmp(other) < 0\n\n"
        "    def eq(self, other):\n        pass\n"),
        ("class A:\n    def lt(self, other):\n        return self.cmp(other) < 0\n\n"
        "    def eq(self, other):\n        return self.cmp(other) == 0\n")),
    "a function that takes what is here": (
        "def g(x, y, z=1):\n    return x\n\n\ndef f(x, y):\n    pass\n",
        "def g(x, y, z=1):\n    return x\n\n\ndef f(x, y):\n    return g(x, y)\n"),
    "a question about a text": (
        "def f(x):\n    if x:\n        return 1\n", "def f(x):\n    if x.isdigit():\n        return 1\n"),
    "a call of an operand": (
        "def g(x):\n    return x\n\n\ndef f(a, b):\n    return a or b\n",
        "def g(x):\n    return x\n\n\ndef f(a, b):\n    return g(a) or b\n"),
    "a None for what is empty": ("def f(x):\n    y = x.z\n    return y\n", "def f(x):\n    y = (x.z or None)\n    return y\n"),
    "a name that is read and never bound": (
        "def f(xs):\n    for xs in xs:\n        print(item)\n", "def f(xs):\n    for item in xs:\n        print(item)\n"),
    "the member of the same owner elsewhere": (
        "def f(m, s):\n    return m.find(s)\n\n\ndef g(m, s):\n    return m.tell(s)\n",
        "def f(m, s):\n    return m.tell(s)\n\n\ndef g(m, s):\n    return m.tell(s)\n"),
    "the method's own name": (
        "class A(B):\n    def size(self):\n        return super().other\n",
        "class A(B):\n    def size(self):\n        return super().size\n"),
    "the owner that has the member": (
        "class A:\n    def f(self, other):\n        self.n = 1\n        return other.n + other.n\n",
        "class A:\n    def f(self, other):\n        self.n = 1\n        return self.n + other.n\n"),
    "a misspelt word": (
        "def f(d):\n    return d['athority']\n\n\nauthority = 1\n", "def f(d):\n    return d['authority']\n\n\nauthority = 1\n"),
    "what the class reads and nothing stores": (
        "class A:\n    def __init__(self, n):\n        pass\n\n    def f(self):\n        return self._n\n",
        "class A:\n    def __init__(self, n):\n        self._n = n\n\n    def f(self):\n        return self._n\n"),
    "a statement of a function of the same form": (
        "def left(a, n):\n    return a[:n]\n\n\ndef f(b, k):\n    pass\n",
        "def left(a, n):\n    return a[:n]\n\n\ndef f(b, k):\n    return b[:k]\n"),
    "one word of the function's name": (
        "def is_lower(s):\n    return s.islower()\n\n\ndef is_upper(s):\n    pass\n",
        "def is_lower(s):\n    return s.islower()\n\n\ndef is_upper(s):\n    return s.isupper()\n"),
    "what makes a name that is lost of what nobody reads": (
        "def g(x):\n    y = iter(x)\n    return y\n\n\ndef f(keys):\n    pass\n    return next(ks)\n",
        "def g(x):\n    y = iter(x)\n    return y\n\n\ndef f(keys):\n    ks = iter(keys)\n    return next(ks)\n"),
    "a call that stands in the function": (
        "def f(x):\n    if x:\n        pass\n    y = next(x)\n",
        "def f(x):\n    if x:\n        return next(x)\n    y = next(x)\n"),
    "what a method of the last value gives": (
        "def g(x):\n    return x.lower()\n\n\ndef f(text):\n    if text:\n        text = text + 'a'\n    pass\n",
        "def g(x):\n    return x.lower()\n\n\ndef f(text):\n    if text:\n        text = text + 'a'\n    return text.lower()\n"),
    "a member of the class that bears its name": (
        ("class A:\n    class _Timer:\n        def copy(self):\n            return A._Timer(self.x)\n\n"
        "    def __init__(self, timer):\n        pass\n\n    def f(self):\n        return self.timer\n"),
        ("class A:\n    class _Timer:\n        def copy(self):\n            return A._Timer(self.x)\n\n"
        "    def __init__(self, timer):\n        self.timer = A._Timer(timer)\n\n    def f(self):\n        return self.timer\n")),
    "a member that the file asks for": (
        "def f(x):\n    if hasattr(x, 'size'):\n        y = x\n    return y\n",
        "def f(x):\n    if hasattr(x, 'size'):\n        y = x.size()\n    return y\n"),
    "a condition of another function about another name": (
        "def g(n):\n    if n > len(X):\n        return 1\n\n\ndef f(at):\n    if at is None:\n        return 2\n\n\nX = []\n",
        ("def g(n):\n    if n > len(X):\n        return 1\n\n\ndef f(at):\n    if at is None or at > len(X):\n"
        "        return 2\n\n\nX = []\n")),
    "an argument in the middle": (
        "def f(a, b, c):\n    return g(a, c)\n", "def f(a, b, c):\n    return g(a, b, c)\n"),
    "an iteration over a number": (
        "def f(n):\n    return [i for i in n]\n", "def f(n):\n    return [i for i in range(n)]\n"),
    "out of the last block of several": (
        "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n        z = y\n    return z\n",
        "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    z = y\n    return z\n"),
    "into a function": (
        "def f():\n    def g(x):\n        x += 1\n    return x\n    return g\n",
        "def f():\n    def g(x):\n        x += 1\n        return x\n    return g\n"),
    "an exception around its text": (
        "def f(x):\n    if x:\n        raise 'no'\n", "def f(x):\n    if x:\n        raise ValueError('no')\n"),
    "an exception around a text that is filled in": (
        "class No(ValueError):\n    pass\n\n\ndef f(x):\n    if x:\n        raise f'no {x}'\n    raise No('x')\n",
        "class No(ValueError):\n    pass\n\n\ndef f(x):\n    if x:\n        raise No(f'no {x}')\n    raise No('x')\n"),
    "what a member is made longer by": (
        ("class A:\n    def f(self, data):\n        if data:\n            pass\n\n"
        "    def g(self):\n        return self.held\n"),
        ("class A:\n    def f(self, data):\n        if data:\n            self.held += data\n\n"
        "    def g(self):\n        return self.held\n")),
    "a private function that no plan calls": (
        "def _g(x):\n    return x\n\n\ndef f(x):\n    return x, x\n",
        "def _g(x):\n    return x\n\n\ndef f(x):\n    return x, _g(x)\n"),
    "a statement that is a member and not its call": (
        "class A:\n    def f(self):\n        self\n        return 1\n\n    def g(self):\n        return 2\n",
        "class A:\n    def f(self):\n        self.g()\n        return 1\n\n    def g(self):\n        return 2\n"),
    "a function of the module that takes one argument": (
        "def g(x):\n    return x\n\n\ndef f(x):\n    return x\n",
        "def g(x):\n    return x\n\n\ndef f(x):\n    return g(x)\n"),
    "a text that another call is given": (
        "def g(x):\n    return x.encode('utf-8')\n\n\ndef f(kind, x):\n    return kind(x)\n",
        "def g(x):\n    return x.encode('utf-8')\n\n\ndef f(kind, x):\n    return kind(x, 'utf-8')\n"),
    "an argument that a function of the module makes": (
        "def g(x):\n    return x\n\n\ndef f(x):\n    return '{}{}'.format(x)\n",
        "def g(x):\n    return x\n\n\ndef f(x):\n    return '{}{}'.format(x, g(x))\n"),
    "what a codec does with what it cannot say": (
        "def f(x):\n    return x.encode('ascii')\n", "def f(x):\n    return x.encode('ascii', 'ignore')\n"),
    "a call of a member of a module": (
        "import c\n\n\ndef g():\n    return c.D()\n\n\ndef f():\n    x = c\n    return x\n",
        "import c\n\n\ndef g():\n    return c.D()\n\n\ndef f():\n    x = c.D()\n    return x\n"),
    "two cases in the other order": (
        "def f(x):\n    if x > 1:\n        return 1\n    elif x > 2:\n        y = 2\n        return y\n    return 3\n",
        "def f(x):\n    if x > 2:\n        y = 2\n        return y\n    elif x > 1:\n        return 1\n    return 3\n"),
    "an operand of another class": (
        "class A:\n    def __eq__(self, other):\n        return self.n == other.n\n",
        ("class A:\n    def __eq__(self, other):\n        if not isinstance(other, A):\n            return NotImplemented\n"
        "        return self.n == other.n\n")),
    "a guard of another function": (
        "def g(x):\n    if x < 0: raise ValueError('no')\n    return x\n\n\ndef f(x):\n    y = x\n    return y + 1\n",
        ("def g(x):\n    if x < 0: raise ValueError('no')\n    return x\n\n\ndef f(x):\n"
        "    if x < 0:\n        raise ValueError('no')\n    y = x\n    return y + 1\n")),
    "a guard": (
        "def f(x):\n    return x.y\n", "def f(x):\n    if x is None:\n        return None\n    return x.y\n"),
}  # fmt: skip


FAULTS |= {
    "widened": ("def f(x):\n    return isinstance(x, str)\n", "def f(x):\n    return isinstance(x, (str, bytes))\n"),
    "lookup": ("def f(d, k):\n    return d[k]\n", "def f(d, k):\n    return d.get(k)\n"),
    "guarded": ("def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
        "def f(xs):\n    n = 0\n    for x in xs:\n        if x is None:\n            continue\n        n += x\n    return n\n"),
    "lost": ("def f(x):  # c\n    for one in x:\n        n += (one)\n    return n\n",
             "def f(x):  # c\n    n = 0\n    for one in x:\n        n += (one)\n    return n\n"),
    "inserted": ("class A:\n    def f(self):\n        self.do()\n        n = 1\n\n    def g(self):\n        n = 2\n",
        "class A:\n    def f(self):\n        self.do()\n        n = 1\n\n    def g(self):\n        self.do()\n        n = 2\n"),
}  # fmt: skip
FAULTS["pattern"] = (
    'import re\n\n\ndef f(x):\n    return re.match(r"\\d[a-z]", x)\n',
    'import re\n\n\ndef f(x):\n    return re.match(r"\\d[a-z]+", x)\n',
)


def test_a_lost_import_comes_from_another_file_or_the_standard_library() -> None:
    """E7: an error that names what is not defined; whatever the coverage says of the head of the file."""
    rows = [{"path": "f.py", "line": 2, "score": 1.0}]
    for name, others, wanted in (
        ("json", (), "import json\n"), ("reduce", (), "from functools import reduce\n"),
        ("shape", (("g.py", "from .kinds import shape\n"),), "from .kinds import shape\n"),
    ):  # fmt: skip
        text = f"import os\ndef f(x):\n    return {name}(os, x)\n"
        found = propose(
            text, "f.py", rows, [], 50, f"NameError: name '{name}' is not defined", 3, others
        )
        assert wanted + text in [after(text, row) for row in found[:8]]


def test_what_failing_tests_say_is_put_in_place() -> None:
    """A mark of a test's text that a set leaves out, a text that is compared, the exception that a test wants."""
    rows = [{"path": "f.py", "line": 5, "score": 1.0}]
    for said, line, wanted in (
        ("test_f[a:/b#c]", 'return re.match(r"[/?]x", x)', 'return re.match(r"[/?#]x", x)'),
        (">       assert f('tar')", "return x == 'zip'", "return x in ('zip', 'tar')"),
        ("with pytest.raises(Own):", "raise KeyError(x)", "raise Own(x)"),
    ):
        text = f"import re\nclass Own(ValueError):\n    pass\ndef f(x):\n    {line}\n"
        found = [
            [after(text, row) for row in propose(text, "f.py", rows, [], 60, told=told)]
            for told in (said, "")
        ]
        text = text.replace(line, wanted)
        said_so, unsaid = ([*texts, text].index(text) for texts in found)
        assert said_so < unsaid, (wanted, said_so, unsaid)


@pytest.mark.parametrize(
    ("faulty", "message", "text"),
    [
        ("'{} 10{}'", "AssertionError: assert '1.5 1010' == '1.5 x 1010'", "'{} x 10{}'"),
        ("' and so'", "AssertionError: 'a, b and so' != 'a, b and so on'", "' and so on'"),
        ("'] '", "assert '[aA] ' == '[aA]'", "']'"),
    ],
)
def test_a_text_is_mended_by_the_comparison_that_failed(
    faulty: str, message: str, text: str
) -> None:
    """E7: what stands in one side of the comparison and not in the other is put in or taken out where its neighbours are."""
    source = f"def f(x, y):\n    return {faulty}.format(x, y)\n"
    rows = propose(source, "m.py", [{"path": "m.py", "line": 2, "score": 1.0}], [], 400, message)
    assert text in {row["new"] for row in rows}
    unlike = propose(source, "m.py", [{"path": "m.py", "line": 2, "score": 1.0}], [], 400, "1 != 2")
    assert len(rows) >= len(unlike)


def test_a_constant_is_as_suspect_as_who_reads_it_and_a_type_is_never_edited() -> None:
    """E7, E17: a table of the module runs before any test does; an annotation cannot matter."""
    text = "LIMITS = (1, 7)\n\n\ndef f(x: int = 3) -> str:\n    return x in LIMITS\n"
    found = propose(text, "f.py", [{"path": "f.py", "line": 5, "score": 1.0}], [], 500)
    assert text.replace("7", "8") in [after(text, row) for row in found]
    assert all("-> str" in after(text, row) and "x: int" in after(text, row) for row in found)


def candidates(
    source: str, limit: int = 10_000, tried: tuple[str, ...] = (), lines: range | None = None
) -> list[dict]:
    numbers = lines or range(1, source.count("\n") + 2)
    return propose(
        source,
        "pkg/f.py",
        [{"path": "pkg/f.py", "line": n, "score": 0.8} for n in numbers],
        [*tried],
        limit,
    )


def after(source: str, row: dict) -> str:
    return apply_patch(source, row["diff"], region=parse_region(row["affected_region"])).text


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"import"}))
def test_each_kind_of_fault_is_found_in_place(kind: str) -> None:
    """HYP-20: white space, comments and parentheses stay; the candidate says which relation it alters."""
    broken, wanted = FAULTS[kind]
    row = next((row for row in candidates(broken) if after(broken, row) == wanted), None)
    assert row is not None
    assert {"type": KINDS[kind].relation, "operation": KINDS[kind].operation} == row[
        "structural_change"
    ]
    assert row["key"].startswith(f"{kind}-")


@pytest.mark.parametrize("what", KNOWN)
def test_what_scope_class_and_file_know_is_proposed(what: str) -> None:
    """Issue 6: real faults are wrong names and members and things forgotten; a file holds most of what repairs them."""
    broken, wanted = KNOWN[what]
    assert wanted in {after(broken, row) for row in candidates(broken)}


def test_what_the_file_says_elsewhere_is_likelier_and_one_not_of_two_is_no_negation() -> None:
    """The twos and threes of tokens that an edit makes; `not not x` is odd, and an edit that mends it drops no guard."""
    text = "def g(n):\n    return n == 1 or n == 2\n\n\ndef f(n):\n    if not not n >= 3:\n        return n\n"
    rows = {after(text, row): row for row in candidates(text)}
    alike, mended = (text.replace(*one) for one in ((">=", "=="), ("not not", "not")))
    assert rows[alike]["likelier"] > 0 > rows[text.replace(">=", "!=")]["likelier"] - 0.01
    assert rows[mended]["mends"] and not rows[mended]["risky"]
    assert any(row["risky"] for row in candidates(text.replace("not not", "not")) if row["kind"] == "negation")  # fmt: skip


@pytest.mark.parametrize(
    ("message", "line", "turned"),
    [("TypeError: object of type 'int' has no len()", 3, True), ("TypeError: no", 5, False), ("ValueError: no", 3, False)],
)  # fmt: skip
def test_a_guard_that_lets_in_what_it_should_keep_out_is_turned(
    message: str, line: int, turned: bool
) -> None:
    """A value of the wrong type fails in the guarded block: its negation drops no guard. Nor is a question ever None."""
    text = "def f(x):\n    if not isinstance(x, list):\n        return len(x)\n    y = x\n    return y\n"
    rows = [{"path": "f.py", "line": 2, "score": 1.0}]
    found = {after(text, row): row for row in propose(text, "f.py", rows, [], 500, message, line)}
    row = found[text.replace("not ", "")]
    assert (row["risky"], row["mends"]) == (not turned, turned)
    assert not any("list) is None" in one for one in found)


def test_the_first_errors_message_weighs_edits() -> None:
    """The name that is not defined is exchanged first, where else an operator would be."""
    source = "def f(left, right):\n    return lefd < right\n"
    suspects = [{"path": "f.py", "line": 2, "score": 1.0}]
    first = propose(source, "f.py", suspects, [], 1, "NameError: name 'lefd' is not defined", 2)[0]
    assert (
        "left < right" in first["diff"]
        and "lefd <= right" in propose(source, "f.py", suspects, [], 1)[0]["diff"]
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"import"}))
@pytest.mark.parametrize(("end", "bom"), [("\r\n", ""), ("\n", "\ufeff")])
def test_other_line_ends_and_columns_in_bytes_change_nothing(kind: str, end: str, bom: str) -> None:
    """Positions of the syntax tree are bytes of UTF-8; the file is not."""
    broken, wanted = (f"{bom}é = '→𝄞'; é = 1\n{text}".replace("\n", end) for text in FAULTS[kind])
    assert wanted in {after(broken, row) for row in candidates(broken)}


def test_a_special_method_gives_the_type_that_python_asks_for_first() -> None:
    """`list(x)` in `__str__`: of all functions the one that makes a text comes first, as the value and around it."""
    for broken in ("return list(self.x)", "return self.x"):
        text = f"class A:\n    def __str__(self):\n        {broken}\n"
        called = [row for row in candidates(text) if row["kind"] in ("callee", "wrapped")]
        assert text.replace(broken, "return str(self.x)") == after(text, called[0])


def test_an_error_that_names_a_type_has_that_types_members_proposed() -> None:
    text = "def f(x):\n    return x.group()\n"
    suspects, wanted = (
        [{"path": "f.py", "line": 2, "score": 1.0}],
        text.replace("group", "capitalize"),
    )
    for message, found in (
        ("AttributeError: 'str' object has no attribute 'group'", True),
        ("", False),
    ):
        rows = propose(text, "f.py", suspects, [], 500, message, 2)
        assert found == (wanted in [after(text, row) for row in rows])


@pytest.mark.parametrize("line", ["if a is b:", "if a or b:", "if a - b:", "a = b"])
def test_no_edit_puts_a_value_against_itself(line: str) -> None:
    """`not a is a` passes where a guard has to go, and is none that a person writes; what stands so can be edited."""
    more = "\n        return 1\n" if line[-1] == ":" else "\n    return a\n"
    text = f"def f(a, b):\n    {line}{more}"
    said = {after(text, row) for row in candidates(text)}
    twin = text.replace(line, "a".join(line.rsplit("b", 1)))
    assert said and twin not in said and text in {after(twin, row) for row in candidates(twin)}


@pytest.mark.long
def test_candidates_are_whole_hypotheses() -> None:
    """HYP-01, 06, 15, 20, 26: fields, a region that holds the edit, no claim or edit twice, at least two rivals, best first."""
    source = (PACKS / "repair/patch/unified_diff.py").read_text("utf-8")
    found = candidates(source, 200, lines=range(20, 130))
    fields = {"claim", "affected_region", "expected_effect", "interpretation", "explanation", "structural_change", "intent",
              "confidence", "diff", "key", "pieces", "kind", "old", "new", "risky", "mends", "likelier", "score"}  # fmt: skip
    tree = ast.dump(ast.parse(source))
    texts = set()
    for row in found:
        assert fields == row.keys() - {"stands"}
        assert (
            row["affected_region"]["kind"] in REGIONS
            and row["interpretation"] != row["explanation"]
        )
        assert row["structural_change"]["type"] in (
            "grouping",
            "nesting",
            "ordering",
            "scope",
            "ownership",
        )
        text = after(source, row)
        assert ast.dump(ast.parse(text)) != tree
        texts.add(text)
    assert (
        200
        == len(found)
        == len(texts)
        == len({row["key"] for row in found})
        == len({row["claim"] for row in found})
    )
    assert [row["confidence"] for row in found] == sorted(
        (row["confidence"] for row in found), reverse=True
    )
    assert 20 < len(
        {tuple(row["affected_region"].values()) for row in found[:40]}
    )  # broad before deep


def test_what_a_function_takes_is_handed_on_in_the_same_order() -> None:
    text = "class A:\n    def put(self, name, value):\n        return prop.put(name)\n"
    text += "\n    def h(self, value):\n        return k(value, 1)\n"
    worth = {row["new"]: row["score"] for row in candidates(text) if row["kind"] == "added"}
    assert 0.6 * worth["prop.put(name, value)"] > worth["prop.put(value, name)"] > 0


def test_what_was_tried_is_not_proposed_again_even_where_it_has_moved() -> None:
    source = FAULTS["arithmetic"][0]
    every = candidates(source)
    keys = tuple(row["key"] for row in every)
    assert [] == candidates(source, tried=keys)
    assert [] == [row for row in candidates(f"import os\n\n{source}") if row["key"] not in keys]
    assert every[1:] == candidates(source, tried=keys[:1])
    assert every[:2] == candidates(source, 2)


def test_lines_that_no_failing_test_runs_are_left_alone() -> None:
    source = textwrap.dedent("""\
        def f(a, b=1):
            if a < b:
                return a - 1
            return b - 1
        """)
    found = candidates(source, lines=range(3, 4))
    assert {3} == {
        row["affected_region"]["first"]
        for row in found
        if not row["claim"].startswith("pkg/f.py:1:")
    }
    assert any(
        "`1`" in row["claim"] for row in found if row["claim"].startswith("pkg/f.py:1:")
    )  # a default: suspect by its body
    assert [] == propose(source, "pkg/f.py", [{"path": "pkg/g.py", "line": 3, "score": 1.0}], [], 9)
    assert [] == propose(source, "pkg/f.py", [], [], 9)


def test_what_is_nested_too_deep_to_be_run_is_suspect_by_its_block() -> None:
    source = "def f(x):\n    y = x\n    if x:\n        y += 1\n        return y\n"
    wanted = source.replace("        return", "    return")
    assert wanted in {after(source, row) for row in candidates(source, lines=range(2, 4))}


def test_the_more_suspect_of_two_like_lines_comes_first() -> None:
    source = "def f(a, b):\n    x = a < b\n    y = a < b\n    return x, y\n"
    rows = [{"path": "f.py", "line": 3, "score": 0.9}, {"path": "f.py", "line": 2, "score": 0.3}]
    assert 3 == propose(source, "f.py", rows, [], 1)[0]["affected_region"]["first"]


def test_regions_are_as_small_as_what_they_name() -> None:
    """HYP-15: a lambda's body, a conditional expression, a call: the kinds that a region may have."""
    source = "def f(xs, key=lambda x: x < 1):\n    return g(\n        xs,\n        1 if xs else 2,\n    )\n"
    kinds = {row["affected_region"]["kind"]: row["affected_region"] for row in candidates(source)}
    assert {
        "lambda_body",
        "conditional_expression",
        "enclosing_call_expression",
        "statement_boundary",
    } == kinds.keys()
    assert (4, 4) == (
        kinds["conditional_expression"]["first"],
        kinds["conditional_expression"]["last"],
    )


@settings(max_examples=40)
@given(st.data())
def test_no_text_makes_it_stumble(data: st.DataObject) -> None:
    """Python with holes, with strange lines, and no Python at all: candidates that apply, or none."""
    source = (PACKS / "repair/localise.py").read_text("utf-8")[-1500:]
    start = data.draw(st.integers(0, len(source)))
    cut = source[data.draw(st.integers(0, start)) :][: data.draw(st.integers(0, 600))]
    others = [cut, cut.replace("\n", "\r"), cut.replace("    ", "\t"), f"{cut}\x0c\n", f"({cut})"]
    text = data.draw(st.sampled_from(others) | st.text())
    for row in candidates(text, 5):
        assert text != after(text, row)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"import"}))
def test_each_kind_is_a_structural_change_as_the_gate_wants_it(kind: str) -> None:
    """HYP-20, 21: the proposer's own words pass the gate that models' answers must pass."""
    change = {"type": KINDS[kind].relation, "operation": KINDS[kind].operation}
    assert "" == gates.proposal({"intent": KINDS[kind].intent, "structural_change": change})
