"""Begins runs: checks a plan and its inputs, and records a new run.

program = program_of(checked_plan("plans/x.plan", root))
name = begin(root, program, "plans/x.plan", {"topic": "tea"}, {})
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from ..exits import Busy, Missing, NotGranted, UsageError, WorldError, reason
from .notices import notice
from .records.open_journal import writing

if TYPE_CHECKING:
    from ..check import Checked
    from ..engine.state import RunState
    from ..journal.sqlite import RunRow, Store
    from ..linking.link import Linker
    from ..program.model import Program
    from ..tasks.activity import Task
    from ..workspace.operator import Operator

_DOCUMENT = re.compile(r"plan_synth_[^/]*_final\.md$")


def _for_people(document: str) -> str:
    """The message for a person who runs a document of `fdc lgtm` (LGTM-79)."""
    executable = document.removesuffix("_final.md") + "_execute.plan"
    said = f"`{document}` is written for people and cannot be run"
    if not os.path.isfile(executable):
        return f"{said}; a model did not write code for it that a program can apply"
    return f"{said}; `fdc run {executable}` applies its code after an approval"


def checked_plan(plan: str, root: str, *, trust_settings: bool = False) -> Checked:
    """Checks a plan (a path, or a registered name) and all plans that it calls; returns the result.

    `trust_settings`: errors that the settings allow count as confirmed.
    Raises UsageError if the plan does not exist, or if the settings are wrong.
    """
    from ..check import check
    from ..linking.link import Linker
    from ..workspace.confirmed_settings import settings_of

    linker = Linker(root, settings_of(root, trust=trust_settings))
    return check(linker, [plan_key(linker, plan, plan)], whole=True)


def plan_key(linker: Linker, plan: str, path: str) -> str:
    """The key of a plan: of the file at `path`, else of the registered name `plan`. Raises UsageError if neither exists."""
    from ..check import key_of
    from ..linking.registry import REGISTRY
    from ..text.suggest import did_you_mean

    is_file = os.path.isfile(path)
    if is_file and _DOCUMENT.search(plan):
        raise UsageError(_for_people(plan))
    key = key_of(path, linker.root) if is_file else linker.resolve(plan)[0]
    if key is None and plan and os.path.isdir(path):
        raise Missing(f"`{plan}` is a folder: it is neither a file nor a registered name")
    if key is None:
        hint = did_you_mean(plan, linker.callable_names())
        if any(found.code == "FDC325" for found in linker.diagnostics):
            hint = f"`{REGISTRY}` is damaged, and `fdc lint` shows where"
        none = f"the plan `{plan}` is neither a file nor a registered name"
        raise Missing(none + (f"; {hint}" if hint else ""))
    return key


def given_for(program: Program, pairs: Mapping[str, str]) -> dict[str, str]:
    """The root plan's inputs. Raises UsageError for an unknown or a missing input."""
    from ..text.suggest import did_you_mean

    params = {param["name"]: param for param in program["plans"][program["root"]]["params"]}
    for name in pairs:
        if name not in params:
            hint = did_you_mean(name, params)
            known = (
                f"its parameters are {', '.join(f'`{name}`' for name in params)}"
                if params
                else "it has no parameters"
            )
            raise UsageError(f"the plan has no parameter `{name}`; {hint or known}")
    missing = [
        name for name, param in params.items() if param.get("default") is None and name not in pairs
    ]
    if missing:
        raise UsageError(f"the plan needs {', '.join(f'`{name}=VALUE`' for name in missing)}")
    return dict(pairs)


def task_for(root: str, asked: str | None) -> Task | None:
    """The task of a new run: the requested one, else the newest open one.

    Returns None if no task is open. Raises UsageError if the requested task is not open, WorldError
    if the log cannot be read.
    """
    from ..tasks import activity_log
    from ..tasks.activity import open_tasks

    try:
        found = open_tasks(activity_log.content(root))
    except OSError as failed:
        raise WorldError(f"the activity log cannot be read: {reason(failed)}") from failed
    if asked is None:
        return found[-1]._replace(chosen_of=len(found)) if found else None
    for task in found:
        if task.id == asked:
            return task
    raise UsageError(
        f"the task `{asked}` is not open here; start one with `fdc start --task-id ID`"
    )


