"""`fdc fmt`: write plans in the one canonical form."""

from __future__ import annotations

import os
import sys

import click

from ...console.options import flag_option, root_of, workspace_option
from ...console.terminal import say, style
from ...durable import replace_all
from ...exits import CLEAN, FINDINGS, UsageError
from ...linking.link import closed
from ...linking.project import regular_file
from ...linking.project.discover import find_plans
from ...linking.project.root import inside, typed
from ...linking.project.settings import Settings, read_settings
from ...syntax.write import canonical
from ...workspace.files import MAX_FILE
from ..shared import parse_errors
from ..shared.stdin import read_stdin


@click.command(
    epilog="Exit codes: 0 done (with --check or --diff: nothing to do), 1 a plan is or would be changed under --check"
    " or --diff, or cannot be read, 2 wrong usage, 3 the environment failed."
)
@click.argument("paths", nargs=-1, type=click.Path())
@flag_option("--check", "Change nothing; say which plans would be changed.")
@flag_option("--diff", "Change nothing; show what would be changed.")
@flag_option("--quiet -q", "Print errors only.")
@click.option(
    "--stdin-filename",
    metavar="PATH",
    default="<stdin>",
    help="The file name to show for stdin (`-`).",
)
@workspace_option
def command(
    paths: tuple[str, ...],
    check: bool,
    diff: bool,
    quiet: bool,
    stdin_filename: str,
    workspace: str | None,
) -> int:
    """Write the plans at PATHS in the one canonical form.

    A folder means every plan below it (`*.plan`, `*.plan.txt`, `plan.txt`); without PATHS, the current
    folder, or the workspace if that is elsewhere. `-` reads stdin and writes stdout. A plan whose text cannot be
    read, or that is a link out of the workspace or a secret file, is reported and left as it is. Formatting never changes
    what a plan does. If one of the plans cannot be written, none is.
    """
    root = root_of(workspace)
    settings = read_settings(root)
    job = _Job(root, check, diff, settings)
    if "-" in paths:
        if len(paths) > 1:
            raise UsageError("`-` cannot be combined with other paths: it formats stdin to stdout")
        return job.stdin(stdin_filename)
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"Could not find file `{path}`")
        if path.lower().endswith((".md", ".markdown")):
            said = "is Markdown, but `fdc fmt` formats plan files only; use `fdc lint` to check the plans in it"
            raise UsageError(f"`{path}` {said}")
    for path in find_plans(list(paths) or [inside(root)], root, settings.exclude):
        job.file(path)
    replace_all(job.texts)
    if not quiet:
        click.echo(job.summary(), err=diff)
    return job.code()


class _Job:
    """One run of the command, with its counts."""

    def __init__(self, root: str, check: bool, diff: bool, settings: Settings) -> None:
        self.root = root
        self.check = check
        self.diff = diff
        self.limits = settings.limits
        self.secret = settings.secret
        self.changed = self.same = self.unread = self.closed = 0
        self.texts: dict[str, bytes] = {}

    def file(self, path: str) -> None:
        data = regular_file.read(path, MAX_FILE)
        if refused := closed(self.root, typed(self.root, path), self.secret):
            self.closed += 1
            parse_errors.show(b"", [refused])
            return
        new = self._formatted(data, path)
        if new is None:
            return
        if new == data:
            self.same += 1
            return
        self.changed += 1
        if data.startswith(b"\xef\xbb\xbf"):
            say(f"{path}: removes the byte order mark", err=True)
        if self.diff:
            self._show(path, data, new)
        elif self.check:
            click.echo(f"Would reformat: {path}")
        else:
            self.texts[os.path.realpath(path)] = new

    def stdin(self, name: str) -> int:
        data = read_stdin()
        new = self._formatted(data, name)
        if new is None:
            return FINDINGS
        self.changed = int(new != data)
        if self.diff:
            self._show(name, data, new)
        elif not self.check:
            sys.stdout.buffer.write(new)
        return self.code()

    def summary(self) -> str:
        would = self.check or self.diff
        parts = []
        if self.changed:
            parts.append(f"{_plans(self.changed)} {'would be ' if would else ''}reformatted")
        if self.same:
            parts.append(
                f"{_plans(self.same)} {'already formatted' if would else 'left unchanged'}"
            )
        if self.unread:
            parts.append(f"{_plans(self.unread)} skipped: syntax errors")
        if self.closed:
            parts.append(f"{_plans(self.closed)} skipped: outside of the workspace, or secret")
        return ", ".join(parts) or "no plans found"

    def code(self) -> int:
        wrong = self.unread or self.closed or (self.changed and (self.check or self.diff))
        return FINDINGS if wrong else CLEAN

    def _formatted(self, data: bytes, path: str) -> bytes | None:
        """The canonical bytes; None after printing the syntax errors."""
        new, found = canonical(data, path, self.limits)
        if new is None:
            self.unread += 1
            parse_errors.show(data, found)
        return new

    def _show(self, path: str, before: bytes, after: bytes) -> None:
        from ...report.diff import unified

        click.echo(unified(path, before.decode("utf-8"), after.decode("utf-8"), style()), nl=False)


def _plans(count: int) -> str:
    return f"{count} plan{'s' * (count != 1)}"
