"""Makes the part `files` of certificates. Nothing here is trusted: `paths.check` checks the result.

A first walk, which assumes that everything is possible, finds what plans and loops do to paths. The walk of the checker then
finds the states: loops are repeated until nothing changes, and a call that begins in a new way gets a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..control import digest
from ..file_sets import RUN
from ..files.known import Did, Point, Side, State, by_line, joined
from ..files.paths import Paths
from ..files.places import Key, literal
from ..plans import Wrong, turns

MOST_NODES = 200_000
"""Maximum instructions that the walks visit; beyond it nothing is claimed."""

MOST_ROUNDS = 100
"""Maximum rounds of a loop without a condition that get claims of their own."""

__all__ = ["Wrong", "make"]


class TooMany(Exception):
    """The claims are too many."""


def make(
    program: dict[str, Any], kind: Callable[[str], str], making: type[Making] | None = None
) -> dict[str, Any] | None:
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
        used = {
            key
            for access, key in rows.survey(root, params, []).did
            if access != "command" and literal(key)
        }
        names = {key[0].removesuffix("/") for key in used if not key[0].startswith(RUN)}
        rows.certificate["facts"] = {name: kind(name) for name in sorted(names)}
        rows.certificate["rows"].append({"plan": root, **BEGIN, "entry": []})
        walk = Paths(program, rows.certificate, 0, {})
        rows.certificate["rows"].clear()
        rows.row(root, params, {key: walk.fact(key) for key in used}, False, frozenset(), [])
    except (TooMany, RecursionError):
        return None
    listed = {
        "assumes": sorted(rows.certificate["assumes"]),
        "open": sorted(map(list, rows.certificate["open"])),
    }
    return {"format": 1, "part": "files", "program": digest(program), **rows.certificate, **listed}


BEGIN: dict[str, Any] = {"params": {}, "stopping": False, "meanwhile": [], "limits": []}


def differences(before: dict[Key, State], after: dict[Key, State]) -> list[Any]:
    """The claims about paths whose states have changed."""
    gone = [[list(key)] for key in before if key not in after]
    return gone + [written(key, state) for key, state in after.items() if before.get(key) != state]


def written(key: Key, state: State) -> list[Any]:
    return [list(key), *(sorted(map(list, side)) for side in state)]


class Rows:
    """The rows that are made, by how they begin."""

    def __init__(self, program: dict[str, Any], making: type[Making]) -> None:
        self.program, self.making, self.lines = program, making, by_line(program)
        self.certificate: dict[str, Any] = {
            "facts": {},
            "assumes": set(),
            "open": set(),
            "rows": [],
        }
        self.numbers: dict[Any, int] = {}
        self.surveys: dict[Any, Survey] = {}
        self.nodes = 0

    def count(self, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            raise TooMany

    def survey(self, plan: str, given: dict[str, Key], limits: list[Any]) -> Survey:
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
        meanwhile: frozenset[Any],
        limits: Any,
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
            row: dict[str, Any] = {
                "plan": plan, "params": {name: list(value) for name, value in given.items()}, "stopping": stopping,
                "meanwhile": sorted(map(list, meanwhile)), "limits": limits,
                "entry": [written(*item) for item in files.items()], "loops": {}, "calls": {},
            }  # fmt: skip
            self.certificate["rows"].append(row)
            walk = self.making(self, number)
            begun = walk.begin()
            ends, stops = walk.walk(begun.copy())
            row["did"] = sorted(([access, list(target)] for access, target in walk.did), key=repr)
            row["gives"] = {"ends": differences(begun.files, ends.files)}
            if stops is not None:
                row["gives"]["stops"] = differences(begun.files, stops.files)
            for claims in (*row["loops"].values(), *row["calls"].values()):
                while len(claims) > 1 and claims[-1] == claims[-2]:
                    claims.pop()
        return self.numbers[key]


class Survey(Paths):
    """A walk that only collects what is done to paths."""

    def __init__(self, rows: Rows, plan: str, given: dict[str, Key], limits: list[Any]) -> None:
        row = {"plan": plan, **BEGIN, "params": given, "limits": limits, "entry": []}
        super().__init__(rows.program, {"rows": [row], "facts": {}}, 0, {})
        self.made, self.is_root, self.loops = rows, False, dict[str, Did]()

    def need(self, node: Any, key: Key, side: Side) -> None:
        pass

    def hold(self, held: bool, message: str) -> None:
        pass

    def body(self, place: str, body: Any, point: Point) -> None:
        self.made.count(len(body))
        super().body(place, body, point)

    def callee(self, point: Point, node: Any, at: str, given: dict[str, Key]) -> Any:
        did = self.made.survey(node["plan"], given, self.limits).did
        return {**BEGIN, "plan": node["plan"], "entry": [], "did": did, "gives": {"ends": []}}

    def claim(self, node: Any, at: str) -> Any:
        return {"did": []}

    def rounds(
        self,
        point: Point,
        node: Any,
        at: str,
        item: tuple[Key, Did],
        claim: Any,
        kind: str,
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

    def body(self, place: str, body: Any, point: Point) -> None:
        self.made.count(len(body))
        super().body(place, body, point)

    def assumed(self, node: Any, key: Key, reason: Any) -> bool:
        fitting = self.about(node, key, reason)
        self.certificate["assumes"].update(fitting[:1])
        return bool(fitting)

    def open(self, node: Any, key: Key) -> None:
        self.certificate["open"].add((self.plan["path"], node["line"]))

    def callee(self, point: Point, node: Any, at: str, given: dict[str, Key]) -> Any:
        did = self.made.survey(node["plan"], given, self.limits).did
        keys = {key for access, key in did if access != "command"}
        moved = keys.union(self.moved(point.files, did))
        files = {key: state for key, state in point.files.items() if key in moved}
        number = self.made.row(
            node["plan"], given, files, self.stopping, self.meanwhile, self.limits
        )
        self.row["calls"].setdefault(at, []).append(number)
        return self.certificate["rows"][number]

    def claim(self, node: Any, at: str) -> Any:
        claim: dict[str, Any] = {
            "did": sorted(
                ([access, list(target)] for access, target in self.survey.loops[at]), key=repr
            )
        }
        self.row["loops"].setdefault(at, []).append(claim)
        return claim

    def rounds(
        self,
        point: Point,
        node: Any,
        at: str,
        item: tuple[Key, Did],
        claim: Any,
        kind: str,
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


def begun_with(row: Any) -> dict[str, Key]:
    return {name: tuple(tuple(part) if isinstance(part, (list, tuple)) else part for part in key)
            for name, key in row["params"].items()}  # fmt: skip
