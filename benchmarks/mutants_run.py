"""A copy of the checkout in which `benchmarks.mutants` plants one mistake after the other, and what finds them there.

Two ways lead to the same: a server of tests (`mutants_tests.Server`) forks itself for each mutant that changes only functions,
and a new process imports everything again where a mutant changes what is executed on import.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKED = "not soak and not long"
"""What is marked so takes seconds, and would be the last of a mutant's tests, if these ever came to it."""
SLOWER = 10
"""How much longer than its CPU time something may take on a loaded machine, before it counts as hanging."""


def copy(folder: Path, texts: Mapping[Path, str]) -> Path:
    """A checkout of what is there, tracked or not, without git and environments; some files with another text."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode().split("\0")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for path, text in texts.items():
        (folder / path).write_text(text, "utf-8")
    return folder


def pytest_command(folder: Path, order: Mapping[str, object]) -> tuple[list[str], dict[str, str]]:
    """A run of pytest that does what the order says (`mutants_tests`), and its environment."""
    said = folder / "order.json"
    said.write_text(json.dumps(order), "utf-8")
    plugins = ("-p", "no:cacheprovider", "-p", "benchmarks.mutants_tests")
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", *plugins, "-m", MARKED]
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "FDC_MUTANTS": str(said),
        "HYPOTHESIS_PROFILE": "mutants",
    }
    return command, environment


class Checkout:
    """A copy of the checkout that no other mutant uses meanwhile, with its server of tests."""

    def __init__(self, folder: Path, texts: Mapping[Path, str], files: Sequence[str]) -> None:
        self.folder = copy(folder, texts)
        self.scratch = folder / "scratch"
        self.sound: dict[str, bool] = {}
        self.forked = self.anew = 0
        ours, its = socket.socketpair()
        with its:
            command, environment = pytest_command(
                folder,
                {
                    "socket": its.fileno(),
                    "code": str(folder / "tooling"),
                },
            )
            self._log = (folder / "server.log").open("wb")
            self._server = subprocess.Popen(
                [*command, *files],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=[its.fileno()],
            )
        self._line, self._stream = ours, ours.makefile("rw")

    def close(self) -> None:
        """Ends the server, which waits for the next mutant."""
        self._stream.close()
        self._line.close()
        self._server.wait()
        self._log.close()

    def run(self, path: Path, plain: str, text: str, tests: dict[str, float], early: bool) -> str:
        """The first of the tests that fails with a text of a file and not without, `timeout`, or "" where all pass.

        `early`: what is other is executed while tests are collected, and no fork does that again."""
        tests = dict(tests)
        while tests:
            found = None if early else self._fork(path, plain, text, tests)
            if found is None:
                self.anew += 1
                return self._new(path, plain, text, tests)
            self.forked += 1
            if found not in tests or self._passes(path, plain, found, tests[found]):
                return found
            del tests[found]
        return ""

    def _passes(self, path: Path, plain: str, test: str, seconds: float) -> bool:
        """Whether a test passes in a fork without any mutant. One that does not finds none."""
        if test not in self.sound:
            self.sound[test] = not self._fork(path, plain, plain, {test: seconds})
            if not self.sound[test]:
                print(f"fails in a fork without a mutant: {test}", flush=True)
        return self.sound[test]

    def _fork(self, path: Path, plain: str, text: str, tests: dict[str, float]) -> str | None:
        asked = {
            "path": str(self.folder / path),
            "plain": plain,
            "text": text,
            "tests": tests,
            "scratch": str(self.scratch),
        }
        (self.folder / path).write_text(text, "utf-8")
        try:
            self._stream.write(json.dumps(asked) + "\n")
            self._stream.flush()
            answer = self._stream.readline()
        finally:
            (self.folder / path).write_text(plain, "utf-8")
        if not answer:
            raise RuntimeError(
                f"the tests do not run:\n{(self.folder / 'server.log').read_text('utf-8')}"
            )
        found: str | None = json.loads(answer)
        return found

    def _new(self, path: Path, plain: str, text: str, tests: dict[str, float]) -> str:
        seconds = 60 + 5 * sum(tests.values())
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        command, environment = pytest_command(self.folder, {"tests": tests})
        (self.folder / path).write_text(text, "utf-8")
        try:
            done = subprocess.run(
                [*command, "-x", *files],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SLOWER * seconds,
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            (self.folder / path).write_text(plain, "utf-8")
        if done.returncode in (-signal.SIGALRM, -signal.SIGPROF):
            return "timeout"
        if done.returncode in (0, 5):  # 5: none of the tests is there
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return found[1] if found else f"exit {done.returncode}"

    def laws(self, path: Path, plain: str, text: str, laws: Sequence[str], seed: int, seconds: float) -> str:  # fmt: skip
        """Those laws, where a text of a file breaks one of them within some seconds of a generator's plan sets; or ""."""
        command = [sys.executable, "-m", "benchmarks.counting", "--jobs", "1", "--seed", str(seed)]
        command += ["--minutes", str(seconds / 60), "--output", os.devnull]
        command += [word for law in laws for word in ("--law", law)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "tooling"}
        (self.folder / path).write_text(text, "utf-8")
        try:
            done = subprocess.run(
                ["prlimit", f"--cpu={int(60 + 5 * seconds)}", *command],
                cwd=self.folder,
                capture_output=True,
                timeout=SLOWER * (60 + 5 * seconds),
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            (self.folder / path).write_text(plain, "utf-8")
        return f"laws: {', '.join(laws)}" if done.returncode else ""
