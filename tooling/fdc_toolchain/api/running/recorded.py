"""The record of a run as values of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from ..values import JSON, Cause, Question, Step, StepStatus, Stop

if TYPE_CHECKING:
    from ...engine.events import Perform, Record
    from ...journal.sqlite import RunRow, Store
    from ...runs.records.answers import Open
    from ...runs.records.followed import Rows


def steps_of(rows: Rows) -> tuple[Step, ...]:
    """The steps of a record, in the order in which they returned, and the last attempt of steps without an outcome."""
    last: dict[str, tuple[int, bool]] = {}
    for record, effect in rows:
        if effect is not None:
            settles = record.kind in ("outcome", "interrupted")
            last[record.address] = max(last.get(record.address, (0, False)), (record.turn, settles))
    steps = (
        _recorded(record, effect, last[record.address] == (record.turn, False))
        for record, effect in rows
        if effect is not None
    )
    return tuple(step for step in steps if step is not None)


def _recorded(record: Record, effect: Perform, unsettled: bool) -> Step | None:
    turn = record.turn
    if record.kind == "outcome":
        failed = record.body.get("failed")
        failure = None if failed is None else str(failed["message"])
        status: StepStatus = "done" if failure is None else "failed"
        took = float(record.body.get("took", 0.0))
        return step_of(effect, status, record.body.get("value"), failure, took, turn)
    if record.kind == "interrupted":
        return step_of(effect, "interrupted", attempt=turn)
    if record.kind == "intent" and unsettled:
        return step_of(effect, "begun", attempt=turn)
    return None


def step_of(
    effect: Perform,
    status: StepStatus,
    value: JSON = None,
    failure: str | None = None,
    took: float = 0.0,
    attempt: int | None = None,
) -> Step:
    from ...report.exit_codes import exit_code

    return Step(
        address=effect.address,
        tool=effect.tool,
        status=status,
        args=effect.args,
        path=effect.path,
        line=effect.line,
        value=value,
        failure=failure,
        exit_code=exit_code(value),
        attempt=effect.turn if attempt is None else attempt,
        seconds=took,
    )


def stop_of(stop: Mapping[str, object] | None) -> Stop | None:
    if stop is None:
        return None
    line = stop["line"]
    return Stop(
        kind=str(stop["kind"]),
        message=str(stop["message"]),
        address=str(stop["address"]),
        path=str(stop["path"]),
        line=line if isinstance(line, int) else 0,
        cause=_cause_of(stop),
    )


def _cause_of(stop: Mapping[str, object]) -> Cause:
    """The cause on record; a run of 0.1.0 has none."""
    cause = stop.get("cause")
    said = cause.get("kind") if isinstance(cause, Mapping) else None
    return next((one for one in get_args(Cause) if one == said), "unknown")


def questions_of(root: str, store: Store, row: RunRow) -> tuple[Question, ...]:
    """The questions of a waiting run: those for answers, and whether steps happened."""
    from ...runs.records import questions

    result = [
        question_of(row, open_question) for open_question in questions.questions(root, store, row)
    ]
    stored = (row.ending or {}).get("questions", ()) if row.status == "waiting" else ()
    result += [_assume_question(question) for question in stored if question["how"] == "assume"]
    return tuple(result)


def _assume_question(question: Mapping[str, Any]) -> Question:
    return Question(
        address=question["address"],
        how="assume",
        text=str(question["text"]),
        tool=question["tool"],
        path=question["path"],
        line=question["line"],
        args=question["args"],
    )


def question_of(row: RunRow, open_question: Open) -> Question:
    from ...runs.records import questions

    effect = open_question.effect
    return Question(
        address=effect.address,
        how="nested" if questions.in_doubt(open_question.shows) else "answer",
        text=open_question.text,
        tool=effect.tool,
        path=effect.path,
        line=effect.line,
        args=effect.args,
        approval=open_question.approval,
        screen=tuple(questions.screen(open_question._replace(given=None))),
        given=open_question.given,
        seen=questions.name_of(row, open_question),
    )
