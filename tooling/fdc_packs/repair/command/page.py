"""What the web page shows of repairs (`pages.cases` in `pack.toml`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import trace
from .case_page import render as render
from .case_page import style_hash as style_hash

if TYPE_CHECKING:
    from fdc_toolchain.api.records import RunRow, Store


def row(run: RunRow) -> dict[str, object]:
    """What the list says of a repair beside what it says of every run."""
    return {"test": run.inputs.get("given", {}).get("test", "")}


def told(store: Store, run: RunRow) -> dict[str, object]:
    """The trace of a repair."""
    return trace.told(store, run)[0]


def again(run: RunRow) -> list[str]:
    """The command that repairs the same again. It only prints: no one said `--write` for it."""
    given = run.inputs.get("given", {})
    arguments = [
        "fix",
        "--test",
        given.get("test", ""),
        "--max-iterations",
        given.get("iterations", "40"),
    ]
    arguments += [name for name in given.get("files", "").split("\n") if name]
    plain = run.plan == "fix-plain" or given.get("discipline") == "no"
    return arguments + (["--no-discipline"] if plain else [])
