"""Text from outside chooses no command, path or address, and not which steps are done, in any run (security.md 8).

Every plan is looked at once. Its summary says what its result is made of, which of its inputs choose something
in it, and what it does to files, all in terms of what it is given; a caller fills in what it gives. Branches
join, loops are gone round until nothing changes, and files are remembered by their paths: what stands in them, and
who chose whether they are there. What a condition lets through decides which steps are done, so it flows into
everything below it, and after it into every name and file that is another one where the condition is another.

Where a fork keeps failures, its result holds their reasons: the words of any tool that a branch uses, and what it
was asked; a value that could not be used. So it is made of all that a branch looks at. And a failure there is no end:
a gate, or a step that may fail, is a condition for what follows in the branch. A plan that is called in such a branch
has a second summary. Elsewhere a gate or a failure stops the run, and makes nothing be done.

A command may execute what it can see. So what it can see, at the moment when it begins, must not be from outside; but
for commands that only look at data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.commands import pieces
from ..linking.graph import calls_of, components
from ..linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ..syntax import tree
from ..syntax.values import Condition, Ref, Value
from .solver.flow.earlier import Earlier, earlier, of_earlier_run, steps, stores
from .solver.flow.file_taint import (
    ANY,
    Pattern,
    Stored,
    hidden,
    meet,
    pattern_of,
    pattern_of_glob,
    read_back,
    spelled,
)
from .solver.flow.heard import heard, kept
from .solver.flow.labels import CHOICES, FILES, SEES, THERE, TRUSTED, Labels
from .solver.flow.need import Need, finding
from .solver.flow.summary import NOTHING, Name, Store, Summary, merged, same
from .solver.flow.touched import LOOKING, acts, changes, executes, reads, sinks
from .solver.rule import Context

_Key = tuple[str, bool]
"""A plan, and whether it runs where its failures are kept."""


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC471, FDC472, FDC473 and FDC474 in every plan that the judged ones reach."""
    units = {instance.unit.key: instance.unit for instance in context.order}
    summaries: dict[_Key, Summary] = {}
    labels = Labels()
    outside = tuple(map(pattern_of_glob, context.linker.settings.untrusted))
    asking = frozenset(name for name, row in context.linker.catalogue.rows.items() if "run" in row)
    called = {call.key for unit in units.values() for call in unit.calls}
    calls = calls_of(units)
    before = earlier(context.linker.outside, labels)
    marks: set[Store] = set()
    followed = set(units) if outside or before.sees else heard(units, calls)
    alone = kept(units, followed)
    for group in components(calls):
        if followed.isdisjoint(group):
            continue
        looping = len(group) > 1 or any(call.key == group[0] for call in units[group[0]].calls)
        changed = True
        while changed:
            changed = False
            mark = labels.mark()
            flows = [
                _Flow(units[key], summaries, labels, key in called, outside, before, asking)
                for key in group
            ]
            flows += [
                _Flow(units[key], summaries, labels, True, outside, before, asking, kept=True)
                for key in group
                if key in alone
            ]
            for flow in flows:
                key = flow.unit.key, flow.kept
                known = summaries.get(key)
                summaries[key] = flow.summary()
                changed |= looping and not same(known, summaries[key])
                marks |= flow.marks
        found: dict[tuple[Span, str, str], Diagnostic] = {}
        for flow in flows:
            found = {**flow.found, **found}
        yield from found.values()
        if called.isdisjoint(group):
            labels.release(mark)
    context.marks = steps(marks)


