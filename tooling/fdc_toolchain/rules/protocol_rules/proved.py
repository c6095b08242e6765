"""The rules of the workspace's protocols, proved over all runs (issue 3, *Rules that bite*; FDC-64, FDC-104).

Each rule is a small automaton (`automata.declare`) that reads every step of a run: a letter says which of the
rule's events the step is. One walk advances the automata of all rules together and finds those that no run
breaks; each of the others is then walked alone, for the shortest run that breaks it (FDC461), or that may
break it for all that can be known before the plan runs (FDC463).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ...diagnostics.diagnostic import Diagnostic
from ...linking.graph import Instance
from ...linking.model import Act
from ...linking.protocol_rules.obligation import Obligation
from ...named_tuples import NamedTuple
from ..solver import events
from ..solver.rule import Context
from ..solver.words import Machine, Steps, Summaries
from .rule_machine import STOP


def findings(context: Context, rules: tuple[Obligation, ...]) -> Iterator[Diagnostic]:
    """Why rules that apply to a root are not proved for its runs: nothing where all of them are."""
    together = Together(rules)
    for instance, governing in context.roots:
        automaton = None if governing is None else governing.path
        meant = [
            number
            for number, rule in enumerate(rules)
            if rule.applies(instance.unit.key, automaton)
        ]
        suspect = together.suspects(instance, meant)
        for number in sorted(suspect):
            from .rule_violations import judged  # loaded where there is something to explain

            rule = rules[number]
            yield from judged(instance, rule, context.linker.files.read(rule.path) or b"")


# ---- all rules in one walk --------------------------------------------------------------------------


class _Joint(Steps):
    """The transitions of all rules at once: `targets[n]` is the mask of states that state number n may go to."""

    def __init__(self, targets: list[int], machine: Machine) -> None:
        super().__init__((), machine)
        self.targets = targets

    def __missing__(self, mask: int) -> int:
        after, rest = 0, mask
        while rest:
            low = rest & -rest
            rest ^= low
            after |= self.targets[low.bit_length() - 1]
        self[mask] = after
        return after


class _Kind(NamedTuple):
    """Steps of one tool and action type: for each rule the letters of one of them, and the rules that look at more than that."""

    letters: tuple[events.Letters, ...]
    open: tuple[int, ...]


class Together(Summaries):
    """The automata of all rules as one, whose states are theirs side by side, each rule's sink among its own.

    A step is known by the events that it is under every rule. Where a plan is called with some set of states,
    that set is one entry: the summaries are as many as there are such sets, whatever the number of rules.
    """

    def __init__(self, rules: tuple[Obligation, ...]) -> None:
        self.rules = rules
        self.made = [rule.machine for rule in rules]
        self.offsets: list[int] = []
        size = 0
        for made in self.made:
            self.offsets.append(size)
            size += len(made.states) + 1
        super().__init__(
            Machine("rules", ("",) * size, {}, 0, 0, "rules"), self._symbol, self._gates()
        )
        self._by_bound: dict[int, Hashable] = {}
        self._by_kind: dict[tuple[str, str | None], _Kind] = {}
        self._whole: dict[tuple[int, int], tuple[int, int]] = {}
        self._hiding: dict[str, int] = {}

    def _gates(self) -> Hashable:
        return STOP if any(rule.strict for rule in self.rules) else None

    def _symbol(self, instance: Instance, node: Act) -> Hashable:
        bound = node.bound
        found = self._by_bound.get(id(bound))
        if found is None:
            kind = (bound.tool.name, bound.action)
            known = self._by_kind.get(kind)
            if known is None:
                known = self._by_kind[kind] = self._kind(node)
            found = known.letters
            if known.open:
                told = list(known.letters)
                for number in known.open:
                    told[number] = self._letters(self.rules[number], node)
                found = tuple(told)
            self._by_bound[id(bound)] = found
        return found

    def _kind(self, node: Act) -> _Kind:
        """What is so of every step of a tool, and the rules for which its arguments count."""
        tool, action = node.bound.tool, node.bound.action
        optional = {item.name for item in tool.parameters if not item.required}
        about = [
            number
            for number, rule in enumerate(self.rules)
            if rule.same in optional
            or any(
                event.arguments and event.may_be(tool.name, action)
                for group in rule.events
                for event in group
            )
        ]
        return _Kind(tuple(self._letters(rule, node) for rule in self.rules), tuple(about))

    def _letters(self, rule: Obligation, node: Act) -> events.Letters:
        """The letters that a step may be; -1 among them: it may be about another value."""
        if rule.same is None:
            return events.letters(rule, node)
        if rule.same in node.bound.arguments:
            return (-1, *events.letters(rule, node))
        return (-1,)

    def steps(self, symbol: Hashable) -> Steps:
        found = self._steps.get(symbol)
        if found is None:
            targets: list[int] = []
            for number, made in enumerate(self.made):
                sink = len(made.states)
                for state in range(sink + 1):
                    targets.append(self._after(number, state, symbol) << self.offsets[number])
            found = self._steps[symbol] = _Joint(targets, self.machine)
        return found

    def _after(self, number: int, state: int, symbol: Hashable) -> int:
        made = self.made[number]
        sink = len(made.states)
        if state == sink:
            return 1 << sink
        if symbol == STOP:
            kept = not self.rules[number].strict or made.accept >> state & 1
            return 1 << (state if kept else sink)
        mask = 0
        for letter in symbol[number]:  # type: ignore[index]
            target = state if letter < 0 else made.table[letter][state]
            mask |= 1 << (sink if target < 0 else target)
        return mask

    def call(self, instance: Instance, mask: int) -> int:
        hidden = mask & self._hidden(
            instance
        )  # the states of rules that do not speak of the plan stay as they are
        mask ^= hidden
        key = (id(instance), mask)
        found = self._whole.get(key)
        if found is None:
            nodes = instance.unit.body
            found = (0, 0) if not mask else self.apart(self.body, instance, nodes, mask)
            self._whole[key] = found
        self.passed |= found[1]
        return found[0] | hidden

    def branches(self) -> Together:
        if self._twin is None:
            super().branches()._whole = {}
        return super().branches()

    def _hidden(self, instance: Instance) -> int:
        """The states of all rules that hide a plan."""
        unit = instance.unit
        if unit.stated is None or unit.automaton is None:
            return 0
        found = self._hiding.get(unit.automaton.path)
        if found is None:
            found = 0
            for number, rule in enumerate(self.rules):
                if rule.hides(unit):
                    found |= (2 << len(self.made[number].states)) - 1 << self.offsets[number]
            self._hiding[unit.automaton.path] = found
        return found

    def suspects(self, root: Instance, meant: list[int]) -> set[int]:
        """The rules (by number) that some run of a root may break; all others are kept."""
        start = 0
        for number in meant:
            start |= 1 << self.offsets[number]
        end = self.body(root, root.unit.body, start) if start else 0
        out = set()
        for number in meant:
            made = self.made[number]
            states = end >> self.offsets[number] & (2 << len(made.states)) - 1
            if states & ~made.accept:
                out.add(number)
        return out
