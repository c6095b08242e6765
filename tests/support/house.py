"""A copy of what fdc is made of, for tests that follow a recipe of docs/design.md in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from .repository import ROOT

Recipe = Mapping[str, list[tuple[str, str]]]
"""By file, what is put in place of what; `("", text)` alone makes a new file."""


def copied(home: Path) -> Path:
    """The copy, with an empty folder `workspace` in it."""
    for name in ("tooling", "grammar", "plans", "protocols"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "VERSION", home / "VERSION")
    (home / "workspace").mkdir()
    return home


def follow(home: Path, recipe: Recipe, files: Iterable[str]) -> None:
    """Writes the files of the recipe as they are after it, and all other `files` as they are in this checkout."""
    for name in files:
        edits = recipe.get(name, [])
        if not (ROOT / name).exists():
            (home / name).unlink(missing_ok=True)
            if edits:
                (home / name).write_text(edits[0][1])
            continue
        text = (ROOT / name).read_text()
        for old, new in edits:
            assert 1 == text.count(old), (name, old)
            text = text.replace(old, new)
        (home / name).write_text(text)


def fdc(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """fdc as the copy is now, in the folder `workspace`."""
    main = str(home / "tooling" / "fdc_toolchain" / "__main__.py")
    return subprocess.run(
        [sys.executable, "-B", "-E", "-P", main, *arguments],
        cwd=home / "workspace",
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "FDC_CACHE_DIR": str(home / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
