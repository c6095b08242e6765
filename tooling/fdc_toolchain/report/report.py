"""What a report is made of: findings, where their texts are, and how much was checked. Every format renders one."""

from __future__ import annotations

from collections.abc import Callable

from ..diagnostics.diagnostic import Diagnostic, Parts, parted
from ..diagnostics.verdict_line import verdict_line
from ..named_tuples import NamedTuple
from .terminal.style import PLAIN, Style


class Report(NamedTuple):
    """`sources` gives the text of a path as its spans count in it, or None where there is none.

    `checked`: how many plans were checked; `others`: how many of other tools besides. `uncounted`: how many assumptions there
    are besides those in `found`; `listed`: show each of them, not only their number. `commands`: say which command repairs.
    """

    found: list[Diagnostic]
    sources: Callable[[str], str | None] = lambda path: None
    style: Style = PLAIN
    checked: int = 0
    listed: bool = False
    uncounted: int = 0
    others: int = 0
    commands: bool = True

    @property
    def parts(self) -> Parts:
        """What was found, by its kind."""
        return parted(self.found)

    @property
    def files(self) -> int:
        """How many files were checked."""
        return self.checked + self.others

    def verdict(self, parts: Parts) -> str:
        """The line that says what was proved, of a report with these parts; with findings, without `no findings`."""
        assumed, number = len(parts.assumptions) + self.uncounted, len(parts.fragments)
        line = verdict_line(self.checked, assumed, number, listed=self.listed, others=self.others)
        return line.removesuffix(", no findings") if parts.findings else line
