"""The part of the checker that follows paths through one step: what it needs and what it does. It imports nothing of fdc."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from ..file_sets import HIDDEN, HOLE, RUN
from . import places
from .known import (
    ANYHOW,
    IS_GONE,
    IS_THERE,
    OPEN,
    UNKNOWN,
    Point,
    Reason,
    State,
    Target,
    commanded,
    either,
    joined,
    meets,
    touched,
)
from .places import Key, literal
from .reasons import Reasons

if TYPE_CHECKING:
    from ..forms import Instruction, PathRows, Place, Program, Template

LOOKS = ("list_files", "grep")
"""Tools that fail where the folder or file that they search does not exist."""
_OF_RUN = ((RUN[:-1],), (HIDDEN[:-1],))
"""Folders of the run, which may always be searched."""

CHANGES = ("create", "write", "delete")


class Uses(Reasons):
    """A plan that begins as a row says, one step after the other.

    `did`: what is done to paths, an access with a key, or `command` with its place. `stopping`: the run goes on after the plan
    stops; `passed` is what holds then. `meanwhile`: commands that other branches of enclosing forks may run at any time.
    `limits`: the globs of `allow write` that commands are held to.
    """

    def __init__(
        self, program: Program, certificate: PathRows, number: int, lines: dict[Reason, set[int]]
    ) -> None:
        super().__init__(program, certificate, number, lines)
        self.is_root = number == 0
        self.did: set[tuple[str, Target]] = set()
        self.visits: Counter[tuple[str, str]] = Counter()
        self.stopping, self.passed = self.row["stopping"] is True, [Point({}, {})][:0]
        allow = self.plan.get("allow")
        self.limits = [*self.row["limits"], *([allow.get("write", [])] if allow else [])]

    def step(self, point: Point, node: Instruction) -> None:
        """One step: its files in the order of its parameters, then what it looks through, then what a command may change."""
        tool, gone = self.program["tools"][node["tool"]], set[Key]()
        rows = [row for row in tool["parameters"] if row["name"] in node["args"]]
        if len(rows) != len(node["args"]):
            raise ValueError(f"`{node['tool']}` is given what it does not take")
        for row in rows:
            if (access := row.get("access")) is not None:
                template = node["args"][row["name"]]
                key = places.resolved(template, point.names)
                if access == "create" and key in gone:
                    self.need(node, key, IS_THERE[1])  # a file is to have the name that it has
                gone |= {key} if access == "delete" else set()
                if (
                    literal(key)
                    and access != "create"
                    and self.certificate["facts"].get(key[0]) not in ("file", "missing", None)
                ):
                    self.need(
                        node,
                        key,
                        IS_THERE[1]
                        if all(isinstance(part, str) for part in template)
                        else frozenset({OPEN}),
                    )
                self.access(point, node, access, key, tool.get("failure") == "value")
        for row in rows if node["tool"] in LOOKS else ():
            if row["kind"] == "glob" and "access" not in row:
                self.look(point, node, node["args"][row["name"]])
        if tool.get("writes") == "unknown" or tool.get("access", {}).get("write"):
            self.command(point, (self.plan["path"], node["line"]))

    def access(self, point: Point, node: Instruction, access: str, key: Key, goes_on: bool) -> None:
        """One use of a path; `goes_on`: where it fails, the run goes on."""
        self.did.add((access, key))
        state = point.files.get(key, ANYHOW)
        if access != "write":
            self.need(node, key, state[1 if access == "create" else 0])
        elif places.opaque(key) and key not in point.files:
            self.need(node, key, frozenset({UNKNOWN}))
        after = IS_GONE if access == "delete" else IS_THERE
        if goes_on:
            after = (state[0] | after[0] | {OPEN}, state[1] | after[1] | {OPEN})
        self.put(point, key, after)
        if access in CHANGES:
            self.touch(point, access, key)
        self.note(point)

    def put(self, point: Point, key: Key, state: State) -> None:
        """What is known of a path from here on."""
        if places.tracked(key):
            point.files[key] = self.around(key, state)

    def around(self, key: Key, state: State) -> State:
        """What is known of a path where other branches may run their commands at any time."""
        for place in sorted(self.meanwhile) * 2 if self.meanwhile and self.reached(key) else ():
            state = either((state, commanded(state, place)))
        return state

    def touch(self, point: Point, access: str, cause: Key) -> None:
        """What a step does to paths that it may name by another key."""
        certain = places.plain(cause)
        for key in [key for key in point.files if not certain or not places.plain(key)]:
            if key == cause:
                continue
            if literal(key) and key[0].endswith("/") and literal(cause):
                if access == "delete" and cause[0] + "/" == key[0]:
                    point.files[key] = IS_GONE
                elif access != "delete" and (cause[0] + "/").startswith(key[0]):
                    self.put(point, key, IS_THERE)
            elif literal(key) and key[0].endswith("/"):  # a folder stays when files in it go
                if (
                    access == "delete"
                    and self.certificate["facts"].get(key[0][:-1]) != "folder"
                    and meets(cause, (key[0][:-1],))
                ):
                    point.files[key] = touched(point.files[key], access, OPEN)
            elif (reason := meets(cause, key)) is not None:
                point.files[key] = touched(point.files[key], access, reason)

    def look(self, point: Point, node: Instruction, template: Template) -> None:
        """The folder or file that a step searches has to exist; a glob may find nothing."""
        text = "".join(part if isinstance(part, str) else HOLE for part in template)
        is_glob = any(mark in text for mark in "*?[")
        if HOLE in text:
            key = places.resolved(template, point.names)
            if places.opaque(key) or not is_glob and key not in _OF_RUN:
                self.need(node, key, frozenset({UNKNOWN}))
        elif (
            not is_glob
            and not text.startswith("/")
            and (name := posixpath.normpath(text).strip("/")) not in ("", ".")
        ):
            if not name.startswith(".."):
                self.access(point, node, "list", (name + "/",), False)

    def command(self, point: Point, where: Place) -> None:
        """A command may change every path that no limit excludes."""
        self.did.add(("command", where))
        for key, state in point.files.items():
            if self.reached(key):
                point.files[key] = self.around(key, commanded(state, where))
        self.note(point)

    def reached(self, key: Key) -> bool:
        """Whether a command may change a path."""
        return all(any(places.granted(glob, key) for glob in globs) for globs in self.limits)

    def note(self, point: Point) -> None:
        """Records what holds where the plan may stop and the run go on."""
        if self.stopping:
            self.passed = [joined([*self.passed, point], "")]
