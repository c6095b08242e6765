"""Literal arguments with which a step always fails: a pattern, a diff, a script, a gate (FDC482 to FDC485).

Only what fails in every workspace state is an error: text that is written in the plan, and files that are (or are not) there
before the first step and that no earlier step may change (`merges` judges diffs). Steps are met in the order of the
text, which is the order of the first round of every loop; a fork's branches may come in any order. Programs of
commands are looked up on this machine; one that is not found is an assumption (FDC707), because another machine may
have it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..linking import own_row
from ..linking.catalogue import Parameter, Tool, runs_plan
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Gate, Invoke, Loop, Node, Unit
from ..linking.project.stat_cache import ON_PATH
from ..syntax.parse import parse
from ..syntax.tails import walk
from ..syntax.tree import Step
from ..syntax.values import Value
from ..text import merge_diff
from ..text.glob_match import plain
from ..text.patterns import no_pattern
from .merges import NOTHING, changes, literal, place
from .solver.flow import programs
from .solver.rule import Context
from .solver.types.uses import MADE


def check(context: Context) -> Iterator[Diagnostic]:
    """Errors in each plan's own text, and errors of each root that depend on the workspace."""
    seen: set[str] = set()
    asked = _Asked(context)
    for instance in context.order:
        unit = instance.unit
        if unit.key in seen:
            continue
        seen.add(unit.key)
        yield from _gates(unit, unit.body)
        for tool, acts in context.by_tool[unit.key]:
            for parameter in _formed(tool):
                for act in acts:
                    yield from _text(context, unit, act, parameter)
        yield from _programs(context, unit, asked)
    for instance, _ in context.roots:
        yield from _Changes(context, asked, instance).found()


class _Asked:
    """Results that are shared by all steps of a tool, and by all commands that name a program."""

    def __init__(self, context: Context) -> None:
        self._exists = context.linker.files.exists
        self._commands: dict[int, list[str]] = {}  # by the id of a tool, which the catalogue holds
        self._programs: dict[str, tuple[list[str], bool]] = {}

    def commands(self, act: Act) -> list[Value]:
        """The command arguments of a step."""
        bound = act.bound
        names = self._commands.get(id(bound.tool))
        if names is None:
            names = self._commands[id(bound.tool)] = [
                item.name for item in bound.tool.parameters if item.sink == "command"
            ]
        return [bound.arguments[name] for name in names if name in bound.arguments]

    def program(self, name: str) -> tuple[list[str], bool]:
        """The candidate paths of a program on the PATH, and whether one of them exists."""
        found = self._programs.get(name)
        if found is None:
            found = self._programs[name] = programs.found(name, self._exists)
        return found


def _formed(tool: Tool) -> list[Parameter]:
    """The parameters of a tool whose text must have a form, or may be no option."""
    bare = own_row.bare(tool.row)
    return [item for item in tool.parameters if item.form is not None or item.name in bare]


def _gates(unit: Unit, nodes: list[Node]) -> Iterator[Diagnostic]:
    for node in nodes:
        if type(node) is Act:
            continue
        if isinstance(node, Gate) and node.known is not None:
            if node.known:
                help_ = "remove it, or test a value that is known only during a run"
                yield Diagnostic(
                    unit.span(node.node),
                    "FDC483",
                    "this gate never stops a run: its condition is always true",
                    help=help_,
                )
            else:
                help_ = "remove the steps below it, or test a value that is known only during a run"
                yield Diagnostic(
                    unit.span(node.node),
                    "FDC482",
                    "every run that comes here stops: the condition of this gate is always false",
                    help=help_,
                )
        elif isinstance(node, Loop):
            yield from _gates(unit, node.body)
        elif isinstance(node, Choice):
            if node.known is not False:
                yield from _gates(unit, node.then)
            if node.known is not True:
                yield from _gates(unit, node.orelse)


