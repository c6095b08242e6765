"""A second opinion on what a program does: a recursive interpreter on asyncio, without journal, state or decisions.

It shares the expression language (`engine.values`) with the engine and nothing else. Who performs effects, and who
runs the branches of a fork, is given to it: asyncio alone, or DBOS with steps and child workflows of its own
(`tests/support/native.py`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from zlib import crc32

from fdc_toolchain.engine.events import Failure, Outcome, Perform
from fdc_toolchain.engine.values import PredicateWanted, Unusable, holds, render
from fdc_toolchain.program.codec import canonical

from .programs import everything, generated


class Came(NamedTuple):
    """What a run came to: why and where it stopped (or None), its result, and every outcome by its address."""

    stop: tuple[str, str, str] | None
    result: Any
    outcomes: dict[str, Any]


def made(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A program by chance, and what it is given: mostly a list, now and then none, or one that is too long."""
    program = everything() if seed == 0 else generated(seed)
    chance = random.Random(seed)
    work: list[Any] = [one["body"] for one in program["plans"].values()] if seed else []
    while work:  # `generated` reads no name of a loop
        item = work.pop()
        if isinstance(item, dict) and item.get("ref") in (["a"], ["b"]) and chance.random() < 0.4:
            item["ref"] = [chance.choice(("i", "file", "file1"))]
        work += item.values() if isinstance(item, dict) else item if isinstance(item, list) else []
    return program, {"list": {3: "no list", 5: list("abcdefghijk")}.get(seed % 11, ["1", "2", "3"])}


class Stopped(Exception):
    """The run, or a branch, stops: the kind, the reason, the address; and, once known, the plan's path and the line."""


def answer(kind: str, tool: str, args: dict[str, Any], address: str) -> Outcome:
    """What an effect brings, fixed by what was asked and where; one in thirteen of `fire` fails."""
    if kind == "files":
        return Outcome(["f", "g"])
    if kind == "predicate":
        return Outcome(len(canonical(args)) % 2 == 0)
    if tool == "fire" and crc32(f"{address}{canonical(args)}".encode()) % 13 == 0:
        return Outcome(failure=Failure("luck", f"{address} is unlucky"))
    return Outcome([tool, address])


class Answering:
    """The same as tools of the engine."""

    def __init__(self, *ignored: Any) -> None:
        pass

    def follow(self, state: Any) -> None:
        pass

    def perform(self, effect: Perform) -> Outcome:
        return answer(effect.kind, effect.tool, effect.args, effect.address)

    def probe(self, effect: Perform) -> Any:
        return "not-done"

    def cancel(self) -> None:
        pass


Effect = Callable[[str, str, str, dict[str, Any]], Awaitable[Any]]
"""Performs an effect (address, kind, tool, arguments): its value, or raises Stopped."""
Branch = tuple[str, list[Any], str, dict[str, Any]]
"""A branch of a fork: its plan, the way to its body, its address, its names."""


