"""The results of the API: frozen classes of plain values. `dataclasses.asdict` gives JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
"""A JSON value."""

Severity: TypeAlias = Literal["error", "warning", "info", "assumption", "fragment"]
Verdict: TypeAlias = Literal["proved", "fragment", "error"]
RunStatus: TypeAlias = Literal[
    "new", "running", "finished", "stopped", "waiting", "interrupted", "broken", "cancelled"
]
Cause: TypeAlias = Literal[
    "gate", "person", "budget", "limit", "rule", "world", "assumption", "bug", "unproved", "unknown"
]
StepStatus: TypeAlias = Literal["begun", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a text. Lines and columns count from 1, columns in code points; the end column is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A related place, and what it has to do with the finding. `depth`, of a step of a trace: how deep in calls it is."""

    span: Span
    message: str
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace the text of `span` by `replacement`; an empty span inserts."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A repair. A `safe` one changes no run of the plan."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A finding. `trace` is the shortest run that shows it, `help` says what to do; `rule` is the name of `code`."""

    code: str
    rule: str
    severity: Severity
    message: str
    span: Span
    labels: tuple[Label, ...] = ()
    trace: tuple[Label, ...] = ()
    help: str | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of another plan: its place, the name in it, and the key of that plan (None: it does not exist)."""

    span: Span
    name: str
    target: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found.

    `plan`: the plan's key, which is its path from the workspace (absolute where it lies elsewhere, `fdc:PATH` where it came
    with fdc). `text`: its text with LF line ends, in which spans count (empty: there is none that could be read).
    `diagnostics`: errors, warnings and notes, also in plans that this one reaches. `assumptions`: what the proof
    rests on. `fragments`: why it is a part of others only. `calls`: those in this plan itself.
    """

    plan: str
    text: str
    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    assumptions: tuple[Diagnostic, ...]
    fragments: tuple[Diagnostic, ...]
    calls: tuple[Call, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings for which the plan is refused."""
        return tuple(item for item in self.diagnostics if item.severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a tool. `kind`: word, path, glob, number, rest (of the line) or block; `access`: what its file is for."""

    name: str
    kind: str
    required: bool
    access: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """A tool that plans can use. `action`: the symbol that automata read; `effect`: pure, read, idempotent or once."""

    name: str
    summary: str
    action: str | None
    effect: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What a plan of a workspace can name: tools, registered plans, and packs whose tools it can use.

    `own_plans`: those of `plans` that the workspace registered; the others come with fdc and its packs.
    `words`: the language's first words, with their form.
    """

    tools: tuple[ToolInfo, ...]
    plans: tuple[str, ...]
    own_plans: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedText:
    """A text after fixes, and those that were applied; the others did not fit together with them."""

    text: str
    applied: tuple[Fix, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixResult:
    """A plan's text after all fixes that could be applied, these fixes, and the remaining findings."""

    text: str
    applied: tuple[Fix, ...]
    result: CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a plan compiles to. `json` is canonical JSON in ASCII, `hash` its blake2b-256 in hexadecimal."""

    plan: str
    hash: str
    json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The most that any run uses of a measure: as a formula in numbers of files, and the number with the files of now.

    `number` is None where the files cannot be counted before the run.
    """

    formula: str
    number: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a plan can cost.

    `degree`: the power of the number of files with which the steps grow. `stack`: how deep plans call each other. `writes`: a
    file is or may be changed. `shell`: a command is run, and it is unknown what it touches. `created`: files that the plan
    creates are counted. `notes`: what the numbers assume.
    """

    plan: str
    steps: Bound
    model_calls: Bound
    tokens: Bound
    money: Bound
    degree: int
    stack: int
    writes: bool
    shell: bool
    created: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a rule flags and why: its code, name, severity, one line, and the whole page as Markdown."""

    code: str
    rule: str
    severity: Severity
    summary: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a run, or a branch whose failure was kept, ended before its last instruction, and where.

    `cause`: one of the closed list of causes (docs/verdicts.md), which a message is not.
    """

    kind: str
    message: str
    address: str
    path: str
    line: int
    cause: Cause = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a waiting run to a person.

    `how`: `answer` wants a text (a yes or a no where `approval`), `assume` wants to know whether a step happened. `nested`: it is
    unknown whether a step of a nested run happened. No answer settles that; `text` says how that run is resumed.
    `screen`: what the person has to see first, line by line, with nothing hidden. `given`: an answer that lies ready.
    `seen`: the name of exactly this question; `answer` refuses when it is another one by then.
    """

    address: str
    how: Literal["answer", "assume", "nested"]
    text: str
    tool: str
    path: str
    line: int
    args: dict[str, JSON]
    approval: bool = False
    screen: tuple[str, ...] = ()
    given: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How driving a run ended.

    `status`: `finished`, `stopped` (see `stop`), `waiting` (see `questions`), `broken` (the environment failed, see `message`) or
    `cancelled`. `steps`, `seconds` and `spent` count the whole run; `wrote` and `said` are of this drive.
    `kept`: why branches stopped whose failures their forks kept.
    """

    run: str
    plan: str
    status: RunStatus
    result: JSON = None
    stop: Stop | None = None
    questions: tuple[Question, ...] = ()
    message: str = ""
    steps: int = 0
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    wrote: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    kept: tuple[Stop, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One attempt of a step of a run.

    `value`: what it brought; `failure`: why it failed. `begun` means that its outcome is not known yet.
    """

    address: str
    tool: str
    status: StepStatus
    args: dict[str, JSON]
    path: str
    line: int
    value: JSON = None
    failure: str | None = None
    exit_code: int | None = None
    attempt: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in a list. `started`: seconds since 1970. `steps` counts outcomes; `seconds` is None before a first drive ended."""

    run: str
    plan: str
    status: RunStatus
    started: float
    steps: int
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """A run from its record. `whole`: the record is as it was written; `seal`: whose key sealed it."""

    run: str
    plan: str
    status: RunStatus
    program: str
    inputs: dict[str, str]
    started: float
    steps: tuple[Step, ...]
    questions: tuple[Question, ...]
    stop: Stop | None
    message: str
    result: JSON
    spent: dict[str, float]
    whole: bool
    seal: Literal["ours", "none", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Decisions of the operator, which no plan and no file of a workspace can change.

    `unsandboxed`, `weak_sandbox`: commands may run without a sandbox, or in one that lacks something. `network`: commands and
    web tools may reach the network where the plan allows it; `web`: fdc's own tools may. `private_hosts`: hosts of private
    networks that may be reached. `model`: the model that answers prompts (empty: what is embedded). `approve`: questions that
    are answered with yes in advance.
    """

    unsandboxed: bool = False
    weak_sandbox: bool = False
    network: bool = False
    web: bool = False
    private_hosts: tuple[str, ...] = ()
    model: str = ""
    approve: tuple[Literal["plan"], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A person found out that a step happened, and its result."""

    result: JSON = None
