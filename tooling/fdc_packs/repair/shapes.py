"""The shapes of the values that a repair hands from step to step, for readers and the type checker.

Lines count from 1. A path is one from the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class FirstError(TypedDict):
    """The first error of a run: what it says, where (`line` 0: nowhere), and the lines of output that are about it."""

    message: str
    path: str
    line: int
    block: str


class Failure(FirstError):
    """How a run of the test command ended. `failing` are names of tests; `fingerprint` is None where it passed."""

    failing: list[str]
    fingerprint: str | None


class RegionAt(TypedDict):
    """Where a hypothesis says that the fault is, as `patch.region.parse_region` has read it."""

    path: str
    first: int
    last: int
    kind: str


class Hypothesis(TypedDict):
    """What is claimed to be wrong, and what became of it.

    `confidence` is from 0 to 1, None where none was said. `standing` is sound, weakened or invalid; `status` is one of
    `hypotheses.BUCKETS`. `created` is an iteration. `edit` is a diff, `key` its name, `probe` what was seen of it in memory.
    """

    id: str
    claim: str
    expected_effect: str
    interpretation: str
    explanation: str
    affected_region: RegionAt
    structural_change: dict[str, object] | str | None
    confidence: float | None
    retry_count: int
    falsification_notes: list[str]
    status: str
    standing: str
    created: int
    edit: NotRequired[str]
    key: NotRequired[str]
    change: NotRequired[list[object]]
    intent: NotRequired[str]
    probe: NotRequired[str]


class Hypotheses(TypedDict):
    """The store of a case: its hypotheses, oldest first, and the number of the next one."""

    next: int
    rows: list[Hypothesis]


class Suspect(TypedDict):
    """A line, and how suspect it is: 0 to 1."""

    path: str
    line: int
    score: float


class FileRun(TypedDict):
    """The lines of a file that tests ran: rows of the line, the number of failing and that of passing tests."""

    path: str
    lines: list[list[int]]


class Spectrum(TypedDict):
    """Which lines tests ran, of so many failing and passing ones.

    `frames` are rows of a path and a line at which errors were raised, innermost first. `recent` are the first and last lines of
    what was changed lately, by path.
    """

    failing: int
    passing: int
    files: list[FileRun]
    frames: list[list[str | int]]
    recent: NotRequired[Mapping[str, Sequence[Sequence[int]]]]


class Measurement(TypedDict):
    """A run of the test command under coverage. `why` says why `spectra` is empty; `late` names tests that were stopped, "" for
    what is no test; `slowest` are the seconds of the slowest that passed."""

    exit_code: int
    output: str
    spectra: list[Spectrum]
    why: str
    late: list[str]
    slowest: float


class Ended(TypedDict):
    """How a command ended. `exit_code` is None where it was not found."""

    exit_code: int | None
    stdout: str
    stderr: str


class Measured(Ended):
    """A run of the test command. `checked` says what else was run; `flaky`: it passed once and failed once."""

    passed: bool
    seconds: float
    why: str
    flaky: bool
    checked: str


class Broken(TypedDict):
    """The tests that a patch breaks beyond its command. `said` names what ran and what did not."""

    broken: list[str]
    output: str
    said: str


class Collected(TypedDict):
    """What a diagnosis is made of, as it is in the copy: texts by path, and `files`, all paths that may be changed."""

    sources: dict[str, str]
    spectra: list[Spectrum]
    gathered: list[object]
    why: str
    files: list[str]


class Evidence(TypedDict):
    """The same, weighed: suspect lines, the most suspect first, and the lines that failing tests run, by path."""

    sources: dict[str, str]
    suspects: list[Suspect]
    executed: dict[str, list[int]]
    excerpts: str
    gathered: list[object]
    files: list[str]
    why: str


class Seen(TypedDict):
    """What a falsification is compared with. `executed` is None where coverage is not known."""

    attempts: Sequence[Mapping[str, object]]
    executed: dict[str, list[int]] | None
    output: str


class Wanted(TypedDict):
    """The context that is asked for: rows of category, name and reason."""

    requests: list[dict[str, str]]
    note: str


class Gathered(TypedDict):
    """That context: the rows with their text and paths."""

    parts: list[dict[str, object]]


class Probed(TypedDict, total=False):
    """What was seen of edits that were tried in memory, by their keys; empty before any was.

    `verdicts` are passes, helps, fails, breaks or leaves. `changes` are rows: for how many generated inputs an edit that
    passes gives another result, of how many, a name of all results, whether it crashes, whether it hides where the function
    crashed, how many lines of each edited function no input gets to with, for each argument, 1 if no result depends on it, and
    how many tests run what it changes.
    `earlier`: how many were tried so before these; `kept`: the regions of the patches that are kept already.
    """

    verdicts: dict[str, str]
    changes: dict[str, list[Any]]
    tried: int
    earlier: int
    kept: list[RegionAt]
    why: str
    seconds: float


class Edit(TypedDict):
    """An edit to be tried in memory. `pieces` are rows of first and last character and the text in their place."""

    key: str
    path: str
    pieces: list[list[Any]]
    risky: bool


class Patch(TypedDict):
    """A patch as it was checked; `reason` and `why` where it is not `ok`.

    `before` and `digest` are SHA-256 of the file without and with it, `text` is the file with it, `key` is the answer's name,
    `spans` are first and last lines that it touches. `merges` are texts that `git merge-file` must join first.
    """

    ok: bool
    reason: str
    why: str
    path: str
    diff: str
    before: str
    digest: str
    text: str
    key: str
    spans: list[list[int]]
    merges: list[dict[str, str]]


class Checked(Patch):
    """The same, with the patches of this hypothesis that were refused. `settled`: no other is asked for."""

    refused: list[dict[str, str]]
    settled: bool


class Proposal(TypedDict):
    """A change that is proposed for a hypothesis, and whether it may be written."""

    ok: bool
    why: str
    hypothesis: str
    intent: str
    structural_change: object


class Attempt(TypedDict):
    """What an iteration did, as measured. `progress`: fewer tests fail; `unchanged`: the same error at the same place."""

    hypotheses: list[str]
    region: RegionAt | None
    applied: bool
    passed: bool
    progress: bool
    unchanged: bool
    reason: str
    why: str
    before: Failure
    after: Failure | None
    diff: str
    proposal: Proposal | None
    path: NotRequired[str]
    spans: NotRequired[list[list[int]]]
    digest: NotRequired[str]
    key: NotRequired[str]
    checked: NotRequired[str]


class Effect(TypedDict):
    """What an attempt changed: fingerprint, message, path and line of the first error, before and after."""

    assessment: str
    previous: dict[str, object]
    current: dict[str, object]
    unchanged: bool


class Record(TypedDict):
    """An iteration as later ones know it. `hypothesis` is empty where it had none."""

    iteration: int
    cycle: NotRequired[int]
    hypothesis: str
    region: RegionAt | None
    applied: bool
    accepted: bool
    unchanged: bool
    reason: str
    previous: NotRequired[dict[str, object]]
    current: NotRequired[dict[str, object]]


class Closed(TypedDict):
    """What a repair changes. `choices` are paths of diffs between which a person chooses."""

    changes: list[dict[str, str]]
    diff: str
    choices: list[str]


class Candidate(TypedDict):
    """A small edit as a hypothesis, before it is one of the store.

    `confidence` is from 0 to 1 and comparable between files; `pieces` are rows of first and last character and the text in
    their place; `risky`: it negates or drops something; `mends`: it uses a name that nothing used or the error misses;
    `rebinds`: it gives a value to another name; `stands`: what it says is a whole line of the file; `turned`: it turns a
    guard round that lets in what fails behind it; `turns_default`: it is about the truth value that a parameter has where
    none is given; `faint`: it was worth next to nothing; `idle`: lines stay without a run with it that another one runs;
    `score`, `before`: its worth at first; `likelier`: how much more often the file says what it says; `probe`, `change`: as
    in `Probed`.
    """

    claim: str
    affected_region: RegionAt
    expected_effect: str
    interpretation: str
    explanation: str
    structural_change: dict[str, str]
    intent: str
    confidence: float
    diff: str
    kind: str
    old: str
    new: str
    key: str
    risky: bool
    pieces: list[list[Any]]
    mends: NotRequired[bool]
    turned: NotRequired[bool]
    rebinds: NotRequired[bool]
    stands: NotRequired[bool]
    turns_default: NotRequired[bool]
    evades: NotRequired[bool]
    faint: NotRequired[bool]
    idle: NotRequired[bool]
    score: NotRequired[float]
    likelier: NotRequired[float]
    probe: NotRequired[str]
    change: NotRequired[list[Any]]
    before: NotRequired[float]


class Tried(TypedDict):
    """What the state of a repair says of edits: how many were tried in memory, the keys of those that are over, the failure."""

    probes: int
    tried: list[str]
    failure: Failure
