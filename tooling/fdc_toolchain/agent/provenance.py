"""What the authors of a task's texts were shown, and a person's approval of their texts (issue 5).

A plan, a request for research and a patch are texts that choose commands, paths and addresses. Where their writer, a
model or the author of a file, may have been shown text from outside, such a text waits for a person. The approval is
for exactly these bytes and the program that they compiled to, and is sealed with the user's key.

The notes that are kept with the task's state: `seen`, what from outside was shown, never less; `written`, each text with
its writer and the labels of what that one was shown; `held`, the text that waits; `approved`, what a person said of texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest
from typing import Any, Literal

from ..engine.ports import WorldFailed
from ..named_tuples import NamedTuple
from ..narrow import narrow
from ..program.instructions import every
from ..program.model import Program
from .model_port import ModelWaiting
from .research_cycle import from_outside
from .state import AgentState
from .turn import Turn
from .world import World

UNKNOWN = "a record that does not say what was shown"
"""The entry for a task whose state came from elsewhere, or from an fdc without such notes."""

SHORTEST = 12
"""Digits of a text's sha256 that name it."""

_TELLING = ("message_user", "close_task", "submit")
"""Tools for messages and for ending the task, which a plan may use without approval."""


class Held(ModelWaiting):
    """A text waits for a person's approval; the message is for that person."""

    why = "approval"


class Text(NamedTuple):
    """A text that is about to choose what is done.

    `bound`: what it is approved for besides: the digest of the program that it compiled to, or the step and the number of
    a patch. `calls`: plans that it calls. `data`: what is done by it, if that is not the text itself.
    """

    kind: Literal["plan", "request", "patch"]
    text: str
    by: str
    bound: str = ""
    calls: tuple[str, ...] = ()
    data: Any = None

    @property
    def sha256(self) -> str:
        """The text's name."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


# What was shown


def begun(state: AgentState) -> dict[str, object]:
    """The notes of a new task. What its state already contains is of unknown origin."""
    control: dict[str, object] = {"seen": []}
    if state.messages or state.research_findings:
        _saw(control, UNKNOWN, ())
    return control


def resumed(world: World, record: Mapping[str, object]) -> dict[str, object]:
    """The notes of a saved record; where this user did not write that, it is unknown what was shown in the task."""
    control = narrow(record["control"], dict)
    seal = seal_of(world, {key: value for key, value in record.items() if key != "seal"})
    if not _same(seal, record.get("seal")):
        _saw(control, UNKNOWN, ())
    return control


def seal_of(world: World, record: Mapping[str, object]) -> str:
    """The seal of a task's record; a state that came with a clone, or that somebody changed, has none of this user's."""
    plain = json.loads(json.dumps(record))  # as it will be read
    return world.seal("state", json.dumps(plain, sort_keys=True))


def seen(control: Mapping[str, object]) -> list[dict[str, object]]:
    """What from outside the writers in this task may have been shown: rows of `what`, and where that is `from`."""
    rows = control.get("seen")
    return rows if isinstance(rows, list) else [{"what": UNKNOWN, "from": []}]


def labels(turn: Turn) -> list[str]:
    """The labels of what a planner is shown now: the task and the tools are trusted, the rest is as it says."""
    found = {"trusted", "workspace"}
    trust = turn.state.research_findings.get("trust")
    if trust == "model":
        found.add("model")
    if seen(turn.control):
        found.add("untrusted")
    return sorted(found)


def of_research(turn: Turn, run: object) -> None:
    """Notes whether findings of research come from outside: by what they say of themselves, and by the run's journal."""
    findings = turn.state.research_findings
    what = f"findings of the research on: {findings.get('question')}"
    if not isinstance(run, str):
        _saw(turn.control, f"{what} (its run is not on record)", ())
        return
    if from_outside(findings):
        _saw(turn.control, what, [str(row.get("url")) for row in findings.get("pages") or ()])
    of_run(turn, run, what)


