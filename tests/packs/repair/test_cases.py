"""What belongs to one case stays there, and a no-op or a stall is counted: rows that scripted hypotheses show."""

from __future__ import annotations

from fdc_packs.repair import hypotheses

from tests.support.repaired import OTHER, RIGHT, WRONG


def test_two_cases_share_no_hypothesis() -> None:
    """HYP-48: a hypothesis is of its case; the same claim in another one is another hypothesis, with a life of its own."""
    first = hypotheses.create(hypotheses.empty(), [RIGHT, WRONG], 1).store
    second = hypotheses.create(hypotheses.empty(), [RIGHT, OTHER], 1).store
    gone = hypotheses.retire(first, "H001", "falsified", "seen")
    assert ["falsified", "active"] == [row["status"] for row in gone["rows"]]
    assert ["active", "active"] == [row["status"] for row in second["rows"]] and first["rows"][0][
        "status"
    ] == "active"
    assert [] == hypotheses.empty()["rows"] and WRONG["claim"] not in {
        row["claim"] for row in second["rows"]
    }


def test_a_patch_that_changes_nothing_weakens_and_then_invalidates() -> None:
    """HYP-19, 25: the second no-op retires it, and there is no third attempt."""
    store = hypotheses.create(hypotheses.empty(), [RIGHT, WRONG], 1).store
    once = hypotheses.failed(store, "H001", "the same error", True)
    assert ("weakened", "active") == (
        hypotheses.get(once, "H001")["standing"],
        hypotheses.get(once, "H001")["status"],
    )
    twice = hypotheses.failed(once, "H001", "the same error", True)
    assert ("invalid", "archived") == (
        hypotheses.get(twice, "H001")["standing"],
        hypotheses.get(twice, "H001")["status"],
    )
