"""Faults of the tools and predicates that a plan names: unknown, of a pack that it does not use, wrong arguments."""

from __future__ import annotations

from ..diagnostics.diagnostic import Edit, Fix
from ..diagnostics.span import Span
from ..syntax import tree
from ..syntax.keyword_hints import assignment, other_name
from ..text.suggest import did_you_mean
from .catalogue import ANY_NUMBER, Catalogue
from .headers import HeaderReader
from .look_up import LookUp
from .model import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _first_line(plan: tree.Plan) -> int:
    """The line above which a header can be added: that of the first statement, or of the `# fdc:` comments right above it."""
    above: int | None = None
    for node in plan.statements:
        if type(node) is not tree.Comment:
            return above or node.line
        above = (above or node.line) if node.text.startswith("# fdc:") else None
    return 1


class StepFaults(HeaderReader):
    """Reports these faults for the reader of a plan."""

    catalogue: Catalogue

    def __init__(self, linker: LookUp, unit: Unit) -> None:
        super().__init__(linker, unit)
        self.unused: set[str] = set()
        """Packs already reported as not used by the plan."""
        self.of_unused = 0
        """How often something of such a pack was named."""

    def _tool_span(self, node: tree.Step) -> Span:
        start = node.tool_column
        return Span(self.unit.key, node.line, start, node.line, start + len(node.tool))

    def _report_unused_pack(self, kind: str, name: str, span: Span) -> None:
        """Reports a tool or predicate of a pack that the plan does not use: once for each pack, since one line mends it.

        The step is linked all the same, so that other findings are neither hidden nor false.
        """
        self.of_unused += 1
        pack = self.linker.catalogue.packs[(kind, name)]
        if pack in self.unused:
            return
        self.unused.add(pack)
        assert self.unit.plan is not None
        at = Span(self.unit.key, line := _first_line(self.unit.plan), 1, line, 1)
        added = f"use pack {pack}"
        self.report(
            span,
            "FDC331",
            f"`{name}` is of the pack `{pack}`, which this plan does not use",
            f'add the line `{added}` above the first step, or `packs = ["{pack}"]` to `fdc.toml` for every plan',
            fix=Fix(f"add `{added}`", (Edit(at, f"{added}\n"),), safe=True),
        )

    def _report_unknown_tool(self, node: tree.Step) -> None:
        span = self._tool_span(node)
        tools = self.catalogue.tools
        known = assignment(node.tool, node.tail) or other_name(node.tool, node.tail, tools)
        hint = known or self.linker.nearest_tool(node.tool, self.catalogue)
        fix = None
        if hint and not known:
            nearest = hint.split("`")[1]
            if nearest in tools:
                fix = Fix(f"write `{nearest}`", (Edit(span, nearest),), safe=False)
        self.report(
            span,
            "FDC301",
            f"Unknown command `{node.tool}`: no catalogue declares such a tool",
            hint,
            fix=fix,
        )

    def _report_problems(self, node: tree.Step, problems: tuple[Any, ...]) -> None:
        for code, start, end, message, hint in problems:
            if start == -1 and node.block:
                block = node.block
                span = Span(self.unit.key, block.line, 1, block.line, block.column)
            elif start < 0:
                span = self._tool_span(node)
            else:
                span = self.unit.at(node, start, end)
            self.report(span, code, message, hint)

    def _check_predicates(self, node: Any, condition: Any) -> None:
        known = self.linker.catalogue.predicates
        seen = self.catalogue.predicates
        for name, count, start, end in condition.predicates if condition else ():
            span = self.unit.at(node, start, end)
            if name not in known:
                names = ["len", *sorted(seen)]
                hint = did_you_mean(name, names) or f"conditions have {', '.join(names)}"
                self.report(span, "FDC301", f"unknown predicate `{name}`", hint)
                continue
            if name not in seen:
                self._report_unused_pack("predicates", name, span)
            if known[name] not in (count, ANY_NUMBER):
                self.report(
                    span, "FDC303", f"`{name}` takes {known[name]} arguments, found {count}"
                )
