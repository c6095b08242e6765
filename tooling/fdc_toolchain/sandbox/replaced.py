"""Finds out whether a command sees at each mount what lies at that path, and not what a link led to meanwhile.

Another command of the run may put a link in the place of a folder at any moment, and bubblewrap follows links. So fdc notes
what lies at the paths, without following one, and the first program in the sandbox compares.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ..linking.project.protected import outside_path
from ..workspace.failure import ToolFailure

REPLACED = "files of the workspace were replaced meanwhile"
"""What the first program says where something else is there."""

TELLS = 9
"""The descriptor at which it says so, or that all is well; the launcher opens it."""

_MOST = 100_000
_CHECK = f"""[ "$({{stat}} -c %d:%i -- {{paths}} 2> /dev/null)" = '{{wanted}}' ] || {{{{
    printf %s '{REPLACED}' >&{TELLS}; exit 125
}}}}
echo >&{TELLS}
exec {TELLS}>&-
exec "$@"
"""


_TIMES = 3
_Result = TypeVar("_Result")


class Replaced(ToolFailure):
    """Nothing was started, because something else was there."""


def again(start: Callable[[], _Result]) -> _Result:
    """What `start` returns, which is called again where a file was replaced meanwhile, as other steps may do. Raises Replaced."""
    for _ in range(_TIMES - 1):
        try:
            return start()
        except Replaced:
            continue
    return start()


def identities(root: str, paths: Iterable[str]) -> dict[str, str]:
    """What lies at absolute paths in a folder: device and number; an empty text where a command of root, which has no
    capabilities, cannot look. Without those at which nothing lies, or a link, or behind one."""
    found = {path: _identity(root, path[len(root) + 1 :]) for path in paths}
    return {path: said for path, said in found.items() if said is not None}


def _identity(root: str, path: str) -> str | None:
    at = -1
    reached = True
    try:
        at = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for name in path.split("/") if path else ():
            reached = reached and _enters(os.fstat(at))
            below = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        found = os.fstat(at)
        if stat.S_ISLNK(found.st_mode):
            return None
        return f"{found.st_dev}:{found.st_ino}" if reached else ""
    except OSError:
        return None
    finally:
        if at >= 0:
            os.close(at)


def _enters(folder: os.stat_result) -> bool:
    """Whether this process's user can enter a folder without capabilities."""
    mine = folder.st_uid == os.geteuid() and folder.st_mode & stat.S_IXUSR
    ours = folder.st_gid in (os.getegid(), *os.getgroups()) and folder.st_mode & stat.S_IXGRP
    return bool(mine or ours or folder.st_mode & stat.S_IXOTH)


def compared(argv: Sequence[str], root: str, wanted: Mapping[str, str], scratch: str) -> list[str]:
    """The command line of a command that begins only if what lies at the paths is what is wanted. It is started in `root`."""
    program = shutil.which("stat", path=outside_path())
    if program is None:
        raise ToolFailure("sandbox", "the program `stat` is not installed on this machine")
    script = _CHECK.format(
        stat=shlex.quote(program),
        paths=shlex.join(path[len(root) + 1 :] or "." for path in wanted),
        wanted="\n".join(wanted.values()),
    )
    if len(script) <= _MOST:
        return ["/bin/sh", "-c", script, "sh", *argv]
    path = os.path.join(scratch, ".fdc-compared")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(script)
    return ["/bin/sh", path, *argv]
