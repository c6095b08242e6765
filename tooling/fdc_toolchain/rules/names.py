"""Names must be bound before use on every run, be used, hide no other name, and have existing fields.

A name is bound by `param`, by `name <-`, or by a loop. What is bound in one branch only, or in
a loop that may run no time, is possibly unbound afterwards. In a text block a placeholder that
nothing in the plan binds is text, and said to be; everywhere else it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..diagnostics.diagnostic import Diagnostic, Edit, Fix, Label
from ..diagnostics.span import Span
from ..linking.model import BUILT_IN, Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ..linking.types import OBJECT, parsed
from ..syntax.tree import Header
from ..syntax.values import Condition, NamedValues, Ref, Value, header_tail
from ..text.later_regex import later
from ..text.suggest import did_you_mean
from .solver.rule import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Fields = dict[str, str] | Literal[False] | None

# what is known of a name's value: its fields, or that it has none, or nothing


class _Bind:
    """A binding; `at`: how many loops began before it."""

    __slots__ = ("span", "fields", "what", "at")

    def __init__(self, span: Span | None, fields: Fields, what: str, at: int = 0) -> None:
        self.span = span
        self.fields = fields
        self.what = what
        self.at = at


def _fields(result: str) -> Fields:
    """The fields of a result that a catalogue's text describes."""
    made = parsed(result)
    if made.fields is not None:
        return dict.fromkeys((name for name, _ in made.fields), "any")
    return None if made.kinds & OBJECT else False


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every plan, each plan once."""
    seen: set[str] = set()
    for instance in context.order:
        unit = instance.unit
        if unit.key not in seen and unit.plan is not None:
            seen.add(unit.key)
            yield from _Names(unit).check()


_LEFT_OUT = ("FDC109", "FDC301")
"""Findings that leave a line out: its text, and its tool."""

_SHELL = later(r"\$([A-Za-z_][A-Za-z0-9_]*)")
"""A value in shell syntax, which is text in a plan."""

_BINDS = later(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:<-|:?=(?!=))")
"""The beginning of a line that binds a name, or means to."""

_SUGGESTED = 50
"""Findings of one plan that look for the nearest name; a plan with more has another problem."""


class _Names:
    """Walks one plan. `scope` is what is bound here; `trail` what to put back where a branch or loop ends."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.scope: dict[str, tuple[_Bind, bool]] = {}
        self.trail: list[tuple[str, tuple[_Bind, bool] | None]] = []
        self.found: list[Diagnostic] = []
        self.all = unit.names
        self.used: set[str] = set()
        self.bindings: dict[str, tuple[Span, str]] = {}
        # Loops are counted where they begin: a name that was bound before a loop and is read in it, and bound again after
        # that, hands its value on to the next round.
        self.loops = 0
        self.read: dict[str, int] = {}
        self.begun: list[int] = []
        # Made where they are asked for: names written as shells do, with the first line; names that lines left out would bind.
        self.shell: dict[str, int] | None = None
        self.lost: set[str] | None = None

    def check(self) -> list[Diagnostic]:
        scope = self.scope
        scope.update({name: (_Bind(None, False, what), True) for name, what in BUILT_IN.items()})
        for param in self.unit.params.values():
            if param.name in BUILT_IN:
                self.reserved(param.name, param.span)
            scope[param.name] = (_Bind(param.span, None, "a parameter"), True)
            self.bindings[param.name] = (param.span, "the parameter")
        if self.unit.allow:
            self.allowed()
        self.body(self.unit.body)
        for name, (span, what) in self.bindings.items():
            if name not in self.used and not name.startswith("_"):
                self.report(
                    span,
                    "FDC313",
                    f"{what} `{name}` is never used",
                    self._as_in_shell(name) or "remove it, or start its name with `_`",
                )
        return self.found

    def report(
        self, span: Span, code: str, message: str, help: str | None = None, **more: object
    ) -> None:
        self.found.append(Diagnostic(span, code, message, help=help, **more))  # type: ignore[arg-type]

    # ---- uses --------------------------------------------------------------------------

    def use(self, ref: Ref, span: Span, *, block: bool = False, bare: bool = False) -> None:
        name = ref.path[0]
        self.used.add(name)
        found = self.scope.get(name)
        if found is None or not found[1]:
            if name not in self.all and block:
                fix = Fix(
                    f"write `{{{{{'.'.join(ref.path)}}}}}`",
                    (Edit(span, "{{" + ".".join(ref.path) + "}}"),),
                    safe=True,
                )
                message = f"`{{{'.'.join(ref.path)}}}` is text here: nothing binds `{name}`"
                self.report(span, "FDC316", message, self._nearest(name), fix=fix)
            elif found is not None:
                where = found[0].span
                labels = (Label(where, "bound here"),) if where else ()
                message = f"`{name}` is not bound on every run that reaches this step"
                self.report(
                    span,
                    "FDC312",
                    message,
                    "bind it in both branches, or before the loop",
                    labels=labels,
                )
            elif not self._left_out(name):
                help_ = self._nearest(name) or self._hint(name, bare)
                self.report(span, "FDC311", f"nothing binds `{name}` here", help_)
            return
        self.read[name] = self.loops
        fields = found[0].fields
        if len(ref.path) > 1 and fields is not None:
            wanted = ref.path[1]
            if fields is False:
                self.report(span, "FDC315", f"`{name}` has no fields, found `.{wanted}`")
            elif wanted not in fields:
                known = ", ".join(sorted(fields))
                help_ = did_you_mean(wanted, fields) or f"its fields: {known}"
                self.report(span, "FDC315", f"`{name}` has no field `{wanted}`", help_)

    def _as_in_shell(self, name: str) -> str | None:
        """The help for a name that the text writes in shell syntax, which is not a use."""
        if self.shell is None:
            self.shell = {}
            for number, line in enumerate(self.unit.text.split("\n"), 1):
                for found in _SHELL.findall(line) if "$" in line else ():
                    self.shell.setdefault(found, number)
        at = self.shell.get(name)
        return (
            None
            if at is None
            else f"a value is written `{{{name}}}`; `${name}` in line {at} is text"
        )

    def _left_out(self, name: str) -> bool:
        """True where a line that was reported and left out would have bound the name."""
        if self.lost is None:
            lines = self.unit.text.split("\n")
            wrong = {
                item.span.line
                for item in self.unit.diagnostics
                if item.code in _LEFT_OUT and item.span.line <= len(lines)
            }
            bound = (_BINDS.match(lines[line - 1]) for line in wrong)
            self.lost = {found[1] for found in bound if found}
        return name in self.lost

    def _nearest(self, name: str) -> str | None:
        return did_you_mean(name, self.scope) if len(self.found) < _SUGGESTED else None

    def _hint(self, name: str, bare: bool) -> str:
        files = sorted(
            item for item in self.scope if item.startswith("file") and item[4:].isdigit()
        )
        if name == "file" and files:
            return f"the innermost loop binds `{{{files[-1]}}}`"
        if bare:
            return f'bind it before (`{name} <- ...`); a text has quotation marks: `"{name}"`'
        return f"for the text itself write `{{{{{name}}}}}`"

    def value(self, node: object, value: Value | None) -> None:
        if value is None or "{" not in value.text:
            return
        for ref in value.refs:
            self.use(ref, self.unit.at(node, ref.start, ref.end))  # type: ignore[arg-type]

    def condition(self, node: object, condition: Condition | None) -> None:
        for ref in condition.refs if condition is not None else ():
            self.use(ref, self.unit.at(node, ref.start, ref.end), bare=True)  # type: ignore[arg-type]

    def allowed(self) -> None:
        """The references in `allow` lines: they are read where the plan begins."""
        assert self.unit.plan is not None
        for node in self.unit.plan.statements:
            if isinstance(node, Header) and node.keyword == "allow":
                tail = header_tail("allow", node.tail)
                for value in tail.values if isinstance(tail, NamedValues) else ():
                    self.value(node, value)

    def text_block(self, node: Act, value: Value) -> None:
        block = node.step.block
        if block is None or "{" not in value.text:
            return
        line, at = block.line, 0
        for ref in value.refs:
            line += value.text.count("\n", at, ref.start)
            at = ref.start
            start = value.text.rfind("\n", 0, at) + 1
            column = block.column + at - start
            self.use(
                ref, Span(self.unit.key, line, column, line, column + ref.end - at), block=True
            )

    # ---- bindings ----------------------------------------------------------------------

    def put(self, name: str, value: tuple[_Bind, bool]) -> None:
        self.trail.append((name, self.scope.get(name)))
        self.scope[name] = value

    def undo(self, mark: int) -> dict[str, tuple[_Bind, bool]]:
        """Undoes and returns the bindings since `mark`."""
        changed = {name: self.scope[name] for name, _ in self.trail[mark:]}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                del self.scope[name]
            else:
                self.scope[name] = before
        return changed

    def bind(
        self,
        name: str,
        span: Span,
        fields: Fields,
        what: str,
        *,
        loop: bool = False,
        made_of: Iterable[Value] = (),
    ) -> None:
        """Binds a name. One that the step itself reads (`made_of`) is carried on, and hides nothing."""
        if name in BUILT_IN:
            self.reserved(name, span)
        known = self.scope.get(name)
        carried = any(
            ref.path[0] == name for value in made_of if "{" in value.text for ref in value.refs
        )
        hides = known is not None and known[1] and name not in BUILT_IN
        if known is not None and hides and not carried and not self.handed_on(name, known[0].at):
            labels = (Label(known[0].span, "bound here before"),) if known[0].span else ()
            self.report(
                span, "FDC314", f"`{name}` hides {known[0].what} of the same name", labels=labels
            )
        self.put(name, (_Bind(span, fields, what, self.loops), True))
        if not loop:
            self.bindings.setdefault(name, (span, "the result"))

    def reserved(self, name: str, span: Span) -> None:
        self.report(span, "FDC317", f"`{name}` is {BUILT_IN[name]}: no plan binds this name")

    def handed_on(self, name: str, bound: int) -> bool:
        """True where a loop around, which began after the name was bound, has read it: in the next round it reads what is
        bound here."""
        read = self.read.get(name, 0)
        return any(bound < begun <= read for begun in self.begun)

    def binding_span(self, node: object) -> Span:
        line, column = node.line, node.column  # type: ignore[attr-defined]
        return Span(self.unit.key, line, column, line, column + len(node.bind))  # type: ignore[attr-defined]

    # ---- bodies ------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            if isinstance(node, Act):
                block = node.bound.tool.block
                for name, value in node.bound.arguments.items():
                    if block is not None and name == block.name:
                        self.text_block(node, value)
                    else:
                        self.value(node.step, value)
                if node.step.bind:
                    tool = node.bound.tool
                    fields: Fields = (
                        tool.fields
                        if tool.fields is not None or tool.result is None
                        else _fields(tool.result)
                    )
                    read = node.bound.arguments.values()
                    self.bind(
                        node.step.bind,
                        self.binding_span(node.step),
                        fields,
                        "the result",
                        made_of=read,
                    )
            elif isinstance(node, Invoke):
                for value in node.arguments.values():
                    self.value(node.call, value)
                if node.call.bind:
                    read = node.arguments.values()
                    self.bind(
                        node.call.bind,
                        self.binding_span(node.call),
                        None,
                        "the result",
                        made_of=read,
                    )
            elif isinstance(node, Loop):
                self.loop(node)
            elif isinstance(node, Choice):
                self.choice(node)
            elif isinstance(node, Gate):
                self.condition(node.node, node.condition)
            elif isinstance(node, Collect):
                self.value(node.node, node.value)

    def loop(self, node: Loop) -> None:
        self.value(node.node, node.over)
        mark = len(self.trail)
        span = self.unit.span(node.node)
        own = {node.name, node.alias}
        if node.name:
            self.bind(
                node.name,
                span,
                False if node.kind == "each" else None,
                "the loop's name",
                loop=True,
            )
        if node.alias:
            self.put(node.alias, (_Bind(span, False, "the file"), True))
        outside, self.begun = self.begun, [] if node.kind == "fork" else self.begun
        self.loops += 1
        if node.kind != "fork":  # whose branches hand nothing on
            self.begun = [*self.begun, self.loops]
        self.body(node.body)
        self.begun = outside
        if node.kind == "iterate":
            # the condition is read after the body, which has run at least once
            self.condition(node.node, node.until)
        for name, (how, sure) in self.undo(mark).items():
            before = self.scope.get(name)
            if name not in own and (before is None or not before[1]):
                self.put(name, (how, sure and node.least > 0))
        bound = getattr(node.node, "bind", None)
        if bound:
            self.bind(bound, self.binding_span(node.node), False, "the result")

    def choice(self, node: Choice) -> None:
        self.condition(node.node, node.condition)
        mark = len(self.trail)
        self.body(node.then)
        then = self.undo(mark)
        self.body(node.orelse)
        orelse = self.undo(mark)
        if node.known is not None:  # the other branch is looked at, but binds nothing
            for name, item in (then if node.known else orelse).items():
                self.put(name, item)
            return
        for name in {**then, **orelse}:
            before = self.scope.get(name)
            left, right = then.get(name, before), orelse.get(name, before)
            either = left or right
            assert either is not None
            sure = left is not None and right is not None and left[1] and right[1]
            same = left is None or right is None or left[0].fields == right[0].fields
            one = either[0]
            self.put(name, (one if same else _Bind(one.span, None, one.what, one.at), sure))
