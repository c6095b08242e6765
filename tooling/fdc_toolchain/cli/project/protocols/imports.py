"""`fdc protocols import`: splits an AGENTS.md into sources that compile to the same bytes (FDC-97, FDC-100)."""

from __future__ import annotations

import os
import sys

import click

from .... import durable
from ....console.options import Renamed, flag_option
from ....console.terminal import say
from ....diagnostics.plural import plural
from ....exits import CLEAN, FINDINGS, Refused, UsageError
from ....linking.project.root import find_root
from ....protocols import build as work
from ....protocols import layout
from ....protocols.compile import BuildOptions, WorkspaceView, compile_agents
from ....protocols.imports.agents_md import take_apart
from ....protocols.load import PROSE, RULE_FILES, SOURCES
from ....protocols.markdown.sanitise import findings, sanitised
from ...shared.findings import show


@click.command("import")
@click.argument("file", type=click.Path())
@click.option(
    "--output",
    "out",
    cls=Renamed,
    old=("--out",),
    metavar="DIR",
    type=click.Path(),
    required=True,
    help="The folder of the sources: new or empty.",
)
@flag_option("--sanitise", "Leave out `<script>` elements and `on...` attributes of raw HTML.")
@flag_option("--force", "Replace the sources in DIR; its other files stay.")
def command(file: str, out: str, sanitise: bool, force: bool) -> int:
    """Split the AGENTS.md in FILE into protocol sources in DIR.

    JSON protocols become `NN_id.protocol.json`, sections of prose `NN_title.protocol.md`. The rest
    goes to `layout.json`, so that `fdc protocols build --source DIR` writes the same bytes as FILE.
    """
    root = find_root(os.curdir)
    folder = os.path.realpath(out)
    old = _sources(folder, force, out)
    data = durable.read(file)
    if data is None:
        raise UsageError(f"the file `{file}` does not exist")
    name, source = work.shown(os.path.abspath(file), root), work.shown(folder, root)
    version_file, version = work.version_of(root, source)

    def canonical(files: dict[str, bytes]) -> str | None:
        placed = {f"{source}/{path}": text for path, text in files.items()}
        how = BuildOptions(source=source, output=name, max_bytes=sys.maxsize)
        around = WorkspaceView(version_file=version_file)
        return compile_agents(placed, version, lambda path: work.tool(root, path), how, around).text

    whole, gone = _sanitised(data, file) if sanitise else (data, 0)
    made = take_apart(whole, name, lambda path: work.tool(root, path), canonical, data)
    active = findings(data.decode("utf-8"), name) if made.files and not sanitise else []
    show([*made.findings, *active])
    if not made.files:
        say(f"error: {source} was not changed", err=True)
        return FINDINGS
    _write(folder, made.files, old)
    rules = sum(path.endswith(RULE_FILES) for path in made.files)
    prose = sum(path.endswith(PROSE) for path in made.files)
    kept = f", and {layout.NAME} for all else" if layout.NAME in made.files else ""
    click.echo(f"{source}: {plural(rules, 'protocol')}, {plural(prose, 'section')} of prose{kept}")
    if gone:
        click.echo(
            f"{plural(gone, 'piece')} of HTML that would act left out; {len(whole)} of {len(data)} bytes are left"
        )
    same = "the same " if whole == data else ""
    click.echo(f"`fdc protocols build --source {source}` makes {same}{len(whole)} bytes of them")
    return CLEAN


def _sanitised(data: bytes, file: str) -> tuple[bytes, int]:
    """The file without active HTML. If it is not text, the importer reports that."""
    try:
        text, gone = sanitised(data.decode("utf-8"))
    except UnicodeDecodeError:
        return data, 0
    except ValueError as wrong:
        raise Refused(f"`{file}` cannot be sanitised: {wrong}") from None
    return text.encode("utf-8"), gone


def _sources(folder: str, force: bool, out: str) -> list[str]:
    """The sources in the folder. Raises UsageError if it must not be written to."""
    if not os.path.lexists(folder):
        if not os.path.isdir(os.path.dirname(folder)):
            raise UsageError(
                f"the folder `{os.path.dirname(out)}` does not exist, so `{os.path.basename(folder)}` cannot be made in it"
            )
        return []
    if not os.path.isdir(folder):
        raise UsageError(f"`{out}` is not a folder")
    if os.listdir(folder) and not force:
        raise UsageError(
            f"`{out}` is not empty; choose another folder, or replace its sources with --force"
        )
    found = []
    for inside, _, names in os.walk(folder):
        found += [os.path.join(inside, name) for name in names if name.endswith(SOURCES)]
    kept = os.path.join(folder, layout.NAME)
    return [*found, kept] if os.path.lexists(kept) else found


def _write(folder: str, files: dict[str, bytes], old: list[str]) -> None:
    """Writes the files to the folder. A new folder appears complete or not at all. In an existing one,
    a failure restores the old files, and a repeated command completes a killed one.

    Raises UsageError for a link out of the folder, OSError.
    """
    if os.path.isdir(folder) and (os.listdir(folder) or os.path.samefile(folder, os.curdir)):
        placed = {os.path.join(folder, *path.split("/")): data for path, data in files.items()}
        for path in placed:
            if os.path.commonpath([folder, os.path.realpath(os.path.dirname(path))]) != folder:
                raise UsageError(
                    f"`{os.path.dirname(path)}` is a link that leads out of the folder"
                )
        kept = os.path.join(folder, layout.NAME)
        last = {kept: placed.pop(kept)} if kept in placed else {}
        durable.replace_all(
            placed, [path for path in old if path not in placed and path not in last], last
        )
        return
    durable.new_folder(folder, files)
