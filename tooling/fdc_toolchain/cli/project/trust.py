"""`fdc trust`: confirms the permissions in a workspace's settings on this machine, and approves files from outside."""

from __future__ import annotations

import os

import click

from ...console.options import flag_option, root_of, text_option, workspace_option
from ...exits import CLEAN, FINDINGS, UsageError, WorldError, reason


@click.command(
    "trust",
    epilog="Exit codes: 0 confirmed, withdrawn or nothing to confirm, 1 declined, 2 wrong usage, 3 the environment failed.",
)
@text_option(
    "--file files", "PATH", "Approve a file into which a run wrote text from outside.", many=True
)
@flag_option("--yes", "Confirm without asking.")
@flag_option("--withdraw", "Withdraw the confirmation, or the approval of the files.")
@workspace_option
def command(files: tuple[str, ...], yes: bool, withdraw: bool, workspace: str | None) -> int:
    """Confirm the rows of `[[allow]]` in this workspace's settings, or approve files.

    Each row allows one safety error (untrusted text that chooses a command, a step beyond `allow`) in
    some plans. A row has an effect only on machines where a person confirmed it: after a
    change of the row, fdc asks again. In CI, `fdc lint --trust-settings` accepts all rows.

    With `--file`, approve files into which a run wrote text from outside. The approval is for
    the file's current bytes on this machine: the file counts as one of the workspace until it changes.
    """

    root = root_of(workspace)
    try:
        return _files(root, files, yes, withdraw) if files else _rows(root, yes, withdraw)
    except OSError as failed:
        from ...cachedir import state_dir
        from ...journal.user_key import ELSEWHERE
        from ...report.terminal.terminal_text import visible

        where, own = str(failed.filename or ""), state_dir()
        place = f" ({visible(where)})" if where else ""
        its = os.path.isabs(where) and os.path.commonpath((where, own)) in (where, own)
        advice = f"; {ELSEWHERE}" if its else ""
        raise WorldError(
            f"the confirmation cannot be written: {reason(failed)}{place}{advice}"
        ) from failed


def _rows(root: str, yes: bool, withdraw: bool) -> int:
    from ...report.terminal.terminal_text import visible
    from ...workspace import allowances
    from ...workspace.confirmed_settings import settings_of

    if withdraw:
        allowances.confirm(root, ())
        click.echo("Withdrawn: the settings allow nothing on this machine.")
        return CLEAN
    rows = settings_of(root).allow
    if not rows:
        click.echo("The settings allow no safety error; there is nothing to confirm.")
        return CLEAN
    for row in rows:
        click.echo(f"{row.code} in {visible(row.files)}: {visible(row.reason)}")
    if allowances.confirmed(root, rows):
        click.echo("Already confirmed.")
        return CLEAN
    if not yes and not click.confirm("Allow this on this machine?", default=False):
        click.echo("Not confirmed.")
        return FINDINGS
    allowances.confirm(root, rows)
    click.echo("Confirmed.")
    return CLEAN


def _files(root: str, given: tuple[str, ...], yes: bool, withdraw: bool) -> int:
    """Approves files one after the other; the exit code is 1 where one of them was declined."""
    import time

    from ...check import key_of
    from ...report.terminal.terminal_text import visible
    from ...runs.records.questions import user
    from ...workspace import outside_table

    declined = False
    keys = [os.path.normpath(key_of(path, os.path.abspath(root))) for path in given]
    for path, key in zip(given, keys, strict=True):
        if os.path.isabs(key) or key.startswith(".."):
            raise UsageError(f"`{visible(path)}` is not in the workspace")
    for key in keys:
        row = outside_table.of_path(root, key, approved=withdraw)
        if row is None:
            what = (
                "its content is not approved"
                if withdraw
                else "a run did not write text from outside into its current content"
            )
            click.echo(f"{visible(key)}: {what}.")
            continue
        about = (
            f"{row.size} bytes, sha256 {row.sha256}" if row.sha256 else "the file does not exist"
        )
        click.echo(f"{visible(key)}: {about}")
        click.echo(
            f"  stored by the run {row.run} at {visible(row.at)}, {visible(row.plan)}:{row.line}"
        )
        if (
            not withdraw
            and not yes
            and not click.confirm("Approve these bytes as text of the workspace?", default=False)
        ):
            click.echo("Not approved.")
            declined = True
            continue
        outside_table.approve(root, key, row.sha256, user(), time.time(), withdrawn=withdraw)
        click.echo("Withdrawn." if withdraw else "Approved.")
    return FINDINGS if declined else CLEAN
