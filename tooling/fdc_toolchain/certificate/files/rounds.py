"""The part of the checker that follows paths through loops. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from ..plans import Wrong, turns
from . import places
from .known import (
    ALWAYS,
    CHANCE,
    IS_THERE,
    OPEN,
    UNKNOWN,
    Did,
    Point,
    State,
    accesses,
    bound,
    claimed,
    commanded,
    commands,
    dids,
    either,
    joined,
    meets,
    touched,
    within,
)
from .places import Key, apart, literal, renamed
from .uses import CHANGES, Uses

if TYPE_CHECKING:
    from ..forms import Body, Instruction, PathLoop, Place

Claim = TypeVar("Claim")


class Rounds(Uses):
    """A plan that begins as a row says, with its loops."""

    @abstractmethod
    def body(self, place: str, body: Body, point: Point) -> None:
        """Changes a state to what holds at the end of a body. Raises Wrong."""

    def hold(self, held: bool, message: str) -> None:
        """Raises Wrong where a claim does not hold."""
        if not held:
            raise Wrong(message)

    def visit(self, kind: str, at: str, claims: list[Claim]) -> Claim:
        """The claim for a joint: one for each visit by the walk of the row; the last one is for all further visits."""
        number = self.visits[kind, at]
        self.visits[kind, at] += 1
        return claims[min(number, len(claims) - 1)]

    def loop(self, point: Point, node: Instruction, at: str) -> None:
        """A loop: what is claimed to hold when a round begins."""
        prefix, keeps, forks = (
            self.id + at,
            "keep" in node,
            node["op"] == "fork" and turns(node)[1] != 1,
        )
        item: Key = ((f"{prefix}|{node.get('alias') or node.get('name')}", "", ""),)
        if node["op"] == "each":
            glob = places.resolved(node["glob"], point.names)
            if places.opaque(glob):
                self.need(node, glob, frozenset({UNKNOWN}))
            item = ((item[0][0], "", places.text_of(glob)),)
        claim = self.claim(node, at)
        did, (stopping, done, meanwhile) = (
            dids(claim["did"]),
            (self.stopping, self.did, self.meanwhile),
        )
        if forks:
            self.meanwhile |= commands(did)
            self.conflicts(node, prefix, did)
        self.did = set()
        ends = self.rounds(point, node, at, (item, did), claim, "rounds", keeps)
        if forks and stopping and not keeps:  # a branch that stops lets the others go on
            self.note(self.rounds(point, node, at, (item, did), claim, "stops", True))
        self.hold(
            self.did <= did,
            f"plan `{self.id}`, line {node['line']}: a round may do more to paths than is claimed",
        )
        self.did, self.meanwhile = done | self.did, meanwhile
        names = (
            {name: ((f"{prefix}${name}", "", ""),) for name in bound(node["body"])}
            if node["op"] != "fork"
            else {}
        )
        loop = {
            name: point.names[name]
            for name in (node.get("name"), node.get("alias"))
            if name in point.names
        }
        point.names, point.files = {**point.names, **names, **loop}, ends.files

    def claim(self, node: Instruction, at: str) -> PathLoop:
        """What is claimed of a loop."""
        return self.visit("loops", at, self.row["loops"][at])

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
        """Where a loop ends. Claim n is what holds after n rounds; the last one holds after further rounds, too."""
        least, most = (0 if kind == "stops" else turns(node)[0]), turns(node)[1]
        chain, where = (
            [claimed(point, rows) for rows in claim[kind]],
            f"plan `{self.id}`, line {node['line']}",
        )
        self.hold(
            within(point, chain[0]), f"{where}: the loop may begin in another way than is claimed"
        )
        chain += [] if len(chain) - 1 == most else chain[-1:]
        for before, after in pairwise(chain):
            held = within(self.turn(before, node, at, item, some_stop), after)
            self.hold(
                held, f"{where}: a round of the loop may leave paths in another way than is claimed"
            )
        return joined(chain[min(least, len(chain) - 1) :], "")

    def turn(
        self, head: Point, node: Instruction, at: str, item: tuple[Key, Did], some_stop: bool
    ) -> Point:
        """What holds after a round; with `some_stop`, wherever a round may stop, too."""
        point, prefix, (key, did) = head.copy(), self.id + at, item
        if node["op"] != "fork":
            point.names |= {name: ((f"{prefix}|{name}", "", ""),) for name in bound(node["body"])}
        point.names |= {
            name: key for name in (node.get("name"), node.get("alias")) if name is not None
        }
        if node["op"] == "each":
            point.files[key] = self.listed(key, prefix, did if node["max"] != 1 else frozenset())
        point.files = (
            {path: self.around(path, state) for path, state in point.files.items()}
            if self.meanwhile
            else point.files
        )
        outer = self.stopping, self.passed
        if some_stop:
            self.stopping, self.passed = True, [point.copy()]
        self.body(at, node["body"], point)
        end = joined([*self.passed, point], "") if some_stop else point
        if some_stop:
            self.stopping, self.passed = outer
        for reached in (end, *self.passed):
            reached.forget(prefix)
        return Point(head.names, end.files)

    def listed(self, key: Key, prefix: str, did: Did) -> State:
        """What is known of the file of a round: it was there when the loop began, and other rounds had other files."""
        state = IS_THERE
        for access, target in sorted(did, key=repr) * 2:
            if access == "command" and self.reached(key):
                state = either((state, commanded(state, cast("Place", target))))
            elif (
                access in CHANGES
                and target != key
                and (reason := meets(renamed(cast("Key", target), prefix), key)) is not None
            ):
                state = touched(state, access, reason)
        return state

    def conflicts(self, node: Instruction, prefix: str, did: Did) -> None:
        """Branches run at the same time: what one of them changes, no other one uses. Raises Wrong."""
        used = {path for _, path in accesses(did)}
        for key in {path for access, path in accesses(did) if access in CHANGES}:
            for other in used:
                elsewhere = renamed((other[0].rstrip("/"),) if literal(other) else other, prefix)
                if not apart(key, elsewhere):
                    chance = (
                        key == other != elsewhere or places.opaque(key) or places.opaque(elsewhere)
                    )
                    reason = CHANCE if chance else ALWAYS if key == elsewhere else OPEN
                    self.need(node, key, frozenset({reason}))
