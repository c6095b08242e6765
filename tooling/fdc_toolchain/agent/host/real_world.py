"""The real world of the master controller (`agent.world.World`): files, processes, the journal, the log."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from ...exits import Exit, UsageError, WorldError
from ...runs.observer import Observer, Silent
from ..world import Documents, Driven, PatchRefused, Policy, Polled, Started, Tested

if TYPE_CHECKING:
    from ...engine.events import Outcome, Perform, Record
    from ...tools.context import Context
    from ...workspace.operator import Operator
    from ..stepping import OpenRun
    from .agent_log import ActivityLogger
    from .budget import Purse

FILE_CHARACTERS = 60_000
"""A file with more is not shown to a coder."""


class LocalWorld:
    """One workspace on this machine. `show` makes the display of a run, `network` is what the probe connects to,
    `operator` what whoever starts the controller allows (else the environment says it)."""

    def __init__(
        self,
        root: str,
        *,
        show: Callable[[], Observer] = Silent,
        network: str | None = None,
        operator: Operator | None = None,
    ) -> None:
        self.root = root
        self._show = show
        self._network = network
        self._operator = operator
        self.purse: Purse | None = None
        """The task's account, where it has a budget."""

    # Settings, orientation, the log

    def policy(self) -> Policy:
        """Port `World`."""
        from ...linking.project.settings import read_settings

        found = read_settings(self.root)
        return Policy(
            found.test_command,
            float(found.test_seconds),
            found.debug_attempts,
            float(found.research_seconds),
        )

    def start(self, task_id: str) -> Started:
        """Port `World`."""
        from ...tasks import activity_log, lifecycle
        from ...tasks.capabilities import render
        from ...tasks.probe import NETWORK, probe

        checks = probe(self.root, network=self._network or NETWORK)
        report = lifecycle.start(
            self.root, task_id, transact=partial(activity_log.transact, self.root), probe=lambda: checks,
            now=_now(), new_id=_new_id,
        )  # fmt: skip
        return Started(report.lines, render(checks), report.refused)

    def close(self, task_id: str) -> str | None:
        """Port `World`."""
        from ...tasks import activity_log, lifecycle

        transact = partial(activity_log.transact, self.root)
        report = lifecycle.close(self.root, task_id, transact=transact, now=_now(), new_id=_new_id)
        if report.refused:
            return report.refused
        return lifecycle.finalize(
            self.root, task_id, transact=transact, now=_now(), new_id=_new_id
        ).refused

    def list_files(self) -> Sequence[str]:
        """Port `World`."""
        from ...tools.files import find_tools

        with opened(self.root, "orientation") as context:
            return [str(path) for path in find_tools.list_files({}, context)]

    def documents(self) -> Documents:
        """Port `World`."""
        from ...tools.files.documents import scan

        found = scan(self.root)
        lines = sum(len(document.lines) for document in found.documents)
        return Documents(
            len(found.documents), lines, tuple((one.path, one.reason) for one in found.skipped)
        )

    def latest_postmortem(self, but: str) -> tuple[str, str] | None:
        """Port `World`."""
        from ... import durable

        folder = os.path.join(self.root, "postmortems")
        try:
            names = sorted(
                (name for name in os.listdir(folder) if name.endswith(".md")), reverse=True
            )
        except FileNotFoundError:
            return None
        for name in names:  # the names begin with the date
            data = durable.read(os.path.join(folder, name))
            if data is not None and f"**Task ID:** `{but}`".encode() not in data:
                return f"postmortems/{name}", data.decode("utf-8", "replace")
        return None

    def postmortem(self, task_id: str) -> tuple[str, str]:
        """Port `World`. Raises ValueError where it cannot be made."""
        from ... import durable
        from ...tasks import activity_log, lifecycle

        try:
            path, _ = lifecycle.draft(
                self.root, task_id, activity_log.history(self.root), now=_now()
            )
        except lifecycle.NotPossible as refused:
            raise ValueError(str(refused)) from refused
        return path, (durable.read(os.path.join(self.root, *path.split("/"))) or b"").decode(
            "utf-8", "replace"
        )

    def write(self, path: str, text: str) -> None:
        """Port `World`."""
        from ... import durable

        durable.replace(os.path.join(self.root, *path.split("/")), text.encode("utf-8", "replace"))

    def logger(self) -> ActivityLogger:
        """The activity log, with a session of its own."""
        from ...tasks import activity_log
        from .agent_log import ActivityLogger

        return ActivityLogger(partial(activity_log.append, self.root), _new_id(), _new_id, _now)

    # Lessons

    def lessons(self, postmortem: str) -> Sequence[str]:
        """Port `World`. Raises ValueError for a post-mortem that is no text."""
        from ..lessons import lessons_file

        try:
            added = lessons_file.add(
                self.root, os.path.join(self.root, *postmortem.split("/")), _now().date()
            )
        except lessons_file.Unreadable as wrong:
            raise ValueError(str(wrong)) from wrong
        told = [f"lesson {one['lesson_id'][:8]}: {one['insight']}" for one in added.new]
        return [*told, *(f"{postmortem}:{line}: {note}" for line, note in added.notes)]

    def correct(self) -> Sequence[str]:
        """Port `World`. Raises ValueError where nothing can be applied because AGENTS.md cannot be built."""
        from ..lessons import host, self_correction

        report = self_correction.apply(self.root, host.ports(self.root))
        if report.refused:
            raise ValueError(report.refused)
        return [
            f"lesson {one.lesson['lesson_id'][:8]} {one.outcome}: {one.message}"
            for one in report.results
        ]

    # Runs

    def run_id(self) -> str:
        """Port `World`."""
        from ...workspace import run_folders

        return run_folders.RunIds().run_id()

    def create(self, run: str, program: dict[str, Any], plan: str, task_id: str) -> bool:
        """Port `World`."""
        from ...program.codec import encode
        from ...runs import run_driver
        from ...runs.cost import pricing
        from ...workspace import run_folders

        ceilings = self._ceilings(program, run)
        try:
            rates = pricing.settle(self.root, program, ceilings, self._operator)
        except UsageError as wrong:
            raise ValueError(str(wrong)) from wrong
        run_folders.folder(self.root)
        task = self._task(task_id)
        inputs: dict[str, Any] = {
            "given": {},
            "builtin": {"run": f"runs/{run}"},
            "budget": ceilings,
        }
        if self.purse is not None:
            self.purse.begin(run)
        if rates is not None:
            inputs["model"] = rates
        if task is not None:
            inputs["task"] = task
        store = run_driver.writing(self.root)
        try:
            row = store.run(run)
            if row is not None:
                return encode(store.program(row)) == encode(program)
            store.create(run, plan, program, inputs, time.time())
            return True
        finally:
            store.close()

    def _ceilings(self, program: dict[str, Any], run: str) -> dict[str, float]:
        """What a run of the task may use: what its plan says, and no more than the task has left."""
        left = {} if self.purse is None else self.purse.left(run)
        return {
            measure: min(number, program["budget"].get(measure, number))
            for measure, number in left.items()
        }

    def used(self, run: str) -> dict[str, float]:
        """What a run of the task has spent, with what is set aside for a step that a lost controller began."""
        from ...engine.fold import fold

        try:
            state = fold(*self.peek(run))
        except LookupError:
            return {}  # a controller was lost before it was on record
        return {
            one: state.spent.get(one, 0.0) + state.reserved.get(one, 0.0)
            for one in {*state.spent, *state.reserved}
        }

    def _changed(self, run: str) -> dict[str, float]:
        """The ceilings of a run that are other ones by now, because the controller asked too, or there is more budget."""
        from ...engine.fold import fold

        if self.purse is None or not self.purse.budget:
            return {}
        program, inputs, records = self.peek(run)
        state = fold(program, inputs, records)
        if state.ended and (state.stop is None or state.stop.kind not in ("budget", "overrun")):
            return {}
        wanted = self._ceilings(program, run)
        return {
            measure: number
            for measure, number in wanted.items()
            if state.budget.get(measure) != number
        }

    def _task(self, task_id: str) -> dict[str, Any] | None:
        from ...tasks import activity_log
        from ...tasks.activity import open_tasks

        found = [task for task in open_tasks(activity_log.content(self.root)) if task.id == task_id]
        return found[-1]._asdict() if found else None

    def take(self, run: str) -> OpenRun:
        """Port `World`. Raises LookupError where there is no such run, WorldFailed where somebody drives it."""
        from ...engine.events import Record
        from ...engine.ports import WorldFailed
        from ...program.write_set import write_set
        from ...runs import run_driver
        from ...runs.records.claims import taken
        from ...workspace import run_folders
        from ..stepping import OpenRun

        with ExitStack() as held:
            lock = run_folders.Lock(run_folders.run_folder(self.root, run))
            holder = lock.take()
            if holder is not None:
                raise WorldFailed(
                    f"the run {run} is being driven by {holder}; one controller at a time"
                )
            held.callback(lock.release)
            store = run_driver.writing(self.root)
            held.callback(store.close)
            row = store.run(run)
            if row is None:
                raise LookupError(f"there is no run `{run}` here")
            program, records = store.program(row), store.records(row)
            held.callback(taken(self.root, run, write_set(program, row.inputs)).release)
            journal = store.claim(row)
            at = max((record.at for record in records), default=0.0)
            session = Record(
                "session",
                "",
                journal.epoch,
                "",
                "",
                at,
                {"pid": os.getpid(), "began": round(time.time(), 3)},
            )
            journal.append([session])
            release = held.pop_all().close

        def perform(effect: Perform) -> Outcome:
            with opened(self.root, run) as context:
                return _tools(program, context).perform(effect)

        def finish(status: str, ending: dict[str, Any]) -> None:
            journal.close_run(status, ending, time.time())

        return OpenRun(program, row.inputs, [*records, session], journal, perform, finish, release)

    def peek(self, run: str) -> tuple[dict[str, Any], dict[str, Any], Sequence[Record]]:
        """Port `World`."""
        from ...runs import run_driver

        with run_driver.reading(self.root) as store:
            row = None if store is None else store.run(run)
            if store is None or row is None:
                raise LookupError(f"there is no run `{run}` here")
            return store.program(row), row.inputs, store.records(row)

    def drive(self, run: str, answers: Mapping[str, str]) -> Driven:
        """Port `World`."""
        from ...engine.ports import WorldFailed
        from ...runs import run_driver

        try:
            ended = run_driver.drive_run(
                self.root,
                run,
                self._show(),
                answers=dict(answers),
                operator=self._operator,
                budget=self._changed(run),
            )
        except WorldError as failed:
            return Driven("broken", str(failed))
        except Exit as refused:
            raise WorldFailed(str(refused)) from refused
        stop = ended.stop
        where = (
            ""
            if stop is None
            else f"{stop['path']}:{stop['line']}"
            if stop["line"]
            else str(stop["path"])
        )
        why = ended.message if stop is None else f"{stop['kind']}: {stop['message']}"
        status: Any = ended.status
        kind = "" if stop is None else str(stop["kind"])
        return Driven(
            status,
            why,
            where,
            tuple(ended.questions),
            ended.steps,
            ended.seconds,
            ended.result,
            kind,
        )

    # Code and tests

    def files(self, glob: str) -> Sequence[tuple[str, str]]:
        """Port `World`."""
        from ...workspace.failure import ToolFailure

        with opened(self.root, "code") as context:
            from ...workspace import globs

            found: list[tuple[str, str]] = []
            for path in globs.files(context.root, glob):
                try:
                    text = context.root.read(path).decode("utf-8")
                except (UnicodeDecodeError, ToolFailure):
                    continue  # no text, or gone by now: nothing that a patch could name
                if len(text) <= FILE_CHARACTERS:
                    found.append((path, text))
            return found

    def patch(
        self, task_id: str, number: int, edits: Sequence[Mapping[str, str]], glob: str
    ) -> Sequence[str]:
        """Port `World`."""
        from ...tools.files import patches
        from ...workspace.failure import ToolFailure
        from . import files as agent_files

        with opened(self.root, "patch") as context:
            try:
                patches.keep(
                    context.root, agent_files.made(self.root, task_id), number, edits, glob
                )
                return self.patched(task_id, number) or []
            except ToolFailure as failure:
                raise PatchRefused(str(failure)) from failure

    def patched(self, task_id: str, number: int) -> Sequence[str] | None:
        """Port `World`."""
        from ...tools.files import patches
        from ...workspace.failure import ToolFailure
        from . import files as agent_files

        with opened(self.root, "patch") as context:
            try:
                return patches.finish(context.root, agent_files.made(self.root, task_id), number)
            except ToolFailure as failure:
                raise PatchRefused(str(failure)) from failure

    def test(self, command: str, seconds: float) -> Tested:
        """Port `World`."""
        from ...tools import shell

        with opened(self.root, "tests", seconds) as context:
            outcome = shell.run_in_bash_session({"command": command}, context)
        notes = outcome.notes or {}
        network = bool(notes.get("network"))
        if outcome.failure is not None:
            return Tested(None, str(notes.get("output", "")), outcome.failure.message, network)
        return Tested(outcome.value["exit_code"], outcome.value["output"], None, network)

    # Research

    def web(self) -> bool:
        """Port `World`: what the environment says, which the process inherits."""
        from ...workspace.operator import Operator

        return Operator.of_environment().web

    def launch(self, task_id: str, name: str, question: str, web: bool = True) -> None:
        """Port `World`: the product's own `fdc research`, in a process of its own. No command sees what it finds outside."""
        from ...runs.records import claims
        from ...sandbox import python_process
        from ...text.file_name import slug
        from . import background
        from . import files as agent_files

        hidden = (web and self.web()) or self.outside()
        place = (
            f"runs/{os.path.basename(agent_files.folder(self.root, task_id))}/outside"
            if hidden
            else "research"
        )
        out = f"{place}/{slug(question)}.md"
        options = ["--format", "json", "--output", out, *([] if web else ["--no-web"])]
        argv = python_process.fdc("research", *options, "--", question)
        environment = {**python_process.environment(), claims.KIN: claims.kin()}
        if self.purse is not None and self.purse.budget:
            environment["FDC_MODEL"] = ""  # nobody here could count what it asks, so it quotes
        background.launch(
            os.path.join(agent_files.made(self.root, task_id), name), argv, self.root, environment
        )

    def poll(self, task_id: str, name: str) -> Polled:
        """Port `World`."""
        from . import background
        from . import files as agent_files

        return Polled(*background.look(os.path.join(agent_files.made(self.root, task_id), name)))

    def kill(self, task_id: str, name: str) -> None:
        """Port `World`."""
        from . import background
        from . import files as agent_files

        background.end(os.path.join(agent_files.made(self.root, task_id), name))

    # What is from outside, and what a person says of it

    def outside(self, files: Sequence[tuple[str, str]] | None = None) -> Sequence[str]:
        """Port `World`: what the settings name, what earlier runs wrote, and reports of research that cite an address."""
        from ...linking.project.settings import read_settings
        from ...tools.files.documents import MARK
        from ...workspace import globs, outside_table

        declared = read_settings(self.root).untrusted
        with opened(self.root, "outside") as context:
            found = outside_table.paths(self.root) | {
                path for glob in declared for path in globs.files(context.root, glob)
            }
        if files is None:
            return sorted(found)
        kept = {
            path
            for path, text in files
            if path.startswith("runs/") or (text.startswith(MARK) and "://" in text)
        }
        return sorted(kept | (found & {path for path, _ in files}))

    def unapproved(self, task_id: str, sha256: str) -> str | None:
        """Port `World`."""
        from . import files as agent_files

        return agent_files.unapproved(self.root, sha256, task_id)

    def leave(self, task_id: str, name: str, text: str) -> str:
        """Port `World`."""
        from ... import durable
        from . import files as agent_files

        durable.replace(
            os.path.join(agent_files.made(self.root, task_id), name),
            text.encode("utf-8", "surrogatepass"),
        )
        return f"{agent_files.folder(self.root, task_id)}/{name}"

    def seal(self, *words: str) -> str:
        """Port `World`."""
        from ...engine.ports import WorldFailed
        from ...journal import hash_chain, user_key
        from ...program.codec import canonical

        try:
            key = user_key.key(self.root, make=True)
        except WorldFailed:
            return ""
        plain = hashlib.blake2b(
            b"agent\0" + canonical(list(words)).encode("ascii"), digest_size=hash_chain.SIZE
        ).digest()
        return hash_chain.seal(plain, key).hex()

    # The controller's own record

    def load(self, task_id: str) -> dict[str, Any] | None:
        """Port `World`."""
        from . import files as agent_files

        return agent_files.load(self.root, task_id)

    def save(self, task_id: str, data: dict[str, Any]) -> None:
        """Port `World`."""
        from . import files as agent_files

        agent_files.save(self.root, task_id, data)

    def now(self) -> float:
        """Port `World`."""
        return time.time()

    def pause(self, seconds: float) -> None:
        """Port `World`."""
        time.sleep(seconds)


