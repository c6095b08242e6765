"""The user's own folders: the cache, which is safe to delete at any time, and the state, which is not."""

from __future__ import annotations

import _thread
import io
import os
import stat


def cache_dir() -> str:
    """`$FDC_CACHE_DIR`, else `$XDG_CACHE_HOME/fdc`, else `~/.cache/fdc`. It may not exist yet."""
    found = os.environ.get("FDC_CACHE_DIR")
    if found:
        return found
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # to be ignored, as its specification says
        base = os.path.join(_home(), ".cache")
    return os.path.join(base, "fdc")


def _home() -> str:
    """The user's home; a path below which nothing can be for a user without one, and no folder `~` of the workspace."""
    home = os.path.expanduser("~")
    if os.environ.get("HOME") == "":  # as if it were not set: `~` would be `/`
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    return home if os.path.isabs(home) else os.path.join(os.devnull, "no-home-folder")


def state_dir() -> str:
    """`$XDG_STATE_HOME/fdc`, or `~/.local/state/fdc`: the user's key lies there. It may not exist yet."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(_home(), ".local", "state")
    return os.path.join(state, "fdc")


_TAG = "CACHEDIR.TAG"
_MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# This file marks a cache of fdc: `fdc cache clear` deletes all that is in this folder.
# Programs that make backups may leave it out. See https://bford.info/cachedir/
"""


def make(folder: str) -> None:
    """Makes a folder of the cache. A cache that is new or empty gets the mark by which `is_own` knows it. Raises OSError."""
    os.makedirs(cache_dir(), exist_ok=True)
    if not os.listdir(cache_dir()):
        mark()
    os.makedirs(folder, exist_ok=True)


def mark() -> None:
    """Writes the mark of a cache, whole or not at all. Raises OSError."""
    path = os.path.join(cache_dir(), _TAG)
    try:
        with open(path, "wb") as file:
            file.write(_MARK)
    except OSError:  # a full disk; nobody but us made the file, as the folder was empty
        if os.path.exists(path):
            os.unlink(path)
        raise


def is_own() -> bool:
    """Whether all in the cache's folder is fdc's: it is empty, has the mark, or has its name from fdc. Raises OSError."""
    if not os.environ.get("FDC_CACHE_DIR") or not os.listdir(cache_dir()):
        return True
    try:
        with opened(_TAG) as file:
            return file.read(len(_MARK)) == _MARK
    except OSError:
        return False


_CHECKSUM = 4
"""Bytes of the checksum at the beginning of a stored value."""


def opened(name: str) -> io.BufferedReader:
    """A file of the cache. Raises OSError, also at once for what is no regular file (a pipe would be waited for)."""
    handle = os.open(
        os.path.join(cache_dir(), name), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    )
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(name)
    return open(handle, "rb")


def load(name: str) -> object:
    """The value stored under `name`, or None where there is none or it cannot be read.

    The checksum before the value is compared first: `marshal` may take all memory, or never end, for damaged data.
    """
    import marshal
    import zlib

    try:
        with opened(name) as file:
            checksum, data = file.read(_CHECKSUM), file.read()
        if checksum != zlib.crc32(data).to_bytes(_CHECKSUM, "big"):
            return None
        return marshal.loads(data)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def store(name: str, value: object) -> None:
    """Stores a value of plain built-in types, whole or not at all. A cache that cannot be written is not an error."""
    import marshal
    import zlib

    target = os.path.join(cache_dir(), name)
    temporary = f"{target}.{os.getpid()}.{_thread.get_ident()}"
    try:
        data = marshal.dumps(value)  # type: ignore[arg-type]
        make(os.path.dirname(target))
        with open(temporary, "wb") as file:
            file.write(zlib.crc32(data).to_bytes(_CHECKSUM, "big"))
            file.write(data)
        os.replace(temporary, target)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass


def prune(folder: str, most: int) -> None:
    """Deletes all but the newest `most` files of a folder of the cache."""
    try:
        with os.scandir(os.path.join(cache_dir(), folder)) as listing:
            entries = list(listing)
        if len(entries) > most:
            for _, path in sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)[
                :-most
            ]:
                os.unlink(path)
    except OSError:
        pass
