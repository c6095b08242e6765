"""The real environment of the master controller (`agent.world.World`): files, processes, the journal, the log."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...runs.observer import Observer, Silent
from ..world import Documents, Driven, Policy, Polled, Started
from . import task_runs
from .tool_context import opened

if TYPE_CHECKING:
    from ...engine.events import Record
    from ...program.model import Program
    from ...workspace.operator import Operator
    from ..stepping import OpenRun
    from .agent_log import ActivityLogger
    from .budget import Purse

FILE_CHARACTERS = 60_000
"""Maximum size of a file that is shown to a coder."""


class LocalWorld:
    """One workspace on this machine. `show` makes the display of a run, `network` is what the probe connects to,
    `operator` what the operator allows (else the environment says it)."""

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

    def list_files(self) -> Sequence[str] | None:
        """Port `World`."""
        from ...tools.files import find_tools
        from ...workspace.failure import ToolFailure

        with opened(self.root, "orientation") as context:
            try:
                return [str(path) for path in find_tools.list_files({}, context)]
            except ToolFailure as failed:
                if failed.kind != "size":
                    raise
                return None

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

        durable.replace(durable.inside(self.root, path), text.encode("utf-8", "replace"))

    def logger(self) -> ActivityLogger:
        """The activity log, with a session of its own."""
        from ...tasks import activity_log
        from .agent_log import ActivityLogger

        return ActivityLogger(partial(activity_log.append, self.root), _new_id(), _new_id, _now)

    # Lessons

    def lessons(self, postmortem: str) -> Sequence[str]:
        """Port `World`. Raises ValueError for a post-mortem that is not text."""
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
            f"lesson {result.lesson['lesson_id'][:8]} {result.outcome}: {result.message}"
            for result in report.results
        ]

    # Runs

    def run_id(self) -> str:
        """Port `World`."""
        from ...workspace import run_folders

        return run_folders.RunIds().run_id()

    def create(
        self,
        run: str,
        program: Program,
        plan: str,
        task_id: str,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """Port `World`."""
        return task_runs.create(
            self.root, run, program, plan, task_id, self.purse, self._operator, given
        )

    def used(self, run: str) -> dict[str, float]:
        """What a run of the task has spent, including the reservation of a step that a lost controller began."""
        return task_runs.used(self.root, run)

    def take(self, run: str) -> OpenRun:
        """Port `World`. Raises LookupError if the run does not exist, WorldFailed if it is being driven."""
        return task_runs.take(self.root, run)

    def peek(self, run: str) -> tuple[Program, dict[str, object], Sequence[Record]]:
        """Port `World`."""
        return task_runs.peek(self.root, run)

    def drive(self, run: str, answers: Mapping[str, str]) -> Driven:
        """Port `World`."""
        show = self._show()
        return task_runs.drive(self.root, run, answers, show, self._operator, self.purse)

    # Code

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
                    continue  # not text, or deleted: a patch cannot name it
                if len(text) <= FILE_CHARACTERS:
                    found.append((path, text))
            return found

    # Research

    def web(self) -> bool:
        """Port `World`: according to the environment, which the process inherits."""
        from ...workspace.operator import Operator

        return Operator.of_environment().web

    def launch(self, task_id: str, name: str, question: str, web: bool = True) -> None:
        """Port `World`: `fdc research` in a separate process. Commands cannot see the text from outside that it finds."""
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
            environment["FDC_MODEL"] = (
                ""  # its questions could not be counted in the budget, so it only quotes
            )
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

    # Text from outside, and approvals of it

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

    def load(self, task_id: str) -> dict[str, object] | None:
        """Port `World`."""
        from . import files as agent_files

        return agent_files.load(self.root, task_id)

    def save(self, task_id: str, data: Mapping[str, object]) -> None:
        """Port `World`."""
        from . import files as agent_files

        agent_files.save(self.root, task_id, data)

    def now(self) -> float:
        """Port `World`."""
        return time.time()

    def pause(self, seconds: float) -> None:
        """Port `World`."""
        time.sleep(seconds)


def _now() -> datetime:
    return datetime.now().astimezone()


def _new_id() -> str:
    return str(uuid.uuid4())
