"""The folder in which the functions of a workspace's pack keep files for their run.

A function works in a copy below its scratch folder, which is the only place that the sandbox lets it write without a row. What it
left there is taken back when it has ended: regular files, up to a size, no folders. What it did with the copy itself (it may have
put a link in its place) leads to no other file.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress

from ...durable import replace
from ...named_tuples import NamedTuple
from ...sandbox.scratch import RUN
from ...workspace.failure import ToolFailure
from ..context import Context

NAME = RUN
"""Its name in the scratch folder; `tools.own_code_inside` looks there, too."""
MOST_BYTES = 16 * 1024 * 1024
MOST_FILES = 256


class Kept(NamedTuple):
    """Where a function's copy is, where its files are kept, and which of them the copy began with."""

    scratch: str
    kept: str
    before: list[str]


def of(context: Context, pack: str) -> str:
    """Where the files stay between the steps of a run; empty where the run has no folder."""
    return os.path.join(context.run_folder, "kept", pack) if context.run_folder else ""


def lay_out(kept: str, scratch: str) -> Kept:
    """Copies what is kept into the scratch folder."""
    inside = os.path.join(scratch, NAME)
    os.mkdir(inside)
    names = sorted(os.listdir(kept)) if os.path.isdir(kept) else []
    for name in names:
        shutil.copyfile(os.path.join(kept, name), os.path.join(inside, name))
    return Kept(scratch, kept, names)


def rescue(own: Kept) -> None:
    """Takes back what a function left whose controller was killed, as far as its scratch folder is there, which goes then."""
    with suppress(ToolFailure):  # too much is lost: the function would have failed for it
        take_back(own)
    shutil.rmtree(own.scratch, ignore_errors=True)


def take_back(own: Kept) -> None:
    """Keeps the files that the function left, and drops those of `before` that it removed; others may have come meanwhile.

    Raises ToolFailure (`size`) where they are too large or too many; then nothing changes.
    """
    try:
        folder = os.open(
            os.path.join(own.scratch, NAME), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        )
    except OSError:
        return  # it removed its copy, or put something else in its place
    files: dict[str, bytes] = {}
    try:
        for name in os.listdir(folder):
            data = _bytes(name, folder)
            if data is not None:
                files[name] = data
            if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_BYTES:
                said = (
                    f"more than {MOST_FILES} files or {MOST_BYTES:,} bytes in the folder of the run"
                )
                raise ToolFailure("size", said)
    finally:
        os.close(folder)
    if files:
        os.makedirs(own.kept, exist_ok=True)
    for name, data in files.items():
        replace(os.path.join(own.kept, name), data)
    for name in set(own.before) - files.keys():
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(own.kept, name))


def _bytes(name: str, folder: int) -> bytes | None:
    """The bytes of a regular file; None for everything else, links among them."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        return file.read(MOST_BYTES + 1)
