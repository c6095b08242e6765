"""`python -m benchmarks.mutants`: plants mistakes into the analyses, one at a time, and counts those that a test finds.

A seeded sample of small changes (another comparison, `and` for `or`, a number off by one, a statement left out, ...) in
`rules/` and what they rest on. First all tests that may find one run once, and it is noted which lines each of them
executes (`mutants_tests`). Then each mutant lives in a copy of the checkout (`mutants_run`) and meets the tests that execute
its lines: golden files first, which notice most, then the others, the quickest first. One that all of them survive meets the
laws for some seconds (`benchmarks.counting`: generated plan sets beside oracles, which CI does for a minute each with new
seeds). One that survives these, too, is listed with its place. A mutant that hangs is found, too.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import cache, partial
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from .mutants_changes import SILENT, points
from .mutants_equivalent import EQUIVALENT, SURVIVORS
from .mutants_run import ROOT, Checkout, copy, pytest_command

PAGE = ROOT / "docs" / "mutants.md"
PACKAGE = Path("tooling/fdc_toolchain")
FILES = (
    "rules/**/*.py",
    "linking/graph.py",
    "linking/constants.py",
    "linking/types.py",
    "automata/declare.py",
)
PROBE = """\
import sys as _sys
_hit = getattr(_sys.modules.get("benchmarks.mutants_tests"), "HITS", set()).add
"""
"""What a file begins with that notes what of it is executed: where no test runs, nobody hears of it."""

BUDGET = 15.0
"""Seconds of tests that one mutant meets at most. What is left out for it are the slowest of its tests."""

FIRST = ("tests/golden/test_situations", "tests/golden/test_words")
"""Few files, quickly read, in which most mutants are noticed: each mutant meets them before the others are read."""

LAWS = {
    "rules/solver/flow": ("noninterference", "certified"),
    "rules/solver/files": ("worlds", "certified"),
    "rules/solver": ("brute force", "worlds"),
    "": ("worlds",),
}
"""The laws that a change below a folder of the package meets, where no test found it; the first folder that fits counts."""

LAW_SECONDS = 10.0

SEED = 1
"""The same plan sets for each mutant."""

TESTS = (
    "tests/unit/test_*.py",
    "tests/spec/test_rules.py",
    "tests/golden/test_*.py",
    "tests/property/test_*.py",
    "tests/packs/*/test_*.py",
)
ABOUT = re.compile(r"fdc_toolchain\.(?:check|rules|linking|automata)\b")
"""A file of tests may find a mutant where it, or what it imports of the tests, imports one of these."""


class Mutant(NamedTuple):
    """One planted mistake: its file (below the checkout), line, what it changes, and the whole text with it."""

    path: Path
    line: int
    what: str
    text: str
    place: tuple[str, str, str]
    """Where it is, whatever the number of the line: the file, the line as it is written, the column in it and the change."""
    lines: range
    """The lines of its statement, in the plain file."""
    whole: bool
    """Whether these are executed on import, or not each time that they count: then all that executes the file may find it."""


class Outcome(NamedTuple):
    """What became of a mutant: the test or the laws that found it, "" where it survived."""

    mutant: Mutant
    found_by: str
    seconds: float
    tests: int


def sites(path: Path) -> list[tuple[Path, int]]:
    """Every place of a file that can be changed, as (file, number of the change)."""
    return [
        (path, number)
        for number, _ in enumerate(points(ast.parse((ROOT / path).read_text("utf-8"))))
    ]


@cache
def plain(path: Path) -> str:
    """A file as a mutant is written: without comments and in one style. A test that reads it for its words is of no use here."""
    return ast.unparse(ast.parse((ROOT / path).read_text("utf-8")))


def planted(path: Path, number: int) -> Mutant | None:
    """The file with one change; None where that is no Python."""
    original = (ROOT / path).read_text("utf-8")
    node, _, what = next(itertools.islice(points(ast.parse(original)), number, None))
    tree = ast.parse(plain(path))
    twin, change, _ = next(itertools.islice(points(tree), number, None))
    lines = _lines(tree, twin)
    change()
    ast.fix_missing_locations(tree)
    try:
        text = ast.unparse(tree)
        compile(text, str(path), "exec")
    except (SyntaxError, ValueError):
        return None
    source = original.splitlines()[node.lineno - 1]
    column = node.col_offset - len(source) + len(source.lstrip())
    place = (str(path.relative_to(PACKAGE)), source.strip(), f"{column}: {what}")
    return Mutant(path, node.lineno, what, text, place, *lines)


def _lines(tree: ast.Module, node: ast.expr | ast.stmt) -> tuple[range, bool]:
    """The lines of the statement around a node, without a body, and whether it is outside of functions that keep no results."""
    function, around = None, range(node.lineno, (node.end_lineno or node.lineno) + 1)
    for one in ast.walk(tree):  # what is inside comes after what is around it
        if (
            isinstance(one, ast.stmt)
            and one.lineno <= node.lineno
            and (node.end_lineno or 0) <= (one.end_lineno or 0)
        ):
            body = getattr(one, "body", None)
            end = (
                max(one.lineno + 1, body[0].lineno) if body else (one.end_lineno or one.lineno) + 1
            )
            around = range(one.lineno, end) if node.lineno < end else around
            if isinstance(one, ast.FunctionDef) and node.lineno >= end:
                function = one
    kept = function is not None and any(
        "cache" in ast.unparse(one) for one in function.decorator_list
    )
    return around, function is None or kept


def sources() -> list[Path]:
    """The files that may be changed."""
    paths = {
        path.relative_to(ROOT)
        for glob in FILES
        for path in (ROOT / PACKAGE).glob(glob)
        if path.name != "__init__.py"
    }
    return sorted(paths)


def sample(seed: int, most: int) -> list[Mutant]:
    """A sample over all files without those that change nothing, the same for the same seed and sources."""
    every = [site for path in sources() for site in sites(path)]
    random.Random(seed).shuffle(every)
    made = (planted(*site) for site in every)
    counted = (mutant for mutant in made if mutant is not None and mutant.place not in EQUIVALENT)
    return list(itertools.islice(counted, most))


def stale() -> list[str]:
    """The entries of `EQUIVALENT` whose line is not there any more."""
    known = EQUIVALENT | SURVIVORS
    texts = {path: ROOT / PACKAGE / path for path, _, _ in known}
    lines = {
        path: set(map(str.strip, file.read_text("utf-8").splitlines()))
        for path, file in texts.items()
        if file.is_file()
    }
    return [f"{path}: {source}" for path, source, _ in known if source not in lines.get(path, ())]


def test_files() -> list[str]:
    """The files of tests that may find a mutant."""
    return [
        str(path.relative_to(ROOT))
        for glob in TESTS
        for path in sorted(ROOT.glob(glob))
        if _about(path)
    ]


@cache
def _about(path: Path) -> bool:
    text = path.read_text("utf-8")
    used = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            used |= {node.module, *(f"{node.module}.{item.name}" for item in node.names)}
    if any(ABOUT.match(name) for name in used):
        return True
    ours = (ROOT / f"{name.replace('.', '/')}.py" for name in used if name.startswith("tests."))
    return any(other != path and other.is_file() and _about(other) for other in ours)


class Notes(NamedTuple):
    """What each test costs, and by mutant the tests that execute its statement; "" stands for the collection of tests."""

    seconds: dict[str, float]
    hits: dict[int, set[str]]

    def tests(self, number: int) -> list[str]:
        """The tests that execute the statement of a mutant, quickest first, as many as the budget holds."""
        met = self.hits.get(number) or {test for test in self.seconds if test.startswith(FIRST)}
        tests = sorted(met - {""}, key=lambda test: (self.seconds[test], test))
        tests.sort(
            key=lambda test: not test.startswith(FIRST)
        )  # which keeps the order of the others
        total = itertools.accumulate(self.seconds[test] for test in tests)
        return [test for test, until in zip(tests, total) if until <= BUDGET]

    def early(self, number: int) -> bool:
        """Whether the statement of a mutant is executed while tests are collected."""
        return "" in self.hits.get(number, ())


def probed(path: Path, mutants: Mapping[int, Mutant]) -> str:
    """A file that notes which of the mutants' statements are executed; of one that concerns the whole file, any function."""
    tree = ast.parse(plain(path))
    lines: dict[int, list[int]] = {}
    for number, mutant in mutants.items():
        lines.setdefault(0 if mutant.whole else mutant.lines.start, []).append(number)
    for node in [*ast.walk(tree)]:
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                block[:] = [
                    one for item in block for one in (*_probes(lines.get(item.lineno, ())), item)
                ]
        if isinstance(node, ast.FunctionDef):
            node.body[:0] = _probes(lines.get(0, ()))
    after = 1 + max(
        (
            at
            for at, item in enumerate(tree.body)
            if isinstance(item, ast.ImportFrom) and item.module == "__future__"
        ),
        default=-1,
    )
    tree.body[after:after] = ast.parse(PROBE).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _probes(numbers: Iterable[int]) -> list[ast.stmt]:
    return [one for number in numbers for one in ast.parse(f"_hit({number})").body]


