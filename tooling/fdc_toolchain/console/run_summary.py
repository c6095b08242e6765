"""Prints how a run ended and what can be done next; chooses the exit code."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from ..diagnostics.plural import plural
from ..exits import BUG, CLEAN, FINDINGS, INTERRUPTED, PERSON, WORLD, WorldError
from ..program.causes import LARGER
from ..report.terminal.style import Style
from ..report.terminal.terminal_text import folded, visible
from ..runs.observer import Observer
from ..runs.records.questions import in_doubt
from .progress import arguments, duration
from .terminal import say

if TYPE_CHECKING:
    from ..runs.records.run_outcome import Ended

MOST_SHOWN = 60
"""Maximum lines that are printed about an approval."""

MOST_OUTPUT = 12
"""Maximum lines of a failed command's output that are printed where the run stops."""

MOST_KEPT = 5
"""Maximum failed branches that are listed, and steps with an unknown outcome."""


def broken_off(ended: Ended) -> None:
    """Prints on stderr why a run has no result. Raises WorldError where the environment failed."""
    if ended.status == "interrupted":
        say(f"interrupted; {_goes_on(ended)}", err=True)
    elif ended.status == "waiting":
        from .terminal import style

        say("\n".join(_story(ended, style())), err=True)
    elif ended.stop is not None:
        say(
            f"{ended.stop['kind']}: {visible(ended.stop['message'])}; `fdc show {ended.run}` shows every step",
            err=True,
        )
    else:
        raise WorldError(f"{ended.message}; {_goes_on(ended)}")


def tell(ended: Ended, show: Observer, form: str, quiet: bool, style: Style) -> int:
    """Prints the end of a run; returns the exit code."""
    code = exit_code(ended)
    if form == "json":
        show.line(json.dumps(as_json(ended, show), indent=2, ensure_ascii=True))
        return code
    if ended.result is not None and not quiet:
        for line in _lines(ended.result):
            show.line(line)
    if show.wrote and not quiet:
        paths = list(show.wrote)
        more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
        show.line(f"wrote {', '.join(visible(path) for path in paths[:5])}{more}")
    if ended.stop is not None and ended.stop["kind"] in ("require", "failure"):
        for line in _output(show, ended.stop["kind"]):
            show.line(line)
    for line in _story(ended, style):
        show.line(folded(line, style.width))
    return code


def _output(show: Observer, kind: str) -> list[str]:
    """The end of what the last command printed, if it failed: why a gate stopped the run, as a rule."""
    address, text = show.last_output or ("", "")
    lines = [visible(line.rstrip()) for line in text.strip("\n").split("\n") if line.strip()]
    if not lines or len(lines) == 1 and kind == "failure":  # its message has the last line
        return []
    more = "the end of " if len(lines) > MOST_OUTPUT else ""
    head = f"{more}the output of {visible(address)}:"
    return [head, *(f"  | {line}" for line in lines[-MOST_OUTPUT:])]


def exit_code(ended: Ended) -> int:
    """Finished, interrupted, the environment failed, waiting for a person; else stopped or cancelled, or a bug of fdc."""
    if ended.status == "finished":
        return CLEAN
    if ended.status == "interrupted":
        return INTERRUPTED
    if ended.status == "broken":
        return WORLD
    if ended.status == "waiting":
        return PERSON
    return BUG if ended.stop is not None and ended.stop["kind"] == "bug" else FINDINGS


def as_json(ended: Ended, show: Observer | None = None) -> dict[str, object]:
    """The end of a run as one JSON object."""
    out: dict[str, Any] = {
        "format": 1,
        "run": ended.run,
        "plan": ended.plan,
        "status": ended.status,
        "steps": ended.steps,
        "seconds": round(ended.seconds, 3),
        "spent": ended.spent,
        "stop": ended.stop,
        "result": ended.result,
        "questions": ended.questions,
        "message": ended.message,
    }
    if ended.simulated:
        out["simulated"] = True
    if ended.kept:
        out["kept"] = ended.kept
    if ended.unsettled:
        out["unsettled"] = ended.unsettled
    if show is not None:
        out["wrote"] = list(show.wrote)
        out["failed_commands"] = show.failed_commands
        out["said"] = list(getattr(show, "said", ()))
    return out


