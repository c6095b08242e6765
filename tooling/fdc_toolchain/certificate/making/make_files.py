"""Makes the part `files` of certificates. Nothing here is trusted: what is made counts once `paths.check` has said that it holds.

What plans and loops do to paths is found first, by a walk that takes everything for possible. The states are found by the walk
that checks them: loops are gone round until nothing is new, and a call that begins in a new way gets a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..control import digest
from ..file_sets import RUN
from ..files.known import Did, Here, Side, State, by_line, joined
from ..files.paths import Paths
from ..files.places import Key, literal
from ..plans import Wrong, turns

MOST_NODES = 200_000
"""Beyond so many instructions that the walks come by, nothing is claimed."""

MOST_ROUNDS = 100
"""Of a loop without a condition so many rounds are told apart."""

__all__ = ["Wrong", "make"]


class TooMany(Exception):
    """The claims are more than are worth making."""


def make(
    program: dict[str, Any], kind: Callable[[str], str], making: type[Making] | None = None
) -> dict[str, Any] | None:
    """The claims about paths; None where they are too many. Raises Wrong, with the place, where a path is not as a step needs it.

    `kind`: what lies at a literal path before the first step (`file`, `folder`, another word, or `missing`).
    `making`: the walk that makes them (for tests).
    """
    made = Rows(program, making or Making)
    root = program["root"]
    given: dict[str, Key] = {
        p["name"]: ((f"|{p['name']}", "", ""),) for p in program["plans"][root].get("params", ())
    }
    try:
        used = {
            what
            for access, what in made.survey(root, given, []).did
            if access != "command" and literal(what)
        }
        names = {key[0].removesuffix("/") for key in used if not key[0].startswith(RUN)}
        made.certificate["facts"] = {name: kind(name) for name in sorted(names)}
        made.certificate["rows"].append({"plan": root, **BEGIN, "entry": []})
        walk = Paths(program, made.certificate, 0, {})
        made.certificate["rows"].clear()
        made.row(root, given, {key: walk.fact(key) for key in used}, False, frozenset(), [])
    except (TooMany, RecursionError):
        return None
    listed = {
        "assumes": sorted(made.certificate["assumes"]),
        "open": sorted(map(list, made.certificate["open"])),
    }
    return {"format": 1, "part": "files", "program": digest(program), **made.certificate, **listed}


BEGIN: dict[str, Any] = {"params": {}, "stopping": False, "meanwhile": [], "limits": []}


def differences(before: dict[Key, State], after: dict[Key, State]) -> list[Any]:
    """What is to be claimed of paths whose states are not what they were before."""
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
            row["did"] = sorted(([access, list(what)] for access, what in walk.did), key=repr)
            row["gives"] = {"ends": differences(begun.files, ends.files)}
            if stops is not None:
                row["gives"]["stops"] = differences(begun.files, stops.files)
            for claims in (*row["loops"].values(), *row["calls"].values()):
                while len(claims) > 1 and claims[-1] == claims[-2]:
                    claims.pop()
        return self.numbers[key]


class Survey(Paths):
    """A walk of which only what is done counts."""

    def __init__(self, made: Rows, plan: str, given: dict[str, Key], limits: list[Any]) -> None:
        row = {"plan": plan, **BEGIN, "params": given, "limits": limits, "entry": []}
        super().__init__(made.program, {"rows": [row], "facts": {}}, 0, {})
        self.made, self.is_root, self.loops = made, False, dict[str, Did]()

    def need(self, node: Any, key: Key, side: Side) -> None:
        pass

    def hold(self, held: bool, message: str) -> None:
        pass

    def body(self, place: str, body: Any, here: Here) -> None:
        self.made.count(len(body))
        super().body(place, body, here)

    def callee(self, here: Here, node: Any, at: str, given: dict[str, Key]) -> Any:
        did = self.made.survey(node["plan"], given, self.limits).did
        return {**BEGIN, "plan": node["plan"], "entry": [], "did": did, "gives": {"ends": []}}

    def claim(self, node: Any, at: str) -> Any:
        return {"did": []}

    def rounds(
        self,
        here: Here,
        node: Any,
        at: str,
        item: tuple[Key, Did],
        claim: Any,
        kind: str,
        some_stop: bool,
    ) -> Here:
        found = self.turn(here, node, at, item, False)
        self.loops[at] = self.loops.get(at, frozenset()) | self.did
        return found


class Making(Paths):
    """The same walk, with claims that are made where they are asked for."""

    def __init__(self, made: Rows, number: int) -> None:
        super().__init__(made.program, made.certificate, number, made.lines)
        self.made = made
        self.survey = made.survey(self.id, begun_with(self.row), self.row["limits"])

    def body(self, place: str, body: Any, here: Here) -> None:
        self.made.count(len(body))
        super().body(place, body, here)

    def assumed(self, node: Any, key: Key, reason: Any) -> bool:
        fitting = self.about(node, key, reason)
        self.certificate["assumes"].update(fitting[:1])
        return bool(fitting)

    def open(self, node: Any, key: Key) -> None:
        self.certificate["open"].add((self.plan["path"], node["line"]))

    def callee(self, here: Here, node: Any, at: str, given: dict[str, Key]) -> Any:
        did = self.made.survey(node["plan"], given, self.limits).did
        named = {what for access, what in did if access != "command"}
        moved = named.union(self.moved(here.files, did))
        files = {key: state for key, state in here.files.items() if key in moved}
        number = self.made.row(
            node["plan"], given, files, self.stopping, self.meanwhile, self.limits
        )
        self.row["calls"].setdefault(at, []).append(number)
        return self.certificate["rows"][number]

    def claim(self, node: Any, at: str) -> Any:
        claim: dict[str, Any] = {
            "did": sorted(
                ([access, list(what)] for access, what in self.survey.loops[at]), key=repr
            )
        }
        self.row["loops"].setdefault(at, []).append(claim)
        return claim

    def rounds(
        self,
        here: Here,
        node: Any,
        at: str,
        item: tuple[Key, Did],
        claim: Any,
        kind: str,
        some_stop: bool,
    ) -> Here:
        least, most = (0 if kind == "stops" else turns(node)[0]), turns(node)[1]
        chain = [here.copy()]
        while len(chain) - 1 != most:
            after = self.turn(chain[-1], node, at, item, some_stop)
            if len(chain) > min(least, MOST_ROUNDS):
                after = joined([after, chain[-1]], "")
            if after.files == chain[-1].files:
                break
            chain.append(after)
        claim[kind] = [differences(here.files, one.files) for one in chain]
        return joined(chain[min(least, len(chain) - 1) :], "")


def begun_with(row: Any) -> dict[str, Key]:
    return {name: tuple(tuple(part) if isinstance(part, (list, tuple)) else part for part in key)
            for name, key in row["params"].items()}  # fmt: skip