def of_run(turn: Turn, run: str, what: str) -> None:
    """Notes whether a run brought text from outside: a step that says so, a tool whose results are, a command with network."""
    try:
        program, _, records = turn.world.peek(run)
    except (LookupError, OSError, ValueError, WorldFailed):
        _saw(turn.control, f"{what} (its record cannot be read)", ())
        return
    found, sources = False, set[str]()
    for record in records:
        if record.kind == "outcome":
            notes = record.body.get("notes") or {}
            tool = program["tools"].get(record.tool)
            if "untrusted" in (notes.get("trust"), tool and tool.get("trust")) or notes.get(
                "network"
            ):
                found = True
                sources.update(map(str, notes.get("from") or ()))
    files = turn.world.outside()
    if found or files:
        _saw(turn.control, what, sorted({*sources, *files}))


def of_files(turn: Turn, files: Sequence[tuple[str, str]]) -> None:
    """Notes which of the files that a coder is shown hold text from outside."""
    found = turn.world.outside(files)
    if found:
        _saw(turn.control, "files of the workspace", found)


def of_tests(turn: Turn) -> None:
    """Notes that a coder is shown the output of tests that could reach the network."""
    _saw(turn.control, "the output of tests that could reach the network", ())


def _saw(control: dict[str, object], what: str, sources: Iterable[str]) -> None:
    rows = list(seen(control)) if "seen" in control else []
    known = next((row for row in rows if row.get("what") == what), None)
    if known is None:
        control["seen"] = [*rows, {"what": what, "from": sorted(sources)}]
    else:
        known["from"] = sorted({*narrow(known.get("from", []), list), *sources})


# What a text may do by itself


def harmless(program: Program) -> bool:
    """Whether a plan is harmless: it uses only fdc's own tools that read the workspace, and tell the user.

    Nothing in it runs a command or other code, writes, asks a model, or reaches the network. Reading and telling are
    what text from outside may choose in any plan (docs/trust.md).
    """
    for name, tool in program["tools"].items():
        if tool.get("run") is not None:
            return False
        if name not in _TELLING and (
            tool["effect"] not in ("pure", "read") or tool["trust"] == "untrusted" or _sinks(tool)
        ):
            return False
    plans = program["plans"].values()
    ends = (
        step
        for plan in plans
        for step in every(plan["body"])
        if step.get("tool") in ("close_task", "submit")
    )
    return not any(step.get("args") for step in ends)


def _sinks(tool: Mapping[str, Any]) -> bool:
    return any(
        parameter.get("sink") not in (None, "user", "data")
        for parameter in tool.get("parameters", ())
    )


# Approval


def clear(turn: Turn, text: Text, *, free: str = "") -> None:
    """Puts on record who wrote a text and what that one was shown; raises Held where a person has to approve it first.

    `free` says why this text needs none.
    """
    elsewhere = turn.world.unapproved(turn.task, text.sha256)
    if elsewhere is not None:
        _saw(turn.control, f"what its author was shown in the task {elsewhere}", ())
    shown = seen(turn.control)
    asked = {"kind": text.kind, "sha256": text.sha256, "bound": text.bound}
    given = _approval(turn, asked)
    row = {
        "kind": text.kind, "sha256": text.sha256, "by": text.by, "labels": labels(turn), "shown": shown,
        "approved": None if given is None else {"by": given["by"], "at": given["at"]},
    }  # fmt: skip
    if shown and free:
        row["free"] = free
    written = turn.control.get("written") or []
    kept = [
        earlier
        for earlier in written
        if (earlier.get("kind"), earlier.get("sha256")) != (text.kind, text.sha256)
    ]
    turn.control["written"] = [*kept, row]
    if not shown or free or given is not None:
        turn.control["held"] = None
        return
    before = turn.control.get("held") or {}
    file = turn.world.leave(turn.task, f"held-{text.kind}.txt", text.text)
    held = {
        "kind": text.kind, "sha256": text.sha256, "bound": text.bound, "text": text.text, "by": text.by,
        "shown": shown, "file": file, "calls": list(text.calls), "data": text.data,
    }  # fmt: skip
    turn.control["held"] = held
    if (before.get("sha256"), before.get("bound")) != (text.sha256, text.bound):
        details = {key: held[key] for key in ("kind", "sha256", "by", "file")}
        said = f"waits for a person's approval: {text.by} may have been shown text from outside: {_named(shown)}"
        turn.log(2, "PLAN_UPDATE", {**details, "labels": labels(turn)}, "IN_PROGRESS", said[:400])
    raise Held(sentence(held))


