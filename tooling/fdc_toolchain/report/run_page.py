"""A run as one self-contained page, without scripts, other files or network access.

`Run` has all data of the page as plain values; `runs.records.run_view` makes it from the journal, and
`render` lays it out. Every text in it may come from a plan, a tool or a model: the template escapes all of it, hidden
characters are escaped too (`shown`), links lead into the page, to files of the workspace or to http(s) only, and a
content security policy blocks loading and scripts. Equal runs make equal pages, byte for byte.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..named_tuples import NamedTuple
from .terminal.terminal_text import cells

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")

FAILED_COMMAND = "failed command"
"""The state of a step whose command ended with another exit code than 0 while the run went on."""

MOST_STEPS = 5_000
"""Maximum steps on a page; of a longer run half are its first steps and half its last."""

MOST_TEXT = 4_000
"""Maximum characters of one value."""

MOST_TEXTS = 6_000_000
"""Maximum characters of all values together; later values show only their beginning."""

MOST_BARS = 2_000
"""Maximum steps in the timeline: the longest ones."""

_PLAIN = re.compile(
    "[\n -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u2010-\u2015\u2018-\u2022\u2026\u20ac"
    "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]*"
)
"""Matches texts without hidden characters, as a fast path; others are checked character by character."""

_GROUP = 100
_LANES = 24
_TAB = 4


class Value(NamedTuple):
    """A named text; `left` is how many characters of it are not shown."""

    name: str
    text: str
    left: int = 0


class Step(NamedTuple):
    """An effect of the run. `state`: ok, failed, failed command (its exit code is not 0, and the run went on), begun (no
    outcome is known) or waiting (for a person). `exit_code` is that of a command.

    `began` and `took` are seconds of the time for which the run was driven; `notes` is what the journal remarks.
    """

    number: int
    address: str
    tool: str
    effect: str
    path: str
    line: int
    state: str
    began: float
    took: float
    said: str = ""
    inputs: tuple[Value, ...] = ()
    output: Value | None = None
    failure: str = ""
    evidence: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    exit_code: int | None = None


class Line(NamedTuple):
    """A line of a plan's text: the number of its steps by state, and the step to link to."""

    number: int
    text: str
    states: tuple[tuple[str, int], ...] = ()
    step: int = 0


class Plan(NamedTuple):
    """A plan's text. `remark`: how it differs from the text that was proved."""

    path: str
    lines: tuple[Line, ...]
    remark: str = ""


class Budget(NamedTuple):
    """What was spent of a measure; `most` is None where nothing limits it."""

    measure: str
    spent: float
    most: float | None


class Run(NamedTuple):
    """All data of the page. Texts are not escaped; `render` does that."""

    name: str
    plan: str
    status: str
    program: str
    started: str
    seconds: float
    given: tuple[Value, ...]
    origin: str
    records: int
    seal: str
    faults: tuple[str, ...]
    tiers: tuple[tuple[str, int], ...]
    budget: tuple[Budget, ...]
    plans: tuple[Plan, ...]
    steps: tuple[Step, ...]
    left: int
    events: tuple[tuple[float, str], ...]
    stack: tuple[tuple[str, ...], ...]
    questions: tuple[tuple[str, str], ...]
    message: str
    result: Value | None
    simulated: bool = False
    assumptions: tuple[tuple[str, int, str], ...] = ()
    """The assumptions of the proof: path, line, sentence."""


def shown(text: str) -> str:
    """A text of several lines with every hidden character written out; tabs become spaces."""
    if _PLAIN.fullmatch(text):
        return text
    return "\n".join(
        "".join(part for part, _ in cells(line, tab=_TAB)) for line in text.split("\n")
    )


