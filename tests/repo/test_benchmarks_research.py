"""The benchmark of answers: its questions are whole, its machinery works on a tree too small to mean anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.research import questions, ways
from benchmarks.research.__main__ import measure, page, rank, table
from benchmarks.research.remarks import chance, confidence, refused, remarks
from benchmarks.research.row import Row
from tests.support.explored import shop


def test_the_questions_are_as_many_as_were_asked_for_and_held_out() -> None:
    asked, packages = questions.read()
    assert len(asked) >= 60 and len(packages) >= 3
    assert len({one.id for one in asked}) == len({one.ask for one in asked}) == len(asked)
    assert sum(one.part == "held-out" for one in asked) >= 30
    for part in ("tuned", "held-out"):
        kinds = [one.kind for one in asked if one.part == part]
        assert min(kinds.count("code"), kinds.count("docs")) >= 20
    assert all(
        one.answers and all(0 < first <= last for _, first, last in one.answers) for one in asked
    )


def test_a_package_of_another_digest_is_refused(tmp_path: Path) -> None:
    package = questions.Package("click", "1", "click-1", "0" * 64)
    (tmp_path / "click-1").mkdir()
    (tmp_path / "click-1" / "click-1.tar.gz").write_bytes(b"something else")
    with pytest.raises(questions.Wrong, match="is not the click 1 whose lines"):
        questions.unpacked(package, tmp_path)


def test_citations_near_each_other_are_one_place_and_the_first_right_one_counts() -> None:
    cited = [("a.py", 10, 10), ("b.py", 1, 2), ("a.py", 25, 25), ("a.py", 31, 31)]
    places = ways.folded(cited)
    assert [("a.py", (10, 25)), ("b.py", (1, 2)), ("a.py", (31,))] == places
    answers = [("a.py", 20, 30), ("b.py", 2, 9), ("a.py", 30, 40), ("a.py", 11, 24), ("c.py", 1, 9)]
    assert [1, 2, 3, 0, 0] == [rank(places, [answer]) for answer in answers]


ASKED = [
    ("code", "Where is stock set aside for somebody who buys?", ("shop/stock.py", 4, 7)),
    ("code", "Who calls `reserve`?", ("shop/orders.py", 12, 12)),
    ("docs", "What happens to the stock when an order cannot be paid?", ("README.md", 3, 3)),
]


@pytest.mark.long
def test_every_way_answers_and_every_citation_holds(tmp_path: Path) -> None:
    """The real commands, the real ripgrep (or grep) and BM25. No time is judged."""
    asked = [
        questions.Question(f"q{n}", "shop", kind, "held-out", ask, (row,))
        for n, (kind, ask, row) in enumerate(ASKED)
    ]
    names = ("ripgrep", "BM25, 20 lines", "fdc research", "fdc explore")
    rows = measure(asked, {"shop": shop(tmp_path)}, names, lambda text: None)
    assert len(asked) * len(names) == len(rows)
    for row in rows:
        assert [] == row.answer.wrong and row.answer.places and row.answer.seconds > 0, row
        assert bool(row.answer.cited) == row.way.startswith("fdc"), row
    assert all(0 < row.rank <= 5 for row in rows if row.way == "fdc explore"), [
        (row.question.ask, row.rank) for row in rows
    ]
    text = "\n".join(table(rows, names))
    assert "| held-out (3) | ripgrep |" in text and text.count("\n") == 1 + len(names)


def _rows(way: str, *ranks: int, cited: int = 0, wrong: int = 0) -> list[Row]:
    place = ("a.py", 1, 1)
    asked = [
        questions.Question(f"q{n}", "shop", "code", "held-out", f"What is {n}?", (place,))
        for n in range(len(ranks))
    ]
    answers = [ways.Answer([], cited, ["a.py:1"] * wrong, 100, 1.0) for _ in ranks]
    return [
        Row(question, way, number, answer)
        for question, number, answer in zip(asked, ranks, answers)
    ]


def test_what_a_measurement_says_is_computed_from_it() -> None:
    ours, plain = _rows("fdc explore", 1, 1, 4, 0, cited=3), _rows("BM25, 20 lines", 1, 0, 0, 0)
    said = remarks([*plain, *ours])
    assert (
        "- **On the held-out part `fdc explore` beats BM25, 20 lines, in the first place and in the first five.**"
        in said
    )
    assert any(
        "in the first five 3 against 1 (2 questions won, 0 lost; chance alone: 0.5)" in one
        for one in said
    )
    assert any(one == "- 1 of 4 questions are in the first five of no way at all." for one in said)
    assert said[-1] == "- 12 of 12 citations of fdc's hold."
    worse = remarks([*_rows("BM25, 20 lines", 1, 1, 0, 0), *ours])
    assert (
        "- **On the held-out part `fdc explore` does not beat BM25, 20 lines in the first place.**"
        in worse
    )
    lying = remarks(_rows("fdc explore", 1, cited=2, wrong=1))
    assert "- 1 of 2 citations of fdc's hold. **That must be all of them.**" == lying[-1]
    assert any("no row with the reranker" in one for one in remarks(ours, "pip install x"))
    assert not any("no row" in one for one in remarks(ours))
    both = remarks([*ours, *_rows("fdc explore --rerank", 1, 1, 1, 2)])
    assert any(
        one.startswith("- `fdc explore --rerank` has 3 in the first place (fdc explore: 2)")
        for one in both
    )


def test_a_difference_that_chance_explains_is_said_to_be_one() -> None:
    assert [1.0, 1.0, 0.021, 0.021] == [
        round(chance(*pair), 3) for pair in ((0, 0), (5, 5), (9, 1), (1, 9))
    ]


def test_the_page_counts_what_was_asked() -> None:
    rows = _rows("fdc explore", 1, 0)
    package = questions.Package("shop", "1.2", "shop-1.2", "")
    shown = page([row.question for row in rows], [package], table(rows, ["fdc explore"]), ["- x"])
    assert (
        "2 questions with known answers" in shown
        and "of shop 1.2: 2 of them\nabout code, 0 about" in shown
    )
    assert (
        "| held-out (2) | fdc explore | 1 (50%) | 1 (50%) | 1 / 1 of 2 |" in shown
        and "\n- x\n" in shown
    )


def test_a_citation_that_does_not_hold_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# one\n# two\nx = 3\n")
    for good, citation in {
        True: ("a.py", 1, 2, "one two"), False: ("a.py", 1, 1, "two"),
    }.items():  # fmt: skip
        assert good == ways._holds(tmp_path, *citation)
    assert not ways._holds(tmp_path, "none.py", 1, 1, "x") and not ways._holds(
        tmp_path, "a.py", 9, 9, "x = 3"
    )


def test_how_sure_an_answer_is_and_what_is_refused_are_counted() -> None:
    right, wrong = _rows("fdc explore", 1, 5, 0), _rows("fdc explore", 0, 3)
    sure = [row._replace(answer=row.answer._replace(sure="High")) for row in right]
    none = [row._replace(answer=row.answer._replace(sure="None")) for row in wrong]
    assert ["- `fdc explore` says High, held-out: 2 of 3 are right (67%)."] == confidence(
        [*sure, *none]
    )
    [said] = refused([*sure, *none], none[:1])
    assert (
        "for 1 of 1 questions without an answer, and for 2 of 5 with one, of which 1 have" in said
    )
    [said] = refused([], none[:1])
    assert said.endswith("for 1 of 1 questions without an answer.")
    assert 20 <= sum(one.part == "held-out" for one in questions.absent())
