"""What is given to the probe, and how a fork shows the edited text of a file."""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class Result(TypedDict):
        """What a fork took down: whether it used its edit, which tests failed, whether one passed that failed before, the
        seconds of the slowest that passed, and those of a processor in which the first that failed may be asked again."""

        used: bool
        failed: list[str]
        tests: bool
        stopped: bool
        won: NotRequired[bool]
        slowest: NotRequired[float]
        asked: NotRequired[float]


FOLDER, ONE, EARLY = "FDC_PROBE", "FDC_PROBE_EDIT", "FDC_PROBE_EARLY"
"""Variables: where fdc reads, which edit a fork tries, and that pytest is run again as it had imported what is edited."""
CONTROL, COLLECTED, COMPARE = -1, -2, -3
UNFIT = 97
"""How a fork ends whose edit is not one of functions that can be changed where they are."""
given: dict[str, Any] = {}


class _Plainly:
    """Finds edited files before pytest does, which reads those that it tests, as for their doctests, in its own way."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        ours = spec is not None and os.path.realpath(spec.origin or "") in given["files"]
        return spec if ours else None


def show(number: int) -> None:
    """From here on an import of the edited file gives the edited text."""
    sys.meta_path.insert(0, _Plainly)
    edit = given["edits"][number] if number >= 0 else None
    loader: Any = importlib.machinery.SourceFileLoader
    inner = loader.get_code

    def get_code(self: Any, name: str) -> Any:
        path = os.path.realpath(self.path)
        if path in given["files"] and (edit is None or path == edit["path"]):
            note_use(number)
            if edit is not None:
                return self.source_to_code(
                    edited(text_of(path), edit["pieces"]).encode("utf-8"), self.path
                )
        return inner(self, name)

    loader.get_code = get_code


def note_use(number: int) -> None:
    """Takes down that an edit was used."""
    with open(os.path.join(os.environ[FOLDER], f"used.{number}"), "w", encoding="ascii"):
        pass


def text_of(path: str) -> str:
    """The text of a file, its line ends as they are."""
    with open(path, encoding="utf-8", newline="") as text:
        return text.read()


def edited(source: str, pieces: Sequence[tuple[int, int, str]], ahead: int = 0) -> str:
    """A text with pieces of it replaced; it begins `ahead` characters into the file."""
    for start, end, new in sorted(pieces, reverse=True):
        source = source[: start - ahead] + new + source[end - ahead :]
    return source


def keep(name: str, said: object) -> None:
    """Writes what another process of the probe reads by `kept`."""
    with open(os.path.join(os.environ[FOLDER], name), "w", encoding="utf-8") as out:
        json.dump(said, out)


def kept(name: str) -> object:
    """What `keep` wrote. Raises OSError, ValueError."""
    with open(os.path.join(os.environ[FOLDER], name), encoding="utf-8") as text:
        said: object = json.load(text)
        return said


def result_of(number: int) -> Result:
    """What a fork took down of its tests."""
    used = os.path.exists(os.path.join(os.environ[FOLDER], f"used.{number}"))
    try:
        was: Any = kept(f"result.{number}")  # as the fork wrote it
        said: Any = {"used": used, **was}
        return said
    except (OSError, ValueError):
        return {"used": used, "failed": [], "tests": False, "stopped": False}


def tell(row: Mapping[str, object]) -> None:
    """Hands a row on to fdc."""
    with open(os.path.join(os.environ[FOLDER], "told"), "a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def beside(one: int, other: int) -> bool:
    """True for two edits that change the same characters, or some beside each other."""
    both = [given["edits"][at] for at in (one, other)]
    first = [min(row[0] for row in each["pieces"]) for each in both]
    last = [max(row[1] for row in each["pieces"]) for each in both]
    return both[0]["path"] == both[1]["path"] and first[0] <= last[1] and first[1] <= last[0]
