"""Runs scripts in Node under the stub, with the sizes of their formulas measured while they run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fdc_toolchain.foreign.workflow.bound import Bound

NODE = shutil.which("node")
STUB = Path(__file__).with_name("stub.js")


class Case(NamedTuple):
    """A script with what it is given."""

    text: str
    args: object
    seed: int
    total: int | None = None


class Happened(NamedTuple):
    """What a run started, and the largest that each size was."""

    agents: int
    rounds: int
    sizes: dict[str, float]
    failed: str


def measured(text: str, bound: Bound) -> str:
    """The script with every expression that is a size in its formula reporting how large it is."""
    data = text.encode("utf-8")
    inserted: list[tuple[int, int, str]] = []
    for size in bound.sizes.values():
        for start, end, kind in size.places:
            if kind == "rounds":
                brace = data.index(b"{", start) + 1
                inserted.append((brace, 0, f" __rounds({json.dumps(size.name)});"))
                continue
            if data[start : start + 3] == b"...":
                start += 3
            if kind == "loop" and re.search(rb"\bin\s*$", data[:start]):
                kind = "keys"
            inserted.append((start, end - start, f"__{kind}({json.dumps(size.name)}, ("))
            inserted.append((end, -(end - start), "))"))
    # at one place: what ends comes first, the inner one before the outer; then what begins, the outer one first
    inserted.sort(key=lambda row: (row[0], row[1] > 0, -row[1]))
    out, last = b"", 0
    for at, _, words in inserted:
        out += data[last:at] + words.encode("utf-8")
        last = at
    return (out + data[last:]).decode("utf-8").replace("export const meta", "const meta", 1)


def run(cases: Sequence[Case]) -> list[Happened]:
    """What each script does, in one process of Node."""
    rows: list[dict[str, Any]] = [
        {"source": case.text, "args": case.args, "seed": case.seed, "total": case.total}
        for case in cases
    ]
    assert NODE is not None
    found = subprocess.run(
        [NODE, STUB], input=json.dumps(rows), capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    rows = json.loads(found.stdout)
    for row in rows:  # JSON has no infinity
        row["sizes"] = {
            name: float("inf") if size is None else size for name, size in row["sizes"].items()
        }
    return [Happened(**row) for row in rows]
