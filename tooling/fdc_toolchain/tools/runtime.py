"""Every tool that can run here: one table, and the port that performs steps by it.

To add a tool, write a function and give it a row:

    def my_tool(args: dict, context: Context) -> JSON or Outcome

in a module of this room, and in `TOOLS` (or `PREDICATES`, for one that conditions ask)

    "my_tool": Row("fdc_toolchain.tools.my_module", "my_tool"),

beside its declaration in a catalogue. Nothing else needs to know. The module is imported when a
plan uses the tool. `args` holds the step's arguments by parameter name, as the plan gives them
(any JSON value; use `context.text` or `context.word`, which refuse what they cannot take);
parameters of the kind `number` arrive as numbers, and what the declaration requires is there.
`context` (`tools.context.Context`) is the world: `root` for files, `key` for idempotency,
`run_folder` for marks, `say` and `ask` for people.

Return any JSON value, or an `Outcome` to report usage (`{"model_calls": 1, "tokens": 812}`) and
remarks for the journal. Raise `ToolFailure(kind, sentence)` when the step did not do what it was
asked; a tool that cannot run here raises that too, and never makes a result up (T-23). Raise
`WorldFailed` for trouble that passes (no space, no network): the run stops and can be resumed.
An OSError becomes one or the other by itself.

The effect class in the catalogue is a promise about the function. `pure` and `read`: harmless to
repeat. `idempotent`: repeated with the same `context.key` it leaves the same world and result.
`once`: neither; it may have a `probe` with the same signature, which finds out after a crash:
it returns the `Outcome` if it happened, "not-done" or "unknown".
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.events import Failure, Outcome, Perform
from ..engine.ports import Cancelled, Verdict, Waiting, WorldFailed
from ..program.model import Program
from ..report import changes
from ..text.patterns import no_pattern
from ..workspace import capability, fdc_records, globs
from ..workspace.failure import ToolFailure, from_os
from ..workspace.files import Root
from ..workspace.limits import Limits
from ..workspace.outside_table import Book, Keeper, as_proved
from ..workspace.secrets.scrubber import Scrubber, without
from ..workspace.secrets.values import values_of
from . import intent_files, needs, python_tools
from .approvals import approvals, openings
from .context import Context, Leaving
from .results import as_declared, outcome_of
from .talk_tools import neither
from .workbench import Workbench

if TYPE_CHECKING:
    from ..engine.state import RunState


class Row(NamedTuple):
    """Where a tool's function is: a module, its name in it, and that of its probe.

    `needs`: what this machine or its operator has to give for it, by the names of `runs.granted`.
    """

    module: str
    function: str
    probe: str | None = None
    needs: tuple[str | needs.Where, ...] = ()


TOOLS: dict[str, Row] = {
    "set_plan": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "plan_step_complete": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "message_user": Row("fdc_toolchain.tools.talk_tools", "message_user", "probe_message"),
    "request_user_input": Row("fdc_toolchain.tools.talk_tools", "ask_user", "probe_question"),
    "record_user_approval_for_plan": Row(
        "fdc_toolchain.tools.talk_tools", "ask_approval", "probe_question"
    ),
    "request_code_review": Row("fdc_toolchain.tools.talk_tools", "ask_review", "probe_question"),
    "reply_to_pr_comments": Row("fdc_toolchain.tools.talk_tools", "unavailable", None, ("nobody",)),
    "pre_commit_instructions": Row("fdc_toolchain.tools.talk_tools", "pre_commit"),
    "initiate_memory_recording": Row("fdc_toolchain.tools.talk_tools", "memory"),
    "hello_world": Row("fdc_toolchain.tools.talk_tools", "hello"),
    "submit": Row("fdc_toolchain.tools.talk_tools", "submit", "probe_submit"),
    "close_task": Row("fdc_toolchain.tools.talk_tools", "close_task"),
    "define_set_of_names": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "define_diagonalization_function": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "reset_all": Row("fdc_toolchain.tools.talk_tools", "forbidden"),
    "google_search": Row(
        "fdc_toolchain.tools.web.web_tools", "google_search", None, ("web", "search")
    ),
    "view_text_website": Row(
        "fdc_toolchain.tools.web.web_tools", "view_text_website", None, ("web", "pages")
    ),
    "search_web": Row("fdc_toolchain.tools.web.web_tools", "search_web", None, ("web", "search")),
    "read_web_page": Row(
        "fdc_toolchain.tools.web.web_tools", "read_web_page", None, ("web", "pages")
    ),
    "research": Row("fdc_toolchain.tools.talk_tools", "unavailable", None, ("nobody",)),
    "generate_code": Row("fdc_toolchain.tools.code_tools", "generate_code", "probe"),
    "plan_deep_research": Row("fdc_packs.research.research_protocol", "plan_deep_research"),
    "execute_research_protocol": Row(
        "fdc_packs.research.research_protocol",
        "execute_research_protocol",
        None,
        needs.BY_TARGET,
    ),
    "create_file_with_block": Row("fdc_toolchain.tools.files.file_tools", "create"),
    "overwrite_file_with_block": Row("fdc_toolchain.tools.files.file_tools", "overwrite"),
    "replace_with_git_merge_diff": Row(
        "fdc_toolchain.tools.files.file_tools", "replace", "probe_replace"
    ),
    "restore_file": Row("fdc_toolchain.tools.files.file_tools", "restore", None, needs.GIT),
    "git_add": Row("fdc_toolchain.tools.files.git_tools", "add", None, needs.GIT),
    "git_commit": Row("fdc_toolchain.tools.files.git_tools", "commit", "probe_commit", needs.GIT),
    "delete_file": Row("fdc_toolchain.tools.files.file_tools", "delete"),
    "rename_file": Row("fdc_toolchain.tools.files.file_tools", "rename", "probe_rename"),
    "read_file": Row("fdc_toolchain.tools.files.file_tools", "read"),
    "view_image": Row("fdc_toolchain.tools.files.file_tools", "view_image"),
    "list_files": Row("fdc_toolchain.tools.files.find_tools", "list_files"),
    "grep": Row("fdc_toolchain.tools.files.find_tools", "grep"),
    "run_in_bash_session": Row(
        "fdc_toolchain.tools.shell", "run_in_bash_session", None, ("sandbox", "bash")
    ),
    "scan_documents": Row("fdc_packs.research.tools", "scan_documents"),
    "scope_question": Row("fdc_packs.research.tools", "scope_question"),
    "search_passages": Row("fdc_packs.research.tools", "search_passages"),
    "extract_evidence": Row("fdc_packs.research.tools", "extract_evidence"),
    "check_citations": Row("fdc_packs.research.tools", "check_citations"),
    "synthesise": Row("fdc_packs.research.tools", "synthesise"),
    "join_pages": Row("fdc_packs.research.web", "join_pages"),
    "open_sources": Row("fdc_packs.research.web", "open_sources"),
    "check_claims": Row("fdc_packs.research.web", "check_claims"),
    "create_directory": Row("fdc_packs.lgtm.tools.tools", "create_directory"),
    "use_tool.file_search": Row("fdc_packs.lgtm.tools.tools", "file_search"),
    "use_tool.codebase_grep": Row("fdc_packs.lgtm.tools.tools", "codebase_grep"),
    "use_tool.web_search": Row("fdc_packs.lgtm.tools.tools", "web_search"),
    "use_tool.readable": Row("fdc_packs.lgtm.tools.tools", "readable"),
    "use_tool.unknown": Row("fdc_packs.lgtm.tools.tools", "unknown_tool"),
    "use_tool.read_code": Row("fdc_packs.lgtm.tools.tools", "read_code"),
    "use_tool.dependencies": Row("fdc_packs.lgtm.tools.tools", "dependencies"),
    "validate.links": Row("fdc_packs.lgtm.tools.tools", "check_links"),
    "plan.changes": Row("fdc_packs.lgtm.tools.changes", "plan_changes"),
    "validate.pipeline": Row("fdc_packs.lgtm.tools.tools", "validate_pipeline"),
    "map_code": Row("fdc_packs.research.explore.tools", "map_code", None, needs.RERANK),
    "scope_exploration": Row("fdc_packs.research.explore.tools", "scope_exploration"),
    "survey_tracks": Row("fdc_packs.research.explore.tools", "survey_tracks"),
    "gather_files": Row("fdc_packs.research.explore.tools", "gather_files"),
    "explore_track": Row("fdc_packs.research.explore.tools", "explore_track"),
    "collect_evidence": Row("fdc_packs.research.explore.tools", "collect_evidence"),
    "check_findings": Row("fdc_packs.research.explore.tools", "check_findings"),
    "check_synthesis": Row("fdc_packs.research.explore.tools", "check_synthesis"),
    "open_case": Row("fdc_packs.repair.tools.repair_tools", "open_case"),
    "run_tests": Row("fdc_packs.repair.tools.repair_tools", "run_tests", None, ("sandbox",)),
    "collect_context": Row("fdc_packs.repair.tools.repair_tools", "collect_context"),
    "probe_edits": Row("fdc_packs.repair.tools.repair_tools", "probe_edits", None, ("sandbox",)),
    "gather_context": Row("fdc_packs.repair.tools.repair_tools", "gather_context"),
    "merge_files": Row("fdc_packs.repair.tools.repair_patch", "merge_files"),
    "apply_repair": Row("fdc_packs.repair.tools.repair_tools", "apply_repair"),
    "keep_repair": Row("fdc_packs.repair.tools.repair_tools", "keep_repair"),
    "close_repair": Row("fdc_packs.repair.tools.repair_tools", "close_repair"),
    "take_repair": Row("fdc_packs.repair.tools.repair_tools", "take_repair"),
    "begin_alphabet": Row("fdc_packs.alphabet.tools", "begin_alphabet"),
    "staged_alphabet": Row("fdc_packs.alphabet.tools", "staged_alphabet"),
    "stage_alphabet": Row("fdc_packs.alphabet.tools", "stage_alphabet"),
    "read_entries": Row("fdc_packs.alphabet.tools", "read_entries"),
    "commit_alphabet": Row("fdc_packs.alphabet.tools", "commit_alphabet"),
    "abandon_alphabet": Row("fdc_packs.alphabet.tools", "abandon_alphabet"),
    "consult_lexicon": Row("fdc_packs.alphabet.lexicon.tools", "consult_lexicon"),
}

PREDICATES: dict[str, Row] = {
    "cited": Row("fdc_packs.research.tools", "cited"),
}


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
        self._book = Book(bench.root.path, bench.met)
        self._approvals = approvals.Approvals(
            program, bench.root, bench.shown, self._ahead, self._secrets.value
        )
        self._openings = openings.Openings(program, bench)

    def follow(self, state: RunState) -> None:
        """The run whose steps are performed: an approval looks at what comes behind it."""
        self._approvals.state = state

    def perform(self, effect: Perform) -> Outcome:
        """Does what a step, a loop over files or a condition asks for; `notes` say who answered a question, and label what is
        made of text from outside.

        A failure of a tool whose catalogue says `failure: value` is its result: a branch of a fork can fail alone.
        """
        declared = self._declared(effect)
        told = (
            declared.get("trust") == "untrusted"
            or fdc_records.read_by(declared, effect.args)
            or _from_outside(effect.args)
        )
        from_outside = told and effect.kind == "tool"
        self._book.met |= from_outside
        outcome = self._attempted(effect)
        if effect.kind == "tool" and outcome.failure is None:
            outcome = as_declared(effect.tool, self._declared(effect), outcome)
        failed = outcome.failure
        if failed is not None and effect.kind == "tool" and declared.get("failure") == "value":
            outcome = outcome._replace(
                value={"failed": failed.kind, "why": failed.message}, failure=None
            )
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
        row = TOOLS.get(effect.tool)
        if row is None or effect.tool in self._bench.overrides:
            raise ToolFailure("unavailable", "it is not looked at before it comes")
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
        return outcome._replace(
            value=scrub.value(outcome.value), failure=failure, notes=scrub.value(outcome.notes)
        )

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
        row = TOOLS.get(effect.tool)
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

    def _created(self, effect: Perform, declared: dict[str, Any]) -> Verdict:
        """A step that leaves a file has happened where the file is there and was not before."""
        context = self._context(effect)
        before = intent_files.read(context.run_folder, context.key)
        try:
            found = context.root.kind(_path(declared["creates"], self._arguments(effect)))
        except (ToolFailure, OSError):
            return "unknown"
        if found == "missing":
            return "not-done"
        if "access" in declared and not context.root.find(
            _path(declared["creates"], self._arguments(effect))
        ):
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
        found = self._book.unproved(self._bench.run, self._program.get("stored", ()))
        if found:
            as_proved(found, effect, self._declared(effect))
        if effect.kind == "files":
            glob = effect.args["glob"]
            if not isinstance(glob, str):
                raise ToolFailure("argument", "the glob is not text")
            capability.listing(glob, effect.grants)
            return Outcome(
                globs.files(self._bench.root.granted(effect.grants, released=effect.released), glob)
            )
        if effect.kind == "predicate":
            return self._predicate(effect)
        args, declared = self._arguments(effect), self._declared(effect)
        capability.check(declared, args, effect.grants)
        return self._limits.perform(
            effect.tool, declared, lambda: self._kept(effect, declared, args)
        )

    def _kept(self, effect: Perform, declared: dict[str, Any], args: dict[str, Any]) -> Outcome:
        """An attempt of a step; where it writes text from outside and not through `context.root`, what it wrote is noted."""
        row = TOOLS.get(effect.tool)
        if not effect.outside or (
            row is not None
            and row.module == "fdc_toolchain.tools.files.file_tools"
            and "run" not in declared
        ):
            return self._attempt(effect, declared, args)
        with Keeper(self._book, self._bench.run, effect).around(declared, args):
            return self._attempt(effect, declared, args)

    def _attempt(self, effect: Perform, declared: dict[str, Any], args: dict[str, Any]) -> Outcome:
        run = declared.get("run")
        if effect.released is not None:
            approvals.as_shown(effect.released, declared, args, self._context(effect))
        if "creates" in declared:
            there = (context := self._context(effect)).root.kind(
                _path(declared["creates"], args)
            ) != "missing"
            intent_files.write(context.run_folder, context.key, {"there": there})
        if run is not None and "prompt" in run:
            return self._prompt(effect, declared, args)
        if run is not None:
            given = {name: value for name, value in args.items() if value is not None}
            return outcome_of(self._python(effect, run["python"], declared, [], given))
        override = self._bench.overrides.get(effect.tool)
        if override is not None:
            return outcome_of(override(args, self._context(effect)))
        row = TOOLS.get(effect.tool)
        if row is None:
            raise ToolFailure(
                "unavailable", f"`{effect.tool}` is declared, and nothing here can run it"
            )
        return outcome_of(self._function(row)(args, self._context(effect)))

    def _prompt(self, effect: Perform, declared: dict[str, Any], args: dict[str, Any]) -> Outcome:
        from .model import prompt_tools

        def embedded(target: str, given: dict[str, Any]) -> Any:
            return self._python(effect, target, declared, [], given)

        return outcome_of(prompt_tools.perform(declared, args, self._bench.model, embedded))

    def _python(
        self,
        effect: Perform,
        target: str,
        declared: dict[str, Any],
        positional: list[Any],
        named: dict[str, Any],
    ) -> Any:
        modules = self._program.get("modules", {})
        return python_tools.call(
            target, declared, self._context(effect), modules, positional, named, self._key(effect)
        )

    def _predicate(self, effect: Perform) -> Outcome:
        declared = self._program.get("predicates", {}).get(effect.tool, {})
        values = effect.args["args"]
        run = declared.get("run")
        if run is not None:
            return outcome_of(self._python(effect, run["python"], declared, values, {}))
        row = PREDICATES.get(effect.tool)
        if row is None:
            raise ToolFailure("unavailable", f"nothing here can tell whether `{effect.tool}` holds")
        return outcome_of(self._function(row)({"args": values}, self._context(effect)))

    def _declared(self, effect: Perform) -> dict[str, Any]:
        found = self._program["tools"].get(effect.tool, {})
        return found if isinstance(found, dict) else {}

    def _arguments(self, effect: Perform) -> dict[str, Any]:
        """The step's arguments, checked against the declaration."""
        args = dict(effect.args)
        declared = self._declared(effect)
        for parameter in declared.get("parameters", ()):
            name = parameter["name"]
            value = args.get(name)
            if value is None and parameter.get("required", True):
                raise ToolFailure("argument", f"`{name}` has no value in this run")
            if (
                value is not None
                and parameter.get("type") in ("text", "pattern")
                and not isinstance(value, str)
            ):
                raise ToolFailure("argument", f"`{name}` must be text")
            if (
                parameter.get("type") == "pattern"
                and value is not None
                and (wrong := no_pattern(value))
            ):
                raise ToolFailure("argument", f"`{value[:80]}` is no regular expression: {wrong}")
            if parameter["kind"] == "number" and isinstance(value, str):
                args[name] = _number(name, value)
        one_of = declared.get("need_one_of")
        if one_of and all(args.get(name) is None for name in one_of):
            raise ToolFailure(
                "argument", "none of " + ", ".join(f"`{name}`" for name in one_of) + " has a value"
            )
        return args

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
        )

    def _key(self, effect: Perform) -> str:
        return f"{self._bench.run}:{effect.address}"

    def _ask(
        self,
        effect: Perform,
        question: str,
        unfit: Callable[[str], str] | None = None,
        opens: dict[str, Any] | None = None,
    ) -> str:
        """What a person says. A text that is no answer is said to be none, and asked for again; nothing is recorded of it.

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
            self._bench.say(f"{wrong}; `{str(given).strip()[:80]}` is not taken")
        elif given is not None:
            self._answered[address] = self._bench.givers.get(address, {"by": "command line"})
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
        found = self._functions.get(row)
        if found is None:
            module = importlib.import_module(row.module)
            found = self._functions[row] = getattr(module, row.function)
        return found


def can_tell(tool: str, declared: Mapping[str, Any]) -> bool:
    """Whether an attempt of a `once` tool without an outcome is settled by itself, as far as its declaration tells."""
    row = TOOLS.get(tool)
    return (
        bool(declared.get("repeatable"))
        or "creates" in declared
        or (row is not None and row.probe is not None)
    )


def _path(template: str, args: Mapping[str, Any]) -> str:
    """What a step creates: the declaration's path, with the step's arguments in it."""
    return re.sub(r"\{(\w+)\}", lambda name: str(args.get(name[1]) or ""), template)


def _number(name: str, written: str) -> int | float:
    try:
        return int(written) if written.strip().lstrip("-").isdecimal() else float(written)
    except ValueError:
        raise ToolFailure("argument", f"`{name}` takes a number, found `{written[:80]}`") from None


def _from_outside(args: Mapping[str, Any]) -> bool:
    """Whether a step is given something that says of itself that it is made of text from outside (`"trust": "untrusted"`)."""
    rows = [
        row for value in args.values() for row in (value if isinstance(value, list) else [value])
    ]
    return any(isinstance(row, dict) and row.get("trust") == "untrusted" for row in rows)
