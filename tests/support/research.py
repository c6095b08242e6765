"""Research without a front door: the shipped plan on real tools, and folders to ask questions of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fdc_packs.research.retrieval import library
from fdc_toolchain.check import check_paths, program_of
from fdc_toolchain.engine.drive import Ending
from fdc_toolchain.testing import CrashPoint, MemoryJournal, run
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.files import Root

from .repository import ROOT

PLAN = "plans/library/deep_research.plan"
REPORT = "research/report.md"


@lru_cache(maxsize=1)
def program() -> dict[str, Any]:
    """What the shipped plan compiles to."""
    checked = check_paths([str(ROOT / PLAN)], str(ROOT))
    assert [] == [item for item in checked.diagnostics if item.severity == "error"]
    return program_of(checked)


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Makes the files below a folder; text is written as it is, byte for byte."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def research(
    root: Path,
    question: str,
    *,
    journal: MemoryJournal | None = None,
    point: CrashPoint | None = None,
    granted: Path | None = None,
    **given: str,
) -> Ending:
    """Runs the plan in the workspace `root`; `granted` is a folder outside of it whose documents may be read."""
    marks = root / ".fdc" / "runs" / "r"
    marks.mkdir(parents=True, exist_ok=True)
    if granted is not None:
        library.grant(str(marks), str(granted))
        given["documents"] = os.path.realpath(granted)
    opened = Root(str(root))
    bench = Workbench("r", opened, str(marks), lambda _: None, lambda _: None, {}, 10.0)
    inputs = {"given": {"question": question, **given}}
    try:
        return run(
            program(), LocalTools(program(), bench), inputs=inputs, journal=journal, point=point
        )
    finally:
        opened.close()


def report_of(root: Path, name: str = REPORT) -> str:
    """The report that a run wrote."""
    return (root / name).read_bytes().decode("utf-8")
