"""Types: no value is used where no value of its type can be (verdicts.md, section 6).

The type of every bound name comes from the catalogue's result rows, the constructs and the literals; what nothing
declares may be anything. A use that no value of the type survives is an error (FDC481); one that some survive rests
on an assumption (FDC706), one for each place that binds a name. What survives is what a run does: the operators of
`program.operators`, and what a tool does with an argument before it begins.

A plan is walked once for each list of types that its parameters have. By itself its parameters may be anything, or
text where it is judged as a root; what is wrong only with what a call gives is said at the call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...diagnostics.diagnostic import Label
from ...diagnostics.span import Span
from ...linking import types
from ...linking.bound import bound_in
from ...linking.catalogue import Parameter, Tool
from ...linking.constants import fold
from ...linking.graph import Instance
from ...linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node
from ...linking.types import (
    ANY,
    DIGITS,
    KINDS,
    LIST,
    NEVER,
    NOTHING,
    NULL,
    NUMBER,
    OBJECT,
    OPEN,
    TEXT,
    TEXTS,
    WORDS,
    Type,
)
from ...syntax.values import Condition, Ref, Value
from .known import Known, Operand, Origin, at_fault, either, pairs, wanted, written
from .rule import Context
from .tested import Tested, both, limited, tested, without

MOST_VIEWS = 16
"""Lists of parameter types for which one plan is walked; beyond them its parameters may be anything."""

MOST_NESTED = 3
"""Loops inside each other that are walked until the types of what they carry are stable."""

_RESULT = "\0"
"""The key, among names, of what the plan yields."""

_CALLED = "with what this call gives, `{}` cannot go on: "

_HAS_LENGTH = NULL | TEXTS | LIST | OBJECT


class Wrong(NamedTuple):
    """A use that no value survives; `at` is where, in whatever plan."""

    span: Span
    message: str
    labels: tuple[Label, ...]
    at: Span


Needs = dict[Origin, dict[str, dict[Span, None]]]
"""By origin of a value: what it must be, and where it is used as that."""


class View(NamedTuple):
    """One walk of a plan: what it yields, what certainly fails in it by place, and what its values must be by origin."""

    result: Type
    wrong: dict[Span, Wrong]
    needs: Needs


class Views:
    """The walks of all plans, each once for each list of types."""

    def __init__(self, context: Context) -> None:
        self.rows: dict[str, Type] = {}
        self._roots = {id(instance) for instance, _ in context.roots}
        self._base = {
            instance.unit.key: instance for instance in context.order if not instance.context
        }
        self._known: dict[tuple[int, tuple[Type, ...]], View] = {}
        self._count: dict[int, int] = {}

    def is_root(self, instance: Instance) -> bool:
        """True where the plan is judged as a whole run."""
        return id(instance) in self._roots

    def own(self, instance: Instance) -> View:
        """The plan by itself: what it is given may be anything, and is text where it is a root."""
        base = self._base.get(instance.unit.key, instance)
        given = types.GIVEN if self.is_root(base) else ANY
        return self.view(base, (given,) * len(base.unit.params))

    def by_default(self, instance: Instance) -> list[Wrong]:
        """What is wrong in a run that is given nothing but what has no default."""
        params = instance.unit.params.values()
        if all(param.default is None for param in params):
            return []
        given = tuple(
            types.GIVEN if param.default is None else types.of_constant(param.default)
            for param in params
        )
        own = self.own(instance).wrong
        return [
            wrong for span, wrong in self.view(instance, given).wrong.items() if span not in own
        ]

    def called(self, instance: Instance, given: tuple[Type, ...]) -> tuple[View, list[Wrong]]:
        """The plan with what a call gives, and what is wrong in it for that reason only."""
        if (id(instance), given) not in self._known and self._count.get(
            id(instance), 0
        ) >= MOST_VIEWS:
            given = (ANY,) * len(given)
        view = self.view(instance, given)
        if not view.wrong:
            return view, []
        # of a plan below itself everything is told: what is wrong in it anyway is left out where its own walk ends
        own = {} if instance.context else self.own(instance).wrong
        return view, [wrong for span, wrong in view.wrong.items() if span not in own]

    def view(self, instance: Instance, given: tuple[Type, ...]) -> View:
        """The plan with parameters of these types, in their order."""
        key = (id(instance), given)
        found = self._known.get(key)
        if found is None:
            self._count[id(instance)] = self._count.get(id(instance), 0) + 1
            found = self._known[key] = _Walk(self, instance, given).view()
        return found

    def result(self, tool: Tool) -> Type:
        """What a step of a tool gives."""
        found = self.rows.get(tool.name)
        if found is None:
            found = NEVER if tool.broken else types.of_result(tool.row.get("result"))
            if tool.row.get("failure") == "value":
                found = types.joined(found, types.FAILED)
            self.rows[tool.name] = found
        return found


class _Walk:
    """Walks one plan. `names` is what is known here; `trail` what to put back where a branch or loop ends."""

    def __init__(self, views: Views, instance: Instance, given: tuple[Type, ...]) -> None:
        self.views = views
        self.instance = instance
        self.unit = instance.unit
        self.names: dict[str, Known] = {}
        self.facts: Tested = {}
        self.trail: list[tuple[str, Known | None]] = []
        self.wrong: dict[Span, Wrong] = {}
        self.called: list[Wrong] = []
        self.needs: Needs = {}
        self.collected: list[Type] = []
        self.nested = self.keeping = 0
        for param, kind in zip(self.unit.params.values(), given, strict=True):
            self.names[param.name] = Known(
                kind, Origin(param.span, f"the parameter `{param.name}`", param.name)
            )

    def view(self) -> View:
        start = Span(self.unit.key, 1, 1, 1, 1)
        self.names.setdefault("run", Known(Type(WORDS), Origin(start, "`run`")))
        self.names[_RESULT] = Known(NOTHING, Origin(start, "the result"))
        self.body(self.unit.body)
        own = set(self.wrong)
        for wrong in self.called:
            if wrong.at not in own:
                self.wrong.setdefault(wrong.span, wrong)
        return View(self.names[_RESULT].type, self.wrong, self.needs)

    # ---- names -------------------------------------------------------------------------

    def put(self, name: str, known: Known) -> None:
        self.trail.append((name, self.names.get(name)))
        self.names[name] = known
        if self.facts:
            self.facts = without(self.facts, {name})

    def undo(self, mark: int) -> dict[str, Known]:
        """Takes back what was bound since `mark`; returns it."""
        changed = {name: self.names[name] for name, _ in self.trail[mark:] if name in self.names}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                self.names.pop(name, None)
            else:
                self.names[name] = before
        return changed

    def join(self, one: dict[str, Known], other: dict[str, Known]) -> None:
        """Binds what one of two ways binds, as it is after either."""
        for name in {**one, **other}:
            left, right = (
                one.get(name) or self.names.get(name),
                other.get(name) or self.names.get(name),
            )
            if left is None or right is None:  # unbound on one way, which is reported
                self.put(name, left or right)  # type: ignore[arg-type]
            else:
                self.put(name, either(left, right))

    def look(self, path: tuple[str, ...] | list[str]) -> Known | None:
        """What is known of a reference; None: nothing binds it."""
        known = self.names.get(path[0])
        if known is None:
            return None
        for size in range(1, len(path) + 1):
            if size > 1:
                known = known.made(lambda kind, field=path[size - 1]: kind.field(field))  # type: ignore[misc]
            fact = self.facts.get(tuple(path[:size])) if self.facts else None
            if fact is not None:
                known = known.made(
                    lambda kind, fact=fact: kind._replace(  # type: ignore[misc]
                        kinds=limited(kind.kinds, fact)
                    )
                )
        return known

    def single(self, value: Value | None) -> Ref | None:
        """The reference that a template is, if it is nothing else: then it has that value, and is not text."""
        if value is None or len(value.parts) != 1 or not isinstance(value.parts[0], Ref):
            return None
        return value.parts[0] if value.parts[0].path[0] in self.names else None

    def given(self, value: Value) -> Type:
        """The type of a template."""
        ref = self.single(value)
        if ref is not None:
            known = self.look(ref.path)
            return ANY if known is None else known.type
        if value.parts and isinstance(value.parts[0], Ref) and len(value.parts) == 1:
            return ANY  # unbound, which is reported
        literal = value.literal
        return TEXT if literal is None else types.of_constant(literal)

    # ---- uses --------------------------------------------------------------------------

    def error(self, span: Span, message: str) -> None:
        self.wrong.setdefault(span, Wrong(span, message, (), span))

    def need(self, origin: Origin | None, span: Span, phrase: str) -> None:
        """An assumption; none where a failure is kept, because the run goes on after it."""
        if not self.keeping:
            origin = origin or Origin(span, "what is compared here")
            self.needs.setdefault(origin, {}).setdefault(phrase, {}).setdefault(span)

    def use(self, known: Known, fits: int, span: Span, name: str, expected: str, why: str) -> None:
        """A value used where only the kinds in `fits` survive. `expected`: what it has to be; `why`: who
        wants that."""
        kinds = known.type.kinds
        if kinds & KINDS & ~fits or not kinds & KINDS and kinds & OPEN:
            if kinds & fits or kinds & OPEN:
                self.need(known.blamed(KINDS & ~fits), span, f"`{name}` is {expected}")
            else:
                self.error(span, f"{why}, and `{name}` is {types.shown(known.type)}")

    def argument(self, node: Act, parameter: Parameter, value: Value) -> None:
        """An argument that is one reference: what is no text may be refused by the tool before it begins."""
        ref = self.single(value)
        if ref is None:
            return
        known = self.look(ref.path)
        tool = node.bound.tool
        if known is None or known.type.kinds & ~TEXTS == 0 and parameter.kind != "number":
            return
        name, span = ".".join(ref.path), self.unit.at(node.step, ref.start, ref.end)
        fits, expected, why = (
            KINDS,
            "not null",
            f"`{parameter.name}` of `{tool.name}` needs a value",
        )
        if parameter.text:
            fits, expected, why = (
                TEXTS | NULL,
                "text",
                f"`{parameter.name}` of `{tool.name}` takes text",
            )
        if parameter.required:
            fits &= ~NULL
        if parameter.kind == "number" and known.type.kinds & KINDS & ~(NUMBER | DIGITS | NULL):
            bad = KINDS & ~(NUMBER | DIGITS | NULL)
            self.need(
                known.blamed(bad), span, f"`{name}` is a number"
            )  # what is none may be refused, or not
        self.use(
            known, fits, span, name, "a number" if parameter.kind == "number" else expected, why
        )

    # ---- conditions --------------------------------------------------------------------

    def condition(self, node: Any, condition: Condition | None) -> None:
        if condition is not None and (condition.refs or fold(condition.tree) is None):
            self.holds(node, condition, condition.tree)

    def holds(self, node: Any, whole: Condition, tree: dict[str, Any]) -> None:
        """The uses in a condition, as far as it is read."""
        if "test" in tree:
            self.compare(node, whole, tree)
        elif "value" in tree:
            self.operand(node, whole, tree["value"])
        elif "not" in tree:
            self.holds(node, whole, tree["not"])
        else:
            ends = "or" in tree
            for part in tree["or" if ends else "and"]:
                self.holds(node, whole, part)
                if fold(part) is ends:
                    break

    def operand(self, node: Any, whole: Condition, tree: dict[str, Any]) -> Operand:
        """What is known of an operand."""
        span = self.unit.span(node)
        if "ref" in tree:
            path = tuple(tree["ref"])
            ref = next((ref for ref in whole.refs if ref.path == path), None)
            known = self.look(path)
            return (
                known,
                ANY if known is None else known.type,
                ".".join(path),
                self.unit.at(node, *ref[1:]) if ref else span,
            )
        if "const" in tree:
            return None, types.of_constant(tree["const"]), written(tree["const"]), span
        if "len" in tree:
            inner, kind, name, place = self.operand(node, whole, tree["len"])
            if inner is not None and inner.type is not kind:
                inner = Known(kind, inner.origin)
            self.use(inner or Known(kind, Origin(place, "the value")), _HAS_LENGTH, place, name,
                     "a text, a list or an object", "`len` counts items, characters or fields")  # fmt: skip
            return inner, types.COUNT, f"len({name})", place
        for one in tree["args"]:
            self.operand(node, whole, one)
        return (
            Known(ANY, Origin(span, f"the answer of `{tree['call']}`")),
            ANY,
            f"{tree['call']}(...)",
            span,
        )

    def compare(self, node: Any, whole: Condition, tree: dict[str, Any]) -> None:
        operator = tree["test"]
        left, right = (
            self.operand(node, whole, tree["left"]),
            self.operand(node, whole, tree["right"]),
        )
        if operator in ("==", "!="):
            return
        beside = pairs(operator, left[1], right[1])
        opened = (left[1].kinds | right[1].kinds) & OPEN
        if all(fine for *_, fine in beside) and (beside or not opened):
            return
        if opened or any(fine for *_, fine in beside):
            fault, other = at_fault(left, right, beside, first=right if operator == "in" else left)
            bad = sum({(two if fault is right else one) for one, two, fine in beside if not fine})
            origin = fault[0].blamed(bad) if fault[0] else None
            self.need(
                origin, fault[3], f"`{fault[2]}` is {wanted(operator, fault is right, other)}"
            )
            return
        said = f"`{left[2]}` is {types.shown(left[1])} and `{right[2]}` is {types.shown(right[1])}"
        what = "nothing can be in that" if operator == "in" else "these have no order"
        self.error((left if left[0] else right)[3], f"{said}: {what}")

    # ---- bodies ------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            kind = type(node)
            if kind is Act:
                self.act(node)  # type: ignore[arg-type]
            elif kind is Invoke:
                self.call(node)  # type: ignore[arg-type]
            elif kind is Loop:
                self.loop(node)  # type: ignore[arg-type]
            elif kind is Choice:
                self.choice(node)  # type: ignore[arg-type]
            elif kind is Gate:
                self.condition(node.node, node.condition)  # type: ignore[union-attr]
                self.facts = both(self.facts, tested(node.condition, True))  # type: ignore[union-attr]
            elif isinstance(node, Collect) and node.value is not None:
                self.collect(node.value)

    def act(self, node: Act) -> None:
        bound = node.bound
        tool = bound.tool
        if "{" in node.step.tail and tool.row.get("failure") != "value":
            for parameter in tool.inline:
                value = bound.arguments.get(parameter.name)
                if value is not None:
                    self.argument(node, parameter, value)
        if node.step.bind is not None:
            what = f"the result `{node.step.bind}` of `{tool.name}`"
            self.bind(node.step, self.views.result(tool), what)

    def bind(self, node: Any, kind: Type, who: str) -> None:
        span = Span(self.unit.key, node.line, node.column, node.line, node.column + len(node.bind))
        self.put(node.bind, Known(kind, Origin(span, who)))

    def call(self, node: Invoke) -> None:
        callee = self.instance.callees[node.number]
        result = NOTHING if node.depth is not None else ANY
        if callee is not None:
            unit = callee.unit
            given = tuple(
                self.given(node.arguments[name]) if name in node.arguments
                else ANY if param.default is None else types.of_constant(param.default)
                for name, param in unit.params.items()
            )  # fmt: skip
            view, wrong = self.views.called(callee, given)
            result = view.result
            span = self.unit.span(node.call)
            for one in wrong:
                what = one.message.removeprefix(_CALLED.format(node.name))
                labels = (Label(one.span, "there"), *one.labels)
                self.called.append(Wrong(span, _CALLED.format(node.name) + what, labels, one.at))
            for origin, needs in view.needs.items():
                if origin.param is not None:
                    self.handed(node, origin.param, unit.params[origin.param].default, needs, span)
        if node.call.bind is not None:
            self.bind(node.call, result, f"the result `{node.call.bind}` of `{node.name}`")

    def handed(
        self,
        node: Invoke,
        name: str,
        default: str | None,
        needs: dict[str, dict[Span, None]],
        span: Span,
    ) -> None:
        """What a called plan needs of an argument is needed of what the argument is made of."""
        ref = self.single(node.arguments.get(name))
        known = None if ref is None else self.look(ref.path)
        origin = (
            Origin(span, f"`{name}`, which the call of `{node.name}` gives,")
            if known is None
            else known.blamed(0)
        )
        for phrase, uses in needs.items():
            for use in (span, *uses):
                self.need(origin, use, f"in `{node.name}` {phrase}")

    def choice(self, node: Choice) -> None:
        self.condition(node.node, node.condition)
        mark, facts = len(self.trail), self.facts
        then: dict[str, Known] = {}
        orelse: dict[str, Known] = {}
        if node.known is not False:
            self.facts = both(facts, tested(node.condition, True))
            self.body(node.then)
            then = self.undo(mark)
        if node.known is not True:
            self.facts = both(facts, tested(node.condition, False))
            self.body(node.orelse)
            orelse = self.undo(mark)
        self.facts = without(facts, {*then, *orelse})
        if node.known is None:
            self.join(then, orelse)
        else:
            for name, known in (then if node.known else orelse).items():
                self.put(name, known)

    def collect(self, value: Value) -> None:
        kind = self.given(value)
        if self.collected:
            self.collected[-1] = types.joined(self.collected[-1], kind)
        else:
            self.put(_RESULT, Known(kind, self.names[_RESULT].origin))

    def loop(self, node: Loop) -> None:
        over = self.over(node)
        item = over.type
        if node.kind in ("for", "fork"):
            self.collected.append(NEVER)
        if item.kinds or node.kind == "iterate":
            self.nested += 1
            self.keeping += node.keeps
            self.rounds(node, over)
            self.keeping -= node.keeps
            self.nested -= 1
        if node.kind in ("for", "fork"):
            made = self.collected.pop()
            if node.keeps:
                made = types.joined(made, types.kept(item))
            if getattr(node.node, "bind", None):
                self.bind(node.node, types.list_of(made), f"the result `{node.node.bind}`")  # type: ignore[union-attr]

    def over(self, node: Loop) -> Known:
        """What is known of the loop's name in its body."""
        span = self.unit.span(node.node)
        nothing = Origin(span, "what this loop goes through")
        if node.over is None:
            return Known(NEVER, nothing)
        ref = self.single(node.over)
        known = None if ref is None else self.look(ref.path)
        if ref is not None and known is not None:
            name, place = ".".join(ref.path), self.unit.at(node.node, ref.start, ref.end)
            if node.kind == "each":
                self.use(known, TEXTS, place, name, "text", "a glob is text")
            else:
                self.use(known, LIST, place, name, "a list", f"`{node.kind}` goes through a list")
        elif node.kind != "each" and not (
            len(node.over.parts) == 1 and isinstance(node.over.parts[0], Ref)
        ):
            place = self.unit.at(node.node, node.over.start, node.over.end)
            self.error(place, f"`{node.kind}` goes through a list, and `{node.over.text}` is text")
        if node.kind == "each":
            return Known(Type(TEXTS), nothing)
        return Known(ANY, nothing) if known is None else known.made(Type.of_item)

    def rounds(self, node: Loop, item: Known) -> None:
        """The rounds of a loop: the body is walked until what it hands on from round to round is stable."""
        own = {name for name in (node.name, node.alias) if name}
        bound = bound_in(node.body)
        carried = [name for name in (*sorted(bound - own), _RESULT) if name in self.names]
        facts = self.facts = without(self.facts, {*bound, *own})
        if node.kind == "fork":
            carried = []
        entry = {name: self.names[name] for name in carried}
        for turn in range(MOST_NESTED + 1):
            last = turn == MOST_NESTED or self.nested > MOST_NESTED
            if last:
                entry = {name: Known(ANY, known.origin) for name, known in entry.items()}
            mark, self.facts = len(self.trail), facts
            for name in own:
                self.put(name, item)
            for name, known in entry.items():
                self.put(name, known)
            self.body(node.body)
            if node.kind == "iterate":
                self.condition(node.node, node.until)
            after = self.undo(mark)
            wider = {name: either(known, after[name]) for name, known in entry.items()}
            if (
                last
                or node.most == 1
                or all(wider[name].type == known.type for name, known in entry.items())
            ):
                break
            entry = wider
        self.facts = facts
        if node.kind == "fork":
            return
        for name, known in after.items():
            if name in own:
                continue
            before = self.names.get(name)
            if before is not None and not node.least:
                known = either(before, known)
            self.put(name, known)