def noted(folder: Path, mutants: list[Mutant], jobs: int) -> Notes:
    """Runs all tests that may find one of these mutants, once."""
    texts = {path: plain(path) for path in sources()}
    for path in {mutant.path for mutant in mutants}:
        texts[path] = probed(path, {at: one for at, one in enumerate(mutants) if one.path == path})
    copy(folder, texts)  # a test that fails for that is left out
    notes = folder / "notes"
    notes.mkdir()
    command, environment = pytest_command(folder, {"notes": str(notes)})
    command += [f"--numprocesses={jobs}", "--dist=loadfile", "--no-loadscope-reorder"]
    done = subprocess.run(
        [*command, *test_files()], cwd=folder, env=environment, capture_output=True, text=True
    )
    print(done.stdout[-2000:], flush=True)
    seconds: dict[str, float] = {}
    hits: dict[int, set[str]] = {}
    for path in sorted(notes.iterdir()):
        part = json.loads(path.read_text("utf-8"))
        seconds |= part["seconds"]
        for test, numbers in part["hits"].items():
            for number in numbers:
                hits.setdefault(number, set()).add(test)
    return Notes(seconds, hits)


def judge(
    number: int, mutant: Mutant, notes: Notes, checkouts: Queue[Checkout], until: float
) -> Outcome | None:
    """Runs the tests against one mutant, in a checkout that no other mutant uses meanwhile; None where the time is up."""
    checkout = checkouts.get()
    began = time.monotonic()
    try:
        if began > until:
            return None
        tests = notes.tests(number)
        first = {test: notes.seconds[test] for test in tests if test.startswith(FIRST)}
        others = {test: notes.seconds[test] for test in tests if test not in first}
        where = (mutant.path, plain(mutant.path), mutant.text)
        early = notes.early(number)
        found = checkout.run(*where, first, early) or checkout.run(*where, others, early)
        if not found:
            place = mutant.place[0]
            laws = next(laws for start, laws in LAWS.items() if place.startswith(start))
            found = checkout.laws(*where, laws, SEED, LAW_SECONDS)
    finally:
        checkouts.put(checkout)
    return Outcome(mutant, found, time.monotonic() - began, len(tests))


