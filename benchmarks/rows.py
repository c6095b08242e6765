"""What a measurement says: rows of the table, and what a round of rounds needs to make them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .environment import Tools
from .measure import Command, Sample, Spread, clean_environment, cores, interleave, load


@dataclass(frozen=True)
class Row:
    """One line of the table.

    `wall` and `cpu` are what the goal speaks of, by both clocks: ratios, or thousands of lines a second.
    `goal` is the bound; `at_least` turns it round; None: the row is shown, not judged.
    """

    id: str
    what: str
    fdc: str
    beside: str
    unit: str
    wall: Spread
    cpu: Spread
    goal: float | None = None
    at_least: bool = False

    def met(self, *, by_cpu: bool) -> bool | None:
        """True where the goal is met, by CPU time where the machine was overcommitted."""
        if self.goal is None:
            return None
        median = (self.cpu if by_cpu else self.wall).median
        return median >= self.goal if self.at_least else median <= self.goal


@dataclass
class Session:
    """One run of the benchmarks: what is measured, where, how thoroughly, and what was noticed on the way."""

    tools: Tools
    home: Path
    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def rounds(self, count: int) -> int:
        """`count`, or one in a smoke run."""
        return 1 if self.quick else count

    def interleave(
        self, commands: Mapping[str, Command], rounds: int, *, warm_up: bool = True
    ) -> dict[str, list[Sample]]:
        """As `measure.interleave`, as thoroughly as this session is; the load is noted at the end."""
        found = interleave(
            commands, self.rounds(rounds), self.env(), warm_up=warm_up and not self.quick
        )
        self.watch()
        return found

    def env(self, cache: str = "cache") -> dict[str, str]:
        """The environment of the contenders, with a verdict cache of ours."""
        ours = {"FDC_CACHE_DIR": self.home / cache, "PRE_COMMIT_HOME": self.home / "pre-commit"}
        return clean_environment({name: str(path) for name, path in ours.items()})

    def watch(self) -> None:
        """Notes the load, and says when there is more of it than there are CPUs."""
        self.loads.append(load())
        if self.loads[-1] > cores() and not any(value > cores() for value in self.loads[:-1]):
            crowd = f"the load is {self.loads[-1]:.1f} on {cores()} CPUs"
            print(f"benchmarks: {crowd}; wall times are unsure", file=sys.stderr)

    @property
    def crowded(self) -> bool:
        """True where more than half of the looks at the load found more processes than CPUs."""
        return sum(value > cores() for value in self.loads) * 2 > len(self.loads)

    def plain(self) -> dict[str, Any]:
        """Everything as built-in types, for JSON."""
        rows = [
            {**asdict(row), "wall": row.wall._asdict(), "cpu": row.cpu._asdict()}
            for row in self.rows
        ]
        return {
            "versions": self.tools.versions,
            "rows": rows,
            "notes": self.notes,
            "loads": self.loads,
        }
