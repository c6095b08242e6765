"""What a run costs at worst, with the files that there are now: the numbers of `fdc run --dry-run` (FDC-13 to FDC-15).

The same bound as `analyses.bounds`, on the program instead of the plans: there, files not counted yet are
unknowns; here they are counted, and the price of the model that would be asked is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .dryrun import resolved

MEASURES = ("steps", "model_calls", "tokens", "money")


class Worst(NamedTuple):
    """The most of each measure, and the lists of files whose length is known only when the run comes to them."""

    cost: dict[str, float]
    unknown: tuple[str, ...]


def worst(program: Mapping[str, Any], given: Mapping[str, str], rate: float, count: Callable[[str], int | None]) -> Worst:
    """The worst case. `rate` is what a token costs, `count` the number of files of a glob (None: nobody knows)."""
    reader = _Reader(program, rate, count)
    cost = reader.plan(program["root"], dict(given))
    return Worst(dict(zip(MEASURES, cost, strict=True)), tuple(sorted(reader.unknown)))


_Cost = tuple[float, float, float, float]
_FREE: _Cost = (0, 0, 0, 0)


class _Reader:
    def __init__(self, program: Mapping[str, Any], rate: float, count: Callable[[str], int | None]) -> None:
        self.program = program
        self.rate = rate
        self.count = count
        self.unknown: set[str] = set()
        self.done: dict[Any, _Cost] = {}

    def plan(self, plan_id: str, names: dict[str, Any]) -> _Cost:
        plan = self.program["plans"][plan_id]
        known = {param["name"]: param["default"] for param in plan["params"] if param.get("default") is not None}
        known.update(names)
        key = (plan_id, tuple(sorted((name, str(value)) for name, value in known.items())))
        if key not in self.done:
            self.done[key] = self.block(plan["body"], known)
        return self.done[key]

    def block(self, block: list[dict[str, Any]], names: dict[str, Any]) -> _Cost:
        total = _FREE
        for item in block:
            cost = self.item(item, names)
            total = (total[0] + cost[0], total[1] + cost[1], total[2] + cost[2], total[3] + cost[3])
        return total

    def item(self, item: dict[str, Any], names: dict[str, Any]) -> _Cost:
        op = item["op"]
        if op == "step":
            tool = self.program["tools"][item["tool"]]
            cost = tool.get("cost", {})
            tokens = cost.get("tokens", 0)
            priced = round(self.rate * tokens, 9) if "prompt" in tool.get("run", ()) else 0
            return (1, cost.get("model_calls", 0), tokens, max(priced, cost.get("money", 0)))
        if op == "call":
            handed = {name: resolved(template, names) for name, template in item["args"].items()}
            return self.plan(item["plan"], {name: value for name, value in handed.items() if "{" not in value})
        if op == "if":
            then, orelse = self.block(item["then"], names), self.block(item["else"], names)
            return (max(then[0], orelse[0]), max(then[1], orelse[1]), max(then[2], orelse[2]), max(then[3], orelse[3]))
        if op in ("for", "fork", "iterate", "each"):
            times = self.files(item, names) if op == "each" else item["max"]
            inner = {name: value for name, value in names.items() if name not in (item.get("name"), item.get("alias"))}
            body = self.block(item["body"], inner)
            return (times * body[0], times * body[1], times * body[2], times * body[3])
        return _FREE

    def files(self, item: dict[str, Any], names: dict[str, Any]) -> int:
        glob = resolved(item["glob"], names)
        number = None if "{" in glob else self.count(glob)
        if number is None:
            if item["max"] is None:
                self.unknown.add(glob)
            return int(item["max"] or 1)
        return int(number if item["max"] is None else min(number, item["max"]))
