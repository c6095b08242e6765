"""`python -m benchmarks.counting`: tries to make the promises of docs/verdicts.md false, as often as is asked, and counts.

Seven laws, each over what generators of the tests make from seeds: the prover against brute force, proved plans against the
reference interpreter and the engine, noninterference by two runs, and the three parts of certificates against worlds. What a
seed found is printed at once. With `--ledger FILE` what was counted is added to a file, a line for each law and piece of time,
and the page is the sum of that file: how many cases were tried, at which commits, from which seeds on. An oracle is in
`tests/` and was not written by looking at what it judges.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "counted.md"


class Law(NamedTuple):
    """What is tried. `case` tries one seed, counts what it saw, and raises AssertionError for a difference."""

    says: str
    case: Callable[[int, Counter[str]], None]
    counted: str
    chunk: int


def _worlds(seed: int, count: Counter[str]) -> None:
    from tests.property.test_reference import Tally

    tally = Tally()
    tally.look(seed)
    count.update(tally.counts)
    assert not tally.differences, "\n\n".join(tally.differences)


def _verdicts(seed: int, count: Counter[str]) -> None:
    from tests.property.test_verdicts import compare
    from tests.support.plansets import plan_set

    compared, rejected = compare([plan_set(seed, kept=seed % 3 == 0)])
    count.update({"sets": 1, "plans compared": compared, "rejected": rejected})


def _flow(seed: int, count: Counter[str]) -> None:
    from tests.support import flows

    aim = flows.AIMS[seed % len(flows.AIMS)]
    made = flows.aimed(seed, aim) if seed % 3 == 0 else flows.made(seed, kept=seed % 3 == 1)
    checked = flows.checked(made)
    count["plans"] += 1
    if flows.accepted(checked):
        count["accepted"] += 1
        assert not flows.interferes(checked), (
            f"seed {seed}: accepted, and text from outside makes a difference\n{made}"
        )


def _certified(seed: int, count: Counter[str]) -> None:
    """What lint proves has a certificate: `fdc run` refuses what has none."""
    from tests.property import test_certificate_data, test_certificate_files
    from tests.support import flow_claims, flows

    if seed % 4 == 0:
        count.update(test_certificate_files.certified(range(seed, seed + 1), 1))
    elif seed % 4 == 1:
        count.update(test_certificate_files.others(range(seed, seed + 1)))
    else:
        from fdc_toolchain.check import program_of

        made = flow_claims.under_other_declarations
        checked = (
            flows.checked(flows.made(seed, kept=seed % 8 < 4)) if seed % 4 == 2 else made(seed)
        )
        if flows.accepted(checked) and not any(
            item.severity == "error" for item in checked.diagnostics
        ):
            found = test_certificate_data.wrong(program_of(checked))
            assert found is None, f"seed {seed}: {found}"
            count["flow"] += 1
    count["plan sets"] += 1


def _mutants(module: str, seed: int, count: Counter[str]) -> None:
    import importlib

    importlib.import_module(f"tests.property.{module}").judged(seed, 12, count)


LAWS = {
    "worlds": Law(
        "Generated plan sets in generated worlds, real runs beside the reference interpreter: every stop has a cause of the "
        "list, the one that the reference computes; no more steps than were printed; what lint refuses is refused.",
        _worlds, "sets", 250,
    ),
    "brute force": Law(
        "Generated plan sets whose runs are all enumerated: the verdict and the length of the shortest counterexample.",
        _verdicts, "sets", 1000,
    ),
    "noninterference": Law(
        "Accepted plans run with different texts from outside, with files and whether they exist: the same is done.",
        _flow, "accepted", 500,
    ),
    "certified": Law(
        "What lint proves has a certificate that its checker accepts, or `fdc run` would refuse it.",
        _certified, "plan sets", 200,
    ),
    "certificate: control": Law(
        "Programs and certificates with something changed: a yes has no run that breaks what it claims (all runs enumerated).",
        partial(_mutants, "test_certificate"), "mutants", 10,
    ),
    "certificate: data": Law(
        "The same for text from outside (two runs).", partial(_mutants, "test_certificate_data"), "mutants", 50,
    ),
    "certificate: files": Law(
        "The same for files that are there and files that are not (worlds).", partial(_mutants, "test_certificate_files"),
        "mutants", 50,
    ),
}  # fmt: skip


SHARE = {
    "worlds": 5, "brute force": 3, "noninterference": 2, "certified": 2, "certificate: control": 1, "certificate: data": 1,
    "certificate: files": 1,
}  # fmt: skip
"""How the time of a piece is divided: most of it is for whole plan sets."""


def chunk(law: str, first: int, size: int) -> tuple[Counter[str], list[str]]:
    """Tries seeds one after the other: what was counted, and what was wrong."""
    if Path("/dev/shm").is_dir() and os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"  # the worlds are many small files
    count: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in range(first, first + size):
        count["seeds"] += 1
        try:
            LAWS[law].case(seed, count)
        except Exception as error:
            wrong.append(f"{law}, seed {seed}: {type(error).__name__}: {error}")
    return count, wrong


class Result(NamedTuple):
    """What was seen of a law in one piece of work, at a commit, from the seed `first` on."""

    law: str
    commit: str
    first: int
    counts: Counter[str]
    wrong: list[str]
    seconds: float
    mended: str = ""
    """What was done about what is wrong; written into the ledger by hand."""


def tried(law: str, first: int, most: int, jobs: int, seconds: float | None = None) -> Result:
    """Tries seeds from `first` on until `most` cases were counted, or for `seconds`. Prints how far it is."""
    what, counts, wrong, begun = LAWS[law], Counter[str](), list[str](), time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, max_tasks_per_child=20) as pool:
        seeds = _ahead(pool, law, first, jobs)
        for found, differences in seeds:
            counts += found
            for text in differences:
                print(text, file=sys.stderr, flush=True)
            wrong += differences
            print(
                f"{law}: {counts[what.counted]:,} {what.counted}, {len(wrong)} wrong",
                file=sys.stderr,
                flush=True,
            )
            late = seconds is not None and time.monotonic() - begun >= seconds
            if counts[what.counted] >= most or late or len(wrong) > 50:
                break
        seeds.close()
        pool.shutdown(cancel_futures=True)
    return Result(law, commit(), first, counts, wrong, time.monotonic() - begun)


def _ahead(
    pool: ProcessPoolExecutor, law: str, first: int, jobs: int
) -> Iterator[tuple[Counter[str], list[str]]]:
    """The chunks' results as they come, with a few chunks always under way."""
    size = LAWS[law].chunk
    under_way = {pool.submit(chunk, law, first + number * size, size) for number in range(jobs * 2)}
    following = first + len(under_way) * size
    while True:
        done = next(as_completed(under_way))
        under_way.remove(done)
        under_way.add(pool.submit(chunk, law, following, size))
        following += size
        yield done.result()


