"""From a plan's text to a program that was proved, or to the linter's findings. Nothing of the plan is performed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...check import check, key_of, program_of
from ...diagnostics.diagnostic import Diagnostic
from ...linking.catalogue import Tool
from ...linking.link import Linker
from ...linking.project.settings import SettingsError, read_settings
from ...named_tuples import NamedTuple
from ...program.model import Program
from ...program.polynomial import Polynomial
from ...rules.bounds import Bounds

UNBOUNDED = 1e18
"""Represents a worst case that is unknown before the run."""


class Proof(NamedTuple):
    """The linter's result for a text: its program, or None with the `errors`. `others` are not errors.

    `cost`: what a run takes at most, by measure.
    """

    program: Program | None
    errors: tuple[Diagnostic, ...]
    others: tuple[Diagnostic, ...] = ()
    sources: Callable[[str], str | None] = lambda path: None
    cost: Mapping[str, float] = {}
    fault: str = ""

    @property
    def findings(self) -> list[str]:
        """The errors, one sentence each."""
        return [self.fault] if self.fault else [
            f"line {item.span.line}: [{item.rule}] {item.message}"
            + (f" ({item.help})" if item.help else "")
            for item in self.errors
        ]  # fmt: skip


def proved(root: str, path: str, text: str, more: Mapping[str, Tool] = {}) -> Proof:
    """Lints a text as a plan of its own, as if it lay at `path`; what it calls is read from the workspace.

    Comments in the text silence nothing: its author does not judge it. Wrong settings of the workspace are a `fault`.
    `more`: tools that it may use beside those of the workspace's catalogues.
    """
    try:
        linker = Linker(root, read_settings(root))
    except SettingsError as wrong:
        return Proof(None, (), fault=str(wrong))
    tools = {**linker.catalogue.tools, **more}
    linker.catalogue = linker.catalogue._replace(tools=tools)
    key = key_of(path, root) if path.startswith("/") else path
    texts = {key: text.encode("utf-8", "surrogateescape")}
    try:
        checked = check(linker, [key], texts, whole=True, own_comments=False)
    except UnicodeEncodeError:
        return Proof(None, (), fault="the plan contains a lone surrogate")
    errors = tuple(item for item in checked.diagnostics if item.severity == "error")
    others = tuple(item for item in checked.diagnostics if item.severity != "error")
    if errors:
        return Proof(None, errors, others, checked.sources)
    worst = Bounds().plan(checked.context.graph.instance(key))
    cost = {one: _number(getattr(worst, one)) for one in ("steps", "model_calls", "tokens")}
    return Proof(program_of(checked), (), others, checked.sources, cost)


def _number(poly: Polynomial) -> float:
    return float(sum(poly.values())) if all(not sizes for sizes in poly) else UNBOUNDED
