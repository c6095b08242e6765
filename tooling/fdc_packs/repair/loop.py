"""The loop of a repair as a value: how its state begins, what each phase makes of an answer, when it ends. Pure.

The state goes from step to step of the plan `fix`; the journal has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import embedded, gates, hypotheses, weighing
from .failure import compiled, progress, read, unchanged
from .loop_state import MOST, State, beginning, bound, event_of, line_of, no_news, told, why_failed
from .patch.region import as_dict, parse_region

if TYPE_CHECKING:
    from . import shapes

CYCLES = 50
"""First errors that are taken on, one after the other (HYP-46)."""


def open_repair(
    measured: shapes.Measured,
    iterations: str | float = 40,
    stalls: str | float = 6,
    patience: str | float = 0,
    refine: str | float = 0,
    passes: str | float = 1,
) -> State:
    """The state before the first iteration; ended already where there is nothing to repair, or nothing to measure it with.

    `patience`: the seconds that a run with a patch may take; 0 for five times as long as the first one took, and ten more.
    `iterations`, `refine`, `passes`: the bound's three numbers; each pass has as many, and begins with an interpretation.
    """
    failure = read(measured)
    ended, notes = beginning(measured, failure)
    state: State = {
        "ended": ended, "cycle": 1, "iteration": 0,
        "limit": min(MOST, bound(iterations, refine, passes)), "pass_limit": bound(iterations, refine),
        "patience": float(patience) or round(10 + 5 * float(measured.get("seconds") or 0), 1),
        "stall_limit": max(1, int(stalls)), "stalls": 0, "failure": failure,
        "store": hypotheses.empty(), "attempts": [], "history": [], "tried": [], "accepted": [], "asked": 0,
        "interpretation": "", "context": [], "notes": notes, "probed": {}, "probes": 0, "tested": [], "choices": [],
    }  # fmt: skip
    return told(state, [])


def hold_interpretation(state: State, answer: object) -> State:
    """Keeps the interpretation for later iterations; the explanation is not kept (HYP-06, 07)."""
    why = gates.interpretation(answer)
    if why or not isinstance(answer, dict):
        said = f"INTERPRET failed: {why}"
        return told(
            state, [event_of("note", said)], interpretation="", notes=[*state["notes"], said]
        )
    return told(state, [], interpretation=answer["interpretation"].strip()[:600])


def hold_probes(state: State, probed: shapes.Probed) -> State:
    """Keeps what was seen of edits that were tried in memory; those that do not help are not tried again."""
    verdicts = probed["verdicts"]
    useless = (key for key, said in verdicts.items() if said in embedded.USELESS)
    tried = list(dict.fromkeys([*state["tried"], *useless]))
    kept = hypotheses.regions(state["store"], [one["hypothesis"] for one in state["accepted"]])
    probed = {**probed, "earlier": state["probes"], "kept": kept}
    notes = [*state["notes"], *weighing.remarks(probed)]
    probes = state["probes"] + len(verdicts)
    return told(state, [], probed=probed, probes=probes, tried=tried, notes=notes)


def admit(state: State, answer: object, files: list[str] | None = None) -> State:
    """DIAGNOSE: takes competing hypotheses in, or asks again, or ends where none can be had (HYP-26, 27, 30, 43).

    `files`: those that may be changed; a region elsewhere is none. None for any.
    """
    failed = why_failed(answer)
    if isinstance(answer, dict) and answer.get("choices"):
        why = [answer["why"]]
        return told(
            state, [event_of("note", why[0])], short=False, refused=why, ended="choice", choices=answer["choices"]
        )  # fmt: skip
    rows = answer.get("hypotheses") if isinstance(answer, dict) else None
    rows = rows if isinstance(rows, list) else []
    done = answer.get("exhausted") is True if isinstance(answer, dict) else False
    asked = state["asked"] + 1
    least = 1 if isinstance(answer, dict) and answer.get("sole") is True else 2  # one edit is read
    made = hypotheses.create(state["store"], rows, state["iteration"] + 1, least, files)
    if made.ids:
        events = [event_of("artifact-emitted", "hypothesis created", id=key) for key in made.ids]
        keys = [
            row["key"] for row in made.store["rows"] if row["id"] in made.ids and row.get("key")
        ]
        tried = list(dict.fromkeys([*state["tried"], *keys]))
        return told(state, events, store=made.store, asked=0, short=False, refused=[], tried=tried)
    said = [f"{row['why']}: {row['claim']}" for row in made.refused]
    reason = str(answer.get("why") or "") if isinstance(answer, dict) else ""
    few = [reason or "fewer than two hypotheses that exclude each other were given"]
    said = [failed] if failed else said or few
    said = [*said, f"this was answer {asked} of 3"]
    events = [event_of("note", "DIAGNOSE failed: fewer than two competing hypotheses", asked=asked)]
    if done or asked >= 3:
        ended = "exhausted" if state["ids"] else "no-hypotheses"
        return told(state, events, short=False, asked=0, refused=said, ended=ended)
    return told(state, events, short=True, asked=asked, refused=said)


def choose(state: State) -> State:
    """Selects the hypothesis of this iteration (HYP-28)."""
    key = None if state["ended"] else hypotheses.select(state["store"], state["iteration"] + 1)
    return told(
        state, [], selected=key or "", settled=key is None, viable=False, failed_falsify=0, falsified=[], challenge=None,
    )  # fmt: skip


def weigh(state: State, challenge: object, executed: dict[str, list[int]] | None = None) -> State:
    """FALSIFY: the hypothesis survives, or is rejected and the next one is taken (HYP-09 to 12).

    `executed`: the lines that failing tests run, by path; None where that is not known.
    """
    row = hypotheses.get(state["store"], state["selected"])
    output = "\n".join([str(state["failure"].get("block", "")), *state["history"]])
    seen: shapes.Seen = {"attempts": state["attempts"], "executed": executed, "output": output}
    read = gates.challenge(challenge, row, seen)
    events = [event_of("note", warning) for warning in read.warnings]
    said = {
        "hypothesis_id": row["id"],
        "contradictions": read.contradictions,
        "warnings": read.warnings,
    }
    store, falsified, failed = state["store"], state["falsified"], state["failed_falsify"]
    if read.wrong:
        events.append(event_of("note", f"FALSIFY failed: {read.wrong}", id=row["id"]))
        if failed == 0:
            return told(
                state,
                events,
                failed_falsify=1,
                challenge={**said, "failed": read.wrong},
                settled=False,
            )
        store = hypotheses.retire(
            store, row["id"], "rejected", f"it could not be put to a test: {read.wrong}"
        )
    elif not read.observed:
        return told(state, events, challenge=said, settled=True, viable=True)
    else:
        status = "falsified" if read.tried else "rejected"
        store = hypotheses.retire(store, row["id"], status, read.observed[0])
        events.append(event_of("note", f"hypothesis {status}", id=row["id"], why=read.observed[0]))
        falsified = [*falsified, row["id"]] if read.tried else falsified
    after: State = {**state, "store": store}
    key = hypotheses.select(store, state["iteration"] + 1)
    if key is None:
        events.append(event_of("note", "no hypothesis is left: regenerate diagnoses"))
    return told(
        after, events, selected=key or "", settled=key is None, viable=False, failed_falsify=0, falsified=falsified,
        challenge=said,
    )  # fmt: skip


def judge_proposal(hypothesis: Mapping[str, object], answer: object) -> dict[str, object]:
    """PROPOSE: whether the change may be written, and why not (HYP-20 to 23)."""
    why = why_failed(answer) or gates.proposal(answer)
    held = answer if isinstance(answer, dict) and not why else {}
    return {
        "ok": not why, "why": why, "hypothesis": hypothesis["id"], "intent": str(held.get("intent", ""))[:600],
        "structural_change": held.get("structural_change"),
    }  # fmt: skip


def attempted(
    state: State, proposal: shapes.Proposal | None = None, patch: shapes.Patch | None = None,
    after: shapes.Measured | None = None,
) -> shapes.Attempt:  # fmt: skip
    """What an iteration did with its hypothesis, as measured (HYP-13, 17 to 19, 34)."""
    before = state["failure"]
    row = state.get("hypothesis") if state.get("viable") else None
    region = as_dict(parse_region(row["affected_region"])) if row else None
    out: shapes.Attempt = {
        "hypotheses": [row["id"]] if row else [], "region": region, "applied": False, "passed": False, "progress": False,
        "unchanged": True, "reason": "missing-diff", "why": "", "before": before, "after": None, "diff": "",
        "proposal": proposal,
    }  # fmt: skip
    if row is None:
        return {
            **out,
            "why": "no hypothesis survived" if state["ids"] else "no hypothesis exists",
        }
    if proposal is not None and not proposal["ok"]:
        return {**out, "reason": "empty-response" if proposal["why"].startswith("no answer") else "missing-diff",
                "why": f"the proposal was rejected: {proposal['why']}"}  # fmt: skip
    if patch is None or not patch["ok"]:
        return {
            **out,
            "reason": patch["reason"] if patch else "missing-diff",
            "why": patch["why"] if patch else "",
            "diff": "",
        }
    if after is None:
        return {**out, "diff": patch["diff"], "reason": "patch-apply", "why": "it was not measured"}
    now = read(after)
    same = not after["passed"] and unchanged(before, now)
    better = after["passed"] or progress(before, now)
    reason = "" if better else "unchanged-error" if same else compiled(after)
    out["why"] = str(after.get("why") or "")
    return {**out, "applied": True, "passed": after["passed"], "progress": better, "unchanged": same, "reason": reason,
            "after": now, "diff": patch["diff"], "path": patch["path"], "spans": patch["spans"],
            "digest": patch["digest"], "checked": str(after.get("checked") or "")}  # fmt: skip


def conclude(state: State, attempt: shapes.Attempt, critique: object = None) -> State:
    """CONVERGE: one line of history, one record, the hypothesis retired or kept, the end where it has come."""
    number = state["iteration"] + 1
    ids = attempt["hypotheses"]
    if attempt["applied"] and len(ids) != 1:
        raise hypotheses.Illegal(f"a patch belongs to exactly one hypothesis, not to {len(ids)}")
    said = gates.critique(critique, attempt["before"], attempt["after"])
    events = [
        event_of(
            "metric-recorded",
            "patch effect",
            unchanged=attempt["unchanged"],
            passed=attempt["passed"],
        )
    ]
    store, stalls, reason = state["store"], state["stalls"], attempt["reason"]
    last = state["attempts"][-1] if state["attempts"] else None
    record: shapes.Record = {
        "iteration": number, "cycle": state["cycle"], "hypothesis": ids[0] if ids else "", "region": attempt["region"],
        "applied": attempt["applied"], "accepted": attempt["progress"], "unchanged": attempt["unchanged"], "reason": reason,
        "previous": said["previous"], "current": said["current"],
    }  # fmt: skip
    stalled = bool(ids) and last is not None and not attempt["progress"] and no_news(last, record)
    changes: State = {"fresh": False, "anew": False}
    if attempt["applied"]:
        changes["tested"] = [*state["tested"], attempt["digest"]]
    if attempt["progress"] and ids:
        changes["accepted"] = [
            *state["accepted"], {"hypothesis": ids[0], "diff": attempt["diff"], "path": attempt["path"]},
        ]  # fmt: skip
        stalls = 0
    elif ids:
        store, more = _failed_once(store, ids[0], attempt, stalled, number)
        events += more
        stalls = stalls + 1 if stalled else 0
        if stalled:
            record["reason"] = reason = "stall"
            events.append(event_of("note", "stall", id=ids[0], stalls=stalls))
    ended = state["ended"]
    if attempt["passed"]:
        ended = "fixed"
        changes["notes"] = [*state["notes"], *([attempt["checked"]] if attempt["checked"] else [])]
        store = hypotheses.expire(store, "the test passes")
    elif not ended and not state["ids"]:
        ended = "no-hypotheses"
    elif not ended and stalls >= state["stall_limit"]:
        ended = "stalled"
    elif not ended and number >= state["limit"]:
        ended = "bound"
    if attempt["progress"] and not attempt["passed"]:
        store = hypotheses.expire(store, "another error is the first one now")
        ended = ended or ("bound" if state["cycle"] >= CYCLES else "")
        changes |= {
            "failure": attempt["after"] or state["failure"],
            "cycle": state["cycle"] + 1,
            "fresh": not ended,
            "anew": not ended,
        }
    elif not ended and number % state["pass_limit"] == 0:
        store, stalls = hypotheses.expire(store, "another pass begins"), 0
        changes["anew"] = True
    if ended:
        store = hypotheses.expire(store, f"the repair ended: {ended}")
    if changes["anew"]:  # what was only proposed may be proposed again
        untried = {
            row["key"]
            for row in hypotheses.listed(store, "expired")
            if row.get("key") and not row["retry_count"]
        }
        changes["tried"] = [key for key in state["tried"] if key not in untried]
    line = line_of(number, attempt, reason, said["assessment"])
    return told(
        {**state, **changes, "store": store, "stalls": stalls, "ended": ended}, events, iteration=number,
        history=[*state["history"], line], attempts=[*state["attempts"], record], selected="", viable=False, settled=True,
        critique=said, challenge=None, falsified=[],
    )  # fmt: skip


def _failed_once(
    store: shapes.Hypotheses, key: str, attempt: shapes.Attempt, stalled: bool, number: int
) -> tuple[shapes.Hypotheses, list[dict[str, object]]]:
    """The store after an attempt that did not help."""
    why = attempt["why"] or attempt["reason"]
    no_op = attempt["reason"] == "empty-diff" or (attempt["applied"] and attempt["unchanged"])
    row = hypotheses.get(store, key)
    store = hypotheses.failed(store, key, f"iteration {number}: {why}", no_op)
    events = [event_of("note", "retry", id=key, count=row["retry_count"] + 1)]
    now = hypotheses.get(store, key)
    if now["standing"] != row["standing"]:
        events.append(event_of("note", f"hypothesis {now['standing']}", id=key))
    if now["status"] == "active" and not attempt["applied"] and not no_op:  # it may be given again
        store = hypotheses.retire(store, key, "expired", f"no patch of it was applied: {why}")
    elif now["status"] == "active" and stalled:
        store = hypotheses.retire(store, key, "archived", "a stall: it is replaced, not refined")
    elif now["status"] == "active" and now.get("edit"):
        store = hypotheses.retire(store, key, "archived", "it has no other edit to try")
    if hypotheses.get(store, key)["status"] == "archived":
        events.append(event_of("note", "hypothesis archived", id=key))
    if stalled or (no_op and attempt["applied"]):
        scope = attempt["region"]
        for other in hypotheses.listed(store, "active"):
            if parse_region(other["affected_region"])[:3] == parse_region(scope)[:3]:
                store = hypotheses.doubt(store, other["id"])
    return store, events


def requested(answer: object) -> shapes.Wanted:
    """GATHER: the context that an answer asks for (HYP-45)."""
    rows, note = gates.requests(answer)
    return {"requests": rows, "note": note}


def gathered(state: State, wanted: shapes.Wanted, found: shapes.Gathered) -> State:
    """The state with context that was asked for; three answers at most (HYP-45)."""
    parts, note = found["parts"], wanted["note"]
    asked = state.get("gathers", 0) + 1
    notes = [*state["notes"], note] if note else state["notes"]
    events = [event_of("note", note)] if note else []
    over = not parts or asked >= 3
    context = [*state["context"], *parts][-12:]
    return told(
        state, events, context=context, gathers=0 if over else asked, gathered=over, notes=notes
    )


def outcome(state: State, closed: shapes.Closed) -> dict[str, object]:
    """How the repair ended, for the caller."""
    changes, diff = closed["changes"], closed["diff"]
    ended = state["ended"] or "bound"
    status = ended if ended in ("fixed", "passing") else "partial" if changes else "none"
    return {
        "ended": ended, "status": status, "diff": diff, "changes": changes, "iterations": state["iteration"],
        "cycles": state["cycle"], "failure": state["failure"], "history": state["history"], "attempts": state["attempts"],
        "hypotheses": hypotheses.buckets(state["store"]), "notes": state["notes"], "why": "; ".join(state["refused"][:3]),
        "probes": state["probes"],
        "choices": [{**row, "file": name} for row, name in zip(state.get("choices", ()), closed.get("choices", ()))],
    }  # fmt: skip


def guessed(
    state: State, patch: shapes.Patch, after: shapes.Measured | None = None
) -> shapes.Attempt:
    """What a patch without a hypothesis did: it passes, or it does not."""
    passed = after is not None and bool(after["passed"])
    now = read(after) if after is not None else None
    reason = patch["reason"] if after is None else "" if passed else compiled(after)
    return {
        "hypotheses": [], "region": None, "applied": after is not None, "passed": passed, "progress": passed,
        "unchanged": now is None or unchanged(state["failure"], now), "reason": reason, "why": patch["why"],
        "before": state["failure"], "after": now, "diff": patch["diff"],
        "path": patch["path"], "spans": patch["spans"], "key": patch["key"], "proposal": None,
        "checked": str(after.get("checked") or "") if after is not None else "",
    }  # fmt: skip


def plain(state: State, attempt: shapes.Attempt) -> State:
    """What generate-and-test makes of an attempt: no hypothesis, no stall, no measure but the test."""
    number = state["iteration"] + 1
    key = attempt.get("key")
    tried = [*state["tried"], key] if key else state["tried"]
    record: shapes.Record = {
        "iteration": number, "reason": attempt["reason"], "applied": attempt["applied"], "accepted": attempt["passed"],
        "region": None, "hypothesis": "", "unchanged": attempt["unchanged"],
    }  # fmt: skip
    ended = (
        "fixed"
        if attempt["passed"]
        else "exhausted"
        if attempt["reason"] == "empty-response"
        else ""
    )
    ended = ended or ("bound" if number >= state["limit"] else "")
    line = line_of(number, attempt, attempt["reason"], "")
    notes = (
        [*state["notes"], attempt["checked"]]
        if attempt["passed"] and attempt["checked"]
        else state["notes"]
    )
    attempts, history = [*state["attempts"], record], [*state["history"], line]
    return told(
        state,
        [],
        ended=ended,
        iteration=number,
        tried=tried,
        attempts=attempts,
        history=history,
        notes=notes,
    )
