"""Types: no value is used where no value of its type can be (verdicts.md, section 6).

The type of every bound name comes from the catalogue's result rows, the constructs and the literals; what nothing
declares may be anything. A use that no value of the type survives is an error (FDC481); one that some survive rests
on an assumption (FDC706), one for each place that binds a name. What survives is what a run does: the operators of
`program.operators`, and what a tool does with an argument before it begins.

A plan is walked once for each list of types that its parameters have. By itself its parameters may be anything, or
text where it is judged as a root; what is wrong only with what a call gives is said at the call.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....diagnostics.diagnostic import Label
from ....diagnostics.span import Span
from ....linking import types
from ....linking.bound import bound_in, every
from ....linking.catalogue import Tool
from ....linking.graph import Instance
from ....linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node
from ....linking.types import ANY, LIST, NEVER, NOTHING, TEXTS, WORDS, Type
from ....named_tuples import NamedTuple
from ....syntax.values import Ref, Value
from ..rule import Context
from .known import Known, Origin, either
from .names import RESULT, Names
from .tested import both, tested, without
from .uses import Need, Needs, Uses, Wrong, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_VIEWS = 16
"""Lists of parameter types for which one plan is walked; beyond them its parameters may be anything."""

MOST_NESTED = 3
"""Loops inside each other that are walked until the types of what they carry are stable."""

_CALLED = "with the arguments of this call, `{}` fails: "


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
    """Walks one plan. `here`: the names that are bound here; `uses`: what is wrong with how they are used."""

    def __init__(self, views: Views, instance: Instance, given: tuple[Type, ...]) -> None:
        self.views = views
        self.instance = instance
        self.unit = instance.unit
        self.here = Names()
        self.uses = Uses(self.unit, self.here)
        self.called: list[Wrong] = []
        self.collected: list[Type] = []
        self.nested = 0
        for param, kind in zip(self.unit.params.values(), given, strict=True):
            self.here.names[param.name] = Known(
                kind, Origin(param.span, f"the parameter `{param.name}`", param.name)
            )

    def view(self) -> View:
        start = Span(self.unit.key, 1, 1, 1, 1)
        self.here.names.setdefault("run", Known(Type(WORDS), Origin(start, "`run`")))
        self.here.names[RESULT] = Known(NOTHING, Origin(start, "the result"))
        self.body(self.unit.body)
        own = set(self.uses.wrong)
        for wrong in self.called:
            if wrong.at not in own:
                self.uses.wrong.setdefault(wrong.span, wrong)
        return View(self.here.names[RESULT].type, self.uses.wrong, self.uses.needs)

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
                self.uses.condition(node.node, node.condition)  # type: ignore[union-attr]
                self.here.facts = both(self.here.facts, tested(node.condition, True))  # type: ignore[union-attr]
            elif isinstance(node, Collect) and node.value is not None:
                self.collect(node.value)

    def act(self, node: Act) -> None:
        bound = node.bound
        tool = bound.tool
        if "{" in node.step.tail and tool.row.get("failure") != "value":
            for parameter in tool.inline:
                value = bound.arguments.get(parameter.name)
                if value is not None:
                    self.uses.argument(node, parameter, value)
            self.uses.some_given(node)
        if node.step.bind is not None:
            self.bind(node, self.views.result(tool))

    def bind(self, node: Node, kind: Type) -> None:
        for name, origin in self.binders([node], deep=False):
            self.here.put(name, Known(kind, origin))

    def binders(self, nodes: list[Node], *, deep: bool = True) -> Iterator[tuple[str, Origin]]:
        """The names that these nodes bind a result to; `deep`: those in their bodies, too."""
        for node in every(nodes) if deep else nodes:
            at: Any = node
            of = ""
            if isinstance(node, Act):
                at, of = node.step, f" of `{node.bound.tool.name}`"
            elif isinstance(node, Invoke):
                at, of = node.call, f" of `{node.name}`"
            elif isinstance(node, Loop):
                at = node.node
            name = getattr(at, "bind", None)
            if name:
                span = Span(self.unit.key, at.line, at.column, at.line, at.column + len(name))
                yield name, Origin(span, f"the result `{name}`{of}")

    def call(self, node: Invoke) -> None:
        callee = self.instance.callees[node.number]
        result = NOTHING if node.depth is not None else ANY
        if callee is not None:
            unit = callee.unit
            given = tuple(
                self.here.given(node.arguments[name]) if name in node.arguments
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
        self.bind(node, result)

    def handed(
        self,
        node: Invoke,
        name: str,
        default: str | None,
        needs: dict[Need, dict[Span, None]],
        span: Span,
    ) -> None:
        """What a called plan needs of an argument is needed of what the argument is made of.

        A literal argument is judged here: what it certainly is, nothing has to assume.
        """
        argument = node.arguments.get(name)
        text = default if argument is None else argument.literal
        ref = self.here.single(argument)
        known = None if ref is None else self.here.look(ref.path)
        here = Origin(span, f"`{name}`, which the call of `{node.name}` gives,")
        origins = (here,) if known is None else known.origins
        own = (
            known is not None
            and not known.parts
            and ref is not None
            and ref.path == (known.origin.param,)
        )
        for need, uses in needs.items():
            phrase = f"in `{node.name}` {need.phrase}"
            if need.form is not None and text is not None:
                why = refused(need.form, text)
                if why is None:
                    continue
                if need.sure and not self.uses.keeping:
                    there = tuple(Label(use, "there") for use in uses)
                    self.called.append(
                        Wrong(span, _CALLED.format(node.name) + why, there, next(iter(uses)))
                    )
                    continue
            form = need.form if own else None
            sure = form is not None and need.sure and not self.uses.some
            for use in (span, *uses):
                self.uses.need(origins, use, Need(phrase, form, sure))

    def choice(self, node: Choice) -> None:
        self.uses.condition(node.node, node.condition)
        mark, facts = len(self.here.trail), self.here.facts
        then: dict[str, Known] = {}
        orelse: dict[str, Known] = {}
        self.uses.some += node.known is None
        if node.known is not False:
            self.here.facts = both(facts, tested(node.condition, True))
            self.body(node.then)
            then = self.here.undo(mark)
        if node.known is not True:
            self.here.facts = both(facts, tested(node.condition, False))
            self.body(node.orelse)
            orelse = self.here.undo(mark)
        self.uses.some -= node.known is None
        self.here.facts = without(facts, {*then, *orelse})
        if node.known is None:
            self.here.join(then, orelse)
        else:
            for name, known in (then if node.known else orelse).items():
                self.here.put(name, known)

    def collect(self, value: Value) -> None:
        kind = self.here.given(value)
        if self.collected:
            self.collected[-1] = types.joined(self.collected[-1], kind)
        else:
            self.here.put(RESULT, Known(kind, self.here.names[RESULT].origin))

    def loop(self, node: Loop) -> None:
        over = self.over(node)
        item = over.type
        if node.kind in ("for", "fork"):
            self.collected.append(NEVER)
        if item.kinds or node.kind == "iterate":
            self.nested += 1
            self.uses.keeping += node.keeps
            self.uses.some += not node.least
            self.rounds(node, over)
            self.uses.some -= not node.least
            self.uses.keeping -= node.keeps
            self.nested -= 1
        if node.kind in ("for", "fork"):
            made = self.collected.pop()
            if node.keeps:
                made = types.joined(made, types.kept(item))
            self.bind(node, types.list_of(made))

    def over(self, node: Loop) -> Known:
        """What is known of the loop's name in its body."""
        span = self.unit.span(node.node)
        nothing = Origin(span, "the list of this loop")
        if node.over is None:
            return Known(NEVER, nothing)
        ref = self.here.single(node.over)
        known = None if ref is None else self.here.look(ref.path)
        if ref is not None and known is not None:
            name, place = ".".join(ref.path), self.unit.at(node.node, ref.start, ref.end)
            if node.kind == "each":
                self.uses.use(known, TEXTS, place, name, "text", "a glob is text")
            else:
                self.uses.use(known, LIST, place, name, "a list", f"`{node.kind}` needs a list")
        elif node.kind != "each" and not (
            len(node.over.parts) == 1 and isinstance(node.over.parts[0], Ref)
        ):
            place, text = self.unit.at(node.node, node.over.start, node.over.end), node.over.text
            meant = (
                f" (a value is written `{{{text[1:]}}}`)" if text[:1] == "$" and text[1:] else ""
            )
            if text.endswith("}:"):
                meant = " (write the line without the colon)"
            self.uses.error(place, f"`{node.kind}` needs a list, but `{text}` is text{meant}")
        if node.kind == "each":
            return Known(Type(TEXTS), nothing)
        return Known(ANY, nothing) if known is None else known.made(Type.of_item)

    def rounds(self, node: Loop, item: Known) -> None:
        """The rounds of a loop: the body is walked until it is stable what rounds hand on, and where that comes from."""
        own = {name for name in (node.name, node.alias) if name}
        bound = bound_in(node.body)
        carried = [name for name in (*sorted(bound - own), RESULT) if name in self.here.names]
        facts = self.here.facts = without(self.here.facts, {*bound, *own})
        if node.kind == "fork":
            carried = []
        entry = {name: self.here.names[name] for name in carried}
        for turn in range(MOST_NESTED + 1):
            last = turn == MOST_NESTED or self.nested > MOST_NESTED
            if last:
                again = list(self.binders(node.body))
                entry = {
                    name: known.unfollowed([origin for other, origin in again if other == name])
                    for name, known in entry.items()
                }
            mark, self.here.facts = len(self.here.trail), facts
            for name in own:
                self.here.put(name, item)
            for name, known in entry.items():
                self.here.put(name, known)
            self.body(node.body)
            if node.kind == "iterate":
                self.uses.condition(node.node, node.until)
            after = self.here.undo(mark)
            wider = {name: either(known, after[name]) for name, known in entry.items()}
            if last or node.most == 1 or wider == entry:
                break
            entry = wider
        self.here.facts = facts
        if node.kind == "fork":
            return
        for name, known in after.items():
            if name in own:
                continue
            before = self.here.names.get(name)
            if before is not None and not node.least:
                known = either(before, known)
            self.here.put(name, known)
