"""Small programs made by chance, certificates made for them without a conscience, and ways to damage both."""

from __future__ import annotations

import copy
import random
from typing import Any

from fdc_toolchain.automata import declare
from fdc_toolchain.certificate.control import digest
from fdc_toolchain.certificate.making import make_control as maker
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.certificate.readers import Rule, automaton

from tests.support.allruns import VALUES
from tests.support.programs import (
    call,
    choose,
    compare,
    each,
    give,
    iterate,
    loop,
    plan,
    program,
    ref,
    require,
    step,
)

SYMBOLS = ("a_op", "b_op", "c_op")
TOOLS = {"ta": "a_op", "tb": "b_op", "tc": "c_op", "tn": None}
TEMPLATES = (
    "response",
    "precedence",
    "absence",
    "existence",
    "not_coexistence",
    "init",
    "last",
    "chain_response",
    "fresh",
)


def made(seed: int) -> dict[str, Any]:
    """The program of a seed: up to four plans, every construct, some automata, at times rules."""
    chance = random.Random(seed)
    count = chance.choice((1, 2, 2, 3, 4))
    names = ["main", *(f"p{number}" for number in range(1, count))]
    automata = {f"m{number}": machine(chance) for number in range(2)}
    plans: dict[str, Any] = {}
    for number in reversed(range(count)):
        params = {"x": chance.choice((None, "a.md"))} if number and chance.random() < 0.5 else {}
        writer = Writer(chance, {key: plans[key] for key in names[number + 1 :]})
        known = {"run", *params}
        body = writer.body(known, chance.randint(1, 3), 0)
        own = chance.choice(("m0", "m0", "m1")) if number == 0 or chance.random() < 0.3 else None
        plans[names[number]] = plan(*body, name=names[number], automaton=own, params=params)
    paths = {"parameters": [{"name": "path", "kind": "path"}], "effect": "pure"}
    found = program(tools=dict.fromkeys(TOOLS, paths), automata=automata)
    found["plans"] = {key: plans[key] for key in names}
    found["format"] = 2
    number_lines(found)
    if chance.random() < 0.4:
        found["rules"] = [rule(chance) for _ in range(chance.randint(1, 2))]
    return found


def number_lines(made: dict[str, Any]) -> None:
    """Gives every instruction of a plan its line."""
    for one in made["plans"].values():
        for line, node in enumerate(nodes(one["body"]), 1):
            node["line"] = line