def page(outcomes: list[Outcome], seed: int, seconds: float, most: int, cpu: float = 0.0) -> str:
    """The page, in Markdown. `most`: how many mutants were drawn. `cpu`: seconds of processors."""
    stopped = f" of {most}, after which the time was up," if len(outcomes) < most else ""
    killed = sum(1 for one in outcomes if one.found_by)
    out = [
        "<!-- Generated by `make mutants`. -->",
        "# Mutants",
        "",
        (
            f"{len(outcomes)}{stopped} small changes in the analyses, drawn with seed {seed}: {killed} are found by a test"
            f" ({killed / max(1, len(outcomes)):.1%}), in {seconds / 60:.0f} minutes ({cpu / 60:.0f} of a processor)."
        ),
        "",
        f"Survivors, each a change that none of the tests which execute it notices (of more than {BUDGET:.0f} s of tests, the",
        f"quickest), nor one of the laws that CI tries with new seeds, within {LAW_SECONDS:.0f} s.",
        "",
        "| place | change | tests that execute it | reason |",
        "|---|---|---|---|",
    ]
    for one in sorted(outcomes, key=lambda one: (one.mutant.path, one.mutant.line)):
        if not one.found_by:
            place = f"{one.mutant.path.relative_to(PACKAGE)}:{one.mutant.line}"
            same = f"equivalent, and not counted from now on: {EQUIVALENT.get(one.mutant.place)}"
            reason = SURVIVORS.get(one.mutant.place, "not known: it wants a test")
            reason = same if one.mutant.place in EQUIVALENT else reason
            what = one.mutant.what.replace("|", "/")
            out.append(f"| {place} | `{what}` | {one.tests} | {reason} |")
    silent = " and ".join(f"`{name}=`" for name in SILENT)
    out += ["", "Equivalent, not counted: changes after which every finding is as before."]
    out += [f"Of {silent} and of annotations none are made."]
    out += ["", "| place | change | reason |"]
    out += ["|---|---|---|"]
    for (path, source, what), reason in sorted(EQUIVALENT.items()):
        out.append(
            f"| {path}: `{source.replace('|', '/')}` | `{what.replace('|', '/')}` | {reason} |"
        )
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    """Returns 0, or 1 where fewer than nine of ten mutants are found."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description="Plant mistakes into the analyses."
    )
    reader.add_argument(
        "--seed",
        type=int,
        default=None,
        help="the sample's seed (default: a new one, which is printed)",
    )
    reader.add_argument("--most", type=int, default=200, help="how many mutants")
    reader.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="no mutant begins later (default: no end)",
    )
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    reader.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    options = reader.parse_args(arguments)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    mutants = sample(seed, options.most)
    print(f"seed {seed}, {len(mutants)} mutants", flush=True)
    if stale():
        print(
            "benchmarks/mutants_equivalent.py: these lines are there no more; take them out:",
            *stale(),
            sep="\n  ",
        )
        return 3
    began = time.monotonic()
    checkouts: Queue[Checkout] = Queue()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="fdc-mutants-") as scratch:
        noting = Path(scratch, "noted")
        noting.mkdir()
        notes = noted(noting, mutants, options.jobs)
        print(f"{len(notes.seconds)} tests, {time.monotonic() - began:.0f} s", flush=True)
        with ThreadPoolExecutor(options.jobs) as pool, ExitStack() as stack:
            for number in range(options.jobs):
                folder = Path(scratch, str(number))
                folder.mkdir()
                texts = {path: plain(path) for path in sources()}
                checkouts.put(stack.enter_context(closing(Checkout(folder, texts, test_files()))))
            until = began + 60 * options.minutes
            judged = partial(judge, notes=notes, checkouts=checkouts, until=until)
            for outcome in pool.map(judged, *zip(*enumerate(mutants))):
                if outcome is None:
                    continue
                outcomes.append(outcome)
                mutant = outcome.mutant
                where = f"{mutant.path.name}:{mutant.line} {mutant.what}"
                print(
                    f"{outcome.found_by or 'SURVIVED'}: {where} ({outcome.tests} tests, {outcome.seconds:.0f} s)",
                    flush=True,
                )
    cpu = sum(os.times()[:4])
    text = page(outcomes, seed, time.monotonic() - began, len(mutants), cpu)
    options.output.write_text(text, "utf-8")
    killed = sum(1 for one in outcomes if one.found_by)
    print(f"{killed} of {len(outcomes)} found")
    return 0 if killed * 10 >= len(outcomes) * 9 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
