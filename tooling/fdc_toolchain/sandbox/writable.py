"""The paths that a command may write: only those that every `allow write` in force names (G-CAP, decision 5).

A sandbox knows folders and files, no globs. So of a glob that is a whole folder (`out/**`) the folder is
given; of any other one the files that it names when the command starts; and a file that is written out
(`report.md`) is made, empty, where it is missing, and taken away again where the command left it so.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress

from ..program.model import Grant
from ..text.glob_match import compiled, fits
from ..workspace.failure import ToolFailure
from . import listing

MOST = 500
"""Maximum number of files that globs may name for one command."""

Glob = tuple[tuple[bool, str], ...]

Closed = Callable[[str], bool | None]
"""Whether commands are kept out of a path below the root; None where it is like any other, False where the plans name it."""

_making = threading.Lock()
_users: Counter[str] = Counter()
"""Commands under way, by the file or folder that was made for them: what one of them leaves empty another may still fill."""


def writable(root: str, grants: Sequence[Grant], closed: Closed) -> tuple[list[str], list[str]]:
    """The paths that every grant lets a command write, and which of them were made for it (see `withdraw`).

    Raises ToolFailure (`sandbox`) for globs that name more than `MOST` files, OSError where a file or folder cannot be made.
    """
    folders = [""]
    for grant in grants:
        named = {tree for glob in grant.get("write", ()) if (tree := _tree(glob)) is not None}
        folders = sorted(
            {
                common
                for ours in folders
                for theirs in named
                if (common := _within(ours, theirs)) is not None
            }
        )
    paths = []
    for name in folders:
        path = os.path.join(root, name) if name else root
        if not closed(name) and leads_there(root, path) and _folder(root, path):
            paths.append(path)
    rows = [[compiled(glob) for glob in grant.get("write", ())] for grant in grants]
    files = sorted(
        name
        for name in {
            name
            for grant in grants
            for glob in grant.get("write", ())
            for name in _files(root, glob)
        }
        if all(any(fits(name, glob) for glob in row) for row in rows)
        and not closed(name)
        and (closed(name) is False or not any(_within(name, folder) == name for folder in folders))
    )
    if len(files) > MOST:
        raise ToolFailure(
            "sandbox",
            f"`allow write` names more than {MOST} files for a command; name whole folders (`docs/**`)",
        )
    made: list[str] = []
    for name in files:
        path = os.path.join(root, name)
        if leads_there(root, path) and _there(root, path, made):
            paths.append(path)
    return paths, made


def withdraw(made: Sequence[str], root: str) -> None:
    """Takes away what was made for a command that has ended and is empty still, with folders that are empty then."""
    with _making:
        for path in made:
            _users[path] -= 1
            if _users[path] > 0:
                continue
            del _users[path]
            discard(path, root)


def discard(path: str, root: str) -> None:
    """Takes away what was made for a command that lives no more and is empty still, with folders that are empty then. Follows
    no link: another command may have put one there."""
    *above, name = path[len(root) + 1 :].split("/")
    with suppress(OSError), ExitStack() as stack:  # it is used now, or gone already
        at = [
            stack.enter_context(listing.beneath(root, "/".join([root, *above[:depth]])))
            for depth in range(len(above) + 1)
        ]
        found = os.stat(name, dir_fd=at[-1], follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            os.rmdir(name, dir_fd=at[-1])
        elif found.st_size == 0:
            os.unlink(name, dir_fd=at[-1])
        for depth in reversed(range(len(above))):
            os.rmdir(above[depth], dir_fd=at[depth])


def hold(root: str, path: str, made: list[str]) -> None:
    """Makes an empty folder for a command, until `withdraw`; a folder that is there and not in use stays. Raises OSError."""
    with _making:
        if path not in _users and os.path.isdir(path) and os.listdir(path):
            return
        if not _folder(root, path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        _users[path] += 1
        made.append(path)


def is_held_or_gone(path: str) -> bool:
    """True for what was made for a command that is under way, or was until now: then it is not there."""
    with _making:
        return path in _users or not os.path.lexists(path)


def _folder(root: str, path: str) -> bool:
    """True where the path is a folder, after it was made if need be; False where a file or a link is in the way."""
    try:
        with listing.beneath(root, path, make=True):
            return True
    except NotADirectoryError:
        return False


def _there(root: str, path: str, made: list[str]) -> bool:
    """True where the path is a regular file, after it was made if need be; False where something else is in the way."""
    folder, name = os.path.split(path)
    with _making:
        try:
            with listing.beneath(root, folder, make=True) as above:
                regular = _regular(name, above)
        except NotADirectoryError:
            return False
        if path not in _users and regular is not None:
            return regular
        _users[path] += 1
        made.append(path)
        return True


def _regular(name: str, above: int) -> bool | None:
    """Whether it is a regular file; None where it was missing, and is an empty one now."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(name, how, 0o666, dir_fd=above))
        return None


def leads_there(root: str, path: str) -> bool:
    """False for a path through a link, whose target is not what the plan names."""
    return os.path.realpath(path) == os.path.realpath(root) + path[len(root) :]


def _split(glob: Glob) -> tuple[str, str | None]:
    """What stands before a glob's first wildcard, and from there on; None where there is none."""
    known, rest = "", None
    for is_value, written in glob:
        if rest is not None:
            rest += written
            continue
        cut = (
            len(written)
            if is_value
            else next((at for at, c in enumerate(written) if c in "*?"), len(written))
        )
        known += written[:cut]
        rest = written[cut:] or None
    return known, rest


def _tree(glob: Glob) -> str | None:
    """The folder that a glob names with all that is in it."""
    known, rest = _split(glob)
    if rest not in ("**", "**/*") or (known and not known.endswith("/")):
        return None
    return _clean(known)


def _clean(path: str) -> str | None:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return None if path.startswith("/") or ".." in parts else "/".join(parts)


def _files(root: str, glob: Glob) -> Iterator[str]:
    """The files that a glob which is not a tree names: those that are there, and the one that is written out."""
    known, rest = _split(glob)
    if rest is None:
        if name := _clean(known):
            yield name
        return
    start = _clean(known.rpartition("/")[0])
    if start is None or _tree(glob) is not None:
        return
    top = os.path.join(root, start) if start else root
    if not leads_there(root, top):
        return
    depth = sys.maxsize if "**" in rest else (known + rest).count("/")
    tokens = compiled(glob)
    count = 0
    for folder, below, names in os.walk(top):
        here = folder[len(root) + 1 :] + "/" if folder != root else ""
        below[:] = (
            [name for name in below if name not in (".fdc", ".git")]
            if here.count("/") < depth
            else []
        )
        for name in names:
            if fits(here + name, tokens):
                yield here + name
                count += 1
                if count > MOST:
                    return


def _within(ours: str, theirs: str) -> str | None:
    """The inner of two nested folders; None if they are not nested."""
    for inner, outer in ((ours, theirs), (theirs, ours)):
        if not outer or inner == outer or inner.startswith(outer + "/"):
            return inner
    return None