class _Flow:
    """One plan. `names`: what is bound here; `choices`: the label of the conditions around.

    `called`: a plan here calls it. `outside`: the files that hold text from outside before anything runs, as the settings
    say; `earlier`: those that earlier runs wrote. `marks`, `stores`: the steps that write such text into files.
    `asking`: the predicates that are Python functions of the workspace, which may look at any file.
    `kept`: what stops it, or the branch that is looked at, does not stop the run. `stops`: what decides whether it stops.
    """

    def __init__(
        self,
        unit: Unit,
        summaries: dict[_Key, Summary],
        labels: Labels,
        called: bool,
        outside: tuple[Pattern, ...],
        earlier: Earlier,
        asking: frozenset[str],
        kept: bool = False,
    ) -> None:
        self.unit = unit
        self.summaries = summaries
        self.labels = labels
        self.called = called
        self.kept = kept
        self.outside = outside
        self.earlier = earlier
        self.asking = asking
        self.marks: set[Store] = set()
        self.stores: dict[str, frozenset[Store]] = {}
        self.known = unit.names
        self.names: dict[str, Name] = {}
        self.trail: list[tuple[str, Name | None]] = []
        self.until: dict[int, int] = {}
        self.choices = TRUSTED
        self.result = TRUSTED
        self.fails = TRUSTED
        self.stops = TRUSTED
        self.sees = TRUSTED
        self.needs: dict[tuple[str, str], Need] = {}
        self.writes = Stored()
        self.there = Stored()
        self.before = Stored()
        self.looked: set[Pattern] = set()
        self.calls: dict[tuple[object, ...], tuple[tuple[int, int, int], int, int, int]] = {}
        self.found: dict[tuple[Span, str, str], Diagnostic] = {}

    def summary(self) -> Summary:
        """The plan in terms of what it is given. Gone through again where another run left more in files that are read."""
        self.entry = self.given(CHOICES)
        while True:
            self.names = {name: Name(self.given(name), None) for name in self.unit.params}
            self.trail, self.calls, self.choices = [], {}, self.entry
            self.writes, self.there, self.sees = Stored(), Stored(), TRUSTED
            self.looked.clear()
            self.body(self.unit.body)
            before, self.before = self.before, self.writes.lasting()
            if all(self.before.get(pattern) == before.get(pattern) for pattern in self.looked):
                writes, there = self.writes.labels, self.there.labels
                made = self.result, self.needs, writes, there, self.sees, self.fails, self.stops
                return Summary(*made, self.files(), self.stores)

    # ---- labels ------------------------------------------------------------------------

    def given(self, name: str) -> int:
        """What a caller gives. Who calls a plan that nobody calls is its user."""
        return self.labels.stands_for(name) if self.called else TRUSTED

    def refs(self, value: Value | None) -> list[Ref]:
        return (
            []
            if value is None or "{" not in value.text
            else [ref for ref in value.refs if ref.path[0] in self.known]
        )

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

    def condition(self, condition: Condition | None, at: tree.Statement | None = None) -> int:
        """The label of a condition, which stands `at` a statement."""
        out = TRUSTED
        if condition is not None:
            for ref in condition.refs:
                out |= self.ref(ref)
            for name, *_ in condition.predicates:
                if name in self.asking:
                    out |= self.stored(ANY) | self.left(ANY)
                    out |= (
                        self.labels.of("untrusted", self.unit, at, name)
                        if self.outside and at is not None
                        else TRUSTED
                    )
                if name in LOOKING or name in self.asking:
                    out |= self.exists(ANY)
        return out

    def stored(self, pattern: Pattern) -> int:
        """What may stand in files: what this plan and those it calls wrote, and what its callers did."""
        here = self.writes.get(pattern) | self.earlier.texts.get(pattern)
        return here | self.given(FILES + spelled(pattern)) if self.called else here

    def left(self, pattern: Pattern) -> int:
        """What an earlier run may have left in files: all that this plan writes outside of the folder of its run."""
        self.looked.add(pattern)
        return self.before.get(pattern)

    def exists(self, pattern: Pattern) -> int:
        """What chose whether files are there. Below the folder of the run that is this run alone; what another run left
        elsewhere, it left without being told so by text from outside."""
        here = self.there.get(pattern) | self.earlier.there.get(pattern)
        return here | self.given(THERE + spelled(pattern)) if self.called else here

    def write(self, pattern: Pattern, label: int) -> None:
        label &= self.labels.tainting
        if label:
            self.writes.put(pattern, label)
            if not hidden(pattern):
                self.sees |= label

    def touch(self, pattern: Pattern, label: int) -> None:
        """Notes what chose whether files are there. A model may choose that."""
        label &= self.labels.outside
        if label:
            self.there.put(pattern, label)
            if not hidden(pattern):
                self.sees |= label

    def changed(self) -> tuple[int, int, int]:
        """Tells states of the files apart."""
        return self.writes.changes, self.there.changes, self.sees

    # ---- what is wrong -----------------------------------------------------------------

    def sink(
        self, label: int, sink: str, step: tree.Statement, tool: str, deep: Need | None = None
    ) -> bool:
        """Reports what may not choose; what stands for something given is left to the callers. True where it reports."""
        told = False
        if not label & self.labels.refusing[sink]:
            return told
        for atom in self.labels.refused(label, sink):
            if atom.origin is None:
                self.needs.setdefault(
                    (atom.source, sink), deep or Need(self.unit, step, tool, sink)
                )
            elif not told:
                told = True
                item = finding(atom.source, atom.origin, Need(self.unit, step, tool, sink), deep)
                self.found.setdefault((item.span, item.code, sink), item)
        return told

    # ---- steps -------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            _VISIT[type(node)](self, node)

    def bind(self, name: str | None, label: int, fields: dict[str, str] | None = None) -> None:
        if name is not None:
            self.keep(name, Name(label, fields))

    def keep(self, name: str, value: Name) -> None:
        self.trail.append((name, self.names.get(name)))
        self.names[name] = value

    def undo(self, mark: int) -> dict[str, Name]:
        """Takes back what was bound since `mark`; returns it."""
        changed = {name: self.names[name] for name, _ in self.trail[mark:]}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                del self.names[name]
            else:
                self.names[name] = before
        return changed

    def stop(self, label: int) -> None:
        """Something that a label decides may end the plan here. Where that is kept, it is a condition for what follows."""
        if self.kept:
            self.stops |= label | self.choices
            self.choices |= label

    def leave(self, outer: int) -> None:
        """Back to the conditions around; what may have stopped the plan meanwhile stays one."""
        self.choices = outer | self.stops if self.kept else outer

    def act(self, node: Act) -> None:
        arguments, tool = node.bound.arguments, node.bound.tool
        given = TRUSTED
        for parameter, sink in zip(tool.parameters, sinks(tool), strict=True):
            value = arguments.get(parameter.name)
            if value is None or "{" not in value.text:
                continue
            given |= self.value(value)
            if sink == "command":
                self.command(node, value)
            elif sink is not None:
                self.sink(self.chooses(value), sink, node.step, tool.name)
        sees = self.sees_now()
        if self.choices & self.labels.refusing["choice"] and acts(node):
            if self.sink(self.choices, "choice", node.step, tool.name):
                sees &= ~self.choices  # what it did in an earlier round is said
        if sees and executes(node):
            self.sink(sees, "code", node.step, tool.name)
        looks, left = self.looks_at(node)
        brought = given | looks | self.labels.of(tool.trust, self.unit, node.step, tool.name)
        self.fails |= brought | left | self.choices
        self.stop(self.ends(node, brought | left))
        self.put(node, brought, left)
        self.bind(node.step.bind, self.labels.cleared(brought | left, tool.clears), tool.fields)

    def sees_now(self) -> int:
        """What lies where a command sees it."""
        here = self.sees | self.earlier.sees
        return here | self.given(SEES) if self.called else here

    def looks_at(self, node: Act) -> tuple[int, int]:
        """The labels of what a step looks at beside what it is given: texts of files, and whether they are there; and of
        what an earlier run may have left in them."""
        level = "untrusted" if of_earlier_run(node) else "trusted"
        looks, left = self.labels.of(level, self.unit, node.step, node.bound.tool.name), TRUSTED
        for pattern, texts, names in reads(node):
            if texts:
                looks |= self.stored(pattern)
                left |= self.left(pattern)
                if any(meet(pattern, one) for one in self.outside):
                    looks |= self.labels.of("untrusted", self.unit, node.step, node.bound.tool.name)
            if names:
                looks |= self.exists(pattern)
        return looks, left

    def ends(self, node: Act, brought: int) -> int:
        """What decides whether a step fails: what it is given, what it looks at, and the files that it needs."""
        tool = node.bound.tool
        if (
            not self.kept
            or tool.row.get("failure") == "value"
            or tool.effect == "pure"
            and "run" not in tool.row
        ):
            return TRUSTED
        for _, value in node.bound.files:
            brought |= self.exists(pattern_of(value)) | self.stored(pattern_of(value))
        return brought

    def put(self, node: Act, brought: int, left: int) -> None:
        """Remembers what a step does to files: what it writes into them, and that it chose whether they are there.

        `left`: what it found there of an earlier run. What a command finds and keeps the sandbox holds.
        """
        moved = TRUSTED if node.bound.tool.writes_unknown else left
        for pattern, access in changes(node):
            if (
                access == "delete"
            ):  # where a file is moved, its text goes along, and it is there if the first one was
                moved |= self.stored(pattern) | self.left(pattern)
                self.touch(pattern, self.choices)
        for pattern, access in changes(node):
            for label, step in stores(
                node, self.unit.key, brought | moved, self.choices, access == "delete", self.labels
            ):
                self.store(label, frozenset((step,)))
            if access != "delete":
                self.write(pattern, brought | moved | self.choices)
                self.touch(pattern, (brought if access == "unknown" else TRUSTED) | self.choices)

    def store(self, label: int, written: frozenset[Store]) -> None:
        """Notes steps that write text into files: where it is from outside, or a caller gives it, whose matter it is then."""
        for atom in self.labels.atoms(label & self.labels.lasting):
            if atom.origin is None:
                self.stores[atom.source] = self.stores.get(atom.source, frozenset()) | written
            else:
                self.marks |= written

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
                help_ = (
                    f"put it into a variable for that command: `x={{{name}}} sh -c 'echo \"$x\"'`"
                )
                self.found.setdefault(
                    (at, "FDC473", ""), Diagnostic(at, "FDC473", message, help=help_)
                )
            self.sink(label, "command" if is_text or place.leads else "argument", node.step, tool)

    # ---- calls, loops, branches --------------------------------------------------------

    def call(self, node: Invoke) -> None:
        given = {name: self.value(value) for name, value in node.arguments.items()}
        given[CHOICES] = self.choices
        key = (node.key, *given.items())
        known = self.calls.get(key)
        now = self.changed()
        if known is None or known[0] != now:
            callee = self.summaries.get((node.key or "", self.kept), NOTHING)
            told = self.enter(node, callee, given)
            filled = self.labels.filled
            known = (
                now,
                filled(callee.result, given),
                filled(callee.fails, given),
                filled(callee.stops, given),
            )
            if not told:  # the same call again does the same, until more is written
                self.calls[key] = known
        self.fails |= known[2]
        self.stop(known[3])
        self.bind(node.call.bind, known[1])

    def enter(self, node: Invoke, callee: Summary, given: dict[str, int]) -> bool:
        """What a callee does beside its result; adds to `given` what stands in files. True where something is reported."""
        for source, pattern in callee.files:
            texts = source.startswith(FILES)
            given[source] = (
                self.stored(pattern) | self.left(pattern) if texts else self.exists(pattern)
            )
        given[SEES] = self.sees_now()
        for pattern, label in callee.writes.items():
            self.write(pattern, self.labels.filled(label, given))
        for pattern, label in callee.there.items():
            self.touch(pattern, self.labels.filled(label, given))
        self.sees |= self.labels.filled(callee.sees, given)
        for source, written in callee.stores.items():
            self.store(given.get(source, TRUSTED), written)
        told = False
        for (source, sink), deep in callee.needs.items():
            told |= self.sink(given.get(source, TRUSTED), sink, node.call, deep.tool, deep)
        return told

    def files(self) -> tuple[tuple[str, Pattern], ...]:
        """The files whose text, or whether they are there, the summary speaks of."""
        label = self.result | self.fails | self.stops | self.sees
        for written in (*self.writes.labels.values(), *self.there.labels.values()):
            label |= written
        sources = {*self.stores, *(source for source, _ in self.needs)}
        sources |= {atom.source for atom in self.labels.atoms(label & self.labels.given)}
        files = sorted(source for source in sources if source.startswith((FILES, THERE)))
        return tuple((source, read_back(source.split(":", 1)[1])) for source in files)

    def loop(self, node: Loop) -> None:
        over = self.value(node.over)
        if node.kind == "each" and node.over is not None:
            self.sink(self.chooses(node.over), "path", node.node, "for_each_file")
            over |= self.exists(pattern_of(node.over))
        self.stop(over)
        outer, result, fails = self.choices, self.result, self.fails | over | self.choices
        alone, stops = self.kept, self.stops
        gathers = getattr(node.node, "bind", None)
        self.result = TRUSTED if gathers else result
        if node.keeps:
            self.fails, self.stops, self.kept = TRUSTED, TRUSTED, True
        item = (
            over | self.labels.of("workspace", self.unit, node.node, "for_each_file")
            if node.kind == "each"
            else over
        )
        self.choices |= over | self.until.get(id(node), TRUSTED)
        again = True
        while again:
            before, mark = (self.choices, *self.changed()), len(self.trail)
            self.bind(node.name, item)
            self.bind(node.alias, item)
            self.body(node.body)
            self.choices |= self.looks(node.until, node.node)
            again = self.after_round(mark)
            again |= (self.choices, *self.changed()) != before
            self.until[id(node)] = (
                self.choices
            )  # so that loops in loops do not find it out again each time
        why = self.fails | self.stops if node.keeps else TRUSTED
        if node.keeps:
            self.stops, self.kept = stops, alone
        self.leave(outer)
        if gathers:
            gathered, self.result = self.result, result
            self.bind(gathers, gathered | over | why)
        self.fails = fails if node.keeps else self.fails | fails

    def after_round(self, mark: int) -> bool:
        """Joins what a round bound with what there was: which of them it is, the conditions say. True where that is new."""
        again = False
        for name, after in self.undo(mark).items():
            before = self.names.get(name)
            self.keep(name, self.joined(before, after, self.choices))
            again |= before is not None and self.names[name] != before
        return again

    def looks(self, condition: Condition | None, at: tree.Statement) -> int:
        """The label of a condition that may not hold, or has no meaning for the values that there are: a stop is told."""
        label = self.condition(condition, at)
        self.fails |= label | self.choices
        if condition is not None:
            self.stop(label)
        return label

    def choice(self, node: Choice) -> None:
        outer = self.choices
        self.choices |= self.looks(node.condition, node.node)
        chosen = self.choices
        mark = len(self.trail)
        self.body(node.then)
        then = self.undo(mark)
        self.body(node.orelse)
        orelse = self.undo(mark)
        for name in {**then, **orelse}:
            here = self.names.get(name)
            self.keep(name, self.joined(then.get(name, here), orelse.get(name, here), chosen))
        self.leave(outer)

    def joined(self, one: Name | None, other: Name | None, choices: int) -> Name:
        """A name after two ways: which of them it was, their conditions say; those of the caller are his to add."""
        both = merged(one, other)
        return Name(both.label | choices & ~self.entry, both.fields)

    def gate(self, node: Gate) -> None:
        """A gate stops the run or does nothing: what it looked at chooses no step that is done, unless the stop is kept."""
        self.looks(node.condition, node.node)

    def collect(self, node: Collect) -> None:
        self.result |= self.value(node.value) | self.choices & ~self.entry
        self.fails |= self.value(node.value)


_VISIT: dict[type, Callable[..., None]] = {
    Act: _Flow.act, Invoke: _Flow.call, Loop: _Flow.loop, Choice: _Flow.choice, Gate: _Flow.gate, Collect: _Flow.collect,
}  # fmt: skip
