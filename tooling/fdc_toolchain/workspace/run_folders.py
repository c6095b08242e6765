"""Where runs live in a workspace: `.fdc/` with the journal, and a folder and a lock for each run."""

from __future__ import annotations

import fcntl
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .. import durable
from ..engine.ports import WorldFailed
from ..exits import reason
from ..program.instructions import every
from ..program.model import Program

FOLDER = ".fdc"
JOURNAL = "runs.sqlite"
UNDER_WAY = "under-way"
"""In `FOLDER`: a note about each command that is under way, or was killed with its controller (`tools.under_way`)."""
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def folder(root: str) -> str:
    """The `.fdc` of a workspace, made if need be, ignored by git. Raises WorldFailed."""
    path = os.path.join(root, FOLDER)
    try:
        if not os.path.lexists(path):
            _refuse_below_a_command(root, path)
        os.makedirs(path, exist_ok=True)
        refuse_link(path)
        ignore = os.path.join(path, ".gitignore")
        if not os.path.exists(ignore):
            durable.replace(ignore, b"*\n")
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}; runs are recorded there") from failed
    return path


def refuse_link(path: str) -> None:
    """Raises WorldFailed if the `.fdc` of a workspace is a symbolic link."""
    if os.path.islink(path):
        raise WorldFailed(
            f"{path}: is a symbolic link, so runs would be recorded outside the workspace"
        )


def _refuse_below_a_command(root: str, path: str) -> None:
    """Raises WorldFailed if a workspace above has a note about a command: `path` would be taken away as made by it."""
    here = os.path.abspath(root)
    above = os.path.dirname(here)
    while above != os.path.dirname(above):
        records = os.path.join(above, FOLDER)
        try:
            with os.scandir(os.path.join(records, UNDER_WAY)) as notes:
                noted = any(note.is_file(follow_symlinks=False) for note in notes)
        except OSError:
            noted = False
        if noted and not here.startswith(records + os.sep):
            raise WorldFailed(
                f"{path}: a command of a run in the workspace {above} is under way, or was killed with its fdc; fdc takes away"
                f" each `{FOLDER}` that is made below that folder meanwhile. Wait until it has ended; if it was killed, start"
                " any run there, or `fdc resume`"
            )
        above = os.path.dirname(above)


def journal_path(root: str) -> str:
    """The journal's file; it may not exist."""
    return os.path.join(root, FOLDER, JOURNAL)


def run_folder(root: str, run: str) -> str:
    """The folder in which a run keeps its lock, its messages and its tools' marks, made if need be."""
    path = os.path.join(folder(root), "runs", run)
    for part in (os.path.dirname(path), path):
        if os.path.islink(part):  # a clone may bring one, and it may lead anywhere
            raise WorldFailed(f"{part}: is a symbolic link, which fdc does not follow")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed
    return path


def make_outside(root: str, program: Program, own: str | None) -> None:
    """Makes the folder for text from outside of a run (`own`: its folder, None: it has none) whose steps may write such text.

    No command sees what is in it, but each sees that it is there: so it is there whatever that text chooses.
    """
    if own is None or not any(
        "outside" in item for plan in program["plans"].values() for item in every(plan["body"])
    ):
        return
    path = root
    for part in (*own.split("/"), "outside"):
        path = os.path.join(path, part)
        if os.path.islink(path):
            return
        with suppress(OSError):  # where something is in the way, no step makes it
            os.mkdir(path)


def ask_to_cancel(root: str, run: str, now: float) -> None:
    """Leaves the request that a run be cancelled, for the controller of it. Raises WorldFailed."""
    path = _request(root, run)
    try:
        durable.replace(path, f'{{"pid": {os.getpid()}, "at": {now:.3f}}}\n'.encode())
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed


def cancel_asked(root: str, run: str) -> bool:
    """Whether somebody wants the run cancelled."""
    return os.path.exists(_request(root, run))


def cancel_request(root: str, run: str) -> bytes | None:
    """The request as it stands, which tells it from a later one; None where there is none."""
    try:
        return durable.read(_request(root, run), limit=4096)
    except OSError:
        return None


def forget_cancel(root: str, run: str) -> None:
    """Takes the request away. Raises WorldFailed."""
    try:
        os.unlink(_request(root, run))
    except FileNotFoundError:
        pass
    except OSError as failed:
        raise WorldFailed(f"{failed.filename}: {reason(failed)}") from failed


def _request(root: str, run: str) -> str:
    return os.path.join(root, FOLDER, "runs", run, "cancel")


class CancelWatch:
    """Looks five times a second whether somebody wants a run cancelled, or set `end`; then calls `leave`, once, on a thread."""

    def __init__(
        self, wants: Callable[[], bool], leave: Callable[[], None], end: threading.Event | None
    ) -> None:
        self._wants, self._leave, self._end = wants, leave, end
        self._stopped = threading.Event()
        self._sending = threading.Lock()
        self.asked = threading.Event()
        self._thread = threading.Thread(target=self._look, name="fdc-cancel", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Afterwards `leave` is not called any more, and the thread has ended."""
        with self._sending:
            self._stopped.set()
        self._thread.join()

    def leaves(self) -> bool:
        """Whether the run must stop: it is cancelled, or its process ends."""
        return self.asked.is_set() or (self._end is not None and self._end.is_set())

    def _look(self) -> None:
        while not self._stopped.wait(0.2):
            if self._wants():
                self.asked.set()
            if self.leaves():
                with self._sending:
                    if not self._stopped.is_set():
                        self._leave()
                return


class RunIds:
    """Names for runs: `20261121-101500-k3f9`, by the clock (UTC), told apart by chance."""

    def run_id(self) -> str:
        """A new name. Later seconds sort later."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        source = random.SystemRandom()
        return stamp + "-" + "".join(source.choice(_ALPHABET) for _ in range(4))


class Lock:
    """The lock in the folder of a run or a task: while a controller lives, no other on this machine drives it.

    The kernel releases it with the process, however that ends.
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.join(path, "lock")
        self._handle = -1

    def take(self) -> str | None:
        """Takes the lock. Returns None, or who holds it."""
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
            if not self._flock():
                holder = os.pread(self._handle, 64, 0).decode("ascii", "replace").strip()
                self.release()
                return f"process {holder}" if holder.isdecimal() else "another process"
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)
        except OSError as failed:
            self.release()
            raise WorldFailed(f"{self._path}: {reason(failed)}") from failed
        return None

    def _flock(self) -> bool:
        # The caller `is_driven` holds the lock for a moment; that must not look like a controller.
        for _ in range(10):
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(0.01)
        return False

    def release(self) -> None:
        """Gives the lock back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def is_driven(root: str, run: str) -> bool:
    """True while a living controller on this machine drives the run."""
    try:
        return durable.is_held(os.path.join(root, FOLDER, "runs", run, "lock"))
    except OSError:
        return False
