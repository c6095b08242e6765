"""Prevents two runs that may write the same paths of a workspace at the same time (`docs/runs.md`, "Two runs at once").

While a run is driven, a file in `.fdc/claims` has what it may write (`program.write_set`) and its driver. The driver holds
a kernel lock on that file, so a claim ends with its process in every case; a file without a lock is ignored and
deleted. Only one process takes a claim at a time, and it takes everything that its run needs at once.

    claim = Claim(root, name, kin, written)
    other = claim.take()        # None, or the run that blocks it
    ...
    claim.release()
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from contextlib import suppress

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...named_tuples import NamedTuple
from ...program.write_set import EVERYTHING, NOTHING, WriteSet, of_json
from ...workspace import run_folders

FOLDER = "claims"
_ALL = "all"
"""The file that is locked while a process takes a claim."""

KIN = "FDC_KIN"
"""The variable with the `kin` of a process that drives runs, for those that it starts."""

_process = ""
_kin: dict[str, frozenset[str]] = {}
"""The claims of the runs that this process drives."""


class Other(NamedTuple):
    """A running run that may write the same `path` (or glob) as another run, and its driver."""

    run: str
    driver: str
    path: str

    def said(self) -> str:
        """A sentence about it, without a full stop."""
        what = "any file" if self.path in ("**", "**/*") else f"`{self.path}`"
        return f"the run {self.run} ({self.driver}) may write {what} until it ends, and so may this one"


class Claim:
    """The claim of one run on the paths that it may write, while one controller drives it.

    Runs of one kin are not kept apart: pieces of a run, and a run within a step of another one (`within`). What one process
    drives is of one kin, unless the process is a worker, which drives runs that know nothing of each other (`alone`).
    """

    def __init__(
        self,
        root: str,
        run: str,
        written: WriteSet,
        *,
        within: str | None = None,
        alone: bool = False,
    ) -> None:
        self._root, self._run, self._written = root, run, written
        outer = None if within is None else _kin.get(within, frozenset((within,)))
        self._names = frozenset((run,)) | (
            outer if outer is not None else frozenset() if alone else _family()
        )
        self._handle = -1
        self._path = ""

    def take(self) -> Other | None:
        """Takes the claim, or returns the run that blocks it. Raises WorldFailed."""
        _kin[self._run] = self._names
        if not self._written:
            return None
        folder = os.path.join(run_folders.folder(self._root), FOLDER)
        path = os.path.join(folder, self._run)
        try:
            os.makedirs(folder, exist_ok=True)
            if os.path.islink(folder):
                raise WorldFailed(f"{folder}: is a symbolic link, which fdc does not follow")
            with durable.exclusive(os.path.join(folder, _ALL)):
                other = _in_the_way(folder, self._written, self._names)
                if other is not None:
                    return other
                with suppress(FileNotFoundError):
                    os.unlink(path)  # of a controller that was replaced
                self._handle = os.open(
                    path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
                )
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                said = {
                    "run": self._run,
                    "pid": os.getpid(),
                    "kin": sorted(self._names),
                    "writes": self._written.to_json(),
                }
                os.write(self._handle, json.dumps(said).encode("ascii"))
                self._path = path
        except OSError as failed:
            self.release()
            raise WorldFailed(f"{failed.filename or path}: {reason(failed)}") from failed
        return None

    def release(self) -> None:
        """Releases the claim."""
        _kin.pop(self._run, None)
        if self._handle < 0:
            return
        with suppress(OSError):  # the next one deletes it
            if self._path and os.path.samestat(os.lstat(self._path), os.fstat(self._handle)):
                os.unlink(self._path)
        os.close(self._handle)
        self._handle = -1


def taken(root: str, run: str, written: WriteSet) -> Claim:
    """Takes the claim of a run. Raises WorldFailed, also if another run blocks it."""
    claim = Claim(root, run, written)
    other = claim.take()
    if other is not None:
        claim.release()
        raise WorldFailed(other.said())
    return claim


def in_the_way(root: str, written: Callable[[], WriteSet], *, alone: bool = False) -> Other | None:
    """The run that blocks a new one, as far as known without a claim. Raises WorldFailed.

    `alone`: runs that this process drives may block it too.
    """
    folder = os.path.join(root, run_folders.FOLDER, FOLDER)
    try:
        if os.path.islink(folder) or not any(name[0] != "." for name in os.listdir(folder)):
            return None
        with durable.exclusive(os.path.join(folder, _ALL)):
            return _in_the_way(folder, written(), frozenset() if alone else _family())
    except FileNotFoundError:
        return None
    except OSError as failed:
        raise WorldFailed(f"{failed.filename or folder}: {reason(failed)}") from failed


def kin() -> str:
    """A unique name of this process, also across containers; `KIN` passes it to processes that it starts."""
    global _process
    if not _process.startswith(f"{os.getpid()} "):
        _process = f"{os.getpid()} {os.urandom(8).hex()}"
    return _process


def _family() -> frozenset[str]:
    """The kin of all runs that this process drives: fdc or a command of a run may have started it."""
    return frozenset(
        (kin(), *(os.environ[name] for name in (KIN, "FDC_RUN") if os.environ.get(name)))
    )


def _in_the_way(folder: str, written: WriteSet, names: frozenset[str]) -> Other | None:
    for name in sorted(os.listdir(folder)):
        if name.startswith("."):
            continue
        path = os.path.join(folder, name)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # released meanwhile
        except OSError as failed:
            if failed.errno != errno.ELOOP:
                raise
            os.unlink(path)  # a link, which is not a claim
            continue
        try:
            if not _held(handle):
                with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
                    os.unlink(path)
                continue
            other = _other(os.read(handle, os.fstat(handle).st_size), name, written, names)
        finally:
            os.close(handle)
        if other is not None:
            return other
    return None


def _held(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _other(data: bytes, name: str, written: WriteSet, names: frozenset[str]) -> Other | None:
    try:
        said = json.loads(data)
        if not names.isdisjoint(said["kin"]):
            return None
        run, driver, theirs = (
            str(said["run"]),
            f"process {int(said['pid'])}",
            of_json(said["writes"]),
        )
    except (ValueError, KeyError, TypeError):  # written by an fdc with another format
        run, driver, theirs = name, "another fdc", WriteSet(EVERYTHING, NOTHING, "")
    path = written.meets(theirs)
    return None if path is None else Other(run, driver, path)
