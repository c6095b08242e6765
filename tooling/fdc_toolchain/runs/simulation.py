"""The argument of `fdc run --simulate`: a script in a file, or an old run whose outcomes are reused."""

from __future__ import annotations

import os
from typing import Any

from ..exits import UsageError

MOST = 64 * 1024 * 1024


def source(root: str, what: str) -> dict[str, object]:
    """The script. Raises UsageError for an invalid file, or if neither a file nor a run exists."""
    from ..tools import simulate

    if os.path.isfile(what):
        try:
            with open(what, encoding="utf-8-sig") as file:
                text = file.read(MOST + 1)
        except (OSError, UnicodeDecodeError) as failed:
            raise UsageError(f"the simulation `{what}` cannot be read: {failed}") from None
        if len(text) > MOST:
            raise UsageError(f"the simulation `{what}` has more than {MOST} characters")
        try:
            return simulate.script(text)
        except ValueError as wrong:
            raise UsageError(f"the simulation `{what}` cannot be used: {wrong}") from None
    return _of_run(root, what)


def _of_run(root: str, run: str) -> dict[str, Any]:
    from ..tools import simulate
    from . import run_driver

    try:
        with run_driver.reading(root) as store:
            row = run_driver.the_run(store, run)
            run_driver.known(row)
            assert store is not None  # a run was found in it
            records = store.records(row)
    except UsageError:
        raise UsageError(
            f"`{run}` is neither a file nor the name of one run to simulate with"
        ) from None
    return simulate.recorded(
        {
            record.address: (record.request, record.body)
            for record in records
            if record.kind == "outcome"
        }
    )
