"""Whether a folder belongs to git itself: a bare repository, or the inside of a `.git`. Nothing there is ever committed."""

from __future__ import annotations

import os


def repository_of(folder: str) -> str | None:
    """The folder of git that `folder` is or lies in, without a working tree between them; None for any other folder."""
    here = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(here, ".git")):
        folders = (os.path.join(here, name) for name in ("objects", "refs"))
        if os.path.isfile(os.path.join(here, "HEAD")) and all(map(os.path.isdir, folders)):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return None
