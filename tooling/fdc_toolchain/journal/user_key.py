"""The user's key: it tells runs that this user began on this machine from runs that came with a clone.

The key lies in the user's state folder, outside of any workspace, readable by its owner only. It
seals runs (`journal.hash_chain`); a run without its seal is resumed only if the user says so.
Where that folder cannot be written, a key for this process only is used.
"""

from __future__ import annotations

import os
import stat

from ..cachedir import state_dir
from ..engine.ports import WorldFailed
from ..exits import reason

LENGTH = 32


def key_path() -> str:
    """The path of the key: `$XDG_STATE_HOME/fdc/key`, or `~/.local/state/fdc/key`."""
    return os.path.join(state_dir(), "key")


_PASSING: dict[str, bytes] = {}


def key(root: str, *, make: bool) -> bytes | None:
    """The key; None where there is none. `make` makes it, for this process only where the folder cannot be written.

    Raises WorldFailed where a key is there that cannot be trusted: others may read it, it is not
    the user's own, or it lies in the workspace `root`.
    """
    path = key_path()
    if os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise WorldFailed(
            f"{path}: the key that seals runs must not lie in the workspace; set XDG_STATE_HOME"
        )
    existing = _read(path)
    if existing is None and make:
        _make(path)
        existing = _read(path) or _PASSING.setdefault(path, os.urandom(LENGTH))
    return existing


ELSEWHERE = "set XDG_STATE_HOME to a folder outside of the workspace that you can write"
"""What helps where the key, or what lies beside it, cannot be written."""


def can_be_made() -> bool:
    """Whether a folder above the key can be written, as far as the system tells."""
    above = os.path.dirname(key_path())
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)


def lasts() -> bool:
    """Whether the key outlives this process."""
    return key_path() not in _PASSING


def _read(path: str) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}; it seals runs") from failed
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise WorldFailed(
                f"{path}: others may read or write this key; remove it, or `chmod 600` it"
            )
        data = file.read(LENGTH + 1)
    if len(data) != LENGTH:
        raise WorldFailed(f"{path}: it is not a key; remove it, and fdc makes a new one")
    return data


def _make(path: str) -> None:
    """Writes a new key atomically; if two processes try at once, the first key stays."""
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"  # two threads may try at once, too
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(handle, "wb") as file:
                file.write(os.urandom(LENGTH))
                file.flush()
                os.fsync(handle)
            os.link(temporary, path)
        finally:
            os.unlink(temporary)
    except OSError:
        return  # the folder cannot be written, or another process was faster: `_read` finds out
