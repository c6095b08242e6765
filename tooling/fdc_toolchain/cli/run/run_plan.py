"""`fdc run`: executes a plan that was proved, durably."""

from __future__ import annotations

import json
import os

import click

from ...console.options import flag_option, root_of, text_option
from ...console.run_options import (
    APPROVALS,
    budget_of,
    database_option,
    is_terminal,
    pairs_of,
    shared,
    tell_weakness,
)
from ...console.terminal import say
from ...exits import CLEAN, FINDINGS, INTERRUPTED, UsageError
from ...program.model import Program


class _Run(click.Command):
    """Explains how a parameter of the plan is written to who gives it as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as wrong:
            name = wrong.option_name.partition("=")[0].removeprefix("--")
            if wrong.possibilities or not name.isidentifier():
                raise
            how = f"A parameter of the plan is written without dashes: `{name}=VALUE`."
            raise click.UsageError(f"{wrong.format_message()} {how}", ctx) from wrong


@click.command(
    cls=_Run,
    epilog="Exit codes: 0 finished, 1 refused, stopped or cancelled, 2 wrong usage, 3 the environment failed, "
    "or something that the plan needs is missing, 4 a bug of fdc, 5 waiting for a person, 130 interrupted.",
)
@click.argument("plan")
@click.argument("inputs", nargs=-1, metavar="[KEY=VALUE]...")
@flag_option("--dry-run", "Prove the plan and print what it would do, without doing it.")
@text_option(
    "--simulate",
    "FILE|RUN",
    "Do not perform steps: take their results from a script, or from the record of a run.",
)
@text_option("--task-id", "ID", "The open task whose log records each step. [default: the newest]")
@database_option
@flag_option("--trust-settings", "Treat what the settings allow as confirmed (for CI).")
@flag_option("--detach", "With --database: do not wait for the run to end.")
@shared
def command(
    plan: str,
    inputs: tuple[str, ...],
    dry_run: bool,
    simulate: str | None,
    task_id: str | None,
    database: str | None,
    trust_settings: bool,
    detach: bool,
    budgets: tuple[str, ...],
    jobs: int,
    shell_timeout: float | None,
    allow_unsandboxed: bool,
    allow_weak_sandbox: bool,
    allow_network: bool,
    model: str | None,
    approved: tuple[str, ...],
    wait: bool,
    quiet: bool,
    form: str,
    workspace: str | None,
) -> int:
    """Prove PLAN (a file or a registered name), then execute it, one journaled step at a time.

    Give the plan's parameters as KEY=VALUE. The run is recorded under .fdc/ in the
    workspace: `fdc resume` continues an interrupted run, even after kill -9. While a task is
    open (`fdc start`), every step is logged in logs/activity.log.jsonl.
    """
    from ...console.compiling import compile_or_refuse
    from ...console.terminal import style
    from ...linking.project.root import there
    from ...report.terminal.terminal_text import visible
    from ...runs import run_driver
    from ...runs.simulation import source
    from ...runs.workers import remote
    from ...workspace.operator import Operator
    from ..shared.ending import told
    from ..shared.live import progress

    root = root_of(workspace)
    given = pairs_of(inputs)
    budget = budget_of(budgets)
    program = compile_or_refuse(plan, root, trust_settings=trust_settings)
    if program is None:
        _tell_of_another_workspace(plan, root)
        return FINDINGS
    given = run_driver.given_for(program, given)
    operator = Operator.of_environment(
        allow_unsandboxed,
        allow_network,
        model,
        tuple(APPROVALS[one] for one in approved),
        weak=allow_weak_sandbox,
    )
    tell_weakness(operator, root)
    if dry_run:
        from ...engine.reach import reach
        from ...runs.cost.pricing import settle
        from ...runs.dry_run import outline
        from ...runs.granted import absent

        lacks = absent(program, root, operator, reach(program))
        outlined = outline(
            program, root, given, budget, settle(root, program, budget, operator), lacks
        )
        said = {
            "format": 1,
            "run": None,
            "plan": plan,
            "status": "dry run",
            "outline": outlined.splitlines(),
            "missing": lacks,
        }
        click.echo(outlined if form == "text" else f"{json.dumps(said, indent=2)}\n", nl=False)
        return CLEAN
    script = None if simulate is None else source(root, simulate)
    shown = os.path.relpath(there(root, plan), root) if os.path.isfile(plan) else plan
    if detach and not database:
        raise UsageError(
            "`--detach` needs `--database`, or FDC_DATABASE: without one, this process drives the run"
        )
    if database and (simulate is not None or approved):
        raise UsageError("`--simulate` and `--approve` cannot be used with `--database`")
    if database:
        remote.of_workers(
            task_id=task_id, shell_timeout=shell_timeout, allow_unsandboxed=allow_unsandboxed,
            allow_weak_sandbox=allow_weak_sandbox, allow_network=allow_network, model=model,
        )  # fmt: skip
        return _remotely(database, root, program, shown, given, budget, quiet, form, detach)
    task = None if simulate is not None else run_driver.task_for(root, task_id)
    name = run_driver.begin(root, program, shown, given, budget, task, operator, script, wait)
    look = style()
    show = progress(form, quiet, look, is_terminal())
    if form == "text" and not quiet:
        logged = "" if task is None else f", for the task `{visible(task.id)}`"
        if task is not None and task.chosen_of > 1:
            logged += (
                f" (the newest of {task.chosen_of} that are open; `--task-id ID` names another)"
            )
        logged = logged if simulate is None else f", simulated by {visible(simulate)}"
        show.line(f"run {name}: {visible(shown)}{logged}")
    ended = run_driver.drive_run(
        root, name, show, jobs=jobs, shell_seconds=shell_timeout, operator=operator, wait=wait
    )
    return told(None, root, ended, show, form, quiet, look)


def _tell_of_another_workspace(plan: str, root: str) -> None:
    """Says on stderr if a refused plan is in another workspace below this one, which its own command line would name."""
    if os.path.isfile(plan):
        from ...check import key_of
        from ...linking.project.stat_cache import Seen
        from ..linting import other_workspaces

        other_workspaces.say(Seen(), [key_of(plan, root)], root)


def _remotely(
    database: str, root: str, program: Program, shown: str, given: dict[str, str], budget: dict[str, float],
    quiet: bool, form: str, detach: bool,
) -> int:  # fmt: skip
    """Lets the workers of a database drive the run, and shows its progress here."""
    from ...console.terminal import style
    from ...report.terminal.terminal_text import visible
    from ...runs.workers import remote
    from ..shared.ending import told
    from ..shared.live import progress

    name = remote.begin(database, root, program, shown, given, budget)
    look = style()
    show = progress(form, quiet, look, is_terminal())
    if form == "text" and not quiet:
        show.line(f"run {name}: {visible(shown)}, for the workers of {remote.shown(database)}")
    if detach:
        show.close()
        if form == "json" or quiet:
            click.echo(
                json.dumps({"format": 1, "run": name, "status": "new"}) if form == "json" else name
            )
        return CLEAN
    try:
        ended = remote.follow(database, root, name, f"{name}:first", show)
    except KeyboardInterrupt:
        say(remote.detached(name), err=True)
        return INTERRUPTED
    return told(database, root, ended, show, form, quiet, look)
