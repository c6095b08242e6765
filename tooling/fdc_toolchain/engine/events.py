"""The engine's inputs and outputs: effects, their outcomes, journal records, decisions.

Structural addresses. An effect is named by where it stands in the run, never by when it happened:

    main/3                 the third instruction of the root plan
    main/2[4]/1            the first instruction in the fourth round of the loop at main/2
    main/2#4/1             the same in the fourth branch of the fork at main/2
    main/5.then/1          the first instruction in the first branch of the `if` at main/5
    main/3>explore/1       the first instruction of the plan `explore`, called at main/3
    main/2*                the list of files over which the loop at main/2 runs
    main/5?1  main/2[4]?1  the first predicate asked by a condition (after a round: its `until`)

All counts start at 1. Two places of a run differ in the first component where they part, and
there the program allows one kind of instruction only, so addresses are unique by construction.
`RUN:ADDRESS` is the idempotency key that every tool is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from ..program.codec import canonical
from ..program.model import Grant
from .files.released import Released

Kind = Literal["tool", "files", "predicate"]


class Perform(NamedTuple):
    """One effect that the run wants next. `line` of `path` is where the plan says so.

    `bound`: the plan keeps the result. `grants`: what the plans on the stack allow, each of which
    holds. `turn` and `after`: which attempt of an announced effect this is, and why there is another.
    `paid`: it may use up something that the run has a budget of, so a lost attempt of it must be known.
    `outside`: `text` where it writes text from outside into files, `choice` where such text chooses whether it does.
    `alone`: its failure ends a branch of a fork that keeps failures, and not the run.
    `released`: what the approval before it showed, which it must find as it was.
    """

    address: str
    kind: Kind
    tool: str
    args: dict[str, Any]
    request: str
    effect: str
    path: str
    line: int
    bound: bool = False
    grants: tuple[Grant, ...] = ()
    turn: int = 1
    after: str | None = None
    paid: bool = False
    alone: bool = False
    outside: str = ""
    released: Released | None = None

    @property
    def once(self) -> bool:
        """True for effects that must never happen twice."""
        return self.effect == "once"


class Failure(NamedTuple):
    """Why an effect failed: a stable kind, and one sentence."""

    kind: str
    message: str


class Outcome(NamedTuple):
    """The result of an effect: a JSON value or a failure, what it used, and notes for the journal."""

    value: Any = None
    failure: Failure | None = None
    usage: dict[str, float] | None = None
    notes: dict[str, Any] | None = None


class Record(NamedTuple):
    """One row of the journal.

    `kind`: `intent` (an effect that happens once, or is paid for, is about to be tried for the `turn`-th time), `outcome`,
    `interrupted` (the controller itself ended the `turn`-th attempt of an effect that happens once before it came back, or
    had not begun it: `begun`), `session` (a controller took the run over; `turn` is its epoch), `budget` (a person changed
    a ceiling) or `retry` (a person wants the `turn`-th attempt, which failed, to be made again).
    `at` counts the seconds for which the run has been driven, over all controllers.
    """

    kind: str
    address: str
    turn: int
    tool: str
    request: str
    at: float
    body: dict[str, Any]


class Mark(NamedTuple):
    """A place that a run passed without an effect: `require` (it held), `then` or `else` (the side an `if` took), `call`.

    `after`: how many records of the run counted until then.
    """

    what: str
    address: str
    path: str
    line: int
    after: int


class Stop(NamedTuple):
    """Why a run, or a branch whose failure is kept, ended before its last instruction, and where.

    `kind`: `require` (a gate), `failure` (a tool failed), `value` (a value that cannot be used so),
    `bound` (more items than the plan allows, or a text or list that is too long), `budget`,
    `plan_budget` (that of a plan that was called), `overrun` (a step
    reports that it used more than had been set aside for it), `stalled` (an `iterate` asks models the same again and again),
    `rule` (the step, or the end, breaks a protocol's rule), or `bug` (what the linter proved does not hold: ours).
    `failure`: the kind of the tool's failure; `shared`, of a `value`, where two branches of a fork name one file; `size`, of a
    `bound`, where a value is too long. `tool`: the tool or predicate that failed. `measure`: that of the budget that is used up.
    `program.causes` has the cause of each.
    """

    kind: str
    message: str
    address: str
    path: str
    line: int
    failure: str = ""
    tool: str = ""
    measure: str = ""


class Performs(NamedTuple):
    """Start these now; they do not depend on each other."""

    effects: list[Perform]


class Settle(NamedTuple):
    """A lost controller announced this effect; find out whether it happened."""

    effect: Perform


class Wait(NamedTuple):
    """Nothing can start before a running effect returns."""


class Question(NamedTuple):
    """A question for a person: an `answer` to the effect's question, or whether it happened (`assume`).

    `shows`, of an approval: what it is about (`workspace.preview`).
    """

    effect: Perform
    text: str
    how: Literal["answer", "assume"]
    shows: dict[str, Any] | None = None


class Ask(NamedTuple):
    """Nothing can go on before a person answers."""

    questions: list[Question]


class Finish(NamedTuple):
    """The run is over. `stop` is None when it did all of its plan; `result` is what the plan yielded."""

    stop: Stop | None
    result: Any


Decision = Performs | Settle | Wait | Ask | Finish


class Mismatch(Exception):
    """The journal holds a record that the program does not ask for at that point."""


def outcome_body(outcome: Outcome, took: float) -> dict[str, object]:
    """An outcome as the body of its record; keys without content are left out."""
    body: dict[str, Any] = {"took": took}
    if outcome.failure is not None:
        body["failed"] = {"kind": outcome.failure.kind, "message": outcome.failure.message}
    else:
        body["value"] = outcome.value
    if outcome.usage:
        body["usage"] = outcome.usage
    if outcome.notes:
        body["notes"] = outcome.notes
    return body


def request_of(kind: str, tool: str, args: Mapping[str, object]) -> str:
    """The hash that a record carries of what was asked: blake2b-128 of the canonical JSON."""
    return blake2b(canonical([kind, tool, args]).encode("ascii"), digest_size=16).hexdigest()
