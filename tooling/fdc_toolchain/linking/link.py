"""Text to linked plans: tools, automata and calls looked up, everything reached from the roots."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..syntax import tree, values
from ..syntax.language import complete
from ..syntax.parse import Parsed, parse
from ..syntax.parse_again import parse_again
from ..syntax.values import Malformed, Value
from ..text.suggest import did_you_mean
from .constants import fold
from .kept import NEW, Kept, KeptPlan, Statements
from .look_up import LookUp
from .model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from .project.files import SHIPPED, Files
from .project.places import Inside, leads_out
from .project.secret_files import withheld
from .project.settings import Settings
from .step_faults import StepFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Linker(LookUp):
    """Links plans of one workspace. `units` holds every plan linked so far, by key."""

    def __init__(
        self, root: str, settings: Settings, files: Files | None = None, kept: Kept | None = None
    ) -> None:
        files = files or Files(root)
        asked: set[str] = set()
        files.log = asked if kept is not None else None
        super().__init__(root, settings, files)
        files.log = None
        self.units: dict[str, Unit] = {}
        self._inside = Inside(root)
        self.kept = kept
        if kept is not None:
            kept.stand_on(self, asked)

    def link(self, key: str, data: bytes | None = None) -> Unit:
        """The unit under `key` and, in `units`, all that it reaches. `data` stands for a file not on disk."""
        work = [(key, data)]
        while work:
            current, content = work.pop()
            if current in self.units:
                continue
            asked: set[str] = set()
            self.files.log = asked
            if content is None:
                closed = self._inside.leads_out(current) or withheld(
                    self._inside, current, self.settings.secret
                )
                asked.add(current)  # also where it is not read: what a link leads to may change
                content = None if closed else self.files.read(current)
            else:
                self.files.seen[current] = content
            unit = self._unit(current, content, asked)
            self.files.log = None
            self.units[current] = unit
            work += [
                (call.key, None)
                for call in reversed(unit.calls)
                if call.key and call.key not in self.units
            ]
        return self.units[key]

    def _unit(self, key: str, data: bytes | None, asked: set[str]) -> Unit:
        """The linked plan of these bytes; a kept one is reused if nothing has changed."""
        if self.kept is None:
            unit = _Reader(self, key, data).unit
        else:
            known = self.kept.unit(self, key, data)
            if known is not None:
                return known
            reader = _Reader(self, key, data, self.kept.plans.get(key, NEW))
            unit = reader.unit
            self.kept.keep(self, unit, asked, reader.parsed, reader.statements.linked)
        unit.asked = frozenset(asked)
        return unit


def _missing_plan(linker: LookUp, key: str) -> Parsed:
    span = Span(key, 1, 1, 1, 1)
    found = closed(linker.root, key, linker.settings.secret) or Diagnostic(
        span, "FDC321", f"the file `{key}` does not exist", help="name a plan that exists"
    )
    return Parsed(None, None, [found])


def closed(root: str, key: str, more: Iterable[str]) -> Diagnostic | None:
    """The finding about a plan that is not read: a link out of the workspace, or a secret file. None for all others."""
    span = Span(key, 1, 1, 1, 1)
    if leads_out(root, key):
        message = f"`{key}` is a link that leads out of the workspace: it is not read"
        hint = "put the plan itself there, or name it by its own path"
        return Diagnostic(span, "FDC416", message, help=hint)
    if found := withheld(Inside(root), key, more):
        message = f"`{key}`: `{found.entry}` {found.what}; no plan is read from it"
        return Diagnostic(span, "FDC418", message, help="give the plan another name")
    return None


class _Reader(StepFaults):
    """Links one plan; `data` None: the file does not exist, which is the only finding."""

    def __init__(
        self, linker: LookUp, key: str, data: bytes | None, before: KeptPlan | None = None
    ) -> None:
        limits = linker.settings.limits
        parsed = (
            _missing_plan(linker, key)
            if data is None
            else parse(data, key, limits)
            if before is None or before.parsed is None
            else parse_again(before.parsed, data, key, limits)
        )
        self.parsed = parsed
        self.statements = Statements()
        unit = Unit(key, parsed.text or "", parsed.plan, name=key.removeprefix(SHIPPED))
        super().__init__(linker, unit)
        unit.diagnostics = list(parsed.diagnostics)
        self.depth = 0  # of for_each_file, which names {file1}, {file2}, ...
        self.loops: list[bool] = []  # of the loops around: does it collect what its body yields
        self.yielded: tree.Yield | None = None  # the plan's own result
        unit.packs = dict.fromkeys(linker.packs_of(key))
        if parsed.plan is not None:
            self.read_headers(parsed.plan)
        self.catalogue = linker.using(unit.packs)
        if parsed.plan is not None:
            statements = parsed.plan.statements
            unit.body = (
                self._body(statements)
                if before is None
                else self.statements.link(
                    unit, statements, before.linked_with(unit.packs), self._statement
                )
            )

    def _statement(self, node: tree.Statement) -> tuple[list[Node], bool]:
        """Links a statement; True: the result depends on the statement and the catalogue only."""
        before = self._progress()
        linked = self._body([node])
        return linked, before == self._progress()

    def _progress(self) -> tuple[int, int, tree.Yield | None, int]:
        return len(self.unit.calls), len(self.unit.diagnostics), self.yielded, self.of_unused

    def _body(self, nodes: list[tree.Statement]) -> list[Node]:
        out: list[Node] = []
        tools = self.catalogue.tools
        bind = self.linker.bind
        for node in nodes:
            if type(node) is tree.Step:
                tool = tools.get(node.tool)
                if tool is None:
                    tool = self.linker.catalogue.tools.get(node.tool)
                    if tool is None:
                        self._report_unknown_tool(node)
                        continue
                    self._report_unused_pack("tools", node.tool, self._tool_span(node))
                bound = bind(tool, node.tail, None if node.block is None else node.block.text)
                if bound.problems:
                    self._report_problems(node, bound.problems)
                act = Act(node, bound)
                self.unit.acts.append(act)
                if node.bind is not None:
                    self.unit.results.append(node.bind)
                out.append(act)
            elif not isinstance(node, tree.Comment | tree.Header | tree.Step):
                linked = _STATEMENTS[node.word](self, node)
                if linked is not None:
                    out.append(linked)
        return out

    def _call(self, node: tree.Call) -> Node | None:
        tail = values.call_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        target = tail.target
        span = self.unit.at(node, target.start, target.end)
        name = target.literal
        if name is None:
            message = f"the plan to call, `{target.text}`, is computed; every call names its plan literally"
            self.report(span, "FDC117", message, "use `if` to choose between calls")
            return None
        key, registered = self.linker.resolve(name)
        if key is None:
            note = f" (registered as `{registered}`)" if registered else ""
            if registered:
                hint = f"restore that file, or take the name away: `fdc registry deregister {name}`"
            else:
                hint = did_you_mean(name, self.linker.callable_names()) or self._path_hint(name)
            self.report(span, "FDC321", f"Sub-plan file not found: `{name}`{note}", hint)
        elif registered is not None and registered != name and self.linker.files.find(name):
            message = (
                f"the registered plan `{name}` (`{registered}`) hides the file of the same name"
            )
            self.report(span, "FDC324", message)
        if self.linker.settings.profile == "fdc":
            if tail.depth is not None:
                self.report(span, "FDC326", "the `fdc` profile refuses recursion of any depth")
            if name != "deep-research":
                self.report(
                    span,
                    "FDC326",
                    f"the `fdc` profile refuses the call of `{name}`; it allows `deep-research` only",
                )
        if tail.depth is not None and tail.depth < 1:
            self.report(span, "FDC109", "`depth` is 1 or more")
        arguments: dict[str, Value] = {}
        for argument in tail.arguments:
            assert argument.key is not None
            if argument.key in arguments:
                self.report(
                    self.unit.at(node, argument.start, argument.value.end),
                    "FDC303",
                    f"`{argument.key}` is given twice",
                )
            arguments[argument.key] = argument.value
        call = Invoke(node, key, name, arguments, tail.depth, len(self.unit.calls))
        self.unit.calls.append(call)
        if node.bind is not None:
            self.unit.results.append(node.bind)
        return call

    def _path_hint(self, name: str) -> str:
        """A hint about a plan that is called and was not found."""
        beside = posixpath.normpath(
            posixpath.join(posixpath.dirname(self.unit.key.removeprefix(SHIPPED)), name)
        )
        if not name.startswith("/") and self.linker.files.find(beside):
            return f"paths count from the workspace's root: write `{beside}`"
        if name.startswith("/") or ".." in name.split("/"):
            return "only plans of the workspace can be called: by a registered name, or by a path from its root"
        return "write its path from the workspace's root, or give a plan this name: `fdc registry register NAME PATH`"

    def _checked_bound(self, node: Any, most: int | None, word: str) -> int:
        if most is None:
            span = Span(self.unit.key, node.line, node.column, node.line, node.column + len(word))
            self.report(
                span, "FDC116", f"`{word}` does not say how often it may run", "add `max N`"
            )
            return 1
        if most < 1:
            self.report(
                self.unit.span(node),
                "FDC116",
                f"`max {most}` never runs the body; expected 1 or more",
            )
            return 1
        return most

    def _loop_body(self, nodes: list[tree.Statement], *, collects: bool) -> list[Node]:
        self.loops.append(collects)
        body = self._body(nodes)
        self.loops.pop()
        return body

    def _for_each(self, node: tree.ForEach) -> Node | None:
        tail = values.for_each_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        self.depth += 1
        alias = f"file{self.depth}"
        body = self._loop_body(node.body, collects=False)
        self.depth -= 1
        if tail.most is not None:
            self._checked_bound(node, tail.most, "for_each_file")
        self.unit.loops.update(name for name in (tail.name, alias) if name)
        return Loop(node, "each", tail.name, alias, tail.over, 0, tail.most, None, body)

    def _for(self, node: tree.For) -> Node | None:
        word = "fork" if node.fork else "for"
        tail = values.fork_tail(node.tail) if node.fork else values.for_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        most = self._checked_bound(node, tail.most, word)
        body = self._loop_body(node.body, collects=node.bind is not None)
        if node.bind is not None:
            self.unit.results.append(node.bind)
        if tail.name is not None:
            self.unit.loops.add(tail.name)
        return Loop(node, word, tail.name, None, tail.over, 0, most, None, body, tail.keeps)

    def _iterate(self, node: tree.Iterate) -> Node | None:
        tail = values.iterate_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        most = self._checked_bound(node, tail.most, "iterate")
        self._check_predicates(node, tail.until)
        body = self._loop_body(node.body, collects=False)
        known = False if tail.until is None else fold(tail.until.tree)
        return Loop(
            node,
            "iterate",
            None,
            None,
            None,
            1,
            1 if known else most,
            tail.until,
            body,
            exact=known is not None,
        )

    def _if(self, node: tree.If) -> Node | None:
        tail = values.if_tail(node.tail)
        before = self.yielded
        then = self._body(node.body)
        after, self.yielded = self.yielded, before
        orelse = self._body(node.orelse)
        self.yielded = after or self.yielded
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Choice(node, None, None, then, orelse)
        self._check_predicates(node, tail)
        return Choice(node, tail, fold(tail.tree), then, orelse)

    def _require(self, node: tree.Require) -> Node | None:
        tail = values.require_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Gate(node, None, "")
        self._check_predicates(node, tail.condition)
        return Gate(node, tail.condition, tail.why, fold(tail.condition.tree))

    def _yield(self, node: tree.Yield) -> Node | None:
        span = Span(self.unit.key, node.line, node.column, node.line, node.column + len("yield"))
        if self.loops and not self.loops[-1]:
            help_ = "bind the loop's results: `NAME <- for ...` or `NAME <- fork ...`"
            self.report(span, "FDC327", "the loop around this `yield` collects nothing", help_)
        elif not self.loops:
            if self.yielded is not None:
                labels = (Label(self.unit.span(self.yielded), "the first one"),)
                self.report(
                    span,
                    "FDC327",
                    "a plan has one result; this is its second `yield`",
                    labels=labels,
                )
            self.yielded = node
        tail = values.yield_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Collect(node, None)
        return Collect(node, tail)


_STATEMENTS: dict[str, Callable[[_Reader, Any], Node | None]] = {
    "call_plan": _Reader._call,
    "for_each_file": _Reader._for_each,
    "for": _Reader._for,
    "fork": _Reader._for,
    "iterate": _Reader._iterate,
    "if": _Reader._if,
    "require": _Reader._require,
    "yield": _Reader._yield,
}
complete(_STATEMENTS, "meaning in linking/link.py", header=False)
