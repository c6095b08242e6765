"""`fdc verify`: whether the record of a run is as it was written, byte for byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ...console.options import format_option, workspace_option
from ...console.run_options import database_option, root_of
from ...exits import CLEAN, FINDINGS, Refused, UsageError, WorldError

if TYPE_CHECKING:
    from ...journal.sqlite import Store

SEALS = {"ours": "sealed by your key", "none": "not sealed", "other": "sealed by another key"}


@click.command(
    epilog="Exit codes: 0 whole, 1 something was changed, or a record is older than what this machine saw, 2 wrong usage, "
    "3 the journal cannot be read.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("run", required=False, default="")
@format_option
@click.option(
    "--accept-older", is_flag=True,
    help="Accept the record of RUN although this machine saw a newer record: you restored a backup on purpose.",
)  # fmt: skip
@database_option
@workspace_option
def command(
    run: str, form: str, accept_older: bool, database: str | None, workspace: str | None
) -> int:
    """Check the record of RUN (the beginning of a name; every run otherwise): its hash chain, contents and seal.

    A byte that was changed, a record that was taken out, put in or moved, a lost end, and an older copy of the record that was
    put back are found, and where.
    """
    from ...journal import counter
    from ...report.terminal.terminal_text import visible
    from ...runs.workers import remote

    root = root_of(workspace)
    if accept_older:
        if database or not run:
            raise UsageError(
                "`--accept-older` is about one RUN of a workspace; in a database, the database is the record"
            )
        _accept(root, run)
    with remote.reading(database, root) as store:
        found = (
            []
            if store is None
            else [checked(store, number, name) for number, name in _chosen(store, run)]
        )
        strays = 0 if store is None or run else store.strays()
    if run and not found:
        raise UsageError(f"no run begins with `{run}`; `fdc runs` lists them")
    bad = strays or any(one["faults"] or one["older"] for one in found)
    if form == "json":
        click.echo(json.dumps({"format": 1, "runs": found, "strays": strays}, indent=2))
        return FINDINGS if bad else CLEAN
    for one in found:
        state = "DAMAGED" if one["faults"] else "OLDER" if one["older"] else "whole"
        click.echo(
            f"run {visible(one['run'])}: {state}, {one['records']} records, {SEALS[one['seal']]}"
        )
        for fault in one["faults"]:
            click.echo(f"  {visible(fault)}")
        if one["older"]:
            click.echo(f"  {visible(counter.outdated(one['run'], one['older']))}")
    if strays:
        click.echo(f"{strays} records belong to no run")
    if not found and not strays:
        click.echo("no runs yet")
    return FINDINGS if bad else CLEAN


def _accept(root: str, run: str) -> None:
    """Takes an older record for the newest one. Answers that lie beside it are dropped: they may have been used."""
    from ...engine.ports import WorldFailed
    from ...runs.records import answers
    from ...runs.records.open_journal import reading, the_run
    from ...workspace import run_folders

    with reading(root) as store:
        row = the_run(store, run)
        assert store is not None  # a run was found in it
        if not store.check(row.id).older:
            raise Refused(
                f"the record of the run {row.name} is not older than what this machine saw"
            )
        if run_folders.is_driven(root, row.name):
            raise Refused(f"the run {row.name} is being driven")
        try:
            answers.drop(root, row)
            store.accept(row)
        except WorldFailed as failed:
            raise WorldError(str(failed)) from failed
    click.echo(
        f"accepted: the record of the run {row.name} as it is; answers that lay beside it are dropped"
    )


def _chosen(store: Store, run: str) -> list[tuple[int, str]]:
    runs = list(store.numbers().items())
    if run == "last":
        return runs[-1:]
    exact = [one for one in runs if one[1] == run]
    return exact or [one for one in runs if isinstance(one[1], str) and one[1].startswith(run)]


def checked(store: Store, number: int, name: str) -> dict[str, Any]:
    """What a check of one run found: its name, how many `records`, whose `seal`, and the `faults`. Raises WorldFailed."""
    found = store.check(number)
    faults = list(found.faults) or _forked(store, name)
    return {
        "run": name,
        "records": found.records,
        "seal": found.signature,
        "faults": faults,
        "older": found.older,
    }


def _forked(store: Store, name: str) -> list[str]:
    """What a forked run says that it took over must be what the other run has, where that is still there."""
    from ...engine.events import Mismatch
    from ...engine.replay import before, failed_alone
    from ...program.codec import ProgramError

    row = store.run(name)
    origin = None if row is None else row.origin
    parent = None if origin is None else store.run(origin["run"])
    if row is None or origin is None or parent is None:
        return []
    try:
        records = store.records(parent)
        taken = before(
            records, origin["address"], failed_alone(store.program(parent), parent.inputs, records)
        )
    except (KeyError, Mismatch, ProgramError):
        taken = []
    if (
        taken[: origin["records"]] != store.records(row)[: origin["records"]]
        or len(taken) != origin["records"]
    ):
        return [
            f"what it took over is not what the run {parent.name} has before {origin['address']}"
        ]
    return []
