"""What plans of other tools have in common: items with an id, what they depend on, whether they are done, and paths."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple


class Named(NamedTuple):
    """A word of the plan and where it stands: the id of another item, or a path."""

    text: str
    span: Span


class Item(NamedTuple):
    """A task or a step. `title` is what it says; `done` None where the form does not say; `span` is that of its id.

    `cancelled`: nobody is to do it.
    """

    id: str
    title: str
    span: Span
    done: bool | None = None
    depends: tuple[Named, ...] = ()
    paths: tuple[Named, ...] = ()
    cancelled: bool = False


class Found(NamedTuple):
    """What was found in one file.

    `kind` names its form. `facts` are sentences for `fdc analyze`. `items` are its tasks or steps, in order. `plans`: how
    many plans of our own are in it, which were judged as such.
    """

    kind: str
    findings: list[Diagnostic]
    facts: list[str]
    items: list[Item]
    plans: int = 0


class Unreadable(Exception):
    """A file cannot be read in its form."""

    def __init__(self, span: Span, reason: str, help_: str | None = None) -> None:
        super().__init__(reason)
        self.finding = Diagnostic(span, "FDC801", reason, help=help_)
