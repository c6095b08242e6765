"""Pairs of consecutive releases whose newer tests show what was wrong in the older code. Named before anybody had looked.

Twenty-five packages: Python only, tests in their source distributions, few dependencies. Of each the newest pairs of final
releases that differ in the last number only (bug-fix releases), and where there are fewer than `PAIRS`, the newest others.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

SEEN = ("boltons", "more-itertools", "packaging")
"""Packages that the proposer had been developed on before: always of the half that is for tuning."""
PACKAGES = (*SEEN, "attrs", "beautifulsoup4", "bitstring", "click", "croniter", "icalendar", "Jinja2", "Markdown", "marshmallow",
            "mistune", "parso", "pymdown-extensions", "pyparsing", "python-box", "soupsieve", "sqlparse", "tomlkit", "typeguard",
            "validators", "voluptuous", "wcwidth", "Werkzeug")  # fmt: skip
PAIRS = 24
SLOW = ("click", "croniter", "icalendar", "packaging")
"""Packages whose suites take longest: only their first pairs are mined."""
NEEDS = ("pytest<9", "pytest-timeout", "coverage", "hypothesis", "freezegun", "pytz", "tzdata", "simplejson", "pretend",
         "html5lib", "lxml", "pyyaml", "pygments", "python-dateutil", "bitarray", "markupsafe", "tzlocal", "typing-extensions",
         "ruamel.yaml", "msgpack", "toml", "tomli-w", "ephemeral-port-reserve", "watchdog", "cryptography",
         *(name for name in PACKAGES if name not in SEEN))  # fmt: skip
"""What the tests of these packages import."""
BACKENDS = (
    "setuptools>=77,<81",
    "setuptools-scm",
    "wheel",
    "hatchling",
    "hatch-vcs",
    "hatch-fancy-pypi-readme",
    "flit-core",
    "poetry-core",
    "pdm-backend",
    "cython",
)


class Pair(NamedTuple):
    """Two releases of a package, one after the other."""

    package: str
    old: str
    new: str


def half(package: str) -> str:
    """`tuning` or `held out`, by a digest of the name: twelve packages and thirteen."""
    order = sorted(
        PACKAGES,
        key=lambda one: (one not in SEEN, hashlib.sha256(one.lower().encode()).hexdigest()),
    )
    return "tuning" if package in order[: len(PACKAGES) // 2] else "held out"


def rounds(python: str) -> list[list[Pair]]:
    """The first pair of each package, the second of each that is not slow, and so on."""
    every = [_pairs(python, one)[: 1 if one in SLOW else PAIRS] for one in PACKAGES]
    return [[pairs[at] for pairs in every if at < len(pairs)] for at in range(PAIRS)]


def _pairs(python: str, package: str) -> list[Pair]:
    done = subprocess.run(
        [python, "-m", "pip", "index", "versions", package],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
    listed = found[1].split(", ") if found else []
    final = [one for one in listed if re.fullmatch(r"\d+(\.\d+)*", one)]
    pairs = [Pair(package, old, new) for new, old in zip(final, final[1:], strict=False)]
    fixes = [
        one for one in pairs if one.old.count(".") > 1 and _series(one.old) == _series(one.new)
    ]
    others = [one for one in pairs if one not in fixes]
    return [*fixes, *others][:PAIRS]


def _series(version: str) -> list[str]:
    return version.split(".")[:2]


def fetch(python: str, folder: Path, package: str, version: str) -> Path:
    """The unpacked source distribution. Raises CalledProcessError, StopIteration where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{package.lower()}-{version}"
    if not target.is_dir():
        subprocess.run(
            [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation",
             "--dest", str(folder), f"{package}=={version}"],
            check=True, capture_output=True,
        )  # fmt: skip
        plain = re.sub(r"[-_.]+", "", package.lower())
        archive = next(
            one
            for one in folder.glob(f"*-{version}.tar.gz")
            if re.sub(r"[-_.]+", "", one.name.lower()).startswith(plain + version.replace(".", ""))
        )
        with tempfile.TemporaryDirectory(dir=folder) as part, tarfile.open(archive) as tar:
            tar.extractall(part, filter="data")
            with contextlib.suppress(OSError):  # another process was first
                next(Path(part).iterdir()).rename(target)
    return target
