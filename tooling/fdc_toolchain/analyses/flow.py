"""Text from outside chooses no command, path or address, and not which steps are done, in any run (security.md 8).

Every plan is looked at once. Its summary says what its result is made of, which of its inputs choose something
in it, and what it writes into files, all in terms of what it is given; a caller fills in what it gives. Branches
join, loops are gone round until nothing changes, and files are remembered by their paths. What a condition lets
through decides which steps are done, so it flows into everything below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..resolve.bound import bound_names, is_data
from ..resolve.catalogue import Tool
from ..resolve.graph import calls_of, components
from ..resolve.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ..syntax.shell_text import data_places
from ..syntax.values import Condition, Ref, Value
from ..text.diagnostic import Diagnostic
from ..text.diagnostic import Label as Mark
from ..text.span import Span
from . import labels
from .labels import CHOICES, FILES, TRUSTED, Label, Origin
from .rule import Context
from .stored import ANY, RUN, Pattern, meet, pattern_of, read_back, spelled

_WRITES = ("create", "write", "edit")
_FROM = {"workspace": "text of the workspace", "model": "a model's text", "untrusted": "text from outside"}
_HELP = "let a person decide (`request_user_input`), or a tool whose catalogue says that it `clears` text for this"


class Need(NamedTuple):
    """A place deep in a plan where something given chooses something: what it is, in words."""

    span: Span
    what: str


class Summary(NamedTuple):
    """A plan in terms of what it is given: its result, what chooses there, what it puts into files."""

    result: Label
    needs: dict[tuple[str, str], Need]
    writes: dict[Pattern, Label]


_EMPTY = Summary(TRUSTED, {}, {})


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC471, FDC472 and FDC473 in every plan that the judged ones reach."""
    units = {instance.unit.key: instance.unit for instance in context.order}
    summaries: dict[str, Summary] = {}
    for group in components(calls_of(units)):
        looping = len(group) > 1 or any(call.key == group[0] for call in units[group[0]].calls)
        changed = True
        while changed:
            changed = False
            flows = [_Flow(units[key], summaries) for key in group]
            for flow in flows:
                key = flow.unit.key
                before = summaries.get(key)
                summaries[key] = flow.summary()
                changed |= looping and not _same(before, summaries[key])
        for flow in flows:
            yield from flow.found.values()


def _same(before: Summary | None, after: Summary) -> bool:
    return before is not None and (
        before.result.keys() == after.result.keys()
        and before.needs.keys() == after.needs.keys()
        and {at: label.keys() for at, label in before.writes.items()} == {at: label.keys() for at, label in after.writes.items()}
    )


class _Name(NamedTuple):
    label: Label
    fields: dict[str, str] | None


