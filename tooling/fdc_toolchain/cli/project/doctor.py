"""`fdc doctor`: shows what fdc can use on this machine, and why it cannot use the rest."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from ...console.options import flag_option, format_option, root_of, text_option, workspace_option
from ...console.run_options import database_option
from ...console.terminal import say_json
from ...exits import CLEAN, FINDINGS

if TYPE_CHECKING:
    from ...doctor.machine import Found


@click.command(
    epilog="Exit codes: 0 everything that is configured works, 1 something does not, 2 wrong usage."
)
@flag_option("--live", "Also send the model's server a short question, which costs a few tokens.")
@text_option("--model", "NAME", "The model to check (else FDC_MODEL).")
@database_option
@format_option
@workspace_option
def command(
    live: bool, model: str | None, database: str | None, form: str, workspace: str | None
) -> int:
    """Check model, sandbox, disk, journal, settings, terminal, git, optional packages and packs. Secrets are not shown.

    With a database: its workers, the workspaces that they serve, and waiting runs that no worker serves.

    `ok`: works. `note`: information. `bad`: something that is configured does not work.
    """
    from ...console.terminal import style
    from ...doctor import packs
    from ...doctor.machine import examine
    from ...report.terminal.terminal_text import visible, wrapped
    from ...runs.cost.models import model_for
    from ...workspace.operator import Operator
    from ..main import COMMANDS
    from ..pack_command import of_workspace

    root = root_of(workspace)
    operator = Operator.of_environment(model=model)
    found = [
        *examine(root, operator, model_for(root, operator.model), os.environ, live=live),
        *packs.examine(COMMANDS, of_workspace(root), root=root),
        _settings(root),
        _terminal(),
    ]
    if database:
        from ...doctor import workers

        found += workers.examine(database, root)
    bad = any(one.grade == "bad" for one in found)
    if form == "json":
        say_json({"ok": not bad, "found": [one._asdict() for one in found]})
        return FINDINGS if bad else CLEAN
    look = style()
    wide = max(len(one.name) for one in found)
    paints = {"ok": "added", "note": "faint", "bad": "error"}
    margin = len("note  ") + wide + 2
    for one in found:
        first, *rest = wrapped(
            visible(one.detail), max(20, look.width - margin) if look.width else 0
        )
        click.echo(
            f"{look.paint(paints[one.grade], f'{one.grade:<4}')}  {one.name:<{wide}}  {first}"
        )
        for line in rest:
            click.echo(" " * margin + line)
    return FINDINGS if bad else CLEAN


def _settings(root: str) -> Found:
    from ...doctor.machine import Found
    from ...linking.project.settings import SettingsError, read_settings

    try:
        read_settings(root)
    except SettingsError as wrong:
        return Found("settings", "bad", str(wrong))
    return Found("settings", "ok", "can be read")


def _terminal() -> Found:
    from ...doctor.machine import Found

    kind = os.environ.get("TERM", "") or "none"
    where = "a terminal" if sys.stdout.isatty() else "no terminal"
    encoding = (sys.stdout.encoding or "").lower()
    plain = "" if encoding.replace("-", "") == "utf8" else f", encoding {encoding or 'unknown'}"
    return Found(
        "terminal",
        "ok",
        f"{where}, {shutil.get_terminal_size().columns} columns, TERM={kind}{plain}",
    )