def granted(
    root: str,
    program: Program,
    operator: Operator | None,
    subject: str = "the run cannot begin",
    under_way: Callable[[], RunState] | None = None,
) -> None:
    """Raises NotGranted if this machine or its operator does not provide what a run of the program needs (`runs.granted`).

    `under_way`: makes the state of a continued run, whose completed steps need nothing. Called only if something is missing.
    """
    from ..engine.reach import reach
    from ..workspace.operator import Operator
    from .granted import ABSENT, absent

    allowed = operator or Operator.of_environment()
    found = absent(program, root, allowed, reach(program))
    if found and under_way is not None:
        found = absent(program, root, allowed, reach(program, under_way()))
    if found:
        raise NotGranted(f"{subject}, because {ABSENT}", found)


def in_the_way(said: str, wait: bool | None) -> Busy:
    """The message that another run blocks this one. `wait` None: the command has no `--wait`."""
    return Busy(
        f"{said}; start this run when it has ended"
        + (", or use `--wait`" if wait is not None else "")
    )


def begin(
    root: str,
    program: Program,
    plan: str,
    given: Mapping[str, str],
    budget: Mapping[str, float],
    task: Task | None = None,
    operator: Operator | None = None,
    simulate: Mapping[str, object] | None = None,
    wait: bool | None = None,
    embedded: bool = False,
    at_once: bool = True,
) -> str:
    """Records a new run, none of whose steps has been performed; returns its name. Raises WorldError.

    Also raised if a running run may write the same paths (`runs.records.claims`), unless `wait`: then its driver waits.

    Raises Exit for a program without a valid certificate (`certified.certified`).
    Raises UsageError for a budget that cannot be kept to (`money.settle`), NotGranted where something is not there that it
    needs. `simulate` is a script (`tools.simulate`): nothing of such a run is ever performed, so it needs nothing.
    `embedded`: runs that this process drives may be in the way, too. `at_once`: the run is driven next; if that is refused
    because another run is in the way after all, its record is taken back (`withdraw`).
    Where a `task` is given, every step of the run, resumed or not, gets a line in that task's log (FDC-68), and `close_task`
    closes it.
    """
    from ..journal import user_key
    from ..program.write_set import write_set
    from ..workspace import run_folders
    from .certified import certified, put_new
    from .cost import pricing
    from .records import claims

    proved = certified(program, plan, root)
    rates = pricing.settle(root, program, budget, operator)
    if simulate is None:
        granted(root, program, operator)
    run_folders.folder(root)
    name = run_folders.RunIds().run_id()
    inputs = {"given": dict(given), "builtin": {"run": f"runs/{name}"}, "budget": dict(budget)}
    if rates is not None:
        inputs["model"] = rates
    if simulate is not None:
        inputs["simulate"] = simulate
    if task is not None:
        inputs["task"] = task._asdict()
    other = (
        None
        if wait
        else claims.in_the_way(root, lambda: write_set(program, inputs), alone=embedded)
    )
    if other is not None:
        raise in_the_way(other.said(), wait)
    with closing(writing(root)) as store:
        name = put_new(store, proved, name, inputs)
    if at_once:
        _begun.add(name)
    if not user_key.lasts():
        said = f"fdc: {user_key.key_path()} cannot be written, so fdc cannot recognise run {name} as yours later: "
        notice(f"{said}`fdc resume` will need --trust; {user_key.ELSEWHERE}")
    return name


_begun: set[str] = set()
"""Runs that this process has recorded in order to drive them next, and does not drive yet."""


def driven(name: str) -> None:
    """Nothing is in the way of the run: what refuses it from now on leaves it on record."""
    _begun.discard(name)


def withdraw(store: Store, root: str, name: str) -> None:
    """Takes back the record of a run that this process has just begun, and that is refused. Raises WorldFailed."""
    if name not in _begun:
        return
    _begun.discard(name)
    import shutil

    from ..workspace.run_folders import run_folder

    def untouched() -> list[RunRow]:
        row = store.run(name)
        return [row] if row is not None and (row.status, row.epoch) == ("new", 0) else []

    if store.remove([row.id for row in untouched()], untouched):
        store.free()
        shutil.rmtree(run_folder(root, name), ignore_errors=True)
