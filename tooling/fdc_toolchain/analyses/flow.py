"""Text from outside chooses no command, path or address, and not which steps are done, in any run (security.md 8).

Every plan is looked at once. Its summary says what its result is made of, which of its inputs choose something
in it, and what it writes into files, all in terms of what it is given; a caller fills in what it gives. Branches
join, loops are gone round until nothing changes, and files are remembered by their paths. What a condition lets
through decides which steps are done, so it flows into everything below it.

Where a fork keeps failures, its result holds their reasons: the words of any tool that a branch uses, and what it
was asked; a value that could not be used. So it is made of all that a branch looks at. A gate or a failure leaves
the rest of its branch undone, as it leaves the rest of a run undone elsewhere; it makes nothing be done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from ..resolve.catalogue import Tool
from ..resolve.commands import pieces
from ..resolve.graph import calls_of, components
from ..resolve.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ..syntax import tree
from ..syntax.values import Condition, Ref, Value
from ..text.diagnostic import Diagnostic
from ..text.diagnostic import Label as Mark
from ..text.span import Span
from .labels import CHOICES, FILES, TRUSTED, Labels
from .rule import Context
from .stored import ANY, RUN, Pattern, Stored, meet, pattern_of, pattern_of_glob, read_back, spelled

_WRITES = ("create", "write", "edit")
_FROM = {"workspace": "text of the workspace", "model": "a model's text", "untrusted": "text from outside"}
_HELP = "let a person decide (`request_user_input`), or a tool whose catalogue says that it `clears` text for this"
_CHOSEN = {
    "command": "the command that `{}` runs",
    "argument": "an argument of the command that `{}` runs",
    "path": "the path that `{}` uses",
    "url": "the address that `{}` reads",
    "message": "the words that `{}` sends",
    "choice": "whether `{}` is done",
}


class Need(NamedTuple):
    """A step deep in a plan where something given chooses something."""

    unit: Unit
    step: tree.Statement
    tool: str
    sink: str

    @property
    def what(self) -> str:
        """What is chosen there, in words."""
        return _CHOSEN[self.sink].format(self.tool)


class Summary(NamedTuple):
    """A plan in terms of what it is given: its result, what chooses there, what it puts into files, why it may fail.

    `files`: the files that callers may have put something into which matters.
    """

    result: int
    needs: dict[tuple[str, str], Need]
    writes: dict[Pattern, int]
    fails: int
    files: tuple[tuple[str, Pattern], ...]


_EMPTY = Summary(TRUSTED, {}, {}, TRUSTED, ())


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC471, FDC472 and FDC473 in every plan that the judged ones reach."""
    units = {instance.unit.key: instance.unit for instance in context.order}
    summaries: dict[str, Summary] = {}
    labels = Labels()
    outside = tuple(map(pattern_of_glob, context.linker.settings.untrusted))
    called = {call.key for unit in units.values() for call in unit.calls}
    calls = calls_of(units)
    heard = set(units) if outside else _heard(units, calls, _asking(context.linker.catalogue.tools))
    for group in components(calls):
        if heard.isdisjoint(group):
            continue
        looping = len(group) > 1 or any(call.key == group[0] for call in units[group[0]].calls)
        changed = True
        while changed:
            changed = False
            mark = labels.mark()
            flows = [_Flow(units[key], summaries, labels, key in called, outside) for key in group]
            for flow in flows:
                key = flow.unit.key
                before = summaries.get(key)
                summaries[key] = flow.summary()
                changed |= looping and not _same(before, summaries[key])
        for flow in flows:
            yield from flow.found.values()
        if called.isdisjoint(group):
            labels.release(mark)


def _asking(tools: Mapping[str, Tool]) -> set[str]:
    """The tools that may bring what can choose, or that take a command."""
    return {
        name
        for name, tool in tools.items()
        if tool.trust in ("model", "untrusted") or any(item.sink == "command" for item in tool.parameters)
    }


def _heard(units: Mapping[str, Unit], calls: Mapping[str, Collection[str | None]], asking: set[str]) -> set[str]:
    """The plans that have something to follow, and all that calls tie to one of them, up or down. Among the others
    there is the workspace's text at most, and that as an argument of a command at most, which it may choose."""
    tied: dict[str, set[str]] = {}
    for caller, callees in calls.items():
        for callee in callees:
            if callee is not None and callee in units:
                tied.setdefault(caller, set()).add(callee)
                tied.setdefault(callee, set()).add(caller)
    heard: set[str] = set()
    work = [key for key, unit in units.items() if not _quiet(unit, asking, alone=key not in tied)]
    while work:
        key = work.pop()
        if key not in heard:
            heard.add(key)
            work += tied.get(key, ())
    return heard


