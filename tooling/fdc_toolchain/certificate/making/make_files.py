"""Makes the part `files` of certificates. Nothing here is trusted: `paths.check` checks the result.

A first walk, which assumes that everything is possible, finds what plans and loops do to paths. The walk of the checker then
finds the states: loops are repeated until nothing changes, and a call that begins in a new way gets a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from ..control import digest
from ..file_sets import RUN
from ..files.known import Did, Point, Reason, Side, State, accesses, by_line, joined
from ..files.paths import Paths
from ..files.places import Key, key_of, literal
from ..plans import Wrong, turns

if TYPE_CHECKING:
    from ..forms import (
        Body,
        FilesPart,
        Instruction,
        KeyForm,
        PathForm,
        PathLoop,
        PathRow,
        PathRows,
        Place,
        Program,
    )

MOST_NODES = 200_000
"""Maximum instructions that the walks visit; beyond it nothing is claimed."""

MOST_ROUNDS = 100
"""Maximum rounds of a loop without a condition that get claims of their own."""

__all__ = ["Wrong", "make"]


class TooMany(Exception):
    """The claims are too many."""


def make(
    program: Program, kind: Callable[[str], str], making: type[Making] | None = None
) -> FilesPart | None:
    """The claims about paths; None where they are too many. Raises Wrong, with the place, where a path is not as a step needs it.

    `kind`: what lies at a literal path before the first step (`file`, `folder`, another word, or `missing`).
    `making`: the walk that makes them (for tests).
    """
    rows = Rows(program, making or Making)
    root = program["root"]
    params: dict[str, Key] = {
        p["name"]: ((f"|{p['name']}", "", ""),) for p in program["plans"][root].get("params", ())
    }
    try:
        used = {key for _, key in accesses(rows.survey(root, params, []).did) if literal(key)}
        names = {key[0].removesuffix("/") for key in used if not key[0].startswith(RUN)}
        rows.certificate["facts"] = {name: kind(name) for name in sorted(names)}
        rows.certificate["rows"].append(_begun(root, {}, []))
        walk = Paths(program, rows.certificate, 0, {})
        rows.certificate["rows"].clear()
        rows.row(root, params, {key: walk.fact(key) for key in used}, False, frozenset(), [])
    except (TooMany, RecursionError):
        return None
    return {
        "format": 1,
        "part": "files",
        "program": digest(program),
        "facts": rows.certificate["facts"],
        "rows": rows.certificate["rows"],
        "assumes": sorted(rows.assumes),
        "open": [[path, line] for path, line in sorted(rows.open)],
    }


def _begun(plan: str, params: Mapping[str, KeyForm], limits: list[list[str]]) -> PathRow:
    """A row of which nothing is claimed yet."""
    return {
        "plan": plan, "params": dict(params), "stopping": False, "meanwhile": [], "limits": limits, "entry": [],
        "loops": {}, "calls": {}, "did": [], "gives": {"ends": []},
    }  # fmt: skip


def differences(before: dict[Key, State], after: dict[Key, State]) -> list[PathForm]:
    """The claims about paths whose states have changed."""
    gone: list[PathForm] = [(list(key),) for key in before if key not in after]
    return gone + [written(key, state) for key, state in after.items() if before.get(key) != state]


def written(key: Key, state: State) -> PathForm:
    absent, present = (sorted(map(list, side)) for side in state)
    return list(key), absent, present


class Rows:
    """The rows that are made, by how they begin."""

    def __init__(self, program: Program, making: type[Making]) -> None:
        self.program, self.making, self.lines = program, making, by_line(program)
        self.certificate: PathRows = {"facts": {}, "assumes": [], "open": [], "rows": []}
        self.assumes: set[int] = set()
        self.open: set[Place] = set()
        self.numbers: dict[tuple[object, ...], int] = {}
        self.surveys: dict[tuple[object, ...], Survey] = {}
        self.nodes = 0

    def count(self, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            raise TooMany

    def survey(self, plan: str, given: dict[str, Key], limits: list[list[str]]) -> Survey:
        """What a plan does to paths."""
        key = plan, tuple(given.items()), repr(limits)
        if key not in self.surveys:
            self.surveys[key] = Survey(self, plan, given, limits)
            self.surveys[key].walk(self.surveys[key].begin())
        return self.surveys[key]

    def row(
        self,
        plan: str,
        given: dict[str, Key],
        files: dict[Key, State],
        stopping: bool,
        meanwhile: frozenset[Place],
        limits: list[list[str]],
    ) -> int:
        """The number of the row for a plan that begins so."""
        key = (
            plan,
            tuple(given.items()),
            frozenset(files.items()),
            stopping,
            meanwhile,
            repr(limits),
        )
        if key not in self.numbers:
            number = self.numbers[key] = len(self.certificate["rows"])
            row: PathRow = {
                "plan": plan, "params": {name: list(value) for name, value in given.items()}, "stopping": stopping,
                "meanwhile": sorted(meanwhile), "limits": limits,
                "entry": [written(*item) for item in files.items()], "loops": {}, "calls": {}, "did": [], "gives": {"ends": []},
            }  # fmt: skip
            self.certificate["rows"].append(row)
            walk = self.making(self, number)
            begun = walk.begin()
            ends, stops = walk.walk(begun.copy())
            row["did"] = sorted(((access, list(target)) for access, target in walk.did), key=repr)
            row["gives"] = {"ends": differences(begun.files, ends.files)}
            if stops is not None:
                row["gives"]["stops"] = differences(begun.files, stops.files)
            for loops in row["loops"].values():
                _shorten(loops)
            for calls in row["calls"].values():
                _shorten(calls)
        return self.numbers[key]


def _shorten(claims: list[PathLoop] | list[int]) -> None:
    """The last claim is for all further visits, too."""
    while len(claims) > 1 and claims[-1] == claims[-2]:
        claims.pop()


class Survey(Paths):
    """A walk that only collects what is done to paths."""

    def __init__(
        self, rows: Rows, plan: str, given: dict[str, Key], limits: list[list[str]]
    ) -> None:
        row = _begun(plan, given, limits)
        super().__init__(
            rows.program, {"rows": [row], "facts": {}, "assumes": [], "open": []}, 0, {}
        )
        self.made, self.is_root, self.loops = rows, False, dict[str, Did]()

    def need(self, node: Instruction, key: Key, side: Side) -> None:
        pass

    def hold(self, held: bool, message: str) -> None:
        pass

    def body(self, place: str, body: Body, point: Point) -> None:
        self.made.count(len(body))
        super().body(place, body, point)

    def callee(self, point: Point, node: Instruction, at: str, given: dict[str, Key]) -> PathRow:
        did = self.made.survey(node["plan"], given, self.limits).did
        return {**_begun(node["plan"], {}, []), "did": did}

    def claim(self, node: Instruction, at: str) -> PathLoop:
        return {"did": []}

    def rounds(
        self,
        point: Point,
        node: Instruction,
        at: str,
        item: tuple[Key, Did],
        claim: PathLoop,
        kind: Literal["rounds", "stops"],
        some_stop: bool,
    ) -> Point:
        end = self.turn(point, node, at, item, False)
        self.loops[at] = self.loops.get(at, frozenset()) | self.did
        return end


class Making(Paths):
    """The walk of the checker, which makes claims when it asks for them."""

    def __init__(self, rows: Rows, number: int) -> None:
        super().__init__(rows.program, rows.certificate, number, rows.lines)
        self.made = rows
        self.survey = rows.survey(self.id, begun_with(self.row), self.row["limits"])

    def body(self, place: str, body: Body, point: Point) -> None:
        self.made.count(len(body))
        super().body(place, body, point)

    def assumed(self, node: Instruction, key: Key, reason: Reason) -> bool:
        fitting = self.about(node, key, reason)
        self.made.assumes.update(fitting[:1])
        return bool(fitting)

    def open(self, node: Instruction, key: Key) -> None:
        self.made.open.add((self.plan["path"], node["line"]))

    def callee(self, point: Point, node: Instruction, at: str, given: dict[str, Key]) -> PathRow:
        did = self.made.survey(node["plan"], given, self.limits).did
        keys = {key for _, key in accesses(did)}
        moved = keys.union(self.moved(point.files, did))
        files = {key: state for key, state in point.files.items() if key in moved}
        number = self.made.row(
            node["plan"], given, files, self.stopping, self.meanwhile, self.limits
        )
        self.row["calls"].setdefault(at, []).append(number)
        return self.certificate["rows"][number]

    def claim(self, node: Instruction, at: str) -> PathLoop:
        claim: PathLoop = {
            "did": sorted(
                ((access, list(target)) for access, target in self.survey.loops[at]), key=repr
            )
        }
        self.row["loops"].setdefault(at, []).append(claim)
        return claim

    def rounds(
        self,
        point: Point,
        node: Instruction,
        at: str,
        item: tuple[Key, Did],
        claim: PathLoop,
        kind: Literal["rounds", "stops"],
        some_stop: bool,
    ) -> Point:
        least, most = (0 if kind == "stops" else turns(node)[0]), turns(node)[1]
        chain = [point.copy()]
        while len(chain) - 1 != most:
            after = self.turn(chain[-1], node, at, item, some_stop)
            if len(chain) > min(least, MOST_ROUNDS):
                after = joined([after, chain[-1]], "")
            if after.files == chain[-1].files:
                break
            chain.append(after)
        claim[kind] = [differences(point.files, reached.files) for reached in chain]
        return joined(chain[min(least, len(chain) - 1) :], "")


def begun_with(row: PathRow) -> dict[str, Key]:
    return {name: key_of(key) for name, key in row["params"].items()}
