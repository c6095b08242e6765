"""Public packages that ship their own tests in their source distributions, by version; fetched with pip, once."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple


class Module(NamedTuple):
    """A module and the file of tests that is about it, both relative to the unpacked source distribution."""

    package: str
    module: str
    tests: str


VERSIONS = {"boltons": "26.2.0", "cachetools": "8.0.1", "humanize": "4.17.0", "inflection": "0.5.1", "toolz": "1.2.0"}
_BOLTONS = (
    "cacheutils dictutils funcutils iterutils listutils mathutils setutils statsutils strutils tableutils timeutils urlutils"
)
MODULES = (
    *(Module("boltons", f"boltons/{name}.py", f"tests/test_{name}.py") for name in _BOLTONS.split()),
    *(Module("cachetools", "src/cachetools/__init__.py", f"tests/test_{name}.py") for name in ("fifo", "lfu", "lru", "ttl")),
    Module("cachetools", "src/cachetools/keys.py", "tests/test_keys.py"),
    *(Module("humanize", f"src/humanize/{name}.py", f"tests/test_{name}.py") for name in ("filesize", "lists", "number")),
    Module("inflection", "inflection/__init__.py", "test_inflection.py"),
    *(Module("toolz", f"toolz/{name}.py", f"toolz/tests/test_{name}.py") for name in ("dicttoolz", "functoolz", "itertoolz")),
)


def home() -> Path:
    """Where they are kept, between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "fdc-benchmarks" / "repair"


def fetch() -> dict[str, Path]:
    """The unpacked source distribution of each package. Raises CalledProcessError where pip cannot fetch one."""
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, version in VERSIONS.items():
        target = folder / f"{name}-{version}"
        if not target.is_dir():
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder,
                 f"{name}=={version}"],
                check=True,
            )  # fmt: skip
            with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
                archive.extractall(folder, filter="data")
        found[name] = target
    return found
