"""The flow of text from outside through one plan: what its result is made of, and which of its inputs choose something.

Every plan is looked at once. Its summary says what its result is made of, which of its inputs choose something
in it, and what it does to files, all in terms of what it is given; a caller fills in what it gives. Branches
join, loops are gone round until nothing changes, and files are remembered by their paths: what stands in them, and
who chose whether they are there. What a condition lets through decides which steps are done, so it flows into
everything below it, and after it into every name and file that is another one where the condition is another.

Where a fork keeps failures, its result holds their reasons: the words of any tool that a branch uses, and what it
was asked; a value that could not be used. So it is made of all that a branch looks at. And a failure no end exists:
a gate, or a step that may fail, is a condition for what follows in the branch. A plan that is called in such a branch
has a second summary. Elsewhere a gate or a failure stops the run, and makes nothing be done.

A command may execute what it can see. So what it can see, at the moment when it begins, must not be from outside; but
for commands that only look at data.
"""

from __future__ import annotations

from collections.abc import Callable

from ....diagnostics.diagnostic import Diagnostic
from ....diagnostics.span import Span
from ....linking.commands import pieces
from ....linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ....syntax import tree
from ....syntax.values import Condition, Value
from .bound_names import BoundNames
from .earlier import Earlier, of_earlier_run, stores
from .file_taint import ANY, Pattern, pattern_of
from .labels import CHOICES, DECIDES, SEES, TRUSTED, Labels, sum_of
from .need import Need, finding, not_one_word
from .plan_files import PlanFiles
from .summary import NOTHING, Name, Store, Summary, merged
from .touched import acts, adds, changes, executes, opened, reads, sinks, started

Key = tuple[str, bool]
"""A plan, and whether it runs where its failures are kept."""


