"""What Python's parser does not read is repaired by what the parser says (D7)."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from fdc_packs.repair import context, embedded, loop
from fdc_packs.repair.mutate import syntax
from fdc_packs.repair.mutate.mutate import propose
from fdc_packs.repair.mutate.source import edited

from tests.support.repair_states import opened

GOOD = '''\
import os


def total(items, rate=2):
    """Sum."""
    out = []
    for item in items:
        if item["price"] > 0 and (rate or item):
            out.append(item["price"] * rate)
        else:
            print("none", item)
    return sum(out, start=0)


class A:
    names = {"a": [1, 2, 3], "b": (4, 5)}

    def get(self, name):
        try:
            return self.names[name]
        except KeyError:
            return None
'''


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("rate=2):", "rate=2:"), ("rate=2):", "rate=2)"), ("* rate)", "* rate"), ('"none", item', '"none, item'),
        ('print("none"', 'print(none"'), ("[1, 2, 3]", "[1, 2, 3"), ("[1, 2, 3]", "1, 2, 3]"), ("(4, 5)}", "(4, 5)"),
        ("else:", "else"), ("        try:", "      try:"), ("            return self", "        return self"),
        ("start=0)", "start=0))"), ("    return sum", "     return sum"), ("[1, 2, 3]", "[1 2, 3]"),
        ("(rate or item):", "(rate or item:"), ('"""Sum."""', '"""Sum.'), ('item["price"] > 0', 'item["price" > 0'),
        ("get(self, name):", "get(self name):"),
        ("sum(out", "sum out"), ("in items:", "in items"), ("for item in", "for item in)"),
        ("or item):", "or item) then:"), ("or item):", "or item) then"), ("in items:", "in items do"), ("else:", "else {"),
        (" and (rate or item):", " && (rate || item) {"), ("class A:", "clas A:"), ("def get", "dfe get"), ("try:", "tyr:"),
        ("import os", "improt os"), ("    return sum", "    retrun sum"), ('"none", item', "\u201cnone\u201d, item"),
        ("except KeyError:", "catch KeyError:"), ('        print("none", item)', '        print "none", item'),
        ("    out = []\n", "<<<<<<< HEAD\n    out = []\n=======\n    out = {}\n>>>>>>> other\n"),
        ("    out = []\n", "<<<<<<< HEAD\n    out = {}\n||||||| base\n    out = 1\n=======\n    out = []\n>>>>>>> other\n"),
        ('    """Sum."""', '    ""Sum."""'), ('    """Sum."""', '    """Sum.""'),
        ("and (rate", "and: (rate"), ("    out = []\n    for", "  out = []\n    for"),
        ("    out = []\n    for", "<<<<<<< a\n    out = []\n=======\n>>>>>>> b\n    for"),
    ],
)  # fmt: skip
def test_a_bracket_a_colon_a_quote_or_an_indentation_is_put_right(right: str, wrong: str) -> None:
    """Every candidate is read by Python, and the text as it was is among the first three."""
    text = GOOD.replace(right, wrong, 1)
    rows = propose(text, "x.py", [{"path": "x.py", "line": 4, "score": 1.0}], [], 24)
    meant = [
        ast.dump(ast.parse(edited(text, tuple(tuple(one) for one in row["pieces"]))))
        for row in rows
    ]
    assert ast.dump(ast.parse(GOOD)) in meant[:3]
    assert all(wrong_at.line > 0 for wrong_at in [syntax.wrong(text)] if wrong_at)


def test_two_faults_are_followed_one_after_the_other() -> None:
    text = GOOD.replace("else:", "else").replace("start=0)", "start=0")
    rows = propose(text, "x.py", [{"path": "x.py", "line": 4, "score": 1.0}], [], 24)
    assert rows and {(10, 12)} <= {
        (r["affected_region"]["first"], r["affected_region"]["last"]) for r in rows
    }


def test_the_suspect_is_where_the_parser_stops_and_one_repair_is_enough() -> None:
    """D7: `22 suspect lines in a file of 2`; a file that has only one reading has no rival."""
    seen: dict[str, Any] = {
        "sources": {"x.py": "x = 1\nif x\n"},
        "spectra": [],
        "gathered": [],
        "files": ["x.py"],
        "why": "",
    }
    seen["sources"]["x.py"] += "    x = 2\n"
    found = context.ranked(seen, {"path": "x.py", "line": 2})
    assert [("x.py", 2)] == [(row["path"], row["line"]) for row in found["suspects"]]
    state = opened()
    answer = embedded.diagnose(state["failure"], found)
    assert ["H001"] == loop.admit(state, answer)["ids"] and answer["sole"]
    plain = context.ranked({**seen, "sources": {"x.txt": "a\nb\n"}}, {"path": "x.txt", "line": 2})
    assert [1, 2] == sorted(row["line"] for row in plain["suspects"])
