"""Programs written by hand, as plans compile to them: what tests of the engine run."""

from __future__ import annotations

import random
from typing import Any


def template(value: Any) -> list[Any]:
    """`"a{x}b"` as a template; anything that is a list already stays."""
    if isinstance(value, list):
        return value
    parts: list[Any] = []
    for number, part in enumerate(str(value).replace("}", "{").split("{")):
        if number % 2:
            parts.append({"ref": part.split(".")})
        elif part:
            parts.append(part)
    return parts


def ref(name: str) -> dict[str, Any]:
    """A reference to a name, or to a field of it."""
    return {"ref": name.split(".")}


def step(
    tool: str, bind: str | None = None, action: str | None = None, line: int = 1, **args: Any
) -> dict[str, Any]:
    """A step; arguments as `template` takes them."""
    written = {name: template(value) for name, value in args.items()}
    return {
        "op": "step",
        "line": line,
        "tool": tool,
        "action": action,
        "bind": bind,
        "args": written,
    }


def call(plan: str, bind: str | None = None, **args: Any) -> dict[str, Any]:
    """A call."""
    written = {name: template(value) for name, value in args.items()}
    return {"op": "call", "line": 1, "plan": plan, "name": plan, "args": written, "bind": bind}


def each(
    glob: str, *body: dict[str, Any], most: int | None = None, name: str = "file"
) -> dict[str, Any]:
    """A loop over files."""
    return {
        "op": "each", "line": 1, "glob": template(glob), "name": name, "alias": "file1", "max": most, "body": list(body)
    }  # fmt: skip


def loop(
    op: str,
    name: str,
    over: str,
    *body: dict[str, Any],
    most: int = 10,
    bind: str | None = None,
    keeps: bool = False,
) -> dict[str, Any]:
    """`for` or `fork`; `keeps`: the fork keeps failures."""
    return {
        "op": op, "line": 1, "name": name, "in": template(over), "max": most, "bind": bind, "body": list(body),
        **({"keep": "failures"} if keeps else {}),
    }  # fmt: skip


