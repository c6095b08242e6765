"""One case as a user meets it: `fdc fix --test COMMAND` in the workspace, and what its diff is worth, judged by all tests."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from fdc_toolchain.exits import CLEAN, FINDINGS, PARTIAL

from . import cases
from .cases import Case

MODES = {"discipline": [], "plain": ["--no-discipline"]}
LONGEST = 600.0


class Result(NamedTuple):
    """`verdict`: fixed, plausible, wrong or given up; `restored`: the code is again what it was; `ended`: fdc's own word."""

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
    """Runs `fdc fix` on a case and judges it; the workspace is made for it and removed.

    Raises RuntimeError where fdc did not answer as it must: that is no result.
    """
    folder = scratch / f"case-{case.number}-{mode}"
    cases.lay_out(folder, package, case.module, case.fault.text, seed)
    bin_ = os.path.dirname(sys.executable)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "FDC_"))
    }
    path = os.pathsep.join((bin_, os.environ.get("PATH", os.defpath)))
    environment |= {"PATH": path, "FDC_CACHE_DIR": str(scratch / "cache")}
    argv = [os.path.join(bin_, "fdc"), "fix", "--test", cases.command(case.module), "--format", "json",
            "--max-iterations", str(iterations), "--max-stalls", str(iterations), "--allow-unsandboxed", *MODES[mode],
            case.module.module]  # fmt: skip
    began = time.monotonic()
    try:
        done = subprocess.run(
            argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST,
            check=False,
        )  # fmt: skip
        if done.returncode not in (CLEAN, FINDINGS, PARTIAL) or not done.stdout.startswith("{"):
            raise RuntimeError(
                f"case {case.number}: fdc fix ended with {done.returncode}: {done.stderr[-2000:]}"
            )
        said = json.loads(done.stdout)
        code, ended = done.returncode, str(said["ended"])
    except subprocess.TimeoutExpired:
        said, code, ended = {}, -1, "it took too long"
    seconds = time.monotonic() - began
    verdict, restored = "given up", False
    if code == 0:
        verdict, restored = judge(
            case,
            package,
            str(said.get("diff") or ""),
            seed,
            scratch / f"judge-{case.number}-{mode}",
        )
    shutil.rmtree(folder, ignore_errors=True)
    return Result(case.number, mode, verdict, restored, ended, code, int(said.get("iterations") or 0),
                  int(said.get("probes") or 0), round(seconds, 1))  # fmt: skip


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
