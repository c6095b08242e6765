"""`fdc migrate`: convert plans from older notations, and say what changed."""

from __future__ import annotations

import os
import sys

import click

from ...console.options import flag_option, root_of, workspace_option
from ...console.terminal import say
from ...durable import replace_all
from ...exits import CLEAN, FINDINGS, UsageError
from ...linking.catalogue import read_catalogue
from ...linking.link import closed
from ...linking.project import regular_file
from ...linking.project.files import Files
from ...linking.project.root import typed
from ...linking.project.settings import read_settings
from ...migrate.convert import migrate
from ...migrate.dialect import LANGUAGE
from ...migrate.model import Migration
from ...workspace.files import MAX_FILE
from ..shared import parse_errors
from ..shared.stdin import read_stdin


@click.command(
    epilog="Exit codes: 0 converted or nothing to do, 1 a plan was refused, 2 wrong usage, 3 the environment failed."
)
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@flag_option(
    "--write", "Write the plans in place, all of them or none, instead of one plan to stdout."
)
@flag_option("--quiet -q", "Do not list the changes.")
@workspace_option
def command(paths: tuple[str, ...], write: bool, quiet: bool, workspace: str | None) -> int:
    """Convert the plans at PATHS from an older notation to the language.

    fdc detects the notation and lists every change on stderr with its line. The new text goes
    to stdout, or into the file with --write. An ambiguous plan is refused
    with the line, and not changed. Findings of lint in the new text are printed too. `-` reads stdin.
    """
    if not write and len(paths) > 1:
        raise UsageError("more than one plan needs --write")
    if write and "-" in paths:
        raise UsageError("`--write` needs files; `-` is stdin")
    root = root_of(workspace)
    settings = read_settings(root)
    catalogue, _ = read_catalogue(settings.catalogues, Files(root).read)
    code, texts = CLEAN, dict[str, bytes]()
    for path in paths:
        name = "<stdin>" if path == "-" else path
        data = _read(path)
        if refused := closed(root, typed(root, path), settings.secret):
            raise UsageError(f"{refused.message}; {refused.help}")
        done = migrate(data, name, catalogue, settings.limits)
        _report(done, name, data, quiet)
        if done.text is not None and not quiet:
            _judged(root, name, done.text)
        if done.text is None:
            code = FINDINGS
        elif not write:
            sys.stdout.buffer.write(done.text)
        elif done.text != data:
            texts[os.path.realpath(path)] = done.text
    replace_all(texts)
    return code


def _read(path: str) -> bytes:
    if path == "-":
        return read_stdin()
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a folder; name the plans to convert")
    try:
        return regular_file.read(path, MAX_FILE)
    except FileNotFoundError as missing:
        raise UsageError(f"Could not find file `{path}`") from missing


def _judged(root: str, name: str, text: bytes) -> None:
    """Prints the findings of lint in the plan: a plan with valid syntax may still have errors."""
    from ...tools.plans.plan_text import proved

    path = os.path.abspath(name) if name != "<stdin>" else "stdin.plan"
    found = proved(root, path, text.decode("utf-8", "surrogateescape")).findings
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        say(f"{name}: `fdc lint` finds {found[0]}{more}", err=True)


def _report(done: Migration, name: str, data: bytes, quiet: bool) -> None:
    if done.text is None:
        if done.dialect:
            say(f"{name}: {done.dialect}", err=True)
        parse_errors.show(data, done.diagnostics)
        say(f"{name}: not converted", err=True)
    elif quiet:
        return
    elif done.dialect == LANGUAGE:
        say(f"{name}: nothing to do: the plan is in the language already", err=True)
    else:
        say(f"{name}: {done.dialect}", err=True)
        for change in done.changes:
            say(f"  line {change.line}: {change.what}", err=True)
