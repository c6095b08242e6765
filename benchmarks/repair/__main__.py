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
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import environment
from . import cases, packages, page, run

PAGE = environment.ROOT / "docs" / "benchmarks-repair.md"
SEED = 51357453
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
    reader.add_argument(
        "--minutes",
        type=float,
        default=1e9,
        help="begin no further case after so many (default: none)",
    )
    options = reader.parse_args(arguments)
    until = time.monotonic() + 60 * options.minutes
    if options.development and options.output == PAGE:
        reader.error("--development needs an --output of its own")
    versions, modules = packages.VERSIONS, packages.MODULES
    if options.development:
        versions, modules = packages.DEVELOPMENT_VERSIONS, packages.DEVELOPMENT
    modes = list(run.MODES) if options.plain else ["discipline"]
    fetched = packages.fetch(versions)
    lock = threading.Lock()
    scratch = Path(tempfile.mkdtemp(prefix="fdc-bench-repair-"))
    try:
        generator = _generator(modules)
        made = packages.home() / f"cases-{options.seed}-{options.cases}-{generator}.json"
        kept = (
            packages.home()
            / f"results-{options.seed}-{options.cases}-{generator}-{options.iterations}-{_code()}.json"
        )
        if options.anew:
            kept.unlink(missing_ok=True)
        found = cases.load(made)
        drawn = iter(found) if found else cases.make(fetched, modules, options.seed, options.cases, scratch)  # fmt: skip
        known = {(one.number, one.mode): one for one in _load(kept)}
        total = options.cases * len(modes)

        def repaired(case: cases.Case, mode: str) -> None:
            if time.monotonic() > until:
                return
            one = run.repair(
                case, fetched[case.module.package], mode, options.seed, options.iterations, scratch
            )
            with lock:
                known[case.number, mode] = one
                _save(kept, list(known.values()))
                work = (
                    f"{one.iterations} patches, {one.probes} edits in memory, {one.seconds:.0f} s"
                )
                said = f"case {one.number}, {mode}: {one.verdict} ({one.ended}), {work}"
                _tell(f"{sum(key[1] in modes for key in known)} of {total}: {said}")

        every: list[cases.Case] = []
        with ThreadPoolExecutor(options.jobs) as pool:
            waiting = []
            for case in drawn:  # a case is repaired while the next one is drawn
                every.append(case)
                new = [mode for mode in modes if (case.number, mode) not in known]
                waiting += [pool.submit(repaired, case, mode) for mode in new]
                if time.monotonic() > until:
                    break
            else:
                cases.save(made, every)
            for future in waiting:
                future.result()
        results = [one for key, one in sorted(known.items()) if key[1] in modes]
        begun = [one for one in every if all((one.number, mode) in known for mode in modes)]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    options.output.write_text(
        page.page(
            begun, results, options.seed, options.iterations, options.jobs, modes, options.cases
        ),
        "utf-8",
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
