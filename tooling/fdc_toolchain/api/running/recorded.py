"""What is on record of a run, as values of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..values import JSON, Question, Step, StepStatus, Stop

if TYPE_CHECKING:
    from ...engine.events import Perform, Record
    from ...journal.sqlite import RunRow, Store
    from ...runs.records.answers import Open
    from ...runs.records.followed import Rows


def steps_of(rows: Rows) -> tuple[Step, ...]:
    """The steps on a record, in the order in which they came back. Of the others, the last attempt."""
    last: dict[str, tuple[int, bool]] = {}
    for record, effect in rows:
        if effect is not None:
            settles = record.kind in ("outcome", "interrupted")
            last[record.address] = max(last.get(record.address, (0, False)), (record.turn, settles))
    found = (
        _recorded(record, effect, last[record.address] == (record.turn, False))
        for record, effect in rows
        if effect is not None
    )
    return tuple(step for step in found if step is not None)


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


def stop_of(said: Mapping[str, object] | None) -> Stop | None:
    if said is None:
        return None
    line = said["line"]
    return Stop(
        kind=str(said["kind"]),
        message=str(said["message"]),
        address=str(said["address"]),
        path=str(said["path"]),
        line=line if isinstance(line, int) else 0,
    )


def questions_of(root: str, store: Store, row: RunRow) -> tuple[Question, ...]:
    """What a waiting run needs a person for: answers, and to know whether steps happened."""
    from ...runs.records import questions

    found = [question_of(row, one) for one in questions.questions(root, store, row)]
    asked = (row.ending or {}).get("questions", ()) if row.status == "waiting" else ()
    found += [_assumed(one) for one in asked if one["how"] == "assume"]
    return tuple(found)


def _assumed(asked: Mapping[str, Any]) -> Question:
    return Question(
        address=asked["address"],
        how="assume",
        text=str(asked["text"]),
        tool=asked["tool"],
        path=asked["path"],
        line=asked["line"],
        args=asked["args"],
    )


def question_of(row: RunRow, found: Open) -> Question:
    from ...runs.records import questions

    effect = found.effect
    return Question(
        address=effect.address,
        how="answer",
        text=found.text,
        tool=effect.tool,
        path=effect.path,
        line=effect.line,
        args=effect.args,
        approval=found.approval,
        screen=tuple(questions.screen(found._replace(given=None))),
        given=found.given,
        seen=questions.name_of(row, found),
    )
