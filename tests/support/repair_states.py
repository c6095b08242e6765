"""States of a repair, as its tests need them: hypotheses in a store, an output, an attempt that was made."""

from __future__ import annotations

from typing import Any

from fdc_packs.repair import failure, hypotheses, loop

from .repaired import OTHER, RIGHT, WRONG


def made(*rows: dict[str, Any]) -> dict[str, Any]:
    return hypotheses.create(hypotheses.empty(), list(rows), 1).store


def stands(store: dict[str, Any], key: str) -> tuple[str, int, str]:
    row = hypotheses.get(store, key)
    return row["standing"], row["retry_count"], row["status"]


def row_of(row: dict[str, Any] = RIGHT) -> dict[str, Any]:
    return hypotheses.get(made(row, OTHER), "H001")


def printed(
    message: str = "AssertionError: 100 != 90", line: int = 11, failing: str = "ab", noise: str = ""
) -> str:
    trace = f'Traceback (most recent call last):\n  File "check.py", line {line}, in t\n    x\n{message}\n\n'
    return noise + "".join(
        f"FAIL: test_{name} (m.T.test_{name})\n------\n{trace}" for name in failing
    )


BEFORE = failure.read({"exit_code": 1, "output": printed()})


def opened() -> dict[str, Any]:
    return loop.open_repair(
        {"passed": False, "exit_code": 1, "output": printed(), "seconds": 1.0}, "5", "2"
    )


def diagnosed(*rows: dict[str, Any]) -> dict[str, Any]:
    return loop.choose(loop.admit(opened(), {"hypotheses": list(rows or (RIGHT, WRONG))}))


SURVIVES = {"contradictions": [{"observation": "another error", "status": "pending"}]}
PROPOSAL = {"ok": True, "why": ""}
PATCH = {
    "ok": True,
    "reason": "",
    "why": "",
    "path": "shop/price.py",
    "diff": "d",
    "spans": [[6, 6]],
    "digest": "d",
}


def after(**more: Any) -> dict[str, Any]:
    return {"passed": False, "exit_code": 1, "output": printed(**more)}


def tried(
    state: dict[str, Any], ended: dict[str, Any], patch: dict[str, Any] = PATCH
) -> dict[str, Any]:
    state = loop.weigh(state, SURVIVES)
    return loop.conclude(
        state,
        loop.attempted(state, PROPOSAL, patch, ended if patch["ok"] else None),
        {"assessment": "so"},
    )
