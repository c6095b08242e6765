"""Phrases of people that code has a word for."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.research.answering.found import find_places
from fdc_packs.research.bridges.idioms import idioms
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

SHOP = """def pour(pot):
    return pot


def reject_over_limit(guests):
    return len(guests) > 8


def expire(leaves):
    return [leaf for leaf in leaves if leaf.fresh]


def seat(guests):
    return guests


def brew_concurrently(kettles):
    return [kettle.boil() for kettle in kettles]
"""


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where is it noticed that too many have come?", "reject_over_limit"),
        ("Which function throws away what is too old?", "expire"),
        ("How is tea made in several pots at the same time?", "brew_concurrently"),
    ],
)
def test_a_phrase_finds_what_code_calls_it(tmp_path: Path, question: str, name: str) -> None:
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    tree = Tree(found := scan(str(tmp_path), code=True), found.documents)
    places = find_places(tree, searched(tree, question), question).places
    assert name == places[0].name


def test_a_phrase_matches_in_every_form_and_the_longest_one_counts() -> None:
    """`turns into` and `turned into`; of `too long` and `takes too long` one."""
    said = {one: [concept.word for concept in idioms(one)] for one in (
        "What turned into text takes too long?", "What is too long?", "What is long?", "What pours?",
    )}  # fmt: skip
    assert [["convert", "timeout"], ["timeout"], [], []] == list(said.values())


def test_what_a_phrase_stands_for_is_no_word_of_the_question(tmp_path: Path) -> None:
    """That no file has it is not said, and it is not counted where it is judged how sure an answer is."""
    (tmp_path / "shop.py").write_text("def pour(tea):\n    return tea  # as often as\n", "utf-8")
    tree = Tree(found := scan(str(tmp_path), code=True), found.documents)
    question = "Where is tea poured too often?"
    search = searched(tree, question)
    assert ["tea", "poured", "often"] == [one.word for one in search.concepts if one.weight == 1.0]
    assert "rate" in [one.word for one in search.concepts]
    assert "no file has" not in find_places(tree, search, question).why
