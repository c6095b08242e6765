"""`fdc show`: prints a run, step by step, from its journal."""

from __future__ import annotations

import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import click

from ...console.options import format_option, root_of, text_option, workspace_option
from ...console.run_options import database_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, UsageError
from ...report.exit_codes import exit_code
from .verify import SEALS

if TYPE_CHECKING:
    from ...engine.events import Mark, Perform, Record
    from ...journal.hash_chain import Checked
    from ...journal.sqlite import RunRow
    from ...report.terminal.style import Style
    from ...runs.records.followed import Rows

_SHOWN = ("tool", "effect", "args", "path", "line")


@click.command()
@click.argument("run")
@text_option("--step address", "ADDRESS", "Show one step in full, with its arguments and result.")
@format_option
@database_option
@workspace_option
def command(
    run: str, address: str | None, form: str, database: str | None, workspace: str | None
) -> int:
    """Show RUN (a name or its beginning): its status and every step."""
    from ...runs import run_driver
    from ...runs.records.followed import followed
    from ...runs.workers import remote

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        row = run_driver.the_run(store, run)
        assert store is not None  # a run was found in it
        program = store.program(row)
        found = followed(program, row, store.records(row))
        rows, kept, marks = found.rows, found.kept, found.state.marks or []
        checked = store.check(row.id)
        status = remote.status_of(store, root, row)
    if address is not None:
        rows = [row for row in rows if row[0].address == address]
        if not rows:
            raise UsageError(f"the run {row.name} has no step at `{address}`")
    if form == "json":
        say_json(_json(row, status, rows, checked, kept, marks))
    elif address is not None:
        for record, effect in rows:
            _whole(record, effect)
    else:
        _lines(
            row,
            status,
            rows,
            checked,
            {**program["budget"], **row.inputs.get("budget", {})},
            kept,
            marks,
        )
    return CLEAN


def _lines(
    row: RunRow,
    status: str,
    rows: Rows,
    checked: Checked,
    budget: dict[str, float],
    kept: list[dict[str, Any]],
    marks: list[Mark],
) -> None:
    from ...console.progress import arguments
    from ...console.terminal import style
    from ...diagnostics.plural import plural
    from ...journal import counter
    from ...report.terminal.terminal_text import visible

    look = style()
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started))
    say(f"run {row.name}: {visible(row.plan)}")
    given = " ".join(
        f"{name}={arguments({name: value})}" for name, value in row.inputs.get("given", {}).items()
    )
    say(f"{status}; started {began}" + (f"; {given}" if given else ""))
    say(f"program {row.digest}")
    if "simulate" in row.inputs:
        say("simulated: no effect was performed")
    if row.origin is not None:
        say(f"forked from {row.origin['run']} at {visible(row.origin['address'])}")
    for record, _ in rows:
        budget = {**budget, **record.body.get("budget", {})} if record.kind == "budget" else budget
    if budget:
        spent = (row.ending or {}).get("spent", {})
        used = ", ".join(
            f"{spent.get(name, 0):g} of {most:g} {name}" for name, most in budget.items()
        )
        say(f"budget {used}")
    whole = "whole" if not checked.faults else f"DAMAGED (`fdc verify {row.name}`)"
    say(f"journal {whole}, {SEALS[checked.signature]}")
    if checked.older:
        say(look.paint("error", visible(counter.outdated(row.name, checked.older))))
    _steps(rows, marks, look)
    steps = sum(
        1
        for record, effect in rows
        if record.kind == "outcome" and effect and effect.kind == "tool"
    )
    _end(row, plural(steps, "step"), kept)


def _steps(rows: Rows, marks: list[Mark], look: Style) -> None:
    """A line for each record, and for what was passed between them."""
    from ...console.progress import arguments, mark_line, step_line
    from ...engine.events import Failure, Outcome
    from ...report.terminal.terminal_text import visible

    ends = ("outcome", "interrupted")
    settled: set[tuple[str, int]] = {
        (record.address, record.turn) for record, _ in rows if record.kind in ends
    }
    passed = deque(marks)
    for number, (record, effect) in enumerate(rows):
        while passed and passed[0].after <= number:
            say(mark_line(passed.popleft(), look))
        if record.kind == "outcome" and effect is not None:
            failed = record.body.get("failed")
            failure = None if failed is None else Failure(failed["kind"], failed["message"])
            outcome = Outcome(record.body.get("value"), failure)
            line = step_line(effect, outcome, record.body.get("took", 0.0), look)
            say(line + _remarks(record))
        elif (
            record.kind == "intent"
            and effect is not None
            and (record.address, record.turn) not in settled
        ):
            say(f"begun  {visible(f'{record.address:<10} {effect.tool} {arguments(effect.args)}')}")
        elif record.kind == "interrupted" and effect is not None:
            what = (
                "stopped by fdc before its end"
                if record.body.get("begun", True)
                else "not begun, because fdc was asked to end"
            )
            say(
                f"begun  {visible(f'{record.address:<10} {effect.tool} {arguments(effect.args)}')}: {what}"
            )
        elif record.kind == "session" and record.turn > 1:
            say(look.paint("faint", f"       resumed by process {record.body.get('pid')}"))
        elif record.kind == "cancel":
            say(look.paint("faint", f"       cancelled by process {record.body.get('pid')}"))
        elif record.kind == "budget":
            say(look.paint("faint", f"       budget changed: {arguments(record.body)}"))
        elif record.kind == "retry":
            say(look.paint("faint", f"       will be retried: {visible(record.address)}"))
    for mark in passed:
        say(mark_line(mark, look))


