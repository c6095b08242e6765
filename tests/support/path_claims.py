"""Programs and certificates of the part `files`, with something changed in them, and certificates without a conscience."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

from fdc_toolchain.certificate.files import paths
from fdc_toolchain.certificate.making import make_files
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import Checked, program_of

from tests.support import filesets, linting, path_world
from tests.support.damage import dropped, inserted, swapped
from tests.support.flow_claims import bodies, holders, nodes

Made = dict[str, Any]
KINDS = ("plain", "rich", "kept", "rich kept", "forks", "rich forks")
PATHS = (*filesets.LITERALS, "d/e.txt", "out/a.txt", "./a.txt", "new.x")


def checked(seed: int, kind: str) -> tuple[Checked, frozenset[str]]:
    """What lint says of the set of a seed, and which of its files are there."""
    made = filesets.file_set(seed, kept="kept" in kind, rich="rich" in kind)
    files = dict(made.files)
    if "forks" in kind:  # loops over items, as branches that run at the same time
        chance = random.Random(seed)
        for name, text in files.items():
            end = chance.choice((b"", b" keep failures"))
            files[name] = re.sub(rb"(?m)^( *)for (i\d in .*)$", rb"\1fork \2" + end, text)
    world = {**files, "fdc_tools.json": filesets.CATALOGUE, "any.json": filesets.AUTOMATON}
    return linting.lint(world, "p0.plan", there=made.there, whole=True), made.there


def program(seed: int, kind: str) -> tuple[Made, frozenset[str], bool] | None:
    """The program of a seed, the files that are there, and whether lint proves it; None where it is not a program."""
    found, there = checked(seed, kind)
    codes = {item.code for item in found.diagnostics if item.severity == "error"}
    if codes - {"FDC411", "FDC412", "FDC413"}:
        return None
    return program_of(found), there, not codes


def honest(of: Made, there: frozenset[str]) -> Made:
    """The claims about a program. Raises Wrong."""
    made = make_files.make(of, lambda path: "file" if path in there else "missing")
    assert made is not None
    return made


class _Careless(make_files.Making):
    """Claims as if every path were as it is needed."""

    def need(self, node: Any, key: Any, side: Any) -> None:
        try:
            super().need(node, key, side)
        except Wrong:
            pass


def careless(of: Made, there: frozenset[str]) -> Made:
    """A certificate for any program, true or not. Raises LookupError, TypeError, ValueError where not even that can be made."""
    made = make_files.make(of, lambda path: "file" if path in there else "missing", _Careless)
    if made is None:
        raise ValueError("too many")
    return made


# ---- damage -------------------------------------------------------------------------------------------


PROGRAM_WAYS = ("drop", "copy", "move", "path", "paths", "tool", "delete", "shell", "sides", "fork", "keep", "max", "glob",
                "call", "bind", "allow", "assumption", "run", "default")  # fmt: skip


def damaged_program(made: Made, chance: random.Random, way: str) -> Made:
    """The program with one thing changed in one of `PROGRAM_WAYS`; the same where that finds nothing."""
    found = copy.deepcopy(made)
    plan = chance.choice(list(found["plans"].values()))
    inside = nodes(plan["body"])
    if not inside:
        return found
    node, holder = chance.choice(inside), chance.choice(bodies(plan))
    steps = [one for one in inside if one["op"] == "step" and one["args"]]
    loops = [one for one in inside if one["op"] in ("for", "fork")]
    if way == "drop" and len(holder) > 1:
        del holder[chance.randrange(len(holder))]
    elif way in ("copy", "move"):
        inserted(holder, node, bodies(plan), chance, moved=way == "move")
    elif way in ("path", "run") and steps:
        step = chance.choice(steps)
        parts = (
            [chance.choice(PATHS)]
            if way == "path"
            else [{"ref": ["run"]}, chance.choice(("/x", "/x", "/y.x"))]
        )
        step["args"][chance.choice(list(step["args"]))] = parts
    elif way == "paths" and steps:
        step, other = chance.choice(steps), chance.choice(steps)
        step["args"][chance.choice(list(step["args"]))] = copy.deepcopy(
            chance.choice(list(other["args"].values()))
        )
    elif way == "tool" and steps:
        step = chance.choice(steps)
        if list(step["args"]) == ["path"]:
            name = f"t_{chance.choice(filesets.ACCESSES)}"
            found["tools"].setdefault(name, TOOLS[name])
            step["tool"] = name
    elif way in ("delete", "shell"):
        name, args = (
            ("t_delete", {"path": [chance.choice(PATHS)]}) if way == "delete" else ("t_shell", {})
        )
        found["tools"].setdefault(name, TOOLS[name])
        new = {
            "op": "step",
            "line": node["line"],
            "tool": name,
            "action": None,
            "bind": None,
            "args": args,
        }
        holder.insert(chance.randint(0, len(holder)), new)
    elif way == "sides" and node["op"] == "if":
        node["then"], node["else"] = node["else"] or node["then"], node["then"]
    elif way == "fork" and loops:
        one = chance.choice(loops)
        one["op"] = "fork" if one["op"] == "for" else "for"
        one.pop("keep", None)
    elif way == "keep" and loops:
        one = chance.choice(loops)
        if one.pop("keep", None) is None:
            one["op"], one["keep"], found["format"] = "fork", "failures", 2
    elif way == "max" and "max" in node:
        node["max"] = chance.choice((1, 2, 3))
    elif way == "glob" and "glob" in node:
        node["glob"] = [chance.choice(filesets.GLOBS)]
    elif way == "call" and node["op"] == "call":
        node["args"] = dict(
            zip(
                node["args"],
                chance.sample(list(node["args"].values()), len(node["args"])),
                strict=True,
            )
        )
    elif way == "bind":
        names = [one["name"] for one in inside if one.get("name") and "body" in one]
        if steps and names:
            chance.choice(steps)["bind"] = chance.choice(names)
    elif way == "allow":
        starts = chance.sample(filesets.WRITES, chance.randint(0, 2))
        plan["allow"] = (
            {} if chance.random() < 0.3 else {"write": [f"{start}**" for start in starts]}
        )
    elif way == "assumption" and found["assumptions"]:
        one = chance.choice(found["assumptions"])
        if chance.random() < 0.5 or not one["uses"]:
            found["assumptions"].remove(one)
        else:
            one["uses"].pop(chance.randrange(len(one["uses"])))
    elif way == "default" and plan["params"]:
        chance.choice(plan["params"])["default"] = chance.choice(filesets.LITERALS)
    return found


TOOLS = json.loads(filesets.CATALOGUE)["tools"]

CERTIFICATE_WAYS = (
    "reason",
    "drop",
    "swap",
    "copy",
    "assumption",
    "row",
    "rounds",
    "did",
    "open",
    "fact",
)


def damaged_certificate(certificate: Made, chance: random.Random, way: str) -> Made:
    """The certificate with some claims changed in one of `CERTIFICATE_WAYS`."""
    found = copy.deepcopy(certificate)
    inside = holders(found["rows"])
    lists = [one for one in inside if isinstance(one, list) and one]
    objects = [one for one in inside if isinstance(one, dict) and one]
    states = [one for one in lists if len(one) == 3 and all(isinstance(part, list) for part in one)]
    row = chance.choice(found["rows"])
    for _ in range(chance.choice((1, 1, 2, 4))):
        if way == "reason" and states:
            state = chance.choice(states)
            side = chance.choice([part for part in state[1:] if isinstance(part, list)] or [[]])
            if side and chance.random() < 0.7:
                side.pop(chance.randrange(len(side)))
            elif len(state) == 3 and chance.random() < 0.5:
                state[1], state[2] = state[2], state[1]
            elif len(state) == 3:
                state[chance.choice((1, 2))] = [
                    [chance.choice(("always", "unknown", "chance", "open"))]
                ]
        elif way == "drop":
            dropped(lists, objects, chance)
        elif way == "swap":
            swapped(objects, chance)
        elif way == "copy":
            one, other = chance.choice(states or lists), chance.choice(states or lists)
            one[:] = copy.deepcopy(other)
        elif way == "assumption" and found["assumes"]:
            found["assumes"].pop(chance.randrange(len(found["assumes"])))
        elif way == "row":
            kind = chance.choice(("stopping", "call", "limits", "entry", "params"))
            if kind == "stopping":
                row["stopping"] = chance.choice((True, False, 1, None))
            elif kind == "call" and row["calls"]:
                row["calls"][chance.choice(list(row["calls"]))] = [
                    chance.randrange(len(found["rows"]))
                ]
            elif kind == "limits":
                row["limits"] = chance.choice(([], [[]], [["d/**"]]))
            elif kind == "entry":
                row["entry"] = copy.deepcopy(chance.choice(found["rows"])["entry"])
            elif kind == "params" and row["params"]:
                row["params"][chance.choice(list(row["params"]))] = [
                    chance.choice(filesets.LITERALS)
                ]
        elif way == "rounds":
            loops = [claim for claims in row["loops"].values() for claim in claims]
            if loops:
                claim = chance.choice(loops)
                kind = chance.choice([kind for kind in claim if kind != "did"])
                if claim[kind]:
                    claim[kind].pop(chance.randrange(len(claim[kind])))
        elif way == "did":
            did = chance.choice(
                [
                    row["did"],
                    *(claim["did"] for claims in row["loops"].values() for claim in claims),
                ]
            )
            if did:
                did.pop(chance.randrange(len(did)))
        elif way == "open" and found["open"]:
            found["open"].pop(chance.randrange(len(found["open"])))
        elif way == "fact" and found["facts"]:
            path = chance.choice(list(found["facts"]))
            found["facts"][path] = chance.choice(("file", "missing"))
    return found


class Part:
    """The part `files` of a program with the files that are there, as `damage.judged` wants it."""

    PROGRAM_WAYS, CERTIFICATE_WAYS = PROGRAM_WAYS, CERTIFICATE_WAYS
    damaged_program, damaged_certificate = (
        staticmethod(damaged_program),
        staticmethod(damaged_certificate),
    )
    check = staticmethod(paths.check)

    def __init__(self, seed: int, of: Made, there: frozenset[str], runs: int) -> None:
        self.seed, self.of, self.there, self.runs = seed, of, there, runs
        self.honest: Made | None
        try:
            self.honest = honest(of, there)
        except Wrong:
            self.honest = None

    def careless(self, of: Made) -> Made:
        return careless(of, self.there)

    def wrong(self, of: Made, claims: Made, number: int) -> Any:
        return path_world.wrong(of, claims, self.runs, self.seed * 100 + number)
