"""Applies lessons in processes that are killed at one exact moment; run as a script by tests/fault/test_lessons.py.

Every moment is a real SIGKILL of a real process: right before a file takes its name or a row goes into the journal,
which on the disk is right after the one before it; and once at the end. This process itself only forks, waits and
looks. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fdc_toolchain.agent.lessons import host
from fdc_toolchain.agent.lessons import lessons as records
from fdc_toolchain.agent.lessons import lessons_file as store
from fdc_toolchain.agent.lessons.self_correction import apply
from fdc_toolchain.journal import run_journal, sqlite
from fdc_toolchain.protocols.load import load

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Moments:
    """Counts the moments of this process and kills it at the one that was asked for."""

    def __init__(self, number: int, out: int) -> None:
        self.number, self.out, self.count = number, out, 0

    def reach(self, what: str) -> None:
        self.count += 1
        os.write(self.out, f"{what}\n".encode())
        if self.count == self.number:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def deadly(*arguments: Any, **options: Any) -> Any:
            self.reach(f"before {name}")
            return real(*arguments, **options)

        setattr(owner, name, deadly)


def work(root: Path, number: int, out: int) -> None:
    """Compiles the post-mortem and applies its lessons, as `fdc lessons apply --from` does."""
    moments = Moments(number, out)
    moments.around(os, "replace")
    for owner, name in ((sqlite.Store, "create"), (sqlite.Store, "claim"), (run_journal.RunJournal, "append"),
                        (run_journal.RunJournal, "close_run")):  # fmt: skip
        moments.around(owner, name)
    store.add(str(root), str(root / "postmortems" / "x.md"), NOW.date())
    ports = host.ports(str(root))._replace(now=lambda: NOW)
    report = apply(str(root), ports)
    assert report.refused is None, report
    moments.reach("the end")


def in_child(act: Callable[[int], None]) -> tuple[int, list[str]]:
    """Runs `act` in a process of its own: how that ended, and the moments that it reached."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            act(writer)
            os._exit(0)
        except BaseException as wrong:
            os.write(2, f"{type(wrong).__name__}: {wrong}\n".encode())
            os._exit(9)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        reached = file.read().split("\n")[:-1]
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status), reached


def state(root: Path) -> dict[str, Any]:
    """All that must be the same whatever was killed: every file, with the names of runs taken out.

    What a writer left that was killed before its file took its name is not a file of the workspace.
    """
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith(".fdc/") and not name.endswith((".lock", ".tmp")):
            found[name] = re.sub(r"\d{8}-\d{6}-[0-9a-z]{4}", "RUN", path.read_text("utf-8"))
    return found


def valid(root: Path) -> list[str]:
    """What is not whole after a kill."""
    wrong = [f"lessons line {line.number}: {line.fault}" for line in store.load(str(root)).damaged]
    sources = {
        path.name: path.read_bytes()
        for path in (root / "protocols").iterdir()
        if path.name.endswith(".json")
    }
    wrong += [item.message for item in load(sources)[1] if item.severity == "error"]
    agents = root / "AGENTS.md"
    if agents.exists() and "<!-- sealed" not in agents.read_text("utf-8"):
        wrong.append("AGENTS.md is not whole")
    return wrong


def main(template: Path, scratch: Path) -> dict[str, Any]:
    """Kills at every moment, resumes, compares."""
    shutil.copytree(template, scratch / "reference")
    code, moments = in_child(lambda out: work(scratch / "reference", 0, out))
    assert code == 0, code
    expected = state(scratch / "reference")
    differing: list[str] = []
    for number in range(1, 2 * len(moments)):
        root = scratch / "killed"
        shutil.copytree(template, root)
        code, reached = in_child(lambda out, root=root, number=number: work(root, number, out))  # type: ignore[misc]
        what = f"{number}: {reached[-1]}"
        differing += [f"{what}: {wrong}" for wrong in valid(root)]
        if code == -signal.SIGKILL:
            again, _ = in_child(lambda out, root=root: work(root, 0, out))  # type: ignore[misc]
            differing += [f"{what}: the second attempt ended with {again}"] * (again != 0)
        after = state(root)
        differing += [
            f"{what}: {name} differs"
            for name in {*after, *expected}
            if after.get(name) != expected.get(name)
        ]
        shutil.rmtree(root)
        if code != -signal.SIGKILL:
            moments = (
                reached  # fewer than in the reference, which also writes what belongs to the user
            )
            break
    statuses = [
        lesson["status"]
        for lesson in records.read((scratch / "reference" / records.LESSONS).read_bytes()).lessons
    ]
    return {"moments": moments, "differing": differing, "statuses": statuses, "files": expected}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
