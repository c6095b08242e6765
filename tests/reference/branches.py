"""The branches of forks at work, and the files that their steps name (docs/language.md, "Loops")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.reference import tools
from tests.reference.stops import Stop


class Fork:
    """A fork at work: the files that its branches have come to, by which branch, and whether the step changes the file."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.place = place
        self.seen: list[tuple[str, int, bool]] = []


def uses(tool: dict[str, Any], request: dict[str, Any]) -> list[tuple[str, bool]]:
    """The paths that a request names, and whether the step changes the file. A path that is refused is none."""
    found = []
    for parameter in tool["parameters"]:
        name = request.get(parameter["name"])
        if parameter.get("access") is not None and isinstance(name, str):
            try:
                found.append((tools.clean(name), parameter["access"] != "read"))
            except Stop:
                continue
    return found


def meet(forks: tuple[tuple[Fork, int], ...], uses: Iterable[tuple[str, bool]], here: str) -> None:
    """Notes the files of the step at `here`. Stop `value`, at the fork, where another branch has come to one of them."""
    for path, changes in uses:
        for fork, branch in forks:
            for other, number, changed in fork.seen:
                if other == path and number != branch and (changes or changed):
                    stop = Stop("value", f"another branch uses `{path}`", path)
                    stop.at, stop.place = here, fork.place
                    raise stop
            fork.seen.append((path, branch, changes))
