"""The part of the checker without automata: calls, names, steps. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from .constants import known

if TYPE_CHECKING:
    from .forms import Block, Body, Branch, Instruction, Program, Sizes

MOST_STACK = 10


class Wrong(Exception):
    """A claim does not hold: a sentence with its place."""


# ---- what of a program runs ---------------------------------------------------------------------------


def live(node: Instruction) -> list[Branch]:
    """The sides of an `if` that a run may take."""
    verdict = known(node["cond"])
    return ["then", "else"] if verdict is None else ["then"] if verdict else ["else"]


def blocks(node: Instruction) -> Sequence[Block]:
    """The blocks of an instruction that a run may come to."""
    return live(node) if node["op"] == "if" else ["body"] if "body" in node else []


def turns(node: Instruction) -> tuple[int, int | None]:
    """How often a loop runs at least and at most; None: as often as there are files."""
    most = node["max"]
    if node["op"] != "iterate":
        return 0, most
    if most is None:
        raise TypeError("an `iterate` without `max`")
    verdict = False if node["until"] is None else known(node["until"])
    return (1 if verdict is not False else most), (1 if verdict else most)


def refs(value: object) -> Iterator[str]:
    """The names that templates and conditions read."""
    if isinstance(value, dict) and "const" not in value:
        yield from value["ref"][:1] if "ref" in value else ()
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from refs(part)


def named(*names: str | None) -> set[str]:
    """Those that are names."""
    return {name for name in names if name is not None}


# ---- calls, names, steps ------------------------------------------------------------------------------


class Plans:
    """What is claimed of each plan: its height over those that it calls, the names bound at its end, the most steps of a run.

    Steps are a polynomial: for each product of sizes (a loop over files without `max` has a size) how often it is added.
    """

    def __init__(self, program: Program, certificate: Sizes) -> None:
        self.root, self.plans, self.one_size = (
            program["root"],
            program["plans"],
            certificate["one_size"] is True,
        )
        self.claims = {key: certificate["plans"][key] for key in self.plans}
        self.costs = {
            key: {tuple(sorted(sizes)): most for most, sizes in claim["steps"]}
            for key, claim in self.claims.items()
        }

    def check(self) -> None:
        """Raises Wrong."""
        for key, plan in self.plans.items():
            claim, names = self.claims[key], self.entry(key)
            if any(
                type(number) is not int or number < 1
                for number in (claim["height"], *(most for most, _ in claim["steps"]))
            ):
                raise Wrong(f"plan `{key}`: a claimed number is not a whole one from 1 on")
            for globs in plan.get("allow", {}).values():
                self.bound(
                    key,
                    1,
                    re.findall(r"\{([A-Za-z_][A-Za-z0-9_]*)[A-Za-z0-9_.]*\}", " ".join(globs)),
                    names,
                )
            names, cost = self.walk(key, plan["body"], names)
            self.bound(key, 1, claim["names"], names)
            if any(most > self.costs[key].get(sizes, 0) for sizes, most in cost.items()):
                raise Wrong(f"plan `{key}`: a run may take more steps than are claimed")
        if self.claims[self.root]["height"] > MOST_STACK:
            raise Wrong(f"plan `{self.root}`: calls are not shown to be at most {MOST_STACK} deep")

    def entry(self, key: str) -> set[str]:
        """The names that a plan begins with."""
        return {"run", *(param["name"] for param in self.plans[key].get("params", ()))}

    def bound(self, key: str, line: int, used: Iterable[str], names: set[str]) -> None:
        """Raises Wrong where a name is used that is not bound on every run."""
        if missing := sorted(set(used) - names):
            raise Wrong(
                f"plan `{key}`, line {line}: `{missing[0]}` is not bound on every run that reaches this step"
            )

    def walk(
        self, key: str, body: Body, names: set[str]
    ) -> tuple[set[str], Counter[tuple[str, ...]]]:
        """The names bound at the end of a body on every run, and the most steps of a run through it."""
        total: Counter[tuple[str, ...]] = Counter()
        for node in body:
            op, line = node["op"], node["line"]
            read = [node.get(part) for part in ("glob", "in", "cond", "value")]
            self.bound(key, line, refs([*read, *node.get("args", {}).values()]), names)
            if op == "step":
                total[()] += 1
            elif op == "call":
                callee = node["plan"]
                if not self.claims[callee]["height"] < self.claims[key]["height"]:
                    raise Wrong(
                        f"plan `{key}`, line {line}: the claimed heights do not fall along the call of `{callee}`"
                    )
                needed = {
                    param["name"]
                    for param in self.plans[callee].get("params", ())
                    if param.get("default") is None
                }
                self.bound(key, line, needed, set(node["args"]))
                total.update(self.costs[callee])
            elif op == "if":
                sides = [self.walk(key, node[side], names) for side in live(node)]
                names = set.intersection(*(after for after, _ in sides))
                total.update(
                    reduce(operator.or_, (cost for _, cost in sides))
                )  # the larger of both, term by term
            elif op in ("each", "for", "fork", "iterate"):
                if not (
                    type(node["max"]) is int
                    and node["max"] >= 1
                    or op == "each"
                    and node["max"] is None
                ):
                    raise Wrong(f"plan `{key}`, line {line}: the loop has no bound of 1 or more")
                after, inner = self.walk(
                    key, node["body"], names | named(node.get("name"), node.get("alias"))
                )
                size = (
                    ()
                    if node["max"] is not None
                    else ("n" if self.one_size else f"{self.plans[key]['path']}:{line}",)
                )
                total.update(
                    {
                        tuple(sorted((*sizes, *size))): most * (turns(node)[1] or 1)
                        for sizes, most in inner.items()
                    }
                )
                self.bound(key, line, refs(node.get("until")), after)
                names = after if op == "iterate" else names
            elif op not in ("skip", "require", "yield"):
                raise Wrong(f"plan `{key}`, line {line}: `{op}` is not an instruction of a program")
            names = names | named(node.get("bind"))
        return names, total
