"""Real bugs: the tests of a release beside the code of the one before, and the smallest part of the diff that mends a red test.

`python -m benchmarks.repair.mine PYTHON FOLDER [ROUND...]` appends a row for each pair to FOLDER/pairs.jsonl; PYTHON is that of
an environment with `releases.NEEDS` and `releases.BACKENDS`. What is found is a candidate: each must be read for being a bug.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import releases

BUDGET, RUN_LIMIT, TEST_LIMIT, MOST_CASES = 14.0, 150.0, 60, 8
"""CPU seconds of delta debugging a pair, seconds of a run of tests and of a test (long: load is no defect), cases of a pair."""
LARGEST = 40
"""Hunks of a pair that is mined: a release with more is seldom one of bug fixes, and takes longest."""
MOST_HUNKS = 12
"""Hunks of more than one file that are searched for a part that mends a test."""
ADDED, FUNCTIONS = 20, 3
"""A candidate adds at most so many lines, in so many functions."""
_NO_CODE = frozenset(
    "docs doc examples example benchmark benchmarks build misc extras scripts tools test tests".split()
)
_PLUGIN = """
import json, os
seen = {}
def note(test, outcome, error=""):
    if seen.get(test, ["passed"])[0] == "passed": seen[test] = [outcome, error]
def pytest_runtest_makereport(item, call):
    x = call.excinfo
    what = "passed" if x is None else "skipped" if x.typename == "Skipped" else "failed"
    note(item.nodeid, what, x and x.typename + ": " + str(x.value)[:400])
def pytest_collectreport(report):
    if report.failed: note(report.nodeid + "::COLLECT", "failed", str(report.longrepr)[-400:])
def pytest_sessionfinish(session): json.dump(seen, open(os.environ["MINE_REPORT"], "w"))
"""
_FEATURE = re.compile(
    r"ImportError|ModuleNotFound|keyword argument|no attribute '|positional arguments? but|is not defined"
)
_DEFINITION = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
Hunk = tuple[str, int, int, list[str]]
"""File, first line, end, and the lines that replace them."""


def code(root: Path) -> dict[str, str]:
    """The package's modules by path, less a leading src/: layouts move between releases."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        inside = (
            len(name.parts) > 1 or name.stem == root.name.split("-")[0]
        )  # setup.py and its like are no code
        if (
            inside
            and not _NO_CODE & set(name.parts)
            and not name.name.startswith(("test_", "conftest"))
        ):
            found[str(name).removeprefix("src/")] = path.read_text(
                "utf-8", errors="surrogateescape"
            )
    return found


