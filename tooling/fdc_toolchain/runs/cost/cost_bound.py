"""The worst-case cost of a run, for `fdc run --dry-run` and `fdc analyze` (FDC-13 to FDC-15).

The same bound as `rules.bounds`, on the program instead of the plans. The program is walked in the order
of a run with what its steps may have created so far, so that a loop over files is counted with the files that
exist now and with those. If they cannot be counted, the number stays a symbol of a polynomial. If a
command came before the loop, the number depends on an assumption, which is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...engine.values import resolved
from ...named_tuples import NamedTuple
from ...program.instructions import names_bound
from ...program.model import LEFT, Instruction, PlanBody, Program
from ...program.polynomial import Polynomial, constant, poly_max, poly_sum, poly_times
from .created_files import Made, creates, fixed, matching, pattern

MEASURES = ("steps", "model_calls", "tokens", "money")
_Cost = tuple[Polynomial, Polynomial, Polynomial, Polynomial]
_FREE: _Cost = ({}, {}, {}, {})

MOST_ITEMS = 20_000
"""Maximum number of instructions that are walked in order; a larger plan is walked once, with all files it may create."""
MOST_FILES = 200_000
"""A loop over more files stops the run (`workspace.globs.MAX_FILES`)."""


class Worst(NamedTuple):
    """The maximum of each measure, as a polynomial.

    `unknown`: globs that stay symbols, since they are unknown before the run. `growing`: those that stay
    symbols, since the plan creates files for its own loops. `created`: whether files that the plan creates are
    counted. `assumed`: the assumptions, each (the steps that may change files, the glob). `short`: the budgets
    of called plans that may be exhausted, each (the plan, the measure, the limit).
    """

    cost: dict[str, Polynomial]
    unknown: tuple[str, ...]
    growing: tuple[str, ...]
    created: bool
    assumed: tuple[tuple[str, str], ...]
    short: tuple[tuple[str, str, float], ...] = ()


def worst(
    program: Program,
    given: Mapping[str, str | None],
    rate: float,
    listing: Callable[[str], list[str] | None],
) -> Worst:
    """The worst case. `given` are the root's parameters (None: not known, the default does not count), `rate` is what a
    token costs, `listing` gives the files of a glob now (None: it is unknown).
    """
    for made in (Made(), fixed(program)):
        reader = _Reader(program, rate, listing, made)
        try:
            cost, _ = reader.plan(program["root"], dict(given), made)
            break
        except _TooLong:
            continue
    unknown, growing = tuple(sorted(reader.unknown)), tuple(sorted(reader.growing))
    assumed, short = tuple(sorted(reader.assumed)), tuple(sorted(reader.short))
    return Worst(
        dict(zip(MEASURES, cost, strict=True)), unknown, growing, reader.created, assumed, short
    )


class _TooLong(Exception):
    """The walk in the order of the run takes too long, or its result cannot be expressed."""


class _Reader:
    def __init__(
        self,
        program: Program,
        rate: float,
        listing: Callable[[str], list[str] | None],
        made: Made,
    ) -> None:
        self.program = program
        self.rate = rate
        self.listing = listing
        self.fixed = made.all  # `made` already contains all files, so the walk is short
        self.unknown: set[str] = set()
        self.growing: set[str] = set()
        self.assumed: set[tuple[str, str]] = set()
        self.short: set[tuple[str, str, float]] = set()
        self.created = False
        self.walked = 0
        self.log: list[object] = []  # the counts used for loops over files, in order
        self.known_logs: dict[tuple[object, ...], int] = {}
        self.done: dict[Any, tuple[_Cost, Made, int]] = {}

    def plan(self, plan_id: str, names: dict[str, Any], made: Made) -> tuple[_Cost, Made]:
        """The cost of a plan that begins with the files `made`, and the files at its end."""
        plan = self.program["plans"][plan_id]
        known = {
            param["name"]: param["default"]
            for param in plan["params"]
            if param.get("default") is not None
        }
        known.update(names)
        bound = names_bound(plan["body"])
        known = {name: value for name, value in known.items() if name not in bound}
        key = (plan_id, tuple(sorted((name, str(value)) for name, value in known.items())), made)
        if key not in self.done:
            outer, self.log = self.log, []
            cost, after = self.block(plan["body"], known, made, plan)
            if "budget" in plan:
                cost = self.held(cost, plan)
            self.done[key] = (
                cost,
                after,
                self.known_logs.setdefault(tuple(self.log), len(self.known_logs)),
            )
            self.log = outer
        cost, after, log = self.done[key]
        self.log.append(("plan", log))
        return cost, after

    def held(self, cost: _Cost, plan: PlanBody) -> _Cost:
        """The cost of calling a plan with a budget, which the run enforces."""
        from ...rules.bounds import held

        out = []
        for measure, poly in zip(MEASURES, cost, strict=True):
            limit = plan["budget"].get(measure)
            out.append(held(poly, limit))
            if limit is not None and (poly.get((), 0) > limit or any(poly)):
                self.short.add((plan["path"], measure, limit))
        steps, calls, tokens, money = out
        return steps, calls, tokens, money

    def block(
        self,
        block: list[Instruction],
        names: dict[str, Any],
        made: Made,
        plan: PlanBody,
    ) -> tuple[_Cost, Made]:
        total = _FREE
        for item in block:
            cost, made = self.item(item, names, made, plan)
            total = _each(total, cost, poly_sum)
        return total, made

    def item(
        self, item: Instruction, names: dict[str, Any], made: Made, plan: PlanBody
    ) -> tuple[_Cost, Made]:
        self.walked += 1
        if self.walked > MOST_ITEMS and not self.fixed:
            raise _TooLong
        op = item["op"]
        if op == "step":
            return self.step(item), made if self.fixed else creates(
                item, names, made, self.program, plan
            )
        if op == "call":
            handed = {name: resolved(template, names) for name, template in item["args"].items()}
            return self.plan(
                item["plan"],
                {name: None if "{" in value else value for name, value in handed.items()},
                made,
            )
        if op == "if":
            constant = (
                item["cond"].get("value", {}).get("const")
                if set(item["cond"]) == {"value"}
                else None
            )
            then, after = self.block(item["then"], names, made, plan)
            orelse, other = self.block(item["else"], names, made, plan)
            if isinstance(constant, bool):
                return (then, after) if constant else (orelse, other)
            return _each(then, orelse, poly_max), after.joined(other)
        if op in ("for", "fork", "iterate", "each"):
            times = self.files(item, names, made) if op == "each" else int(item["max"] or 0)
            inner = {
                name: value
                for name, value in names.items()
                if name not in (item.get("name"), item.get("alias"))
            }
            return self.rounds(
                item, times, lambda before: self.block(item["body"], inner, before, plan), made
            )
        return _FREE, made

    def step(self, item: Instruction) -> _Cost:
        tool = self.program["tools"][item["tool"]]
        stated = tool.get("cost", {})
        left = [measure for measure, most in stated.items() if most == LEFT]
        cost = {name: most for name, most in stated.items() if not isinstance(most, str)}
        tokens = cost.get("tokens", 0)
        priced = round(self.rate * tokens, 9) if "prompt" in tool.get("run", ()) else 0
        numbers = (1, cost.get("model_calls", 0), tokens, max(priced, cost.get("money", 0)))
        one, two, three, four = (
            {**constant(float(number)), **({(item["tool"],): 1.0} if measure in left else {})}
            for measure, number in zip(MEASURES, numbers, strict=True)
        )
        return one, two, three, four

    def rounds(
        self,
        item: Instruction,
        times: int | str,
        body: Callable[[Made], tuple[_Cost, Made]],
        made: Made,
    ) -> tuple[_Cost, Made]:
        """A body that runs `times`; each round may see files of earlier rounds, in a fork those of all other branches."""
        if isinstance(times, str):
            cost, after = body(made)
            wide = made.widened(after)
            if wide != made:
                cost, after = body(wide)
                if wide.widened(after) != wide:
                    raise _TooLong
            return _each(cost, _FREE, lambda left, _: poly_times(left, times)), wide
        total, done, last = _FREE, 0, None
        outer = self.log
        while done < times:
            self.log = []
            cost, after = body(made)
            seen = tuple(self.log)
            outer.append(self.known_logs.setdefault(seen, len(self.known_logs)))
            if item["op"] == "fork" and after != made:
                after = made.grown(after, times)
                self.log = []
                cost, _ = body(after)
                if tuple(self.log) != seen:
                    raise _TooLong
            if after == made or seen == last or item["op"] == "fork":
                rest = times - done
                more = _each(cost, _FREE, lambda left, _: poly_times(left, rest))  # noqa: B023
                total = _each(total, more, poly_sum)
                made = after if after == made or item["op"] == "fork" else made.grown(after, rest)
                break
            total, made, last, done = _each(total, cost, poly_sum), after, seen, done + 1
        self.log = outer
        return total, made

    def files(self, item: Instruction, names: dict[str, Any], made: Made) -> int | str:
        """The number of rounds of a loop over files: a number, or the glob if it is unknown."""
        glob = resolved(item["glob"], names)
        most: int | None = item["max"]
        listed = None if "{" in glob else self.listing(glob)
        if listed is None:
            if most is None:
                self.unknown.add(glob)
            return glob if most is None else int(most)
        tokens = pattern(glob)
        new = matching(made, tokens)
        number = (
            MOST_FILES if new is None else len(new[0].difference(listed)) + new[1] + len(listed)
        )
        if made.doubts and most is not None:
            number = max(MOST_FILES, most)
        self.log.append((glob, number))
        if most is not None and number >= most:
            return int(most)
        if number >= MOST_FILES:
            if not self.fixed:
                raise _TooLong
            self.growing.add(glob)
            return glob
        self.created = self.created or number > len(listed)
        self.assumed |= {(doubt, glob) for doubt in made.doubts}
        return number


def _each(left: _Cost, right: _Cost, join: Callable[[Polynomial, Polynomial], Polynomial]) -> _Cost:
    return (
        join(left[0], right[0]),
        join(left[1], right[1]),
        join(left[2], right[2]),
        join(left[3], right[3]),
    )
