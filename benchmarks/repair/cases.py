"""Cases: a package with one seeded fault that at least one visible test notices, and half of its tests held out.

The half that is held out is drawn by test function, by a digest of its name; the workspace that `fdc fix` is given knows
nothing of it but that `test_keep_half.py` leaves tests out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from . import faults
from .packages import Module

PATIENCE = 120.0
AHEAD = 4
"""Faults whose tests run at the same time."""
PLUGIN = '''\
"""Leaves out the tests whose function is among those that are held out."""
import hashlib


def pytest_collection_modifyitems(config, items):
    kept = [one for one in items if int(hashlib.sha256(("{salt}" + one.nodeid.split("[")[0]).encode()).hexdigest(), 16) % 2]
    items[:] = kept
'''
_COUNTS = re.compile(r"(\d+) (passed|failed|error)")


class Case(NamedTuple):
    """`number` names it; `fault` is what was seeded into `module`."""

    number: int
    module: Module
    fault: faults.Fault
    original: str


class Tests(NamedTuple):
    """How a run of tests ended; `names` of those that failed. `passed` is -1 where it took too long."""

    passed: int
    names: frozenset[str]

    @property
    def green(self) -> bool:
        """True where some passed and none failed."""
        return self.passed > 0 and not self.names


def command(module: Module) -> str:
    """What the user of `fdc fix` gives as the test command."""
    return f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider -p test_keep_half {module.tests}"


def salt(seed: int) -> str:
    """What the choice of held-out tests depends on."""
    return f"fdc-{seed}-"


def lay_out(folder: Path, package: Path, module: Module, text: str | None, seed: int) -> None:
    """A workspace with the package, with `text` for the module."""
    shutil.copytree(
        package,
        folder,
        ignore=shutil.ignore_patterns("*.egg-info", "docs", ".github", "__pycache__"),
    )
    (folder / "knowledge_core").mkdir()
    (folder / "test_keep_half.py").write_text(PLUGIN.replace("{salt}", salt(seed)), "utf-8")
    if text is not None:
        (folder / module.module).write_bytes(text.encode("utf-8"))


def run(folder: Path, module: Module, visible: bool) -> Tests:
    """The module's tests in a workspace: the visible half, or all of them."""
    half = ["-p", "test_keep_half"] if visible else []
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-rfE",
        "--tb=no",
        *half,
        module.tests,
    ]
    places = os.pathsep.join((str(folder), str(folder / "src")))
    environment = {
        **os.environ,
        "PYTHONPATH": places,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Tests(-1, frozenset({"it took too long"}))
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    counts = {
        what: int(number)
        for number, what in _COUNTS.findall(done.stdout.rsplit("\n", 2)[-2] if done.stdout else "")
    }
    return Tests(
        counts.get("passed", 0), frozenset(names or ([] if done.returncode in (0, 5) else ["?"]))
    )


def make(
    packages: Mapping[str, Path], modules: Sequence[Module], seed: int, count: int, scratch: Path
) -> Iterator[Case]:
    """Cases, drawn by one seed: package, module, kind of fault and place, each by chance; at most one in each function.

    A draw counts where the module's own tests pass before, and some visible one fails after, in time.
    """
    drawn = _draws(packages, modules, Random(seed))
    sound: dict[Module, Future[tuple[Tests, Tests]]] = {}
    taken: set[tuple[str, str]] = set()
    waiting: deque[tuple[_Draw, Future[tuple[Tests, Tests]]]] = deque()
    made = tries = 0
    with ThreadPoolExecutor(AHEAD) as pool:
        while made < count:
            while len(waiting) < AHEAD:  # what is drawn does not depend on how the tests end
                one, tries = next(drawn), tries + 1
                package, place = packages[one.module.package], scratch / f"try-{tries}"
                if one.module not in sound:
                    first = scratch / f"sound-{tries}"
                    sound[one.module] = pool.submit(_try, package, one.module, None, seed, first)
                waiting.append(
                    (one, pool.submit(_try, package, one.module, one.fault.text, seed, place))
                )
            one, ran = waiting.popleft()
            key = (one.module.module, one.fault.function)
            visible, _ = ran.result()
            noticed = visible.passed > 0 and not visible.green
            whole = all(half.green for half in sound[one.module].result())
            if noticed and whole and key not in taken:
                taken.add(key)
                yield Case(made, one.module, one.fault, one.original)
                made += 1
        pool.shutdown(cancel_futures=True)


class _Draw(NamedTuple):
    module: Module
    fault: faults.Fault
    original: str


def _draws(
    packages: Mapping[str, Path], modules: Sequence[Module], random: Random
) -> Iterator[_Draw]:
    """Faults without end, whether anybody notices them or not."""
    names = sorted(packages)
    while True:
        package = random.choice(names)
        module = random.choice([one for one in modules if one.package == package])
        original = (
            (packages[package] / module.module).read_bytes().decode("utf-8").replace("\r\n", "\n")
        )
        fault = faults.seed(original, random)
        if fault is not None:
            yield _Draw(module, fault, original)


def _try(
    package: Path, module: Module, text: str | None, seed: int, folder: Path
) -> tuple[Tests, Tests]:
    lay_out(folder, package, module, text, seed)
    try:
        visible = run(folder, module, visible=True)
        return visible, run(folder, module, visible=False) if text is None else visible
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(path: Path) -> list[Case]:
    """The cases that an earlier run has made; none where there are none."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [
            Case(number, Module(*module), faults.Fault(*fault), original)
            for number, module, fault, original in rows
        ]
    except (OSError, ValueError, TypeError):
        return []


def save(path: Path, cases: Sequence[Case]) -> None:
    """Keeps cases, so that an interrupted benchmark need not make them again."""
    replace(
        path,
        json.dumps(
            [[one.number, list(one.module), list(one.fault), one.original] for one in cases]
        ),
    )


def replace(path: Path, text: str) -> None:
    """Writes a file as a whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)


def digest(cases: Sequence[Case]) -> str:
    """What says that two machines had the same cases."""
    said: Any = [[*one.module, one.fault.line, one.fault.before, one.fault.after] for one in cases]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]