class _Flow:
    """One plan. `names`: what is bound here; `choices`: the label of the conditions around."""

    def __init__(self, unit: Unit, summaries: dict[str, Summary]) -> None:
        self.unit = unit
        self.summaries = summaries
        self.known = bound_names(unit)
        self.names: dict[str, _Name] = {}
        self.choices: Label = TRUSTED
        self.result: Label = TRUSTED
        self.needs: dict[tuple[str, str], Need] = {}
        self.writes: dict[Pattern, Label] = {}
        self.reads = False
        self.found: dict[tuple[Span, str, str], Diagnostic] = {}

    def summary(self) -> Summary:
        """The plan in terms of what it is given."""
        size = 0
        while True:
            self.names = {name: _Name(labels.stands_for(name), None) for name in self.unit.params}
            self.choices = labels.stands_for(CHOICES)
            self.body(self.unit.body)
            before, size = size, sum(len(label) for label in self.writes.values())
            if size == before or not self.reads:
                return Summary(self.result, self.needs, self.writes)

    # ---- labels ------------------------------------------------------------------------

    def refs(self, value: Value | None) -> list[Ref]:
        return [] if value is None or "{" not in value.text else [ref for ref in value.refs if ref.path[0] in self.known]

    def ref(self, ref: Ref) -> Label:
        found = self.names.get(ref.path[0])
        return TRUSTED if found is None else found.label

    def value(self, value: Value | None) -> Label:
        return labels.join(map(self.ref, self.refs(value)))

    def chooses(self, value: Value) -> Label:
        """The label of what the value can say: a declared number or truth value says nothing that could choose."""
        return labels.join(self.ref(ref) for ref in self.refs(value) if not self.bare(ref))

    def bare(self, ref: Ref) -> bool:
        found = self.names.get(ref.path[0])
        return (
            found is not None and found.fields is not None and len(ref.path) == 2
            and found.fields.get(ref.path[1]) in ("number", "boolean")
        )  # fmt: skip

    def condition(self, condition: Condition | None) -> Label:
        return labels.join(self.ref(ref) for ref in (condition.refs if condition is not None else ()))

    def stored(self, pattern: Pattern) -> Label:
        """What may stand in files: what this plan and those it calls wrote, and what its callers did."""
        self.reads = True
        written = [label for at, label in self.writes.items() if meet(at, pattern)]
        return labels.join([*written, labels.stands_for(FILES + spelled(pattern))])

    def write(self, pattern: Pattern, label: Label) -> None:
        kept = {atom: origin for atom, origin in label.items() if atom.given or labels.LEVELS[atom.source] > 1}
        if kept:
            self.writes[pattern] = labels.join([self.writes.get(pattern, TRUSTED), kept])

    # ---- what is wrong -----------------------------------------------------------------

    def sink(self, label: Label, sink: str, span: Span, need: Need, deep: Need | None = None) -> None:
        """Reports what may not choose; what stands for something given is left to the callers."""
        told = False
        for atom, origin in labels.refused(label, sink):
            if atom.given:
                self.needs.setdefault((atom.source, sink), deep or need)
            elif not told:
                told = True
                code = "FDC472" if sink == "choice" else "FDC471"
                brought = f" (`{origin.tool}`)" if origin is not None else ""
                message = f"{_FROM[atom.source]}{brought} chooses {need.what}"
                marks = [] if origin is None or origin.span == span else [Mark(origin.span, "it comes from here")]
                if deep is not None:
                    marks.append(Mark(deep.span, f"there it chooses {deep.what}"))
                self.found.setdefault((span, code, sink), Diagnostic(span, code, message, tuple(marks), help=_HELP))

    # ---- steps -------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        visit: dict[type, Callable[..., None]] = _VISIT
        for node in nodes:
            visit[type(node)](self, node)

    def bind(self, name: str | None, label: Label, fields: dict[str, str] | None = None) -> None:
        if name is not None:
            self.names[name] = _Name(labels.join([label, self.choices]), fields)

    def act(self, node: Act) -> None:
        bound, tool = node.bound, node.bound.tool
        span = self.unit.span(node.step)
        for parameter in tool.parameters:
            value = bound.arguments.get(parameter.name)
            if value is None:
                continue
            if parameter.sink == "command":
                self.command(node, value)
            elif parameter.sink in ("path", "url", "message"):
                what = {"path": "the path", "url": "the address", "message": "the words"}[parameter.sink]
                verb = {"path": "uses", "url": "reads", "message": "sends"}[parameter.sink]
                self.sink(self.chooses(value), parameter.sink, span, Need(span, f"{what} that `{tool.name}` {verb}"))
        if _acts(node):
            self.sink(self.choices, "choice", span, Need(span, f"whether `{tool.name}` is done"))
        brought = self.brought(node, Origin(span, tool.name))
        self.put(node, brought)
        self.bind(node.step.bind, labels.cleared(brought, tool.clears), tool.fields)

    def brought(self, node: Act, origin: Origin) -> Label:
        """The label of a step's result: its tool's, and that of all that it is given or reads."""
        tool, arguments = node.bound.tool, node.bound.arguments
        given = [self.value(value) for value in arguments.values()]
        if tool.writes_unknown:
            given.append(self.stored(ANY))
        elif tool.trust == "workspace" and tool.effect != "pure":
            named = [arguments[item.name] for item in tool.parameters if item.sink == "path" and item.name in arguments]
            given += [self.stored(pattern_of(value)) for value in named] or [self.stored(ANY)]
        return labels.join([labels.of(tool.trust, origin), *given])

    def put(self, node: Act, brought: Label) -> None:
        """Remembers what a step writes into files."""
        tool = node.bound.tool
        if tool.writes_unknown:
            self.write(ANY, labels.join([brought, self.choices]))
            return
        paths = [(parameter, node.bound.arguments[parameter.name]) for parameter in tool.parameters
                 if parameter.name in node.bound.arguments and parameter.sink == "path" and parameter.access]  # fmt: skip
        moved = [self.stored(pattern_of(value)) for parameter, value in paths if parameter.access == "delete"]
        for parameter, value in paths:
            if parameter.access in _WRITES:
                self.write(pattern_of(value), labels.join([brought, *moved, self.choices]))

    def command(self, node: Act, value: Value) -> None:
        """The shell's text: a parameter of the plan is text of it, everything else that is filled in is one word."""
        span = self.unit.span(node.step)
        tool = node.bound.tool.name
        runs = Need(span, f"the command that `{tool}` runs")
        for part in self.refs(value):
            if not is_data(self.unit, part):
                self.sink(self.ref(part), "command", span, runs)
        for ref, place in data_places(value.parts, lambda ref: is_data(self.unit, ref)):
            label = TRUSTED if self.bare(ref) else self.ref(ref)
            if place.wrong is not None:
                name = ".".join(ref.path)
                at = self.unit.at(node.step, ref.start, ref.end)
                message = f"`{{{name}}}` cannot be kept one word of the command: {place.wrong}"
                help_ = f"put it into a variable for that command: `x={{{name}}} sh -c 'echo \"$x\"'`"
                self.found.setdefault((at, "FDC473", ""), Diagnostic(at, "FDC473", message, help=help_))
            if place.leads:
                self.sink(label, "command", span, runs)
            else:
                self.sink(label, "argument", span, Need(span, f"an argument of the command that `{tool}` runs"))

    # ---- calls, loops, branches --------------------------------------------------------

    def call(self, node: Invoke) -> None:
        given: dict[str, Label] = {name: self.value(value) for name, value in node.arguments.items()}
        callee = self.summaries.get(node.key or "", _EMPTY)
        given[CHOICES] = self.choices
        span = self.unit.span(node.call)
        for atom_source in {source for source, _ in callee.needs} | _sources(callee):
            if atom_source.startswith(FILES):
                given[atom_source] = self.stored(read_back(atom_source.removeprefix(FILES)))
        for pattern, label in callee.writes.items():
            self.write(pattern, labels.filled(label, given))
        for (source, sink), deep in callee.needs.items():
            what = Need(span, f"{deep.what}, in the plan called here")
            self.sink(given.get(source, TRUSTED), sink, span, what, deep)
        self.bind(node.call.bind, labels.filled(callee.result, given))

    def loop(self, node: Loop) -> None:
        over = self.value(node.over)
        span = self.unit.span(node.node)
        if node.kind == "each" and node.over is not None:
            self.sink(self.chooses(node.over), "path", span, Need(span, "the files that `for_each_file` goes through"))
        outer, result = self.choices, self.result
        gathers = getattr(node.node, "bind", None)
        if gathers:
            self.result = TRUSTED
        item = labels.join([over, labels.of("workspace", Origin(span, "for_each_file"))]) if node.kind == "each" else over
        size = -1
        while size != (size := self.size()):
            before = dict(self.names)
            self.choices = labels.join([self.choices, over])
            self.bind(node.name, item)
            self.bind(node.alias, item)
            self.body(node.body)
            self.choices = labels.join([self.choices, self.condition(node.until)])
            self.names = _merged(before, self.names)
        if gathers:
            gathered, self.result = self.result, result
            self.choices = outer
            self.bind(gathers, labels.join([gathered, over]))
        self.choices = outer

    def size(self) -> int:
        """Grows as long as a loop brings anything new."""
        named = sum(len(name.label) for name in self.names.values())
        return named + len(self.choices) + len(self.result) + len(self.names) + sum(map(len, self.writes.values()))

    def choice(self, node: Choice) -> None:
        outer = self.choices
        self.choices = labels.join([outer, self.condition(node.condition)])
        before = dict(self.names)
        self.body(node.then)
        then, self.names = self.names, dict(before)
        self.body(node.orelse)
        self.names = _merged(then, self.names)
        self.choices = outer

    def gate(self, node: Gate) -> None:
        """A gate stops the run or does nothing: what it looked at chooses no step that is done."""

    def collect(self, node: Collect) -> None:
        self.result = labels.join([self.result, self.value(node.value), self.choices])