def nodes(body: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every instruction of a body, those inside of others too."""
    found = []
    for node in body:
        found.append(node)
        for part in ("body", "then", "else"):
            found += nodes(node.get(part, []))
    return found


def machine(chance: random.Random) -> dict[str, Any]:
    """An automaton: some that allow nearly everything, some in which symbols commute, some that are strict."""
    size = chance.randint(1, 4)
    names = [f"S{number}" for number in range(size)]
    share = chance.choice((0.5, 0.8, 0.95, 1.0, 1.0))
    rows: dict[str, dict[str, str]] = {name: {} for name in names}
    for symbol in SYMBOLS:
        kind = chance.random()
        for at, name in enumerate(names):
            if chance.random() < share:
                rows[name][symbol] = (
                    name
                    if kind < 0.35
                    else names[(at + 1) % size]
                    if kind < 0.65
                    else chance.choice(names)
                )
    accept = [name for name in names if chance.random() < 0.75] or [chance.choice(names)]
    return {"states": names, "start": chance.choice(names), "accept": accept, "transitions": rows}


def rule(chance: random.Random) -> dict[str, Any]:
    """A rule of a protocol, as a program carries it."""
    name = chance.choice(TEMPLATES)
    same = "path" if chance.random() < 0.3 else None
    compiled = declare.compiled(name, 1)
    compiled = declare.from_first_step(compiled) if same else compiled

    def event() -> dict[str, Any]:
        kinds = (
            {"name": "a_op"},
            {"name": "b_op"},
            {"tool": "tc"},
            {"action": "b_op"},
            {"name": "tn"},
        )
        found: dict[str, Any] = chance.choice(kinds)
        glob = (
            {"arguments": {"path": chance.choice(("*.md", "d/*", "**/b.md", "**"))}}
            if chance.random() < 0.3
            else {}
        )
        return {**found, **glob}

    wanted = 3 if name == "fresh" else 1 if name in ("absence", "existence", "init", "last") else 2
    return {
        "protocol": "p", "rule": name, "description": "made by chance", "same": same,
        "automata": ["m0"] if chance.random() < 0.3 else [],
        "events": [[event()] if number < wanted else [] for number in range(3)],
        "states": list(compiled.states),
        "accept": [number for number in range(len(compiled.states)) if compiled.accept >> number & 1],
        "table": [compiled.table[letter] for letter in range(len(compiled.table))],
    }  # fmt: skip


class Writer:
    """Writes bodies; mostly with names that are bound."""

    def __init__(self, chance: random.Random, callees: dict[str, Any]) -> None:
        self.chance, self.callees = chance, callees

    def name(self, known: set[str]) -> str:
        return (
            self.chance.choice(sorted(known))
            if self.chance.random() < 0.97
            else self.chance.choice(("a", "b", "i"))
        )

    def condition(self, known: set[str], depth: int = 0) -> dict[str, Any]:
        chance = self.chance
        kind = chance.random()
        if kind < 0.5:
            return compare(ref(self.name(known)), "==", 1)
        if kind < 0.6:
            return {"value": {"const": chance.choice((True, False, "", "x", 0, 3))}}
        if kind < 0.7:
            return compare(
                chance.choice((1, 2, "x")),
                chance.choice(("==", "!=", "<", ">=", "in")),
                chance.choice((1, 2, "x")),
            )
        if kind < 0.75:
            return {
                "test": ">",
                "left": {"len": {"const": chance.choice(("", "ab"))}},
                "right": {"const": 1},
            }
        if depth > 1:
            return {"value": ref(self.name(known))}
        if kind < 0.85:
            return {"not": self.condition(known, depth + 1)}
        return {chance.choice(("and", "or")): [self.condition(known, depth + 1) for _ in range(2)]}

    def step(self, known: set[str], bind: str | None) -> dict[str, Any]:
        chance = self.chance
        tool = chance.choice(("ta", "ta", "tb", "tb", "tc", "tn"))
        kind = chance.random()
        args: dict[str, Any] = {"path": chance.choice((*VALUES, "./a.md"))} if kind < 0.5 else {}
        if kind > 0.85:
            args = {"path": "{" + self.name(known) + "}"}
        return step(tool, bind=bind, action=TOOLS[tool], **args)

    def body(self, known: set[str], size: int, depth: int) -> list[dict[str, Any]]:
        out = []
        for _ in range(size):
            node, bound = self.node(known, depth)
            out.append(node)
            known = known | bound
        return out

    def node(self, known: set[str], depth: int) -> tuple[dict[str, Any], set[str]]:
        chance = self.chance
        kind = chance.random()
        bind = chance.choice((None, None, "a", "b"))
        gets = {bind} - {None}
        inner = chance.randint(1, 2)
        if depth < 2 and kind < 0.42:
            if kind < 0.06:
                most = chance.choice((None, None, 2))
                return each(
                    "*", *self.body(known | {"f"}, inner, depth + 1), name="f", most=most
                ), set()
            if kind < 0.12:
                body = self.body(known | {"i"}, inner, depth + 1)
                return loop("for", "i", "{run}", *body, most=chance.randint(1, 3), bind=bind), gets
            if kind < 0.26:
                body = self.body(known | {"i"}, inner, depth + 1)
                return loop(
                    "fork",
                    "i",
                    "{run}",
                    *body,
                    most=chance.randint(1, 3),
                    bind=bind,
                    keeps=chance.random() < 0.5,
                ), gets
            if kind < 0.33:
                until = self.condition(known) if chance.random() < 0.7 else None
                return iterate(
                    chance.randint(1, 3), *self.body(known, inner, depth + 1), until=until
                ), set()
            sides = [
                self.body(known, inner, depth + 1),
                self.body(known, 1, depth + 1) if chance.random() < 0.5 else [],
            ]
            return choose(self.condition(known), *sides), set()
        if kind < 0.6 and self.callees:
            key = chance.choice(sorted(self.callees))
            needed = {"x": "a.md"} if self.callees[key]["params"] and chance.random() < 0.97 else {}
            return call(key, bind=bind, **needed), gets
        if kind < 0.64:
            return require(self.condition(known)), set()
        if kind < 0.67:
            return {"op": "skip", "line": 1, "bind": bind}, gets
        if kind < 0.7:
            return give("{" + self.name(known) + "}"), set()
        return self.step(known, bind), gets


# ---- certificates without a conscience ----------------------------------------------------------------


class Careless(maker.Making):
    """Claims for a machine as if it refused nothing: what it refuses is left out."""

    def read(self, where: str, states: Any, symbol: Any) -> set[Any]:
        return set().union(*(self.machine.after(state, symbol) for state in states)) - {None}

    def claims(self, key: str) -> None:
        self.row(key, "", self.machine.start, False)


def careless(made: dict[str, Any]) -> dict[str, Any]:
    """A certificate for any program, true or not. Raises Wrong, KeyError where not even that can be made."""
    plans = maker._plans(made, one_size=False)
    readers: dict[str, Careless] = {}
    for key, one in made["plans"].items():
        if (name := one["automaton"]) is not None:
            readers.setdefault(name, Careless(made, automaton(made, name))).claims(key)
    found: list[dict[str, Any]] = []
    for one in made.get("rules", ()):
        values: dict[str, Any] = {}
        for value in Rule(made, one, None).values():
            reader = Careless(made, Rule(made, one, value).machine())
            reader.claims(made["root"])
            values["others" if value is None else f"={value}"] = reader.rows
        found.append(values)
    return {
        "format": 1, "part": "control", "program": digest(made), "one_size": False, "plans": plans, "rules": found,
        "automata": {name: reader.rows for name, reader in readers.items()},
    }  # fmt: skip


# ---- damage -------------------------------------------------------------------------------------------


def damaged_program(made: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The program with one thing changed."""
    found = copy.deepcopy(made)
    one = chance.choice(list(found["plans"].values()))
    inside = nodes(one["body"])
    node = chance.choice(inside)
    holders = [
        one["body"],
        *(other[part] for other in inside for part in ("body", "then", "else") if part in other),
    ]
    kind = chance.randrange(13)
    if kind == 0 and node["op"] == "step":
        node["action"] = chance.choice((*SYMBOLS, None))
    elif kind == 1 and node["op"] == "if":
        node["then"], node["else"] = node["else"], node["then"]
    elif kind == 2:
        holder = chance.choice(holders)
        if len(holder) > 1:
            del holder[chance.randrange(len(holder))]
    elif kind == 3:
        holder = chance.choice(holders)
        holder.insert(chance.randint(0, len(holder)), copy.deepcopy(chance.choice(inside)))
    elif kind == 4 and node["op"] in ("each", "for", "fork", "iterate"):
        node["max"] = (
            chance.choice((1, 2, 3, None)) if node["op"] == "each" else chance.randint(0, 3)
        )
    elif kind == 5 and node["op"] in ("for", "fork"):
        node["op"] = "fork" if node["op"] == "for" else "for"
        node.pop("keep", None)
    elif kind == 6 and node["op"] == "fork":
        if node.pop("keep", None) is None:
            node["keep"] = "failures"
    elif kind == 7:
        one["automaton"] = chance.choice(("m0", "m1", None))
    elif kind == 8 and node["op"] == "call":
        node["plan"] = chance.choice(list(found["plans"]))
    elif kind == 9:
        row = chance.choice(
            list(chance.choice(list(found["automata"].values()))["transitions"].values())
        )
        row.pop(chance.choice(SYMBOLS), None)
    elif kind == 10:
        automata = chance.choice(list(found["automata"].values()))
        automata["accept"] = chance.sample(
            automata["states"], chance.randint(0, len(automata["states"]))
        )
        automata["start"] = chance.choice(automata["states"])
    elif kind == 11 and node.get("bind"):
        node["bind"] = chance.choice((None, "a", "b"))
    elif "rules" in found:
        table = chance.choice(found["rules"])["table"]
        row = chance.choice(table)
        row[chance.randrange(len(row))] = chance.choice((-1, 0))
    return found


def damaged_certificate(certificate: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The certificate with some claims changed, dropped, swapped or copied."""
    found = copy.deepcopy(certificate)
    for _ in range(chance.choice((1, 1, 2, 4))):
        holders = [one for one in _holders(found) if one]
        holder = chance.choice(holders)
        keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        keys = [key for key in keys if key not in ("format", "part", "program")]
        if not keys:
            continue
        key, kind = chance.choice(keys), chance.random()
        if kind < 0.3:
            del holder[key]
        elif kind < 0.45:
            other = chance.choice(keys)
            holder[key], holder[other] = holder[other], holder[key]
        elif kind < 0.6:
            other = chance.choice(holders)
            holder[key] = copy.deepcopy(
                chance.choice(list(other.values()) if isinstance(other, dict) else other)
            )
        elif isinstance(holder[key], int):
            holder[key] += chance.choice((-2, -1, 1, 5))
        elif isinstance(holder, list):
            if chance.random() < 0.5:
                holder.append(chance.choice(("S0", "S1", "S2", "0", "1", ["S0"], ["1"], [])))
            else:
                holder[key] = chance.choice(("S0", "S1", "S2", "0", "1", ["S0"], []))
    return found


def _holders(value: Any) -> list[Any]:
    found: list[Any] = []
    if isinstance(value, dict):
        found += [value, *(inner for one in value.values() for inner in _holders(one))]
    elif isinstance(value, list):
        found += [value, *(inner for one in value for inner in _holders(one))]
    return found


__all__ = ["Wrong", "careless", "damaged_certificate", "damaged_program", "made"]