def commit() -> str:
    """The commit that is judged; with `+` where files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def read(ledger: Path) -> list[Result]:
    """What was counted before: a JSON object on each line. Raises ValueError for a line of another form."""
    rows = map(json.loads, ledger.read_text("utf-8").splitlines()) if ledger.exists() else ()
    return [Result(**{**row, "counts": Counter(row["counts"])}) for row in rows]


def page(results: list[Result]) -> str:
    """The page, in Markdown: a row for each law, which sums up its pieces."""
    rows = []
    for law, what in LAWS.items():
        pieces = [result for result in results if result.law == law]
        counts = sum((piece.counts for piece in pieces), Counter[str]())
        wrong = sum(len(piece.wrong) for piece in pieces)
        seen = ", ".join(f"{name}: {number:,}" for name, number in sorted(counts.items()))
        commits = ", ".join(f"`{name}`" for name in dict.fromkeys(piece.commit for piece in pieces))
        rows.append(
            f"| {law} | {counts[what.counted]:,} {what.counted} | {wrong} | {seen} | {commits} | {len(pieces)} "
            f"| {sum(piece.seconds for piece in pieces) / 60:,.0f} min |"
        )
    return "\n".join([
        "# What was counted",
        "",
        f"`make count`, up to {datetime.now(UTC):%Y-%m-%d}, with Python {platform.python_version()}.",
        "It works in pieces of ten minutes, each with new seeds, and adds them up in `benchmarks/counted.jsonl`:",
        "a line there names the law, the commit and the first seed of a piece. Each row below tries to make a",
        "promise of [Verdicts](verdicts.md) false; *wrong* is how often that was possible.",
        "",
        *(f"- **{law}**: {what.says}" for law, what in LAWS.items()),
        "",
        "| law | cases | wrong | what was seen | commits | pieces | time |",
        "|---|--:|--:|---|---|--:|--:|",
        *rows,
        "",
        *(f"- {one.law}, `{one.commit}`, {len(one.wrong)} wrong: {one.mended or 'not mended'}" for one in results if one.wrong),
        *([""] if any(one.wrong for one in results) else []),
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--law", choices=LAWS, action="append", help="one law; may be repeated; by default all"
    )
    parser.add_argument(
        "--most", type=int, default=1000, help="how many cases of each law (default: 1000)"
    )
    parser.add_argument(
        "--minutes", type=float, help="all laws together, each its share of the time"
    )
    parser.add_argument(
        "--ledger", type=Path, help="add what was counted to this file, and sum up all of it"
    )
    parser.add_argument("--seed", type=int, help="the first seed; by default a new one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, help="write the page here, not to standard output")
    given = parser.parse_args()
    first = int.from_bytes(os.urandom(4), "big") if given.seed is None else given.seed
    laws = given.law or list(LAWS)
    share = sum(SHARE[law] for law in laws)
    results = [] if given.ledger is None else read(given.ledger)
    wrong = 0
    for law in laws:
        seconds = None if given.minutes is None else given.minutes * 60 * SHARE[law] / share
        most = sys.maxsize if given.minutes is not None else given.most
        result = tried(law, first, most, given.jobs, seconds)
        results.append(result)
        wrong += len(result.wrong)
        if given.ledger is not None:
            with given.ledger.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result._asdict()) + "\n")
        if given.output:
            given.output.write_text(page(results), "utf-8")
    if not given.output:
        print(page(results))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
