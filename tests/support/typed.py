"""Random plans over values of declared types, and worlds in which the tools give values of these types.

The tools are declared in a catalogue and performed by the real `LocalTools` (which checks arguments) with handlers that
give random values; the run is the real engine's. Nothing here knows the rule that is tested.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

from fdc_toolchain.check import Checked, check, program_of
from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.testing import run
from fdc_toolchain.tools.context import Context, word
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.files import Root

from tests.support.linting import World

GIVES: dict[str, Any] = {
    "a_text": "text", "a_number": "number", "a_truth": "boolean", "a_value": "value", "an_any": "any", "texts": "list[text]",
    "numbers": "list[number]", "anys": "list", "nothing": "null", "rows": "list[object{name: text, size: number}]",
    "record": {"name": "text", "size": "number", "parts": "list[text]", "more": "any"}, "bare": None,
}  # fmt: skip
"""What each tool gives; `may_fail` gives text, or the record of its failure."""

_TAKES = {"eat": "word", "word": "path", "amount": "number"}
EXTRA = ["may_fail"]


def _row(result: Any, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    row = {
        "summary": "x",
        "action": None,
        "effect": "read",
        "trust": "workspace",
        "parameters": list(parameters),
        **more,
    }
    return row if result is None else {**row, "result": result}


CATALOGUE: dict[str, Any] = {
    "format": 1,
    "name": "typed",
    "tools": {
        **{name: _row(result) for name, result in GIVES.items()},
        "may_fail": _row("text", failure="value"),
        "eat": _row("any", {"name": "what", "kind": "word"}),
        "word": _row("text", {"name": "path", "kind": "path"}),
        "maybe": _row("text", {"name": "text", "kind": "word", "required": False, "type": "text"}),
        "amount": _row("number", {"name": "number", "kind": "number"}),
    },
}

CODES = frozenset(("FDC481",))


class Made(NamedTuple):
    """A plan set: files by path; `a.plan` is the root."""

    files: dict[str, str]


class World_(NamedTuple):
    """One run: how it ended, and the places (path, line) of the steps that came to their end."""

    stop: str | None
    message: str
    place: tuple[str, int]
    done: set[tuple[str, int]]


# ---- plans -----------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, rng: random.Random, sub: bool) -> None:
        self.rng = rng
        self.sub = sub
        self.lines: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def ref(self, names: list[str]) -> str:
        name = self.rng.choice(names)
        fields = ("name", "size", "parts", "more", "failed", "item")
        return name if self.rng.random() < 0.6 else f"{name}.{self.rng.choice(fields)}"

    def operand(self, names: list[str]) -> str:
        pick = self.rng.random()
        if pick < 0.55 and names:
            return self.ref(names)
        if pick < 0.7 and names:
            return f"len({self.ref(names)})"
        return self.rng.choice(("3", '"a"', '"12"', "true", "0"))

    def condition(self, names: list[str], depth: int = 0) -> str:
        pick = self.rng.random()
        if depth < 2 and pick < 0.12:
            return f"not ({self.condition(names, depth + 1)})"
        if depth < 2 and pick < 0.3:
            return f"({self.condition(names, depth + 1)} {self.rng.choice(('and', 'or'))} {self.condition(names, depth + 1)})"
        if pick < 0.45:
            return self.operand(names)
        left, right = self.operand(names), self.operand(names)
        return f"{left} {self.rng.choice(('==', '!=', '<', '>=', '>', 'in', '<='))} {right}"

    def step(self, pad: str, names: list[str]) -> None:
        rng = self.rng
        if not names or rng.random() < 0.55:
            tool, given = rng.choice([*GIVES, *EXTRA]), ""
        else:
            tool = rng.choice(("eat", "word", "maybe", "amount"))
            given = rng.choice(
                (f" {{{self.ref(names)}}}",) * 5 + (" 12", f" x{{{self.ref(names)}}}")
            )
            given = " 12" if tool == "amount" and "x{" in given else given
        name = rng.choice(names) if names and rng.random() < 0.25 else self.fresh()
        self.lines.append(f"{pad}{name} <- {tool}{given}")
        if name not in names:
            names.append(name)

    def body(self, pad: str, names: list[str], size: int, depth: int, yields: bool) -> None:
        rng = self.rng
        for _ in range(size):
            pick = rng.random()
            inner = list(names)
            if depth < 2 and pick < 0.14 and names:
                over = rng.choice((f"{{{self.ref(names)}}}",) * 6 + ("word",))
                head = rng.choice(("for", "for", "fork"))
                item, result = self.fresh(), self.fresh()
                keep = " keep failures" if head == "fork" and rng.random() < 0.5 else ""
                self.lines.append(f"{pad}{result} <- {head} {item} in {over} max 9{keep}")
                self.body(pad + "  ", [*inner, item], rng.randint(1, 2), depth + 1, True)
                names.append(result)
            elif depth < 2 and pick < 0.22 and names:
                until = f" until {self.condition(names)}" if rng.random() < 0.7 else ""
                self.lines.append(f"{pad}iterate max {rng.randint(1, 3)}{until}")
                self.body(pad + "  ", inner, rng.randint(1, 2), depth + 1, False)
            elif depth < 2 and pick < 0.38:
                self.lines.append(f"{pad}if {self.condition(names)}")
                self.body(pad + "  ", inner, rng.randint(1, 2), depth + 1, yields and depth > 0)
                if rng.random() < 0.5:
                    self.lines.append(f"{pad}else")
                    self.body(pad + "  ", list(names), 1, depth + 1, yields and depth > 0)
            elif pick < 0.46 and names:
                self.lines.append(f'{pad}require {self.condition(names)} else "no"')
            elif yields and depth and pick < 0.6 and names:
                self.lines.append(f"{pad}yield {{{self.ref(names)}}}")
            elif not self.sub and pick < 0.68 and names:
                name = self.fresh()
                given = rng.choice(
                    (f"{{{self.ref(names)}}}", f"{{{self.ref(names)}}}", "abc", "12")
                )
                self.lines.append(f"{pad}{name} <- call_plan s.plan p={given}")
                names.append(name)
            else:
                self.step(pad, names)


def plan_set(seed: int) -> Made:
    """The plan set of a seed."""
    rng = random.Random(seed)
    sub = _Writer(rng, True)
    sub.body("", ["p", "q"], rng.randint(1, 3), 0, False)
    if rng.random() < 0.8:
        sub.lines.append(
            f"yield {{{rng.choice(['p', 'q', *[f'v{n}' for n in range(1, sub.count + 1)]])}}}"
        )
    root = _Writer(rng, False)
    root.body("", ["g"], rng.randint(2, 5), 0, False)
    return Made(
        {
            "fdc_tools.json": json.dumps(CATALOGUE),
            "a.plan": "\n".join(["use fsm any.json", "param g = 4", *root.lines]) + "\n",
            "s.plan": "\n".join(["param p", "param q = zz", *sub.lines]) + "\n",
        }
    )


def lint(made: Made) -> Checked:
    """The verdict about `a.plan`."""
    return check(Linker("/nonexistent", Settings(fsm="any.json"), World(made.files)), ["a.plan"])


# ---- worlds ----------------------------------------------------------------------------------------


def _any(rng: random.Random) -> Any:
    return rng.choice(
        (
            None,
            True,
            0,
            7,
            "",
            "x",
            "12",
            [],
            ["a"],
            [1, None],
            {},
            {"name": "n", "size": 2, "parts": ["p"]},
        )
    )


def value(rng: random.Random, kind: Any) -> Any:
    """A value of a type, as `GIVES` writes it."""
    if isinstance(kind, dict):
        return {name: value(rng, inner) for name, inner in kind.items()}
    if kind is None or kind == "any":
        return _any(rng)
    if kind == "value":
        found = _any(rng)
        return 1 if found is None else found
    if kind == "list[object{name: text, size: number}]":
        return [
            {"name": value(rng, "text"), "size": value(rng, "number")}
            for _ in range(rng.randint(0, 3))
        ]
    if kind.startswith("list"):
        return [value(rng, kind[5:-1] or "any") for _ in range(rng.randint(0, 3))]
    some = {
        "text": ("", "a", "12", "-3", "1.5", "page"),
        "number": (0, 3, -1, 2.5),
        "boolean": (True, False),
        "null": (None,),
    }
    return rng.choice(some[kind])


class Watched:
    """The tools of this machine, with handlers that give random values; keeps what came of every step."""

    def __init__(self, inner: LocalTools) -> None:
        self.inner = inner
        self.done: set[tuple[str, int]] = set()
        self.failed: dict[tuple[str, int], str] = {}

    def perform(self, effect: Perform) -> Outcome:
        outcome = self.inner.perform(effect)
        place = (effect.path, effect.line)
        if outcome.failure is None:
            self.done.add(place)
        else:
            self.failed[place] = outcome.failure.kind
        return outcome

    def probe(self, effect: Perform) -> Any:
        return self.inner.probe(effect)

    def cancel(self) -> None:
        self.inner.cancel()


def came(checked: Checked, seed: int, folder: Path) -> World_:
    """One run of the root in the world of a seed."""
    rng = random.Random(seed)
    program = program_of(checked)
    root = Root(str(folder))

    def gives(kind: Any) -> Any:
        return lambda args, context: value(rng, kind)

    def takes(args: dict[str, Any], context: Context) -> Any:
        for name in ("path", "text"):
            if name in args:
                word(args, name, "")
        return value(rng, "any" if "what" in args else "number" if "number" in args else "text")

    def fails(args: dict[str, Any], context: Context) -> Any:
        return {"failed": "net", "why": "no line"} if rng.random() < 0.5 else value(rng, "text")

    handlers = {
        **{name: gives(kind) for name, kind in GIVES.items()},
        **dict.fromkeys(("eat", "word", "maybe", "amount"), takes),
    }
    handlers["may_fail"] = fails
    bench = Workbench(
        "r", root, str(folder), lambda said: None, lambda asked: None, {}, 1.0, overrides=handlers
    )
    tools = Watched(LocalTools(program, bench))
    try:
        ending = run(program, tools, inputs={"given": {"g": rng.choice(("", "x", "12", "0"))}})
    finally:
        root.close()
    stop = ending.stop
    if stop is None:
        return World_(None, "", ("", 0), tools.done)
    place = (stop.path, stop.line)
    kind = tools.failed.get(place, stop.kind) if stop.kind == "failure" else stop.kind
    return World_(kind, stop.message, place, tools.done)
