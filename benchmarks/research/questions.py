"""The questions with their known answers, and the packages that they are about, fetched by pip, npm or apt and unpacked.

`read(DEVELOPMENT)` has 158 more, and 124 without an answer, on which changes may be tried.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

QUESTIONS = Path(__file__).with_name("questions.json")
DEVELOPMENT = Path(__file__).with_name("development.json")
KEPT = Path(__file__).resolve().parents[2] / ".benchmarks" / "research"
PARTS = ("held-out", "tuned", "large-held-out", "large", "absent-held-out")
"""The parts named `large` are about packages of 400,000 lines and more. The last has only questions without an answer."""


class Question(NamedTuple):
    """A question; `answers` are (path, first line, last line), one of which must be cited."""

    id: str
    package: str
    kind: str
    part: str
    ask: str
    answers: tuple[tuple[str, int, int], ...]


class Package(NamedTuple):
    """A source archive whose lines the answers name: this very file and no other. `origin` is `pypi`, `npm` or `debian`."""

    name: str
    version: str
    folder: str
    sha256: str
    origin: str = "pypi"


class Wrong(Exception):
    """A package is not the one that the questions were written for."""


def read(path: Path = QUESTIONS) -> tuple[list[Question], dict[str, Package]]:
    """The questions in order, and the packages by name."""
    found = json.loads(path.read_text("utf-8"))
    packages = {
        name: Package(name, row["version"], row["folder"], row["sha256"], row.get("from", "pypi"))
        for name, row in found["packages"].items()
    }
    return [_question(row) for row in found["questions"]], packages


def absent(path: Path = QUESTIONS) -> list[Question]:
    """The questions whose answer is in no file of their package."""
    rows = json.loads(path.read_text("utf-8"))["absent"]
    return [
        Question(row["id"], row["package"], "absent", row["part"], row["ask"], ()) for row in rows
    ]


def _question(row: dict[str, Any]) -> Question:
    answers = tuple((one["path"], *one["lines"]) for one in row["answers"])
    return Question(row["id"], row["package"], row["kind"], row["part"], row["ask"], answers)


def unpacked(package: Package, kept: Path = KEPT) -> Path:
    """The folder of a package's sources, fetched once. Raises Wrong where the digest is another."""
    home = kept / f"{package.name}-{package.version}"
    if (home / package.folder).is_dir():
        return home / package.folder
    home.mkdir(parents=True, exist_ok=True)
    exact = f"{package.name}{'=' if package.origin == 'debian' else '@'}{package.version}"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        package.name,
    ]
    fetch, ending = {
        "pypi": ([*pip, f"{package.name}=={package.version}"], ".tar.gz"),
        "npm": (["npm", "pack", "--silent", exact], ".tgz"),
        "debian": (["apt-get", "download", "-qq", exact], ".deb"),
    }[package.origin]
    if not list(home.glob(f"*{ending}")):
        subprocess.run(fetch, check=True, cwd=home, stdout=subprocess.DEVNULL)
    (archive,) = home.glob(f"*{ending}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
        raise Wrong(
            f"{archive} is not the {package.name} {package.version} whose lines the answers name"
        )
    if ending == ".deb":
        subprocess.run(["dpkg-deb", "-x", archive, home], check=True)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(home, filter="data")
    return home / package.folder
