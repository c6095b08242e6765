"""What becomes a file of a run, and what is in it.

Each is held to a schema before it is written: `prompts/worldview.schema.json`, `hypothesis.schema.json` and
`null_challenge.schema.json`. A confidence is a number from 0 to 1. A path is one from the run folder, unless it says else.
"""

from __future__ import annotations

from typing import Literal, TypedDict

Status = Literal[
    "Initial", "CandidateRefinement", "CandidateNullChallenge", "Validated", "Invalidated"
]
"""How far a hypothesis has come."""
Verdict = Literal["Passed", "Undecided", "Failed"]
"""What a challenge came to."""


class LogLine(TypedDict):
    """A line of the run's log. `level` is Info, Warn or Error."""

    level: str
    message: str


class Pipeline(TypedDict):
    """The pipeline that was proved, as it is stored. `program` is the name of its compiled form."""

    filePath: str
    text: str
    program: str


class Meta(TypedDict):
    """What a run is about. `runFolderPath` is one from the workspace; what was not made yet is None."""

    originalQuestion: str
    runFolderPath: str
    finalPlanPath: str | None
    runId: str
    optimizedPipeline: Pipeline | None


class KnowledgeEntry(TypedDict):
    """A find that was kept. `source` says where it stands (`PATH:LINE`, or an address); `filePath` is its own file."""

    entryID: str
    source: str
    filePath: str
    contentType: str
    contentSummary: str
    confidence: float


class KnowledgeBase(TypedDict):
    """Every find that was kept, the first first."""

    entries: list[KnowledgeEntry]


class Area(TypedDict):
    """A side of the question that has a hypothesis of its own."""

    areaID: str
    description: str
    status: str


class HypothesisEntry(TypedDict):
    """What the worldview knows of a hypothesis; what it says stands in `filePath`, the file of its `version`."""

    microHypothesisID: str
    areaOfAnalysisID: str
    version: int
    status: Status
    confidence: float
    filePath: str
    nullChallengeFilePath: str | None
    nullChallengeOutcome: Literal["NotAttempted"] | Verdict
    derivedFromMicroHypothesisID: str | None


class Conflict(TypedDict):
    """Hypotheses that cannot all be right. `status` is Detected, or Resolved where it was found no longer."""

    conflictID: str
    involvedHypotheses: list[str]
    description: str
    status: str


Dependency = TypedDict("Dependency", {"from": str, "to": str, "why": str})
"""The hypothesis `from` needs the hypothesis `to`."""


class Synthesis(TypedDict):
    """What the validated hypotheses come to together."""

    synthesizedNarrative: str
    implementationPrerequisites: list[str]
    keyDependencies: list[Dependency]


class SynthesisOutput(Synthesis):
    """A synthesis as the worldview keeps it, with the file of its narrative."""

    filePath: str


class Worldview(TypedDict):
    """The state of a run, `worldview.json`. `schemaVersion` is `worldview.VERSION`."""

    schemaVersion: int
    meta: Meta
    knowledgeBase: KnowledgeBase
    areasOfAnalysis: list[Area]
    microHypotheses: list[HypothesisEntry]
    hypothesisConflicts: list[Conflict]
    synthesisOutput: SynthesisOutput | None
    log: list[LogLine]


class Assumption(TypedDict):
    """What a hypothesis takes for granted. `evidence` are files of knowledge."""

    id: str
    statement: str
    evidence: list[str]


class Revision(TypedDict):
    """What a version of a hypothesis changed. `newEvidence` are ids of entries."""

    version: int
    change: str
    confidence: float
    newEvidence: list[str]


class Hypothesis(TypedDict):
    """A version of a hypothesis, as its file has it."""

    microHypothesisID: str
    areaOfAnalysisID: str
    statement: str
    confidence: float
    gapCharacterization: str
    rationale: str
    refinementHistory: list[Revision]
    keyAssumptions: list[Assumption]
    validationCriteria: list[str]
    critiquePoints: list[str]
    questions: list[str]
    alternativeApproaches: list[str]


class Target(TypedDict):
    """A sentence of a hypothesis that a challenge tries to disprove."""

    targetID: str
    targetDescription: str


class Targets(TypedDict):
    """The targets of a challenge; the first is the statement of the hypothesis."""

    targets: list[Target]


class Attempt(Target):
    """What came of a target. `falsificationEvidenceFound` are the files of knowledge that decided it."""

    falsificationQueries: list[str]
    falsificationEvidenceFound: list[str]
    falsificationAnalysis: str
    outcome: Verdict


class Challenge(TypedDict):
    """The challenge of a hypothesis, as its file has it."""

    challengeID: str
    microHypothesisID: str
    hypothesisFilePath: str
    falsificationAttempts: list[Attempt]
    overallOutcome: Verdict
