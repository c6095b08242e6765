"""The newest record that this machine saw of each run, kept outside of any workspace, beside the user's key.

A process that can write a workspace can restore an older copy of its journal, complete and sealed, without answers that
were used since. So the newest important record is noted here as well: how often the run was taken over, the number of the
record and its link. The journal is written first. So after a crash between the two it is ahead, which is accepted;
a journal that is behind is an older copy. The note is on the disk before the effect that the record announces begins.

A file for each run, of two slots that are written in turn: a write that a power cut tears leaves the other one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import blake2b

from .. import durable
from ..cachedir import state_dir
from ..engine.ports import WorldFailed
from ..exits import reason
from ..named_tuples import NamedTuple

FOLDER = "seen"
SLOT = 192
_LINK = 32


class Seen(NamedTuple):
    """The newest record of a run that this machine saw: `link` is the chain's, without the seal."""

    epoch: int
    seq: int
    link: bytes


def folder() -> str:
    """The folder of the notes: `$XDG_STATE_HOME/fdc/seen`, or `~/.local/state/fdc/seen`."""
    return os.path.join(state_dir(), FOLDER)


def read(start: bytes) -> Seen | None:
    """The note about the run that begins with a link; None where there is none. Raises WorldFailed."""
    path = _path(start)
    slots = _slots(path)
    if slots is None:
        return None
    if not slots:
        advice = "it is damaged; `fdc verify RUN --accept-older` writes it anew"
        raise WorldFailed(f"{path}: it says how far this machine saw a run go, and {advice}")
    return max(slots)[1]


def advance(start: bytes, seen: Seen) -> None:
    """Writes the note about a run; returns when it is on the disk. Raises WorldFailed."""
    path = _path(start)
    try:
        try:
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            durable.replace(path, _slot(1, seen).ljust(2 * SLOT, b"\n"))
            return
        try:
            number = max(_valid_slots(os.pread(handle, 2 * SLOT, 0)), default=(0, seen))[0] + 1
            os.pwrite(handle, _slot(number, seen), (number + 1) % 2 * SLOT)
            os.fdatasync(handle)
        finally:
            os.close(handle)
    except OSError as failed:
        purpose = "it says how far this machine saw a run go"
        raise WorldFailed(f"{path}: {reason(failed)}; {purpose}") from failed


def forget(start: bytes) -> None:
    """Removes the note about a run that is removed. Raises WorldFailed."""
    path = _path(start)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed


def behind(seen: Seen | None, epoch: int, last: int, link: Callable[[int], bytes]) -> str:
    """Why a run's record is older than this machine's note, in words that follow a colon; empty if it is not.

    `epoch` and `last` are those of the record, `link` gives the link of one of its rows by its number.
    """
    if seen is None:
        return ""
    if last < seen.seq:
        return f"it has {last} records, and {seen.seq} were seen"
    if epoch < seen.epoch:
        return f"it was taken up {epoch} times, and {seen.epoch} were seen"
    if link(seen.seq)[:_LINK] != seen.link:
        return f"its record {seen.seq} is another one"
    return ""


def outdated(run: str, older: str) -> str:
    """The message about a run whose record is an older copy."""
    return (
        f"the record of the run {run} is older than what this machine saw: {older}; what happened since, and answers that were "
        f"used, are not in it. If you put it back on purpose, or it shall go on in this copy of the workspace, `fdc verify {run} "
        "--accept-older` takes it as it is"
    )


def _path(start: bytes) -> str:
    return os.path.join(folder(), blake2b(start, digest_size=16).hexdigest())


def _slots(path: str) -> list[tuple[int, Seen]] | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed
    with open(handle, "rb") as file:
        return _valid_slots(file.read(2 * SLOT)) if stat.S_ISREG(os.fstat(handle).st_mode) else []


def _slot(number: int, seen: Seen) -> bytes:
    text = f"{number} {seen.epoch} {seen.seq} {seen.link[:_LINK].hex()}"
    return f"{text} {_checksum(text)}".encode("ascii").ljust(SLOT - 1) + b"\n"


def _valid_slots(data: bytes) -> list[tuple[int, Seen]]:
    slots = []
    for at in (0, SLOT):
        text, _, checksum = data[at : at + SLOT].decode("ascii", "replace").strip().rpartition(" ")
        if text and checksum == _checksum(text):
            number, epoch, seq, link = text.split(" ")
            slots.append((int(number), Seen(int(epoch), int(seq), bytes.fromhex(link))))
    return slots


def _checksum(text: str) -> str:
    return blake2b(text.encode("ascii", "replace"), digest_size=8).hexdigest()
