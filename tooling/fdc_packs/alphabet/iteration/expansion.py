"""The steps of EXPANSION: what PROPOSER, CRITIC and REFINER are asked, what is made of their answers (ALPH-06 to 24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.text import narrow

from ..model import normal
from ..schemas import Context, Entries, Event, Events, Tree
from .context import composed, primitives_of, rejection_patterns
from .integrate import Change
from .phases import next_strategy
from .replies import Heard, evaluations, read_reply
from .verdicts import Verdict, candidates, judged
from .work import Work, work_of

Value = dict[str, object]
MOST_CONFLICTS = 30
MOST_TRIES = 3
"""How often a candidate that was put off is looked at before it is sent back."""


def asked_proposer(work: Work, cycle: int) -> Context:
    """The proposer's context: gaps, priorities, domains that are thin, what comes back for revision."""
    strategy = work.state["current_strategy"]
    mode = strategy["proposer_mode"]
    gaps = work.state["pending"]["gaps_to_fill"]
    if mode == "GAP_FILLING" and not gaps:
        mode = next_strategy(mode, gaps)
    domains = {domain: len(found) for domain, found in work.alphabet.domains.items()}
    task: Context = {
        "strategy": mode, "count": work.base.config["iteration"]["candidates_per_cycle"], "domains": domains,
        "priorities": strategy["domains_priority"] or sorted(domains, key=lambda name: domains[name])[:3], "gaps": gaps[:30],
        "revise": work.pending["to_revise"][:5], "taken": sorted(work.taken), "primitives": primitives_of(work.alphabet),
    }  # fmt: skip
    return composed(work, "proposer", cycle, task)


def asked_critic(work: Work, cycle: int) -> Context:
    """The critic's context: every candidate that waits, in one batch (ALPH-61), and why others were rejected (ALPH-20)."""
    task: Context = {
        "strictness": work.state["current_strategy"]["critic_strictness"], "candidates": work.pending["to_evaluate"][:20],
        "primitives": primitives_of(work.alphabet), "rejections": narrow(rejection_patterns(work)["last"], list),
        "gaps": work.state["pending"]["gaps_to_fill"][:50],
    }  # fmt: skip
    return composed(work, "critic", cycle, task)


def asked_refiner(work: Work, cycle: int) -> Context:
    """The refiner's context: the candidates that the last critic's step accepted."""
    task: Context = {
        "kind": "integrate",
        "candidates": accepted(work),
        "primitives": primitives_of(work.alphabet),
        "issues": [],
    }
    return composed(work, "refiner", cycle, task)


def accepted(work: Work) -> list[dict[str, object]]:
    """The candidates that were accepted by the last critic's step, with its confidence."""
    steps = work.of("critic")
    rows = steps[-1]["evaluations"] if steps else []
    whole = {
        row["id"]: row for event in [*work.of("proposer"), *steps] for row in event["candidates"]
    }
    found = [row for row in rows if row["verdict"] == "ACCEPT" and row["candidate_id"] in whole]
    return [
        {**whole[row["candidate_id"]], "confidence": row["output"]["confidence"]} for row in found
    ]


def said_by(
    context: Context,
    heard: Heard,
    before: Event | None,
    wrong: str,
    lexicon: Entries | None,
) -> Value:
    """What every staged answer says of itself: who, how warm, each attempt with its text (ALPH-02, 05, 60)."""
    attempts = list(before["attempts"]) if before else []
    attempts.append({"raw": heard.raw, "wrong": wrong})
    return {
        "phase": "EXPANSION", "cycle": context["cycle"], "role": context["role"], "temperature": context["temperature"],
        "embedded": heard.embedded, "attempts": attempts, "wrong": wrong,
        "sizes": {**context["sizes"], "dictionary": (lexicon or {}).get("tokens", 0)},
    }  # fmt: skip


