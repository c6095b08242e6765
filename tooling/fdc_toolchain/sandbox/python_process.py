"""Starts Python processes: the only module that makes their command lines and environment.

Files of a workspace are not trusted code, and neither are variables that a workspace can put into the environment
(`PYTHONPATH` in its `.envrc`). So every such process gets the interpreter that runs fdc by its absolute path,
ignores Python's variables (`-E`), and has no working folder on its import path (`-P`).

    argv = python_process.fdc("resume", run)            # fdc itself
    argv = python_process.packages(script, word)        # a program that needs installed packages
    argv = python_process.plain(script, word)           # one that needs the standard library only
    subprocess.Popen(argv, env=python_process.environment(), ...)

`tests/repo/test_own_processes.py` holds the rest of the code to it.
"""

from __future__ import annotations

import os
import sys

from ..engine.ports import WorldFailed

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of fdc's own code."""

_MAIN = os.path.join(PACKAGE, "__main__.py")


def plain(*words: str) -> list[str]:
    """The command line of a program that needs the standard library only: its path, or `-c` and its text, then arguments."""
    return [interpreter(), "-I", "-S", *words]


def isolated(*words: str) -> list[str]:
    """The command line of a program that runs somebody's code with the installed packages, and nothing of the user's."""
    return [interpreter(), "-I", "-B", *words]


def packages(*words: str) -> list[str]:
    """The command line of a program that needs packages which are installed where fdc is."""
    mine = ["-s"] if sys.flags.no_user_site else []
    return [interpreter(), "-E", "-P", *mine, *(["-B"] if sys.dont_write_bytecode else []), *words]


def fdc(*words: str) -> list[str]:
    """The command line of `fdc WORDS`: this very code, wherever it lies."""
    return packages(_MAIN, *words)


def environment() -> dict[str, str]:
    """This process's environment without Python's own variables, which would speak to what the process itself starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def interpreter() -> str:
    """The absolute path of the Python that runs fdc. Raises WorldFailed where it has none (Python inside another program)."""
    found = sys.executable
    if not found or not os.path.isabs(found):
        raise WorldFailed(
            "fdc cannot start another Python process: the path of its interpreter is unknown"
        )
    return found
