"""`answering_fdc.py ARGUMENTS` is `fdc ARGUMENTS` whose tools answer as `reference.answer` does, and whose workers take
apart every fork of two branches."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "tooling")]
    from fdc_toolchain.runs import granted
    from fdc_toolchain.runs.workers import fork_shards
    from fdc_toolchain.tools import runtime

    from tests.support.reference import Answering

    fork_shards.LEAST = 1
    granted.absent = lambda *given, **named: []  # the tools have no code, and need none
    runtime.LocalTools = Answering  # type: ignore[misc,assignment]
    from fdc_toolchain.cli.main import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
