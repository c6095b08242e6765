"""Paths that a call gives to a called plan, with which its steps fail whatever the run did before.

`file_places` judges what the text of a plan says. Here each plan that a judged plan calls is judged again with the literal
arguments of its calls in the place of its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics.diagnostic import Diagnostic, Label
from ...diagnostics.span import Span
from ...linking.graph import Instance
from ...linking.model import Act, Invoke, Unit
from ...syntax.tree import Statement
from ...syntax.values import Ref, Value
from ..file_places import loops_in, of_glob, of_step, read_by, secrets
from ..solver.files.guard import Guard
from ..solver.files.step_paths import bound_twice
from ..solver.rule import Context

Given = dict[str, Value]
"""By parameter: its value, as far as it is known where the plan is called."""

MOST_VISITS = 10_000
"""Pairs of a plan and what it is given, of one judged plan."""


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC415 to FDC419 and FDC484 of called plans, shown at the call in the judged plan that leads there."""
    guard = context.once(Guard)
    for root, _ in context.roots:
        yield from _Calls(context, guard, root).findings()


class _Calls:
    """The calls of one judged plan, each plan once for all that it is given."""

    def __init__(self, context: Context, guard: Guard, root: Instance) -> None:
        self._guard = guard
        self._root = root
        self._probes = context.probes.setdefault(root.unit.key, set())
        self._seen: set[tuple[int, tuple[tuple[str, str], ...]]] = set()
        self._used: dict[str, frozenset[str]] = {}

    def findings(self) -> Iterator[Diagnostic]:
        work: list[tuple[Instance, Given, Span | None]] = [(self._root, {}, None)]
        while work:
            instance, given, call = work.pop()
            if call is not None and len(self._seen) > MOST_VISITS:
                message = f"calls give other plans more than {MOST_VISITS:,} different paths: these are not followed"
                help_ = "name files by a `for` loop over a list, or in fewer calls"
                yield Diagnostic(call, "FDC419", message, help=help_)
                return
            if call is not None:
                yield from self._of_plan(instance.unit, given, call)
            for invoke, callee in zip(instance.unit.calls, instance.callees, strict=True):
                if callee is None:
                    continue
                more = self._arguments(callee, invoke, given)
                key = id(callee), tuple(sorted((name, value.text) for name, value in more.items()))
                if key not in self._seen:
                    self._seen.add(key)
                    work.append((callee, more, call or self._root.unit.span(invoke.call)))

    def _arguments(self, callee: Instance, invoke: Invoke, given: Given) -> Given:
        """What a call gives to the parameters that reach a path."""
        out = {}
        for name in self._reaching(callee):
            value = invoke.arguments.get(name)
            default = callee.unit.params[name].default
            if value is not None:
                out[name] = _filled(value, given)
            elif default is not None:
                out[name] = _text((default,))
        return {
            name: value
            for name, value in out.items()
            if "/" in value.text or all(ref.path == ("run",) for ref in value.refs)
        }

    def _reaching(self, instance: Instance) -> frozenset[str]:
        """The parameters of a plan that stand in a path, in it or in a plan that it calls."""
        unit = instance.unit
        found = self._used.get(instance.id)
        if found is None:
            names = {
                ref.path[0]
                for act in unit.acts
                for value in _paths(act, self._guard)
                for ref in value.refs
            }
            names |= {
                ref.path[0] for loop in loops_in(unit.body) if loop.over for ref in loop.over.refs
            }
            for invoke, callee in zip(unit.calls, instance.callees, strict=True):
                if callee is not None:
                    reaching = self._reaching(callee)
                    names |= {
                        ref.path[0]
                        for name, value in invoke.arguments.items()
                        if name in reaching
                        for ref in value.refs
                    }
            found = self._used[instance.id] = frozenset(
                (names & set(unit.params)) - bound_twice(unit)
            )
        return found

    def _of_plan(self, unit: Unit, given: Given, call: Span) -> Iterator[Diagnostic]:
        """What is wrong with the paths of a called plan that are made of what it is given."""
        if not given:
            return
        for act in unit.acts:
            filled = _filled_act(act, given)
            if filled is not None:
                globs, commands = self._guard.looks(act.bound.tool)
                found = [*of_step(filled, unit, self._guard, {}, globs, self._probes),
                         *secrets(read_by(filled, globs, commands), unit, self._guard, act.step)]  # fmt: skip
                yield from _at(found, call, unit, act.step)
        for loop in loops_in(unit.body):
            over = None if loop.over is None else _filled(loop.over, given)
            if over is not None and over is not loop.over:
                found = [
                    *of_glob(over, slash=False),
                    *secrets([over.text], unit, self._guard, loop.node),
                ]
                yield from _at(found, call, unit, loop.node)


def _at(found: list[Diagnostic], call: Span, unit: Unit, node: Statement) -> Iterator[Diagnostic]:
    for finding in found:
        yield finding._replace(
            span=call, labels=(Label(unit.span(node), "this step"), *finding.labels)
        )


def _paths(act: Act, guard: Guard) -> Iterator[Value]:
    yield from (value for _, value in act.bound.files)
    globs, commands = guard.looks(act.bound.tool)
    for name in (*globs, *commands):
        if name in act.bound.arguments:
            yield act.bound.arguments[name]


def _filled_act(act: Act, given: Given) -> Act | None:
    """The step with what is given in it; None where it uses none of it."""
    bound = act.bound
    files = tuple((access, _filled(value, given)) for access, value in bound.files)
    arguments = {name: _filled(value, given) for name, value in bound.arguments.items()}
    if all(new is old for (_, new), (_, old) in zip(files, bound.files, strict=True)) and all(
        arguments[name] is value for name, value in bound.arguments.items()
    ):
        return None
    files = tuple((access, value) for access, value in files if value.text)
    # An empty path is a parameter that is not given, and tested as a rule: `files` says what is assumed.
    return Act(act.step, bound._replace(files=files, arguments=arguments))


def _filled(value: Value, given: Given) -> Value:
    """The value with what is given in the place of its references; the same object where it has none of these."""
    if not any(ref.path[0] in given for ref in value.refs):
        return value
    parts: list[str | Ref] = []
    for part in value.parts:
        if isinstance(part, Ref) and len(part.path) == 1 and part.path[0] in given:
            parts += given[part.path[0]].parts
        else:
            parts.append(part)
    return _text(tuple(parts))


def _text(parts: tuple[str | Ref, ...]) -> Value:
    texts = (
        part.replace("{", "{{").replace("}", "}}")
        if isinstance(part, str)
        else "{" + ".".join(part.path) + "}"
        for part in parts
    )
    return Value("".join(texts), parts, 0, 0)
