"""`fdc resume`: continues a run where it stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ...console.options import flag_option, root_of, text_option
from ...console.run_options import (
    APPROVALS,
    budget_of,
    database_option,
    is_terminal,
    shared,
    tell_weakness,
)
from ...console.terminal import say
from ...exits import INTERRUPTED, UsageError

if TYPE_CHECKING:
    from ...engine.drive import Assumption
    from ...journal.sqlite import RunRow, Store


@click.command(epilog="Exit codes as for `fdc run`.")
@click.argument("run", required=False)
@text_option(
    "--answer answers",
    "TEXT",
    "Answer the run's question; ADDRESS=TEXT for one of several.",
    many=True,
)
@text_option(
    "--assume assumptions",
    "done|done:RESULT|not-done",
    "Give the outcome of a step whose outcome is unknown, and (as JSON or text) its result if the plan "
    "keeps it; ADDRESS=done for one of several.",
    many=True,
)
@flag_option("--all every", "Apply the last --assume to every step without its own.")
@flag_option("--retry", "Retry failed steps.")
@flag_option("--trust", "Continue a run that you did not start on this machine.")
@flag_option("--force", "Continue a cancelled run.")
@database_option
@shared
def command(
    run: str | None,
    answers: tuple[str, ...],
    assumptions: tuple[str, ...],
    every: bool,
    retry: bool,
    trust: bool,
    force: bool,
    database: str | None,
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
    """Continue RUN (a name or its beginning) where it stopped. Recorded steps are not repeated.

    Default of RUN: the newest run that can continue. A `once` step that was begun and has no outcome is decided by its tool's
    declaration (docs/runs.md); if that cannot decide, you are asked, and `--assume` is the answer.

    It executes the program that it began with, even if the plan's files have changed.
    """
    from ...console.terminal import style
    from ...engine.drive import EVERY
    from ...report.terminal.terminal_text import visible
    from ...runs import run_driver
    from ...runs.records import questions
    from ...runs.workers import remote
    from ...workspace.operator import Operator
    from ..shared.ending import told
    from ..shared.live import progress

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        row = (
            run_driver.the_run(store, run)
            if run is not None
            else _newest(store, root, database, retry or bool(budgets), force)
        )
        run_driver.known(row)
        records = 0 if store is None else len(store.records(row))
    said = _addressed(row, answers, "answer")
    for text in (*answers, *assumptions):
        if wrong := questions.unkept(text):
            raise UsageError(wrong)
    known: dict[str, Assumption] = {}
    if every:
        *assumptions_, word = assumptions or ("",)
        if not word or word.startswith("main"):
            raise UsageError(
                "`--all` needs one `--assume done` or `--assume not-done` without an address, as the last one"
            )
        known[EVERY] = _assumption(word)
        assumptions = tuple(assumptions_)
    for address, word in _addressed(row, assumptions, "assume").items():
        known[address] = _assumption(word)
    show = progress(form, quiet, style(), is_terminal())
    if form == "text" and not quiet:
        show.line(f"run {row.name}: {visible(row.plan)}, going on")
    if database:
        remote.of_workers(
            trust=trust, force=force, shell_timeout=shell_timeout, allow_unsandboxed=allow_unsandboxed,
            allow_weak_sandbox=allow_weak_sandbox, allow_network=allow_network, model=model,
        )  # fmt: skip
        asked = {
            "again": True,
            "stopped": True,
            "answers": said,
            "assume": known,
            "budget": budget_of(budgets),
            "retry": retry,
            **remote.given_by("fdc resume"),
        }
        try:
            ended = remote.go_on(database, root, row, asked, show, records)
        except KeyboardInterrupt:
            say(remote.detached(row.name), err=True)
            return INTERRUPTED
        return told(database, root, ended, show, form, quiet, style())
    operator = Operator.of_environment(
        allow_unsandboxed,
        allow_network,
        model,
        tuple(APPROVALS[one] for one in approved),
        weak=allow_weak_sandbox,
    )
    tell_weakness(operator, root)
    ended = run_driver.drive_run(
        root, row.name, show,
        answers=said, assume=known, budget=budget_of(budgets), retry=retry, trusted=trust, force=force, jobs=jobs,
        shell_seconds=shell_timeout, seen=row.epoch,
        operator=operator, wait=wait,
    )  # fmt: skip
    return told(None, root, ended, show, form, quiet, style())


def _newest(
    store: Store | None, root: str, database: str | None, again: bool, force: bool
) -> RunRow:
    """The newest run that can continue: one that has not ended; with a retry or a larger budget, also a stopped one."""
    from ...runs.records.open_journal import own
    from ...runs.workers import remote

    states = (
        ["new", "interrupted", "waiting", "broken"] + ["stopped"] * again + ["cancelled"] * force
    )
    for row in reversed(own(store) if store is not None else []):
        status = remote.status_of(store, root, row)
        if status in states or (
            status == "running" and database
        ):  # there, only its progress is shown
            return row
    raise UsageError(
        "no run here can continue; `fdc runs` lists them, and `fdc resume RUN --retry` retries failed steps"
    )


def _assumption(word: str) -> Assumption:
    from ...engine.events import Outcome

    if word.startswith("done:"):
        try:
            return Outcome(json.loads(word[5:], parse_constant=lambda name: name))
        except (ValueError, RecursionError):
            return Outcome(word[5:])
    if word == "done":
        return "done"
    if word == "not-done":
        return "not-done"
    raise UsageError(f"`--assume {word}`: expected `done`, `done:RESULT` or `not-done`")


def _addressed(row: RunRow, words: tuple[str, ...], how: str) -> dict[str, str]:
    """The question of each word: the only open one, or the one with the address before `=`."""
    if not words:
        return {}
    open_ = [one["address"] for one in (row.ending or {}).get("questions", ()) if one["how"] == how]
    out: dict[str, str] = {}
    for word in words:
        address, equals, text = word.partition("=")
        if equals and address in open_:
            if out.get(address, text) != text:
                raise UsageError(f"`--{how}` is given twice for {address}; keep one of them")
            out[address] = text
        elif equals and open_ and address.startswith("main/"):
            raise UsageError(
                f"the run {row.name} has no question at `{address}`; it has questions at {', '.join(open_)}"
            )
        elif len(open_) == 1 and not out:
            out[open_[0]] = word
        elif not open_:
            lost = (
                how == "assume" and row.ending is None
            )  # nothing was asked before the controller died
            hint = (
                f"`--all --assume {word}` answers for each lost step"
                if lost
                else f"see `fdc show {row.name}`"
            )
            raise UsageError(
                f"the run {row.name} has no question that `--{how}` could answer; {hint}"
            )
        else:
            raise UsageError(
                f"`--{how} {word}`: write ADDRESS={how.upper()} with one of {', '.join(open_)}"
            )
    return out
