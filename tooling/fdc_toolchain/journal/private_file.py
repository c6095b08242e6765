"""Makes a file that only its owner can read."""

from __future__ import annotations

import os


def private(path: str) -> None:
    """Makes a journal that only its owner can read, or corrects its mode and that of its `-wal` and `-shm`. Raises OSError."""
    try:
        os.close(
            os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        )
    except FileExistsError:
        for name in (path, path + "-wal", path + "-shm"):
            try:
                about = os.stat(name, follow_symlinks=False)
                if about.st_uid == os.geteuid() and about.st_mode & 0o077:
                    os.chmod(name, 0o600)
            except FileNotFoundError:
                continue
