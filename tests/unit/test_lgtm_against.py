"""What is held against a statement without a model: what the files say, and what they lack (LGTM-11, 65, 67)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_packs.lgtm import challenge, hypotheses
from fdc_packs.lgtm.tools.against import objections
from fdc_packs.research.explore.code_search import Tree
from fdc_toolchain.tools.files.documents import scan

STORE = '''"""The store."""


def reserve(basket):
    """Deprecated: use `hold`. Reserves stock."""
    return basket


def hold(basket):
    """Holds stock for an order."""
    warn("the deprecated way is `reserve`")
    return basket


def refund(basket):
    """Warns of deprecated baskets, which are not implemented."""
    raise NotImplementedError


def _forgotten(basket):
    """Counts what is left."""


def _counted(basket):
    return 1


TOTAL = _counted(None)
'''
OTHER = "def hold(basket):\n    # hold() never takes money\n    return None\n\n\ndef use(basket):\n    return hold(basket)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "tests").mkdir()
    (tmp_path / "store.py").write_text(STORE)
    (tmp_path / "other.py").write_text(OTHER)
    (tmp_path / "tests/test_store.py").write_text(
        "from store import reserve\n\n\ndef test_it():\n    assert reserve(1)\n"
    )
    found = scan(str(tmp_path), code=True)
    return Tree(found, found.documents)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("`reserve`", {("obsolete", "store.py", 5)}),  # its own documentation says so
        (
            "`hold`",
            {
                ("untested", "store.py", 9),
                ("untested", "other.py", 1),
                ("elsewhere", "store.py", 9),
            },
        ),
        ("`refund`", {("refuses", "store.py", 17), ("untested", "store.py", 15)}),
        ("`_forgotten`", {("unused", "store.py", 20), ("untested", "store.py", 20)}),
        ("`_counted`", {("untested", "store.py", 24)}),  # it is used
        ("`nowhere`", set()),
    ],
)
def test_what_speaks_against_a_name_and_what_is_missing(
    tree: Tree, query: str, expected: set[Any]
) -> None:
    """A definition that is out of use, that nobody uses or tests, that refuses; a name with two homes."""
    found = {
        (one.kind, one.path, one.line) for one in objections(tree, query) if one.kind != "exception"
    }
    assert expected == found


def test_a_line_of_exception_is_told_as_the_sentence_that_it_is_part_of(tree: Tree) -> None:
    rows = [
        one
        for one in objections(tree, "`hold` takes money for a basket")
        if one.kind == "exception"
    ]
    assert ("other.py", 2, "hold() never takes money") in {
        (one.path, one.line, one.said) for one in rows
    }


STATED = "Statement: `hold` (`store.py:9`): Holds stock for an order."


def target(kind: str, quote: str, described: str = STATED) -> dict[str, Any]:
    row = {
        "path": "knowledge/k_1_evidence.md",
        "source": "store.py:5",
        "kind": kind,
        "summary": quote,
        "quote": quote,
    }
    return {"targetID": "T01", "targetDescription": described, "queries": ["q"], "evidence": [row]}


@pytest.mark.parametrize(
    ("kind", "quote", "disproved", "says"),
    [
        ("obsolete", "Deprecated: use `reserve`.", True, "out of use"),
        ("unused", "def hold(basket):", True, "nothing uses it"),
        ("untested", "def hold(basket):", False, "Weaker for it: store.py:5: no test names it"),
        (
            "exception",
            "`hold` never takes money.",
            False,
            "Weaker for it: store.py:5: a line about it",
        ),
        ("exception", "People hold no grudge here.", False, "none disproves it."),
        ("exception", "if not hold(basket):", False, "none disproves it."),
        ("", "Holds no stock for an order.", True, "only one of the two negates it"),
    ],
)
def test_what_disproves_and_what_only_weakens(
    kind: str, quote: str, disproved: bool, says: str
) -> None:
    """LGTM-11: `Failed` only for what disproves; what weakens is told, and comes into the plan's risks."""
    judged = challenge.judge(target(kind, quote))
    assert disproved is judged["disproved"] and says in judged["analysis"]
    attempt = challenge.validate(target(kind, quote), judged)
    told = challenge.weaknesses({"falsificationAttempts": [attempt]})
    assert ("Failed" if disproved else "Passed") == attempt["outcome"]
    assert ("Weaker" in says) is bool(told) and all(one.startswith("store.py:5: ") for one in told)


