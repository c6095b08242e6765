"""`fdc diff`: compares two plans (`diff_plans`), or two runs: steps, outcomes, order, the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ...console.options import choice_option, flag_option, folder_named, root_of, workspace_option
from ...console.run_options import database_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, FINDINGS, UsageError

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store
    from ...runs.records.followed import Rows


@click.command(
    epilog="Exit codes: 0 equal runs, or plans compared; 1 runs differ, a plan has errors, or the condition of --exit-code or"
    " --fail-on is met; 2 wrong usage, 3 the journal cannot be read."
)
@click.argument("one")
@click.argument("other")
@choice_option(
    "--format form", ["text", "json", "html"], "Lines, JSON, or a page (for plans).", default="text"
)
@flag_option("--exit-code asked", "Exit 1 if two plans differ.")
@choice_option(
    "--fail-on",
    ["more-access", "more-cost", "weaker-gate"],
    "Exit 1 unless it is proved that the second plan does not have this. May be repeated.",
    many=True,
)
@database_option
@workspace_option
@click.option(
    "--old-workspace",
    metavar="DIR",
    callback=folder_named,
    help="The workspace of the first plan, if it is another one: its settings, tools, registry and automata.",
)
def command(
    one: str,
    other: str,
    form: str,
    asked: bool,
    fail_on: tuple[str, ...],
    database: str | None,
    workspace: str | None,
    old_workspace: str | None,
) -> int:
    """Compare two plans (files) by meaning, or two runs (names or their beginnings) by their records.

    Plans: steps, states, files, bounds, capabilities, flows, gates and assumptions; not comments, positions or spaces.
    Runs: all but times, durations and remarks.
    """
    from .diff_plans import are_plans, plans

    if are_plans(one, other):
        return plans(one, other, form, asked, fail_on, workspace, old_workspace)
    if fail_on or form == "html" or old_workspace:
        raise UsageError(
            "--fail-on, --old-workspace and --format html need two plans: give two files"
        )
    return _runs(one, other, form, database, workspace)


def _runs(one: str, other: str, form: str, database: str | None, workspace: str | None) -> int:
    from ...report.terminal.terminal_text import visible
    from ...runs import run_driver
    from ...runs.records.followed import followed
    from ...runs.workers import remote

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        first, second = run_driver.the_run(store, one), run_driver.the_run(store, other)
        assert store is not None  # runs were found in it
        rows = [
            followed(store.program(row), row, store.records(row)).rows for row in (first, second)
        ]
        found = _about(store, root, first, second) + _steps(*rows)
    if form == "json":
        say_json({"runs": [first.name, second.name], "differences": found})
        return FINDINGS if found else CLEAN
    click.echo(f"- {first.name}: {visible(first.plan)}\n+ {second.name}: {visible(second.plan)}")
    for difference in found:
        say(f"{visible(difference['what'])} {visible(difference['where'])}".rstrip())
        for sign, side in (("-", "one"), ("+", "other")):
            if difference[side] is not None:
                say(f"  {sign} {_shown(difference[side])}")
    if not found:
        click.echo("the same steps, with the same outcomes, in the same order")
    return FINDINGS if found else CLEAN


def _difference(what: str, where: str, one: Any, other: Any) -> dict[str, Any]:
    return {"what": what, "where": where, "one": one, "other": other}


def _about(store: Store, root: str, first: RunRow, second: RunRow) -> list[dict[str, Any]]:
    from ...runs.workers import remote

    found = []
    if first.digest != second.digest:
        found.append(_difference("program", "", first.digest, second.digest))
    given = [row.inputs.get("given", {}) for row in (first, second)]
    for name in sorted({*given[0], *given[1]}):
        if given[0].get(name) != given[1].get(name):
            found.append(_difference("input", name, given[0].get(name), given[1].get(name)))
    ends = [
        (remote.status_of(store, root, row), ((row.ending or {}).get("stop") or {}).get("message"))
        for row in (first, second)
    ]
    if ends[0] != ends[1]:
        found.append(_difference("end", "", *(": ".join(filter(None, end)) for end in ends)))
    return found


def _steps(first: Rows, second: Rows) -> list[dict[str, Any]]:
    sides = [_settled(rows) for rows in (first, second)]
    found = []
    for address in [*sides[0], *(one for one in sides[1] if one not in sides[0])]:
        one, other = (side.get(address) for side in sides)
        if one is None or other is None:
            found.append(
                _difference("only in one", address, one and one["step"], other and other["step"])
            )
            continue
        for what in ("step", "outcome"):
            if one[what] != other[what]:
                found.append(_difference(what, address, one[what], other[what]))
    orders = [
        [address for address in side if address in sides[0] and address in sides[1]]
        for side in sides
    ]
    for at, (one_is, other_is) in enumerate(zip(*orders, strict=True), 1):
        if one_is != other_is:
            found.append(_difference("order", f"from common step {at} on", one_is, other_is))
            break
    return found


def _settled(rows: Rows) -> dict[str, dict[str, Any]]:
    """The last outcome of each address, in the order in which they came."""
    out: dict[str, dict[str, Any]] = {}
    for record, effect in rows:
        if record.kind == "outcome" and effect is not None:
            brought = record.body["failed"] if "failed" in record.body else record.body.get("value")
            out.pop(record.address, None)
            out[record.address] = {
                "step": {"tool": effect.tool, "args": effect.args},
                "outcome": brought,
            }
    return out


def _shown(value: Any) -> str:
    from ...report.terminal.terminal_text import cut, visible

    if isinstance(value, dict) and set(value) == {"tool", "args"}:
        return cut(visible(f"{value['tool']} {json.dumps(value['args'], ensure_ascii=False)}"), 200)
    return cut(
        visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), 200
    )
