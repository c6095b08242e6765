"""`python -m benchmarks.repair`: seeds faults, lets `fdc fix` repair them, judges, writes docs/benchmarks-repair.md.

What has been measured is kept (`~/.cache/fdc-benchmarks/repair`), so that an interrupted benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .. import environment
from . import cases, packages, page, run

PAGE = environment.ROOT / "docs" / "benchmarks-repair.md"
SEED = 20261226
"""Set when the proposer had last been changed, before anybody had seen the cases that it gives."""


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.repair", description="Count the seeded faults that are repaired."
    )
    reader.add_argument("--cases", type=int, default=40, help="how many faults (default: 40)")
    reader.add_argument(
        "--seed", type=int, default=SEED, help=f"what they are drawn by (default: {SEED})"
    )
    reader.add_argument(
        "--iterations", type=int, default=12, help="patches that fdc fix may try (default: 12)"
    )
    reader.add_argument("--jobs", type=int, default=2, help="cases at the same time (default: 2)")
    reader.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    reader.add_argument(
        "--development",
        action="store_true",
        help="faults in the packages that the proposer is developed on",
    )
    reader.add_argument(
        "--plain",
        action="store_true",
        help="also without the discipline, which takes as long again",
    )
    reader.add_argument("--anew", action="store_true", help="forget what an earlier run measured")
    options = reader.parse_args(arguments)
    if options.development and options.output == PAGE:
        reader.error("--development needs an --output of its own")
    versions, modules = packages.VERSIONS, packages.MODULES
    if options.development:
        versions, modules = packages.DEVELOPMENT_VERSIONS, packages.DEVELOPMENT
    modes = list(run.MODES) if options.plain else ["discipline"]
    fetched = packages.fetch(versions)
    scratch = Path(tempfile.mkdtemp(prefix="fdc-bench-repair-"))
    try:
        made = packages.home() / f"cases-{options.seed}-{options.cases}-{_generator(modules)}.json"
        found = cases.load(made)
        if not found:
            for case in cases.make(fetched, modules, options.seed, options.cases, scratch):
                found.append(case)
                _tell(
                    f"case {len(found)} of {options.cases}: {case.module.module}, {case.fault.kind}"
                )
            cases.save(made, found)
        kept = (
            packages.home() / f"results-{cases.digest(found)}-{options.iterations}-{_code()}.json"
        )
        if options.anew:
            kept.unlink(missing_ok=True)
        results = _load(kept)
        done = {(one.number, one.mode) for one in results}
        wanted = [
            (case, mode) for case in found for mode in modes if (case.number, mode) not in done
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            waiting = [
                pool.submit(
                    run.repair,
                    case,
                    fetched[case.module.package],
                    mode,
                    options.seed,
                    options.iterations,
                    scratch,
                )
                for case, mode in wanted
            ]
            for future in as_completed(waiting):
                results.append(future.result())
                _save(kept, results)
                last = results[-1]
                work = f"{last.iterations} patches, {last.probes} edits in memory, {last.seconds:.0f} s"
                said = f"{last.verdict} ({last.ended}), {work}"
                _tell(
                    f"{len(results)} of {len(found) * len(modes)}: case {last.number}, {last.mode}: {said}"
                )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    options.output.write_text(
        page.page(found, results, options.seed, options.iterations, options.jobs, modes), "utf-8"
    )
    print(f"wrote {options.output}")
    return 0


def _code() -> str:
    """What says that two measurements are of the same repairs: a change of fdc makes what was kept worthless."""
    found = hashlib.sha256()
    for place in (
        environment.ROOT / "tooling",
        environment.ROOT / "plans" / "library",
        environment.ROOT / "grammar",
    ):
        for path in sorted(
            one for one in place.rglob("*") if one.suffix in (".py", ".plan", ".json")
        ):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _generator(modules: Sequence[packages.Module]) -> str:
    """What says that cases come from the same generator and modules."""
    texts = [(Path(__file__).parent / name).read_bytes() for name in ("faults.py", "cases.py")]
    return hashlib.sha256(
        b"".join([*texts, repr(modules).encode(), sys.version.encode()])
    ).hexdigest()[:12]


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _load(path: Path) -> list[run.Result]:
    try:
        return [run.Result(*row) for row in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def _save(path: Path, results: Sequence[run.Result]) -> None:
    cases.replace(path, json.dumps([list(one) for one in results]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
