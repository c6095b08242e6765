"""Text to linked plans: tools, automata and calls looked up, everything reached from the roots.

One look-up serves the linter and, through the program, the runner (FDC-28, FDC-41): a call's
name is sought in the workspace's registry, then among the shipped plans, then as a path of
the workspace, then as a shipped path. Files are read once, through `files.Files`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from ..automata.load import load as load_automaton
from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic, Edit, Fix, Label
from ..diagnostics.span import Span
from ..packs.index import index
from ..syntax import tree, values
from ..syntax.keyword_hints import assignment
from ..syntax.parse import Parsed, parse
from ..syntax.values import Malformed, Value
from ..text.suggest import did_you_mean
from .bind import Binder
from .catalogue import ANY_NUMBER, Catalogue, read_catalogue
from .constants import fold
from .model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Param, Unit
from .project.files import SHIPPED, Files
from .project.outside_files import Row, active
from .project.settings import Settings
from .registry import REGISTRY, read_registry, shipped_registry

_DIRECTIVE = re.compile(r"#\s*FSM:\s*(.*\S)\s*")
MEASURES = ("steps", "model_calls", "tokens", "money", "seconds")
MOST_HINTS = 200
"""Unknown tools for which the one that was meant is looked for; that takes a while for each."""

_ALLOW = ("read", "write", "run", "net")


class Linker:
    """Links plans of one workspace. `units` holds every plan linked so far, by key."""

    def __init__(self, root: str, settings: Settings, files: Files | None = None) -> None:
        self.root = root
        self.settings = settings
        self.files = files or Files(root)
        self.units: dict[str, Unit] = {}
        self.diagnostics: list[Diagnostic] = []
        self.catalogue: Catalogue
        self.catalogue, found = read_catalogue(settings.catalogues, self.files.read)
        self.diagnostics += found
        if settings.stated_catalogues:
            for name in settings.catalogues:
                if self.files.read(name) is None:
                    span = Span(name, 1, 1, 1, 1)
                    self.diagnostics.append(
                        Diagnostic(span, "FDC308", f"the catalogue `{name}` does not exist")
                    )
        self.registry, found = read_registry(self.files.read(REGISTRY), REGISTRY)
        self.diagnostics += found
        self.shipped = shipped_registry()
        self.bind = Binder().bind
        self.obligations: tuple[
            Any, ...
        ] = ()  # of `obligations.Obligation`, read where there are protocols
        sources = self.files.protocols(settings.protocols) if settings.protocols else []
        if sources:
            from .protocol_rules import Workspace, read_obligations

            workspace = Workspace(self.files.read, self._automaton_key, self.catalogue)
            self.obligations = read_obligations(sources, workspace, self.diagnostics)
        self._outside: tuple[Row, ...] | None = None
        self._nearest: dict[str, str | None] = {}
        self._automata: dict[str, tuple[Automaton | None, list[Diagnostic]]] = {}

    @property
    def outside(self) -> tuple[Row, ...]:
        """The files that hold text from outside which earlier runs wrote. Raises OSError where nobody can tell."""
        if self._outside is None:
            self._outside = active(self.files)
        return self._outside

    # ---- plans -------------------------------------------------------------------------

    def link(self, key: str, data: bytes | None = None) -> Unit:
        """The unit under `key` and, in `units`, all that it reaches. `data` stands for a file not on disk."""
        work = [(key, data)]
        while work:
            here, content = work.pop()
            if here in self.units:
                continue
            asked: set[str] = set()
            self.files.log = asked
            if content is None:
                content = self.files.read(here)
            else:
                self.files.seen[here] = content
            unit = _Reader(self, here, content).unit
            unit.asked = frozenset(asked)
            self.files.log = None
            self.units[here] = unit
            work += [
                (call.key, None)
                for call in reversed(unit.calls)
                if call.key and call.key not in self.units
            ]
        return self.units[key]

    def resolve(self, name: str) -> tuple[str | None, str | None]:
        """(key, the registered path if it came from a registry) of a call's name."""
        path = self.registry.resolve(name)
        if path is not None:
            key = posixpath.normpath(path)
            return (key if self.files.read(key) is not None else None), path
        path = self.shipped.resolve(name)
        if path is not None and self.files.find(path):
            return self.files.find(path), path
        return self.files.find(name), None

    def callable_names(self) -> list[str]:
        """Every registered name."""
        return sorted({*self.registry.entries, *self.shipped.entries})

    def nearest_tool(self, word: str) -> str | None:
        """The help for an unknown tool; none for the many of a text that is no plan at all."""
        if word not in self._nearest and len(self._nearest) < MOST_HINTS:
            self._nearest[word] = did_you_mean(word, [*self.catalogue.tools, *tree.WORDS])
        return self._nearest.get(word)

    # ---- automata ----------------------------------------------------------------------

    def automaton(self, reference: str) -> tuple[str | None, Automaton | None, list[Diagnostic]]:
        """(key, automaton, findings) of a path, or of a name: `tooling/NAME_fsm.json`, `tooling/NAME.json`, a pack's."""
        key = self._automaton_key(reference)
        if key is None:
            return None, None, []
        if key not in self._automata:
            self._automata[key] = load_automaton(self.files.read(key) or b"", key)
        return key, *self._automata[key]

    def _automaton_key(self, reference: str) -> str | None:
        candidates = [reference]
        if "/" not in reference and not reference.endswith(".json"):
            candidates = [f"tooling/{reference}_fsm.json", f"tooling/{reference}.json", reference]
            candidates += [index().automata[reference]] if reference in index().automata else []
        return next((key for key in map(self.files.find, candidates) if key is not None), None)

    def automaton_findings(self, keys: Iterable[str] | None = None) -> list[Diagnostic]:
        """What is wrong with the automata under `keys`, or with all that were looked at."""
        wanted = self._automata if keys is None else [key for key in keys if key in self._automata]
        return [item for key in wanted for item in self._automata[key][1]]


