"""The product beside the reference interpreter: lint and the engine, in this process, in a world of tests/reference."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from fdc_toolchain.check import Checked, check_paths, program_of
from fdc_toolchain.engine.drive import Ports, drive
from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.program import causes
from fdc_toolchain.program.codec import digest
from fdc_toolchain.runs.cost.cost_bound import worst
from fdc_toolchain.runs.dry_run import listing
from fdc_toolchain.testing import FakeClock, MemoryJournal, Silence
from fdc_toolchain.tools.context import Context
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

from tests.reference import tools as reference_tools
from tests.reference.interpret import RUN
from tests.reference.runs import PlanSet, folder
from tests.reference.stops import Stop
from tests.reference.world import World

STOPS = {
    "require": "gate",
    "bound": "limit",
    "budget": "budget",
    "plan_budget": "budget",
    "value": "value",
    "stalled": "stalled",
}
"""The engine's kinds of stops that are one cause each; `bug` is one that the linter should have refused."""


FAILURES = {
    "file": "path",
    "refused": "person",
    "size": "limit",
    "timeout": "limit",
    "net": "world",
    "busy": "world",
    "input": "world",
}
"""Kinds of failures of tools that the reference calls otherwise."""
NEVER = {"automaton": "bug", "unfinished": "bug", "unbound": "bug", "stack": "bug", "name": "bug"}
"""What the engine takes for a bug of the linter, whatever it was."""
LOOSE = {"type": "argument", "path": "argument", "missing": "argument"}
"""Kinds between which the pages draw no line: compared as one."""


def cause(said: str | None) -> str | None:
    """A cause as it is compared."""
    said = NEVER.get(said or "", said)
    return LOOSE.get(said or "", said)


def plain(tool: str, request: dict[str, Any]) -> Any:
    """A request as it is compared: of a command its words, of a kept failure all but the sentence."""
    if tool == "run_in_bash_session":
        return shlex.split(str(request.get("command", "")))
    return json.loads(without_why(json.dumps(request, sort_keys=True)), object_hook=_without_why)


def _without_why(value: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key != "why" or "failed" not in value}


def without_why(text: str) -> str:
    """A text without the sentences of kept failures that became text in it, however often they were quoted."""
    return re.sub(r'(why\\*": ?\\*").*?(\\*", ?\\*"item)', r"\1\2", text)


class Ran(NamedTuple):
    """How the engine ended: `cause` as the reference names them (None: finished), where, why, what in which order."""

    cause: str | None
    address: str | None
    why: str
    steps: list[tuple[str, str, dict[str, Any], str]]
    turns: list[str]
    messages: list[str]
    cause_said: dict[str, Any]
    """What the product says of the stop's cause (`program.causes.explain`); empty where nothing stopped."""


def lint(plans: PlanSet, root: Path) -> Checked:
    """The verdict on the set's root, whose files are in the folder."""
    return check_paths([str(root / plans.root)], str(root))


def errors(checked: Checked) -> list[Any]:
    """The findings that refuse the plan."""
    return [one for one in checked.diagnostics if one.severity == "error"]


def most_steps(checked: Checked, root: Path, inputs: dict[str, str]) -> tuple[float | None, bool]:
    """The number of steps that is printed before a run with these inputs, None where it is a formula; whether it rests on
    commands that make no files."""
    found = worst(program_of(checked), inputs, 0.0, lambda glob: listing(str(root), glob))
    steps = found.cost["steps"]
    return (None if any(steps) else steps.get((), 0)), bool(found.assumed)


def program_digest(plans: PlanSet) -> str | None:
    """The digest of the compiled program of a set's root; None where lint refuses it."""
    with folder(plans.files) as root:
        checked = lint(plans, root)
        return None if errors(checked) or checked.fragments else digest(program_of(checked))


class _Watched:
    """The tools of this machine, with what was asked of them in order."""

    def __init__(self, inner: LocalTools, world: World) -> None:
        self.inner, self.world = inner, world
        self.steps: list[tuple[str, str, dict[str, Any], str]] = []
        self.turns: list[str] = []

    def perform(self, effect: Perform) -> Outcome:
        self.world.at = effect.address
        self.turns.append(effect.address)
        outcome = self.inner.perform(effect)
        if effect.kind == "tool":
            asked = {name: value for name, value in effect.args.items() if value is not None}
            self.steps.append(
                (
                    effect.address,
                    effect.tool,
                    asked,
                    outcome.failure.kind if outcome.failure else "ok",
                )
            )
        return outcome

    def probe(self, effect: Perform) -> Any:
        return self.inner.probe(effect)

    def cancel(self) -> None:
        self.inner.cancel()


def _may_write(grants: Any, path: str) -> bool:
    def fits(glob: Any) -> bool:
        return reference_tools.matches("".join(text for _, text in glob), path, dots=True)

    return not reference_tools.is_protected(path) and all(
        any(map(fits, grant.get("write", ()))) for grant in grants
    )


def overrides(world: World, root: Path) -> dict[str, Any]:
    """Handlers that ask the world instead of a shell, a person or the network."""

    def told(stop: Stop) -> ToolFailure:
        return ToolFailure({"person": "refused"}.get(stop.cause, stop.cause), stop.why)

    def command(args: dict[str, Any], context: Context) -> Any:
        return world.command(args["command"], root, lambda path: _may_write(context.grants, path))

    def person(tool: str) -> Any:
        def ask(args: dict[str, Any], context: Context) -> Any:
            try:
                return world.person(tool, args.get("text", ""))
            except Stop as stop:
                raise told(stop) from stop

        return ask

    people = ("request_user_input", "record_user_approval_for_plan", "request_code_review")
    return {"run_in_bash_session": command, **{tool: person(tool) for tool in people}}


def run(checked: Checked, root: Path, world: World, inputs: dict[str, str]) -> Ran:
    """Drives the proved program in the folder, one effect at a time. Bugs of the engine that it reports end as `bug`."""
    program = program_of(checked)
    given = {"given": inputs, "builtin": {"run": RUN}, "budget": {}}
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fdc-run-") as folder:
        opened = Root(str(root))
        bench = Workbench(
            "R", opened, folder, said.append, lambda question: None, {}, 20.0, Operator(unsandboxed=True),
            overrides=overrides(world, root),
        )  # fmt: skip
        try:
            works = _Watched(LocalTools(program, bench), world)
            ports = Ports(MemoryJournal(), works, FakeClock(), Silence())
            ending = drive(program, fold(program, given, []), ports, room=1)
        finally:
            opened.close()
    stop = ending.stop
    if stop is None:
        end = None if ending.status == "finished" else ending.status
        return Ran(end, None, ending.message, works.steps, works.turns, said, {})
    failed = stop.kind == "failure"
    kind = (
        next((step[3] for step in reversed(works.steps) if step[0] == stop.address), "path")
        if failed
        else stop.failure
    )
    found = causes.explain(
        program, {"kind": stop.kind, "path": stop.path, "line": stop.line, "failure": kind}
    )
    named = cause(FAILURES.get(kind, kind)) if failed else STOPS.get(stop.kind, stop.kind)
    return Ran(named, stop.address, stop.message, works.steps, works.turns, said, found)
