"""`pyproject.toml` at the top of a workspace: source code that commands may change, but for its table with settings of fdc.

What a command made of it is a text: of a file its content, of a link a NUL and where it leads, of anything else a NUL alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ..failure import ToolFailure
from .named_files import fdc_table

if TYPE_CHECKING:
    from ..files import Root

NAME = "pyproject.toml"


def found(root: Root) -> str | None:
    """What there is now; None: nothing."""
    with suppress(OSError):
        return "\0" + os.readlink(os.path.join(root.path, NAME))
    try:
        data = root.find(NAME)
    except ToolFailure:
        return "\0"
    return None if data is None else data.decode("utf-8", "surrogateescape")


def differ(old: str | None, new: str | None) -> bool:
    """Whether the settings of fdc differ. A link or anything else that is no file is like nothing else."""
    if old == new or (old or "").startswith("\0") or (new or "").startswith("\0"):
        return old != new
    old_table, new_table = (
        fdc_table(None if text is None else _bytes(text)) for text in (old, new)
    )
    return old_table != new_table


def put_back(root: Root, old: str | None) -> None:
    """Makes the file or the link that there was, unless there is anything now. Raises OSError."""
    if old is None or old == "\0":
        return
    if old.startswith("\0"):
        root.link_again(NAME, old[1:])
        return
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        root.folder([]) as top,
        suppress(FileExistsError),
        open(os.open(NAME, how, 0o666, dir_fd=top), "wb") as file,
    ):
        file.write(_bytes(old))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