def _beside_code(root: Path) -> dict[str, Path]:
    """The files in folders of tests, and test files elsewhere, by path less a leading src/."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        near = {"test", "tests", "testing"} & set(name.parts[:-1])
        if path.is_file() and path.suffix != ".pyc" and (near or name.name.startswith("test_")):
            found[str(name).removeprefix("src/")] = path
    return found


def meaning(text: str) -> str | None:
    """What the code says without comments and layout; None where it does not parse."""
    with contextlib.suppress(SyntaxError, ValueError):
        return ast.dump(ast.parse(text))
    return None


class Tree:
    """The newer release, in which the modules can be those of the older one, its own, or the older's with some hunks."""

    def __init__(self, pair: releases.Pair, python: str, sources: Path, work: Path) -> None:
        shutil.rmtree(work, ignore_errors=True)
        (own := work / f"{pair.package}-0.dist-info").mkdir(
            parents=True
        )  # for code that asks for its own version
        (own / "METADATA").write_text(f"Name: {pair.package}\nVersion: {pair.new}\n")
        (work / "mineplugin.py").write_text(_PLUGIN)
        self.python, self.work, self.folder = python, work, work / "tree"
        self._known: dict[tuple[frozenset[int], tuple[str, ...]], bool] = {}
        shutil.copytree(releases.fetch(python, sources, pair.package, pair.new), self.folder)
        older = releases.fetch(python, sources, pair.package, pair.old)
        self.old, self.beside = code(older), _beside_code(older)
        self.new = code(self.folder)
        self.prefix = "src/" if (self.folder / "src").is_dir() else ""
        self.hunks: list[Hunk] = []
        for name in sorted({*self.old, *self.new}):
            before, after = (side.get(name, "").splitlines(True) for side in (self.old, self.new))
            if meaning("".join(before)) != meaning("".join(after)):
                blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
                self.hunks += [
                    (name, a, b, after[c:d]) for tag, a, b, c, d in blocks if tag != "equal"
                ]

    def texts(self, chosen: Iterable[int]) -> dict[str, str]:
        """The older modules with the chosen hunks."""
        out = dict(self.old)
        picked = [self.hunks[at] for at in chosen]
        for name in {hunk[0] for hunk in picked}:
            lines = self.old.get(name, "").splitlines(True)
            for _, first, end, fresh in sorted(
                (one for one in picked if one[0] == name), key=lambda one: -one[1]
            ):
                lines[first:end] = fresh
            out[name] = "".join(lines)
        return out

    def lay(self, texts: Mapping[str, str]) -> None:
        """Puts modules into the tree."""
        for name in {*self.old, *self.new}:
            path = self.folder / (self.prefix + name)
            path.unlink(missing_ok=True)
            if name in texts:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(texts[name], "utf-8", errors="surrogateescape")
                os.utime(
                    path, (when := zlib.crc32(path.read_bytes()), when)
                )  # what compiled code is known by

    def run(
        self, texts: Mapping[str, str], tests: Sequence[str] = (), doctests: bool = False
    ) -> dict[str, list[str]]:
        """{test: [outcome, error]} with these modules."""
        self.lay(texts)
        return outcomes(self.python, self.folder, self.work, tests, doctests)

    def changed_tests(self) -> list[str] | None:
        """The test files that say something else than the older release's; None where all must be run.

        A red test stands in one of them, unless tests read data or a conftest.py that changed.
        """
        fresh, found = _beside_code(self.folder), []
        for name, path in fresh.items():
            before = self.beside.get(name)
            same = before is not None and before.read_bytes() == path.read_bytes()
            if not same and (path.suffix != ".py" or path.name == "conftest.py"):
                return None
            if not same and path.name.startswith("test") | path.stem.endswith("test"):
                found.append(str(path.relative_to(self.folder)))
            elif not same:
                return None
        return found

    def changed_functions(self, files: Sequence[str]) -> list[str]:
        """Of some test files the functions that changed, and the files themselves where something else in them did."""
        found = []
        for name in files:
            before = self.beside.get(name.removeprefix("src/"))
            after = (self.folder / name).read_text("utf-8", errors="surrogateescape")
            old = before.read_text("utf-8", errors="surrogateescape") if before else ""
            tests = changed_tests(old, after)
            found += [name] if tests is None else [f"{name}::{one}" for one in tests]
        return found

    def parses(self, chosen: Sequence[int]) -> bool:
        """True where the older modules with these hunks are Python."""
        return all(
            meaning(text) is not None
            for name, text in self.texts(chosen).items()
            if text != self.old.get(name)
        )

    def green(self, chosen: Sequence[int], tests: tuple[str, ...]) -> bool:
        """True where these tests pass with these hunks."""
        key = (frozenset(chosen), tests)
        if key not in self._known:
            self._known[key] = self.parses(chosen) and passed(
                self.run(self.texts(chosen), tests)
            ) >= set(tests)
        return self._known[key]


def changed_tests(before: str, after: str) -> list[str] | None:
    """The tests of a file that are not in an older text of it; None where something else differs that they may use."""
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError):
        return None
    return _changed(old.body, new.body, "")