def environment(*folders: str) -> Environment:
    """The Jinja2 environment of the page; templates in `folders` come first. Everything is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from .amounts import duration, number

    jinja = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]), undefined=StrictUndefined, autoescape=True,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, finalize=_show_text,
    )  # fmt: skip
    jinja.filters.update(
        shown=shown, duration=duration, number=number, brief=first, percent=percent
    )
    return jinja


def _show_text(value: Any) -> Any:
    """Escapes hidden characters in every text of the page, also where a template does not do it."""
    return shown(value) if type(value) is str else value


def render(run: Run, base: str | None = None) -> str:
    """The page. `base` is where the workspace is as seen from the page (a relative URL); None links no files."""
    text: str = environment().get_template("run_page.html.j2").render(**parts(run, base), **shell())
    return text


def shell() -> dict[str, object]:
    """The style of a page, and its hash for a content security policy that allows only this style."""
    with open(os.path.join(TEMPLATES, "run_page.css"), encoding="utf-8") as file:
        style = "\n" + file.read()
    return {"style": style, "style_hash": source_hash(style)}


def source_hash(text: str) -> str:
    """The hash by which a content security policy allows exactly this text."""
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def parts(run: Run, base: str | None) -> dict[str, object]:
    """The template's variables for a run."""
    counted: dict[str, int] = {}
    for step in run.steps:
        counted[step.state] = counted.get(step.state, 0) + 1
    return {
        "run": run, "groups": _groups(run.steps), "bars": bars(run.steps, run.seconds), "counted": counted,
        "most_bars": MOST_BARS, "link": lambda citation: link(citation, base),
    }  # fmt: skip


def link(citation: str, base: str | None) -> str | None:
    """The target of a citation: an http(s) address, or a file of the workspace; None if it is neither."""
    from urllib.parse import quote, urlsplit

    if citation.startswith(("https://", "http://")):
        try:
            return (
                citation
                if urlsplit(citation).hostname and citation.isascii() and citation.isprintable()
                else None
            )
        except ValueError:
            return None
    path = citation.split("#")[0].split(":")[0]
    pieces = path.split("/")
    if (
        base is None
        or not path
        or path.startswith("/")
        or ".." in pieces
        or "\\" in path
        or " " in citation
    ):
        return None
    if not path.isprintable():
        return None
    return f"{base}/{quote(path)}"


def first(text: str, most: int = 90) -> str:
    """The beginning of a text in one line."""
    line = text.strip().split("\n", 1)[0]
    return shown(line if len(line) <= most else line[: most - 1] + "…").replace("\n", " ")


def percent(part: float, whole: float | None) -> float:
    """The percentage of `part` in `whole`, from 0 to 100."""
    return 0.0 if not whole else round(max(0.0, min(100.0, 100.0 * part / whole)), 2)


class Bar(NamedTuple):
    """A step in the timeline: start and width in thousandths of the whole time, and its lane."""

    step: Step
    x: float
    width: float
    lane: int


def bars(steps: Sequence[Step], seconds: float) -> list[Bar]:
    """The longest steps, in lanes, so that steps that ran at the same time are below each other."""
    total = max([seconds, *(step.began + step.took for step in steps)], default=0.0) or 1.0
    chosen = sorted(steps, key=lambda step: (-step.took, step.number))[:MOST_BARS]
    ends: list[float] = []
    out = []
    for step in sorted(chosen, key=lambda step: (step.began, step.number)):
        x, width = 1000 * step.began / total, max(1000 * step.took / total, 1.5)
        lane = next((number for number, end in enumerate(ends) if end <= x + 0.01), len(ends))
        if lane == len(ends) and lane < _LANES:
            ends.append(0.0)
        lane = min(lane, _LANES - 1)
        ends[lane] = x + 1000 * step.took / total
        out.append(Bar(step, round(min(x, 998.5), 2), round(width, 2), lane))
    return out


def _groups(steps: Sequence[Step]) -> list[dict[str, Any]]:
    groups = []
    for start in range(0, len(steps), _GROUP):
        group = steps[start : start + _GROUP]
        bad = sum(1 for step in group if step.state != "ok")
        groups.append(
            {"steps": group, "bad": bad, "open": len(steps) <= _GROUP or bool(bad) and start == 0}
        )
    return groups
