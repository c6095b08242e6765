"""What is said of a source, and of all of them, where no model is configured. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fdc_toolchain.api.text import narrow


def quoted(question: str, source: dict[str, object]) -> dict[str, object]:
    """The sentences of a source that were found by their words, each a claim that quotes itself."""
    evidence = narrow(source.get("evidence", []), list)
    rows = [row for row in evidence if isinstance(row, dict) and row.get("quote")]
    return {
        "claims": [
            {
                "claim": row["quote"],
                "citations": [{"path": source["path"], "line": row["line"], "quote": row["quote"]}],
            }
            for row in rows
        ]
    }


def unsaid(question: str, notes: Sequence[object] | None = None) -> dict[str, object]:
    """No answer in words of its own: the report is made of quotations then."""
    return {"claims": [], "open_questions": []}
