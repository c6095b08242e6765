"""A plan set in worlds: one run, or all runs when nothing is known about values."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.reference.interpret import MADE, End, Interpreter
from tests.reference.parse import PlanError, parse
from tests.reference.world import FreeWorld, World


class PlanSet(NamedTuple):
    """A workspace and the plan that is its root. `files` holds every file: plans, automata, registry, settings, notes."""

    root: str
    files: dict[str, str]


@contextmanager
def folder(files: dict[str, str]) -> Iterator[Path]:
    """A real folder with the files, gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix="reference-"))
    try:
        fill_folder(made, files)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def fill_folder(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def run(plans: PlanSet, world: World, inputs: dict[str, str] | None = None) -> End:
    """One run of the set's root in a fresh folder."""
    with folder(plans.files) as root:
        return Interpreter(plans.files, root, world).run(plans.root, inputs or {})


def all_runs(plans: PlanSet, most: int = 500) -> Iterator[tuple[list[int], End]]:
    """Every run where conditions may go either way and loops run 0 to 2 times; at most so many of them.

    Inputs that the root needs are some text.
    """
    script: list[int] | None = []
    try:
        parameters = parse(plans.root, plans.files[plans.root]).parameters
    except PlanError:
        return
    needed = {name: MADE for name, default in parameters.items() if default is None}
    for _ in range(most):
        if script is None:
            return
        world = FreeWorld(script)
        end = run(plans, world, needed)
        yield script, end
        script = world.next_script()
