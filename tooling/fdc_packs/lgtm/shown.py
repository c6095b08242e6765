"""What prompts show of a run: evidence as blocks with id, file and lines, hypotheses as texts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeGuard

    from .shapes.artifacts import Hypothesis
    from .shapes.found import WrittenEntry

MOST = 48_000
"""Characters of evidence that are shown with their lines; what is more is shown as one line each."""


def is_kept(row: object) -> TypeGuard[WrittenEntry]:
    """Whether a find became knowledge: only `knowledge.write_up` says `ok` of one."""
    return isinstance(row, dict) and bool(row.get("ok"))


def kept(results: object) -> list[WrittenEntry]:
    """The finds that were written as knowledge."""
    rows = results if isinstance(results, list) else []
    return [row for row in rows if is_kept(row)]


def block(ident: str, source: str, note: str, quote: str, lines: str) -> str:
    """One piece of evidence: its id, where it stands, what it is, and the lines; the quotation where there are none."""
    return f"[{ident}] {source} -- {note}\n{lines or quote}"


def of_find(row: WrittenEntry, whole: bool = True) -> str:
    """The block of a find; `whole`: with its lines."""
    stub = row["stub"]
    lines = str(stub.get("snippet") or "") if whole else ""
    note = str(stub.get("note") or "a find")
    return block(stub["entryID"], stub["source"], note, str(stub["quote"]), lines)


def blocks(rows: list[tuple[str, str]]) -> tuple[str, int]:
    """Evidence under each other, the first in full and what is beyond `MOST` in short: pairs of both forms. And how many are
    short."""
    out: list[str] = []
    size = short = 0
    for whole, brief in rows:
        fits = size + len(whole) <= MOST
        out.append(whole if fits else brief)
        size += len(out[-1])
        short += not fits
    return "\n\n".join(out), short


def hypothesis(row: Hypothesis) -> str:
    """A hypothesis as a person would note it down."""
    out = [
        f"{row['microHypothesisID']}, confidence {row['confidence']}",
        f"Statement: {row['statement']}",
    ]
    out += [f"What is missing today: {row['gapCharacterization']}", f"Why: {row['rationale']}"]
    for one in row["keyAssumptions"]:
        ids = ", ".join(entry_of(path) for path in one["evidence"]) or "no evidence"
        out.append(f"Assumption {one['id']}: {one['statement']} [{ids}]")
    listed = {"It is right if": row["validationCriteria"], "Held against it": row["critiquePoints"],
              "Open question": row["questions"], "Another way": row["alternativeApproaches"]}  # fmt: skip
    return "\n".join([*out, *(f"{name}: {one}" for name, rows in listed.items() for one in rows)])


def entry_of(path: str) -> str:
    """The id of the entry in a knowledge file."""
    return path.removeprefix("knowledge/k_").removesuffix("_evidence.md")


def text(value: object) -> str:
    """`state.shown`: the finds of a search, a hypothesis, or several."""
    rows: list[Any] = value if isinstance(value, list) else [value]
    if rows and all(isinstance(row, dict) and "statement" in row for row in rows):
        return "\n\n".join(hypothesis(row) for row in rows)
    found = blocks([(of_find(row), of_find(row, False)) for row in kept(value)])[0]
    return found or "(nothing was found)"
