"""At most fifteen Python files in a folder of the product, beside its `__init__.py`: a larger one holds several rooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from tests.support.repository import files

MOST = 15
KNOWN: dict[str, int] = {}
"""Folders that hold more, and how many: no folder may come to this list, and no number may grow."""


def crowded(names: Iterable[str], known: Mapping[str, int]) -> list[str]:
    """One line for each folder that holds too many files, and for each entry of `known` that is not exactly true."""
    paths = map(PurePosixPath, names)
    found = Counter(
        str(path.parent)
        for path in paths
        if path.parts[0] == "tooling" and path.suffix == ".py" and path.name != "__init__.py"
    )
    return [
        f"{folder} holds {found[folder]} Python files, the limit is {known.get(folder, MOST)}: give some a folder of their own"
        for folder in sorted(found)
        if found[folder] > known.get(folder, MOST)
    ] + [
        f"{folder} holds {found[folder]} Python files: "
        + (
            f"write that instead of {most} into KNOWN"
            if found[folder] > MOST
            else "take it out of KNOWN"
        )
        for folder, most in sorted(known.items())
        if found[folder] < most
    ]


def test_no_folder_of_the_product_holds_too_many_files() -> None:
    assert [] == crowded(files(), KNOWN)


def test_each_way_to_break_the_rule_is_found() -> None:
    def names(folder: str, count: int) -> list[str]:
        made = [f"{folder}/{number}.py" for number in range(count)]
        return [*made, f"{folder}/__init__.py", f"{folder}/data.json"]

    found = [
        *names("tooling/new", 16), *names("tooling/full", 15), *names("tooling/same", 18), *names("tooling/grew", 18),
        *names("tooling/shrank", 17), *names("tooling/small", 15), *names("tests/unit", 40), *names("tooling", 3),
    ]  # fmt: skip
    known = {f"tooling/{name}": 17 for name in ("grew", "small", "gone")}
    assert [
        "tooling/grew holds 18 Python files, the limit is 17: give some a folder of their own",
        "tooling/new holds 16 Python files, the limit is 15: give some a folder of their own",
        "tooling/gone holds 0 Python files: take it out of KNOWN",
        "tooling/shrank holds 17 Python files: write that instead of 18 into KNOWN",
        "tooling/small holds 15 Python files: take it out of KNOWN",
    ] == crowded(found, {**known, "tooling/same": 18, "tooling/shrank": 18})
