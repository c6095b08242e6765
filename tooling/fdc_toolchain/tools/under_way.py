"""Commands under way, on record for the case that fdc is killed with one: what it made and no command makes is taken away later.

When a command has ended, `views.taken` takes away what it made of protected names. A controller that was killed cannot do that.
So each command has a file in `.fdc/under-way/`, locked while its controller lives, which says what was there before it. For a
function of a pack it says where its files for the run lie, which are kept then (`own_folder`). It is
sealed with the user's key: one that came with a clone counts for nothing.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ..journal.user_key import key
from ..program.model import Grant
from ..sandbox import views, writable
from ..workspace import run_folders
from ..workspace.access import descriptors, project_file
from .sandboxed import own_folder

if TYPE_CHECKING:
    from ..workspace.files import Root
    from .sandboxed.own_folder import Kept

FOLDER = os.path.join(run_folders.FOLDER, run_folders.UNDER_WAY)


@contextmanager
def noted(
    root: Root,
    step: str,
    run_folder: str,
    was: views.Before,
    grants: Sequence[Grant],
    made: Sequence[str],
    own: Kept | None = None,
    *,
    held: bool = True,
) -> Iterator[None]:
    """On record until the end of the block; not for a run that has no folder, or whose workspace has no `.fdc`. `step`: its key.

    `made`: what was made for the command and goes with it while it is empty. `own`: the files that it keeps for its run.
    Not `held`: it makes nothing that is to be taken away.

    Raises OSError where that cannot be written.
    """
    if (
        not (held or own)
        or not os.path.isdir(run_folder)
        or not os.path.isdir(os.path.join(root.path, ".fdc"))
    ):  # which `was` would not know
        yield
        return
    name = blake2b(f"{step} {os.getpid()}".encode(), digest_size=12).hexdigest()
    said = {
        "entries": was.entries, "environments": sorted(was.environments), "grants": grants, "made": list(made),
        "project": was.project,
        "into": os.path.relpath(os.path.join(run_folder, "refused"), root.path), "own": own, "held": held,
    }  # fmt: skip
    with _folder(root.path, make=True) as folder:
        handle = _locked(f"{name}.new", folder)
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(_sealed(root, json.dumps(said)))
            os.rename(f"{name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
            yield
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.close(handle)


@contextmanager
def _folder(workspace: str, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder of these files. Raises OSError, also for a link, which a clone may bring: it is not followed."""
    at = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in FOLDER.split(os.sep):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=at)
            try:
                below = os.open(name, descriptors.FOLDER, dir_fd=at)
            except OSError as failed:
                raise OSError(failed.errno, failed.strerror, FOLDER) from None
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _locked(name: str, folder: int) -> int:
    """A new file that this process holds: another controller may take away one that is not locked yet (`cleared`)."""
    while True:
        how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, how, 0o600, dir_fd=folder)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def lost(path: str) -> bool:
    """Whether a command's file is there whose controller may be gone; `path` is the workspace's."""
    try:
        with _folder(path) as folder:
            return bool(os.listdir(folder))
    except OSError:
        return False


def cleared(root: Root) -> list[tuple[list[str], str]]:
    """Takes away what commands made whose controllers were killed: of each, the paths and the folder in which they lie now."""
    out = []
    with _folder(root.path) as folder:
        for name in sorted(os.listdir(folder)):
            try:
                handle = os.open(
                    name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
                )
            except OSError:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                wrong, into = _taken(root, _read(root, handle))
                if wrong:
                    out.append((wrong, into))
                os.unlink(name, dir_fd=folder)
            except OSError:
                pass  # it is under way, or another controller has just cleared it
            finally:
                os.close(handle)
    return out


def _sealed(root: Root, said: str) -> bytes:
    secret = key(root.path, make=True) or b""
    about = f"fdc-under-way\0{os.path.realpath(root.path)}\0{said}"
    return f"{hmac.new(secret, about.encode('utf-8', 'surrogatepass'), 'sha256').hexdigest()}\n{said}".encode()


def _read(root: Root, handle: int) -> dict[str, Any]:
    """What a file says; nothing where it is not whole (then its command was never started), or not sealed by this user."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return {}
    with open(handle, "rb", closefd=False) as file:
        data = file.read()
    said = data.partition(b"\n")[2].decode("utf-8", "replace")
    return dict(json.loads(said)) if hmac.compare_digest(data, _sealed(root, said)) else {}


def _taken(root: Root, said: dict[str, Any]) -> tuple[list[str], str]:
    if not said:
        return [], ""
    if said.get("own"):
        own_folder.rescue(own_folder.Kept(*said["own"]))
    project = said.get("project", project_file.found(root))  # an older fdc wrote nothing of it
    was = views.Before(said["entries"], frozenset(said["environments"]), project)
    for path in said["made"]:  # by fdc, not by the command
        writable.discard(path, root.path)
    if not said.get("held", True):
        return [], ""
    return views.taken(root, was, said["grants"], os.path.join(root.path, said["into"])), said[
        "into"
    ]
