"""Diffs of SEARCH and REPLACE sections: whether each fits the file when its step comes to it (FDC484, FDC713).

A diff fits certainly where the file is known: it is as the workspace has it, or as earlier diffs of known text leave it, and
neither another round of a loop nor another branch changes it. One that certainly does not fit is an error. Everything
else is an assumption. Each root is walked in the order of its text, which is the order of the first round of every loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Invoke, Loop, Node, Unit
from ..named_tuples import NamedTuple, new_tuple
from ..syntax.values import Value
from ..text import merge_diff
from ..text.glob_match import plain
from .solver.flow import programs
from .solver.rule import Context

QUIET = frozenset(("step_op", "submit_op", "close_op", "plan_op"))
"""Actions of tools that do not change files of the workspace."""

CHANGES = frozenset(("create", "write", "edit", "delete"))

_HELP = "make this change before the steps that may change the file, or replace the whole file"


class Changes(NamedTuple):
    """The paths that steps may change: some, or any."""

    paths: frozenset[str]
    anything: bool

    def __or__(self, other: Changes) -> Changes:
        return Changes(self.paths | other.paths, self.anything or other.anything)


NOTHING = Changes(frozenset(), False)
ANYTHING = Changes(frozenset(), True)


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root, in the root: the place of a diff in a called plan is the call."""
    reach = Reach(context)
    for instance, _ in context.roots:
        if reach.diffs(instance):
            yield from _Walk(context, reach, instance).found()


def changes(unit: Unit, act: Act) -> Changes:
    """The paths that one step may change."""
    tool = act.bound.tool
    paths = set()
    for access, value in act.bound.files:
        if access in CHANGES:
            path = literal(unit, value)
            if path is None:
                return ANYTHING
            paths.add(plain(path))
    if paths:
        return Changes(frozenset(paths), False)
    if tool.effect in ("pure", "read") or tool.action in QUIET:
        return NOTHING
    told = bool(tool.parameters) and all(
        item.sink in ("user", "message") for item in tool.parameters
    )
    return NOTHING if told else ANYTHING


def literal(unit: Unit, value: Value) -> str | None:
    """The text of an argument, where no name that the plan binds is in it."""
    found = value.literal
    if found is not None or value.end:  # in a text block, what nothing binds is text
        return found
    names = unit.names
    if any(ref.path[0] in names for ref in value.refs):
        return None
    return "".join(
        part if isinstance(part, str) else "{" + ".".join(part.path) + "}" for part in value.parts
    )


def place(unit: Unit, act: Act, value: Value) -> Span:
    """The position of an argument: its words, or the beginning of the step's block."""
    block = act.step.block
    if block is not None and value.end == 0:
        return Span(unit.key, block.line, block.column, block.line, block.column + 1)
    return unit.at(act.step, value.start, value.end)