def _quiet(unit: Unit, asking: set[str], *, alone: bool) -> bool:
    """True where no step brings what could choose, or has data in the place of a command's text.

    `alone`: no call leads here or from here, so what its parameters hold is its user's.
    """
    for act in unit.acts:
        tool = act.bound.tool
        if tool.name not in asking:
            continue
        if tool.trust in ("model", "untrusted"):
            return False
        for parameter in tool.parameters:
            value = act.bound.arguments.get(parameter.name) if parameter.sink == "command" else None
            if value is not None and "{" in value.text:
                for piece in pieces(unit, value):
                    if (piece.place.wrong or piece.place.leads) and not (alone and piece.is_text):
                        return False
    return True


def _same(before: Summary | None, after: Summary) -> bool:
    return (
        before is not None
        and before.needs.keys() == after.needs.keys()
        and before._replace(needs={}) == after._replace(needs={})
    )


class _Name(NamedTuple):
    label: int
    fields: dict[str, str] | None


class _Flow:
    """One plan. `names`: what is bound here; `choices`: the label of the conditions around.

    `called`: a plan here calls it. `outside`: the files that hold text from outside before anything runs.
    """

    def __init__(
        self, unit: Unit, summaries: dict[str, Summary], labels: Labels, called: bool, outside: tuple[Pattern, ...]
    ) -> None:
        self.unit = unit
        self.summaries = summaries
        self.labels = labels
        self.called = called
        self.outside = outside
        self.known = unit.names
        self.names: dict[str, _Name] = {}
        self.trail: list[tuple[str, _Name | None]] = []
        self.until: dict[int, int] = {}
        self.choices = TRUSTED
        self.result = TRUSTED
        self.fails = TRUSTED
        self.needs: dict[tuple[str, str], Need] = {}
        self.writes = Stored()
        self.looked: dict[Pattern, int] = {}
        self.calls: dict[tuple[object, ...], tuple[int, int, int]] = {}
        self.found: dict[tuple[Span, str, str], Diagnostic] = {}

    def summary(self) -> Summary:
        """The plan in terms of what it is given. Gone through again where files that were looked at had more in them."""
        given = self.given(CHOICES)
        if any(act.bound.tool.writes_unknown for act in self.unit.acts):
            self.writes.put(ANY, given | self.stored(ANY))
        while True:
            self.names = {name: _Name(self.given(name), None) for name in self.unit.params}
            self.trail = []
            self.choices = given
            self.calls = {}
            self.body(self.unit.body)
            looked, self.looked = self.looked, {}
            if all(self.stored(pattern) == label for pattern, label in looked.items()):
                return Summary(self.result, self.needs, self.writes.labels, self.fails, self.files())

    # ---- labels ------------------------------------------------------------------------

    def given(self, name: str) -> int:
        """What a caller gives. Who calls a plan that nobody calls is its user."""
        return self.labels.stands_for(name) if self.called else TRUSTED

    def refs(self, value: Value | None) -> list[Ref]:
        return [] if value is None or "{" not in value.text else [ref for ref in value.refs if ref.path[0] in self.known]

    def ref(self, ref: Ref) -> int:
        found = self.names.get(ref.path[0])
        return TRUSTED if found is None else found.label

    def value(self, value: Value | None) -> int:
        out = TRUSTED
        for ref in self.refs(value):
            out |= self.ref(ref)
        return out

    def chooses(self, value: Value) -> int:
        """The label of what the value can say: a declared number or truth value says nothing that could choose."""
        out = TRUSTED
        for ref in self.refs(value):
            out |= TRUSTED if self.bare(ref) else self.ref(ref)
        return out

    def bare(self, ref: Ref) -> bool:
        found = self.names.get(ref.path[0])
        return (
            found is not None and found.fields is not None and len(ref.path) == 2
            and found.fields.get(ref.path[1]) in ("number", "boolean")
        )  # fmt: skip

    def condition(self, condition: Condition | None) -> int:
        out = TRUSTED
        for ref in condition.refs if condition is not None else ():
            out |= self.ref(ref)
        return out

    def stored(self, pattern: Pattern) -> int:
        """What may stand in files: what this plan and those it calls wrote, and what its callers did."""
        out = self.writes.get(pattern) | (self.given(FILES + spelled(pattern)) if self.called else TRUSTED)
        self.looked[pattern] = out
        return out

    def write(self, pattern: Pattern, label: int) -> None:
        label &= self.labels.tainting
        if label:
            self.writes.put(pattern, label)

    # ---- what is wrong -----------------------------------------------------------------

    def sink(self, label: int, sink: str, step: tree.Statement, tool: str, deep: Need | None = None) -> bool:
        """Reports what may not choose; what stands for something given is left to the callers. True where it reports."""
        told = False
        if not label & self.labels.refusing[sink]:
            return told
        for atom in self.labels.refused(label, sink):
            if atom.origin is None:
                self.needs.setdefault((atom.source, sink), deep or Need(self.unit, step, tool, sink))
            elif not told:
                told = True
                span, code = self.unit.span(step), "FDC472" if sink == "choice" else "FDC471"
                chosen = f"{deep.what}, in the plan called here" if deep is not None else _CHOSEN[sink].format(tool)
                message = f"{_FROM[atom.source]} (`{atom.origin.tool}`) chooses {chosen}"
                marks = [] if atom.origin.span == span else [Mark(atom.origin.span, "it comes from here")]
                if deep is not None:
                    marks.append(Mark(deep.unit.span(deep.step), f"there it chooses {deep.what}"))
                self.found.setdefault((span, code, sink), Diagnostic(span, code, message, tuple(marks), help=_HELP))
        return told

    # ---- steps -------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            _VISIT[type(node)](self, node)

    def bind(self, name: str | None, label: int, fields: dict[str, str] | None = None) -> None:
        if name is not None:
            self.keep(name, _Name(label | self.choices, fields))

    def keep(self, name: str, value: _Name) -> None:
        self.trail.append((name, self.names.get(name)))
        self.names[name] = value

    def undo(self, mark: int) -> dict[str, _Name]:
        """Takes back what was bound since `mark`; returns it."""
        changed = {name: self.names[name] for name, _ in self.trail[mark:]}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                del self.names[name]
            else:
                self.names[name] = before
        return changed

    def act(self, node: Act) -> None:
        arguments, tool = node.bound.arguments, node.bound.tool
        given = TRUSTED
        for parameter in tool.parameters:
            value = arguments.get(parameter.name)
            if value is None or "{" not in value.text:
                continue
            given |= self.value(value)
            if parameter.sink == "command":
                self.command(node, value)
            elif parameter.sink in ("path", "url", "message"):
                self.sink(self.chooses(value), parameter.sink, node.step, tool.name)
        if self.choices & self.labels.refusing["choice"] and _acts(node):
            self.sink(self.choices, "choice", node.step, tool.name)
        brought = self.brought(node, given)
        self.fails |= brought | self.choices
        self.put(node, brought)
        self.bind(node.step.bind, self.labels.cleared(brought, tool.clears), tool.fields)

    def brought(self, node: Act, given: int) -> int:
        """The label of a step's result: its tool's, and that of all that it is given or reads."""
        tool, arguments = node.bound.tool, node.bound.arguments
        given |= self.labels.of(tool.trust, self.unit, node.step, tool.name)
        read: list[Pattern] = []
        if tool.writes_unknown:
            read = [ANY]
        elif tool.trust == "workspace" and tool.effect != "pure":
            named = [arguments[item.name] for item in tool.parameters if item.sink == "path" and item.name in arguments]
            read = [*map(pattern_of, named)] or [ANY]
        for pattern in read:
            given |= self.stored(pattern)
            if any(meet(pattern, one) for one in self.outside):
                given |= self.labels.of("untrusted", self.unit, node.step, tool.name)
        return given

    def put(self, node: Act, brought: int) -> None:
        """Remembers what a step writes into files."""
        tool = node.bound.tool
        if tool.writes_unknown:
            self.write(ANY, brought | self.choices)
        elif node.bound.files:
            for access, value in node.bound.files:
                if access == "delete":  # where a file is moved, its text goes along
                    brought |= self.stored(pattern_of(value))
            for access, value in node.bound.files:
                if access in _WRITES:
                    self.write(pattern_of(value), brought | self.choices)

    def command(self, node: Act, value: Value) -> None:
        """What is text of the command is the author's own; data is one word, or it is said where it could be code."""
        tool = node.bound.tool.name
        for ref, place, is_text in pieces(self.unit, value):
            if ref.path[0] not in self.known:
                continue
            label = TRUSTED if self.bare(ref) else self.ref(ref)
            if place.wrong is not None and not is_text:
                name = ".".join(ref.path)
                at = self.unit.at(node.step, ref.start, ref.end)
                message = f"`{{{name}}}` cannot be kept one word of the command: {place.wrong}"
                help_ = f"put it into a variable for that command: `x={{{name}}} sh -c 'echo \"$x\"'`"
                self.found.setdefault((at, "FDC473", ""), Diagnostic(at, "FDC473", message, help=help_))
            self.sink(label, "command" if is_text or place.leads else "argument", node.step, tool)

    # ---- calls, loops, branches --------------------------------------------------------

    def call(self, node: Invoke) -> None:
        given = {name: self.value(value) for name, value in node.arguments.items()}
        given[CHOICES] = self.choices
        key = (node.key, *given.items())
        known = self.calls.get(key)
        now = self.writes.changes
        if known is None or known[0] != now:
            callee = self.summaries.get(node.key or "", _EMPTY)
            told = self.enter(node, callee, given)
            known = now, self.labels.filled(callee.result, given), self.labels.filled(callee.fails, given)
            if not told:  # the same call again does the same, until more is written
                self.calls[key] = known
        self.fails |= known[2]
        self.bind(node.call.bind, known[1])

    def enter(self, node: Invoke, callee: Summary, given: dict[str, int]) -> bool:
        """What a callee does beside its result; adds to `given` what stands in files. True where something is reported."""
        for source, pattern in callee.files:
            given[source] = self.stored(pattern)
        for pattern, label in callee.writes.items():
            self.write(pattern, self.labels.filled(label, given))
        told = False
        for (source, sink), deep in callee.needs.items():
            told |= self.sink(given.get(source, TRUSTED), sink, node.call, deep.tool, deep)
        return told

    def files(self) -> tuple[tuple[str, Pattern], ...]:
        """The files whose text the summary speaks of."""
        label = self.result | self.fails
        for written in self.writes.labels.values():
            label |= written
        sources = {source for source, _ in self.needs}
        sources |= {atom.source for atom in self.labels.atoms(label & self.labels.given)}
        files = sorted(source for source in sources if source.startswith(FILES))
        return tuple((source, read_back(source.removeprefix(FILES))) for source in files)

    def loop(self, node: Loop) -> None:
        over = self.value(node.over)
        if node.kind == "each" and node.over is not None:
            self.sink(self.chooses(node.over), "path", node.node, "for_each_file")
        outer, result, fails = self.choices, self.result, self.fails | over | self.choices
        gathers = getattr(node.node, "bind", None)
        if gathers:
            self.result = TRUSTED
        if node.keeps:
            self.fails = TRUSTED
        item = over | self.labels.of("workspace", self.unit, node.node, "for_each_file") if node.kind == "each" else over
        self.choices |= over | self.until.get(id(node), TRUSTED)
        again = True
        while again:
            again, choices, mark = False, self.choices, len(self.trail)
            self.bind(node.name, item)
            self.bind(node.alias, item)
            self.body(node.body)
            self.looks(node.until)
            self.choices |= self.condition(node.until)
            for name, after in self.undo(mark).items():
                before = self.names.get(name)
                self.keep(name, _merged(before, after))
                again |= before is not None and self.names[name] != before
            again |= self.choices != choices
            self.until[id(node)] = self.choices  # so that loops in loops do not find it out again each time
        self.choices = outer
        if gathers:
            gathered, self.result = self.result, result
            self.bind(gathers, gathered | over | (self.fails if node.keeps else TRUSTED))
        self.fails = fails if node.keeps else self.fails | fails

    def looks(self, condition: Condition | None) -> None:
        """A condition may not hold, or have no meaning for the values that there are: where that stops, it is told."""
        self.fails |= self.condition(condition) | self.choices

    def choice(self, node: Choice) -> None:
        outer = self.choices
        self.looks(node.condition)
        self.choices |= self.condition(node.condition)
        mark = len(self.trail)
        self.body(node.then)
        then = self.undo(mark)
        self.body(node.orelse)
        orelse = self.undo(mark)
        for name in {**then, **orelse}:
            here = self.names.get(name)
            self.keep(name, _merged(then.get(name, here), orelse.get(name, here)))
        self.choices = outer

    def gate(self, node: Gate) -> None:
        """A gate stops the run (or a branch) or does nothing: what it looked at chooses no step that is done."""
        self.looks(node.condition)

    def collect(self, node: Collect) -> None:
        self.result |= self.value(node.value) | self.choices
        self.fails |= self.value(node.value)


_VISIT: dict[type, Callable[..., None]] = {
    Act: _Flow.act, Invoke: _Flow.call, Loop: _Flow.loop, Choice: _Flow.choice, Gate: _Flow.gate, Collect: _Flow.collect,
}  # fmt: skip


def _merged(one: _Name | None, other: _Name | None) -> _Name:
    if one is None or other is None or one is other:
        found = one or other
        assert found is not None
        return found
    return _Name(one.label | other.label, one.fields if one.fields == other.fields else None)


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
