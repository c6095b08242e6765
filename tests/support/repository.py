"""The checkout as the tests of the repository see it: its files, and copies of it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from pathspec import GitIgnoreSpec

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tooling" / "fdc_toolchain"
PACKS = ROOT / "tooling" / "fdc_packs"


def python_of_packs() -> list[Path]:
    """The Python files of packs; not what a pack lays down in a workspace, of which nothing runs inside of fdc."""
    return [path for path in sorted(PACKS.rglob("*.py")) if "data" not in path.parts]


def plans() -> list[Path]:
    """The plans that fdc ships: the core's and those of packs."""
    return sorted([*(ROOT / "plans" / "library").glob("*.plan"), *PACKS.rglob("*.plan")])


def catalogues() -> list[Path]:
    """The catalogues that fdc ships."""
    return sorted([ROOT / "grammar" / "tools.json", *PACKS.rglob("*_tools.json")])


def shipped(name: str) -> Path:
    """Where the checkout has what fdc calls `packs/NAME/...`, or by its path."""
    return PACKS / name.removeprefix("packs/") if name.startswith("packs/") else ROOT / name


@cache
def files() -> tuple[str, ...]:
    """Every file that belongs to the repository, as POSIX paths from the root, sorted: tracked or about to be."""
    if (ROOT / ".git").exists():
        listing = subprocess.run(
            [
                "git",
                "-c",
                "core.quotePath=off",
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        found = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
    else:
        found = {
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*")
            if path.is_file() and not is_ignored(path.relative_to(ROOT).as_posix())
        }
    return tuple(sorted(found))


@cache
def _ignore() -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines((ROOT / ".gitignore").read_text("utf-8").splitlines())


def is_ignored(name: str) -> bool:
    """True for what .gitignore names: files that a run or a build makes."""
    return name.startswith(".git/") or _ignore().match_file(name)


def copy_to(folder: Path) -> Path:
    """Copies every file of the repository to `folder`, which is made. Returns it."""
    for name in files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder
