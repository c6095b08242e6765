"""`fdc trust`: confirms on this machine what the settings of a workspace allow."""

from __future__ import annotations

import click

from .exits import WorldError
from .run_options import root_of


@click.command(
    "trust",
    epilog="Exit codes: 0 confirmed, withdrawn or nothing to confirm, 1 declined, 2 wrong usage, 3 the world failed.",
)
@click.option("--yes", is_flag=True, help="Confirm without asking.")
@click.option("--withdraw", is_flag=True, help="Take the confirmation back.")
@click.option("--workspace", metavar="DIR", help="The workspace; otherwise the nearest one above here.")
def command(yes: bool, withdraw: bool, workspace: str | None) -> int:
    """Confirm the rows of `[[allow]]` in this workspace's settings.

    Each row allows one safety error (untrusted text that chooses a command, a step beyond `allow`) in some plans.
    The rows count only on machines where somebody confirmed them, and only as they were then: after any
    change of a row, fdc asks again. In CI, `fdc lint --trust-settings` takes them as they are.
    """
    from ..effects import allowances
    from ..engine.ports import WorldFailed
    from ..report.cells import visible
    from .lint import settings_of

    root = root_of(workspace)
    try:
        if withdraw:
            allowances.confirm(root, ())
            click.echo("Withdrawn: the settings allow nothing on this machine.")
            return 0
        rows = settings_of(root).allow
        if not rows:
            click.echo("The settings allow no safety error; there is nothing to confirm.")
            return 0
        for row in rows:
            click.echo(f"{row.code} in {visible(row.files)}: {visible(row.reason)}")
        if allowances.confirmed(root, rows):
            click.echo("Confirmed before.")
            return 0
        if not yes and not click.confirm("Allow this on this machine?", default=False):
            click.echo("Not confirmed.")
            return 1
        allowances.confirm(root, rows)
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed
    except OSError as failed:
        raise WorldError(f"the confirmation cannot be written: {failed.strerror or failed}") from failed
    click.echo("Confirmed.")
    return 0