def hear_proposer(
    said: object,
    context: Context,
    tree: Tree,
    staged: Events,
    before: Event | None = None,
    lexicon: Entries | None = None,
) -> Value:
    """What is staged of the proposer's answer; `wrong` where it must be asked again."""
    work = work_of(tree, staged["events"])
    heard = read_reply("proposer", said)
    rows = [] if heard.wrong else heard.value["proposer_output"]["candidates"]
    first = sum(len(event["candidates"]) for event in work.of("proposer")) + 1
    kept, dropped = candidates(rows, work.iteration, first, work.taken)
    warnings = []
    if not heard.wrong and len(rows) != context["count"]:
        warnings.append(f"{len(rows)} candidates where {context['count']} were asked for")
    out = said_by(context, heard, before, heard.wrong, lexicon)
    more = {
        "kind": "proposer",
        "strategy": context["strategy"],
        "candidates": kept,
        "dropped": dropped,
        "warnings": warnings,
    }
    return {**out, **more, "count": len(kept)}


def hear_critic(
    said: object,
    context: Context,
    tree: Tree,
    staged: Events,
    before: Event | None = None,
    lexicon: Entries | None = None,
) -> Value:
    """What is staged of the critic's answer: a verdict for each candidate, or `UNPARSED`, no rejection (ALPH-69, T-54)."""
    work = work_of(tree, staged["events"])
    heard = read_reply("critic", said)
    found = {} if heard.wrong else evaluations(heard.value)
    earlier = {row["candidate_id"]: row for row in before["evaluations"]} if before else {}
    rows, wrong = [], []
    definitions = {normal(one.definition): one.id for one in work.alphabet}
    asked = context["candidates"]
    for candidate in asked:
        output, why = found.get(candidate["id"], (None, heard.wrong or "it has no evaluation"))
        if output is None and len(asked) == 1 and len(found) == 1 and not heard.wrong:
            output, why = next(iter(found.values()))  # it called the only candidate by another name
        row = _row(work, candidate, output, why, definitions)
        if (
            row["verdict"] == "UNPARSED"
            and earlier.get(candidate["id"], row)["verdict"] != "UNPARSED"
        ):
            row = earlier[candidate["id"]]
        if row["verdict"] == "ACCEPT":
            definitions.setdefault(normal(candidate["informal_definition"]), candidate["id"])
        rows.append(row)
        if row["verdict"] == "UNPARSED":
            wrong.append(f"{candidate['id']}: {row['summary']}")
    out = said_by(context, heard, before, "; ".join(wrong)[:2000], lexicon)
    count = sum(row["verdict"] == "ACCEPT" for row in rows)
    return {**out, "kind": "critic", "candidates": asked, "evaluations": rows, "accepted": count}


def _row(
    work: Work,
    candidate: dict[str, Any],
    output: Value | None,
    why: str,
    definitions: Mapping[str, str],
) -> Value:
    verdict: Verdict | str = why if output is None else judged(output, work.alphabet)
    row: Value = {"candidate_id": candidate["id"], "label": candidate["label"], "output": output}
    if isinstance(verdict, str):
        word, said, attack, notes = "UNPARSED", "", "", [verdict]
        summary = verdict
    else:
        word, said, attack, notes = verdict.word, verdict.said, verdict.attack, list(verdict.why)
        summary = str(output["reasoning_summary"]) if output else ""
        same = definitions.get(normal(candidate["informal_definition"]))
        if word == "ACCEPT" and same is not None:
            word, attack = "REFINE", "redundancy"
            notes.append(f"accepted although {same} has the same definition: sent back")
    if word in ("DEFER", "UNPARSED") and candidate.get("tried", 0) + 1 >= MOST_TRIES:
        notes.append(f"put off {MOST_TRIES} times: sent back")
        word = "REFINE"
    told = (
        "; ".join(one for one in (*notes, summary) if one)[:2000]
        if not isinstance(verdict, str)
        else summary
    )
    return {**row, "verdict": word, "said": said, "attack": attack, "notes": notes, "summary": told}


