"""Findings for plans with a run that breaks a protocol's rule: the shortest such run, and the rule's position."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ...diagnostics.diagnostic import Diagnostic, Label
from ...diagnostics.span import Span
from ...linking.graph import Instance
from ...linking.model import Act, Gate, Invoke, Loop, Unit
from ...linking.protocol_rules.obligation import Obligation, described
from ...linking.protocol_rules.read_checks import place
from ..solver import events
from ..solver.counterexample import (
    SOME_ORDER,
    UNSURE,
    Refusal,
    Search,
)
from ..solver.refusals import MOST, last_line
from ..solver.trace import Leaf, Path, doubt_in, labels
from ..solver.words import Rows, Summaries
from .rule_machine import STOP, Case, machine_of

ALIKE = 0.6
"""From which likeness on, of at most 1, an argument is nearly another."""


class Alone(Summaries):
    """The words of one rule without data: every step counts, by its letters."""

    def __init__(self, rule: Obligation) -> None:
        self.rule = rule
        self._letters: dict[int, events.Letters] = {}
        super().__init__(machine_of(rule), self._read, STOP if rule.strict else None)

    def _read(self, instance: Instance, node: Act) -> events.Letters:
        found = self._letters.get(id(node.bound))
        if found is None:
            found = self._letters[id(node.bound)] = events.letters(self.rule, node)
        return found

    def enter(self, instance: Instance, node: Invoke) -> Instance | None:
        callee = super().enter(instance, node)
        return None if callee is not None and self.rule.hides(callee.unit) else callee

    def rows(self, symbol: object) -> Rows:
        """What the letters do that a step may be."""
        table = self.machine.table
        return (table[STOP],) if symbol == STOP else tuple(table[str(letter)] for letter in symbol)  # type: ignore[attr-defined]


def cases(root: Instance, rule: Obligation) -> Iterator[Case] | None:
    """The walks that decide about a root; None where they are too many."""
    if rule.same is None:
        words = Alone(rule)
        return iter([Case(words, _Search(words), root, (0,), "")])
    from .per_value import each_value  # loaded where such a rule is not proved at once

    return each_value(root, rule)


def judged(root: Instance, rule: Obligation, source: bytes) -> list[Diagnostic]:
    """The findings of a root under a rule that some run of it may break; none where it holds all the same.

    `source` is the protocol's text: the findings point at the rule in it.
    """
    where = Label(place(source, rule.path, ("rules", rule.number, "rule_id")), rule.description)
    sure: list[Diagnostic] = []
    doubts: list[Diagnostic] = []
    sometimes: list[tuple[frozenset[str], list[Diagnostic]]] = []
    kept: set[str] = set()
    walks = cases(root, rule)
    if walks is None:
        message = (
            f"{_named(rule)} is not proved: the plan names more values than fdc checks one by one"
        )
        doubts.append(_finding(last_line(root), "FDC463", message, rule, (), ()))
    for _, group in groupby(walks or (), lambda case: case.about):
        results = [(case, *_judged(case, root, rule)) for case in group]
        if all(broken for _, broken, _ in results):  # whatever the run is given
            sure += results[0][1]
        else:
            sometimes += [(case.assumed, broken) for case, broken, _ in results if broken]
            kept = kept.union(*(case.assumed for case, broken, _ in results if not broken))
        doubts += [one for _, _, unproved in results for one in unproved]
        if len(sure) >= MOST:
            break
    for assumed, broken in sometimes:
        if assumed - kept:  # whatever this argument is, the rule is broken for it
            sure += broken
    by_place = {item.trace[-1].span if item.trace else item.span: item for item in reversed(sure)}
    found = list(by_place.values())[: -MOST - 1 : -1] or doubts[:1]
    return [item._replace(labels=(*item.labels, where)) for item in found]


def _judged(
    case: Case, root: Instance, rule: Obligation
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """The ways in which runs of one walk break the rule certainly, and one in which one may, for a finding of less."""
    sure: list[Diagnostic] = []
    unproved: list[Diagnostic] = []
    begun = sum(1 << state for state in case.starts)
    if not case.words.body(case.root, root.unit.body, begun) & ~case.words.machine.accept:
        return [], []
    for start in case.starts:
        finding = case.search.root(case.root, start)
        certain = [
            refusal
            for refusal in finding.refusals
            if refusal.length < UNSURE and not isinstance(refusal.node, Loop)
        ]
        sure += [_refused(one, root, rule, case.about) for one in certain[:MOST]]
        end = finding.unfinished
        if end is not None and end[1] < UNSURE:
            sure.append(_unfinished(root, rule, case, end[0], end[2]))
        if finding.refusals:
            one = finding.refusals[0]
            doubt = (None if one in certain else _doubt(one)) or case.doubt
            unproved += (
                [_unproved(one.outer, doubt, rule, labels(one.path), case.about)] if doubt else []
            )
        elif end is not None:
            doubt = doubt_in(end[2]) or case.doubt
            unproved += (
                [_unproved(last_line(root), doubt, rule, labels(end[2]), case.about)]
                if doubt
                else []
            )
    return sure, unproved


class _Search(Search):
    """Traces that explain the steps that the rule covers, and omit the others."""

    def _move(self, before: str, after: str) -> str:
        return "" if before == after else after


def _named(rule: Obligation) -> str:
    return f"the rule `{rule.rule}` of `{rule.protocol}`"


def _finding(
    span: Span,
    code: str,
    message: str,
    rule: Obligation,
    more: tuple[Label, ...],
    trace: tuple[Label, ...],
) -> Diagnostic:
    found = Diagnostic(span, code, message, more, trace, f"the rule: {asked(rule)}")
    return (
        found._replace(grade="warning")
        if code == "FDC461" and rule.severity == "warning"
        else found
    )


def _near(rule: Obligation, unit: Unit, trace: tuple[Label, ...]) -> str:
    """The last step of a run that is nearly one of the rule's: `pytest -q`, where the rule says `pytest`."""
    from difflib import SequenceMatcher

    named = [
        (event.tool, name, said)
        for group in rule.events
        for event in group
        for name, said in event.arguments
        if "*" not in said
    ]
    lines = {label.span.line for label in trace if label.span.path == unit.key}
    for act in reversed(unit.acts):
        for tool, name, said in named if act.step.line in lines else ():
            value = act.bound.arguments.get(name) if act.bound.tool.name == tool else None
            given = value.literal if value is not None else None
            if given is None or given == said:
                continue
            alike = SequenceMatcher(None, given, said, False).ratio() >= ALIKE
            if alike or given.startswith(f"{said} "):
                return f"; `{given}` (line {act.step.line}) is not `{said}`"
    return ""


