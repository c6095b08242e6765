"""The environment that is measured: fdc from a freshly built wheel, and the other tools, from pip.

It is a virtual environment of its own, below build/ (which git ignores), because an editable
install and its path hooks would be measured too.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "bench"
ANCHORS = ("ruff", "yamllint", "check-jsonschema", "pyflakes", "pre-commit")


@dataclass(frozen=True)
class Tools:
    """What is measured: the interpreter, how fdc is called, and the commands of the others that are there."""

    python: Path
    fdc: tuple[str, ...]
    anchors: dict[str, str]
    versions: dict[str, str]


def _requirements() -> list[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    wanted = [*extras["bench"], *(item for item in extras["dev"] if item.startswith(ANCHORS))]
    return sorted(set(wanted))


def _run(*argv: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in argv], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"benchmarks: {' '.join(map(str, argv))} failed:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def build() -> Tools:
    """Makes the environment, or brings it up to date; fdc's wheel is always built and installed anew."""
    venv, wheels, stamp = HOME / "venv", HOME / "wheel", HOME / "requirements"
    python = venv / "bin" / "python"
    wanted = _requirements()
    recipe = "\n".join([sys.version, *wanted])
    if not python.exists() or not stamp.exists() or stamp.read_text("utf-8") != recipe:
        print("benchmarks: installing the tools to measure", file=sys.stderr)
        _run(sys.executable, "-m", "venv", "--clear", venv)
        # an old pip writes console scripts that import `re`, and setuptools hooks into every start of Python
        _run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
        _run(python, "-m", "pip", "install", "--quiet", *wanted)
        _run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools")
        stamp.write_text(recipe, "utf-8")
    shutil.rmtree(wheels, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", wheels, ROOT)
    (wheel,) = wheels.glob("*.whl")
    _run(python, "-m", "pip", "install", "--quiet", wheel)
    _run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()[:12]
    return _tools(python, (str(venv / "bin" / "fdc"),), f"wheel {digest}")


def current() -> Tools:
    """The running environment and this checkout: for smoke runs, which must work without a network."""
    return _tools(
        Path(sys.executable), (sys.executable, str(ROOT / "tooling" / "fdc_cli.py")), "checkout"
    )


def _tools(python: Path, fdc: tuple[str, ...], what: str) -> Tools:
    anchors = {}
    for name in ANCHORS:
        found = python.parent / name
        if os.access(found, os.X_OK):
            anchors[name] = str(found)
    ask = "import sys; from importlib.metadata import version as v; print(*(f'{n} {v(n)}\\n' for n in sys.argv[1:]))"
    names = [name.replace("pre-commit", "pre_commit") for name in anchors]
    listed = _run(python, "-c", ask, "lark", "click", *names).split("\n")
    versions = dict(line.split() for line in listed if line.strip())
    versions["fdc"] = f"{(ROOT / 'VERSION').read_text('utf-8').strip()} ({what})"
    versions["python"] = platform.python_version()
    return Tools(python, fdc, anchors, versions)


def commit() -> str:
    """The commit that is measured, and whether the checkout differs from it."""
    head = _run("git", "rev-parse", "--short=12", "HEAD").strip()
    changed = _run("git", "status", "--porcelain", "--", "tooling", "grammar", "plans").strip()
    return head + (" with changes" if changed else "")


def machine() -> str:
    """The processor, the number of CPUs, the system."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs, {platform.system()} {platform.release()}"
