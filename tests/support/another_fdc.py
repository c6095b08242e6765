"""An fdc of another version: `another_fdc.py ENGINE ARGUMENTS` is `fdc ARGUMENTS` whose records mean something else.

Like a later release it has another `journal.sqlite.ENGINE`, and it decides otherwise: it does the last of what
could start first. A run in its hands that it must not touch would have other records, in another order.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main(engine: int, arguments: list[str]) -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tooling"))
    from fdc_toolchain.journal import sqlite

    sqlite.ENGINE = engine
    from fdc_toolchain.engine import drive, events

    decide = drive.decide

    def otherwise(*given: Any) -> Any:
        found = decide(*given)
        return events.Performs(found.effects[::-1]) if isinstance(found, events.Performs) else found

    drive.decide = otherwise
    from fdc_toolchain.cli.main import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
