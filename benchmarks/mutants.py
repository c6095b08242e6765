"""`python -m benchmarks.mutants`: plants mistakes into the analyses, one at a time, and counts those that a test finds.

A seeded sample of small changes (another comparison, `and` for `or`, a number off by one, a statement left out, ...) in
`analyses/` and what they rest on. Each mutant lives in a copy of the checkout and meets the tests in two
tiers: the unit tests of its file, and where they pass the properties and the examples of the rules. One that all tests
survive is listed with its place. A mutant that hangs is found, too.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "mutants.md"
PACKAGE = Path("tooling/fdc_toolchain")
FILES = ("analyses/*.py", "resolve/graph.py", "resolve/constants.py", "resolve/types.py", "machines/declare.py")
FAST = 90
"""Seconds that the first tier may take for one mutant; one that is slower is a mutant that hangs."""
SLOW = 600

FIRST: list[tuple[str, tuple[str, ...]]] = [
    (r"flow|labels|stored|values|noninterference|outside", ("test_flow", "test_suppress")),
    (r"files|path", ("test_file_rule", "test_kept_failures")),
    (r"types|constants|arguments", ("test_type_rule", "test_types_of_values", "test_constants", "test_arguments_rule")),
    (r"bounds", ("test_bounds", "test_csdc")),
    (r"names", ("test_names",)),
    (r"calls|graph", ("test_graph", "test_link")),
    (r"closure", ("test_closure",)),
    (r"capability", ("test_allow_read",)),
    (r"obligations|broken|events|each_value|declare", ("test_obligations", "test_each_value", "test_declare")),
    (r"words|shortest|automaton|refusals|fragment", ("test_words", "test_fragments", "test_kept_failures", "test_closure")),
]
"""By file name: the unit tests that come first."""

SECOND = ("spec/test_rules.py", "property/test_verdicts.py", "property/test_files.py", "property/test_flow.py",
          "property/test_types.py", "property/test_rules_of_protocols.py", "property/test_reference.py")  # fmt: skip

_OPPOSITE: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """One planted mistake: its file (below the checkout), line, what it changes, and the whole text with it."""

    path: Path
    line: int
    what: str
    text: str


class Outcome(NamedTuple):
    """What became of a mutant: the test or tier that found it, "" where it survived."""

    mutant: Mutant
    found_by: str
    seconds: float


def sites(path: Path) -> list[tuple[Path, int]]:
    """Every place of a file that can be changed, as (file, number of the change)."""
    return [(path, number) for number, _ in enumerate(_points(ast.parse((ROOT / path).read_text("utf-8"))))]


def planted(path: Path, number: int) -> Mutant | None:
    """The file with one change; None where that is no Python."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    node, change, what = next(itertools.islice(_points(tree), number, None))
    change()
    ast.fix_missing_locations(tree)
    try:
        text = ast.unparse(tree)
        compile(text, str(path), "exec")
    except (SyntaxError, ValueError):
        return None
    return Mutant(path, node.lineno, what, text)


def _points(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, Callable[[], None], str]]:
    for parent in ast.walk(tree):
        if isinstance(parent, ast.Compare):
            for at, operator in enumerate(parent.ops):
                other = _OPPOSITE.get(type(operator))
                if other is not None:
                    yield parent, _setter(parent.ops, at, other()), f"{type(operator).__name__} -> {other.__name__}"
        elif isinstance(parent, (ast.BoolOp, ast.BinOp, ast.AugAssign)):
            other = _OPPOSITE.get(type(parent.op))
            if other is not None:
                yield parent, _attribute(parent, "op", other()), f"{type(parent.op).__name__} -> {other.__name__}"
        elif isinstance(parent, ast.If):
            yield parent, _attribute(parent, "test", ast.Constant(True)), "if ... -> if True"
            yield parent, _attribute(parent, "test", ast.Constant(False)), "if ... -> if False"
        elif isinstance(parent, ast.Constant) and type(parent.value) is bool:
            yield parent, _attribute(parent, "value", not parent.value), f"{parent.value} -> {not parent.value}"
        elif isinstance(parent, ast.Constant) and type(parent.value) is int:
            yield parent, _attribute(parent, "value", parent.value + 1), f"{parent.value} -> {parent.value + 1}"
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            yield parent, _attribute(parent, "op", ast.UAdd()), "not removed"
        for name in ("body", "orelse"):
            block = getattr(parent, name, None)
            if isinstance(parent, (ast.FunctionDef, ast.For, ast.While, ast.If)) and isinstance(block, list):
                for at, item in enumerate(block):
                    if isinstance(item, (ast.Assign, ast.AugAssign, ast.Continue, ast.Break)) or (
                        isinstance(item, ast.Expr) and isinstance(item.value, (ast.Call, ast.Yield, ast.YieldFrom))
                    ):
                        yield item, _setter(block, at, ast.Pass()), f"left out: {ast.unparse(item)[:60]}"