class PlanFlow:
    """One plan. `bound`: its names; `disk`: its files; `choices`: the label of the conditions around.

    `called`: a plan here calls it. `outside`: the files that hold text from outside before anything runs, as the settings
    say; `earlier`: those that earlier runs wrote. `marks`, `stores`: the steps that write such text into files.
    `asking`: the predicates that are Python functions of the workspace, which may look at any file.
    `kept`: what stops it, or the branch that is looked at, does not stop the run. `stops`: what decides whether it stops.
    """

    def __init__(
        self,
        unit: Unit,
        summaries: dict[Key, Summary],
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
        self.kept = kept
        self.disk = PlanFiles(labels, earlier, outside, called=called)
        self.asking = asking
        self.marks: set[Store] = set()
        self.stores: dict[str, frozenset[Store]] = {}
        self.bound = BoundNames(unit)
        self.until: dict[int, int] = {}
        self.choices = TRUSTED
        self.result = TRUSTED
        self.fails = TRUSTED
        self.stops = TRUSTED
        self.needs: dict[tuple[str, str], Need] = {}
        self.calls: dict[tuple[object, ...], tuple[tuple[int, int, int], int, int, int]] = {}
        self.found: dict[tuple[Span, str, str], Diagnostic] = {}

    def summary(self) -> Summary:
        """The plan in terms of what it is given. Gone through again where another run left more in files that are read."""
        self.entry = self.disk.given(CHOICES)
        while True:
            self.bound.begin({name: Name(self.disk.given(name), None) for name in self.unit.params})
            self.calls, self.choices = {}, self.entry
            self.disk.begin()
            self.body(self.unit.body)
            if self.disk.settled():
                writes, there = self.disk.writes.labels, self.disk.there.labels
                made = (
                    self.result,
                    self.needs,
                    writes,
                    there,
                    self.disk.sees,
                    self.fails,
                    self.stops,
                )
                sources = {*self.stores, *(source for source, _ in self.needs)}
                files = self.disk.files(self.result | self.fails | self.stops, sources)
                return Summary(*made, files, self.stores)

    def condition(self, condition: Condition | None, at: tree.Statement) -> int:
        """The label of a condition, which stands `at` a statement."""
        out = TRUSTED
        if condition is not None:
            for ref in condition.refs:
                out |= self.bound.ref(ref)
            for name, *_ in condition.predicates:
                if name in self.asking:
                    out |= self.disk.exists(ANY) | self.disk.holds(ANY, (self.unit, at, name))
        return out

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
                way = (
                    self.disk.shown_by(self.labels.bit(atom))
                    if sink in ("code", "choice")
                    else None
                )
                item = finding(
                    atom.source, atom.origin, Need(self.unit, step, tool, sink), deep, way
                )
                self.found.setdefault((item.span, item.code, sink), item)
        return told

    # ---- steps -------------------------------------------------------------------------

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            _VISIT[type(node)](self, node)

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
        given = chooses = TRUSTED
        for parameter, sink in zip(tool.parameters, sinks(tool), strict=True):
            value = arguments.get(parameter.name)
            if value is None or "{" not in value.text:
                continue
            label = self.bound.value(value)
            given, chooses = given | label, chooses | (TRUSTED if sink is None else label)
            if sink == "command":
                self.command(node, value)
            elif sink is not None:
                chosen = self.bound.words(value) if sink == "message" else label
                self.sink(chosen, sink, node.step, tool.name)
        sees = self.disk.sees_now()
        if self.choices & self.labels.refusing["choice"] and acts(node):
            if self.sink(self.choices, "choice", node.step, tool.name):
                sees &= ~self.choices  # what it did in an earlier round is said
        added = sum_of(self.bound.value(value) for value in adds(node))
        self.sink(self.labels.deciding(added), "choice", node.step, tool.name)
        code = sum_of(self.disk.stored(one) for one in started(node))
        self.sink(code | (sees if executes(node) else TRUSTED), "code", node.step, tool.name)
        (looks, left), (held, moved) = self.looks_at(node), self.opens(node)
        said = self.labels.of(tool.trust, self.unit, node.step, tool.name)
        brought = given | looks | said
        result = brought | left | held
        self.fails |= result | self.choices
        self.stop(self.ends(node, result))
        decides = chooses | looks | said | moved & self.labels.refusing["path"]
        self.put(node, brought | moved, left, self.labels.deciding(decides))
        label = self.labels.cleared(result, tool.clears)
        own = frozenset(tool.row.get("own", ()))
        inner = self.labels.cleared(given | looks | left, tool.clears) if own else TRUSTED
        self.bound.bind(node.step.bind, Name(label, tool.fields, own, inner))

    def looks_at(self, node: Act) -> tuple[int, int]:
        """The labels of what a step looks at beside what it is given: texts of files, and whether they are there; and of
        what an earlier run may have left in them."""
        level = "untrusted" if of_earlier_run(node) else "trusted"
        where = self.unit, node.step, node.bound.tool.name
        looks, left = self.labels.of(level, *where), TRUSTED
        for pattern, texts, names in reads(node):
            if texts:
                looks |= self.disk.stored(pattern) | self.disk.of_others(pattern, where)
                left |= self.disk.left(pattern)
            if names:
                looks |= self.disk.exists(pattern)
        return looks, left

    def opens(self, node: Act) -> tuple[int, int]:
        """The label of files that a step can open because it can change them, and of those whose text may come into others."""
        held = moved = TRUSTED
        for pattern, there, stays in opened(node):
            one = self.disk.holds(pattern, (self.unit, node.step, node.bound.tool.name))
            one |= self.disk.exists(pattern) if there else TRUSTED
            held, moved = held | one, moved | (TRUSTED if stays else one)
        return held, moved

    def ends(self, node: Act, brought: int) -> int:
        """What decides whether a step fails: what it is given, what it looks at, and the files that it needs."""
        tool = node.bound.tool
        pure = tool.effect == "pure" and "run" not in tool.row
        if not self.kept or pure or tool.row.get("failure") == "value":
            return TRUSTED
        where = self.unit, node.step, tool.name
        for how, pattern in ((how, pattern_of(value)) for how, value in node.bound.files):
            brought |= self.disk.exists(pattern)
            if how not in ("write", "delete"):
                brought |= self.disk.stored(pattern) | self.disk.of_others(pattern, where)
        return brought

    def put(self, node: Act, brought: int, left: int, decides: int) -> None:
        """Remembers what a step does to files: what it writes into them, and that it chose whether they are there.

        What chose a path decided so about every file that it may be. `left`: what it found there of an earlier run. What a
        command finds and keeps the sandbox holds. `decides`: what decides which of the files that it may write it writes.
        """
        self.disk.at, choices = node.step, self.choices
        for access, value in node.bound.files:
            if access != "read":
                choices |= self.labels.deciding(self.bound.value(value))
        moved = TRUSTED if node.bound.tool.writes_unknown else left
        for pattern, access in changes(node):
            if access == "delete":  # a file that is moved takes its text along
                moved |= self.disk.holds(pattern, (self.unit, node.step, node.bound.tool.name))
                self.disk.touch(pattern, choices)
        for pattern, access in changes(node):
            for label, step in stores(
                node, self.unit.key, brought | moved, choices, access == "delete", self.labels
            ):
                self.store(label, frozenset((step,)))
            if access != "delete":
                there = choices | (decides if access == "unknown" else TRUSTED)
                self.disk.write(pattern, brought | moved | there)
                self.disk.touch(pattern, there)

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
            if ref.path[0] not in self.bound.known:
                continue
            label = self.bound.ref(ref)
            if place.wrong is not None and not is_text:
                at = self.unit.at(node.step, ref.start, ref.end)
                self.found.setdefault((at, "FDC473", ""), not_one_word(at, ref, place.wrong))
            self.sink(label, "command" if is_text or place.leads else "argument", node.step, tool)

    # ---- calls, loops, branches --------------------------------------------------------

    def call(self, node: Invoke) -> None:
        given = {name: self.bound.value(value) for name, value in node.arguments.items()}
        given[CHOICES] = self.choices
        key = (node.key, *given.items())
        known = self.calls.get(key)
        now = self.disk.changed()
        if known is None or known[0] != now:
            callee = self.summaries.get((node.key or "", self.kept), NOTHING)
            told = self.enter(node, callee, given)
            filled = self.labels.filled
            ends = filled(callee.fails, given), filled(callee.stops, given)
            known = (now, filled(callee.result, given), *ends)
            if not told:  # the same call again does the same, until more is written
                self.calls[key] = known
        self.fails |= known[2]
        self.stop(known[3])
        self.bound.bind(node.call.bind, Name(known[1], None))

    def enter(self, node: Invoke, callee: Summary, given: dict[str, int]) -> bool:
        """What a callee does beside its result; adds to `given` what stands in files. True where something is reported."""
        for source, pattern in callee.files:
            given[source] = self.disk.of_source(source, pattern)
        given[SEES] = self.disk.sees_now()
        given |= {DECIDES + name: self.labels.deciding(label) for name, label in given.items()}
        self.disk.at = node.call
        for pattern, label in callee.writes.items():
            self.disk.write(pattern, self.labels.filled(label, given))
        for pattern, label in callee.there.items():
            self.disk.touch(pattern, self.labels.filled(label, given))
        self.disk.sees |= self.labels.filled(callee.sees, given)
        for source, written in callee.stores.items():
            self.store(given.get(source, TRUSTED), written)
        told = False
        for (source, sink), deep in callee.needs.items():
            told |= self.sink(given.get(source, TRUSTED), sink, node.call, deep.tool, deep)
        return told

    def loop(self, node: Loop) -> None:
        over, item = self.bound.items(node.over)
        if node.kind == "each" and node.over is not None:
            self.sink(self.bound.value(node.over), "path", node.node, "for_each_file")
            over |= self.disk.exists(pattern_of(node.over))
            found = over | self.labels.of("workspace", self.unit, node.node, "for_each_file")
            item = Name(found, None)
        self.stop(over)
        outer, result, fails = self.choices, self.result, self.fails | over | self.choices
        alone, stops = self.kept, self.stops
        gathers = getattr(node.node, "bind", None)
        self.result = TRUSTED if gathers else result
        if node.keeps:
            self.fails, self.stops, self.kept = TRUSTED, TRUSTED, True
        self.choices |= over | self.until.get(id(node), TRUSTED)
        again = True
        while again:
            before, mark = (self.choices, *self.disk.changed()), len(self.bound.trail)
            self.bound.bind(node.name, item)
            self.bound.bind(node.alias, item)
            self.body(node.body)
            self.choices |= self.looks(node.until, node.node)
            again = self.after_round(mark)
            again |= (self.choices, *self.disk.changed()) != before
            # so that loops in loops do not find it out again each time
            self.until[id(node)] = self.choices
        why = self.fails | self.stops if node.keeps else TRUSTED
        if node.keeps:
            self.stops, self.kept = stops, alone
        self.leave(outer)
        if gathers:
            gathered, self.result = self.result, result
            self.bound.bind(gathers, Name(gathered | over | why, None))
        self.fails = fails if node.keeps else self.fails | fails

    def after_round(self, mark: int) -> bool:
        """Joins what a round bound with what there was: which of them it is, the conditions say. True where that is new."""
        again = False
        for name, after in self.bound.undo(mark).items():
            before = self.bound.names.get(name)
            self.bound.keep(name, self.joined(before, after, self.choices))
            again |= before is not None and self.bound.names[name] != before
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
        mark = len(self.bound.trail)
        self.body(node.then)
        then = self.bound.undo(mark)
        self.body(node.orelse)
        orelse = self.bound.undo(mark)
        for name in {**then, **orelse}:
            here = self.bound.names.get(name)
            self.bound.keep(name, self.joined(then.get(name, here), orelse.get(name, here), chosen))
        self.leave(outer)

    def joined(self, one: Name | None, other: Name | None, choices: int) -> Name:
        """A name after two ways: which of them it was, their conditions say; those of the caller are his to add."""
        both = merged(one, other)
        here = choices & ~self.entry
        return Name(both.label | here, both.fields, both.own, both.inner | here)

    def gate(self, node: Gate) -> None:
        """A gate stops the run or does nothing: what it looked at chooses no step that is done, unless the stop is kept."""
        self.looks(node.condition, node.node)

    def collect(self, node: Collect) -> None:
        self.result |= self.bound.value(node.value) | self.choices & ~self.entry
        self.fails |= self.bound.value(node.value)


_VISIT: dict[type, Callable[..., None]] = {
    Act: PlanFlow.act,
    Invoke: PlanFlow.call,
    Loop: PlanFlow.loop,
    Choice: PlanFlow.choice,
    Gate: PlanFlow.gate,
    Collect: PlanFlow.collect,
}
