"""What an error names is put right: imports, definitions, words of another language, a lost `self`; and lost calls."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair import embedded, loop
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import edited
from fdc_packs.repair.patch.patch import apply_patch
from fdc_packs.repair.patch.region import parse_region

from tests.support.repair_states import opened

_CLASS = "class Cart:\n    def total(self):\n        return 1\n\n    def names(self):\n        return self.total()\n"
_AWAIT = "async def g(x):\n    return x\n\n\nasync def f(x):\n    return await g(x)\n"
NAMED = {
    "a misspelt module": (
        "import ree\n\nX = ree.compile('a')\n", "import re as ree\n\nX = ree.compile('a')\n",
        "ModuleNotFoundError: No module named 'ree'"),
    "a misspelt module that the file names otherwise": (
        "import ree\n\nX = re.compile('a')\n", "import re\n\nX = re.compile('a')\n",
        "ModuleNotFoundError: No module named 'ree'"),
    "a misspelt module with members": (
        "from colections import OrderedDict\n", "from collections import OrderedDict\n",
        "ModuleNotFoundError: No module named 'colections'"),
    "a misspelt member of a module": (
        "from collections import OrderdDict\n\nX = OrderedDict()\n", "from collections import OrderedDict\n\nX = OrderedDict()\n",
        "ImportError: cannot import name 'OrderdDict' from 'collections' (/usr/lib/python3)"),
    "a misspelt module of the workspace": (
        "from .helprs import one\n", "from .helpers import one\n", "ModuleNotFoundError: No module named 'shop.helprs'"),
    "a misspelt member of a file": (
        "from helpers import thre\n\nX = three()\n", "from helpers import three\n\nX = three()\n",
        "ImportError: cannot import name 'thre' from 'helpers' (/w/helpers.py)"),
    "a misspelt function": (
        "def clmp(x):\n    return x\n", "def clamp(x):\n    return x\n",
        "ImportError: cannot import name 'clamp' from 'shop' (/w/shop.py)"),
    "a misspelt method": (
        _CLASS.replace("def names", "def nmes"), _CLASS, "AttributeError: 'Cart' object has no attribute 'names'"),
    "a word of another language": (
        "def f(x, limit=true):\n    return x\n", "def f(x, limit=True):\n    return x\n",
        "NameError: name 'true' is not defined"),
    "a misspelt name outside of functions": (
        "LIMIT = 3\nTWICE = 2 * LIMT\n", "LIMIT = 3\nTWICE = 2 * LIMIT\n", "NameError: name 'LIMT' is not defined"),
    "a name that is bound in place of another": (
        "ROWS = [(1, 2)]\n\n\ndef f():\n    if ROWS:\n        pass\n    for ROWS, b in [(1, 2)]:\n        return a + b\n",
        "ROWS = [(1, 2)]\n\n\ndef f():\n    if ROWS:\n        pass\n    for a, b in [(1, 2)]:\n        return a + b\n",
        "UnboundLocalError: cannot access local variable 'ROWS' where it is not associated with a value"),
    "a misspelt way to handle errors of an encoding": (
        "def f(x):\n    return x.encode('ascii', 'inore')\n", "def f(x):\n    return x.encode('ascii', 'ignore')\n",
        "LookupError: unknown error handler name 'inore'"),
    "a misspelt encoding": (
        "def f(x):\n    return x.encode('utf8-sg')\n", "def f(x):\n    return x.encode('utf-8-sig')\n",
        "LookupError: unknown encoding: utf8-sg"),
    "a lost self": (
        _CLASS.replace("def total(self)", "def total()"), _CLASS,
        "TypeError: Cart.total() takes 0 positional arguments but 1 was given"),
    "a lost self before a parameter": (
        _CLASS.replace("total(self)", "total(count)"), _CLASS.replace("total(self)", "total(self, count)"),
        "TypeError: Cart.total() takes 1 positional argument but 2 were given"),
}  # fmt: skip
LOST = {
    "await of a function of the file": (_AWAIT.replace("await ", ""), _AWAIT, "AssertionError"),
    "await that the error speaks of": (
        "async def f(x):\n    n = x.size() + 1\n    return n\n", "async def f(x):\n    n = await x.size() + 1\n    return n\n",
        "TypeError: unsupported operand type(s) for +: 'coroutine' and 'int'"),
    "self before a call": (
        _CLASS.replace("return self.total()", "return total()"), _CLASS, "NameError: name 'total' is not defined"),
    "self before what is stored": (
        "class A:\n    def __init__(self, n):\n        n = n\n\n    def f(self):\n        return self.n\n",
        "class A:\n    def __init__(self, n):\n        self.n = n\n\n    def f(self):\n        return self.n\n",
        "AttributeError: 'A' object has no attribute 'n'"),
    "the call of a member": (
        "def f(d):\n    return sorted(d.keys)\n\n\ndef g(d):\n    return list(d.keys())\n",
        "def f(d):\n    return sorted(d.keys())\n\n\ndef g(d):\n    return list(d.keys())\n",
        "TypeError: 'builtin_function_or_method' object is not iterable"),
    "an assignment": ("def f(x):\n    n == 0\n    return n\n", "def f(x):\n    n = 0\n    return n\n", "NameError"),
    "the order of parameters": ("def f(b, a):\n    return a - b\n", "def f(a, b):\n    return a - b\n", "AssertionError"),
    "the exception that was raised": (
        "def f(x):\n    try:\n        return 1 / x\n    except ValueError:\n        return 0\n",
        "def f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError:\n        return 0\n",
        "ZeroDivisionError: division by zero"),
    "a member as the argument": (
        "class A:\n    def f(self, x):\n        y = self.n\n        return x.find()\n",
        "class A:\n    def f(self, x):\n        y = self.n\n        return x.find(self.n)\n", "AssertionError"),
    "a parameter that is called": (
        "def f(key, x):\n    y = key\n    return any(x)\n", "def f(key, x):\n    y = key\n    return key(x)\n", "AssertionError"),
    "a lost raise": (
        "def f(x):\n    if x:\n        pass\n    return x\n", "def f(x):\n    if x:\n        raise TypeError\n    return x\n",
        "Failed: DID NOT RAISE <class 'TypeError'>"),
    "a comparison of the next member": (
        "class A:\n    def f(self, o):\n        g(self.y)\n        return self.x == o.x\n",
        "class A:\n    def f(self, o):\n        g(self.y)\n        return self.x == o.x and self.y == o.y\n", "AssertionError"),
    "a parameter that no condition asks": (
        "def f(x, deep):\n    if x:\n        return 1\n", "def f(x, deep):\n    if x and not deep:\n        return 1\n",
        "AssertionError"),
    "the module that has the member": (
        "import re\n\n\ndef f(x, y):\n    z = y\n    return y.compile(x)\n",
        "import re\n\n\ndef f(x, y):\n    z = y\n    return re.compile(x)\n", "AssertionError"),
    "a call of an item": (
        "def f(x):\n    return [x]\n\n\ndef g(x):\n    return int(x)\n",
        "def f(x):\n    return [int(x)]\n\n\ndef g(x):\n    return int(x)\n",
        "AssertionError"),
    "a member by a key": (
        "class A:\n    def f(self, k):\n        return self.d[k]\n\n    def g(self, k):\n        pass\n        h(s)\n",
        "class A:\n    def f(self, k):\n        return self.d[k]\n\n    def g(self, k):\n        s = self.d[k]\n        h(s)\n",
        "NameError: name 's' is not defined"),
    "the caught exception": (
        "def f(x):\n    try:\n        g(x)\n    except KeyError as e:\n        h(e)\n        raise No(x)\n",
        "def f(x):\n    try:\n        g(x)\n    except KeyError as e:\n        h(e)\n        raise No(e)\n", "AssertionError"),
}  # fmt: skip
OTHERS = (("shop/helpers.py", "def one():\n    pass\n"), ("helpers.py", "def three():\n    pass\n"))
FIRST = {"named": 3, "lost": 120}
"""How early the repair comes: what an error names is among the first, the rest within a part of the budget."""


@pytest.mark.parametrize(
    ("group", "what"), [("named", one) for one in NAMED] + [("lost", one) for one in LOST]
)
def test_what_is_named_or_lost_is_proposed_early(group: str, what: str) -> None:
    broken, wanted, message = (NAMED if group == "named" else LOST)[what]
    suspects = [
        {"path": "x.py", "line": line, "score": 0.5} for line in range(1, broken.count("\n") + 1)
    ]
    rows = propose(broken, "x.py", suspects, [], 400, message, 0, OTHERS)
    made = [edited(broken, tuple((a, b, c) for a, b, c in row["pieces"])) for row in rows]
    assert wanted in made[: FIRST[group]], made[:6]


def test_what_no_error_names_is_left_alone() -> None:
    """The edits of this table cost nothing where no error asks for them."""
    text = "import re\n\n\ndef f(x):\n    return re.sub('a', 'b', x)\n"
    suspects = [{"path": "x.py", "line": line, "score": 0.5} for line in range(1, 6)]
    rows = propose(text, "x.py", suspects, [], 400, "AssertionError: 1 != 2", 0, OTHERS)
    assert rows and all(row["affected_region"]["first"] > 2 for row in rows)


def test_a_line_that_becomes_like_the_next_one_is_changed_where_it_stands() -> None:
    """The diff put the new line behind the next one, outside of its region, and the patch was refused."""
    text = "def f(a, b):\n    h(a)\n    return b\n    return a\n"
    rows = propose(text, "x.py", [{"path": "x.py", "line": 3, "score": 1.0}], [], 400)
    [row] = [one for one in rows if (one["old"], one["new"]) == ("b", "a")]
    region = parse_region(row["affected_region"])
    made = apply_patch(text, row["diff"], region=region)
    assert text.replace("return b", "return a") == made.text


@pytest.mark.parametrize(("verdict", "sole"), [("passes", True), ("helps", False)])
def test_the_only_edit_needs_no_rival_where_it_passed_in_memory(verdict: str, sole: bool) -> None:
    """`import ree` has one repair: it was found, passed, and was refused for want of a second hypothesis."""
    state = opened()
    failure = {**state["failure"], "message": "ModuleNotFoundError: No module named 'ree'"}
    suspects = [{"path": "x.py", "line": 1, "score": 1.0}]
    context = {"sources": {"x.py": "import ree\n"}, "suspects": suspects, "why": ""}
    rows = [one for one in embedded.candidates(context, [], failure) if one["new"] == "re as ree"]
    others = [one for one in embedded.candidates(context, [], failure) if one not in rows]
    probed = {"verdicts": {rows[0]["key"]: verdict}}
    answer = embedded.diagnose(
        failure, context, probed=probed, tried=[one["key"] for one in others]
    )
    assert sole is answer["sole"]
    assert (["H001"] if sole else []) == loop.admit(state, answer)["ids"]


def test_where_all_that_was_tried_in_memory_was_in_vain_few_others_are_patched() -> None:
    """The rest could not be tried so; each of them takes a run of the command."""
    text = "def f(xs):\n    return xs[0]\n"
    suspects = [{"path": "f.py", "line": 2, "score": 0.8}]
    context: Any = {"suspects": suspects, "sources": {"f.py": text}}
    failure: Any = {"message": "IndexError: x", "path": "", "line": 0}
    known = [{"status": "archived"}] * embedded.BATCH

    def exhausted(count: int, earlier: int) -> bool:
        probed: Any = {"verdicts": {}, "earlier": earlier}
        answer = embedded.diagnose(failure, context, known=known[:count], probed=probed)
        return answer["hypotheses"] == [] and answer["exhausted"] is True

    assert exhausted(embedded.BATCH, 900)
    assert not exhausted(embedded.BATCH - 1, 900), "some are"
    assert not exhausted(embedded.BATCH, 0), (
        "nothing could be tried in memory: there is no other way"
    )