def _changed(old: Sequence[ast.stmt], new: Sequence[ast.stmt], within: str) -> list[str] | None:
    known = {ast.dump(one) for one in old}
    classes = {one.name: one for one in old if isinstance(one, ast.ClassDef)}
    found: list[str] = []
    for one in (one for one in new if ast.dump(one) not in known):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test"):
            found.append(within + one.name)
        elif isinstance(one, ast.ClassDef) and "test" in one.name.lower() and not within:
            former = classes.get(one.name)
            inside = _changed(former.body, one.body, f"{one.name}::") if former else None
            found += [one.name] if inside is None else inside
        elif not isinstance(one, ast.Import | ast.ImportFrom):
            return None
    return found


def outcomes(
    python: str, folder: Path, plugin: Path, tests: Sequence[str] = (), doctests: bool = False
) -> dict[str, list[str]]:
    """{test: [outcome, error]} of a tree; `plugin`: the folder with mineplugin.py. Empty where it took too long."""
    (report := plugin / "report.json").unlink(missing_ok=True)
    places = os.pathsep.join((f"{folder}/src", str(folder), str(plugin)))
    env = {**os.environ, "PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "", "PYTHONHASHSEED": "0",
           "MINE_REPORT": str(report),
           "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # fmt: skip
    command = [python, "-m", "pytest", "-q", "-p", "mineplugin", "-p", "pytest_timeout", "-p", "no:cacheprovider",
               "-o", "addopts=",
               "-o", "filterwarnings=default", "--continue-on-collection-errors", "--timeout", str(TEST_LIMIT),
               *(["--doctest-modules"] if doctests else []), *(["--assert=plain"] if tests else []), *tests]  # fmt: skip
    try:
        subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_LIMIT,
            check=False,
        )
        found: dict[str, list[str]] = json.loads(report.read_text())
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return {}
    return found


