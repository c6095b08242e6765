"""The forms of programs and of certificates, for the reader and for mypy; nothing of it is needed at run time.

A program is described in `program/model.py`, a certificate in docs/certificates.md. The checker takes any JSON for them: it walks
it as if it had these forms, and what has not is refused where the walk meets it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NotRequired, Required, TypedDict

from .rows import Predicate, Tool

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

# ---- programs ------------------------------------------------------------------------------------------

Branch = Literal["then", "else"]
Block = Literal["then", "else", "body"]
Kind = Literal["texts", "there"]
"""What is tracked of files: their texts, and which of them exist."""
Outcome = Literal["result", "fails", "stops"]
"""What a plan gives to its caller, besides files."""


class Ref(TypedDict):
    """A reference of a template; `quote` and `code` in commands."""

    ref: list[str]
    quote: NotRequired[str]
    code: NotRequired[bool]


Template = list[str | Ref]


class Value(TypedDict, total=False):
    """An operand of a condition: it has one of `ref`, `const`, `len` and `call` (with `args`)."""

    ref: list[str]
    const: Json
    len: Value
    call: str
    args: list[Value]


Condition = TypedDict(
    "Condition",
    {
        "not": "Condition", "and": "list[Condition]", "or": "list[Condition]", "value": Value,
        "test": str, "left": Value, "right": Value,
    },
    total=False,
)  # fmt: skip

_Keywords = TypedDict("_Keywords", {"in": Template, "else": "list[Instruction]"}, total=False)


class Instruction(_Keywords, total=False):
    """Any instruction: which of the fields it has depends on `op`."""

    op: Required[str]
    line: Required[int]
    tool: str
    action: str | None
    bind: str | None
    args: dict[str, Template]
    evidence: str
    outside: str
    plan: str
    name: str | None
    glob: Template
    alias: str | None
    max: int | None
    keep: str
    until: Condition | None
    cond: Condition
    then: list[Instruction]
    body: list[Instruction]
    why: str
    value: Template


Body = list[Instruction]


class Param(TypedDict):
    """A parameter of a plan."""

    name: str
    default: NotRequired[str | None]


class Plan(TypedDict):
    """A plan of a program."""

    path: str
    name: str
    automaton: str | None
    params: NotRequired[list[Param]]
    allow: NotRequired[dict[str, list[str]]]
    budget: NotRequired[dict[str, float]]
    body: Body


class Automaton(TypedDict):
    """An automaton of a program."""

    start: str
    accept: list[str]
    transitions: dict[str, dict[str, str]]
    states: NotRequired[list[str]]


class Assumption(TypedDict):
    """What the proof of a program rests on, with the lines that stop a run where it is false."""

    rule: NotRequired[str]
    code: str
    text: str
    help: NotRequired[str | None]
    path: NotRequired[str]
    line: NotRequired[int]
    uses: list[list[str | int]]


class Event(TypedDict, total=False):
    """What the letter of a rule is: all of these are so."""

    name: str
    tool: str
    action: str
    arguments: dict[str, str]


class RuleRow(TypedDict):
    """A rule of a protocol."""

    rule: str
    protocol: NotRequired[str]
    description: NotRequired[str]
    states: NotRequired[list[str]]
    events: list[list[Event]]
    same: str | None
    accept: list[int]
    table: list[list[int]]
    automata: NotRequired[list[str]]


class Program(TypedDict):
    """A program."""

    format: NotRequired[int]
    root: str
    plans: dict[str, Plan]
    automata: dict[str, Automaton]
    tools: dict[str, Tool]
    predicates: NotRequired[dict[str, Predicate]]
    assumptions: NotRequired[list[Assumption]]
    sources: NotRequired[dict[str, str]]
    modules: NotRequired[dict[str, str]]
    stored: NotRequired[list[str]]
    chosen: NotRequired[list[str]]
    rules: NotRequired[list[RuleRow]]
    untrusted: NotRequired[list[str]]
    budget: NotRequired[dict[str, float]]
    allow: NotRequired[dict[str, list[str]]]


# ---- certificates: part `control` ----------------------------------------------------------------------


class BodyClaim(TypedDict):
    """The states at the end of a body that begins in a state, and where the run may go on after a stop."""

    ends: list[str]
    stops: NotRequired[list[str]]


class LoopClaim(TypedDict, total=False):
    """The states after each round of a loop that begins in a state; of a fork, those that its branches reach in any order."""

    reach: list[str]
    rounds: list[list[str]]
    stops: list[list[str]]


class WordClaims(TypedDict):
    """What is claimed of one machine in one plan, by place and by state."""

    bodies: dict[str, dict[str, BodyClaim]]
    loops: dict[str, dict[str, LoopClaim]]


WordRows = dict[str, WordClaims]


class PlanClaim(TypedDict):
    """The height of a plan over those that it calls, the names bound at its end, the most steps of a run of it."""

    height: int
    names: list[str]
    steps: list[tuple[int, list[str]]]


class Sizes(TypedDict):
    """The claims about plans."""

    one_size: bool
    plans: dict[str, PlanClaim]


class Control(Sizes):
    """The part `control` of a certificate."""

    format: int
    part: str
    program: str
    automata: dict[str, WordRows]
    rules: list[dict[str, WordRows] | None]


# ---- certificates: part `data` -------------------------------------------------------------------------

Facts = list[str]
"""A label, as it is written."""

FileFacts = list[tuple[list[str], Facts]]
"""Labels of files, as they are written."""


class Held(TypedDict):
    """What is claimed to hold whenever a round of a loop begins. Names: label, bare fields and, if it has, own fields, label."""

    names: dict[str, list[list[str]]]
    texts: FileFacts
    there: FileFacts
    choices: Facts


class Gives(TypedDict):
    """What a plan gives to its caller."""

    result: Facts
    fails: Facts
    stops: Facts
    texts: FileFacts
    there: FileFacts


class DataRow(TypedDict):
    """A way in which a plan begins, and what is claimed of it then."""

    plan: str
    kept: bool
    choices: Facts
    params: dict[str, Facts]
    texts: FileFacts
    there: FileFacts
    loops: dict[str, Held]
    calls: dict[str, int]
    gives: Gives


class DataRows(TypedDict):
    """The claims about text from outside."""

    left: FileFacts
    rows: list[DataRow]


class Data(DataRows):
    """The part `data` of a certificate."""

    format: int
    part: str
    program: str


# ---- certificates: part `files` ------------------------------------------------------------------------

Place = tuple[str, int]
"""A plan and a line of it."""

KeyForm = Sequence[str | int | Sequence[str]]
"""A path as it is written, texts and values; of what commands do, the place of the command."""

SideForm = Sequence[Sequence[str | int]]
"""The reasons why a path may be absent, or may exist."""

PathForm = tuple[KeyForm] | tuple[KeyForm, SideForm, SideForm]
"""A path and what is known of it; alone: nothing."""

DidForm = Iterable[tuple[str, KeyForm]]
"""What is done to paths: an access, or `command`, with its path or place."""


class PathGives(TypedDict):
    """The paths that a plan leaves in another state than it began with."""

    ends: list[PathForm]
    stops: NotRequired[list[PathForm]]


class PathLoop(TypedDict):
    """What a loop does to paths, and what is known of them after each round."""

    did: DidForm
    rounds: NotRequired[list[list[PathForm]]]
    stops: NotRequired[list[list[PathForm]]]


class PathRow(TypedDict):
    """A way in which a plan begins, and what is claimed of it then."""

    plan: str
    params: dict[str, KeyForm]
    stopping: bool
    meanwhile: list[Place]
    limits: list[list[str]]
    entry: list[PathForm]
    loops: dict[str, list[PathLoop]]
    calls: dict[str, list[int]]
    did: DidForm
    gives: PathGives


class PathRows(TypedDict):
    """The claims about paths."""

    facts: dict[str, str]
    rows: list[PathRow]
    assumes: Collection[int]
    open: Collection[list[str | int]]


class FilesPart(PathRows):
    """The part `files` of a certificate."""

    format: int
    part: str
    program: str