def _refused(refusal: Refusal, root: Instance, rule: Obligation, about: str) -> Diagnostic:
    node = refusal.node
    unit = refusal.instance.unit
    here = "" if unit.key == root.unit.key else f" (reached in `{unit.name}`, line {_line(node)})"
    if isinstance(node, Gate):
        statement, what = unit.span(node.node), "a run that stops at this `require`"
    else:
        assert isinstance(node, Act)
        statement, what = unit.span(node.step), f"`{node.step.tool}`"
    more = () if refusal.outer == statement else (Label(statement, "this step"),)
    trace = (*labels(refusal.path), Label(statement, "breaks the rule"))
    message = f"{what} breaks {_named(rule)}{about}{here}"
    found = _finding(refusal.outer, "FDC461", message, rule, more, trace)
    return found._replace(help=f"{found.help}{_near(rule, root.unit, trace)}")


def _line(node: object) -> int:
    return node.step.line if isinstance(node, Act) else node.node.line  # type: ignore[attr-defined]


def _unfinished(root: Instance, rule: Obligation, case: Case, state: int, path: Path) -> Diagnostic:
    where = case.words.machine.states[state]
    message = f"a run breaks {_named(rule)}{case.about}: at its end, {where}"
    trace = labels(path)
    found = _finding(last_line(root), "FDC461", message, rule, (), trace)
    return found._replace(help=f"{found.help}{_near(rule, root.unit, trace)}")


def _doubt(refusal: Refusal) -> Leaf | None:
    if isinstance(refusal.node, Loop):
        span = refusal.instance.unit.span(refusal.node.node)
        return Leaf(span.path, span.line, span.column, "", True, SOME_ORDER)
    found = doubt_in(refusal.path)
    if found is None:
        span = refusal.instance.unit.span(refusal.node.step)  # type: ignore[union-attr]
        found = Leaf(span.path, span.line, span.column, "", True, "value")
    return found


def _unproved(
    span: Span, doubt: Leaf, rule: Obligation, trace: tuple[Label, ...], about: str
) -> Diagnostic:
    if doubt.doubt == SOME_ORDER:
        why = "the branches of a fork may interleave in an order that breaks it"
    else:
        why = "it depends on a value that is known only when the plan runs"
    there = Span(doubt.key, doubt.line, doubt.column, doubt.line, doubt.column + 1)
    more = (
        ()
        if there[:2] == span[:2]
        else (Label(there, "this fork" if doubt.doubt == SOME_ORDER else "this step"),)
    )
    return _finding(
        span, "FDC463", f"{_named(rule)} is not proved{about}: {why}", rule, more, trace
    )


_ASKED = {
    "existence": "at least {n} times {a}", "absence": "fewer than {n} times {a}", "exactly": "exactly {n} times {a}",
    "init": "the first step is {a}", "last": "the last step is {a}",
    "choice": "{a} or {b}", "exclusive_choice": "{a} or {b}, not both",
    "responded_existence": "if {a} occurs, {b} occurs too, before or after it",
    "coexistence": "{a} and {b} both occur, or neither",
    "response": "after {a} comes {b}", "precedence": "no {b} before {a}",
    "succession": "after {a} comes {b}, and no {b} before {a}",
    "alternate_response": "after {a} comes {b} before the next {a}",
    "alternate_precedence": "before {b} comes {a}, one for each",
    "alternate_succession": "{a} and {b} alternate, {a} first",
    "chain_response": "the step after {a} is {b}", "chain_precedence": "the step before {b} is {a}",
    "chain_succession": "{a} and {b} follow each other directly",
    "not_coexistence": "not both {a} and {b}", "not_succession": "no {b} after {a}",
    "not_chain_succession": "{b} does not directly follow {a}",
    "fresh": "before {c} comes {a} since the last {b}", "held": "{a} only between {b} and {c}",
}  # fmt: skip


_ONCE = {"existence": "at least once {a}", "absence": "never {a}", "exactly": "exactly once {a}"}


def asked(rule: Obligation) -> str:
    """The text of a rule's check."""
    names = {letter: described(group) for letter, group in zip("abc", rule.events, strict=True)}
    words = _ONCE.get(rule.template) if rule.n == 1 else None
    text = (words or _ASKED[rule.template]).format(n=rule.n, **names)
    return text if rule.same is None else f"for each {rule.same}: {text}"
