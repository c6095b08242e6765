"""Commands of packs: those of installed packs, and those of the workspace's own, which are plans with parameters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..packs.index import index

if TYPE_CHECKING:
    import click

    from ..packs.model import Command
    from ..packs.workspace import Local


def of_packs() -> dict[str, Command]:
    """The commands of all packs by name, installed packs before those of the workspace. Imports nothing of a pack."""
    from ..packs.workspace import commands

    return {**commands(of_workspace(os.getcwd())), **index().commands}


def of_workspace(folder: str) -> Local:
    """The packs of the workspace that contains a folder."""
    from ..linking.project.files import Files
    from ..linking.project.root import find_root
    from ..packs.workspace import local

    root = find_root(folder)
    files = Files(root)
    return local(files.packs(), files.read, root, index().packs)


def command_of(row: Command) -> click.Command:
    """The click command for a plan: `fdc run` with the plan's parameters. Raises PackError."""
    import click

    if not row.plan:
        from ..packs.imported import imported
        from ..packs.model import PackError

        found = imported(row.module, "command")
        if not isinstance(found, click.Command):
            raise PackError(f"`command` of the module `{row.module}` of a pack is no click command")
        return found

    from ..report.terminal.terminal_text import visible
    from .run.run_plan import command as run

    def callback(words: tuple[str, ...], **options: Any) -> int:
        assert run.callback is not None
        code: int = run.callback(plan=row.plan, inputs=pairs(row, words), **options)
        return code

    said = [f"\b\n{name.upper()}\n    {visible(what)}" for name, what in row.parameters]
    usage = " ".join(f"[{name.upper()}]" for name, _ in row.parameters)
    words = click.Argument(["words"], nargs=-1, metavar=f"{usage} [KEY=VALUE]...".strip())
    options = [param for param in run.params if isinstance(param, click.Option)]
    return click.Command(
        row.name,
        callback=callback,
        params=[words, *options],
        help="\n\n".join([visible(row.help), *said, f"This runs the plan `{visible(row.plan)}`."]),
        epilog=run.epilog,
        context_settings=run.context_settings,
    )


def pairs(row: Command, words: Sequence[str]) -> tuple[str, ...]:
    """The inputs for `fdc run`: plain words are the values, in order, of parameters without `KEY=VALUE`."""
    from ..exits import UsageError

    names = [name for name, _ in row.parameters]
    named = [word for word in words if word.partition("=")[0] in names and "=" in word]
    values = [word for word in words if word not in named]
    free = [name for name in names if not any(word.startswith(f"{name}=") for word in named)]
    if len(values) > len(free):
        takes = ", ".join(f"`{name}`" for name in names) or "no values"
        raise UsageError(
            f"`{values[len(free)]}` is one value too many: `fdc {row.name}` takes {takes}"
        )
    return (*named, *(f"{name}={value}" for name, value in zip(free, values, strict=False)))
