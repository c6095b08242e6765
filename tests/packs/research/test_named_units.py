"""Questions that name a function or type by a plain word, ask after its tests, or after uses of what is only imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.research.answering.found import Found, find_places, refusal
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

POT = """from typing import overload


def refill(pots, limit):
    \"\"\"Refills every pot, shorter ones first: what steep leaves when leaves run short, is steeped again.\"\"\"
    return [steep(pot) for pot in pots if pot.leaves > limit]


@overload
def steep(pot: int) -> int: ...
@overload
def steep(pot: str) -> str: ...
def steep(pot):
    \"\"\"Makes tea.\"\"\"
    if pot is None:
        return None
    return pot


class Kettle:
    def heat(self, degrees):
        return degrees
"""
TESTS = """from pot import steep


def test_a_pot():
    assert steep(3) == 3
"""


def ask(folder: Path, question: str) -> Found:
    (folder / "pot.py").write_text(POT)
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests/test_pot.py").write_text(TESTS)
    scanned = scan(str(folder), code=True)
    tree = Tree(scanned, scanned.documents)
    return find_places(tree, searched(tree, question), question)


@pytest.mark.parametrize(
    "question, name",
    [
        ("What does steep do when the leaves run short?", "steep"),
        ("Where is steep implemented?", "steep"),
        ("What is the pot argument of steep?", "steep"),
        ("What does the steep function return?", "steep"),
        ("Does the heat method of Kettle return degrees?", "Kettle.heat"),
    ],
)
def test_the_definition_of_a_plain_name_comes_first_and_is_an_answer(
    tmp_path: Path, question: str, name: str
) -> None:
    found = ask(tmp_path, question)
    assert name == found.places[0].name and found.sure in ("High", "Moderate")
    assert "stands there" in found.why


def test_a_word_that_no_file_has_makes_no_answer_of_a_plain_name(tmp_path: Path) -> None:
    found = ask(tmp_path, "How does steep encrypt the pot?")
    assert ("None", "no file has `encrypt`") == (found.sure, found.why)


def test_of_overloads_the_whole_one_is_shown_once(tmp_path: Path) -> None:
    found = ask(tmp_path, "What does steep do?")
    assert "def steep(pot):" in [text for _, text in found.places[0].code]
    assert [one.name for one in found.places[:1]] == ["steep"]


@pytest.mark.parametrize(
    "question",
    [
        "How are leaves measured?",
        "How is the steep hill climbed?",
        "Will refill leaves be thrown away?",
    ],
)
def test_a_plural_or_a_word_with_an_article_is_no_name(tmp_path: Path, question: str) -> None:
    assert "stands there" not in ask(tmp_path, question).why


@pytest.mark.parametrize(
    "question",
    [
        "Where is steep tested?",
        "Where are the tests for steep?",
        "Which tests of `steep` are there?",
    ],
)
def test_a_question_after_tests_is_answered_with_tests(tmp_path: Path, question: str) -> None:
    assert "tests/test_pot.py" == ask(tmp_path, question).places[0].path


def test_uses_of_what_is_only_imported_are_listed(tmp_path: Path) -> None:
    (tmp_path / "line.py").write_text(
        "from collections import deque\n\n\ndef hold():\n    return deque()\n"
    )
    found = ask(tmp_path, "Which functions use deque?")
    assert ("High", "line.py") == (found.sure, found.places[0].path)
    assert 5 in [one.line for one in found.places]


def test_a_refusal_with_all_words_does_not_say_only() -> None:
    """It said *only 2 of 2 telling words*."""
    assert refusal(1, 2) == "only 1 of 2 telling words stand close together in a place"
    assert refusal(2, 2).endswith("place, but fewer than half of such answers are right")
