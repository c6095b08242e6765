"""Makes the part `data` of certificates. Nothing here is trusted: `data.check` checks the result.

The walk of the checker finds the claims: loops are repeated until nothing changes, and a call that begins in a new way
gets a row of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..control import digest
from ..file_sets import Files, lasting
from ..flow import Flow
from ..labels import KEPT, Name, State, covers, stored, within, written
from ..made_of import check_made_of
from ..plans import Wrong

if TYPE_CHECKING:
    from ..forms import Data, DataRow, FileFacts, Held, Instruction, Program

MOST_ROWS = 5000
"""Maximum rows (ways in which plans begin); beyond it no certificate is made."""

__all__ = ["Wrong", "make"]

Left = dict[Files, int]


def make(program: Program, making: type[Making] | None = None) -> Data:
    """The claims about text from outside. Raises Wrong, with the place, where it may choose what it may not.

    `making`: the walk that makes them (for tests).
    """
    left: Left = {}
    if making is None:
        check_made_of(program)
    while True:
        rows = Rows(program, left, making or Making)
        begin = State({}, stored(program, "texts"), stored(program, "there"), 0)
        rows.row(program["root"], False, {}, begin, 0)
        if within(rows.left, left):
            break
        left = {files: left.get(files, 0) | rows.left.get(files, 0) for files in left | rows.left}
    return {
        "format": 1,
        "part": "data",
        "program": digest(program),
        "left": _written(left),
        "rows": rows.rows,
    }


def _written(labels: dict[Files, int]) -> FileFacts:
    return [(list(files), written(label)) for files, label in sorted(labels.items())]


class Rows:
    """The rows that are made, by how they begin."""

    def __init__(self, program: Program, left: Left, making: type[Making]) -> None:
        self.program, self.known_left, self.making = program, left, making
        self.rows: list[DataRow] = []
        self.left: Left = {}
        self.numbers: dict[tuple[object, ...], int] = {}

    def row(self, plan: str, kept: bool, given: dict[str, int], state: State, choices: int) -> int:
        """The number of the row for a plan that begins so."""
        params = {name: label for name, label in given.items() if label}
        files = [tuple(sorted(getattr(state, kind).items())) for kind in KEPT]
        key = plan, kept, tuple(sorted(params.items())), *files, choices
        if key not in self.numbers:
            if len(self.rows) >= MOST_ROWS:
                raise Wrong(f"plan `{plan}`: plans begin in more than {MOST_ROWS} ways")
            self.numbers[key] = len(self.rows)
            row: DataRow = {
                "plan": plan, "kept": kept, "choices": written(choices),
                "params": {name: written(label) for name, label in params.items()},
                "texts": _written(state.texts), "there": _written(state.there), "loops": {}, "calls": {},
                "gives": {"result": [], "fails": [], "stops": [], "texts": [], "there": []},
            }  # fmt: skip
            self.rows.append(row)
            walk = self.making(self, row)
            walk.body("", walk.plan["body"], walk.begin())
            row["loops"] = {place: walk.shown(place) for place in walk.heads}
            row["gives"] = {
                "result": written(walk.result), "fails": written(walk.fails), "stops": written(walk.stops),
                "texts": _written(walk.wrote["texts"]), "there": _written(walk.wrote["there"]),
            }  # fmt: skip
            for paths, label in walk.wrote["texts"].items():
                if lasting(paths):
                    self.left[paths] = self.left.get(paths, 0) | label
        return self.numbers[key]


class Making(Flow):
    """The walk of the checker, which makes claims when it asks for them."""

    def __init__(self, rows: Rows, row: DataRow) -> None:
        super().__init__(rows.program, {"rows": rows.rows, "left": []}, row)
        self.made, self.left = rows, rows.known_left
        self.heads: dict[str, State] = {}
        self.named: dict[str, set[str]] = {}

    def callee(self, state: State, node: Instruction, place: str, given: dict[str, int]) -> DataRow:
        self.row["calls"][place] = self.made.row(
            node["plan"], self.kept, given, state, self.outer | state.inner
        )
        return self.made.rows[self.row["calls"][place]]

    def rounds(
        self, state: State, node: Instruction, place: str, item: Name, names: dict[str, Name | None]
    ) -> None:
        head, named = state.copy(), self.named.setdefault(place, set())
        if (
            place in self.heads
        ):  # a name that no round binds has here what it has now, not what it had at another visit
            seen = self.heads[place]
            head.add(
                State(
                    {name: seen.names[name] for name in named & seen.names.keys()},
                    seen.texts,
                    seen.there,
                    seen.inner,
                )
            )
        while True:
            end = self.turn(head.copy(), node, place, item, names)
            named.update(name for name in end.names if end.names[name] is not head.names.get(name))
            if covers(head, end):
                break
            head.add(end)
        self.heads[place] = head.copy()
        state.names, state.texts, state.there, state.inner = (
            head.names,
            head.texts,
            head.there,
            head.inner,
        )

    def shown(self, place: str) -> Held:
        """The claim about a loop; of names it has those that its rounds bind."""
        head = self.heads[place]
        names = {
            name: [
                written(value.label),
                sorted(value.bare),
                *([sorted(value.own), written(value.inner)] if value.own else []),
            ]
            for name in sorted(self.named[place])
            for value in (head.names[name],)
        }
        return {
            "names": names,
            "texts": _written(head.texts),
            "there": _written(head.there),
            "choices": written(head.inner),
        }
