"""Intent files in a run's folder, from which a tool knows after a crash what it had begun.

A mark belongs to one idempotency key. It is written whole and forced to the disk before the
effect that it announces.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import blake2b

from .. import durable
from ..program.codec import encode
from ..workspace.failure import from_os


def write(run_folder: str, key: str, value: Mapping[str, object]) -> None:
    """Leaves the mark of `key`. Raises WorldFailed or ToolFailure."""
    path = _path(run_folder, key)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        durable.replace(path, encode(value))
    except OSError as failed:
        raise from_os(failed, path) from failed


def read(run_folder: str, key: str) -> dict[str, object] | None:
    """The mark of `key`, or None."""
    try:
        found = json.loads(durable.read(_path(run_folder, key)) or b"null")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _path(run_folder: str, key: str) -> str:
    return os.path.join(
        run_folder, "marks", blake2b(key.encode(), digest_size=12).hexdigest() + ".json"
    )
