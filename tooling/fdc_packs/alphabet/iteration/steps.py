"""The other steps of an iteration: opening it, CONSOLIDATION, COMPOSITION, META_REFLECTION (ALPH-28 to 31, 44, 45, 82, 87)."""

from __future__ import annotations

from collections import Counter

from fdc_toolchain.api.text import narrow

from ..calculus.consistency import violations
from ..model import PHASES
from ..schemas import Context, Entries, Event, Events, Tree
from . import expansion, reflection
from .context import composed, primitives_of
from .expansion import said_by
from .integrate import Change, resolve
from .phases import COMPOSITION_WORK, Facts, phases, triggers
from .replies import read_reply
from .work import Work, base_of, row_of, work_of

Value = dict[str, object]


def open_iteration(tree: Tree) -> Value:
    """What the iteration consists of: its number, and the cycles of each phase."""
    base = base_of(tree)
    counted: dict[str, list[int]] = {phase.lower(): [] for phase in PHASES[:3]}
    for phase, cycle in phases(base.config):
        counted[phase.lower()].append(cycle)
    stopped = base.state["history"]["stopped"]
    return {
        "iteration": base.state["current_iteration"] + 1,
        "stopped": stopped,
        **counted,
        "primitives": len(base.alphabet),
    }


def compose_context(tree: Tree, staged: Events, role: str, cycle: int) -> Context:
    """The context of a role's question. Raises TooLarge, StateError, ConfigError."""
    work = work_of(tree, staged["events"])
    number = int(cycle)
    if role == "proposer":
        return expansion.asked_proposer(work, number)
    if role == "critic":
        return expansion.asked_critic(work, number)
    if role == "meta_reasoner":
        facts = facts_of(work)
        task: Context = {
            "kind": "reflect",
            "period": reflection.period(work),
            "reasons": triggers(facts, work.base.config),
        }
        return composed(work, "meta_reasoner", number, task)
    return expansion.asked_refiner(work, number)


def review_alphabet(tree: Tree, staged: Events, cycle: int) -> Value:
    """CONSOLIDATION looks: every broken rule, every conflict that is still open; the context of who resolves them."""
    work = work_of(tree, staged["events"])
    found = violations(work.alphabet)
    issues = [{"rule": one.rule, "ids": list(one.ids), "why": one.why} for one in found]
    words = [
        work.alphabet.primitives[name].label
        for one in found
        for name in one.ids
        if name in work.alphabet.primitives
    ]
    issues += [
        {"rule": "conflict", "ids": [], "why": why}
        for why in work.state["pending"]["conflicts_to_resolve"]
    ]
    task: Context = {
        "kind": "resolve",
        "issues": issues[:3],
        "candidates": [],
        "primitives": primitives_of(work.alphabet),
        "words": words,
    }
    return {"count": len(issues), "context": composed(work, "refiner", int(cycle), task)}


def answer(context: Context, lexicon: Entries, temperature: object = None) -> Value:
    """The embedded refiner. To open issues it answers nothing beyond what is mended without judgement."""
    if context["kind"] != "resolve":
        return expansion.refine(context, lexicon)
    nothing: Value = {"revisions": [], "conflicts_detected": [], "conflicts_resolved": []}
    return {"refiner_output": {"action": "REVISE", **nothing}}


def consolidate(
    said: object,
    context: Context,
    tree: Tree,
    staged: Events,
    before: Event | None = None,
    lexicon: Entries | None = None,
) -> Value:
    """What is staged of a consolidation cycle: what the refiner changed, then what can be mended without guessing (C-25)."""
    work = work_of(tree, staged["events"])
    heard = read_reply("refiner", said)
    output = {} if heard.wrong else heard.value["refiner_output"]
    change = Change(work.alphabet, work.iteration)
    expansion.applied(change, output)
    left = resolve(change, violations(change.alphabet))
    for one in change.alphabet:
        if one.reviewed != work.iteration and one.status == "contested":
            change.touched[one.id] = one._replace(reviewed=work.iteration)
    out = {**said_by(context, heard, before, heard.wrong, lexicon), "phase": "CONSOLIDATION"}
    more = {"kind": "consolidation", "action": output.get("action", "REVISE"), "output": output}
    shown = {issue["why"] for issue in context["issues"]}
    waiting = [why for why in work.state["pending"]["conflicts_to_resolve"] if why not in shown]
    return {
        **out,
        **change.event(),
        **more,
        "conflicts_left": [*(one.why for one in left), *waiting],
    }


def quiet_review(tree: Tree, staged: Events, cycle: int) -> Value:
    """What is staged of a consolidation cycle that found nothing."""
    work = work_of(tree, staged["events"])
    return {
        **Change(work.alphabet, work.iteration).event(), "kind": "consolidation", "phase": "CONSOLIDATION",
        "cycle": int(cycle), "role": "refiner", "conflicts_left": [], "attempts": [], "output": {}, "action": "REVISE",
        "embedded": True, "wrong": "", "temperature": 0,
    }  # fmt: skip