def _setter(items: list, at: int, value: object) -> Callable[[], None]:
    def change() -> None:
        items[at] = value

    return change


def _attribute(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    def change() -> None:
        setattr(node, name, value)

    return change


def sample(seed: int, most: int) -> list[Mutant]:
    """A sample over all files, the same for the same seed and sources."""
    paths = sorted({path.relative_to(ROOT) for glob in FILES for path in (ROOT / PACKAGE).glob(glob)})
    every = [site for path in paths if path.name != "__init__.py" for site in sites(path)]
    random.Random(seed).shuffle(every)
    made = (planted(*site) for site in every)
    return list(itertools.islice((mutant for mutant in made if mutant is not None), most))


def _copy(folder: Path) -> Path:
    """A checkout of what is there, tracked or not, without git and environments."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode().split("\0")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _tests(mutant: Mutant) -> list[str]:
    for pattern, names in FIRST:
        if re.search(pattern, mutant.path.stem):
            return [f"tests/unit/{name}.py" for name in names if (ROOT / f"tests/unit/{name}.py").is_file()]
    return []


def _run(folder: Path, tests: list[str], seconds: float) -> str:
    """The first test that fails, `timeout`, or "" where all pass."""
    tests = [test for test in tests if (folder / test).is_file()]
    if not tests:
        return ""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "FDC_CACHE_DIR": str(folder / ".cache")}
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else f"exit {done.returncode}"


def judge(mutant: Mutant, folders: Queue[Path]) -> Outcome:
    """Runs the tests against one mutant, in a copy that no other mutant uses meanwhile."""
    folder = folders.get()
    began = time.monotonic()
    target = folder / mutant.path
    original = target.read_text("utf-8")
    try:
        target.write_text(mutant.text, "utf-8")
        found = _run(folder, _tests(mutant), FAST) or _run(folder, [f"tests/{name}" for name in SECOND], SLOW)
    finally:
        target.write_text(original, "utf-8")
        folders.put(folder)
    return Outcome(mutant, found, time.monotonic() - began)


def page(outcomes: list[Outcome], seed: int, seconds: float) -> str:
    """The page, in Markdown."""
    killed = sum(1 for one in outcomes if one.found_by)
    out = [
        "<!-- Generated by `make mutants`. -->",
        "# Mutants",
        "",
        (f"{len(outcomes)} small changes in the analyses, drawn with seed {seed}: {killed} are found by a test"
        f" ({killed / max(1, len(outcomes)):.0%}), in {seconds / 60:.0f} minutes."),
        "",
        "Survivors, each a change that no test notices. Some change no verdict (a name in a message, a short cut that is",
        "only quicker); the others want a test.",
        "",
        "| place | change |",
        "|---|---|",
    ]
    for one in sorted(outcomes, key=lambda one: (one.mutant.path, one.mutant.line)):
        if not one.found_by:
            place = f"{one.mutant.path.relative_to(PACKAGE)}:{one.mutant.line}"
            out.append(f"| {place} | `{one.mutant.what.replace('|', '/')}` |")
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    """Returns 0, or 1 where fewer than nine of ten mutants are found."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description="Plant mistakes into the analyses.")
    reader.add_argument("--seed", type=int, default=None, help="the sample's seed (default: a new one, which is printed)")
    reader.add_argument("--most", type=int, default=200, help="how many mutants")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    reader.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    options = reader.parse_args(arguments)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    mutants = sample(seed, options.most)
    print(f"seed {seed}, {len(mutants)} mutants", flush=True)
    began = time.monotonic()
    folders: Queue[Path] = Queue()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="fdc-mutants-") as scratch:
        for number in range(options.jobs):
            folder = Path(scratch, str(number))
            folder.mkdir()
            folders.put(_copy(folder))
        with ThreadPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(lambda mutant: judge(mutant, folders), mutants):
                outcomes.append(outcome)
                mutant = outcome.mutant
                where = f"{mutant.path.name}:{mutant.line} {mutant.what}"
                print(f"{outcome.found_by or 'SURVIVED'}: {where} ({outcome.seconds:.0f} s)", flush=True)
    options.output.write_text(page(outcomes, seed, time.monotonic() - began), "utf-8")
    killed = sum(1 for one in outcomes if one.found_by)
    print(f"{killed} of {len(outcomes)} found")
    return 0 if killed * 10 >= len(outcomes) * 9 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
