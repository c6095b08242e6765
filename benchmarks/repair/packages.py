"""Public packages that ship their own tests in their source distributions, by version; fetched with pip, once."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Module(NamedTuple):
    """A module and the file of tests that is about it, both relative to the unpacked source distribution."""

    package: str
    module: str
    tests: str


VERSIONS = {
    "boltons": "26.2.0",
    "cachetools": "8.0.1",
    "humanize": "4.17.0",
    "inflection": "0.5.1",
    "toolz": "1.2.0",
}
_BOLTONS = (
    "cacheutils dictutils funcutils iterutils listutils mathutils setutils statsutils strutils"
    " tableutils timeutils urlutils"
)
MODULES = (
    *(
        Module("boltons", f"boltons/{name}.py", f"tests/test_{name}.py")
        for name in _BOLTONS.split()
    ),
    *(
        Module("cachetools", "src/cachetools/__init__.py", f"tests/test_{name}.py")
        for name in ("fifo", "lfu", "lru", "ttl")
    ),
    Module("cachetools", "src/cachetools/keys.py", "tests/test_keys.py"),
    *(
        Module("humanize", f"src/humanize/{name}.py", f"tests/test_{name}.py")
        for name in ("filesize", "lists", "number")
    ),
    Module("inflection", "inflection/__init__.py", "test_inflection.py"),
    *(
        Module("toolz", f"toolz/{name}.py", f"toolz/tests/test_{name}.py")
        for name in ("dicttoolz", "functoolz", "itertoolz")
    ),
)


DEVELOPMENT_VERSIONS = {
    "packaging": "26.3", "funcy": "2.1", "semver": "3.1.1", "isodate": "0.7.2", "jmespath": "1.1.0", "hyperlink": "21.0.0",
    "h11": "0.16.0", "natsort": "8.4.0", "more_itertools": "11.2.1",
}  # fmt: skip
"""What the proposer was developed on, with `--development`: none of these is measured."""
_PACKAGING, _FUNCY = (
    "version requirements utils markers tags specifiers",
    "seqs calc colls strings flow funcs decorators objects",
)
_H11 = "headers receivebuffer events util connection state"
_ISODATE = "isodates:date isotime:time duration:duration isostrf:strf"
DEVELOPMENT = (
    *(Module("packaging", f"src/packaging/{name}.py", f"tests/test_{name}.py") for name in _PACKAGING.split()),
    *(Module("funcy", f"funcy/{name}.py", f"tests/test_{name}.py") for name in _FUNCY.split()),
    *(Module("semver", "src/semver/version.py", f"tests/test_{name}.py") for name in ("bump", "compare", "parsing", "replace")),
    *(Module("isodate", f"src/isodate/{name}.py", f"tests/test_{test}.py")
      for name, _, test in (one.partition(":") for one in _ISODATE.split())),
    *(Module("jmespath", f"jmespath/{name}.py", f"tests/test_{name}.py") for name in ("parser", "lexer", "functions")),
    *(Module("hyperlink", "src/hyperlink/_url.py", f"src/hyperlink/test/test_{name}.py") for name in ("url", "parse")),
    *(Module("h11", f"h11/_{name}.py", f"h11/tests/test_{name}.py") for name in _H11.split()),
    Module("natsort", "natsort/utils.py", "tests/test_utils.py"),
    Module("more_itertools", "more_itertools/recipes.py", "tests/test_recipes.py"),
)  # fmt: skip


def home() -> Path:
    """Where they are kept, between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "fdc-benchmarks" / "repair"


def fetch(versions: Mapping[str, str] = MappingProxyType(VERSIONS)) -> dict[str, Path]:
    """The unpacked source distribution of each package. Raises CalledProcessError where pip cannot fetch one."""
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, version in versions.items():
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
