"""What the steps of a run hand to each other, beside artifacts and finds. A path is one from the run folder."""

from __future__ import annotations

from typing import NotRequired, TypedDict, final

from .artifacts import (
    Area,
    Hypothesis,
    HypothesisEntry,
    KnowledgeEntry,
    LogLine,
    Synthesis,
    Verdict,
)
from .found import WrittenEntry


class Config(TypedDict):
    """The numbers of a run. `gate` is all or subset."""

    max_iterations: int
    confidence: float
    conflicts: int
    gate: str
    areas: int


class Round(TypedDict):
    """The counter of the refinement. `versions` are pairs of a hypothesis and its version; what else is there is told after the
    first round only."""

    count: int
    stop: bool
    why: str
    most: int
    versions: list[list[str | int]]
    confidence: NotRequired[float]
    converged: NotRequired[bool]
    confident: NotRequired[bool]
    agreed: NotRequired[bool]


class Entries(TypedDict):
    """The hypotheses that a phase works on."""

    hypotheses: list[HypothesisEntry]
    count: int


Candidate = TypedDict("Candidate", {"id": str, "from": str, "version": int, "path": str})
"""A hypothesis that goes on to its challenge: the file it has, and the version and the file that it gets."""


class Candidates(TypedDict):
    """Every hypothesis that goes on to its challenge."""

    rows: list[Candidate]
    count: int


@final
class Drafted(TypedDict):
    """A model's draft, checked: `hypothesis` and `text` where it is `ok`, else `why`. `same`: it brings nothing new."""

    ok: bool
    why: str
    id: str
    area: str
    version: int
    path: str
    text: str
    hypothesis: Hypothesis | None
    same: bool


@final
class LostDraft(TypedDict):
    """A branch of the fork over areas that stopped. `failed` is the kind of the failure."""

    failed: str
    why: str
    item: Area


@final
class Lost(TypedDict):
    """A branch of a fork over hypotheses that stopped. `path` is the plan in which it did."""

    failed: str
    why: str
    item: HypothesisEntry
    path: NotRequired[str]


@final
class Refinement(TypedDict):
    """What refining a hypothesis brought. `outcome` is SuccessfulRefinement, Unchanged or FailedRefinement."""

    id: str
    version: int
    path: str
    hypothesis: Hypothesis | None
    knowledge: list[WrittenEntry]
    lines: list[LogLine]
    outcome: str
    newKnowledgeEntries: list[KnowledgeEntry]


@final
class ChallengeRecord(TypedDict):
    """What challenging a hypothesis brought. `text` is that of its file; `against` is what speaks against it, or empty."""

    id: str
    path: str
    outcome: Verdict
    text: str
    knowledge: list[WrittenEntry]
    lines: list[LogLine]
    against: str


class Refinements(TypedDict):
    """The branches of a round of refinement."""

    results: list[Refinement | Lost]
    count: int


class Challenges(TypedDict):
    """The branches of the challenge. `tuples` are pairs of a hypothesis and its outcome; `all`: each of them passed."""

    results: list[ChallengeRecord | Lost]
    count: int
    tuples: list[list[str]]
    all: bool


class Challenged(TypedDict):
    """A challenge as the document tells it. `weaknesses`: what no one could decide."""

    id: str
    outcome: Verdict
    weaknesses: list[str]


class Kept(TypedDict):
    """A synthesis, checked: `output` where it is `ok`, else `why`. `refused` is what its author is told of the last try."""

    ok: bool
    why: str
    output: Synthesis | None
    refused: str


class Judged(TypedDict):
    """The linter's verdict on a pipeline. `program` is the name of its compiled form, `cost` is its worst case by measure."""

    proved: bool
    text: str
    findings: list[str]
    program: str
    cost: dict[str, float]


class Tried(Judged):
    """The same with the number of drafts so far."""

    tries: int


class Taken(Tried):
    """The pipeline that is run. `optimised`: it is not the one that was drafted."""

    path: str
    optimised: bool


class Component(TypedDict):
    """A step of the implementation. `place` is `PATH:LINE`, `touches` are sentences, `hypotheses` are ids."""

    title: str
    rationale: str
    language: str
    code: str
    place: str
    hypotheses: list[str]
    touches: list[str]


class Components(TypedDict):
    """The steps in their order. `lost` says why others are none."""

    components: list[Component]
    count: int
    lost: list[str]


class ComponentsJudged(Components):
    """The same, and whether there is one at least."""

    ok: bool
    why: str


class DiagramSpec(TypedDict):
    """A diagram that is wanted."""

    name: str
    prompt: str


@final
class Drawing(TypedDict):
    """A diagram. `text` is ASCII."""

    name: str
    text: str


@final
class LostDrawing(TypedDict):
    """A diagram that was not drawn."""

    failed: str
    why: str
    item: DiagramSpec


class Changes(TypedDict):
    """The plan that carries a document out. `changes` is their number; `left` says what it leaves out; `files` where `ok`."""

    ok: bool
    text: str
    path: str
    changes: int
    left: list[str]
    files: NotRequired[list[str]]


class Document(TypedDict):
    """The final plan. `components` is the number of its steps."""

    path: str
    text: str
    components: int


class Sections(TypedDict):
    """What a document lacks, and the links that must be opened."""

    flaws: list[str]
    links: list[str]


class Outcome(TypedDict):
    """How a run ended. `ended` is planned, collected, or the phase that stopped it; the rest but texts are counts."""

    ended: str
    why: str
    question: str
    run: str
    plan: str | None
    markdown: str
    knowledge: int
    areas: int
    hypotheses: int
    validated: int
    invalidated: int
    conflicts: int
