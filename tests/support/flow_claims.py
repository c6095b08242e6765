"""Programs and certificates of the part `data`, with something changed in them, and certificates without a conscience."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

from fdc_toolchain import resources
from fdc_toolchain.certificate import data
from fdc_toolchain.certificate.making import make_data
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import Checked
from fdc_toolchain.program.model import Program

from tests.support import flow_world, flows, linting
from tests.support.damage import dropped, inserted, swapped

Made = dict[str, Any]

ROWS = json.loads(resources.read("grammar/tools.json"))["tools"]
TOOLS = (*flows.flow_world.CHOSEN, "google_search", "request_user_input", "plan_step_complete")
LEFT_OUT = ("actions", "refuse", "limits", "cost", "repeatable", "creates")
ACCESSES = ("read", "create", "write", "edit", "delete")
SINKS = ("command", "path", "url", "message", "change", "user", "data")


def program(seed: int, *, aimed: bool = True) -> Program:
    """A program over sources and sinks, whatever lint says of it."""
    from fdc_toolchain.check import program_of

    ways = (*flows.AIMS, "made", "kept") if aimed else ("made", "kept")
    way = ways[seed % len(ways)]
    plans = (
        flows.made(seed, kept=way == "kept") if way in ("made", "kept") else flows.aimed(seed, way)
    )
    return program_of(flows.checked(plans))


# ---- declarations ---------------------------------------------------------------------------------------


def under_other_declarations(seed: int) -> Checked:
    """Plans over tools of a catalogue of their own, which are those of fdc but for one to three changes."""
    chance = random.Random(seed)
    way = chance.choice((*flows.AIMS, "made", "kept"))
    plans = (
        flows.made(seed, kept=way == "kept") if way in ("made", "kept") else flows.aimed(seed, way)
    )
    names = [name for name in TOOLS if name in ROWS]
    tools = {
        f"my_{name}": {key: part for key, part in ROWS[name].items() if key not in LEFT_OUT}
        for name in names
    }
    for _ in range(chance.choice((1, 2, 3))):
        name = chance.choice(list(tools))
        tools[name] = redeclared(tools[name], chance)
    step = re.compile(rf"(?m)^(\s*(?:\w+ <- )?)({'|'.join(names)})\b")
    files = {name: step.sub(r"\1my_\2", text) for name, text in plans.items()}
    tools |= flow_world.SERVICE
    files["fdc_tools.json"] = json.dumps({"format": 1, "name": "mine", "tools": tools})
    return linting.lint(files, "a.plan", there=flows.THERE, whole=True)


def redeclared(row: Made, chance: random.Random) -> Made:
    """A row of a catalogue with one thing changed that says what a step may choose, look at or do."""
    row = copy.deepcopy(row)
    one = chance.choice(row["parameters"])
    way = chance.randrange(10)
    if way == 0:
        row["trust"] = chance.choice(("trusted", "workspace", "model", "untrusted"))
    elif way == 1:
        row["clears"] = chance.sample(
            ("command", "path", "url", "message", "choice"), chance.randint(1, 5)
        )
    elif way == 2:
        row.pop("clears", None)
    elif way == 3:
        one["sink"] = chance.choice(SINKS)
    elif way == 4:
        one.pop("sink", None)
    elif way == 5:
        row["effect"] = chance.choice(("pure", "read", "idempotent", "once"))
    elif way == 6 and "access" in one:
        edits = any(other.get("type") == "sections" for other in row["parameters"])
        one["access"] = "edit" if edits else chance.choice(ACCESSES)  # lint refuses others (FDC308)
    elif way == 7:
        row["writes"] = "unknown"
    elif way == 8:
        row["failure"] = "value"
    else:
        row["reads"] = "names"
    return row


# ---- certificates without a conscience ----------------------------------------------------------------


class _Careless(make_data.Making):
    """Claims as if text might choose everything."""

    def use(self, node: Any, label: int, power: str) -> None:
        pass


def careless(made: Program) -> Made:
    """A certificate for any program, true or not. Raises Wrong, LookupError, TypeError where not even that can be made."""
    return make_data.make(made, _Careless)


# ---- damage -------------------------------------------------------------------------------------------


def nodes(body: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every instruction of a body, those in it included."""
    found = []
    for node in body:
        found.append(node)
        for part in ("body", "then", "else"):
            found += nodes(node.get(part, []))
    return found


