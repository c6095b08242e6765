"""The part of the checker that follows paths through one step: what it needs, and what it does. It imports nothing of fdc."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import Any

from . import places
from .known import (
    ALWAYS,
    ANYHOW,
    CHANCE,
    IS_GONE,
    IS_THERE,
    OPEN,
    UNKNOWN,
    Here,
    Reason,
    Side,
    State,
    commanded,
    either,
    joined,
    meets,
    touched,
)
from .places import Key, literal, said, written
from .plans import Wrong
from .touches import HOLE, RUN

LOOKS = ("list_files", "grep")
"""Tools that fail where the folder or file that they look through is not there."""

CHANGES = ("create", "write", "delete")
SAID = {"made": "FDC414", "kept": "FDC702", "chance": "FDC704", "unknown": "FDC703"}
"""By reason: the assumption that excludes it."""


class Uses:
    """A plan that begins as a row says, one step after the other.

    `did`: what is done to paths, an access with a key, or `command` with its place. `stopping`: the run goes on where it stops;
    `passed` is what holds then. `meanwhile`: the commands that other branches of forks around may run at any time.
    `limits`: the globs of `allow write` that commands are held to. `lines`: the assumptions by line.
    """

    def __init__(
        self, program: Any, certificate: Any, number: int, lines: dict[Any, set[int]]
    ) -> None:
        self.program, self.certificate, self.row, self.lines = (
            program,
            certificate,
            certificate["rows"][number],
            lines,
        )
        self.id, self.is_root = self.row["plan"], number == 0
        self.plan = program["plans"][self.id]
        self.did: set[tuple[str, Any]] = set()
        self.visits: Counter[tuple[str, str]] = Counter()
        self.stopping, self.passed = self.row["stopping"] is True, [Here({}, {})][:0]
        self.meanwhile = frozenset(map(tuple, self.row["meanwhile"]))
        allow = self.plan.get("allow")
        self.limits = [*self.row["limits"], *([allow.get("write", [])] if allow else [])]

    # ---- what is assumed ---------------------------------------------------------------

    def need(self, node: Any, key: Key, side: Side) -> None:
        """Raises Wrong where one of some reasons for a failure is neither excluded by an assumption nor claimed as open."""
        for reason in sorted(side):
            if reason == ALWAYS:
                raise Wrong(
                    f"plan `{self.id}`, line {node['line']}: {said(key)} may not be as the step needs it"
                )
            if not self.assumed(node, key, reason):
                if (
                    reason[0] in ("made", "kept")
                    and literal(key)
                    and not key[0].startswith("runs/")
                    and not self.meanwhile
                ):
                    place = f"line {reason[2]} of `{reason[1]}`"
                    raise Wrong(f"plan `{self.id}`, line {node['line']}: no assumption says what the command in {place} "
                                f"does to {said(key)}")  # fmt: skip
                self.open(node, key)

    def open(self, node: Any, key: Key) -> None:
        """A use that is not shown. Raises Wrong where that is not said."""
        if [self.plan["path"], node["line"]] not in self.certificate["open"]:
            raise Wrong(
                f"plan `{self.id}`, line {node['line']}: nothing shows that {said(key)} is as the step needs it"
            )

    def assumed(self, node: Any, key: Key, reason: Reason) -> bool:
        """Whether an assumption of the program, which the certificate lists, excludes a reason in this line."""
        return any(
            number in self.certificate["assumes"] for number in self.about(node, key, reason)
        )

    def about(self, node: Any, key: Key, reason: Reason) -> list[int]:
        """The numbers of the assumptions that exclude a reason in this line: they are about the line and the command."""
        lines = [(self.plan["path"], node["line"]), *([reason[1:]] if len(reason) > 1 else [])]
        found = set.intersection(*(self.lines.get(line, set()) for line in lines))
        return [
            number
            for number in sorted(found)
            if self.fits(self.program["assumptions"][number], node, key, reason)
        ]

    def fits(self, one: Any, node: Any, key: Key, reason: Reason) -> bool:
        """Whether an assumption about this line excludes a reason: it is about the path, too."""
        code = one["code"]
        names = [
            said(key),
            *(written(value) for value in (*node.get("args", {}).values(), node.get("glob", ()))),
        ]
        told = (
            any(name in one["text"] for name in (names[:1] if literal(key) else names))
            or " more" in one["text"]
        )
        if not told:
            return False
        if (
            code == SAID.get(reason[0])
            or code == "FDC703"
            and reason == CHANCE
            and not literal(key)
        ):
            return True
        return code == "FDC704" and self.fresh(key, reason)

    def fresh(self, key: Key, reason: Reason) -> bool:
        """Whether a path is in the folder of the run, where nothing is but what steps have put there: no command did."""
        tools = self.program["tools"].values()
        only_steps = not any(
            row.get("writes") == "unknown" or row.get("access", {}).get("write") for row in tools
        )
        return reason == UNKNOWN and type(key[0]) is str and key[0].startswith(RUN) and only_steps

    # ---- steps -------------------------------------------------------------------------

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
