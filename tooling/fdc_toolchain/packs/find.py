"""Finds packs: those in the folder beside fdc, and those that installed distributions name as entry points."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..named_tuples import NamedTuple
from .beside import FILE, FOLDER, GROUP, PACKAGE
from .model import PackError


class Place(NamedTuple):
    """Where a pack lies, and the package that its modules belong to."""

    folder: str
    package: str
    beside: bool


def candidates() -> list[str]:
    """The paths beside fdc at which a `pack.toml` is looked for, by name of the folder."""
    try:
        names = sorted(os.listdir(FOLDER))
    except OSError:
        return []
    return [os.path.join(FOLDER, name, FILE) for name in names if name.isidentifier()]


def beside() -> list[Place]:
    """The packs beside fdc: folders with a `pack.toml`."""
    folders = [os.path.dirname(path) for path in candidates() if os.path.isfile(path)]
    return [Place(folder, f"{PACKAGE}.{os.path.basename(folder)}", True) for folder in folders]


def installed() -> Iterator[Place | PackError]:
    """The packs of installed distributions; for one that cannot be found, why."""
    from importlib import metadata, util

    ours = f"{PACKAGE}."
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        if entry.value.startswith(ours):
            continue  # these are found beside fdc
        said = f"entry point `{entry.name}` of `{GROUP}`: package `{entry.value}`"
        try:
            spec = util.find_spec(entry.value)
        except Exception as wrong:  # a parent package is imported, which is the pack's own code
            yield PackError(f"{said} cannot be found: {type(wrong).__name__}: {wrong}")
            continue
        if spec is None or not spec.submodule_search_locations:
            yield PackError(f"{said} is not installed, or is a module without a folder")
            continue
        yield Place(
            os.path.abspath(next(iter(spec.submodule_search_locations))), entry.value, False
        )