def bodies(plan: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Every body of a plan."""
    inside = nodes(plan["body"])
    return [
        plan["body"],
        *(node[part] for node in inside for part in ("body", "then", "else") if part in node),
    ]


PROGRAM_WAYS = (
    "drop",
    "copy",
    "move",
    "path",
    "value",
    "sides",
    "fork",
    "keep",
    "call",
    "quote",
    "bind",
    "over",
    "tighten",
)


def damaged_program(made: Program, chance: random.Random, way: str) -> Program:
    """The program with one thing changed in one of `PROGRAM_WAYS`; the same where that finds nothing."""
    found = copy.deepcopy(made)
    plan = chance.choice(list(found["plans"].values()))
    inside = nodes(plan["body"])
    if not inside:
        return found
    node, holder = chance.choice(inside), chance.choice(bodies(plan))
    steps = [one for one in inside if one["op"] == "step" and one["args"]]
    if way == "drop" and len(holder) > 1:
        del holder[chance.randrange(len(holder))]
    elif way in ("copy", "move"):
        inserted(holder, node, bodies(plan), chance, moved=way == "move")
    elif way == "path" and steps:
        step = chance.choice(steps)
        for name in ("path", "target", "glob"):
            if name in step["args"]:
                step["args"][name] = [
                    chance.choice((*flows.PATHS, *flows.GLOBS)).replace("{run}", "runs/r")
                ]
                if chance.random() < 0.5:
                    step["args"][name] = [
                        {"ref": ["run"]},
                        chance.choice(("/x", "/outside/x", "/outside/y")),
                    ]
    elif way == "value" and steps:
        step, other = chance.choice(steps), chance.choice(steps)
        step["args"][chance.choice(list(step["args"]))] = copy.deepcopy(
            chance.choice(list(other["args"].values()))
        )
    elif way == "sides" and node["op"] == "if":
        node["then"], node["else"] = node["else"] or node["then"], node["then"]
    elif way == "fork" and node["op"] in ("for", "fork"):
        node["op"] = "fork" if node["op"] == "for" else "for"
        node.pop("keep", None)
    elif way == "keep" and node["op"] == "fork":
        if node.pop("keep", None) is None:
            node["keep"] = "failures"
            found["format"] = 2
    elif way == "call" and node["op"] == "call":
        node["args"] = dict(
            zip(
                node["args"],
                chance.sample(list(node["args"].values()), len(node["args"])),
                strict=True,
            )
        )
    elif way == "quote":
        parts = [
            part
            for step in steps
            for value in step["args"].values()
            for part in value
            if isinstance(part, dict)
        ]
        chance.choice(parts or [{}]).pop("quote", None)
    elif way == "bind":
        named = [one for one in inside if one.get("bind")]
        if len(named) > 1:
            one, other = chance.sample(named, 2)
            one["bind"], other["bind"] = other["bind"], one["bind"]
    elif way == "over" and "in" in node:
        node["in"] = [
            {
                "ref": [
                    chance.choice([one["bind"] for one in inside if one.get("bind")] or ["known"])
                ]
            }
        ]
    elif way == "tighten":
        tighten(found["tools"][chance.choice(list(found["tools"]))], chance)
    return found


def tighten(row: dict[str, Any], chance: random.Random) -> None:
    """A row of a catalogue under which less is allowed."""
    way = chance.randrange(4)
    if way == 0:
        row["trust"] = "untrusted"
    elif way == 1:
        row.pop("clears", None)
    elif way == 2:  # not `command`: then the tool would be one that sees less
        for one in row["parameters"]:
            one.update({"sink": "url"} if one.get("sink") in ("data", "user") else {})
    else:
        row["writes"] = "unknown"


CERTIFICATE_WAYS = ("less", "drop", "swap", "copy", "flag", "bare")


def damaged_certificate(certificate: Made, chance: random.Random, way: str) -> Made:
    """The certificate with some claims changed in one of `CERTIFICATE_WAYS`."""
    found = copy.deepcopy(certificate)
    inside = holders({key: value for key, value in found.items() if key in ("left", "rows")})
    lists = [one for one in inside if isinstance(one, list) and one]
    objects = [one for one in inside if isinstance(one, dict) and one]
    for _ in range(chance.choice((1, 1, 2, 4))):
        if way == "less":  # a label loses a level or gets powers back
            labels = [one for one in lists if one and all(isinstance(fact, str) for fact in one)]
            if labels:
                label = chance.choice(labels)
                if label and chance.random() < 0.6:
                    label.pop()
                elif label:
                    label[-1] = chance.choice(
                        ("workspace", "model", "untrusted path", "untrusted choice code", "trusted")
                    )
        elif way == "drop":
            dropped(lists, objects, chance)
        elif way == "swap":
            swapped(objects, chance)
        elif way == "copy":
            holder, other = chance.choice(objects), chance.choice(objects)
            if holder and other:
                holder[chance.choice(list(holder))] = copy.deepcopy(
                    chance.choice(list(other.values()))
                )
        elif way == "flag":
            row = chance.choice(found["rows"])
            kind = chance.choice(("kept", "call", "begin"))
            if kind == "kept":
                row["kept"] = chance.choice((True, False, 1, 0, "", None))
            elif kind == "call" and row["calls"]:
                row["calls"][chance.choice(list(row["calls"]))] = chance.randrange(
                    -1, len(found["rows"])
                )
            else:
                row["texts"], row["there"], row["choices"] = [], [], []
        else:
            loops = [
                loop for row in found["rows"] for loop in row["loops"].values() if loop["names"]
            ]
            if loops:
                names = chance.choice(loops)["names"]
                claims = (
                    [[], ["exit_code", "bytes", "output"]],
                    [["untrusted"], [], ["n", "[]"], []],
                )
                names[chance.choice(list(names))] = list(chance.choice(claims))
    return found


def holders(value: Any) -> list[Any]:
    """Every list and object in a JSON value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (
        [value, *(one for part in inner for one in holders(part))]
        if isinstance(value, (dict, list))
        else []
    )


class Part:
    """The part `data` of the program of a seed, as `damage.judged` wants it."""

    PROGRAM_WAYS, CERTIFICATE_WAYS = PROGRAM_WAYS, CERTIFICATE_WAYS
    damaged_program, damaged_certificate = (
        staticmethod(damaged_program),
        staticmethod(damaged_certificate),
    )
    careless, check = staticmethod(careless), staticmethod(data.check)

    def __init__(self, seed: int) -> None:
        self.of = program(seed)
        self.honest: Made | None
        try:
            self.honest = make_data.make(self.of)
            data.check(self.of, self.honest)
        except Wrong:
            self.honest = None

    def wrong(self, of: Made, claims: Made, number: int) -> str:
        return "text from outside makes a difference" if flow_world.interferes(of) else ""