def _story(ended: Ended, style: Style) -> list[str]:
    work = f"{plural(ended.steps, 'step')}, {duration(ended.seconds)}" + (
        ", all simulated" if ended.simulated else ""
    )
    resume = f"fdc resume {ended.run}"
    out = _kept(ended.kept, style)
    if ended.status == "finished":
        verdict = f"{style.paint('added', 'finished')}: {work}"
    elif ended.status == "stopped" and ended.stop is not None:
        out.append(_stopped(ended.stop, style))
        verdict = f"stopped after {work}"
        out += _cause(ended.stop.get("cause") or {})
        if ended.stop["kind"] == "bug":
            out.append(
                "this is a bug of fdc: the run did not follow the proof of the plan; please report it"
            )
        elif ended.stop["kind"] == "overrun":
            out.append(
                "the tool's declaration is wrong, or the model or person that answers does not tell the truth"
            )
        verdict += _helps(ended.stop, resume)
    elif ended.status == "waiting":
        unknown = [item for item in ended.questions if item["how"] == "assume"]
        for question in ended.questions:
            if question not in unknown[MOST_KEPT:]:
                out += _question(ended, question)
        if len(unknown) > 1:
            more = f"and {len(unknown) - MOST_KEPT} more; " if len(unknown) > MOST_KEPT else ""
            out.append(
                f"{more}one answer for all {len(unknown)}: {resume} --all --assume not-done (do them again), or done"
            )
        verdict = f"waiting for a person after {work}"
        if any(
            question["how"] == "answer" and not in_doubt(question.get("shows"))
            for question in ended.questions
        ):
            verdict += f"; `fdc answer {ended.run}` asks you and stores the answer"
    elif ended.status == "broken":
        out.append(f"{style.paint('error', 'the environment failed')}: {visible(ended.message)}")
        out += _unsettled(ended)
        verdict = f"stopped after {work}; {_goes_on(ended)}"
    elif ended.status == "cancelled":
        verdict = f"cancelled after {work}; `fdc fork {ended.run}@STEP` begins a new run from a step of it"
    else:
        out += _unsettled(ended)
        verdict = f"interrupted after {work}; {_goes_on(ended)}"
    out.append(f"{verdict}; `fdc show {ended.run}` shows every step{_one_whole(ended)}")
    return out


def _helps(stop: dict[str, Any], resume: str) -> str:
    """What lets a stopped run go on, where anything does."""
    kind, cause = stop["kind"], stop.get("cause") or {}
    if kind == "overrun":
        return f"; `{resume} --budget MEASURE=NUMBER` continues anyway"
    if kind == "budget":
        return f"; `{resume} --budget MEASURE=NUMBER` continues with a larger budget"
    if kind == "plan_budget":
        return f"; {LARGER}"
    if kind != "failure" or cause.get("of") == "plan":  # of a plan: the message says what helps
        return ""
    larger = " --budget MEASURE=NUMBER" * (cause.get("kind") == "budget")
    return f"; `{resume} --retry{larger}` retries the failed step"


def _one_whole(ended: Ended) -> str:
    """The command that shows the whole output of the failed step: the message has only its last line."""
    stop = ended.stop
    if stop is None or stop["kind"] != "failure":
        return ""
    return f", `fdc show {ended.run} --step {shlex.quote(visible(stop['address']))}` the failed one in full"


def _cause(cause: dict[str, Any]) -> list[str]:
    """The message about a stop that the proof excludes: the false assumption, or that none covers it."""
    if cause.get("kind") == "unproved":
        return ["the proof has no assumption that covers this stop; please report it with the plan"]
    if cause.get("kind") != "assumption":
        return []
    place = f" ({visible(cause['path'])}:{cause['line']})" if "path" in cause else ""
    return [f"an assumption of the proof was false: {visible(cause['text'])}{place}"]


def _stopped(stop: dict[str, Any], style: Style, role: str = "error") -> str:
    place = f"{visible(stop['path'])}:{stop['line']}" if stop["line"] else visible(stop["path"])
    label = style.paint(role, stop["kind"])
    return f"{label}: {visible(stop['message'])}\n  at {place} ({visible(stop['address'])})"


