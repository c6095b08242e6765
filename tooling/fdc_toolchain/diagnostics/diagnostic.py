"""One finding, as a value.

Every stage returns diagnostics; no stage prints, raises or exits because of the user's text. A
diagnostic is built of tuples (its labels may be made later, when they are read), so that it can be sorted,
compared and hashed; `plain` makes what the verdict cache stores with `marshal`.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..named_tuples import NamedTuple
from .codes import CODES
from .span import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Severity = Literal["error", "warning", "info", "assumption", "fragment"]

    # what `marshal` writes
    Place = tuple[str, int, int, int, int]
    Texts = tuple[tuple[Place, str], ...]
    PlainFix = tuple[str, Texts, bool]
    Plain = tuple[Place, str, str, Texts, Texts, str | None, PlainFix | None, Severity | None]


class Label(NamedTuple):
    """A related place and what it has to do with the finding."""

    span: Span
    message: str


class LaterLabels(Sequence[Label]):
    """Labels that are made when they are read: a long plan has very many, which are seldom shown."""

    __slots__ = ("_make", "_made")

    def __init__(self, make: Callable[[], tuple[Label, ...]]) -> None:
        self._make: Callable[[], tuple[Label, ...]] | None = make
        self._made: tuple[Label, ...] = ()

    def _labels(self) -> tuple[Label, ...]:
        if self._make is not None:
            self._made = self._make()
            self._make = None  # and what it holds
        return self._made

    def __getitem__(self, at: Any) -> Any:
        return self._labels()[at]

    def __len__(self) -> int:
        return len(self._labels())

    def __iter__(self) -> Iterator[Label]:
        return iter(self._labels())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | LaterLabels) and self._labels() == tuple(other)

    def __lt__(self, other: Sequence[Label]) -> bool:
        return self._labels() < tuple(other)

    def __gt__(self, other: Sequence[Label]) -> bool:
        return self._labels() > tuple(other)

    def __hash__(self) -> int:
        return hash(self._labels())

    def __repr__(self) -> str:
        return repr(self._labels())


class Edit(NamedTuple):
    """Replace the text of `span` by `replacement` (an empty span inserts)."""

    span: Span
    replacement: str


class Fix(NamedTuple):
    """A repair. A `safe` one changes no run of the plan and is applied by `--fix`."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


class Diagnostic(NamedTuple):
    """A finding about the user's text.

    `message` stands alone in one line. `labels` point at other places, `trace` is the shortest
    run that shows the fault, step by step, `help` says what to do.
    """

    span: Span
    code: str
    message: str
    labels: Sequence[Label] = ()
    trace: tuple[Label, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    grade: Severity | None = None
    """The severity, where the author of the rule chose one; None: that of the code."""

    @property
    def rule(self) -> str:
        """The rule's name, the same in docs, suppressions and output."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """`error` fails the lint; `warning` fails it with `--strict`; `info` never does.

        `assumption` is not a finding: the proof holds in every world where its sentence is true. `message`
        is that sentence, `help` the change of the plan that makes it unnecessary. `fragment` says that a plan
        was not proved as a whole run, and how it can be called.
        """
        return self.grade or CODES[self.code].severity


def plain(diagnostic: Diagnostic) -> Plain:
    """The diagnostic as nested plain tuples, which `marshal` can write."""
    return (
        (*diagnostic.span,),
        diagnostic.code,
        diagnostic.message,
        tuple(((*label.span,), label.message) for label in diagnostic.labels),
        tuple(((*label.span,), label.message) for label in diagnostic.trace),
        diagnostic.help,
        None if diagnostic.fix is None else _plain_fix(diagnostic.fix),
        diagnostic.grade,
    )


def _plain_fix(fix: Fix) -> PlainFix:
    return fix.title, tuple(((*edit.span,), edit.replacement) for edit in fix.edits), fix.safe


def from_plain(value: Plain) -> Diagnostic:
    """The inverse of `plain`."""
    span, code, message, labels, trace, help_, fix, grade = value
    return Diagnostic(
        Span(*span),
        code,
        message,
        tuple(Label(Span(*s), m) for s, m in labels),
        tuple(Label(Span(*s), m) for s, m in trace),
        help_,
        fix and Fix(fix[0], tuple(Edit(Span(*s), r) for s, r in fix[1]), fix[2]),
        grade,
    )


class Kept(NamedTuple):
    """A report as the caches keep it, of built-in types. Assumptions are stored elsewhere: mostly only their number is needed.

    `found`: all other items, as `plain` makes them. `packed`: where the assumptions are (`cache.assumption_packs`).
    """

    found: tuple[Plain, ...]
    packed: tuple[str, bytes, bytes]
    number: int


def pack(assumptions: list[Diagnostic]) -> bytes:
    """Assumptions as one byte string."""
    return marshal.dumps(tuple(plain(item) for item in assumptions))


def unpacked(packed: Iterable[bytes]) -> list[Diagnostic]:
    """The assumptions of these byte strings."""
    return [from_plain(item) for data in packed for item in marshal.loads(data)]


class Parts(NamedTuple):
    """A report by the kind of its items: findings, assumptions of the proofs, and plans that are only fragments."""

    findings: list[Diagnostic]
    assumptions: list[Diagnostic]
    fragments: list[Diagnostic]


def parted(diagnostics: list[Diagnostic]) -> Parts:
    """The items of a report, each kind in the order of the report."""
    parts = Parts([], [], [])
    for item in diagnostics:
        severity = item.severity
        kind = (
            parts.assumptions
            if severity == "assumption"
            else parts.fragments
            if severity == "fragment"
            else parts.findings
        )
        kind.append(item)
    return parts


def ordered(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Sorted by place, then code and message, without repetitions: the order of every report."""
    seen: set[tuple[Span, str, str]] = set()
    out = []
    # by all fields, so that of equal findings the same one is kept for any input order
    for item in sorted(diagnostics, key=lambda d: (*d[:5], d.help or "")):
        key = (item.span, item.code, item.message)
        if key not in seen:
            seen.add(key)
            out.append(item)
    return out
