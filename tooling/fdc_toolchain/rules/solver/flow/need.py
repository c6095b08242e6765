"""What is said where text chooses what it may not choose."""

from __future__ import annotations

from ....diagnostics.diagnostic import Diagnostic, Label
from ....diagnostics.span import Span
from ....linking.model import Unit
from ....named_tuples import NamedTuple
from ....syntax import tree
from ....syntax.values import Ref
from .labels import Earlier, Origin

_FROM = {
    "workspace": "text of the workspace",
    "model": "a model's text",
    "untrusted": "text from outside",
}
_HELP = "let a person decide (`request_user_input`), or use a tool that `clears` text for this in its catalogue"
_HIDE = "write it below `{run}/outside/`, which commands cannot see, or let a person check it first (`request_user_input`)"
_CHOSEN = {
    "command": "the command that `{}` runs",
    "argument": "an argument of the command that `{}` runs",
    "path": "the path that `{}` uses",
    "url": "the address that `{}` reads",
    "message": "the words that `{}` sends",
    "change": "what `{}` changes",
    "anything": "what `{}` does (its declaration does not say what this text chooses)",
    "choice": "whether `{}` runs",
    "plan": "the plan that `{}` runs",
    "code": "files that `{}` can see, and may execute",
}
_CODES = {"choice": "FDC472", "code": "FDC474"}


class Need(NamedTuple):
    """A step where something chooses something."""

    unit: Unit
    step: tree.Statement
    tool: str
    sink: str

    @property
    def what(self) -> str:
        """What is chosen there, in words."""
        return _CHOSEN[self.sink].format(self.tool)


def finding(
    source: str,
    origin: Origin | Earlier,
    need: Need,
    deep: Need | None,
    way: tree.Statement | None,
) -> Diagnostic:
    """Text of the level `source` from `origin` chooses what it may not. `deep`: where that is, in the plan called here;
    `way`: the statement that put the text where commands see it."""
    span = need.unit.span(need.step)
    chosen = f"{deep.what}, in the plan called here" if deep is not None else need.what
    verb, help_ = ("is in", _HIDE) if need.sink == "code" else ("chooses", _HELP)
    message = f"{_FROM[source]} (`{origin.tool}`) {verb} {chosen}"
    marks = []
    if isinstance(origin, Earlier):
        message = f"{_FROM[source]} ({origin.tool}, which {origin.said}) {verb} {chosen}"
        help_ = f"check the file and approve it (`fdc trust --file {origin.tool.removeprefix('the file ')}`), or move it away"
    elif origin.span != span:
        marks.append(Label(origin.span, "it comes from here"))
    if way is not None and (at := need.unit.span(way)) not in (span, *(one.span for one in marks)):
        marks.append(Label(at, "from here on it may be in a file that commands see"))
    if deep is not None:
        marks.append(Label(deep.unit.span(deep.step), f"there it chooses {deep.what}"))
    return Diagnostic(span, _CODES.get(need.sink, "FDC471"), message, tuple(marks), help=help_)


def not_one_word(at: Span, ref: Ref, why: str) -> Diagnostic:
    """FDC473: data of a command that may become more than one word of it."""
    name = ".".join(ref.path)
    message = f"`{{{name}}}` cannot be quoted as one word of the command: {why}"
    help_ = f"put it into a variable for that command: `x={{{name}}} sh -c 'echo \"$x\"'`"
    return Diagnostic(at, "FDC473", message, help=help_)