def _kept(stops: list[dict[str, Any]], style: Style) -> list[str]:
    """The branches that failed while the run went on with a record of each."""
    if not stops:
        return []
    subject = "a branch" if len(stops) == 1 else f"{len(stops)} branches"
    more = [f"and {len(stops) - MOST_KEPT} more"] if len(stops) > MOST_KEPT else []
    return [
        f"{subject} failed, and the run continued:",
        *(_stopped(stop, style, "warning") for stop in stops[:MOST_KEPT]),
        *more,
    ]


def _goes_on(ended: Ended) -> str:
    """What `fdc resume` will do with an interrupted run: which steps it begins again, and which it will ask about."""
    resume = f"fdc resume {ended.run}"
    stopped = sum(step["again"] for step in ended.unsettled)
    unknown = len(ended.unsettled) - stopped
    if not ended.unsettled:
        return f"all steps are recorded; `{resume}` continues"
    if not unknown:
        noun, counts = (
            ("that step", "it counts") if stopped == 1 else (f"those {stopped} steps", "they count")
        )
        return f"`{resume}` begins {noun} again, and with `--all --assume done` {counts} as done"
    noun, counts = (
        ("that step", "it counts") if unknown == 1 else (f"those {unknown} steps", "they count")
    )
    if stopped:
        noun, counts = f"all {unknown + stopped} steps without an outcome", "they count"
    again = f"`{resume} --all --assume not-done` does {noun} again"
    return f"what is recorded stays; {again}, and with `--assume done` {counts} as done"


def _unsettled(ended: Ended) -> list[str]:
    """The steps without an outcome."""
    out = []
    for step in ended.unsettled[:MOST_KEPT]:
        label = "stopped" if step["again"] else "no outcome"
        out += [
            f"{label}: {visible(step['tool'])} {arguments(step['args'])}".rstrip(),
            f"  at {visible(step['path'])}:{step['line']} ({step['address']}): {step['text']}",
        ]
    left = len(ended.unsettled) - MOST_KEPT
    return [*out, f"and {left} more"] if left > 0 else out


def _question(ended: Ended, question: dict[str, Any]) -> list[str]:
    place = f"{visible(question['path'])}:{question['line']} ({question['address']})"
    prefix = "" if len(ended.questions) == 1 else f"{question['address']}="
    if question["how"] == "answer":
        answer = f"answer with: fdc resume {ended.run} --answer '{prefix}...'"
        if in_doubt(question.get("shows")):
            answer = f"find out whether it happened; this says it, too: fdc resume {ended.run} --all --assume done (or not-done)"
        first, *lines = map(visible, question["text"].rstrip("\n").split("\n"))
        left = len(lines) - MOST_SHOWN
        return [
            *([] if in_doubt(question.get("shows")) else _shows(ended, question)),
            f"question: {first}",
            *(f"  | {line}".rstrip() for line in lines[:MOST_SHOWN]),
            *(
                [f"  {plural(left, 'line')} more; `fdc answer {ended.run}` shows all"]
                if left > 0
                else []
            ),
            f"  at {place}; {answer}",
        ]
    done = f"{prefix}'done:RESULT'" if question["bound"] else f"{prefix}done"
    call = f"{question['tool']} {arguments(question['args'])}".rstrip()
    return [
        f"no outcome: {call}",
        f"  at {place}: {question['text']}",
        f"  check whether it happened, then: fdc resume {ended.run} --assume {done} (or {prefix}not-done)",
    ]


def _shows(ended: Ended, question: dict[str, Any]) -> list[str]:
    """The lines that an approval shows, at most MOST_SHOWN."""
    from ..report import changes

    lines = [f"  {line.text}" for line in changes.lines(question.get("shows"))]
    left = len(lines) - MOST_SHOWN
    return (
        lines
        if left <= 0
        else [
            *lines[:MOST_SHOWN],
            f"  {plural(left, 'line')} more; `fdc answer {ended.run}` shows all",
        ]
    )


def _lines(result: Any) -> list[str]:
    """A result for a terminal: JSON, and below it its texts of several lines as they are."""
    texts, rest = {}, result
    if isinstance(result, dict):
        texts = {key: value for key, value in result.items()
                 if isinstance(value, str) and "\n" in value.strip("\n")}  # fmt: skip
        rest = {key: value for key, value in result.items() if key not in texts}
    text = rest if isinstance(rest, str) else json.dumps(rest, indent=2, ensure_ascii=False)
    for key, value in texts.items():
        text += f"\n{key}:\n{value}"
    return [visible(line) for line in text.rstrip("\n").split("\n")]
