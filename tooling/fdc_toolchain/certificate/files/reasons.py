"""The part of the checker that finds whether an assumption of the program excludes a failure. It imports nothing of fdc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..file_sets import RUN
from ..plans import Wrong
from .known import ALWAYS, CHANCE, UNKNOWN, Reason, Side
from .places import Key, literal, quoted, written

if TYPE_CHECKING:
    from ..forms import Assumption, Instruction, PathRows, Program

SAID: dict[str | int, str] = {
    "made": "FDC414",
    "kept": "FDC702",
    "chance": "FDC704",
    "unknown": "FDC703",
}
"""By reason: the assumption that excludes it."""


class Reasons:
    """One plan that begins as a row says, with the assumptions of its program by line (`lines`)."""

    def __init__(
        self, program: Program, certificate: PathRows, number: int, lines: dict[Reason, set[int]]
    ) -> None:
        self.program, self.certificate, self.row, self.lines = (
            program,
            certificate,
            certificate["rows"][number],
            lines,
        )
        self.id = self.row["plan"]
        self.plan = program["plans"][self.id]
        self.meanwhile = frozenset((path, line) for path, line in self.row["meanwhile"])

    def need(self, node: Instruction, key: Key, side: Side) -> None:
        """Raises Wrong where one of some reasons for a failure is neither excluded by an assumption nor claimed as open."""
        for reason in sorted(side):
            if reason == ALWAYS:
                raise Wrong(
                    f"plan `{self.id}`, line {node['line']}: {quoted(key)} may not be as the step needs it"
                )
            if not self.assumed(node, key, reason):
                if (
                    reason[0] in ("made", "kept")
                    and literal(key)
                    and not key[0].startswith("runs/")
                    and not self.meanwhile
                ):
                    place = f"line {reason[2]} of `{reason[1]}`"
                    raise Wrong(f"plan `{self.id}`, line {node['line']}: no assumption says what the command in {place} "
                                f"does to {quoted(key)}")  # fmt: skip
                self.open(node, key)

    def open(self, node: Instruction, key: Key) -> None:
        """A use that is not proved. Raises Wrong where the certificate does not list it as open."""
        if [self.plan["path"], node["line"]] not in self.certificate["open"]:
            raise Wrong(
                f"plan `{self.id}`, line {node['line']}: nothing shows that {quoted(key)} is as the step needs it"
            )

    def assumed(self, node: Instruction, key: Key, reason: Reason) -> bool:
        """Whether an assumption of the program, which the certificate lists, excludes a reason in this line."""
        return any(
            number in self.certificate["assumes"] for number in self.about(node, key, reason)
        )

    def about(self, node: Instruction, key: Key, reason: Reason) -> list[int]:
        """The numbers of the assumptions that exclude a reason in this line: they are about the line and the command."""
        lines: list[Reason] = [(self.plan["path"], node["line"])]
        lines += [reason[1:]] if len(reason) > 1 else []
        numbers = set.intersection(*(self.lines.get(line, set()) for line in lines))
        return [
            number
            for number in sorted(numbers)
            if self.fits(self.program["assumptions"][number], node, key, reason)
        ]

    def fits(self, assumption: Assumption, node: Instruction, key: Key, reason: Reason) -> bool:
        """Whether an assumption about this line excludes a reason: it is about the path, too."""
        code = assumption["code"]
        names = [
            quoted(key),
            *(written(value) for value in (*node.get("args", {}).values(), node.get("glob", []))),
        ]
        is_about_path = (
            any(name in assumption["text"] for name in (names[:1] if literal(key) else names))
            or " more" in assumption["text"]
        )
        if not is_about_path:
            return False
        if (
            code == SAID.get(reason[0])
            or code == "FDC703"
            and reason == CHANCE
            and not literal(key)
        ):
            return True
        return code == "FDC704" and self.fresh(key, reason)

    def fresh(self, key: Key, reason: Reason) -> bool:
        """Whether a path is in the folder of the run, and only steps put files there: no command does."""
        tools = self.program["tools"].values()
        only_steps = not any(
            row.get("writes") == "unknown" or row.get("access", {}).get("write") for row in tools
        )
        return (
            reason == UNKNOWN and isinstance(key[0], str) and key[0].startswith(RUN) and only_steps
        )
