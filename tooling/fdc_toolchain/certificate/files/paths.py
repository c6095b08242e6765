"""Checks a certificate of a program, part `files`: each path that a step uses is there, or free, as the step needs it.

It imports nothing of fdc. A row claims something of a plan that begins in some way: what its parameters name, and what is known
of each path. The plan's body is walked once for each row; what holds when a round of a loop begins, and what a called plan does,
is claimed and compared. What the proof assumes is in the program (`assumptions`); `open` lists the uses that are not proved.

The checker of this part is this file with `rounds.py`, `uses.py`, `known.py`, `places.py` and `touches.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from ..control import digest
from ..file_sets import RUN
from ..plans import Wrong, live
from . import places
from .known import (
    IS_GONE,
    IS_THERE,
    NONE,
    UNKNOWN,
    Point,
    State,
    Target,
    accesses,
    by_line,
    claimed,
    commands,
    dids,
    joined,
    within,
)
from .places import Key, apart, below, key_of, literal, plain
from .rounds import Rounds
from .uses import CHANGES

if TYPE_CHECKING:
    from ..forms import Body, FilesPart, Instruction, PathRow, Program, Template


def check(program: object, certificate: object) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its place; None where everything holds."""
    of, claims = cast("Program", program), cast("FilesPart", certificate)
    try:
        if (claims["format"], claims["part"], claims["program"]) != (1, "files", digest(program)):
            raise Wrong("the certificate is for another program, or is not of the form `files` 1")
        if claims["rows"][0]["plan"] != of["root"]:
            raise Wrong("the first row is not that of the root")
        lines = by_line(of)
        for number in range(len(claims["rows"])):
            Paths(of, claims, number, lines).check()
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as wrong:
        return (
            f"the certificate lacks a claim, or is not of its form: {type(wrong).__name__}: {wrong}"
        )
    return None


class Paths(Rounds):
    """One row: a whole plan, begun as the row says."""

    def check(self) -> None:
        """Raises Wrong."""
        begun = self.begin()
        point, stops = self.walk(begun.copy())
        claim, where = self.row["gives"], f"plan `{self.id}`"
        self.hold(
            within(point, claimed(begun, claim["ends"])),
            f"{where}: it may leave paths in another way than is claimed",
        )
        held = stops is None or within(stops, claimed(begun, claim["stops"]))
        self.hold(
            held, f"{where}: where it stops, it may leave paths in another way than is claimed"
        )
        self.hold(
            self.did <= dids(self.row["did"]), f"{where}: it may do more to paths than is claimed"
        )

    def walk(self, point: Point) -> tuple[Point, Point | None]:
        """What holds at the end, and wherever the plan may stop (None: not needed, because the run does not go on then)."""
        self.note(point)
        self.body("", self.plan["body"], point)
        ends = point, joined(self.passed, "") if self.stopping else None
        for end in ends:
            if end is not None:
                end.forget(self.id)
        return ends

    def begin(self) -> Point:
        """The point where the plan begins by its row; for the root, checked against the facts. Raises Wrong."""
        names = {name: key_of(key) for name, key in self.row["params"].items()}
        point = claimed(Point(names | {"run": (RUN[:-1],)}, {}), self.row["entry"])
        if any(below(atom, self.id) for key in point.files for atom in places.atoms(key)):
            raise Wrong(f"plan `{self.id}`: it is claimed to begin with values of its own")
        if self.is_root:
            params: dict[str, Key] = {
                param["name"]: ((f"|{param['name']}", "", ""),)
                for param in self.plan.get("params", ())
            }
            if names != params or self.row["limits"] or self.stopping or self.meanwhile:
                raise Wrong("the first row is not that of the root")
            if not within(Point({}, {key: self.fact(key) for key in point.files}), point):
                raise Wrong("the first row does not begin with the facts")
        return point

    def fact(self, key: Key) -> State:
        """The state of a literal path before the first step."""
        if not literal(key):
            raise Wrong("the first row says something of a path that is not literal")
        if key[0].startswith(
            RUN
        ):  # the run finds nothing there of what it creates by a name of its own
            return frozenset({UNKNOWN}), NONE
        return (
            IS_GONE
            if self.certificate["facts"][key[0].removesuffix("/")] == "missing"
            else IS_THERE
        )

    # ---- the walk ----------------------------------------------------------------------

    def body(self, place: str, body: Body, point: Point) -> None:
        """Changes a state to what holds at the end of a body. Raises Wrong."""
        for number, node in enumerate(body, 1):
            op, at = node["op"], f"{place}/{number}"
            if op == "step":
                self.step(point, node)
            elif op == "call":
                self.call(point, node, at)
            elif op == "if":
                sides = [(f"{at}.{side}", node[side], point.copy()) for side in live(node)]
                for side in sides:
                    self.body(*side)
                point.become(joined([after for _, _, after in sides], self.id + at))
            elif op in ("each", "for", "fork", "iterate"):
                self.loop(point, node, at)
            elif op not in ("skip", "require", "yield"):
                raise Wrong(f"`{op}` is not an instruction of a program")
            if name := node.get("bind"):
                point.names[name] = ((f"{self.id}{at}|{name}", "", ""),)
            self.note(point)

    def call(self, point: Point, node: Instruction, at: str) -> None:
        """A call: it begins as the row claimed for it says, and does what that row says."""
        where, arguments = f"plan `{self.id}`, line {node['line']}", dict[str, Key]()
        for param in self.program["plans"][node["plan"]].get("params", ()):
            default = param.get("default")
            otherwise: Template = [{"ref": [""]}] if default is None else [default]
            value = node["args"].get(param["name"], otherwise)
            arguments[param["name"]] = places.resolved(value, point.names)
        row = self.callee(point, node, at, arguments)
        begins = (
            {name: key_of(key) for name, key in row["params"].items()},
            row["stopping"] is True,
            row["limits"],
        )
        held = row["plan"] == node["plan"] and begins == (arguments, self.stopping, self.limits)
        self.hold(held, f"{where}: the row claimed for the call is for another one")
        entry, did = claimed(Point({}, {}), row["entry"]), dids(row["did"])
        held = {(path, line) for path, line in row["meanwhile"]} == self.meanwhile and within(
            point, entry
        )
        self.hold(held, f"{where}: the call may begin in another way than is claimed")
        rest = {key: point.files[key] for key in point.files.keys() - entry.files.keys()}
        self.hold(
            not self.moved(rest, did), f"{where}: the call may change more paths than is claimed"
        )
        if self.stopping:
            self.note(Point(point.names, rest | claimed(entry, row["gives"]["stops"]).files))
        point.files = rest | claimed(entry, row["gives"]["ends"]).files
        self.did |= did

    def moved(self, keys: Iterable[Key], did: Iterable[tuple[str, Target]]) -> list[Key]:
        """The paths whose states may be changed by what is done."""
        changed = {key for access, key in accesses(did) if access in CHANGES}
        loose, ran = [key for key in changed if not plain(key)], bool(commands(did))
        candidates = (
            keys if ran or loose else [key for key in keys if key in changed or not plain(key)]
        )
        return [key for key in candidates if ran and self.reached(key) or key in changed
                or any(not apart(key, other) for other in (loose if plain(key) else changed))]  # fmt: skip

    def callee(self, point: Point, node: Instruction, at: str, given: dict[str, Key]) -> PathRow:
        """The row that is claimed for a call."""
        return self.certificate["rows"][self.visit("calls", at, self.row["calls"][at])]
