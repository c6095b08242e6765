"""What a patch breaks beyond its test command: the whole suite, the other test files and the doctests, with and without it.

What fails without the patch too is not its doing. What could not be run is said, and nothing is concluded from it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.files import durable
from fdc_toolchain.api.tools import Context, ToolFailure

from ..failure import failing, plain
from . import repair_copy

if TYPE_CHECKING:
    from ..shapes import Broken

SECONDS = 300.0
"""The most that a run of a suite may take."""
DOCTESTS = 80
_PYTEST = re.compile(
    r"(?:\S*python[\d.]*\s+(?:-[A-Za-z]+\s+)*?-m\s+pytest|(?<!\S)(?:\S*/)?(?:pytest|py\.test))(?=\s|$)"
)
_UNITTEST = re.compile(r"(\S*python[\d.]*\s+(?:-[A-Za-z]+\s+)*?)-m\s+unittest(?=\s|$)")
_EXAMPLES = """\
import doctest, importlib, os, sys, unittest
suite = unittest.TestSuite()
for path in sys.argv[1:]:
    folder, name = os.path.split(path[:-3])
    names = [name] * (name != "__init__")
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    sys.path.insert(0, os.path.abspath(folder))
    try:
        suite.addTest(doctest.DocTestSuite(importlib.import_module(".".join(names))))
    except Exception as problem:
        print(path, repr(problem), file=sys.stderr)
sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
"""
"""A program that runs the doctests of the files that it is given. One that cannot be imported hides no other."""
_OPTIONS = ("-p", "-o", "-c", "-W", "--rootdir", "--import-mode", "--confcutdir", "--override-ini")
_OWN = "-q --tb=short -rfE -p no:cacheprovider --continue-on-collection-errors"
"""A file that cannot be imported, which another release of Python or a missing package explains, hides no other file."""
_RAN = re.compile(r"\b(\d+) passed\b|^Ran (\d+) tests? ", re.MULTILINE)
_PROMPT = re.compile(rb"^\s*>>> ", re.MULTILINE)


def documented(context: Context, first: Iterable[str]) -> list[str]:
    """The files that may be changed and have doctests, these first."""
    base, held = repair_copy.base_of(context), repair_copy.held(context)
    paths = dict.fromkeys(
        one for one in (*sorted(first), *sorted(held)) if one in held and one.endswith(".py")
    )
    return [one for one in paths if _PROMPT.search(repair_copy.read(base, one))][:DOCTESTS]


def commands(command: str, files: list[str]) -> tuple[dict[str, str], list[str]]:
    """The commands by what they run, and what no command is known for. `files`: those that have doctests."""
    found = _PYTEST.search(command)
    if found is not None:
        begin = f"{command[: found.end()]} {_kept(command[found.end() :])}{_OWN}"
        out = {"the whole test suite": begin}
        if files:
            named = " ".join(shlex.quote(path) for path in files)
            out["the doctests"] = f"{begin} --doctest-modules {named}"
        return out, []
    found = _UNITTEST.search(command)
    if found is not None:
        out = {"the whole test suite": f"{command[: found.end()]} discover"}
        if files:
            named = shlex.join(["-c", _EXAMPLES, *files])
            out["the doctests"] = f"{command[: found.end(1)]}{named}"
        return out, []
    return {}, ["the other tests (the command starts neither pytest nor unittest)"]


def _kept(rest: str) -> str:
    """The options of a pytest command that say how it runs, and not which tests."""
    try:
        words = shlex.split(re.split(r"[|;&<>]", rest)[0])
    except ValueError:
        return ""
    kept: list[str] = []
    for at, one in enumerate(words):
        if one in _OPTIONS:
            kept += words[at : at + 2]
        elif one.partition("=")[0] in _OPTIONS or (one[:2] in _OPTIONS and one[:2] != "--"):
            kept.append(one)
    return "".join(f"{shlex.quote(one)} " for one in kept)


def broken(command: str, context: Context, folder: str, path: str, each: float = 0) -> Broken:
    """What the patch of `path` in the copy breaks: `{broken, output, said}`; `said` names what ran and what did not.

    `each`: seconds that a test may take without the patch (0: as many as it likes).
    """
    known, missing = commands(command, documented(context, [path]))
    ran: list[str] = []
    for what, run in known.items():
        after = _run(run, context, folder)
        if after["why"]:
            missing.append(f"{what} ({after['why']})")
            continue
        ran.append(f"{what} ({after['passed']} passed)")
        if after["failing"]:
            before = _without(run, context, folder, path, each)
            fresh = [] if before["why"] else sorted(set(after["failing"]) - set(before["failing"]))
            if before["why"]:
                missing.append(f"{what} without the patch ({before['why']})")
            again = _run(run, context, folder) if fresh else after
            still = [test for test in fresh if again["why"] or test in again["failing"]]
            if still:
                return {"broken": still, "output": after["output"], "said": what}
            if fresh:  # by chance, as tests do that need time
                ran[-1] += f"; {', '.join(fresh[:3])} failed once and passed when it was run again"
    said = f"run beside the command: {', '.join(ran)}" if ran else ""
    no = f"not run: {', '.join(missing)}" if missing else ""
    return {"broken": [], "output": "", "said": "; ".join(one for one in (said, no) if one)}


def _without(run: str, context: Context, folder: str, path: str, each: float) -> dict[str, Any]:
    """What fails without the patch, measured once until a patch is kept."""
    place = os.path.join(context.run_folder, "whole.json")
    kept: dict[str, Any] = json.loads(durable.read(place) or b"{}")
    if run not in kept:
        patched = repair_copy.read(folder, path)
        try:
            repair_copy.put(folder, path, repair_copy.read(repair_copy.base_of(context), path))
            kept[run] = {**_run(run, context, folder, each), "output": ""}
        finally:
            repair_copy.put(folder, path, patched)
        durable.replace(place, json.dumps(kept).encode())
    found: dict[str, Any] = kept[run]
    return found


def _run(run: str, context: Context, folder: str, each: float = 0) -> dict[str, Any]:
    limited = replace(context, shell_seconds=min(SECONDS, context.shell_seconds))
    try:
        code, said = _ended(run, limited, folder, each)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return {"why": f"stopped: {failed}", "failing": [], "passed": 0, "output": ""}
    output = plain(said, (folder,), ())
    names = failing(output)
    counts = [int(one or other) for one, other in _RAN.findall(output)]
    why = "" if names or (code == 0 and any(counts)) else f"it ran no test, exit code {code}"
    return {
        "why": why,
        "failing": names,
        "passed": counts[-1] if counts else 0,
        "output": output[-60_000:],
    }


def _ended(run: str, context: Context, folder: str, each: float) -> tuple[int, str]:
    """The exit code and the output of a command; a test is stopped that takes longer than `each` seconds."""
    if each:
        from .spectrum import measure

        measured = measure(run, context, folder, True, each, each)
        return measured["exit_code"], measured["output"]
    done = repair_copy.run_in_copy(["bash", "-c", run], context, folder)
    return done.exit_code, done.output.decode("utf-8", "replace")