def _remarks(record: Record) -> str:
    from ...report.terminal.terminal_text import visible

    notes = record.body.get("notes", {})
    shown = []
    if notes.get("trust") == "untrusted":
        shown.append(
            visible(
                f"from outside: {', '.join(map(str, notes.get('from', ())))}".removesuffix(": ")
            )
        )
    if notes.get("sandbox") == "none":
        shown.append("not sandboxed")
    if isinstance(notes.get("run"), str):
        shown.append(f"run {visible(notes['run'])}")
    if "answered" in notes:
        shown.append(f"answered by {visible(str(notes['answered'].get('by')))}")
    if "tries" in notes:
        shown.append(f"{notes['tries']} attempts")
    if "settled" in notes:
        shown.append(str(notes["settled"]))
    if "hint" in notes:
        shown.append(visible(str(notes["hint"])))
    return f"  ({', '.join(shown)})" if shown else ""


def _end(row: RunRow, steps: str, kept: list[dict[str, Any]]) -> None:
    from ...console.progress import Quiet
    from ...console.run_summary import tell
    from ...console.terminal import style
    from ...runs.records.run_outcome import Ended

    if row.ending is None or row.status in ("running", "new"):
        say(f"{steps} so far; `fdc resume {row.name}` continues it")
        return
    said = row.ending
    ended = Ended(
        row.name, row.plan, row.status, said.get("stop"), None, said.get("questions", []), said.get("message", ""),
        said.get("steps", 0), said.get("seconds", 0.0), said.get("spent", {}), kept=kept,
    )  # fmt: skip
    tell(ended, Quiet(), "text", False, style())


def _whole(record: Record, effect: Perform | None) -> None:
    from ...console.terminal import style
    from ...report.terminal.terminal_text import visible

    def block(value: Any, indent: str = "    ") -> None:
        if isinstance(value, dict) and any(
            "\n" in one for one in value.values() if type(one) is str
        ):
            for (
                name,
                one,
            ) in value.items():  # as plain text, for example the output of a command
                click.echo(f"{indent}{visible(name)}:")
                block(one, f"{indent}  ")
            return
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        for line in text.rstrip("\n").split("\n"):
            click.echo(f"{indent}{visible(line)}")

    click.echo(
        f"{record.kind} {visible(record.address)}, attempt {record.turn}, {record.at:.3f} s into the run"
    )
    code = exit_code(record.body.get("value"))
    if code is not None:
        click.echo(style().paint("error" if code else "added", f"  exit code {code}"))
    if effect is not None:
        click.echo(
            f"  {visible(effect.tool)} ({effect.effect}), {visible(effect.path)}:{effect.line}"
        )
        for name, value in effect.args.items():
            click.echo(f"  {visible(name)}:")
            block(value)
    for name, value in record.body.items():
        click.echo(f"  {name}:")
        block(value)


def _json(
    row: RunRow,
    status: str,
    rows: Rows,
    checked: Checked,
    kept: list[dict[str, Any]],
    marks: list[Mark],
) -> dict[str, Any]:
    return {
        "format": 1,
        "run": row.name,
        "plan": row.plan,
        "status": status,
        "program": row.digest,
        "inputs": row.inputs,
        "origin": row.origin,
        "journal": {"whole": not checked.faults, "seal": checked.signature, "older": checked.older},
        "ending": row.ending,
        **({"kept": kept} if kept else {}),
        "passed": [mark._asdict() for mark in marks],
        "records": [
            {
                "kind": record.kind,
                "address": record.address,
                "turn": record.turn,
                "at": record.at,
                "body": record.body,
                **({} if effect is None else {name: getattr(effect, name) for name in _SHOWN}),
                **(
                    {}
                    if (code := exit_code(record.body.get("value"))) is None
                    else {"exit_code": code}
                ),
            }
            for record, effect in rows
        ],
    }