def integrate(
    said: object,
    context: Context,
    tree: Tree,
    staged: Events,
    before: Event | None = None,
    lexicon: Entries | None = None,
) -> Value:
    """What is staged of the refiner's answer: accepted candidates with ids, primes and the relations that hold."""
    work = work_of(tree, staged["events"])
    heard = read_reply("refiner", said)
    change = Change(work.alphabet, work.iteration)
    names = {}
    for candidate in context["candidates"]:
        names[candidate["id"]] = change.integrate(candidate, candidate["confidence"]).id
    output = {} if heard.wrong else heard.value["refiner_output"]
    for row in output.get("integrations", ()):
        for relation in row["relationships_added"] if row["candidate_id"] in names else ():
            target = names.get(relation["target"], relation["target"])
            change.relate(
                names[row["candidate_id"]], relation["type"], target, relation["justification"]
            )
    applied(change, output)
    out = said_by(context, heard, before, heard.wrong, lexicon)
    left = list(dict.fromkeys([*work.state["pending"]["conflicts_to_resolve"], *claimed(output)]))[
        :MOST_CONFLICTS
    ]
    action = output.get("action", "INTEGRATE")
    return {
        **out,
        **change.event(),
        "kind": "refiner",
        "action": action,
        "output": output,
        "conflicts_left": left,
    }


def claimed(output: Mapping[str, object]) -> list[str]:
    """The conflicts that a refiner saw, one line each: CONSOLIDATION looks at them (ALPH-24)."""
    rows = narrow(output.get("conflicts_detected", []), list)
    said = [row if isinstance(row, str) else _sentence(row) for row in rows]
    return [text for text in (" ".join(one.split())[:400] for one in said) if text]


def _sentence(row: Mapping[str, Any]) -> str:
    ids = row.get("ids")
    named = f"{', '.join(map(str, ids[:5]))}: " if isinstance(ids, list) and ids else ""
    return named + str(
        row.get("why")
        or row.get("description")
        or ", ".join(f"{key}: {value}" for key, value in row.items())
    )


def applied(change: Change, output: Mapping[str, object]) -> None:
    """Revisions, mergers and splits of a refiner's answer, each tried on the alphabet."""
    for row in narrow(output.get("revisions", []), list):
        change.revise(row["primitive_id"], row["field_changed"], row["new_value"], row["reason"])
    for row in narrow(output.get("merges", []), list):
        change.merge(row["keep"], row["retire"], row["reason"])
    for row in narrow(output.get("splits", []), list):
        change.split(row["primitive_id"], row["into"], row["reason"])


def refine(context: Context, lexicon: Entries, temperature: object = None) -> Value:
    """The embedded refiner: the relations that the dictionary states, with where it states them."""
    from .critic import relationships

    rows = {normal(str(row["label"])): row for row in lexicon["rows"]}
    known = [*context["primitives"], *context["candidates"]]
    ids = {normal(str(one["label"])): str(one["id"]) for one in context["primitives"]}
    integrations, conflicts = [], []
    for candidate in context["candidates"]:
        row = rows.get(normal(candidate["label"]))
        others = [one for one in known if one["id"] != candidate["id"]]
        found = relationships(row, others) if row is not None else []
        integrations.append({"candidate_id": candidate["id"], "relationships_added": found})
        for label in row["evidence"]["reveals"] if row is not None else ():
            why = f"with `{candidate['label']}` in the alphabet the definition of `{label}` uses primitives alone"
            conflicts.append(
                {
                    "rule": "redundancy",
                    "ids": [ids[normal(label)]] if normal(label) in ids else [],
                    "why": why,
                }
            )
    return {"refiner_output": {
        "action": "INTEGRATE", "integrations": integrations, "conflicts_detected": conflicts[:40], "conflicts_resolved": [],
    }}  # fmt: skip