def held(control: Mapping[str, object], kind: str) -> dict[str, object] | None:
    """The text of that kind that waits, or waited until it was approved."""
    found = control.get("held")
    return (
        found
        if isinstance(found, dict)
        and found.get("kind") == kind
        and isinstance(found.get("text"), str)
        else None
    )


def sentence(held: Mapping[str, object]) -> str:
    """What a person is told of a text that waits."""
    return (
        f"the {held['kind']} waits for a person's approval: {held['by']} may have been shown text from outside: "
        f"{_named(narrow(held['shown'], list))}; it is in {held['file']}"
    )


def approve(turn: Turn, name: str, by: str) -> dict[str, object]:
    """Records that a person approved the text that waits, `name` being (the beginning of) its sha256; returns what it is.

    Raises ValueError where no text waits, another one does, or the approval could not be told from a forged one.
    """
    waits = _waiting(turn, name)
    row = {
        "kind": waits["kind"],
        "sha256": waits["sha256"],
        "bound": waits["bound"],
        "by": by,
        "at": turn.world.now(),
    }
    seal = _seal(turn, row)
    if not seal:
        raise ValueError("the approval cannot be sealed, because you have no key")
    turn.control["approved"] = [*(turn.control.get("approved") or []), {**row, "seal": seal}]
    turn.log(
        2,
        "PLAN_UPDATE",
        {key: row[key] for key in ("kind", "sha256", "by")},
        "SUCCESS",
        "a person approved this text",
    )
    return waits


def decline(turn: Turn, name: str, by: str) -> dict[str, object]:
    """A person does not approve the text that waits: it goes back to its writer as a version that was refused."""
    waits = _waiting(turn, name)
    control = turn.control
    control["held"] = None
    control["declined"] = {"kind": waits["kind"], "text": waits["text"]}
    if waits["kind"] != "patch":
        control["request"] = None
        control["seen_plans"] = [*control.get("seen_plans", []), waits["sha256"]]
        control["refused_plans"] = int(control.get("refused_plans", 0)) + 1
    details = {"kind": waits["kind"], "sha256": waits["sha256"], "by": by}
    turn.log(2, "PLAN_UPDATE", details, "FAILURE", error="a person did not approve this text")
    return waits


def declined(control: dict[str, object], *kinds: str) -> str | None:
    """The text that a person declined, once."""
    found = control.get("declined")
    if not isinstance(found, dict) or found.get("kind") not in kinds:
        return None
    control["declined"] = None
    return str(found["text"])


def _waiting(turn: Turn, name: str) -> dict[str, Any]:
    waits = turn.control.get("held")
    if not isinstance(waits, dict) or _approval(turn, waits) is not None:
        raise ValueError(f"the task `{turn.task}` has no text that waits for an approval")
    if len(name) < SHORTEST or not waits["sha256"].startswith(name.lower()):
        least = f"; at least {SHORTEST} digits name it" if len(name) < SHORTEST else ""
        which = f"which is {waits['sha256'][:16]}, in {waits['file']}"
        raise ValueError(f"`{name}` is not the {waits['kind']} that waits, {which}{least}")
    return waits


def _approval(turn: Turn, asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The approval of exactly this text, given by this user."""
    for approval in turn.control.get("approved") or ():
        same = isinstance(approval, dict) and all(
            approval.get(key) == asked.get(key) for key in ("kind", "sha256", "bound")
        )
        if same and _same(_seal(turn, approval), approval.get("seal")):
            return dict(approval)
    return None


def _same(seal: str, kept: Any) -> bool:
    return (
        bool(seal)
        and isinstance(kept, str)
        and compare_digest(seal.encode(), kept.encode("utf-8", "replace"))
    )


def _seal(turn: Turn, row: Mapping[str, Any]) -> str:
    about = json.dumps([row.get(key) for key in ("kind", "sha256", "bound", "by", "at")])
    return turn.world.seal("approval", turn.task, about)


def _named(rows: Sequence[Mapping[str, Any]]) -> str:
    """What was shown, in a line."""
    said = []
    for row in rows:
        sources = [str(source) for source in row.get("from") or ()]
        more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
        said.append(
            str(row.get("what")) + (f" ({', '.join(sources[:3])}{more})" if sources else "")
        )
    return "; ".join(said[:4]) + (f"; and {len(said) - 4} more" if len(said) > 4 else "")
