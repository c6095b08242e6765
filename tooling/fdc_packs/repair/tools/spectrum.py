"""Which lines the failing tests run and which the passing ones: a test command, run once more in a folder under coverage.

A small recorder (`spectrum_recorder.py`) and the `coverage` package go into a hidden folder beside the tests, and Python is
told to begin there; so any command will do that comes to a Python: pytest, unittest, `make test`, a script. pytest's and
unittest's tests are told apart; of anything else the run as a whole is one test, which fails if the command does.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.tools import Context, ToolFailure, WorldFailed

from . import repair_copy

if TYPE_CHECKING:
    from ..shapes import FileRun, Measurement, Spectrum

HIDDEN = ".fdc-spectrum"
REPORT = "fdc:report"
"""The context in which `spectrum_recorder` runs what only describes a failure."""
MOST_FRAMES = 400
ROOM = 256 * 1024
"""Free bytes below which a disk counts as full: the smallest record has 50 KiB, and a part of it was written."""
ALONE, QUICK = 20, 60.0
"""Failing tests that are also run alone, and seconds that the run of all may take for that."""
_PROGRAMS = {
    "fdc_spectrum": "spectrum_recorder.py",
    "fdc_time_limit": "probe_inside/time_limit.py",
}
_BEGIN = '''\
"""Begins the measurement, and then what this file stands in front of."""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
try:
    import fdc_spectrum
    fdc_spectrum.begin()
except Exception as _failed:
    with open(os.path.join(_here, "failed"), "w") as _out:
        _out.write(f"{type(_failed).__name__}: {_failed}")
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", [_path for _path in sys.path if _path != _here])
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
'''


def measure(
    command: str, context: Context, folder: str, spectrum: bool, each: float = 0, whole: float = 0
) -> Measurement:
    """Runs a test command in `folder`: `{exit_code, output, spectra, why, late}`. Raises ToolFailure (`timeout`, `sandbox`),
    Cancelled.

    `spectra` is empty where `spectrum` is false or nothing could be measured, and `why` then says why; else one object:
    `failing` and `passing` count tests, `files` are `{path, lines}` with `[line, failing tests, passing tests]`, `frames` are
    `[path, line]` where errors were raised, innermost first. Paths are relative to `folder`. A test may take `each` seconds,
    and what comes before the first, `whole` (0: as many as they like); `late` names what was stopped.
    """
    argv = ["bash", "-c", command]
    if not spectrum:
        return {**_ended(repair_copy.run_in_copy(argv, context, folder))}
    coverage = _coverage()
    if coverage is None:
        why = "the `coverage` package is not installed beside fdc (pip install coverage)"
        return {**_ended(repair_copy.run_in_copy(argv, context, folder)), "why": why}
    hidden = os.path.join(os.path.realpath(folder), HIDDEN)
    shutil.rmtree(hidden, ignore_errors=True)
    try:
        os.mkdir(hidden)
        os.symlink(coverage, os.path.join(hidden, "coverage"))
        with open(os.path.join(hidden, "sitecustomize.py"), "w", encoding="utf-8") as out:
            out.write(_BEGIN)
        here = os.path.dirname(os.path.abspath(__file__))
        for name, source in _PROGRAMS.items():
            shutil.copyfile(os.path.join(here, source), os.path.join(hidden, f"{name}.py"))
        argv = repair_copy.looking_first(command, hidden)
        began = time.monotonic()
        environment = _environment(hidden, folder, each, whole)
        done = _ended(repair_copy.run_in_copy(argv, context, folder, environment))
        spectra = [read(hidden, folder, done["exit_code"] != 0)]
        if time.monotonic() - began <= QUICK:
            _add_alone(spectra[0], argv, context, folder, hidden, environment)
        why = "" if spectra[0]["files"] else _why(hidden)
        seen = list(_records(hidden))
        late = sorted({test for one in seen for test in one["late"]})
        slowest = max((one["slowest"] for one in seen), default=0.0)
        return {
            **done,
            "spectra": spectra if spectra[0]["files"] else [],
            "why": why,
            "late": late,
            "slowest": slowest,
        }
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _add_alone(
    all_: Spectrum,
    argv: list[str],
    context: Context,
    folder: str,
    hidden: str,
    environment: dict[str, str],
) -> None:
    """Adds the lines that failing tests run only where no other test ran before: those of what is kept once it was made.

    How many passing tests depend on them is not known: they count as the middle one of the other lines of their file does.
    """
    outcomes, _ = _tests(hidden, folder)
    bad = sorted(test for test, wrong in outcomes.items() if wrong)
    if not (0 < len(bad) <= ALONE and len(bad) < len(outcomes) and all("::" in one for one in bad)):
        return
    inner = os.path.join(hidden, "alone")
    os.mkdir(inner)
    only = os.path.join(inner, "only.json")
    with open(only, "w", encoding="utf-8") as out:
        json.dump(bad, out)
    asked = {**environment, "FDC_SPECTRUM": inner, "FDC_SPECTRUM_ONLY": only}
    try:
        repair_copy.run_in_copy(argv, context, folder, asked)
        alone = read(inner, folder, True)
    except ToolFailure as failed:
        if failed.kind == "sandbox":
            raise
        return
    seen = {file["path"]: {row[0]: row for row in file["lines"]} for file in all_["files"]}
    for file in alone["files"]:
        known = seen.get(file["path"], {})
        counted = sorted(row[2] for row in known.values() if row[1])
        counted = [one for one in counted if one < all_["passing"]] or counted  # not at import
        for line, failing, _ in file["lines"]:
            row = known.get(line)
            if failing and row is not None and not row[1]:
                row[1:] = [failing, max(row[2], counted[len(counted) // 2] if counted else 0)]


def _ended(done: Any) -> Measurement:
    output = done.output.decode("utf-8", "replace")
    return {
        "exit_code": done.exit_code,
        "output": output,
        "spectra": [],
        "why": "",
        "late": [],
        "slowest": 0.0,
    }


def _coverage() -> str | None:
    import importlib.util

    spec = importlib.util.find_spec("coverage")
    return (
        spec.submodule_search_locations[0]
        if spec is not None and spec.submodule_search_locations
        else None
    )


def _environment(hidden: str, folder: str, each: float, whole: float) -> dict[str, str]:
    places = [hidden, *(one for one in (folder, os.path.join(folder, "src")) if os.path.isdir(one))]
    limits = {"FDC_TEST_SECONDS": str(each), "FDC_WHOLE_SECONDS": str(whole)} if each else {}
    return {
        "PYTHONPATH": os.pathsep.join(places), "PYTEST_ADDOPTS": "-p fdc_spectrum -p fdc_time_limit",
        "FDC_SPECTRUM": hidden, "FDC_SPECTRUM_ROOT": os.path.realpath(folder), **limits,
    }  # fmt: skip


def _why(hidden: str) -> str:
    try:
        with open(os.path.join(hidden, "failed"), encoding="utf-8", errors="replace") as said:
            return f"the lines could not be measured: {said.read(300)}"
    except OSError:
        return (
            "the test command ran no line of a Python file of the workspace that could be measured"
        )


def read(hidden: str, folder: str, failed: bool) -> Spectrum:
    """What the processes of a run wrote down, as `measure` returns it. Raises ToolFailure where that is damaged."""
    outcomes, frames = _tests(hidden, folder)
    names = sorted(os.listdir(hidden))
    lines: dict[str, dict[int, set[str]]] = {}
    for name in names:
        if name.startswith("lines."):
            _gather(os.path.join(hidden, name), folder, lines)
    bad = {test for test, wrong in outcomes.items() if wrong}
    good = outcomes.keys() - bad
    if not outcomes:  # no test was told apart: the run is one
        bad, good = ({""}, set()) if failed else (set(), {""})
    files: list[FileRun] = []
    for path, found in sorted(lines.items()):
        rows = []
        for line, tests in sorted(found.items()):
            counts = len(bad & tests), len(good & tests)
            if tests == {REPORT}:
                continue
            if not any(counts):  # run before any test was: for all of them
                counts = len(bad), len(good)
            rows.append([line, *counts])
        files.append({"path": path, "lines": rows})
    return {
        "failing": len(bad),
        "passing": len(good),
        "files": files,
        "frames": frames[:MOST_FRAMES],
    }


def _tests(hidden: str, folder: str) -> tuple[dict[str, bool], list[list[str | int]]]:
    """Which tests ran and whether each failed, and where errors were raised."""
    outcomes: dict[str, bool] = {}
    frames: list[list[str | int]] = []
    for seen in _records(hidden):
        for test, bad in seen["outcomes"].items():
            outcomes[test] = bad or outcomes.get(test, False)
        frames += [[path, line] for path, line in _inside(seen["frames"], folder)]
    return outcomes, frames


def _records(hidden: str) -> Iterator[Any]:
    """What each process took down of its tests."""
    for name in sorted(os.listdir(hidden)):
        if name.startswith("tests."):
            with open(os.path.join(hidden, name), "rb") as data:
                text = data.read()
            try:
                yield json.loads(text)
            except ValueError as failed:  # it was cut off
                raise _unread(data.name, failed) from failed


def _unread(path: str, failed: Exception) -> Exception:
    """The exception for a damaged record. The usual cause is a disk without room for the rest of it."""
    about = os.statvfs(path)
    if about.f_bavail * about.f_frsize < ROOM:
        return WorldFailed(f"{path}: no space left on device")
    return ToolFailure("world", f"what the tests ran could not be read: {failed}")


def _gather(name: str, folder: str, lines: dict[str, dict[int, set[str]]]) -> None:
    from coverage import CoverageData
    from coverage.exceptions import CoverageException

    data = CoverageData(basename=name)
    try:
        data.read()
        for path, _ in _inside(((one, 0) for one in data.measured_files()), folder):
            file = lines.setdefault(path, {})
            for line, tests in data.contexts_by_lineno(
                os.path.join(os.path.realpath(folder), path)
            ).items():
                file.setdefault(line, set()).update(tests)
    except CoverageException as failed:
        raise _unread(name, failed) from failed
    finally:
        data.close(force=True)


def _inside(places: Iterable[tuple[str, int]], folder: str) -> Iterable[tuple[str, int]]:
    root = os.path.realpath(folder) + os.sep
    for path, line in places:
        real = os.path.realpath(os.path.join(folder, path))
        if (
            real.startswith(root)
            and not real.startswith(f"{root}{HIDDEN}{os.sep}")
            and not path.startswith("<")
        ):
            yield real[len(root) :], line
