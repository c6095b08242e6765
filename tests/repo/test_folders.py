"""At most fifteen Python files in a folder of the product, beside its `__init__.py`: a larger one holds several rooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from tests.support.repository import files

MOST = 15


def crowded(names: Iterable[str]) -> list[str]:
    """One line for each folder that holds too many files."""
    paths = map(PurePosixPath, names)
    found = Counter(
        str(path.parent)
        for path in paths
        if path.parts[0] == "tooling" and path.suffix == ".py" and path.name != "__init__.py"
    )
    return [
        f"{folder} holds {count} Python files, the limit is {MOST}: give some a folder of their own"
        for folder, count in sorted(found.items())
        if count > MOST
    ]


def test_no_folder_of_the_product_holds_too_many_files() -> None:
    assert [] == crowded(files())


def test_a_folder_with_too_many_files_is_found() -> None:
    def names(folder: str, count: int) -> list[str]:
        made = [f"{folder}/{number}.py" for number in range(count)]
        return [*made, f"{folder}/__init__.py", f"{folder}/data.json"]

    found = [*names("tooling", 3), *names("tooling/full", 15), *names("tests/unit", 40)]
    assert [] == crowded(found)
    line = "tooling/new/a holds 16 Python files, the limit is 15: give some a folder of their own"
    assert [line] == crowded([*found, *names("tooling/new/a", 16)])
