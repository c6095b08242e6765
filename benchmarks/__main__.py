"""`python -m benchmarks`: measures, prints the table, writes docs/benchmarks.md (`make bench`)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from . import engine, environment, lint, page
from .rows import Session

PAGE = environment.ROOT / "docs" / "benchmarks.md"
RESULTS = environment.HOME / "lint.json"
REMARKS = Path(__file__).with_name("remarks.md")


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0, or 1 where warm output was not cold output. A missed goal is no failure."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure fdc beside other tools."
    )
    reader.add_argument(
        "--quick", action="store_true", help="a smoke run on a tiny corpus; writes no page"
    )
    reader.add_argument(
        "--here", action="store_true", help="measure this checkout in the running environment"
    )
    reader.add_argument(
        "--only",
        choices=list(lint.SUITES),
        action="append",
        help="measure only this; writes no page",
    )
    reader.add_argument(
        "--output", type=Path, help="where the page goes (default: docs/benchmarks.md)"
    )
    options = reader.parse_args(arguments)

    tools = environment.current() if options.here else environment.build()
    with tempfile.TemporaryDirectory(prefix="fdc-bench-") as scratch:
        home = Path(scratch) if options.quick else environment.HOME
        home.mkdir(parents=True, exist_ok=True)
        session = Session(tools, home, quick=options.quick)
        lint.measure(session, options.only or list(lint.SUITES))
    text = page.page(session, REMARKS.read_text("utf-8"))
    target = options.output or (None if options.quick or options.only else PAGE)
    if target is None:
        print(text)
    else:
        section = engine.kept(target)
        _write(target, f"{text.rstrip()}\n\n{section}" if section else text)
        _write(
            target.with_suffix(".json") if options.output else RESULTS,
            json.dumps(session.plain(), indent=1),
        )
        print(f"wrote {target}")
    return 1 if any("differs" in note for note in session.notes) else 0


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