def iterate(
    most: int, *body: dict[str, Any], until: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A bounded repetition."""
    return {"op": "iterate", "line": 1, "max": most, "until": until, "body": list(body)}


def choose(
    cond: dict[str, Any], then: list[dict[str, Any]], orelse: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """An `if`."""
    return {"op": "if", "line": 1, "cond": cond, "then": then, "else": orelse or []}


def require(cond: dict[str, Any], why: str = "it does not hold") -> dict[str, Any]:
    """A gate."""
    return {"op": "require", "line": 1, "cond": cond, "why": why}


def give(value: str) -> dict[str, Any]:
    """A `yield`."""
    return {"op": "yield", "line": 1, "value": template(value)}


def compare(left: Any, operator: str, right: Any) -> dict[str, Any]:
    """A comparison; text that looks like a reference (`{x}`) is one."""
    return {"test": operator, "left": value(left), "right": value(right)}


def value(written: Any) -> dict[str, Any]:
    """A value of a condition."""
    if isinstance(written, dict):
        return written
    if isinstance(written, str) and written.startswith("{"):
        return ref(written.strip("{}"))
    return {"const": written}


def asks(predicate: str, *args: Any) -> dict[str, Any]:
    """A condition that is one predicate."""
    return {"value": {"call": predicate, "args": [value(one) for one in args]}}


def plan(
    *body: dict[str, Any], name: str = "main", automaton: str | None = None, **more: Any
) -> dict[str, Any]:
    """A plan; `params` maps names to defaults."""
    params = [
        {"name": param, "default": default} for param, default in more.pop("params", {}).items()
    ]
    return {
        "path": f"{name}.plan",
        "name": name,
        "automaton": automaton,
        "params": params,
        "body": list(body),
        **more,
    }


def program(
    *body: dict[str, Any],
    tools: dict[str, str] | None = None,
    plans: dict[str, dict[str, Any]] | None = None,
    automata: dict[str, Any] | None = None,
    budget: dict[str, float] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A whole program whose root is `body`; `tools` maps names to effect classes or declarations."""
    declared = {
        name: {"effect": kind, "parameters": []} if isinstance(kind, str) else kind
        for name, kind in (
            tools or {"read": "read", "put": "idempotent", "fire": "once", "note": "pure"}
        ).items()
    }
    return {
        "format": 2 if "'keep': 'failures'" in str((body, plans)) else 1,
        "root": "main",
        "plans": {"main": plan(*body, **more), **(plans or {})},
        "automata": automata or {},
        "tools": declared,
        "budget": budget or {},
        "allow": {},
        "sources": {},
    }


def everything() -> dict[str, Any]:
    """A program with every construct, and effects of every class in each of them."""
    return program(
        step("note", text="begin"),
        step("read", bind="items", what="items"),
        each(
            "*.txt",
            step("put", path="{file}.out"),
            choose(compare("{file}", "==", "b.txt"), [step("fire", at="{file1}")]),
        ),
        loop(
            "for", "item", "{items}",
            call("sub", bind="found", item="{item}"),
            give("{found.name}"),
            bind="names",
        ),
        loop(
            "fork", "item", "{items}",
            step("fire", bind="got", item="{item}"),
            step("put", bind="kept", of="{got.tool}"),
            choose(asks("even", "{item}"), [call("sub", bind="more", item="{item}"), give("{more}")], [give("{kept}")]),
            bind="all",
        ),
        iterate(4, step("read", bind="turn", what="turn"), step("fire", turn="{turn}"), until=asks("enough", "{turn}")),
        require(compare({"len": ref("names")}, "==", 3), "three names"),
        {"op": "skip", "line": 1, "bind": "nothing"},
        step("fire", bind="last", text="end of {names} and {nothing}"),
        give("{all}"),
        plans={
            "sub": plan(
                step("read", bind="one", what="{item}"),
                choose(compare("{item}", "!=", "2"), [step("fire", with_item="{one}")]),
                {"op": "yield", "line": 3, "value": [{"ref": ["one"]}]},
                name="sub",
                params={"item": None},
            )
        },
    )  # fmt: skip


def generated(seed: int) -> dict[str, Any]:
    """A program made by chance: three plans that call downwards, every construct, gates that may fail.

    Half of its forks keep failures.
    """
    chance = random.Random(seed)
    names = ("a", "b", "xs")

    def name() -> str | None:
        return chance.choice((None, *names))

    def condition(depth: int = 0) -> dict[str, Any]:
        kind = chance.randrange(6 if depth < 2 else 3)
        if kind < 2:
            return compare(
                {"len": ref(chance.choice(names))},
                chance.choice((">", "<=", "!=")),
                chance.randrange(3),
            )
        if kind == 2:
            return asks("even", "{" + chance.choice(names) + "}")
        if kind == 3:
            return {"not": condition(depth + 1)}
        return {
            chance.choice(("and", "or")): [condition(depth + 1) for _ in range(chance.randrange(3))]
        }

    def one(depth: int, calls: list[str]) -> dict[str, Any]:
        kind = chance.randrange(14 if depth < 3 else 8)
        if kind < 5:
            tool = chance.choice(("read", "put", "fire", "note"))
            return step(tool, bind=name(), of="{" + chance.choice(names) + "}")
        if kind == 5:
            return give(chance.choice(("{a}", "x{b}")))
        if kind == 6:
            return require(condition()) if chance.random() < 0.3 else step("read", bind=name())
        if kind == 7:
            return call(chance.choice(calls), bind=name()) if calls else step("note")
        if kind in (8, 9, 10):
            return loop(
                chance.choice(("for", "fork")), "i", "{list}", *body(depth + 1, calls), bind=name()
            )
        if kind == 11:
            return each("*", *body(depth + 1, calls))
        if kind == 12:
            return iterate(
                chance.randrange(1, 4),
                *body(depth + 1, calls),
                until=chance.choice((None, condition())),
            )
        return choose(condition(), body(depth + 1, calls), body(depth + 1, calls))

    def body(depth: int, calls: list[str]) -> list[dict[str, Any]]:
        return [one(depth, calls) for _ in range(chance.randrange(1, 4))]

    low = plan(*body(1, []), name="low", params={"list": None, "a": "d"})
    middle = plan(
        *body(1, ["low"]), name="middle", params={"list": chance.choice((None, "no list"))}
    )
    root = body(0, ["low", "middle"]) + body(0, ["low", "middle"])
    made = program(*root, params={"list": None}, plans={"low": low, "middle": middle})
    for inner in (
        low,
        middle,
    ):  # most calls hand the list on, so that loops inside have something to run over
        if chance.random() < 0.8:
            inner["params"][0]["default"] = None
    hand_on(made)
    keep_some(made, random.Random(seed + 1))
    return made


def keep_some(made: dict[str, Any], chance: random.Random) -> None:
    """Makes half of the forks keep failures."""
    work = [item for one in made["plans"].values() for item in one["body"]]
    while work:
        item = work.pop()
        if item["op"] == "fork" and chance.random() < 0.5:
            item["keep"] = "failures"
            made["format"] = 2
        work += [inner for key in ("body", "then", "else") for inner in item.get(key, ())]


def hand_on(made: dict[str, Any]) -> None:
    """Gives every call of a program the caller's `list`."""
    work = [item for one in made["plans"].values() for item in one["body"]]
    while work:
        item = work.pop()
        if item["op"] == "call":
            item["args"]["list"] = template("{list}")
        work += [inner for key in ("body", "then", "else") for inner in item.get(key, ())]
