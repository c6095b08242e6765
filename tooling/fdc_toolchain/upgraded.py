"""Whether files of fdc changed after this process began: a server whose fdc is upgraded meanwhile mixes two versions of it."""

from __future__ import annotations

import os
import sys
import time

_BEGAN = time.time()
"""When this module was imported, which is early in every process that lasts."""

START_AGAIN = "the files of fdc changed after this process began (an upgrade?); start it again"


def is_upgraded() -> bool:
    """Whether a file that this process has imported of fdc changed since, or is gone. Takes a few milliseconds."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if name.startswith(__package__) else None
        if path is None:
            continue
        try:
            if os.stat(path).st_ctime > _BEGAN:
                return True
        except OSError:
            return True
    return False