class Reach:
    """The effects of plans and of the plans that they call, each computed once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._diffs: dict[int, tuple[tuple[Unit, Act, Value], ...]] = {}
        self._changes: dict[int, Changes] = {}
        self._bodies: dict[tuple[int, int], Changes] = {}
        self.with_diffs: set[int] = set()  # the ids of bodies that have diffs, or calls with diffs
        self._assumptions: dict[tuple[int, bool], tuple[Span, str, tuple[Label, ...]]] = {}
        self._within = 0  # plans of which it is not known yet what they change
        self.diff: dict[int, Value] = {}
        """By the id of a step whose failure stops the run: its diff, once `diffs` has looked at the plan."""

    def diffs(self, instance: Instance) -> tuple[tuple[Unit, Act, Value], ...]:
        """The diffs in a plan and in all that it calls."""
        found = self._diffs.get(id(instance))
        if found is None:
            self._diffs[id(instance)] = ()
            out: dict[int, tuple[Unit, Act, Value]] = {}
            for tool, acts in self._context.by_tool[instance.unit.key]:
                name = next((item.name for item in tool.parameters if item.form == "sections"), "")
                for act in acts if name and tool.row.get("failure") != "value" else ():
                    diff = act.bound.arguments.get(name)
                    if diff is not None:
                        out[id(act)] = instance.unit, act, diff
                        self.diff[id(act)] = diff
            for callee in instance.callees:
                if callee is not None:
                    out |= {id(one[1]): one for one in self.diffs(callee)}
            found = self._diffs[id(instance)] = tuple(out.values())
        return found

    def plan(self, instance: Instance) -> Changes:
        """What a plan, and all that it calls, may change."""
        found = self._changes.get(id(instance))
        if found is None:
            self._changes[id(instance)] = ANYTHING  # of a plan below itself
            self._within += 1
            found = self._changes[id(instance)] = self._body(instance, instance.unit.body)
            self._within -= 1
        return found

    def body(self, instance: Instance, nodes: list[Node]) -> Changes:
        """What a body of a plan may change."""
        if self._within:
            return self._body(instance, nodes)
        key = id(instance), id(nodes)
        found = self._bodies.get(key)
        if found is None:
            found = self._bodies[key] = self._body(instance, nodes)
        return found

    def _body(self, instance: Instance, nodes: list[Node]) -> Changes:
        out, diffs = NOTHING, False
        for node in nodes:
            if type(node) is Act:
                done = changes(instance.unit, node)
                if done is not NOTHING:
                    out |= done
                diffs = diffs or id(node) in self.diff
            elif isinstance(node, Loop | Choice):
                for part in (node.body,) if isinstance(node, Loop) else (node.then, node.orelse):
                    out |= self.body(instance, part)
                    diffs = diffs or id(part) in self.with_diffs
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    out |= self.plan(callee)
                    diffs = diffs or bool(self.diffs(callee))
        if diffs:
            self.with_diffs.add(id(nodes))
        return out

    def assumption(
        self, unit: Unit, act: Act, value: Value, *, called: bool
    ) -> tuple[Span, str, tuple[Label, ...]]:
        """The place, the message and the labels of the assumption about a diff; `called`: in a plan that is called."""
        found = self._assumptions.get((id(act), called))
        if found is None:
            path = next((one for access, one in act.bound.files if access == "edit"), None)
            parts = () if path is None else path.parts
            shown = "".join(
                part if isinstance(part, str) else "{" + ".".join(part.path) + "}" for part in parts
            )
            step, where = unit.span(act.step), place(unit, act, value)
            named = f"the step in {step.path}:{step.line} are" if called else "this step are"
            message = (
                f"the SEARCH lines of {named} in `{shown}` exactly once when the run reaches it"
            )
            said = called or where.line != step.line
            labels = (Label(step, "this step"),) if said else ()
            found = self._assumptions[id(act), called] = where, message, labels
        return found


class _Walk:
    """Walks a root. `texts` is what is known of files that were changed (None: nothing); `others` what other rounds
    and branches may change meanwhile."""

    def __init__(self, context: Context, reach: Reach, instance: Instance) -> None:
        self.context = context
        self.reach = reach
        self.instance = instance
        self.texts: dict[str, str | None] = {}
        self.anything = False
        self.last = NOTHING  # what was put into `texts` last, once more of which changes nothing
        self.others = NOTHING
        self.kept = 0
        self.out: list[Diagnostic] = []
        self.walked: set[int] = set()
        self.assumed: set[tuple[int, Span]] = set()  # of which plan, at which call of the root

    def found(self) -> list[Diagnostic]:
        self.body(self.instance, self.instance.unit.body, None)
        return self.out

    def body(self, instance: Instance, nodes: list[Node], call: Span | None) -> None:
        """Walks a body; `call` is the call in the root that leads here."""
        for node in nodes:
            if type(node) is Act:
                diff = self.reach.diff.get(id(node))
                if diff is None or not self.look(instance.unit, node, diff, call):
                    self.change(changes(instance.unit, node))
            elif isinstance(node, Loop):
                self.loop(instance, node, call)
            elif isinstance(node, Choice):
                self.choice(instance, node, call)
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    self.call(callee, call or instance.unit.span(node.call))

    def loop(self, instance: Instance, node: Loop, call: Span | None) -> None:
        inside, before = self.reach.body(instance, node.body), self.others
        self.others |= inside
        if node.kind == "fork" and node.most != 1:  # another branch may be ahead
            self.change(inside)
        if id(node.body) in self.reach.with_diffs:
            self.kept += node.keeps
            self.body(instance, node.body, call)
            self.kept -= node.keeps
        self.others = before
        self.change(inside)

    def choice(self, instance: Instance, node: Choice, call: Span | None) -> None:
        texts, anything = dict(self.texts), self.anything
        inside = NOTHING
        for condition, nodes in ((True, node.then), (False, node.orelse)):
            if node.known is not (not condition):
                inside |= self.reach.body(instance, nodes)
                if id(nodes) in self.reach.with_diffs:
                    self.texts, self.anything, self.last = dict(texts), anything, NOTHING
                    self.body(instance, nodes, call)
        self.texts, self.anything, self.last = texts, anything, NOTHING
        self.change(inside)

    def call(self, callee: Instance, call: Span) -> None:
        if not self.reach.diffs(callee):
            self.change(self.reach.plan(callee))
        elif id(callee) in self.walked:  # what is known may be other than the first time
            if not self.kept and (id(callee), call) not in self.assumed:
                self.assumed.add((id(callee), call))
                for unit, act, diff in self.reach.diffs(callee):
                    self.assume(unit, act, diff, call)
            self.change(self.reach.plan(callee))
        else:
            self.walked.add(id(callee))
            self.body(callee, callee.unit.body, call)

    def change(self, done: Changes) -> None:
        if done is not NOTHING and done is not self.last:
            self.anything |= done.anything
            self.texts |= dict.fromkeys(done.paths)
            self.last = done

    def look(self, unit: Unit, act: Act, value: Value, call: Span | None) -> bool:
        """Checks a diff. True if the resulting text is known."""
        path = next(
            (literal(unit, one) for access, one in act.bound.files if access == "edit"), None
        )
        diff = literal(unit, value)
        text = None if path is None or diff is None else self.content(unit, path)
        if path is None or diff is None or text is None:
            self.assume(unit, act, value, call)
            return False
        try:
            merge_diff.sections(diff)
        except merge_diff.NoMerge:
            return False  # said of the text already
        try:
            after, _ = merge_diff.apply(text, diff)
        except merge_diff.NoMerge as no:
            help_ = (
                "copy complete lines from the file, with their indentation (a text block loses the"
                " indentation that all its lines have), enough of them to be unique"
            )
            message = f"the step fails with `{path}` as it is at that point: {no}"
            where = place(unit, act, value)
            labels = () if call is None else (Label(where, "this step"),)
            self.out.append(Diagnostic(call or where, "FDC484", message, labels, help=help_))
            return False
        if self.others.anything or plain(path) in self.others.paths:
            self.assume(unit, act, value, call)
        self.texts[plain(path)], self.last = after, NOTHING
        return True

    def assume(self, unit: Unit, act: Act, value: Value, call: Span | None) -> None:
        """An assumption; none if the failure is kept, because the run then continues."""
        if self.kept:
            return
        where, message, labels = self.reach.assumption(unit, act, value, called=call is not None)
        # one a call and diff, which can be very many
        fields = (call or where, "FDC713", message, labels, (), _HELP, None, None)
        self.out.append(new_tuple(Diagnostic, fields))

    def content(self, unit: Unit, path: str) -> str | None:
        """The text of a file at this point of the run, if it is known. The verdict depends on it; the program does not."""
        name = plain(path)
        if name in self.texts:
            return self.texts[name]
        if self.anything or not programs.inside(path):
            return None
        files = self.context.linker.files
        known = path in files.seen
        try:
            data = files.read(path)
        except OSError:
            return None
        if not known:
            del files.seen[path]
        self.instance.unit.asked |= {path}
        unit.asked |= {path}
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None
