"""Writes a run's steps to the activity log of its task: one line for each step that returned (FDC-68).

A line depends only on a journal record, and its `log_id` on the run, the step's address and the attempt.
So if a controller is killed between journal and log, the next one adds the missing lines, and none twice.

A separate thread writes the lines as the steps return; the run continues meanwhile.
They are forced to the disk when the controller ends. Until then the journal has them.
"""

from __future__ import annotations

import queue
import re
import threading
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..engine.events import Failure, Outcome, Perform, Record
from ..engine.ports import Progress, WorldFailed
from ..engine.values import text as written
from ..exits import reason
from ..named_tuples import NamedTuple
from ..narrow import narrow
from ..program.model import Instruction, PlanBody, Program, ToolRow
from ..tools.files.documents import MARK
from ..workspace.secrets.scrubber import Scrubber
from ..workspace.secrets.values import values_of
from . import activity_log
from .activity import Entry, Status, Task, entry, log_ids

if TYPE_CHECKING:
    from ..certificate.forms import Block

_NAMESPACE = uuid.UUID("6d0ac5b0-6f1d-5c7e-9f6b-5f0d0f6c0001")
_MOST = 200
"""Maximum characters of an argument or message in a line; the journal has all of it."""

BY_TOOL = {
    "set_plan": "PLAN_UPDATE",
    "plan_step_complete": "PLAN_UPDATE",
    "record_user_approval_for_plan": "PLAN_UPDATE",
    "plan_deep_research": "PLAN_UPDATE",
    "request_code_review": "CRITIC_FEEDBACK",
    "reply_to_pr_comments": "CRITIC_FEEDBACK",
    "message_user": "INFO",
    "request_user_input": "INFO",
}
"""Types of action (FDC-107) of tools for which the action type and the parameters do not decide it."""

BY_ACTION = {
    "read_op": "FILE_READ",
    "write_op": "FILE_WRITE",
    "delete_op": "FILE_WRITE",
    "move_op": "FILE_WRITE",
}


class Step(NamedTuple):
    """One step that returned, and when."""

    effect: Perform
    outcome: Outcome
    took: float
    when: datetime
    late: bool = False


WRITERS = frozenset(("close_task",))
"""Tools that write to the log themselves."""


class RunLog:
    """The log of one run, for the controller that drives it. Use from the driving thread."""

    def __init__(self, root: str, run: str, program: Program, task: Task) -> None:
        self._root = root
        self._run = run
        self._program = program
        self._task = task
        self._secrets = Scrubber(more=lambda: values_of(root))
        self._steps: queue.SimpleQueue[Step | threading.Event | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failed: Exception | None = None
        self._wrote = False

    def catch_up(self, rows: Iterable[tuple[Record, Perform | None]]) -> None:
        """Adds the lines of recorded steps that the log does not have. Raises WorldFailed.

        `rows` are the journal's records with the effects that they belong to (`engine.fold.fold`).
        """
        steps = list(_recorded(rows))
        if not steps:
            return
        try:
            known = log_ids(activity_log.content(self._root))
            missing = [step for step in steps if log_id(self._run, step.effect) not in known]
            if missing:
                activity_log.append(self._root, *(self._entry(step) for step in missing))
        except OSError as failed:
            raise _world(failed) from failed

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """A step returned and is in the journal. Raises WorldFailed where an earlier line could not be written."""
        if self._failed is not None:
            raise self._failed
        if effect.kind != "tool":
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="fdc-run-log", daemon=True)
            self._thread.start()
        self._steps.put(Step(effect, outcome, took, datetime.now(UTC)))

    def settle(self) -> None:
        """Waits until the lines of all steps so far are written or have failed, so that later lines come after them."""
        if self._thread is not None:
            settled = threading.Event()
            self._steps.put(settled)
            settled.wait()

    def close(self) -> None:
        """Writes the remaining lines and forces them to the disk. Raises WorldFailed, or ValidationError for a bug of fdc."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._steps.put(None)
        thread.join()
        if self._failed is not None:
            raise self._failed
        if self._wrote:
            try:
                activity_log.sync(self._root)
            except OSError as failed:
                raise _world(failed) from failed

    def _write(self) -> None:
        while True:
            batch = [self._steps.get()]
            while not self._steps.empty():
                batch.append(self._steps.get())
            steps = [step for step in batch if isinstance(step, Step)]
            if steps and self._failed is None:
                try:
                    activity_log.append(self._root, *map(self._entry, steps), sync=False)
                    self._wrote = True
                except OSError as failed:
                    self._failed = _world(failed)
                except Exception as bug:
                    self._failed = bug
            for item in batch:
                if isinstance(item, threading.Event):
                    item.set()
            if None in batch:
                return

    def _entry(self, step: Step) -> Entry:
        effect = step.effect._replace(args=narrow(self._secrets.value(step.effect.args), dict))
        return entry_of(self._run, self._program, self._task, step._replace(effect=effect))


class Watched:
    """A `Progress` that also logs every step."""

    def __init__(self, show: Progress, log: RunLog) -> None:
        self._show = show
        self._log = log
        self.say: Callable[[str], None] = show.say

    def begun(self, effect: Perform) -> None:
        """Port `Progress`."""
        self._show.begun(effect)
        if effect.tool in WRITERS:
            self._log.settle()

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        self._show.done(effect, outcome, took)
        self._log.done(effect, outcome, took)


def log_id(run: str, effect: Perform) -> str:
    """The id of a step's line, which does not depend on the writer and the time."""
    return str(uuid.uuid5(_NAMESPACE, f"{run}:{effect.address}:{effect.turn}"))


