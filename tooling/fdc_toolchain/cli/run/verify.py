"""`fdc verify`: checks that the record of a run was not changed after it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...console.options import flag_option, format_option, root_of, workspace_option
from ...console.run_options import database_option
from ...console.terminal import say_json
from ...exits import CLEAN, FINDINGS, Refused, UsageError

if TYPE_CHECKING:
    from ...journal.hash_chain import Checked
    from ...journal.sqlite import Store


SEALS = {"ours": "sealed by your key", "none": "not sealed", "other": "sealed by another key"}


@click.command(
    epilog="Exit codes: 0 unchanged, 1 a record was changed, or is older than one that this machine saw, 2 wrong usage, "
    "3 the journal cannot be read."
)
@click.argument("run", required=False, default="")
@format_option
@flag_option(
    "--accept-older",
    "Accept an older record of RUN than this machine has seen, after you restored a backup.",
)
@database_option
@workspace_option
def command(
    run: str, form: str, accept_older: bool, database: str | None, workspace: str | None
) -> int:
    """Check the record of RUN (a name or its beginning; default: every run): its hash chain, contents and seal.

    It finds changed bytes, removed, added or moved records, a missing end, and an older copy of the
    record, and shows where.
    """
    from ...journal import counter
    from ...report.terminal.terminal_text import visible
    from ...runs.workers import remote

    root = root_of(workspace)
    if accept_older:
        if database or not run:
            raise UsageError(
                "`--accept-older` needs one RUN of a workspace; it does not apply to a database"
            )
        _accept(root, run)
    with remote.reading(database, root) as store:
        found = (
            []
            if store is None
            else [(name, checked(store, number, name)) for number, name in _chosen(store, run)]
        )
        strays = 0 if store is None or run else store.strays()
    if run and not found:
        raise UsageError(f"no run begins with `{run}`; `fdc runs` lists them")
    bad = strays or any(result.faults or result.older for _, result in found)
    if form == "json":
        rows = [
            {"run": name, "records": result.records, "seal": result.signature, "faults": result.faults, "older": result.older}
            for name, result in found
        ]  # fmt: skip
        say_json({"runs": rows, "strays": strays})
        return FINDINGS if bad else CLEAN
    for name, result in found:
        state = "DAMAGED" if result.faults else "OLDER" if result.older else "whole"
        click.echo(
            f"run {visible(name)}: {state}, {result.records} records, {SEALS[result.signature]}"
        )
        for fault in result.faults:
            click.echo(f"  {visible(fault)}")
        if result.older:
            click.echo(f"  {visible(counter.outdated(name, result.older))}")
    if strays:
        click.echo(f"{strays} records do not belong to a run")
    if not found and not strays:
        click.echo("no runs yet")
    return FINDINGS if bad else CLEAN


def _accept(root: str, run: str) -> None:
    """Accepts an older record as the newest one. Deletes stored answers, because they may have been used."""
    from ...runs.records import answers
    from ...runs.records.open_journal import reading, the_run
    from ...workspace import run_folders

    with reading(root) as store:
        row = the_run(store, run)
        assert store is not None  # a run was found in it
        if not store.check(row.id).older:
            raise Refused(
                f"the record of the run {row.name} is not older than the newest that this machine saw"
            )
        if run_folders.is_driven(root, row.name):
            raise Refused(f"the run {row.name} is being driven")
        answers.drop(root, row)
        store.accept(row)
    click.echo(f"accepted: the record of the run {row.name}; stored answers to it are deleted")


def _chosen(store: Store, run: str) -> list[tuple[int, str]]:
    runs = list(store.numbers().items())
    if run == "last":
        from ...runs.records.open_journal import the_run

        run = the_run(store, run).name
    exact = [row for row in runs if row[1] == run]
    return exact or [row for row in runs if isinstance(row[1], str) and row[1].startswith(run)]


def checked(store: Store, number: int, name: str) -> Checked:
    """The result of checking one run. Raises WorldFailed."""
    found = store.check(number)
    return found._replace(faults=found.faults or tuple(_forked(store, name)))


def _forked(store: Store, name: str) -> list[str]:
    """Compares the records that a forked run took over with those of the other run, if it still exists."""
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
            f"its inherited records differ from those of the run {parent.name} before {origin['address']}"
        ]
    return []