def _text(context: Context, unit: Unit, act: Act, parameter: Parameter) -> Iterator[Diagnostic]:
    """Finds texts that the step refuses: options, and invalid patterns, plans and diffs."""
    value = act.bound.arguments.get(parameter.name)
    if value is None:
        return
    begins = value.parts[0] if value.parts else ""
    wrong = None
    if (
        isinstance(begins, str)
        and begins.startswith("-")
        and parameter.name in own_row.bare(act.bound.tool.row)
    ):
        wrong = f"`{parameter.name}` of `{act.bound.tool.name}` begins with `-`, which its program would read as an option"
    elif (text := literal(unit, value)) is None:
        return
    elif parameter.form == "pattern":
        said = no_pattern(text)
        wrong = said and f"`{text[:80]}` is not a regular expression: {said}"
    elif parameter.form == "filled" and not text.strip():
        wrong = f"`{parameter.name}` of `{act.bound.tool.name}` is empty"
    elif parameter.form in MADE:
        wrong = f"`{parameter.name}` of `{act.bound.tool.name}` takes {MADE[parameter.form][1]}, and `{text[:80]}` is text"
    elif parameter.sink == "plan" and runs_plan(act.bound.tool.row) and not _plan(context, text):
        wrong = f"`{parameter.name}` of `{act.bound.tool.name}` takes the text of a plan, and `{text[:80]}` is not one"
    elif parameter.form == "sections":
        try:
            merge_diff.sections(text)
        except merge_diff.NoMerge as no:
            wrong = f"the step fails with this diff: {no}"
    if wrong:
        yield Diagnostic(place(unit, act, value), "FDC484", wrong)


def _plan(context: Context, text: str) -> bool:
    """Whether a text has the form of a plan whose steps name tools: only then can it be proved."""
    parsed = parse(text.encode(), "")
    if parsed.plan is None or any(item.severity == "error" for item in parsed.diagnostics):
        return False
    tools = context.linker.catalogue.tools
    return all(
        node.tool in tools for node in walk(parsed.plan.statements) if isinstance(node, Step)
    )


def _programs(context: Context, unit: Unit, known: _Asked) -> Iterator[Diagnostic]:
    """The programs that commands of a plan name literally and that this machine does not have, each at its first step."""
    looked: set[str] = set()
    commands = [(act, value) for act in unit.acts for value in known.commands(act)]
    for act, value in commands:
        probes = context.probes.setdefault(unit.key, set())
        for name in programs.named(value.text):
            if name in looked:
                continue
            looked.add(name)
            asked, there = known.program(name)
            probes.update((*asked, f"{ON_PATH}{name}"))
            if not there:
                message = f"the program `{name}` is on the PATH of this machine (it was not found)"
                help_ = f"install `{name}`, or correct its name"
                yield Diagnostic(place(unit, act, value), "FDC707", message, help=help_)


class _Changes:
    """Walks a root in the order of its text, and knows which files an earlier step may have changed."""

    def __init__(self, context: Context, asked: _Asked, instance: Instance) -> None:
        self.context = context
        self.asked = asked
        self.instance = instance
        self.changed: set[str] = set()
        self.anything = False
        self.wrong: list[Diagnostic] = []
        # Bodies that were walked for their changes only: a second time they change nothing more.
        self.walked: set[int] = set()

    def found(self) -> list[Diagnostic]:
        self.body(self.instance, self.instance.unit.body, judged=True)
        return self.wrong

    def body(self, instance: Instance, nodes: list[Node], *, judged: bool) -> None:
        """Walks a body; `judged`: checks its steps, else collects only what they change."""
        if not judged:
            if id(nodes) in self.walked:
                return
            self.walked.add(id(nodes))
        for node in nodes:
            if self.anything:
                return
            if isinstance(node, Act):
                if judged:
                    self.look(instance.unit, node)
                self.change(instance.unit, node)
            elif isinstance(node, Loop):
                if node.kind == "fork" and node.most != 1:  # another branch may be ahead
                    self.body(instance, node.body, judged=False)
                self.body(instance, node.body, judged=judged)
            elif isinstance(node, Choice):
                if node.known is not False:
                    self.body(instance, node.then, judged=judged)
                if node.known is not True:
                    self.body(instance, node.orelse, judged=judged)
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    self.body(callee, callee.unit.body, judged=False)

    def change(self, unit: Unit, act: Act) -> None:
        """Records what a step may change."""
        done = changes(unit, act)
        if done is not NOTHING:
            self.anything |= done.anything
            self.changed |= done.paths

    def look(self, unit: Unit, act: Act) -> None:
        """The script of a command."""
        if act.step.bind is None:
            for value in self.asked.commands(act):
                self.script(unit, act, value)

    def script(self, unit: Unit, act: Act, value: Value) -> None:
        path = programs.script(value)
        if path is None or plain(path) in self.changed or act.bound.action == "close_op":
            return  # of a script that closes the task, `closure` says what is assumed
        self.context.probes.setdefault(unit.key, set()).add(path)
        if not self.context.linker.files.exists(path):
            message = (
                f"the command runs `{path}`, which does not exist, and no earlier step creates it"
            )
            help_ = "correct the path, which is relative to the workspace, or create the file in an earlier step"
            self.wrong.append(Diagnostic(place(unit, act, value), "FDC485", message, help=help_))