def entry_of(run: str, program: Program, task: Task, step: Step) -> Entry:
    """The log entry of one step, from its record. Pure."""
    effect, outcome, took = step.effect, step.outcome, step.took
    stack, instruction = stack_of(program, effect.address)
    action = instruction.get("action") if instruction else None
    details: dict[str, Any] = {
        "run": run,
        "tool": effect.tool,
        "effect": effect.effect,
        "arguments": {
            name: _short(value) for name, value in effect.args.items() if value is not None
        },
        "plan": effect.path,
        "line": effect.line,
        "seconds": took,
    }
    path = effect.args.get("path")
    if isinstance(path, str):
        details["path"] = _short(path)
    if effect.turn > 1:
        details["attempt"] = effect.turn
    if outcome.notes:
        details["notes"] = {name: _short(value) for name, value in outcome.notes.items()}
    if step.late:
        details["late"] = "its controller was lost before it could write this line"
    status, error = _outcome(outcome)
    evidence = instruction.get("evidence") if instruction else None
    return entry(
        action_type(effect, outcome, action, program["tools"].get(effect.tool)),
        details,
        task_id=task.id,
        phase=3,
        session_id=task.session,
        log_id=log_id(run, effect),
        now=step.when,
        status=status,
        plan_step=effect.address,
        error=error,
        evidence_citation=evidence if isinstance(evidence, str) and evidence else None,
        context={"plan_execution_stack": stack},
    )


def action_type(effect: Perform, outcome: Outcome, action: str | None, tool: ToolRow | None) -> str:
    """The type of FDC-107 of a step: by its tool, its action type and what it touches.

    A file that begins as reports of research do is a RESEARCH_REPORT once it is written (FDC-57).
    """
    kind = BY_TOOL.get(effect.tool)
    if kind is not None:
        return kind
    parameters = tool.get("parameters", ()) if tool else ()
    accesses = {parameter.get("access") for parameter in parameters} - {None, "read"}
    if action in ("write_op", "delete_op", "move_op") or (action not in BY_ACTION and accesses):
        content = effect.args.get("content")
        report = isinstance(content, str) and content.startswith(MARK) and outcome.failure is None
        return "RESEARCH_REPORT" if report else "FILE_WRITE"
    if effect.effect == "read" and tool and tool.get("trust") == "untrusted":
        local = effect.args.get("target") == "local_filesystem"
        return "FILE_READ" if local else "EXTERNAL_RAG_QUERY"
    return BY_ACTION.get(action or "", "INFO" if action == "step_op" else "TOOL_EXEC")


def stack_of(program: Program, address: str) -> tuple[list[dict[str, object]], Instruction | None]:
    """The plans on the stack at an address, the root first, and the instruction that stands there.

    Each says its path, its instruction under way and how many it has, as FDC-105 does.
    """
    plan = program["plans"][program["root"]]
    block = plan["body"]
    rest = address.removeprefix("main")
    stack: list[dict[str, object]] = []
    top = 0
    item: Instruction | None = None
    while match := re.match(r"/([0-9]+)", rest):
        number = int(match[1])
        if number > len(block):
            item = None
            break
        item, rest = block[number - 1], rest[match.end() :]
        top = top or number
        inner = re.match(r"\[[0-9]+\]|#[0-9]+|\.(then|else)", rest)
        if rest.startswith(">") and item["op"] == "call":
            stack.append(_frame(plan, top, item))
            plan = program["plans"][item["plan"]]
            block, rest, top = plan["body"], rest[1 + len(item["name"] or "") :], 0
        elif inner:
            side: Block = "then" if inner[1] == "then" else "else" if inner[1] else "body"
            block, rest = item[side], rest[inner.end() :]
    stack.append(_frame(plan, top, item))
    return stack, item


def _frame(plan: PlanBody, top: int, item: Instruction | None) -> dict[str, object]:
    line = 0 if item is None else item["line"]
    return {
        "plan_path": plan["path"],
        "current_step": top,
        "plan_length": len(plan["body"]),
        "line": line,
    }


def _outcome(outcome: Outcome) -> tuple[Status, dict[str, str] | None]:
    """The status and the error. A command that failed counts as a failure, also where the plan keeps its result."""
    failure = outcome.failure
    if failure is not None:
        return "FAILURE", {"kind": failure.kind, "message": failure.message}
    value = outcome.value
    code = value.get("exit_code") if isinstance(value, dict) else None
    if code:
        return "FAILURE", {
            "kind": "exit",
            "message": f"the command ended with exit code {code}; the plan keeps that",
        }
    return "SUCCESS", None


def _recorded(rows: Iterable[tuple[Record, Perform | None]]) -> Iterable[Step]:
    """The steps that controllers of this run performed, with the time as far as the journal has it."""
    began: float | None = None
    for record, effect in rows:
        if record.kind == "session":
            began = record.body.get("began", 0.0) - record.at
        elif (
            record.kind == "outcome"
            and effect is not None
            and effect.kind == "tool"
            and began is not None
        ):
            body = record.body
            failed = body.get("failed")
            failure = None if failed is None else Failure(failed["kind"], failed["message"])
            outcome = Outcome(body.get("value"), failure, body.get("usage"), body.get("notes"))
            at = datetime.fromtimestamp(began + record.at, UTC)
            yield Step(
                effect._replace(turn=record.turn), outcome, body.get("took", 0.0), at, late=True
            )


def _short(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    shown = written(value)
    return shown if len(shown) <= _MOST else f"{shown[:_MOST]} ... ({len(shown)} characters)"


def _world(failed: OSError) -> WorldFailed:
    return WorldFailed(f"the activity log cannot be written: {reason(failed)}")
