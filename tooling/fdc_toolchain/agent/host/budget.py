"""What a task may have models do, over all its runs and all that its controller asks: `.fdc/agents/TASK/purse.json`.

Like in a run, the most that a question may use is set aside on record before it is put, and what it used counts
when the answer is there; of one that a killed controller had put, what was set aside counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from ... import durable
from . import files

MEASURES = ("model_calls", "tokens", "money")
DIGITS = 9
_FILE = "purse.json"


class Exhausted(Exception):
    """A measure of the budget is used up; the message says which, and how to continue the task."""


class Purse:
    """The account of one task. `budget` has its limits by measure; without a budget it stores nothing."""

    def __init__(
        self,
        root: str,
        task_id: str,
        more: Mapping[str, float],
        used: Callable[[str], Mapping[str, float]],
    ) -> None:
        """`more`: ceilings that replace those on record. `used`: what a run has spent.

        Raises ValueError for a damaged account, WorldFailed and OSError where it cannot be kept.
        """
        self._task = task_id
        self._used = used
        self._path = os.path.join(root, *files.folder(root, task_id).split("/"), _FILE)
        self._row: dict[str, Any] = {
            "format": 1,
            "budget": {},
            "spent": {},
            "pending": {},
            "runs": [],
            **_read(self._path),
        }
        self.budget: dict[str, float] = self._row["budget"]
        lost = self._row["pending"]
        if more or lost:
            self.budget.update(more)
            files.made(root, task_id)
            self._settle(lost)

    def left(self, run: str | None = None) -> dict[str, float]:
        """The remaining amount of each limited measure; for a run of the task, plus what the run itself has used."""
        left = dict(self.budget)
        others = [self._used(one) for one in self._row["runs"] if one != run] if left else []
        for measure in left:
            gone = sum(row.get(measure, 0.0) for row in (self._row["spent"], *others))
            left[measure] = max(0.0, round(left[measure] - gone, DIGITS))
        return left

    def begin(self, run: str) -> None:
        """Adds a run to the account, before it is recorded."""
        if self.budget and run not in self._row["runs"]:
            self._row["runs"].append(run)
            self._save()

    def reserve(self, calls: int, tokens: int, rate: float | None) -> dict[str, float]:
        """Sets aside what a question may use: so many calls and tokens at most, at the rate of a token; less where less is left.

        Returns the ceilings by measure (`tokens` also where only money has one). Raises Exhausted.
        """
        left = self.left()
        held: dict[str, float] = {}
        if "model_calls" in left:
            held["model_calls"] = min(calls, int(left["model_calls"]))
        if "tokens" in left or "money" in left:
            most = min(tokens, int(left.get("tokens", tokens)))
            if "money" in left and rate:
                most = min(most, int(left["money"] / rate))
            held["tokens"] = most
        for measure, number in held.items():
            if number < 1:
                raise self.exhausted(
                    "money" if measure == "tokens" and left.get("tokens", 1) >= 1 else measure
                )
        aside = dict(held)
        if "money" in left:
            aside["money"] = round(held["tokens"] * (rate or 0.0), DIGITS)
        self._row["pending"] = aside
        self._save()
        return held

    def settle(self, usage: Mapping[str, float] | None) -> None:
        """Records what the question used; None: unknown, so the reserved amount counts."""
        if self.budget:
            self._settle(self._row["pending"] if usage is None else usage)

    def exhausted(self, measure: str) -> Exhausted:
        """The exception for a used-up measure."""
        return Exhausted(
            f"the task's budget of {self.budget[measure]:g} {measure} is used up; "
            f"`fdc agent --resume {self._task} --budget {measure}=NUMBER` continues with a larger budget"
        )

    def _settle(self, usage: Mapping[str, float]) -> None:
        spent = self._row["spent"]
        for measure in MEASURES:
            if usage.get(measure):
                spent[measure] = round(spent.get(measure, 0.0) + usage[measure], DIGITS)
        self._row["pending"] = {}
        self._save()

    def _save(self) -> None:
        durable.replace(
            self._path, json.dumps(self._row, indent=1, sort_keys=True).encode("ascii") + b"\n"
        )


def _read(path: str) -> dict[str, Any]:
    data = durable.read(path)
    if data is None:
        return {}
    try:
        found = json.loads(data)
        tables = [found[name] for name in ("budget", "spent", "pending")]
        numbers = all(
            name in MEASURES and isinstance(n, (int, float))
            for table in tables
            for name, n in table.items()
        )
        if not numbers or not all(isinstance(run, str) for run in found["runs"]):
            raise ValueError("it contains values that are not amounts")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(f"{path} is damaged: {wrong}") from wrong
    return dict(found)
