"""How a run stands, in fdc's words, with what it brought as data."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .. import api
from . import questions
from .results import Result, cut, in_line
from .run_drives import Drive

_LAST = 12  # steps and runs that are shown


def ended(drive: Drive) -> Result:
    """How a drive ended. Raises its FdcError."""
    if drive.trouble is not None:
        raise drive.trouble
    result = drive.result
    assert result is not None  # a drive ends with the one or the other
    took = f"{result.steps} steps in {result.seconds:.1f} seconds"
    words = [f"Run {result.run}: {result.status}, {took}."]
    words += _asks(result.run, result.questions)
    if result.status in ("broken", "interrupted"):
        words.append("`fdc_run` with op=resume goes on with it.")
    data = _common(result)
    data += [f"wrote: {path}" for path in result.wrote[:40]]
    data += [f"said: {cut(text, 1000)}" for text in result.said[-_LAST:]]
    failed = result.status in ("stopped", "broken")
    return Result(words="\n".join(words), data="\n".join(data), failed=failed)


def state(found: api.RunState, live: Drive | None) -> Result:
    """How a run stands on record."""
    done = sum(step.status == "done" for step in found.steps)
    words = [f"Run {found.run}: {found.status}, {done} steps done."]
    if live is not None:
        words.append("This server drives it.")
    if not found.whole:
        words.append("Its record is damaged or older than one shown before; see `fdc verify`.")
    words += _asks(found.run, found.questions)
    data = [*_common(found), *(_step(step) for step in found.steps[-_LAST:])]
    return Result(words="\n".join(words), data="\n".join(data))


def listed(found: Sequence[api.RunSummary]) -> Result:
    """The last runs, the newest first."""
    last = found[::-1][:_LAST]
    lines = [f"{one.run}  {one.status}  {one.steps} steps  {one.plan}" for one in last]
    return Result(words=f"{len(found)} runs; the newest first.", data="\n".join(lines))


def _asks(run: str, asked: Sequence[api.Question]) -> list[str]:
    """That a run waits for a person, and what that person does."""
    open_ = [one for one in asked if one.given is None]
    if not open_:
        return [f"It was answered; op=resume, run={run} goes on."] if asked else []
    return [
        "It waits for a person. You cannot answer; tell them, and give them the command, which shows what it is about:",
        *(f"  {questions.by_hand(run, one)}" for one in open_[:4]),
        f"After that, op=resume, run={run} goes on.",
    ]


def _common(found: api.RunResult | api.RunState) -> list[str]:
    """What is said of each run, under way or on record."""
    stop, data = found.stop, [f"plan: {found.plan}"]
    if stop is not None:
        data.append(f"stopped at {stop.path}:{stop.line} ({stop.kind}): {stop.message}")
    data += [f"message: {found.message}"] if found.message else []
    data += [f"question: {one.text}" for one in found.questions]
    if found.result is not None:
        data.append(f"result: {cut(json.dumps(found.result, ensure_ascii=False), 3000)}")
    return data


def _step(step: api.Step) -> str:
    value = "" if step.value is None else json.dumps(step.value, ensure_ascii=False)
    tail = in_line(step.failure or value, 160)
    return f"{step.status} {step.tool} ({step.path}:{step.line}){': ' if tail else ''}{tail}"
