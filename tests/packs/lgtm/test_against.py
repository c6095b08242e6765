"""What the files hold against a name: what they say, and what they lack (LGTM-65)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_packs.lgtm.tools.against import objections
from fdc_packs.lgtm.tools.found_rows import best_of, objections_of, places_of
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
    """A definition that is out of use, that nothing uses or tests, that refuses; a name with two homes."""
    found = {
        (one.kind, one.path, one.line) for one in objections(tree, query) if one.kind != "exception"
    }
    assert expected == found


def test_prose_is_quoted_as_the_sentence_that_a_line_is_part_of(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "def hold(x):\n    # For a basket\n    # hold() never takes money. So be it.\n"
    )
    (tmp_path / "hold.md").write_text(
        "# Holding\n\nOrders wait.  The stock of an order\nis held for a day.\n"
    )
    found = scan(str(tmp_path), code=True)
    tree = Tree(found, found.documents)
    against = objections_of(tree, "`hold` takes money for a basket")
    assert [(3, "For a basket hold() never takes money.")] == [
        (row["line"], row["quote"]) for row in against if row["kind"] == "exception"
    ]
    says = places_of(tree, "How long is the stock held for a day?")
    quotes = {row["quote"] for row in says}
    assert "The stock of an order is held for a day." in quotes and not any(
        "more" in one for one in quotes
    )


EXAMPLE = '''"""Writes the table as CSV output: how a CSV output format is used."""


def csv_output_format(table):
    """Writes a table in the CSV output format."""
    return table.csv()
'''
FORMATS = '''def csv_format(table):
    """Gives a table in the CSV format."""
    return table.csv()
'''


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Add support for a CSV output format", "formats.py"),
        ("Which example writes a CSV output format?", "examples/csv_output.py"),
    ],
)
def test_an_example_stands_behind_the_code_that_it_shows_unless_it_is_asked_for(
    tmp_path: Path, query: str, first: str
) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/csv_output.py").write_text(EXAMPLE)
    (tmp_path / "formats.py").write_text(FORMATS)
    scanned = scan(str(tmp_path), code=True)
    tree = Tree(scanned, scanned.documents)
    rows = places_of(tree, query)
    assert first == best_of({row["source"]: row for row in rows}, "FileSearch")["rows"][0]["path"]
