"""Evidence: comments right above a step that say what it rests on (FDC-67).

    # evidence: docs/design.md:42
    overwrite_file_with_block src/limits.py

To the grammar they are comments. Several may stand above one step; they belong to the next statement
only. A citation is `PATH`, `PATH:LINE` or any text, such as the address of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tree import Call, Comment, Plan, Statement, Step

_MARK = re.compile(r"#\s*evidence:\s*(.*)", re.IGNORECASE)
_PLACE = re.compile(r"(?P<path>[^\s:]+)(?::(?P<line>[0-9]{1,9})(?:-[0-9]{1,9})?)?")


def evidence(plan: Plan) -> dict[int, str]:
    """The citation of each step and call that has one, by its line; several are joined by `; `."""
    return {node.line: "; ".join(cited) for node, cited in steps(plan) if cited}


def steps(plan: Plan) -> Iterator[tuple[Step | Call, list[str]]]:
    """Every step and call of a plan in the order of the text, with its citations."""
    work: list[Iterator[Statement]] = [iter(plan.statements)]
    cited: list[str] = []
    while work:
        node = next(work[-1], None)
        if node is None:
            work.pop()
            cited = []
            continue
        if isinstance(node, Comment):
            mark = _MARK.fullmatch(node.text)
            if mark is not None and mark[1].strip():
                cited.append(mark[1].strip())
            continue
        if isinstance(node, (Step, Call)):
            yield node, cited
        cited = []
        for name in ("orelse", "body"):
            inner = getattr(node, name, None)
            if inner:
                work.append(iter(inner))


def place(citation: str) -> tuple[str, int | None] | None:
    """The file and the line that a citation names; None for one that names no file."""
    match = _PLACE.fullmatch(citation)
    if match is None or "//" in citation:
        return None
    return match["path"], int(match["line"]) if match["line"] else None
