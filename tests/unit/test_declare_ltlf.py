"""The templates of rules against a public implementation of LTLf: ltlf2dfa, which MONA (Debian's `mona`) works for.

The formulas are those that the literature on DECLARE gives, one event a step. LTLf knows no empty
trace, so the empty run is compared elsewhere (`test_declare.py`).
"""

from __future__ import annotations

import re
import shutil
from functools import lru_cache
from itertools import product

import pytest
from fdc_toolchain.automata import declare

pytestmark = pytest.mark.skipif(shutil.which("mona") is None, reason="MONA is not installed")

NEXT_TO_LAST = "!(X(true))"
AFTER = "(((!b) U a) | G(!b))"
FORMULAS = {
    "existence": "F(a)", "absence": "G(!a)", "exactly": "F(a) & !(F(a & X(F(a))))",
    "init": "a", "last": f"F(a & {NEXT_TO_LAST})",
    "choice": "F(a) | F(b)", "exclusive_choice": "(F(a) | F(b)) & !(F(a) & F(b))",
    "responded_existence": "F(a) -> F(b)", "coexistence": "(F(a) -> F(b)) & (F(b) -> F(a))",
    "response": "G(a -> F(b))", "precedence": AFTER, "succession": f"G(a -> F(b)) & {AFTER}",
    "alternate_response": "G(a -> X((!a) U b))",
    "alternate_precedence": f"{AFTER} & G(b -> ({NEXT_TO_LAST} | X{AFTER}))",
    "alternate_succession": f"G(a -> X((!a) U b)) & {AFTER} & G(b -> ({NEXT_TO_LAST} | X{AFTER}))",
    "chain_response": "G(a -> X(b))", "chain_precedence": f"(!b) & G(({NEXT_TO_LAST}) | (X(b) -> a))",
    "chain_succession": f"G(a -> X(b)) & (!b) & G(({NEXT_TO_LAST}) | (X(b) -> a))",
    "not_coexistence": "!(F(a) & F(b))", "not_succession": "G(a -> !(F(b)))", "not_chain_succession": "G(a -> !(X(b)))",
}  # fmt: skip
EVENTS = {0: frozenset(), 1: frozenset("a"), 2: frozenset("b")}


class Automaton:
    """What ltlf2dfa draws, read back."""

    def __init__(self, dot: str) -> None:
        found = re.search(r"doublecircle\];([ \d;]*)", dot)
        self.accepting = set(re.findall(r"\d+", found[1])) if found else set()
        self.edges: dict[str, list[tuple[str, str]]] = {}
        for source, target, label in re.findall(r'(\d+) -> (\d+) \[label="([^"]*)"\]', dot):
            self.edges.setdefault(source, []).append((label, target))
        self.start = re.search(r"init -> (\d+)", dot)[1]  # type: ignore[index]

    def accepts(self, word: tuple[int, ...]) -> bool:
        state = self.start
        for letter in word:
            [state] = {
                target for label, target in self.edges[state] if _holds(label, EVENTS[letter])
            }
        return state in self.accepting


@lru_cache
def _holds(label: str, events: frozenset[str]) -> bool:
    """A label of MONA's: names, `~`, `&`, `|`, brackets and `true`."""
    assert re.fullmatch(r"(?:[ab~&|() ]|true)+", label), label
    words = {
        "a": str("a" in events),
        "b": str("b" in events),
        "true": "True",
        "~": " not ",
        "&": " and ",
        "|": " or ",
    }
    return bool(eval(re.sub(r"true|[ab~&|]", lambda found: words[found[0]], label)))


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
def test_a_template_is_its_formula(
    name: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    ltlf = pytest.importorskip("ltlf2dfa.parser.ltlf")
    monkeypatch.chdir(tmp_path)  # type: ignore[arg-type]
    public = Automaton(ltlf.LTLfParser()(FORMULAS[name]).to_dfa())
    ours = declare.compiled(name, 1)
    judged = set()
    letters = [letter for letter in EVENTS if letter in ours.table]
    for length in range(1, 7):
        for word in product(letters, repeat=length):
            state = 0
            for letter in word:
                state = -1 if state < 0 else ours.table[letter][state]
            accepted = state >= 0 and bool(ours.accept >> state & 1)
            assert accepted == public.accepts(word), word
            judged.add(accepted)
    assert judged == {True, False}


def test_every_template_that_ltlf_has_a_formula_for_is_compared() -> None:
    assert set(declare.NAMES) - set(FORMULAS) == {"fresh", "held"}
