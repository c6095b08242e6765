"""What tests of Python tools share: the files that a program says they are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fdc_toolchain.linking.own_row import targets
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.own_modules import modules


def hashes(workspace: Path, rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """`modules` of a program whose tools have these rows."""
    keys = modules({one for row in rows for one in targets(row)}, Files(str(workspace)))
    return {
        key: hashlib.blake2b((workspace / key).read_bytes(), digest_size=32).hexdigest()
        for key in keys
    }
