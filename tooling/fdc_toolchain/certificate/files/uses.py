"""The part of the checker that follows paths through one step: what it needs, and what it does. It imports nothing of fdc."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import Any

from ..file_sets import HOLE
from . import places
from .known import (
    ANYHOW,
    IS_GONE,
    IS_THERE,
    OPEN,
    UNKNOWN,
    Here,
    State,
    commanded,
    either,
    joined,
    meets,
    touched,
)
from .places import Key, literal
from .reasons import Reasons

LOOKS = ("list_files", "grep")
"""Tools that fail where the folder or file that they look through is not there."""

CHANGES = ("create", "write", "delete")


class Uses(Reasons):
    """A plan that begins as a row says, one step after the other.

    `did`: what is done to paths, an access with a key, or `command` with its place. `stopping`: the run goes on where it stops;
    `passed` is what holds then. `meanwhile`: the commands that other branches of forks around may run at any time.
    `limits`: the globs of `allow write` that commands are held to.
    """

    def __init__(
        self, program: Any, certificate: Any, number: int, lines: dict[Any, set[int]]
    ) -> None:
        super().__init__(program, certificate, number, lines)
        self.is_root = number == 0
        self.did: set[tuple[str, Any]] = set()
        self.visits: Counter[tuple[str, str]] = Counter()
        self.stopping, self.passed = self.row["stopping"] is True, [Here({}, {})][:0]
        allow = self.plan.get("allow")
        self.limits = [*self.row["limits"], *([allow.get("write", [])] if allow else [])]

    def step(self, here: Here, node: Any) -> None:
        """One step: its files in the order of its parameters, then what it looks through, then what a command may change."""
        tool, gone = self.program["tools"][node["tool"]], set()
        rows = [row for row in tool["parameters"] if row["name"] in node["args"]]
        if len(rows) != len(node["args"]):
            raise ValueError(f"`{node['tool']}` is given what it does not take")
        for row in rows:
            if (access := row.get("access")) is not None:
                template = node["args"][row["name"]]
                key = places.resolved(template, here.names)
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
                        if all(type(part) is str for part in template)
                        else frozenset({OPEN}),
                    )
                self.access(here, node, access, key, tool.get("failure") == "value")
        for row in rows if node["tool"] in LOOKS else ():
            if row["kind"] == "glob" and "access" not in row:
                self.look(here, node, node["args"][row["name"]])
        if tool.get("writes") == "unknown" or tool.get("access", {}).get("write"):
            self.command(here, (self.plan["path"], node["line"]))

    def access(self, here: Here, node: Any, access: str, key: Key, told: bool) -> None:
        """One use of a path; `told`: where it fails, the run goes on."""
        self.did.add((access, key))
        state = here.files.get(key, ANYHOW)
        if access != "write":
            self.need(node, key, state[1 if access == "create" else 0])
        elif places.opaque(key) and key not in here.files:
            self.need(node, key, frozenset({UNKNOWN}))
        after = IS_GONE if access == "delete" else IS_THERE
        if told:
            after = (state[0] | after[0] | {OPEN}, state[1] | after[1] | {OPEN})
        self.put(here, key, after)
        if access in CHANGES:
            self.touch(here, access, key)
        self.note(here)

    def put(self, here: Here, key: Key, state: State) -> None:
        """What is known of a path from here on."""
        if places.tracked(key):
            here.files[key] = self.around(key, state)

    def around(self, key: Key, state: State) -> State:
        """What is known of a path where other branches may run their commands at any time."""
        for where in sorted(self.meanwhile) * 2 if self.meanwhile and self.reached(key) else ():
            state = either((state, commanded(state, where)))
        return state

    def touch(self, here: Here, access: str, cause: Key) -> None:
        """What a step does to paths that it names in other words."""
        certain = places.plain(cause)
        for key in [key for key in here.files if not certain or not places.plain(key)]:
            if key == cause:
                continue
            if literal(key) and key[0].endswith("/") and literal(cause):
                if access == "delete" and cause[0] + "/" == key[0]:
                    here.files[key] = IS_GONE
                elif access != "delete" and (cause[0] + "/").startswith(key[0]):
                    self.put(here, key, IS_THERE)
            elif literal(key) and key[0].endswith("/"):  # a folder stays when files in it go
                if (
                    access == "delete"
                    and self.certificate["facts"].get(key[0][:-1]) != "folder"
                    and meets(cause, (key[0][:-1],))
                ):
                    here.files[key] = touched(here.files[key], access, OPEN)
            elif (reason := meets(cause, key)) is not None:
                here.files[key] = touched(here.files[key], access, reason)

    def look(self, here: Here, node: Any, template: Any) -> None:
        """What a step looks through has to be there; a glob may find nothing."""
        text = "".join(part if type(part) is str else HOLE for part in template)
        found = any(mark in text for mark in "*?[")
        if HOLE in text:
            if places.opaque(key := places.resolved(template, here.names)) or not found:
                self.need(node, key, frozenset({UNKNOWN}))
        elif (
            not found
            and not text.startswith("/")
            and (name := posixpath.normpath(text).strip("/")) not in ("", ".")
        ):
            if not name.startswith(".."):
                self.access(here, node, "list", (name + "/",), False)

    def command(self, here: Here, where: tuple[str, int]) -> None:
        """A command may change every path that it is not kept from."""
        self.did.add(("command", where))
        for key, state in here.files.items():
            if self.reached(key):
                here.files[key] = self.around(key, commanded(state, where))
        self.note(here)

    def reached(self, key: Key) -> bool:
        """Whether a command may change a path."""
        return all(any(places.granted(glob, key) for glob in globs) for globs in self.limits)

    def note(self, here: Here) -> None:
        """What holds where the run may stop and go on."""
        if self.stopping:
            self.passed = [joined([*self.passed, here], "")]