def test_an_assumption_is_not_disproved_by_what_disproves_a_place() -> None:
    described = "Assumption A02: `hold` (`store.py:9`): Holds stock for an order."
    assert not challenge.judge(target("unused", "def hold(basket):", described))["disproved"]


def test_what_was_known_before_counts_where_it_speaks_against_and_where_nothing_was_asked() -> None:
    """LGTM-65: without queries the verdict rests on the evidence that there is."""
    rows = [
        {
            "targetID": "T01",
            "targetDescription": "Statement: `hold` (`store.py:9`): An order holds the stock.",
        }
    ]
    said = "`README.md` says (`README.md:3`): An order {} holds the stock."
    entry = {
        "source": "README.md:3",
        "filePath": "knowledge/k_EV_01_evidence.md",
        "contentSummary": said.format("never"),
    }
    agrees = {**entry, "source": "README.md:4", "contentSummary": said.format("always")}
    own = {**entry, "source": "store.py:9"}
    for queries, expected in (
        ({"T01": ["q"]}, ["README.md:3"]),
        ({}, ["README.md:3", "README.md:4"]),
    ):
        made = challenge.assign(
            {"targets": rows}, {"by_target": queries}, [], [entry, agrees, own]
        )["targets"][0]
        assert expected == [row["source"] for row in made["evidence"]]
        assert challenge.judge(made)["disproved"]


def result(number: int, subject: str, tells: list[str], score: float = 1.0) -> dict[str, Any]:
    path = f"{subject}.py"
    stub = {"source": f"{path}:1", "path": path, "quote": f"def {subject}():", "subject": subject, "home": f"{path}:1",
            "kind": "documentation", "score": score, "tells": tells}  # fmt: skip
    entry = {"filePath": f"knowledge/k_EV_{number:02d}_evidence.md", "entryID": f"EV_{number:02d}"}
    return {"ok": True, "stub": stub, "entry": entry}


def test_neither_tests_nor_a_bare_head_are_an_area_where_there_is_another() -> None:
    """LGTM-52: a change does not begin in a test, and a head whose name has no word of the question says nothing of it."""
    question = "How should a stale lock of a crashed process break?"
    said, tested, head, named = (
        result(number, name, ["stal", "lock"])
        for number, name in enumerate(["a", "b", "c", "lock"])
    )
    tested["stub"]["test"] = True
    head["stub"]["kind"] = named["stub"]["kind"] = "definition"
    found = hypotheses.areas(question, [tested, head, said, named])["areas"]
    assert ["A_A", "A_Lock"] == [row["areaID"] for row in found]
    assert ["A_B"] == [row["areaID"] for row in hypotheses.areas(question, [tested])["areas"]]
    assert ["A_C"] == [row["areaID"] for row in hypotheses.areas(question, [head])["areas"]]


def test_an_area_tells_half_of_what_the_evidence_knows_of_the_question() -> None:
    """LGTM-52: fewer areas rather than one that is about something else; the best one stays whatever it tells."""
    question = "How should a stale lock of a crashed process break?"
    rows = [
        result(1, "a", ["stal", "lock", "crash", "process"]),
        result(2, "b", ["lock"]),
        result(3, "c", ["stal", "lock"]),
    ]
    assert ["A_A", "A_C"] == [row["areaID"] for row in hypotheses.areas(question, rows)["areas"]]
    assert ["A_B"] == [row["areaID"] for row in hypotheses.areas(question, rows[1:2])["areas"]]
    made = hypotheses.draft(question, {"areaID": "A_C"}, hypotheses.areas(question, rows), rows)
    silent = "Nothing that was found speaks of “break”; it says nothing of “crashed” and “process”, which other places speak of."
    assert silent == made["gapCharacterization"]
    assert (
        "What speaks of break?" in made["questions"]
        and "What speaks of crashed?" not in made["questions"]
    )
