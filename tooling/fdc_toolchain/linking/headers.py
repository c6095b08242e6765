"""The header lines of a plan: its automaton, inputs, budget, and what it may touch."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..diagnostics.diagnostic import Diagnostic, Fix, Label
from ..diagnostics.span import Span
from ..syntax import tree, values
from ..syntax.language import complete
from ..syntax.values import Malformed
from ..text.suggest import did_you_mean
from .look_up import LookUp
from .model import Param, Unit
from .project.files import SHIPPED

MEASURES = ("steps", "model_calls", "tokens", "money", "seconds")
_ALLOW = ("read", "write", "run", "net")
_DIRECTIVE = re.compile(r"#\s*FSM:\s*(.*\S)\s*")


class HeaderReader:
    """Reads the headers of one plan into its unit, and reports what is wrong with them."""

    def __init__(self, linker: LookUp, unit: Unit) -> None:
        self.linker = linker
        self.unit = unit

    def report(
        self,
        span: Span,
        code: str,
        message: str,
        help: str | None = None,
        labels: tuple[Label, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        found = Diagnostic(span, code, message, labels, help=help, fix=fix)
        self.unit.diagnostics.append(found)

    def malformed(self, node: tree.Statement, wrong: Malformed) -> None:
        self.report(self.unit.at(node, wrong.start, wrong.end), "FDC109", wrong.message, wrong.help)

    def read_headers(self, plan: tree.Plan) -> None:
        first = True
        for node in plan.statements:
            if type(node) is tree.Comment:
                match = _DIRECTIVE.fullmatch(node.text)
                if match:
                    if not first:
                        message = "`# FSM:` below the first line; it is read only there"
                        self.report(
                            self.unit.span(node),
                            "FDC112",
                            message,
                            "move it to the first line, or write `use fsm PATH`",
                        )
                    start = node.column + match.start(1)
                    span = Span(self.unit.key, node.line, start, node.line, start + len(match[1]))
                    self._automaton(match[1], span)
            elif type(node) is tree.Header:
                _HEADERS[node.keyword](self, node)
            first = False

    def _automaton(self, reference: str, span: Span, *, part: bool = False) -> None:
        """The automaton that governs the plan or, with `part`, the plans that call it."""
        before = self.unit.stated or self.unit.part
        if before is not None:
            self.report(
                span,
                "FDC111",
                "the automaton is named twice",
                labels=(Label(before, "first named here"),),
            )
            return
        if part:
            self.unit.part = span
        else:
            self.unit.stated = span
        key, automaton, findings = self.linker.automaton(reference)
        if key is None:
            message = f"the automaton `{reference}` does not exist"
            self.report(
                span,
                "FDC201",
                message,
                "expected a path in the workspace, or a name for `tooling/NAME_fsm.json`",
            )
            return
        self.unit.reads = (*self.unit.reads, key)
        if automaton is None:
            labels = tuple(Label(item.span, item.message) for item in findings[:3])
            self.report(span, "FDC202", f"the automaton `{reference}` is malformed", labels=labels)
            return
        stands_in = (
            key.startswith(SHIPPED)
            and not self.unit.key.startswith(SHIPPED)
            and reference.endswith(".json")
        )
        if (
            stands_in and reference != self.linker.settings.fsm
        ):  # which governs plans that name none, too
            message = f"the automaton `{reference}` is the one that comes with fdc; the workspace has no file of that path"
            self.report(
                span, "FDC711", message, f"put the automaton that you mean at `{reference}`"
            )
        if part:
            self.unit.continues = automaton
        else:
            self.unit.automaton = automaton

    def _use(self, node: tree.Header) -> None:
        tail = values.header_tail("use", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name not in ("fsm", "fragment", "pack"):
            message = (
                f"`use {tail.name}` is unknown; expected `use fsm`, `use fragment` or `use pack`"
            )
            self.report(self.unit.at(node, 0, len(tail.name)), "FDC109", message)
        else:
            value = tail.values[0]
            span = self.unit.at(node, value.start, value.end)
            if value.literal is None:
                kind = "pack" if tail.name == "pack" else "automaton"
                self.report(span, "FDC109", f"the {kind} must be named literally")
            elif tail.name == "pack":
                self._pack(value.literal, span)
            else:
                self._automaton(value.literal, span, part=tail.name == "fragment")

    def _pack(self, name: str, span: Span) -> None:
        before = self.unit.packs.get(name)
        if before is not None:
            labels = (Label(before, "first named here"),)
            self.report(span, "FDC111", f"the pack `{name}` is named twice", labels=labels)
        elif name not in self.linker.packs:
            self.report(span, "FDC332", *self.linker.no_pack(name))
        if before is None:
            self.unit.packs[name] = span

    def _param(self, node: tree.Header) -> None:
        tail = values.param_tail(node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name in self.unit.params:
            earlier = self.unit.params[tail.name].span
            span, labels = self.unit.at(node, 0, len(tail.name)), (Label(earlier, "first here"),)
            self.report(span, "FDC111", f"`{tail.name}` is declared twice", labels=labels)
        else:
            self.unit.params[tail.name] = Param(
                tail.name, tail.default, self.unit.at(node, 0, len(tail.name))
            )

    def _budget(self, node: tree.Header) -> None:
        tail = values.header_tail("budget", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return
        name = {"llm_calls": "model_calls"}.get(tail.name, tail.name)
        span = self.unit.at(node, 0, len(tail.name))
        if name not in MEASURES:
            message = f"`{tail.name}` is not a measure; expected one of {', '.join(MEASURES)}"
            self.report(span, "FDC109", message, did_you_mean(tail.name, MEASURES))
        elif name in self.unit.budget:
            self.report(span, "FDC111", f"the budget of `{name}` is stated twice")
        else:
            self.unit.budget[name] = (float(tail.values[0].text), span)

    def _allow(self, node: tree.Header) -> None:
        tail = values.header_tail("allow", node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
        elif tail.name not in _ALLOW:
            message = f"`{tail.name}` is not a capability; expected one of {', '.join(_ALLOW)}"
            self.report(
                self.unit.at(node, 0, len(tail.name)),
                "FDC109",
                message,
                did_you_mean(tail.name, _ALLOW),
            )
        else:
            for value in tail.values if tail.name == "run" else ():
                if value.text not in ("*", "**"):
                    # fdc does not look into commands, so it cannot allow some of them
                    message = f"`allow run` takes only `*`: it allows every command, not only `{value.text}`"
                    self.report(self.unit.at(node, value.start, value.end), "FDC109", message)
            self.unit.allow.setdefault(tail.name, []).extend(tail.values)


_HEADERS: dict[str, Callable[[HeaderReader, tree.Header], None]] = {
    "use": HeaderReader._use,
    "param": HeaderReader._param,
    "budget": HeaderReader._budget,
    "allow": HeaderReader._allow,
}
complete(_HEADERS, "meaning in linking/headers.py", header=True)