def _missing(key: str) -> Parsed:
    span = Span(key, 1, 1, 1, 1)
    return Parsed(
        None,
        None,
        [Diagnostic(span, "FDC321", f"there is no file `{key}`", help="name a plan that exists")],
    )


class _Reader:
    """Links one plan; `data` None: there is no such file, which is all that is said of it."""

    def __init__(self, linker: Linker, key: str, data: bytes | None) -> None:
        self.linker = linker
        parsed = _missing(key) if data is None else parse(data, key, linker.settings.limits)
        self.unit = unit = Unit(key, parsed.text or "", parsed.plan, name=key.removeprefix(SHIPPED))
        unit.diagnostics = self.found = list(parsed.diagnostics)
        self.depth = 0  # of for_each_file, which names {file1}, {file2}, ...
        self.loops: list[bool] = []  # of the loops around: does it collect what its body yields
        self.yielded: tree.Yield | None = None  # the plan's own result
        if parsed.plan is not None:
            self._headers(parsed.plan)
            unit.body = self._body(parsed.plan.statements)

    def report(
        self, span: Span, code: str, message: str, help: str | None = None, **more: Any
    ) -> None:
        self.found.append(Diagnostic(span, code, message, help=help, **more))

    def malformed(self, node: Any, wrong: Malformed) -> None:
        self.report(self.unit.at(node, wrong.start, wrong.end), "FDC109", wrong.message, wrong.help)

    # ---- headers -----------------------------------------------------------------------

    def _headers(self, plan: tree.Plan) -> None:
        first = True
        for node in plan.statements:
            if type(node) is tree.Comment:
                match = _DIRECTIVE.fullmatch(node.text)
                if match:
                    if not first:
                        message = "`# FSM:` below the first line; it is read only there"
                        self.report(
                            self.unit.span(node),
                            "FDC112",
                            message,
                            "move it to the first line, or write `use fsm PATH`",
                        )
                    start = node.column + match.start(1)
                    span = Span(self.unit.key, node.line, start, node.line, start + len(match[1]))
                    self._automaton(match[1], span)
            elif type(node) is tree.Header:
                getattr(self, f"_{node.keyword}")(node)
            first = False

    def _automaton(self, reference: str, span: Span, *, part: bool = False) -> None:
        """The automaton that governs the plan or, with `part`, the plans that call it."""
        before = self.unit.stated or self.unit.part
        if before is not None:
            self.report(
                span,
                "FDC111",
                "the automaton is named twice",
                labels=(Label(before, "first named here"),),
            )
            return
        if part:
            self.unit.part = span
        else:
            self.unit.stated = span
        key, automaton, found = self.linker.automaton(reference)
        if key is None:
            message = f"the automaton `{reference}` does not exist"
            self.report(
                span,
                "FDC201",
                message,
                "expected a path in the workspace, or a name for `tooling/NAME_fsm.json`",
            )
            return
        self.unit.reads = (*self.unit.reads, key)
        if automaton is None:
            labels = tuple(Label(item.span, item.message) for item in found[:3])
            self.report(span, "FDC202", f"the automaton `{reference}` is malformed", labels=labels)
            return
        stands_in = (
            key.startswith(SHIPPED)
            and not self.unit.key.startswith(SHIPPED)
            and reference.endswith(".json")
        )
        if (
            stands_in and reference != self.linker.settings.fsm
        ):  # which governs plans that name none, too
            message = f"the automaton `{reference}` is the one that comes with fdc; the workspace has no file of that path"
            self.report(
                span, "FDC711", message, f"put the automaton that you mean at `{reference}`"
            )
        if part:
            self.unit.continues = automaton
        else:
            self.unit.automaton = automaton

    def _use(self, node: tree.Header) -> None:
        tail = values.header_tail("use", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name not in ("fsm", "fragment"):
            message = f"`use {tail.name}` is unknown; expected `use fsm` or `use fragment`"
            self.report(self.unit.at(node, 0, len(tail.name)), "FDC109", message)
        else:
            value = tail.values[0]
            if value.literal is None:
                self.report(
                    self.unit.at(node, value.start, value.end),
                    "FDC109",
                    "the automaton must be named literally",
                )
            else:
                self._automaton(
                    value.literal,
                    self.unit.at(node, value.start, value.end),
                    part=tail.name == "fragment",
                )

    def _param(self, node: tree.Header) -> None:
        tail = values.param_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name in self.unit.params:
            where = self.unit.params[tail.name].span
            span, labels = self.unit.at(node, 0, len(tail.name)), (Label(where, "first here"),)
            self.report(span, "FDC111", f"`{tail.name}` is declared twice", labels=labels)
        else:
            self.unit.params[tail.name] = Param(
                tail.name, tail.default, self.unit.at(node, 0, len(tail.name))
            )

    def _budget(self, node: tree.Header) -> None:
        tail = values.header_tail("budget", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return
        name = {"llm_calls": "model_calls"}.get(tail.name, tail.name)
        span = self.unit.at(node, 0, len(tail.name))
        if name not in MEASURES:
            message = f"`{tail.name}` is no measure; expected one of {', '.join(MEASURES)}"
            self.report(span, "FDC109", message, did_you_mean(tail.name, MEASURES))
        elif name in self.unit.budget:
            self.report(span, "FDC111", f"the budget of `{name}` is stated twice")
        else:
            self.unit.budget[name] = (float(tail.values[0].text), span)

    def _allow(self, node: tree.Header) -> None:
        tail = values.header_tail("allow", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name not in _ALLOW:
            message = f"`{tail.name}` is no capability; expected one of {', '.join(_ALLOW)}"
            self.report(
                self.unit.at(node, 0, len(tail.name)),
                "FDC109",
                message,
                did_you_mean(tail.name, _ALLOW),
            )
        else:
            self.unit.allow.setdefault(tail.name, []).extend(tail.values)

    # ---- bodies ------------------------------------------------------------------------

    def _body(self, nodes: list[tree.Statement]) -> list[Node]:
        out: list[Node] = []
        tools = self.linker.catalogue.tools
        bind = self.linker.bind
        for node in nodes:
            if type(node) is tree.Step:
                tool = tools.get(node.tool)
                if tool is None:
                    self._unknown_tool(node)
                    continue
                bound = bind(tool, node.tail, None if node.block is None else node.block.text)
                if bound.problems:
                    self._problems(node, bound.problems)
                act = Act(node, bound)
                self.unit.acts.append(act)
                if node.bind is not None:
                    self.unit.results.append(node.bind)
                out.append(act)
            elif not isinstance(node, tree.Comment | tree.Header):
                made = getattr(self, f"_{type(node).__name__}")(node)
                if made is not None:
                    out.append(made)
        return out

    def _unknown_tool(self, node: tree.Step) -> None:
        span = Span(
            self.unit.key, node.line, node.tool_column, node.line, node.tool_column + len(node.tool)
        )
        tools = self.linker.catalogue.tools
        assigned = assignment(node.tool, node.tail)
        hint = assigned or self.linker.nearest_tool(node.tool)
        fix = None
        if hint and not assigned:
            nearest = hint.split("`")[1]
            if nearest in tools:
                fix = Fix(f"write `{nearest}`", (Edit(span, nearest),), safe=False)
        self.report(
            span,
            "FDC301",
            f"Unknown command `{node.tool}`: no catalogue declares such a tool",
            hint,
            fix=fix,
        )

    def _problems(self, node: tree.Step, problems: tuple[Any, ...]) -> None:
        for code, start, end, message, hint in problems:
            if start == -1 and node.block:
                block = node.block
                span = Span(self.unit.key, block.line, 1, block.line, block.column)
            elif start < 0:
                span = Span(
                    self.unit.key,
                    node.line,
                    node.tool_column,
                    node.line,
                    node.tool_column + len(node.tool),
                )
            else:
                span = self.unit.at(node, start, end)
            self.report(span, code, message, hint)

    def _Call(self, node: tree.Call) -> Node | None:
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
            where = f" (registered as `{registered}`)" if registered else ""
            hint = did_you_mean(name, self.linker.callable_names()) or self._elsewhere(name)
            self.report(span, "FDC321", f"Sub-plan file not found: `{name}`{where}", hint)
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

    def _elsewhere(self, name: str) -> str | None:
        """Why a plan that is called by its path was not found, where that is easy to say."""
        beside = posixpath.normpath(
            posixpath.join(posixpath.dirname(self.unit.key.removeprefix(SHIPPED)), name)
        )
        if not name.startswith("/") and self.linker.files.find(beside):
            return f"paths count from the workspace's root: write `{beside}`"
        if name.startswith("/") or ".." in name.split("/"):
            return "only plans of the workspace can be called: by a registered name, or by a path from its root"
        return None

    def _bound(self, node: Any, most: int | None, word: str) -> int:
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

    def _looped(self, nodes: list[tree.Statement], *, collects: bool) -> list[Node]:
        self.loops.append(collects)
        body = self._body(nodes)
        self.loops.pop()
        return body

    def _ForEach(self, node: tree.ForEach) -> Node | None:
        tail = values.for_each_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        self.depth += 1
        alias = f"file{self.depth}"
        body = self._looped(node.body, collects=False)
        self.depth -= 1
        if tail.most is not None:
            self._bound(node, tail.most, "for_each_file")
        self.unit.loops.update(name for name in (tail.name, alias) if name)
        return Loop(node, "each", tail.name, alias, tail.over, 0, tail.most, None, body)

    def _For(self, node: tree.For) -> Node | None:
        word = "fork" if node.fork else "for"
        tail = values.fork_tail(node.tail) if node.fork else values.for_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        most = self._bound(node, tail.most, word)
        body = self._looped(node.body, collects=node.bind is not None)
        if node.bind is not None:
            self.unit.results.append(node.bind)
        if tail.name is not None:
            self.unit.loops.add(tail.name)
        return Loop(node, word, tail.name, None, tail.over, 0, most, None, body, tail.keeps)

    def _Iterate(self, node: tree.Iterate) -> Node | None:
        tail = values.iterate_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return None
        most = self._bound(node, tail.most, "iterate")
        self._predicates(node, tail.until)
        body = self._looped(node.body, collects=False)
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

    def _If(self, node: tree.If) -> Node | None:
        tail = values.if_tail(node.tail)
        before = self.yielded
        then = self._body(node.body)
        after, self.yielded = self.yielded, before
        orelse = self._body(node.orelse)
        self.yielded = after or self.yielded
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Choice(node, None, None, then, orelse)
        self._predicates(node, tail)
        return Choice(node, tail, fold(tail.tree), then, orelse)

    def _Require(self, node: tree.Require) -> Node | None:
        tail = values.require_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Gate(node, None, "")
        self._predicates(node, tail.condition)
        return Gate(node, tail.condition, tail.why, fold(tail.condition.tree))

    def _Yield(self, node: tree.Yield) -> Node | None:
        span = Span(self.unit.key, node.line, node.column, node.line, node.column + len("yield"))
        if self.loops and not self.loops[-1]:
            help_ = "bind the loop's results: `NAME <- for ...` or `NAME <- fork ...`"
            self.report(span, "FDC327", "the loop around this `yield` collects nothing", help_)
        elif not self.loops:
            if self.yielded is not None:
                where = (Label(self.unit.span(self.yielded), "the first one"),)
                self.report(
                    span,
                    "FDC327",
                    "a plan has one result; this is its second `yield`",
                    labels=where,
                )
            self.yielded = node
        tail = values.yield_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Collect(node, None)
        return Collect(node, tail)

    def _predicates(self, node: Any, condition: Any) -> None:
        known = self.linker.catalogue.predicates
        for name, count, start, end in condition.predicates if condition else ():
            span = self.unit.at(node, start, end)
            if name not in known:
                self.report(
                    span,
                    "FDC301",
                    f"unknown predicate `{name}`",
                    did_you_mean(name, [*known, "len"]),
                )
            elif known[name] not in (count, ANY_NUMBER):
                self.report(
                    span, "FDC303", f"`{name}` takes {known[name]} arguments, found {count}"
                )
