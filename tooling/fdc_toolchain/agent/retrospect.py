"""FINALIZING (FDC-93): the post-mortem is filled in, its lessons are compiled, self-correction runs, the task is closed.

What no one analysed is said as that. A section that somebody wrote is never touched. What was learned no one can make up:
the task waits until a person has written a lesson, or that there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..diagnostics.plural import plural
from ..tasks.postmortem import OUTSIDE, is_placeholder
from ..tasks.unfilled import LEARNED, NOTHING, unfilled
from . import provenance
from .model_port import ModelWaiting
from .turn import Failed, Turn

_SECTION = re.compile(r"^## +(?:\d+\. +)?(.*?)\s*$", re.MULTILINE)
_MARKS = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\*\*[A-Za-z ]+:\*\*\s*)?")
_NOBODY = "Not analysed: this was generated from the record, which does not contain reasons."


def finalize(turn: Turn, analysis: str | Mapping[str, str] | None) -> str:
    """Writes the post-mortem, logs TASK_END, compiles lessons, runs self-correction.

    Raises Failed (T-21), and ModelWaiting for what was learned.

    A post-mortem of a task that was shown text from outside says so, and its lessons are for a person to apply.
    """
    path, text = turn.world.postmortem(turn.task)
    turn.state.draft_postmortem_path = path
    filled = fill(text, _given(analysis), facts(turn))
    gaps = unfilled(filled)
    said = "; ".join(f"{path}:{gap.line}: {gap.section}: {gap.what}" for gap in gaps[:8])
    if any(gap.section != LEARNED for gap in gaps):
        raise Failed(f"the post-mortem is not filled in: {said}")
    if provenance.seen(turn.control) and OUTSIDE not in filled:
        filled = f"{OUTSIDE}\n{filled}"
    if filled != text:
        turn.world.write(path, filled)
    if gaps:
        raise ModelWaiting(
            f"a person must write what was learned: {said}; or use `--nothing-learned WHY` if nothing was learned"
        )
    learned = list(turn.world.lessons(path))
    done = list(turn.world.correct())
    details = {"lessons": learned[:50], "self_correction": done[:50]}
    turn.log(4, "INFO", details, "SUCCESS", f"{len(learned)} lessons compiled")
    refused = turn.world.close(turn.task)
    if refused:
        raise Failed(refused)
    turn.state.final_report = "\n".join([summary(turn), f"post-mortem: {path}", *learned, *done])
    return "AWAITING_SUBMISSION"


def untaught(text: str, why: str) -> str:
    """An analysis with a person's word that the task taught nothing."""
    text = text if _SECTION.search(text) or not text.strip() else f"## Summary\n\n{text}"
    said = NOTHING.replace("WHY", " ".join(why.split()))
    return f"{text.rstrip()}\n\n## {LEARNED}\n\n{said}\n"


def fill(text: str, given: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The post-mortem with every section that the template left open filled: from `given`, else from `known`."""
    heads = list(_SECTION.finditer(text))
    out, at = [], 0
    for head, after in zip(heads, [*heads[1:], None]):
        end = after.start() if after is not None else len(text)
        title, body = _plain(head[1]), text[head.end() : end]
        said = given.get(title) or known.get(title)
        if said and _open(body):
            out += [
                text[at : head.end()],
                "\n\n",
                said.strip(),
                "\n",
                "\n" if after is not None else "",
            ]
            at = end
    return "".join([*out, text[at:]])


def facts(turn: Turn) -> dict[str, str]:
    """What the record says, by the titles of the template's sections."""
    control = turn.control
    well = ["- The plan was proved before anything ran."] if control.get("run") else []
    worse = []
    tries = int(control.get("refused_plans", 0))
    if tries:
        worse.append(
            f"- {plural(tries, 'version')} of the plan {'was' if tries == 1 else 'were'} refused by the linter."
        )
    if turn.state.research_findings.get("answered"):
        well.append(f"- Research answered: {turn.state.research_findings['question']}")
    for line in control.get("repairs", []):
        worse.append(f"- Tests had to be repaired: {line}")
    return {
        "summary": f"{summary(turn)}\n\nThis post-mortem was written from the record of the run; no model or person analysed it.",
        "what went well": "\n".join(well) or "- The record does not show it.",
        "what could be improved": "\n".join(worse) or "- The record shows no failure.",
        "root cause analysis": _NOBODY,
    }


def summary(turn: Turn) -> str:
    """One paragraph: the task, the run and how it ended."""
    driven = turn.control.get("driven") or {}
    text = f"Task: {turn.state.task}"
    if turn.control.get("run"):
        text += f"\n\nRun `{turn.control['run']}` of `{turn.state.plan_path}`"
        text += f": {plural(int(driven['steps']), 'step')}." if driven.get("steps") else "."
    return text


def _given(analysis: str | Mapping[str, str] | None) -> dict[str, str]:
    """The analysis by section. A text without the template's headings is the summary."""
    if analysis is None:
        return {}
    if not isinstance(analysis, str):
        return {_plain(title): body for title, body in analysis.items() if body.strip()}
    heads = list(_SECTION.finditer(analysis))
    if not heads:
        return {"summary": analysis} if analysis.strip() else {}
    ends = [head.start() for head in heads[1:]] + [len(analysis)]
    parts = {_plain(head[1]): analysis[head.end() : end].strip() for head, end in zip(heads, ends)}
    return {title: body for title, body in parts.items() if body}


def _open(body: str) -> bool:
    """True if a line of a section is still the template's open text."""
    bare = (_MARKS.sub("", line).strip() for line in body.splitlines())
    return not body.strip() or any(line.startswith("[") and is_placeholder(line) for line in bare)


def _plain(title: str) -> str:
    return " ".join(title.lower().split())
