"""Detects the command that runs a repository's tests from its files."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess

from .... import durable
from ....linking.project.protected import outside_path

ASSUMED = "make test"
"""The default if no file shows how to run the tests."""

_PYTEST = "python3 -m pytest"
_MOST_BYTES = 1024 * 1024


def found(root: str) -> str | None:
    """The command that the files in the repository's top folder imply; None if there is none."""
    if re.search(r"(?m)^test[ \t]*:", _text(root, "Makefile")):
        return "make test"
    if _npm_test(_text(root, "package.json")):
        return "npm test"
    if _is_there(root, "Cargo.toml"):
        return "cargo test"
    if _is_there(root, "go.mod"):
        return "go test ./..."
    python = any(_is_there(root, name) for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    pytest = any(
        "pytest" in _text(root, name)
        for name in ("pyproject.toml", "setup.cfg", "tox.ini", "requirements-dev.txt")
    )
    if (
        pytest
        or _is_there(root, "pytest.ini")
        or python
        and _has_tests(root)
        or _has_test_files(root)
    ):
        return _PYTEST if _python(root) == "python3" else f"{_python(root)} -m pytest"
    return None


def lacks(root: str, command: str) -> str:
    """The sentence that a program that the command needs is not installed; empty where it is, or nobody knows."""
    if command == "make test":
        return _lacks_for_make(_text(root, "Makefile"))
    if command != _PYTEST:
        return ""
    python = shutil.which("python3", path=outside_path())
    if python is None:
        return "There is no `python3` on PATH."
    look = "import importlib.util, sys; sys.exit(7 * (importlib.util.find_spec('pytest') is None))"
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:  # nothing of the repository is imported
        done = subprocess.run(
            [python, "-c", look], cwd="/", env=env, capture_output=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return "But `python3` has no pytest." if done.returncode == 7 else ""


_RECIPE = re.compile(r"(?m)^test[ \t]*:(?!=)[^\n]*\n((?:\t[^\n]*\n?|[ \t]*(?:#[^\n]*)?\n)*)")
_STARTS = re.compile(r"\t[ \t]*[@+]*(?:\w+=[^\s$\"'`\\]*[ \t]+)*([A-Za-z0-9][\w.+-]*)(?=[ \t]|$)")
"""A line of a recipe that starts one program, by its name, and whose failure counts."""


def _lacks_for_make(text: str) -> str:
    """What the recipe of `test` starts and the machine does not have. What the shell itself does is not looked for."""
    recipe = _RECIPE.search(text)
    found = [_STARTS.match(line) for line in (recipe[1] if recipe else "").split("\n")]
    for name in ("make", *(start[1] for start in found if start)):
        if not shutil.which(name) and name not in _OF_THE_SHELL:
            return f"But there is no `{name}` on PATH" + (
                "." if name == "make" else ", which `make test` starts."
            )
    return ""


_OF_THE_SHELL = frozenset(
    "alias break case cd command continue do done eval exec exit export for function hash if let local read return set "
    "shift source test time times trap type typeset ulimit umask unset until wait while".split()
)


def _python(root: str) -> str:
    """The Python of the repository's virtual environment if pytest is installed there, so that it need not be on PATH."""
    for name in (".venv", "venv"):
        installed = glob.glob(
            os.path.join(glob.escape(root), name, "lib", "python3*", "site-packages", "pytest")
        )
        if installed and os.path.exists(os.path.join(root, name, "bin", "python")):
            return f"{name}/bin/python"
    return "python3"


def _has_tests(root: str) -> bool:
    """Whether the top folder has a folder `tests` or `test`, or a test file."""
    with os.scandir(root) as entries:
        return any(
            entry.name in ("tests", "test")
            if entry.is_dir()
            else re.fullmatch(r"test_.*\.py|.*_test\.py", entry.name)
            for entry in entries
        )


def _has_test_files(root: str) -> bool:
    names = (os.path.join(glob.escape(root), name, "test_*.py") for name in ("tests", "test", ""))
    return any(glob.glob(name) for name in names)


def _is_there(root: str, name: str) -> bool:
    return os.path.isfile(os.path.join(root, name))


def _text(root: str, name: str) -> str:
    """A file's text; empty if it cannot be read."""
    try:
        data = durable.read(os.path.join(root, name), limit=_MOST_BYTES)
    except OSError:
        return ""
    return (data or b"").decode("utf-8", "replace")


def _npm_test(text: str) -> bool:
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return isinstance(script, str) and "no test specified" not in script