class Reference:
    """Runs one program. `branches` runs branches of a fork at once: what each yielded, or how it stopped."""

    def __init__(
        self,
        program: dict[str, Any],
        effect: Effect,
        branches: Callable[[list[Branch]], Awaitable[list[list[Any] | Stopped]]] | None = None,
    ) -> None:
        self.program, self.effect = program, effect
        self.branches = branches or self._gather

    async def run(self, given: dict[str, Any]) -> tuple[tuple[str, str, str] | None, Any]:
        """How the program ends."""
        try:
            return None, await self.plan(self.program["root"], given, "main")
        except Stopped as stopped:
            return stopped.args[:3], None

    async def plan(self, name: str, given: dict[str, Any], prefix: str) -> Any:
        """A call of a plan: what it yielded last."""
        plan = self.program["plans"][name]
        names = {one["name"]: one.get("default") for one in plan["params"]} | given
        yielded: list[Any] = [None]
        await self.block(plan["body"], prefix, names, yielded.append, (name, ["body"]))
        return yielded[-1]

    async def branch(self, one: Branch) -> list[Any]:
        """A branch of a fork: what it yielded."""
        name, way, prefix, names = one
        body: Any = self.program["plans"][name]
        for part in way:
            body = body[part]
        yielded: list[Any] = []
        await self.block(body, prefix, names, yielded.append, (name, way))
        return yielded

    async def _gather(self, branches: list[Branch]) -> list[list[Any] | Stopped]:
        found = await asyncio.gather(*map(self.branch, branches), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, Stopped):
                raise one
        return found  # type: ignore[return-value]

    async def block(
        self,
        items: list[Any],
        prefix: str,
        names: dict[str, Any],
        give: Callable[[Any], None],
        way: tuple[str, list[Any]],
    ) -> None:
        """The instructions of a block, one after the other."""
        for number, item in enumerate(items, 1):
            here = f"{prefix}/{number}"
            try:
                value = await self.one(item, here, names, give, (way[0], [*way[1], number - 1]))
            except Unusable as wrong:
                raise Stopped(
                    "value", str(wrong), here, self.program["plans"][way[0]]["path"], item["line"]
                ) from None
            except Stopped as stopped:
                if len(stopped.args) == 3:  # the innermost block knows where that is
                    stopped.args += (self.program["plans"][way[0]]["path"], item["line"])
                raise
            if item.get("bind") is not None:
                names[item["bind"]] = value

    async def one(
        self,
        item: dict[str, Any],
        here: str,
        names: dict[str, Any],
        give: Callable[[Any], None],
        way: tuple[str, list[Any]],
    ) -> Any:
        """One instruction: its value."""
        op = item["op"]
        inside = (way[0], [*way[1], "body"])
        if op == "step":
            return await self.effect(
                here, "tool", item["tool"], {k: render(v, names) for k, v in item["args"].items()}
            )
        if op == "call":
            given = {name: render(template, names) for name, template in item["args"].items()}
            return await self.plan(item["plan"], given, f"{here}>{item['name']}")
        if op == "yield":
            give(render(item["value"], names))
        elif op == "require":
            if not await self.condition(item["cond"], names, here):
                raise Stopped("require", item["why"], here)
        elif op == "if":
            side = "then" if await self.condition(item["cond"], names, here) else "else"
            await self.block(item[side], f"{here}.{side}", names, give, (way[0], [*way[1], side]))
        elif op == "iterate":
            for round_ in range(1, item["max"] + 1):
                place = f"{here}[{round_}]"
                await self.block(item["body"], place, names, give, inside)
                try:
                    if item["until"] is not None and await self.condition(
                        item["until"], names, place
                    ):
                        break
                except Unusable as wrong:
                    raise Stopped("value", str(wrong), place) from None
        elif op == "each":
            files = await self.effect(
                f"{here}*", "files", "for_each_file", {"glob": render(item["glob"], names)}
            )
            await self.rounds(
                item, here, names, give, inside, files, {item["name"], item["alias"]} - {None}
            )
        elif op in ("for", "fork"):
            over = render(item["in"], names)
            if not isinstance(over, list):
                raise Stopped("value", f"`{op}` runs over a list, and this is none", here)
            if len(over) > item["max"]:
                raise Stopped(
                    "bound", f"{len(over)} items, and the plan allows {item['max']}", here
                )
            if op == "for":
                collected: list[Any] = []
                await self.rounds(item, here, names, collected.append, inside, over, {item["name"]})
                return collected
            found = await self.branches(
                [
                    (*inside, f"{here}#{at}", {**names, item["name"]: one})
                    for at, one in enumerate(over, 1)
                ]
            )
            gathered: list[Any] = []
            for one, value in zip(found, over, strict=True):
                if isinstance(one, list):
                    gathered += one
                elif "keep" in item:
                    kind, why, at, path, line = one.args
                    gathered.append(
                        {
                            "failed": kind,
                            "why": why,
                            "item": value,
                            "at": at,
                            "path": path,
                            "line": line,
                        }
                    )
                else:
                    raise one
            return gathered
        return None

    async def rounds(
        self, item: dict[str, Any], here: str, names: dict[str, Any], give: Callable[[Any], None],
        way: tuple[str, list[Any]], items: list[Any], loop_names: set[str],
    ) -> None:  # fmt: skip
        """A loop: its names mean afterwards what they meant before."""
        before = {name: names[name] for name in loop_names if name in names}
        for number, one in enumerate(items, 1):
            names |= dict.fromkeys(loop_names, one)
            await self.block(item["body"], f"{here}[{number}]", names, give, way)
        for name in loop_names if items else ():
            names.pop(name)
        names |= before

    async def condition(self, cond: dict[str, Any], names: dict[str, Any], place: str) -> bool:
        """Whether it holds, its predicates asked from left to right and no further than needed."""
        answers: list[Any] = []
        while True:
            try:
                return holds(cond, names, answers)
            except PredicateWanted as wanted:
                address = f"{place}?{len(answers) + 1}"
                answers.append(
                    await self.effect(address, "predicate", wanted.name, {"args": wanted.wanted})
                )


def on_asyncio(program: dict[str, Any], given: dict[str, Any]) -> Came:
    """What a program comes to, on asyncio alone."""
    outcomes: dict[str, Any] = {}

    async def effect(address: str, kind: str, tool: str, args: dict[str, Any]) -> Any:
        assert address not in outcomes, f"{address} is asked twice"
        await asyncio.sleep(0)
        found = answer(kind, tool, args, address)
        outcomes[address] = found.value
        if found.failure is not None:
            raise Stopped("failure", f"`{tool}`: {found.failure.message}", address)
        return found.value

    return Came(*asyncio.run(Reference(program, effect).run(given)), outcomes)
