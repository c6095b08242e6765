"""What a forgotten statement was where nothing stands in its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import edited

from tests.support import process

EARLY = 60
"""Among how many of the first edits the whole function must be."""
WHOLE = {
    "the number that is added to, before the loop": (
        ("def f(x):\n    n = 0\n    for one in x:\n        n += one\n    return n\n"),
        "    n = 0\n"),
    "the collection that is filled": (
        ("def f(x):\n    found = {}\n    for key, value in x:\n        found[key] = value\n"
         "    return found\n"),
        "    found = {}\n"),
    "what is computed in the loop that reads it": (
        ("def f(rows):\n    out = []\n    for row in rows:\n        key = row[0]\n        if key in out:\n"
         "            out.append(key)\n    return out\n"),
        "        key = row[0]\n"),
    "what only one branch reads": (
        ("def norm(x):\n    return x\n\n\ndef f(a, b):\n    if a:\n        c = norm(b)\n        return c\n"
         "    return a\n\n\ndef g(b):\n    c = norm(b)\n    return c + 1\n"),
        "        c = norm(b)\n"),
    "a member of the maker": (
        ("class A:\n    def __init__(self, n):\n        self.n = n\n        self.rows = []\n\n"
         "    def add(self, x):\n        self.rows.append(x * self.n)\n"),
        "        self.rows = []\n"),
    "a parameter that the maker keeps": (
        ("class A:\n    def __init__(self, n, path):\n        self.n = n\n        self.path = path\n\n"
         "    def say(self):\n        return self.path, self.n\n"),
        "        self.path = path\n"),
    "what is stored before the last call": (
        ("class A:\n    def __init__(self):\n        self.rows = {}\n\n    def put(self, key, value):\n"
         "        if key in self.rows:\n            raise KeyError(key)\n        self.rows[key] = value\n"
         "        self.save()\n\n    def save(self):\n        print(self.rows)\n"),
        "        self.rows[key] = value\n"),
    "a method that nothing calls, of what nothing reads, inside of `with`": (
        ("class Q:\n    def put(self, item):\n        with self.lock:\n            self._put(item)\n            self.n += 1\n"
         "\n    def _put(self, item):\n        self.rows.append(item)\n"),
        "            self._put(item)\n",
    ),
    "a member whose type the class says": (
        ("class A(Base):\n    rows: dict[str, int]\n\n    def __init__(self, n):\n        self.n = n\n        self.rows = {}\n\n"
         "    def add(self, x):\n        self.rows[x] = self.n\n"),
        "        self.rows = {}\n",
    ),
    "a number that another method adds to": (
        ("class Q:\n    def __init__(self, n):\n        self.n = n\n        self.left = 0\n\n    def put(self):\n"
         "        self.left += self.n\n"),
        "        self.left = 0\n",
    ),
    "what the function gives": (
        ("def best(rows):\n    most = None\n    for row in rows:\n        if most is None or row > most:\n"
         "            most = row\n    return most\n\n\ndef f(x):\n    return best(x) + 1\n"),
        "    return most\n"),
    "the other answer of a question": (
        ("def f(rows):\n    for row in rows:\n        if row < 0:\n            return False\n"
         "    return True\n"),
        "    return True\n"),
    "the answer behind a case that gives one": (
        ("def f(x, y):\n    if x is None:\n        return y\n    z = x + y\n    return z\n"),
        "    return z\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", WHOLE)
def test_the_statement_is_proposed_early(what: str) -> None:
    whole, line = WHOLE[what]
    broken = whole.replace(line, "", 1)
    suspects = [
        {"path": "x.py", "line": at, "score": 0.5} for at in range(1, broken.count("\n") + 1)
    ]
    rows = propose(broken, "x.py", suspects, [], 1800, "AssertionError")
    made = [edited(broken, tuple((a, b, c) for a, b, c in row["pieces"])) for row in rows]
    assert whole in made[:EARLY], [row["new"] for row in rows[:12]]


@pytest.mark.parametrize("what", WHOLE)
def test_a_whole_function_lacks_hardly_anything(what: str) -> None:
    text = WHOLE[what][0]
    suspects = [{"path": "x.py", "line": at, "score": 0.5} for at in range(1, text.count("\n") + 1)]
    rows = propose(text, "x.py", suspects, [], 40, "AssertionError")
    assert sum(row["kind"] == "lost" for row in rows) <= 10


def test_an_empty_value_does_not_begin_anew_in_each_turn() -> None:
    broken = "def f(x):\n    for one in x:\n        n += one\n    return n\n"
    suspects = [{"path": "x.py", "line": at, "score": 0.5} for at in range(1, 5)]
    rows = propose(broken, "x.py", suspects, [], 1800, "AssertionError")
    made = [edited(broken, tuple((a, b, c) for a, b, c in row["pieces"])) for row in rows]
    outside = made.index(broken.replace("    for", "    n = 0\n    for"))
    inside = broken.replace("        n +=", "        n = 0\n        n +=")
    assert inside not in made or made.index(inside) > outside


@pytest.mark.parametrize(
    "text",
    [
        "def f(): ...\n",
        "class A:\n    def f(self): pass\n",
        "def f(x):\n    def g(y):\n        return z\n    return g\n",
        "async def f(x):\n    async with x as y:\n        await y\n",
        "def f(x):\n    match x:\n        case [a, *b]:\n            print(c)\n",
        "def f(x): return n; m = 1\n",
        "def f(x):\n\tfor one in x:\n\t\tn += one\n\treturn n",
        "def f(x):\r\n    for one in x:\r\n        n += one\r\n    return n\r\n",
        "def f(x):\n    while True:\n        x = x + y\n",
        "def f():\n    yield n\n",
        'def f(x):\n    """Says."""\n',
    ],
)
def test_what_is_proposed_is_python(text: str) -> None:
    suspects = [{"path": "x.py", "line": at, "score": 0.5} for at in range(1, text.count("\n") + 2)]
    for row in propose(text, "x.py", suspects, [], 1800, "AssertionError"):
        made = edited(text, tuple((a, b, c) for a, b, c in row["pieces"]))
        if row["kind"] == "lost" and not row["new"].startswith(("nonlocal", "return", "continue")):
            compile(made, "x.py", "exec", dont_inherit=True)


@pytest.mark.long
def test_a_lost_beginning_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "tally.py").write_text(
        "def tally(xs):\n    for x in xs:\n        n += x\n    return n\n", encoding="utf-8"
    )
    (tmp_path / "test_tally.py").write_text(
        "from tally import tally\n\n\ndef test_sum():\n    assert tally([1, 2]) == 3\n\n\n"
        "def test_none():\n    assert tally([]) == 0\n",
        encoding="utf-8",
    )
    done = process.fdc("fix", "--test", f"{sys.executable} -m pytest -q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "+    n = 0\n     for x in xs:" in done.stdout