@contextmanager
def opened(root: str, run: str = "agent", seconds: float = 60.0) -> Iterator[Context]:
    """The surroundings of single tools, outside of a run's journal."""
    from ...runs import tool_runtime
    from ...tools.context import Context, Leaving
    from ...workspace import run_folders
    from ...workspace.operator import Operator
    from . import files as agent_files

    files = tool_runtime.opened(root)
    try:
        yield Context(
            root=files, key=f"{run}:agent", run=run, run_folder=os.path.join(root, run_folders.FOLDER, agent_files.AGENTS),
            say=lambda text: None, ask=_nobody, bound=True, cancelled=Leaving(), shell_seconds=seconds, tool={},
            operator=Operator.of_environment(),
        )  # fmt: skip
    finally:
        files.close()


def _tools(program: dict[str, Any], context: Context) -> Any:
    from ...tools.runtime import LocalTools, Workbench

    bench = Workbench(
        context.run, context.root, context.run_folder, context.say, lambda text: None, {}, 60.0
    )
    return LocalTools(program, bench)


def _nobody(question: str, unfit: Callable[[str], str] | None = None, /) -> str:
    from ...engine.ports import Waiting

    raise Waiting(question)


def _now() -> datetime:
    return datetime.now().astimezone()


def _new_id() -> str:
    return str(uuid.uuid4())
