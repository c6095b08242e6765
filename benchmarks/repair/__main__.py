"""`python -m benchmarks.repair`: seeds faults, lets `fdc fix` repair them, judges, writes docs/benchmarks-repair.md.

What has been measured is kept (`~/.cache/fdc-benchmarks/repair`), so that an interrupted benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import environment
from . import cases, packages, page, run

PAGE = environment.ROOT / "docs" / "benchmarks-repair.md"
SEED = 20261123


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.repair", description="Count the seeded faults that are repaired.")
    reader.add_argument("--cases", type=int, default=40, help="how many faults (default: 40)")
    reader.add_argument("--seed", type=int, default=SEED, help=f"what they are drawn by (default: {SEED})")
    reader.add_argument("--iterations", type=int, default=40, help="patches that fdc fix may try (default: 40)")
    reader.add_argument("--jobs", type=int, default=2, help="cases at the same time (default: 2)")
    reader.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    reader.add_argument("--anew", action="store_true", help="forget what an earlier run measured")
    options = reader.parse_args(arguments)
    fetched = packages.fetch()
    scratch = Path(tempfile.mkdtemp(prefix="fdc-bench-repair-"))
    try:
        found = list(cases.make(fetched, packages.MODULES, options.seed, options.cases, scratch))
        kept = packages.home() / f"results-{cases.digest(found)}-{options.iterations}.json"
        if options.anew:
            kept.unlink(missing_ok=True)
        results = _load(kept)
        done = {(one.number, one.mode) for one in results}
        wanted = [(case, mode) for case in found for mode in run.MODES if (case.number, mode) not in done]
        with ThreadPoolExecutor(options.jobs) as pool:
            waiting = [
                pool.submit(run.repair, case, fetched[case.module.package], mode, options.seed, options.iterations, scratch)
                for case, mode in wanted
            ]
            for future in waiting:
                results.append(future.result())
                _save(kept, results)
                print(*results[-1], file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    options.output.write_text(page.page(found, results, options.seed, options.iterations, options.jobs), "utf-8")
    print(f"wrote {options.output}")
    return 0


def _load(path: Path) -> list[run.Result]:
    try:
        return [run.Result(*row) for row in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError):
        return []


def _save(path: Path, results: Sequence[run.Result]) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps([list(one) for one in results]), "utf-8")
    os.replace(temporary, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
