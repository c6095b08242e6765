"""The part of the checker that has the machines which read the steps of a run: automata, and the rules of protocols.

Like `control.py` it imports nothing of fdc.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .forms import Event, Instruction, Plan, Program, RuleRow

GLOB = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
States = set[str]
Symbol = str | tuple[int, ...]
"""An action type of an automaton, or the letters of a rule that a step may be."""


class Machine(NamedTuple):
    """A machine that reads the steps of runs: an automaton or a rule. `symbol` None: not read. `after` has None for a refusal."""

    name: str
    start: str
    accept: States
    enters: Callable[[Plan], bool]
    symbol: Callable[[Instruction], Symbol | None]
    after: Callable[[str, Symbol], set[str | None]]


def automaton(program: Program, name: str) -> Machine:
    """The machine of an automaton: it reads the action types of steps, except in called plans with an automaton of their own."""
    row = program["automata"][name]
    return Machine(
        f"`{name}`", row["start"], set(row["accept"]), lambda plan: plan["automaton"] is None, lambda step: step["action"],
        lambda state, symbol: {row["transitions"].get(state, {}).get(str(symbol))},
    )  # fmt: skip


@cache
def pattern(glob: str) -> re.Pattern[str]:
    """A glob as a regular expression: `*` and `?` stand inside a name, `**/` for any folders, `**` for anything."""
    return re.compile(
        re.sub(
            r"\*\*/|\*\*|.", lambda token: GLOB.get(token[0], re.escape(token[0])), glob, flags=re.S
        ),
        re.S,
    )


class Rule:
    """A rule of a protocol; if it has a state for each value of a parameter, for `value` (None: one that no step names)."""

    def __init__(self, program: Program, rule: RuleRow, value: str | None) -> None:
        self.program, self.rule, self.value, self.same = program, rule, value, rule["same"]
        self.paths = {
            name: {
                row["name"]
                for row in tool.get("parameters", ())
                if row.get("kind") in ("path", "glob")
            }
            for name, tool in program["tools"].items()
        }
        self.is_path = any(self.same in row for row in self.paths.values())
        self.hidden = not self.enters(program["plans"][program["root"]])

    def machine(self) -> Machine:
        """The rule as a machine: a symbol is the letters that a step may be, with -1 where the step may not be read."""
        accept = {str(state) for state in self.rule["accept"]}
        return Machine(
            f"the rule `{self.rule['rule']}`", "0", accept, self.enters, self.symbol, self.after
        )

    def enters(self, plan: Plan) -> bool:
        """Whether it reads the steps of a called plan."""
        return not self.rule.get("automata") or plan["automaton"] in (None, *self.rule["automata"])

    def args(self, step: Instruction) -> dict[str, str | None]:
        """The arguments of a step as it reads them; None where one is made of values of the run."""
        texts = {}
        for name, template in step["args"].items():
            known = [part for part in template if isinstance(part, str)]
            text = "".join(known) if len(known) == len(template) else None
            if text is not None and (
                self.is_path if name == self.same else name in self.paths[step["tool"]]
            ):
                parts = [part for part in text.split("/") if part not in ("", ".")]
                text = "/".join(parts) + "/" * (bool(parts) and text.split("/")[-1] in ("", "."))
            texts[name] = text
        return texts

    def values(self) -> set[str | None]:
        """The values to check the rule for: each value that a step names, and None for any other."""
        values: set[str | None] = {None}
        work = [node for plan in self.program["plans"].values() for node in plan["body"]]
        while work and self.same is not None:
            node = work.pop()
            values |= {self.args(node).get(self.same)} if node["op"] == "step" else set()
            work += [*node.get("body", ()), *node.get("then", ()), *node.get("else", ())]
        return values

    def symbol(self, step: Instruction) -> tuple[int, ...] | None:
        """The letters that a step may be; None where it is not read."""
        args = self.args(step)
        if (
            self.hidden
            or self.same is not None
            and (self.same not in args or args[self.same] not in (None, self.value))
        ):
            return None
        known = args if self.same is None else {**args, self.same: self.value}
        letters = {0}
        for number, events in enumerate(self.rule["events"]):
            fits = {self.fits(event, step, known) for event in events}
            bits = [1] if True in fits else [0, 1] if None in fits else [0]
            letters = {letter | bit << number for letter in letters for bit in bits}
        return tuple(
            sorted(letters | ({-1} if self.same is not None and args[self.same] is None else set()))
        )

    def fits(self, event: Event, step: Instruction, args: dict[str, str | None]) -> bool | None:
        """Whether a step is an event; None where that depends on a value of the run."""
        names = {
            "name": (step["tool"], step["action"]),
            "tool": (step["tool"],),
            "action": (step["action"],),
        }
        if any(event.get(part) not in (None, *allowed) for part, allowed in names.items()):
            return False
        verdicts = [
            name in args
            and (None if (text := args[name]) is None else bool(pattern(glob).fullmatch(text)))
            for name, glob in event.get("arguments", {}).items()
        ]
        return False if False in verdicts else None if None in verdicts else True

    def after(self, state: str, letters: Symbol) -> set[str | None]:
        """The states after a step that is one of some letters; None: the rule is broken."""
        if isinstance(letters, str):
            raise TypeError("an action type is no letter of a rule")
        targets = {
            int(state) if letter < 0 else self.rule["table"][letter][int(state)]
            for letter in letters
        }
        return {None if target < 0 else str(target) for target in targets}
