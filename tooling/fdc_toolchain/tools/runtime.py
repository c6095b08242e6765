"""Performs the steps of a run with the tools that `tool_rows` lists (port `engine.ports.Tools`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.events import Failure, Outcome, Perform
from ..engine.ports import Cancelled, Verdict, Waiting, WorldFailed
from ..narrow import narrow
from ..packs.imported import imported
from ..packs.model import PackError
from ..program.causes import FINAL
from ..program.model import Program
from ..report import changes
from ..workspace import capability, fdc_records, globs
from ..workspace.failure import ToolFailure, from_os
from ..workspace.files import Root
from ..workspace.limits import Limits
from ..workspace.outside_table import Book, Keeper
from ..workspace.secrets.scrubber import Scrubber, without
from ..workspace.secrets.values import values_of
from . import arguments, intent_files, python_tools, tool_rows
from .approvals import approvals, openings
from .calls import one_of
from .context import Context, Leaving, until
from .results import as_declared, outcome_of
from .sandboxed import command_tools, step_files
from .talk_tools import neither
from .tool_rows import Row
from .workbench import Workbench

if TYPE_CHECKING:
    from ..engine.state import RunState
    from ..program.model import ToolRow

_NO_TOOL: ToolRow = {"effect": "pure", "trust": "trusted", "parameters": []}
"""Of what has no row of a tool: a loop over files, a predicate."""


class LocalTools:
    """The tools of this machine (port `engine.ports.Tools`)."""

    def __init__(self, program: Program, bench: Workbench) -> None:
        self._program = program
        self._bench = bench
        self._cancelled = Leaving()
        self._asking = threading.Lock()
        self._functions: dict[Row, Any] = {}
        self._limits = Limits(self._cancelled.is_set)
        self._answered: dict[str, dict[str, Any]] = {}
        self._secrets = Scrubber(more=lambda: values_of(bench.root.path))
        self._book = Book(bench.root.path, bench.met, bench.taken)
        self._approvals = approvals.Approvals(
            program, bench.root, bench.shown, self._ahead, self._secrets.value
        )
        self._openings = openings.Openings(program, bench)
        self._state: RunState | None = None

    def follow(self, state: RunState) -> None:
        """The run whose steps are performed: an approval looks at what comes behind it."""
        self._approvals.state = self._state = state

    def perform(self, effect: Perform) -> Outcome:
        """Does what a step, a loop over files or a condition asks for; `notes` say who answered a question, and label what is
        made of text from outside.

        A failure of a tool whose catalogue says `failure: value` is its result: a branch of a fork can fail alone.
        """
        declared = self._declared(effect)
        told = (
            declared.get("trust") == "untrusted"
            or (effect.kind == "tool" and fdc_records.read_by(declared, effect.args))
            or _from_outside(effect.args)
        )
        from_outside = told and effect.kind == "tool"
        self._book.met |= from_outside
        outcome = self._attempted(effect)
        if effect.kind == "tool" and outcome.failure is None:
            outcome = as_declared(effect.tool, self._declared(effect), outcome)
        valued = effect.kind == "tool" and declared.get("failure") == "value"
        if valued and (failed := outcome.failure) is not None and failed.kind not in FINAL:
            value = {"failed": failed.kind, "why": failed.message}
            outcome = outcome._replace(value=value, failure=None)
        if from_outside:
            outcome = outcome._replace(notes={"trust": "untrusted", **(outcome.notes or {})})
        who = self._answered.pop(effect.address, None)
        if who is not None:
            outcome = outcome._replace(notes={**(outcome.notes or {}), "answered": who})
        outcome = self._openings.used(
            effect.address, self._approvals.bound(effect.address, outcome)
        )
        return self._scrubbed(outcome)

    def _ahead(self, effect: Perform, root: Root) -> Any:
        """What a step that only reads brings now. Raises ToolFailure."""
        row = tool_rows.tool(effect.tool)
        if row is None or effect.tool in self._bench.overrides:
            raise ToolFailure("unavailable", "it is unknown before the step")
        args = self._arguments(effect)
        capability.check(self._declared(effect), args, effect.grants)
        try:
            return outcome_of(
                self._function(row)(args, replace(self._context(effect), root=root))
            ).value
        except (OSError, WorldFailed, RecursionError) as failed:
            raise ToolFailure("file", str(failed)) from failed

    def _scrubbed(self, outcome: Outcome) -> Outcome:
        """The outcome without secrets: it goes into the journal."""
        scrub = self._secrets
        failure = outcome.failure
        if failure is not None:
            failure = Failure(failure.kind, scrub.text(failure.message))
        notes = outcome.notes and narrow(scrub.value(outcome.notes), dict)
        return outcome._replace(value=scrub.value(outcome.value), failure=failure, notes=notes)

    def _attempted(self, effect: Perform) -> Outcome:
        try:
            return self._perform(effect)
        except WorldFailed as failed:
            raise without(self._secrets, failed) from failed.__cause__
        except (Waiting, Cancelled):
            raise
        except ToolFailure as failure:
            return Outcome(None, Failure(failure.kind, str(failure)), failure.usage, failure.notes)
        except OSError as failed:
            said = from_os(failed, str(failed.filename or effect.tool))
            if isinstance(said, WorldFailed):
                raise without(self._secrets, said) from failed
            return Outcome(failure=Failure("file", str(said)))
        except RecursionError:
            return Outcome(failure=Failure("size", "a value that is nested too deeply"))

    def probe(self, effect: Perform) -> Verdict:
        """Finds out whether an announced `once` step has happened: by what its declaration says, or by its tool."""
        declared = self._declared(effect)
        if declared.get("repeatable"):
            return "repeat"
        if self._openings.unbegun(effect):
            return "not-done"
        if "creates" in declared:
            return self._created(effect, declared)
        row = tool_rows.tool(effect.tool)
        if row is None or row.probe is None or "run" in declared:
            return "unknown"
        try:
            context = self._context(
                effect._replace(released=None)
            )  # it may have been done: then files are others
            found = self._function(row._replace(function=row.probe))(
                self._arguments(effect), context
            )
        except (ToolFailure, OSError):
            return "unknown"
        return found

    def _created(self, effect: Perform, declared: ToolRow) -> Verdict:
        """A step that leaves a file has happened where the file is there and was not before."""
        context = self._context(effect)
        before = intent_files.read(context.run_folder, context.key)
        try:
            path = step_files.created_path(declared, self._arguments(effect))
            found = context.root.kind(path)
        except (ToolFailure, OSError):
            return "unknown"
        if found == "missing":
            return "not-done"
        if "access" in declared and not context.root.find(path):
            return "unknown"  # an empty file: fdc made it for the tool to write, or the tool did
        return (
            Outcome()
            if before is not None and not before["there"] and not effect.bound
            else "unknown"
        )

    def cancel(self) -> None:
        """Makes commands under way die; asked a second time, at once."""
        if self._cancelled.is_set():
            self._cancelled.kill()
        self._cancelled.set()

    def _perform(self, effect: Perform) -> Outcome:
        self._book.check(self._bench.run, self._program, effect, self._declared(effect))
        if effect.kind == "files":
            glob = effect.args["glob"]
            if not isinstance(glob, str):
                raise ToolFailure("argument", "the glob is not text")
            capability.listing(glob, effect.grants)
            root = self._bench.root.granted(effect.grants, released=effect.released)
            found, notes = globs.search(root, glob)
            return Outcome(found, notes=notes)
        if effect.kind == "predicate":
            return self._predicate(effect)
        args, declared = self._arguments(effect), self._declared(effect)
        capability.check(declared, args, effect.grants)
        return self._limits.perform(
            effect.tool, declared, lambda: self._kept(effect, declared, args)
        )

    def _kept(self, effect: Perform, declared: ToolRow, args: Mapping[str, object]) -> Outcome:
        """An attempt of a step; where it writes text from outside and not through `context.root`, what it wrote is noted."""
        row = tool_rows.tool(effect.tool)
        if not effect.outside or (
            row is not None
            and row.module == "fdc_toolchain.tools.files.file_tools"
            and "run" not in declared
        ):
            return self._attempt(effect, declared, args)
        with Keeper(self._book, self._bench.run, effect).around(declared, args):
            return self._attempt(effect, declared, args)

    def _attempt(self, effect: Perform, declared: ToolRow, args: Mapping[str, object]) -> Outcome:
        run = declared.get("run")
        if effect.released is not None:
            approvals.as_shown(effect.released, declared, args, self._context(effect))
        if run is not None or "creates" in declared:
            step_files.begin(declared, args, self._context(effect))
        if run is not None and "prompt" in run:
            return self._prompt(effect, declared, args)
        if run is not None and "one_of" in run:
            within = self._program["tools"], self._context(effect)
            return one_of.perform(declared, args, *within, self._function)
        if run is not None and ("command" in run or "mcp" in run):
            called = command_tools.call if "command" in run else self._function(tool_rows.MCP)
            return outcome_of(called(declared, args, self._context(effect)))
        if run is not None:
            given = {name: value for name, value in args.items() if value is not None}
            return outcome_of(self._python(effect, run["python"], declared, [], given))
        if (override := self._bench.overrides.get(effect.tool)) is not None:
            return outcome_of(override(args, self._context(effect)))
        row = tool_rows.tool(effect.tool)
        if row is None:
            raise ToolFailure(
                "unavailable", f"`{effect.tool}` is declared, but it has no implementation"
            )
        return outcome_of(self._function(row)(args, self._context(effect)))

    def _prompt(self, effect: Perform, declared: ToolRow, args: Mapping[str, object]) -> Outcome:
        from .model import prompt_tools

        def embedded(target: str, given: dict[str, Any]) -> Any:
            return self._python(effect, target, declared, [], given)

        return outcome_of(prompt_tools.perform(declared, args, self._bench.model, embedded))

    def _python(
        self,
        effect: Perform,
        target: str,
        declared: ToolRow,
        positional: list[Any],
        named: dict[str, Any],
    ) -> Any:
        modules = self._program.get("modules", {})
        return python_tools.call(
            target, declared, self._context(effect), modules, positional, named, self._key(effect)
        )

    def _predicate(self, effect: Perform) -> Outcome:
        declared = self._declared(effect)
        values = effect.args["args"]
        run = declared.get("run")
        if run is not None:
            given: dict[str, object] = {"args": values} if run.get("context") else {}
            return outcome_of(
                self._python(effect, run["python"], declared, [] if given else values, given)
            )
        row = tool_rows.predicate(effect.tool)
        if row is None:
            raise ToolFailure("unavailable", f"the predicate `{effect.tool}` has no implementation")
        return outcome_of(self._function(row)({"args": values}, self._context(effect)))

    def _declared(self, effect: Perform) -> ToolRow:
        if effect.kind == "predicate":
            asked = self._program.get("predicates", {}).get(effect.tool)
            return {**_NO_TOOL, "run": asked["run"]} if asked and "run" in asked else _NO_TOOL
        return self._program["tools"].get(effect.tool, _NO_TOOL)

    def _arguments(self, effect: Perform) -> dict[str, Any]:
        return arguments.checked(self._declared(effect), effect.args)

    def _context(self, effect: Perform) -> Context:
        bench = self._bench
        return Context(
            root=bench.root.granted(
                effect.grants,
                Keeper(self._book, bench.run, effect),
                effect.released,
                self._openings.gate(
                    effect, lambda question, shows: self._ask(effect, question, neither, shows)
                ),
                lambda: fdc_records.named(self._program, effect),
            ),
            key=self._key(effect),
            run=bench.run,
            run_folder=bench.run_folder,
            say=bench.say,
            ask=lambda question, unfit=None: self._ask(effect, question, unfit),
            bound=effect.bound,
            cancelled=self._cancelled,
            shell_seconds=bench.shell_seconds,
            tool=self._declared(effect),
            grants=effect.grants,
            operator=bench.operator,
            plan=effect.path,
            secrets=self._secrets,
            nested=bench.nested,
            left=lambda: self._left(effect),
            until=until(self._left(effect)),
            given=lambda: self._given(effect),
        )

    def _left(self, effect: Perform) -> dict[str, float]:
        """What was set aside for a step under way, with what it had used before, and the seconds that are left."""
        want = None if self._state is None else self._state.running.get(effect.address)
        if self._state is None or want is None:
            return {}
        out = {one: most + want.counted.get(one, 0.0) for one, most in want.holds.items()}
        ends = [self._state.budget.get("seconds")]
        ends += [
            meter.began + meter.budget["seconds"]
            for meter in want.meters
            if "seconds" in meter.budget
        ]
        known = [end for end in ends if end is not None]
        return {**out, "seconds": max(0.0, min(known) - self._state.elapsed)} if known else out

    def _given(self, effect: Perform) -> str | None:
        """The answer that lies ready for a step, if any: who gave it goes into the record."""
        given = self._bench.answers.get(effect.address)
        if given is not None:
            by = self._bench.givers.get(effect.address, {"by": "command line"})
            self._answered[effect.address] = by
        return given

    def _key(self, effect: Perform) -> str:
        return f"{self._bench.run}:{effect.address}"

    def _ask(
        self,
        effect: Perform,
        question: str,
        unfit: Callable[[str], str] | None = None,
        opens: dict[str, Any] | None = None,
    ) -> str:
        """What a person says. A text that is not an answer is said to be none, and asked for again; nothing is recorded of it.

        `opens`: what is shown of what the plans open (`approvals.openings`); an answer to something else counts for nothing.
        """
        address = effect.address
        given = self._bench.answers.get(address)
        if opens is not None and self._bench.shown.get(address, opens) != opens:
            given = None
        shows = opens or self._approvals.about(effect, self._declared(effect), given is not None)
        if effect.tool in self._bench.operator.approved:
            self._answered[address] = {"by": "command line, in advance"}
            return "yes"
        wrong = "" if given is None or unfit is None else unfit(given)
        if wrong:
            self._bench.say(f"{wrong}; `{str(given).strip()[:80]}` is not accepted")
        elif given is not None:
            self._given(effect)
            return given
        if wrong and shows is not None and opens is None:
            shows = self._approvals.about(effect, self._declared(effect), False)
        above = () if shows is None else ([line.text for line in changes.lines(shows)],)
        with self._asking:
            answer = self._bench.ask(question, *above)
            while answer is not None and unfit is not None and (wrong := unfit(answer)):
                self._bench.say(wrong)
                answer = self._bench.ask(question)
        if answer is None:
            raise Waiting(question, opens or self._approvals.forget(address))
        self._answered[address] = {"by": "terminal"}
        return answer

    def _function(self, row: Row) -> Any:
        if row not in self._functions:
            try:
                found = imported(row.module, row.function)
            except PackError as wrong:
                raise WorldFailed(f"{wrong}; `fdc doctor` checks every pack") from wrong
            own, name = row.module.startswith("fdc_toolchain."), f"{row.module}:{row.function}"
            self._functions[row] = found if own else python_tools.of_pack(name, found)
        return self._functions[row]


def _from_outside(args: Mapping[str, object]) -> bool:
    """Whether a step is given something that says of itself that it is made of text from outside (`"trust": "untrusted"`)."""
    rows = [
        row for value in args.values() for row in (value if isinstance(value, list) else [value])
    ]
    return any(isinstance(row, dict) and row.get("trust") == "untrusted" for row in rows)
