"""What lint says of small plan sets stays as it was, unless somebody means to change it (`situations/NAME.json`).

The sets come from unit tests, which ask one question of each: they were chosen so that each way through the analyses that any
of those takes is taken by up to five; those of `by-hand` go where no unit test went. Here everything that is said of them counts,
but for the words around what stands in backticks. Whether it is true, the unit tests and the laws of tests/property judge; this notices that it is another.
`python -m tests.golden.test_situations NAME NUMBER` shows a set that differs.
"""

from __future__ import annotations

import json
import sys
from typing import TypedDict

import pytest
from fdc_toolchain.check import Checked
from fdc_toolchain.linking.project.settings import Settings

from tests.support import generated
from tests.support.golden import FOLDER, check, updating
from tests.support.linting import lint

SITUATIONS = FOLDER / "situations"
NAMES = sorted(path.stem for path in SITUATIONS.glob("*.json"))


class Situation(TypedDict, total=False):
    """The files of a set with their texts; the plans that are judged, where not all are; what else there is."""

    files: dict[str, str]
    judged: list[str]
    there: list[str]
    settings: dict[str, object]
    whole: bool


def read(name: str) -> list[Situation]:
    made: list[Situation] = json.loads((SITUATIONS / f"{name}.json").read_text("utf-8"))
    return made


def checked(one: Situation) -> Checked:
    given = {key: _tuples(value) for key, value in one.get("settings", {"fsm": "any.json"}).items()}
    return lint(
        one["files"],
        *one.get("judged", ()),
        there=one.get("there", ()),
        settings=Settings(**given),  # type: ignore[arg-type]
        whole=one.get("whole", False),
    )


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_situation_is_as_it_was(name: str) -> None:
    lines = (generated.told(number, checked(one)) for number, one in enumerate(read(name)))
    check(f"situations/{name}.txt", "".join(f"{line}\n" for line in lines))


def test_there_is_a_text_for_each_set() -> None:
    if not updating():
        assert {path.stem for path in SITUATIONS.glob("*.txt")} == {*NAMES}


def main(name: str, number: str) -> None:
    one = read(name)[int(number)]
    for path, text in one["files"].items():
        print(f"--- {path}\n{text}")
    for item in generated.everything(checked(one)):
        print(item, "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