_VISIT: dict[type, Callable[..., None]] = {
    Act: _Flow.act, Invoke: _Flow.call, Loop: _Flow.loop, Choice: _Flow.choice, Gate: _Flow.gate, Collect: _Flow.collect,
}  # fmt: skip


def _merged(one: dict[str, _Name], other: dict[str, _Name]) -> dict[str, _Name]:
    out = dict(one)
    for name, (label, fields) in other.items():
        known = out.get(name)
        if known is None:
            out[name] = _Name(label, fields)
        elif known.label is not label:
            out[name] = _Name(labels.join([known.label, label]), fields if fields == known.fields else None)
    return out


def _sources(summary: Summary) -> set[str]:
    return {atom.source for label in (summary.result, *summary.writes.values()) for atom in label if atom.given}


def _acts(node: Act) -> bool:
    """True for a step that changes something outside of the run's own folder, or tells somebody else."""
    tool: Tool = node.bound.tool
    given = [item for item in tool.parameters if item.name in node.bound.arguments]
    if any(item.sink in ("command", "message") for item in given) or tool.writes_unknown:
        return True
    changed = [item for item in given if item.access and item.access != "read"]
    if any(not pattern_of(node.bound.arguments[item.name]).begins.startswith(RUN) for item in changed):
        return True
    talks = bool(tool.parameters) and all(item.sink == "user" for item in tool.parameters)
    return tool.effect == "once" and not changed and not talks
