"""Which small edits take a failing test's failure away: many are tried in one run of the test command, one in each fork.

A run of the command costs a start of Python and of its test runner; an edit needs only what comes after. So the command is begun
once, with a small program (`probe_inside/`) in front of it that forks before anything of the workspace is imported.
Nothing is written into a file: a fork sees its edit where the file is imported. It is evidence and no verdict: what passes
here is applied to the copy and tested by a run of its own, as everything is.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.tools import Context, ToolFailure

from . import repair_copy

if TYPE_CHECKING:
    from ..shapes import Edit, Probed

HIDDEN = ".fdc-probe"
ENOUGH, MORE = 4, 100
"""Edits with which everything passes, after which no further one is tried; edits that are tried after the first of them."""
SLOW = 80
"""Edits that are tried where each needs the tests to be imported anew."""
SECONDS, CPU_SECONDS = 360.0, 60.0
"""What all forks together may take."""
_BEGIN = '''\
"""Begins the probe, and then what this file stands in front of."""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
import fdc_probe
fdc_probe.begin()
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", [_path for _path in sys.path if _path != _here])
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
'''


def probe(
    command: str,
    context: Context,
    folder: str,
    edits: Sequence[Edit],
    seconds: float = SECONDS,
    every: bool = False,
    each: float = 0,
) -> Probed:
    """Tries edits (`{key, path, pieces}`, best first) of files in `folder`: `{verdicts, changes, tried, why}`.

    `verdicts` says of each key that was tried `passes`, `helps` (fewer tests fail, and no others), `breaks` (others fail),
    `leaves` (`every`: what fails fails with another edit too, and not all of it) or `fails`; `changes`, of those that pass,
    for how many generated inputs each gives another result, a name of all its results, whether it crashes where a test calls
    it, whether no test gets any more to where it crashed, the lines that no input gets to, and the tests that run it:
    `[differ, inputs, name, crashes, hides, {function: lines}, tests]`.
    `every`: not only until some pass, and also where nothing fails without an edit. `each`: seconds that a test may take.
    No verdicts, and `why` says why, where the command cannot be tried in forks. Raises ToolFailure (`sandbox`), Cancelled.
    """
    hidden = os.path.join(os.path.realpath(folder), HIDDEN)
    shutil.rmtree(hidden, ignore_errors=True)
    try:
        os.mkdir(hidden)
        paths = {
            path: os.path.realpath(os.path.join(folder, path))
            for path in {one["path"] for one in edits}
        }
        rows = [{"path": paths[one["path"]], "pieces": one["pieces"]} for one in edits]
        risky = [at for at, one in enumerate(edits) if one.get("risky")]
        given = {"edits": rows, "files": sorted(paths.values()), "enough": len(edits) if every else ENOUGH,
                 "more": MORE, "slow": SLOW, "green": every,
                 "risky": risky, "seconds": seconds,
                 "cpu_seconds": CPU_SECONDS, "each": each}  # fmt: skip
        for name, text in (("given.json", json.dumps(given)), ("sitecustomize.py", _BEGIN)):
            with open(os.path.join(hidden, name), "w", encoding="utf-8") as out:
                out.write(text)
        inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_inside")
        shutil.copytree(
            inside,
            os.path.join(hidden, "fdc_probe"),
            copy_function=shutil.copyfile,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        argv = repair_copy.looking_first(command, hidden)
        repair_copy.run_in_copy(argv, context, folder, _environment(hidden, folder))
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise  # else: what was told until then counts
    finally:
        told = _told(hidden)
        shutil.rmtree(hidden, ignore_errors=True)
    return _read(told, edits, every)


def _environment(hidden: str, folder: str) -> dict[str, str]:
    places = [hidden, *(one for one in (folder, os.path.join(folder, "src")) if os.path.isdir(one))]
    return {
        "PYTHONPATH": os.pathsep.join(places), "PYTEST_ADDOPTS": "-p fdc_probe -p fdc_probe.time_limit", "FDC_PROBE": hidden,
        "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(hidden, "compiled"),
    }  # fmt: skip


def _told(hidden: str) -> list[dict[str, Any]]:
    rows = []
    try:
        with open(os.path.join(hidden, "told"), encoding="utf-8", errors="replace") as text:
            for line in text:
                rows.append(json.loads(line))
    except (OSError, ValueError):
        return rows  # the last line of a run that was stopped
    return rows


def _read(told: list[dict[str, Any]], edits: Sequence[Edit], green: bool) -> Probed:
    """The verdicts by what the last process says that failed without an edit; `green`: that may be nothing."""
    verdicts: dict[str, str] = {}
    changes: dict[str, list[Any]] = {}
    left: dict[str, set[str]] = {}
    base: set[str] | None = None
    for row in told:
        if "behaviour" in row:
            changes[edits[row["edit"]]["key"]] = row["behaviour"]
        elif row["edit"] < 0:
            base = set(row["failed"]) if row["used"] and (green or row["status"] != 0) else None
        elif base is not None and row["used"]:
            key = edits[row["edit"]]["key"]
            verdicts[key] = _verdict(row, base)
            if green and verdicts[key] != "breaks" and not _killed(row):
                left[key] = base if row["stopped"] else set(row["failed"])
    for key, failed in left.items():
        if any(fewer < failed for fewer in left.values()):
            verdicts[key] = "leaves"
    why = ""
    if edits and not verdicts and base is None:
        why = "no process of the test command could be forked before it imports what is edited"
    elif edits and not verdicts:
        why = "the tests take too long"
    return {"verdicts": verdicts, "changes": changes, "tried": len(verdicts), "why": why}


def _verdict(row: dict[str, Any], base: set[str]) -> str:
    if row["status"] == 0:
        return "passes"
    if set(row["failed"]) - base:
        return "breaks"
    return (
        "fails"
        if _killed(row) or row["stopped"] or not row.get("won") or set(row["failed"]) == base
        else "helps"
    )


def _killed(row: dict[str, Any]) -> bool:
    return row["status"] is None or row["status"] < 0
