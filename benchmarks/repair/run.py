"""One case as a user meets it: `fdc fix --test COMMAND` in the workspace, and what its diff is worth, judged by all tests."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fdc_toolchain.exits import CLEAN, FINDINGS, PARTIAL

from . import cases
from .cases import Case

MODES = {"discipline": [], "plain": ["--no-discipline"]}
LONGEST, ENDING = 2400.0, 60.0
"""Seconds that a run of `fdc fix` may take (much, for load is no defect), and those that it has to end then."""


LATE = "it took too long"
"""What is said of a run that was stopped then."""


class Result(NamedTuple):
    """`verdict`: fixed, plausible, wrong, not decided or given up; `restored`: the code is again what it was.

    `ended`: fdc's own word.
    """

    number: int
    mode: str
    verdict: str
    restored: bool
    ended: str
    exit_code: int
    iterations: int
    probes: int
    seconds: float


def repair(
    case: Case, package: Path, mode: str, seed: int, iterations: int, scratch: Path
) -> Result:
    """Runs `fdc fix` on a case and judges it; the workspace is made for it and removed."""
    folder = scratch / f"case-{case.number}-{mode}"
    cases.lay_out(folder, package, case.module, case.fault.text, seed)
    done = fix(
        folder,
        cases.command(case.module),
        [case.module.module],
        iterations,
        MODES[mode],
        scratch / "cache",
    )
    said, code = done.said, done.exit_code
    verdict, restored = "given up", False
    if code == 0:
        verdict, restored = judge(
            case,
            package,
            str(said.get("diff") or ""),
            seed,
            scratch / f"judge-{case.number}-{mode}",
        )
    elif said.get("choices"):
        verdict = "not decided"
    shutil.rmtree(folder, ignore_errors=True)
    return Result(case.number, mode, verdict, restored, done.ended, code, int(said.get("iterations") or 0),
                  int(said.get("probes") or 0), done.seconds)  # fmt: skip


class Fixed(NamedTuple):
    """How a run of `fdc fix` ended: what it printed, its exit code (-1 where it took too long), its own word, its seconds."""

    said: dict[str, Any]
    exit_code: int
    ended: str
    seconds: float


def fix(
    folder: Path, command: str, files: Sequence[str], iterations: int, options: Sequence[str], cache: Path, path: str = "",
    longest: float = LONGEST,
) -> Fixed:  # fmt: skip
    """Runs `fdc fix` in a workspace as a user runs it; `path` comes first on the PATH.

    Raises RuntimeError where fdc did not answer as it must: that is no result.
    """
    bin_ = os.path.dirname(sys.executable)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "CLAUDE_", "FDC_"))
    }
    places = os.pathsep.join(one for one in (path, bin_, os.environ.get("PATH", os.defpath)) if one)
    environment |= {"PATH": places, "FDC_CACHE_DIR": str(cache)}
    argv = [os.path.join(bin_, "fdc"), "fix", "--test", command, "--format", "json",
            "--max-iterations", str(iterations), "--max-stalls", str(iterations), "--allow-unsandboxed", *options,
            *files]  # fmt: skip
    began = time.monotonic()
    done = subprocess.Popen(
        argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        printed, told = done.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        done.send_signal(signal.SIGTERM)  # it ends what it runs
        try:
            done.communicate(timeout=ENDING)
        except subprocess.TimeoutExpired:
            done.kill()
            done.communicate()
        return Fixed({}, -1, LATE, longest)
    if done.returncode not in (CLEAN, FINDINGS, PARTIAL) or not printed.startswith("{"):
        raise RuntimeError(f"fdc fix ended with {done.returncode}: {told[-2000:]}")
    said = json.loads(printed)
    return Fixed(said, done.returncode, str(said["ended"]), round(time.monotonic() - began, 1))


def judge(case: Case, package: Path, diff: str, seed: int, folder: Path) -> tuple[str, bool]:
    """What a diff is worth, and whether the code is again what it was.

    `git apply` puts it into a fresh workspace, and all tests of the module are run there. The original passes them all
    (`cases.make`), so that a test that was held out and fails now says that the repair is wrong. Where the code is another
    than the original's, and no test that was held out notices the fault, nothing says that it is right: it is plausible.
    """
    cases.lay_out(folder, package, case.module, case.fault.text, seed)
    try:
        applied = subprocess.run(
            ["git", "apply", "--whitespace=nowarn"], cwd=folder, input=diff.encode(), capture_output=True, check=False,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
        )  # fmt: skip
        text = (folder / case.module.module).read_bytes().decode("utf-8")
        if applied.returncode or not cases.run(folder, case.module, visible=True).green:
            return "wrong", False
        restored = ast.dump(ast.parse(text)) == ast.dump(ast.parse(case.original))
        if restored:
            return "fixed", True
        if not cases.run(folder, case.module, visible=False).green:
            return "wrong", False
        (folder / case.module.module).write_bytes(case.fault.text.encode("utf-8"))
        every, seen = (cases.run(folder, case.module, visible=half) for half in (False, True))
        return ("fixed" if every.names - seen.names else "plausible"), False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