def measure_composition(tree: Tree, staged: Events, cycle: int) -> Value:
    """A cycle of COMPOSITION: coverage of the test concepts, then what the practice concepts lack, then what composes well."""
    work = work_of(tree, staged["events"])
    kind = COMPOSITION_WORK[(int(cycle) - 1) % len(COMPOSITION_WORK)]
    out: Value = {
        "kind": "composition",
        "phase": "COMPOSITION",
        "cycle": int(cycle),
        "work": kind,
        "primitives": [],
    }
    if not work.base.config["validation"]["run_coverage_check"]:
        return {**out, "work": "nothing", "result": {}}
    from ..calculus import metrics

    if kind == "coverage":
        measured = metrics.coverage(work.alphabet, work.base.concepts, work.base.rejected)
        return {**out, "result": measured}
    if kind == "gaps":  # of the concepts to practise with: what measures is never shown
        measured = metrics.coverage(work.alphabet, work.base.practice, work.base.rejected)
        lacks = narrow(measured["gaps"], list)[:30]
        needed = {str(row["gap"]): row["needed_by"] for row in lacks}
        return {**out, "result": {"gaps": list(needed), "needed_by": needed}}
    return {**out, **_calculus(work)}


def _calculus(work: Work) -> Value:
    """How often each primitive is used by the concepts to practise with, and which are used together (ALPH-25)."""
    from ..calculus import metrics

    used: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    labels = [one.label for one in work.alphabet]
    known = metrics.derived(work.alphabet, work.base.rejected)
    for made in metrics.expressed(labels, metrics.tests_of(work.base.practice), known).values():
        whole = sorted(
            one.id for one in map(work.alphabet.labelled, made.primitives) if one is not None
        )
        if not made.missing:
            used.update(whole)
            pairs.update((one, other) for at, one in enumerate(whole) for other in whole[at + 1 :])
    change = Change(work.alphabet, work.iteration)
    for (one, other), number in sorted(pairs.items()):
        if number >= 2:
            change.relate(
                one, "composes_with", other, f"{number} practice concepts are composed of both"
            )
    touched = dict(change.touched)
    for primitive in change.alphabet:
        if primitive.used != used[primitive.id]:
            touched[primitive.id] = primitive._replace(used=used[primitive.id])
    together = [list(pair) for pair, number in sorted(pairs.items()) if number >= 2]
    return {
        "primitives": [row_of(row) for row in touched.values()],
        "result": {"used": dict(used), "composes_well": together},
    }


def facts_of(work: Work) -> Facts:
    """What triggers and stopping conditions look at. An iteration whose answers could not be read shows nothing."""
    done = [row for row in work.base.summaries[-100:] if not row.get("unread")]
    now = () if work.unread else (work,)
    history, gaps = work.state["history"], work.coverage.get("gaps") or []
    tested = int(work.coverage.get("total", 0))
    last = work.of("reflection")
    output = last[-1]["output"] if last else {}
    rate, decided = acceptance(work)
    new = [name for name in work.changed if name not in work.added]
    return Facts(
        iteration=work.iteration,
        since_meta=history["iterations_since_last_meta"] + (0 if last else 1),
        rate=rate,
        decided=decided,
        circles=sum(one.rule == "circularity" for one in violations(work.alphabet))
        if not last
        else 0,
        gap=gaps[0]["needed_by"] / tested if gaps and tested else 0.0,
        coverage=float(work.coverage.get("coverage", 0.0)),
        tested=tested,
        requested=history["reflection_requested"],
        added=(
            *(len(row.get("primitives_added", ())) for row in done),
            *(len(one.added) for one in now),
        ),
        changed=(
            *(len(row.get("primitives_changed", ())) for row in done),
            *(len(new) + len(one.retired) for one in now),
        ),
        pivots=(*(bool(row.get("pivot", False)) for row in done), *(one.pivots[0] for one in now)),
        decision=str(output.get("decision", "")) if output else "",
        reason=str(output.get("course_corrections", {}).get("criterion_calibration", ""))
        if output
        else "",
    )


def acceptance(work: Work, window: int = 20) -> tuple[float, int]:
    """The acceptance rate of the last `window` verdicts, and how many they are (T-53: recent, not of a lifetime)."""
    found: list[str] = [word for row in work.base.summaries for word in row.get("verdicts", ())]
    found += [row["verdict"] for event in work.of("critic") for row in event["evaluations"]]
    decided = [word for word in found if word in ("ACCEPT", "REJECT", "REFINE")][-window:]
    return (round(decided.count("ACCEPT") / len(decided), 4), len(decided)) if decided else (0.0, 0)


def check_triggers(tree: Tree, staged: Events) -> Value:
    """Whether a reflection is due, and why (ALPH-28)."""
    work = work_of(tree, staged["events"])
    found = triggers(facts_of(work), work.base.config)
    return {"meta": bool(found), "reasons": found}


def hear_reflection(
    said: object, context: Context, tree: Tree, staged: Events, before: Event | None = None
) -> Value:
    """What is staged of a reflection, its numbers held against ours (ALPH-29, 30)."""
    work_of(tree, staged["events"])
    heard = read_reply("meta_reasoner", said)
    output = {} if heard.wrong else heard.value["meta_reflection"]
    out = {**said_by(context, heard, before, heard.wrong, None), "phase": "META_REFLECTION"}
    claims = reflection.mismatches(output, context["period"]) if output else []
    more = {
        "kind": "reflection",
        "reasons": context["reasons"],
        "period": context["period"],
        "mismatches": claims,
    }
    return {**out, **more, "output": output}
