"""The templates of rules against their meaning, over all short words (issue 3, *Rules that bite*)."""

from __future__ import annotations

import json
from itertools import product

import pytest
from fdc_toolchain.automata import declare

from tests.support import ltlf
from tests.support.repository import ROOT

SETS = [frozenset("abc"[bit] for bit in range(3) if letter >> bit & 1) for letter in range(8)]


def runs(template: declare.Template, word: tuple[int, ...]) -> int:
    state = 0
    for letter in word:
        state = template.table[letter][state]
        if state < 0:
            break
    return state


def accepts(template: declare.Template, word: tuple[int, ...]) -> bool:
    state = runs(template, word)
    return state >= 0 and bool(template.accept >> state & 1)


def cases() -> list[tuple[str, int]]:
    return [
        (name, n)
        for name in declare.NAMES
        for n in ((1, 2, 3) if name in declare.COUNTED else (1,))
    ]


def words(template: declare.Template) -> list[tuple[int, ...]]:
    """All words of up to six steps; of five where three events make eight letters."""
    longest = 5 if template.letters == 7 else 6
    return [
        word
        for length in range(longest + 1)
        for word in product(sorted(template.table), repeat=length)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), cases())
def test_a_template_means_what_its_formula_says_of_every_short_word(name: str, n: int) -> None:
    """Steps may be several events at once, or none; the empty run included."""
    template = declare.compiled(name, n)
    for word in words(template):
        assert accepts(template, word) == ltlf.keeps(
            name, n, tuple(SETS[letter] for letter in word)
        ), word


@pytest.mark.parametrize(("name", "n"), cases())
def test_nothing_is_kept_that_is_lost_and_no_state_is_one_too_many(name: str, n: int) -> None:
    """Every state can still be repaired, is reached, and differs from every other: what breaks a rule is noticed at once."""
    template = declare.compiled(name, n)
    short = [word for word in words(template) if len(word) < 5]
    reached = {runs(template, word) for word in short} - {-1}
    assert reached == set(range(len(template.states)))

    def language(state: int) -> frozenset[tuple[int, ...]]:
        out = set()
        for word in short:
            here = state
            for letter in word:
                here = template.table[letter][here] if here >= 0 else here
            if here >= 0 and template.accept >> here & 1:
                out.add(word)
        return frozenset(out)

    languages = [language(state) for state in range(len(template.states))]
    assert all(languages)
    assert len(set(languages)) == len(languages)


def test_the_templates_are_the_languages_of_regular_expressions_for_a_public_library() -> None:
    """automata-lib decides equality of languages, so over words of every length (steps that are one event at most)."""
    dfa_module = pytest.importorskip("automata.fa.dfa")
    nfa_module = pytest.importorskip("automata.fa.nfa")
    letters = {"o": 0, "a": declare.A, "b": declare.B}
    for name, regex in ltlf.REGEXES.items():
        template = declare.compiled(name)
        known = {
            letter: number if number in template.table else 0 for letter, number in letters.items()
        }
        states = {str(number) for number in range(-1, len(template.states))}
        ours = dfa_module.DFA(
            states=states,
            input_symbols=set(letters),
            transitions={
                state: {
                    letter: "-1"
                    if state == "-1"
                    else str(template.table[known[letter]][int(state)])
                    for letter in letters
                }
                for state in states
            },
            initial_state="0",
            final_states={
                state for state in states if state != "-1" and template.accept >> int(state) & 1
            },
        )
        for short, long in (
            ("[abo]", "(a|b|o)"),
            ("[bo]", "(b|o)"),
            ("[ao]", "(a|o)"),
            ("[ab]", "(a|b)"),
            ("[o]", "o"),
        ):
            regex = regex.replace(short, long)
        theirs = dfa_module.DFA.from_nfa(
            nfa_module.NFA.from_regex(regex, input_symbols=set(letters))
        )
        assert ours == theirs, name


def test_the_schema_names_the_templates_that_there_are() -> None:
    schema = json.loads((ROOT / "protocols" / "protocol.schema.json").read_bytes())
    [names] = _enumerations(schema, "template")
    assert sorted(names) == sorted(declare.NAMES)
    assert len(declare.NAMES) == 23


def _enumerations(schema: object, key: str) -> list[list[str]]:
    out = []
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == key and isinstance(value, dict) and "enum" in value:
                out.append(value["enum"])
            out += _enumerations(value, key)
    elif isinstance(schema, list):
        for value in schema:
            out += _enumerations(value, key)
    return out


def test_a_rule_for_each_value_asks_nothing_of_values_that_never_occur() -> None:
    for name, n in cases():
        template = declare.compiled(name, n)
        made = declare.from_first_step(template)
        for word in words(template):
            if len(word) < 4:
                assert accepts(made, word) == (not word or accepts(template, word)), (name, word)


def test_a_rule_of_runs_that_may_stop_is_kept_after_every_step() -> None:
    for name, n in cases():
        template = declare.compiled(name, n)
        made = declare.at_every_prefix(template)
        for word in words(template):
            if len(word) < 4:
                kept = accepts(template, word) and all(
                    accepts(template, word[:at]) for at in range(1, len(word))
                )
                assert accepts(made, word) == kept, (name, word)
