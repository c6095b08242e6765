"""`python -m benchmarks.agentdojo`: proves and runs AgentDojo's tasks and attacks, writes docs/benchmarks-agentdojo.md.

What has been run is kept (`~/.cache/fdc-benchmarks/agentdojo`), so that an interrupted benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from .. import environment
from . import attacks, benign, desk, labels, model, page, run, suites

PAGE = environment.ROOT / "docs" / "benchmarks-agentdojo.md"
HOME = (
    Path(os.environ.get("FDC_BENCHMARKS_CACHE", "~/.cache/fdc-benchmarks")).expanduser()
    / "agentdojo"
)
REGIME = "canary"
"""The regime whose plans are run: more of them are proved than in the conservative one, so more is tried."""


class Work(NamedTuple):
    """A run to be made: the task's plan under `contents`, and the attack (None: the clean run)."""

    suite: str
    task: str
    contents: bool
    attack: str | None

    @property
    def key(self) -> str:
        return json.dumps(list(self))


_SUITES: dict[str, suites.Suite] = {}
_VERDICTS: dict[tuple[str, bool], benign.Verdict] = {}


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 0."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.agentdojo", description="Prove and run AgentDojo's tasks."
    )
    reader.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="the part of the attacks that is run, from 0 to 1 (default: 1)",
    )
    reader.add_argument("--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    reader.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    reader.add_argument("--anew", action="store_true", help="forget what an earlier run measured")
    options = reader.parse_args(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="fdc-bench-agentdojo-"))
    try:
        _tell("reading AgentDojo's suites")
        _SUITES.update({suite.name: suite for suite in suites.load()})
        cells = {}
        for regime in labels.REGIMES:
            for contents in (False, True):
                cells[regime, contents] = _judged(scratch, regime, contents)
        for contents in (False, True):
            _VERDICTS.update({(one.task.name, contents): one for one in cells[REGIME, contents]})
        _tell("linting the plans with what the injections ask for")
        refused = [attacks.judge(scratch / f"{suite.name}-{REGIME}-{contents}", suite, contents)
                   for contents in (False, True) for suite in _SUITES.values()]  # fmt: skip
        HOME.mkdir(parents=True, exist_ok=True)
        kept = HOME / f"runs-{_code()}.json"
        if options.anew:
            kept.unlink(missing_ok=True)
        done = _load(kept)
        wanted = _wanted(options.share)
        _run([work for work in wanted if work.key not in done], done, kept, scratch, options.jobs)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    runs = {Work(*json.loads(key)): one for key, one in done.items()}
    measured = page.Measured(
        _SUITES, cells, [one for some in refused for one in some], runs, len(wanted)
    )
    options.output.write_text(page.page(measured), "utf-8")
    print(f"wrote {options.output}")
    return 0


def _judged(scratch: Path, regime: str, contents: bool) -> list[benign.Verdict]:
    verdicts = []
    for suite in _SUITES.values():
        folder = scratch / f"{suite.name}-{regime}-{contents}"
        desk.lay_out(folder, suite.name, regime)
        verdicts += benign.judge(folder, suite.tasks, contents, regime)
    return verdicts


def _wanted(share: float) -> list[Work]:
    """The clean run of each plan, and a share of the attacks, in an order drawn by one seed: the same ones each time.

    With contents checked, only the plans that are other ones than with contents held.
    """
    clean, attacked = [], []
    for contents in (False, True):
        for suite in _SUITES.values():
            for task in suite.tasks:
                if (
                    contents
                    and _VERDICTS[task.name, True].plan.text
                    == _VERDICTS[task.name, False].plan.text
                ):
                    continue
                clean.append(Work(suite.name, task.id, contents, None))
                attacked += [
                    Work(suite.name, task.id, contents, one.id)
                    for one in suite.attacks
                    if one.calls
                ]
    held, checked = (
        [one for one in attacked if one.contents is contents] for contents in (False, True)
    )
    for some in (held, checked):
        Random(20261122).shuffle(some)
    return clean + held[: round(len(held) * share)] + checked[: round(len(checked) * share)]


def _run(
    wanted: Sequence[Work], done: dict[str, run.Ran], kept: Path, scratch: Path, jobs: int
) -> None:
    """Makes the runs that are missing, each in a process that has read the suites already."""
    if not wanted:
        return
    context = multiprocessing.get_context("fork")
    with context.Pool(jobs, _begin, (str(scratch),)) as pool:
        for number, (key, ran) in enumerate(pool.imap_unordered(_one, wanted), 1):
            done[key] = ran
            if number % 20 == 0 or number == len(wanted):
                _save(kept, done)
                _tell(
                    f"{number} of {len(wanted)} runs: {key}: {ran.ended}{', THROUGH' if ran.through else ''}"
                )


_PLACE: list[Path] = []
_SERVER: list[model.Server] = []


def _begin(scratch: str) -> None:
    """Makes a process ready: a folder of its own, a model of its own, nobody at the terminal."""
    sys.stdin = open(os.devnull)  # noqa: SIM115
    os.environ["FDC_CACHE_DIR"] = str(Path(scratch) / f"cache-{os.getpid()}")
    _PLACE.append(Path(scratch) / f"runs-{os.getpid()}")
    _SERVER.append(model.start())


def _one(work: Work) -> tuple[str, run.Ran]:
    suite = _SUITES[work.suite]
    folder = _PLACE[0] / work.suite
    if not folder.exists():
        desk.lay_out(folder, work.suite, REGIME)
    task = next(one for one in suite.tasks if one.id == work.task)
    attack = next((one for one in suite.attacks if one.id == work.attack), None)
    return work.key, run.run(
        folder, suite, _VERDICTS[task.name, work.contents].plan, attack, _SERVER[0]
    )


def _code() -> str:
    """What says that two measurements are of the same thing: fdc, and this benchmark but for its page."""
    found = hashlib.sha256()
    for place in (
        environment.ROOT / "tooling",
        environment.ROOT / "grammar",
        Path(__file__).parent,
    ):
        for path in sorted(
            one
            for one in place.rglob("*")
            if one.suffix in (".py", ".json", ".txt") and one.name != "page.py"
        ):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _load(path: Path) -> dict[str, run.Ran]:
    try:
        rows = json.loads(path.read_text("utf-8"))
        plain = {
            key: {**row, "acts": tuple(map(tuple, row["acts"])), "aims": tuple(row["aims"])}
            for key, row in rows.items()
        }
        return {key: run.Ran(**row) for key, row in plain.items()}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _save(path: Path, done: dict[str, run.Ran]) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({key: one._asdict() for key, one in done.items()}), "utf-8")
    fresh.replace(path)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