def _spent() -> float:
    """The CPU seconds of the programs that were run: a loaded machine finds as much as an idle one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def passed(seen: Mapping[str, Sequence[str]]) -> set[str]:
    """The tests that passed."""
    return {test for test, (outcome, _) in seen.items() if outcome == "passed"}


def ddmin(
    items: Sequence[int], good: Callable[[Sequence[int]], bool], until: float
) -> tuple[list[int], bool]:
    """Zeller's delta debugging: a 1-minimal part for which `good` holds, and whether it got there before `until`."""
    items, parts_wanted = list(items), 2
    while len(items) > 1:
        size = -(-len(items) // parts_wanted)
        parts = [items[at : at + size] for at in range(0, len(items), size)]
        rests = [[one for one in items if one not in part] for part in parts if parts_wanted > 2]
        kept = next((some for some in parts + rests if _spent() < until and good(some)), None)
        if kept is None and (parts_wanted >= len(items) or _spent() > until):
            return items, _spent() < until
        if kept is None:
            parts_wanted = min(len(items), 2 * parts_wanted)
        else:
            items, parts_wanted = kept, 2 if kept in parts else max(parts_wanted - 1, 2)
    return items, True


def _starts(tree: Tree, todo: Sequence[str], until: float) -> dict[str, list[int]]:
    """{test: hunks that mend it}: each file's hunks alone, with all red tests in one run, and of those files each function's."""
    found: dict[str, list[int]] = {}
    files: dict[str, list[int]] = {}
    for at, (name, *_) in enumerate(tree.hunks):
        files.setdefault(name, []).append(at)
    for name, group in files.items():
        mended = _mended(tree, group, [test for test in todo if test not in found], until)
        found |= dict.fromkeys(mended, group)
        functions: dict[str, list[int]] = {}
        for at in group:
            place = function_at(tree.old.get(name, ""), tree.hunks[at][1] + 1)
            functions.setdefault(place, []).append(at)
        for part in functions.values() if len(functions) > 1 else ():
            fewer = _mended(tree, part, sorted(mended), until)
            found |= dict.fromkeys(fewer, part)
            mended -= fewer
    return found


def _mended(tree: Tree, group: Sequence[int], tests: Sequence[str], until: float) -> set[str]:
    if not tests or _spent() > until or not tree.parses(group):
        return set()
    return passed(tree.run(tree.texts(group), tests)) & set(tests)


def function_at(text: str, line: int) -> str:
    """The name of the innermost function or class that the line is in."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    inner = [
        one
        for one in ast.walk(ast.parse(text))
        if isinstance(one, kinds) and one.lineno <= line <= (one.end_lineno or 0)
    ]
    return max(inner, key=lambda one: one.lineno).name if inner else "<module>"


def _described(tree: Tree, least: Sequence[int]) -> dict[str, Any]:
    """The diff of some hunks, its size, the functions that it is in and the names that it adds."""
    chosen, texts = [tree.hunks[at] for at in least], tree.texts(least)
    diff = "".join(
        "".join(difflib.unified_diff(tree.old.get(name, "").splitlines(True), texts[name].splitlines(True),
                                     f"a/{tree.prefix}{name}",
                                     f"b/{tree.prefix}{name}"))
        for name in sorted({hunk[0] for hunk in chosen}))  # fmt: skip
    lines = {
        sign: len(re.findall(rf"^[{sign}](?![{sign}]{{2}} )\s*[^\s#]", diff, re.MULTILINE))
        for sign in "+-"
    }
    places = {
        f"{name}:{function_at(tree.old.get(name, ''), line)}"
        for name, first, end, _ in chosen
        for line in range(first + 1, max(first + 1, end) + 1)
    }
    fresh = "".join(line for hunk in chosen for line in hunk[3])
    names = set(_DEFINITION.findall(fresh)) - set(_DEFINITION.findall("".join(tree.old.values())))
    return {
        "removed": lines["-"],
        "added": lines["+"],
        "functions": sorted(places),
        "new_names": sorted(names),
        "hunks": [list(hunk[:3]) for hunk in chosen],
        "diff": diff,
    }


class _Wide:
    """What the test files that changed, or all, say of the older and of the newer code: run where something was found."""

    def __init__(self, tree: Tree, files: Sequence[str]) -> None:
        self._tree, self._files = tree, files
        self._both: set[str] | None = None
        self._before: dict[str, list[str]] = {}

    def before(self) -> dict[str, list[str]]:
        """{test: [outcome, error]} with the older code."""
        self.both()
        return self._before

    def both(self) -> set[str]:
        """The tests that pass with either code."""
        if self._both is None:
            self._before = self._tree.run(self._tree.old, self._files)
            self._both = passed(self._before) & passed(self._tree.run(self._tree.new, self._files))
        return self._both


def _first_run(tree: Tree, changed: Sequence[str] | None) -> dict[str, list[str]]:
    """The tests that changed with the older code; all of their files, or of the release, where that is not known."""
    narrow = [] if changed is None else tree.changed_functions(changed)
    found = tree.run(tree.old, narrow) if narrow else {}
    return found or tree.run(tree.old, changed or ())


def _within(case: Mapping[str, Any]) -> bool:
    """True for a part of a diff that is within the bounds."""
    few = len(case["functions"]) <= FUNCTIONS and case["added"] <= ADDED
    return few and not case["new_names"]


def mine(tree: Tree) -> dict[str, Any]:
    """The cases of a pair, and how many tests were red, flaky or a feature's."""
    began, changed = _spent(), tree.changed_tests()
    if changed == [] or not tree.hunks:
        return {"hunks": len(tree.hunks), "tests": 0, "red": 0, "why": "no test or no code changed", "cases": []}  # fmt: skip
    if len(tree.hunks) > LARGEST:
        return {"hunks": len(tree.hunks), "tests": 0, "red": 0, "why": "large", "cases": []}
    before = _first_run(tree, changed)
    red = sorted(test for test, (outcome, _) in before.items() if outcome == "failed")
    again = tree.run(tree.new, red) if red else {}  # most pairs are over here
    red = sorted(set(red) & passed(again))
    flaky = set(red) - passed(tree.run(tree.new, red)) if red else set()
    wide = _Wide(tree, changed or ())
    todo = [test for test in red if test not in flaky and not _FEATURE.search(before[test][1])]
    cases: list[dict[str, Any]] = []
    unexplained: list[str] = []
    info: dict[str, Any] = {"hunks": len(tree.hunks), "tests": len(before), "red": len(red), "flaky": len(flaky),
                            "candidates": len(todo),
                            "unexplained": unexplained, "cases": cases}  # fmt: skip
    until = _spent() + BUDGET
    start_of = _starts(tree, todo, until)
    while todo and _spent() < until and len(cases) < MOST_CASES:
        test = todo[0]
        guards: tuple[str, ...] = (test,)
        whole = list(start_of.get(test) or range(min(len(tree.hunks), MOST_HUNKS + 1)))
        loose = (
            test not in start_of and len(tree.hunks) > MOST_HUNKS
        )  # more than one file, and large
        if loose or not tree.green(whole, guards):  # or data files, or the order of tests
            unexplained.append(todo.pop(0))
            continue
        for _ in range(
            3
        ):  # a smallest patch that breaks other tests is none: those are asked for, too
            least, _ = ddmin(whole, lambda some: tree.green(some, guards), until)  # noqa: B023
            case = _described(tree, least)
            if not _within(case):
                after, broken = passed(tree.run(tree.texts(least), todo)), []
                break
            asked = _spent()
            after = passed(tree.run(tree.texts(least), changed or ()))
            broken = sorted(wide.both() - after)
            until += _spent() - asked  # the bound is of the search
            if not broken or _spent() > until:
                break
            files = {tree.hunks[at][0] for at in whole}
            guards += tuple(broken[:5])
            whole = [at for at, hunk in enumerate(tree.hunks) if hunk[0] in files]
        mended = [one for one in todo if one in after] or [test]
        files = {one.split("::")[0] for one in mended}
        case |= {
            "test": test, "error": before[test][1], "mended": mended, "broken": broken,
            "accept": _within(case) and not broken}  # fmt: skip
        case["red"] = sorted(one for one, row in wide.before().items() if row[0] == "failed" and one not in mended
                             and one.split("::")[0] in files) if case["accept"] else []  # fmt: skip
        cases.append(case)
        todo = [one for one in todo if one not in mended]
    return info | {"left": len(todo), "seconds": round(_spent() - began, 1)}


def main(arguments: Sequence[str]) -> int:
    """Mines rounds of pairs. Returns the exit code: 0."""
    python, folder = arguments[0], Path(arguments[1])
    wanted = [int(one) for one in arguments[2:]] or list(range(releases.PAIRS))
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "rounds.json"
    if not listed.exists():
        listed.write_text(json.dumps(releases.rounds(python)))
    rows = (
        [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
        if (folder / "pairs.jsonl").exists()
        else []
    )
    done = {(row["package"], row["new"]) for row in rows}
    for number in wanted:
        for pair in (releases.Pair(*one) for one in json.loads(listed.read_text())[number]):
            if (pair.package, pair.new) in done:
                continue
            try:
                found = mine(
                    Tree(
                        pair,
                        python,
                        folder / "sources",
                        folder / f"work-{os.getpid()}" / pair.package,
                    )
                )
            except Exception as problem:
                found = {"why": repr(problem)[:300], "cases": []}
            with open(folder / "pairs.jsonl", "a", encoding="utf-8") as out:
                out.write(
                    json.dumps({**pair._asdict(), "half": releases.half(pair.package), **found})
                    + "\n"
                )
            said = {
                name: value for name, value in found.items() if name not in ("cases", "unexplained")
            }
            print(*pair, said, sum(one["accept"] for one in found["cases"]), flush=True)
        shutil.rmtree(folder / f"work-{os.getpid()}", ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
