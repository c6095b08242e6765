"""META_REFLECTION: the numbers of a period, the embedded meta-reasoner, claims held against the numbers (ALPH-29 to 31)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fdc_toolchain.api.text import narrow

from ..model import CORE_DOMAINS
from ..schemas import Context
from .work import Work

Value = dict[str, object]


def period(work: Work) -> Value:
    """What happened since the last reflection, computed from the logs alone (ALPH-30)."""
    since = work.state["history"]["iterations_since_last_meta"]
    past = work.base.summaries[-since:] if since else []
    rows = [row for event in work.of("critic") for row in event["evaluations"]]
    words = [word for summary in past for word in summary.get("verdicts", ())] + [
        row["verdict"] for row in rows
    ]
    attacks = Counter(
        [str(one) for summary in past for one in summary.get("failed_attacks", ())]
        + [row["attack"] for row in rows if row["verdict"] == "REJECT"]
    )
    decided = [word for word in words if word in ("ACCEPT", "REJECT", "REFINE")]
    added = sum(len(summary.get("primitives_added", ())) for summary in past) + len(work.added)
    before = past[0].get("metrics_before", {}) if past else work.base.state["metrics"]
    return {
        "iteration_range": [past[0]["iteration"] if past else work.iteration, work.iteration],
        "primitives_added": added,
        "primitives_rejected": words.count("REJECT"),
        "candidates": len(words),
        "acceptance_rate": round(decided.count("ACCEPT") / len(decided), 4) if decided else 0.0,
        "coverage_before": float(before.get("coverage_score", 0.0)),
        "coverage_after": float(work.state["metrics"]["coverage_score"]),
        "failed_attacks": dict(attacks.most_common()),
        "by_domain": {
            domain: len(work.alphabet.domains.get(domain, ())) for domain in CORE_DOMAINS
        },
        "gaps": work.state["pending"]["gaps_to_fill"][:10],
        "strategy": dict(work.state["current_strategy"]),
        "total": len(work.alphabet),
        "tested": int(work.coverage.get("total", 0)),
    }


def reflect(context: Context, temperature: object = None) -> Value:
    """The embedded meta-reasoner: every sentence is computed from the period's numbers.

    Primitives that express no more of the test concepts than there were before them speak for a critic that is too lenient;
    where he cannot be stricter, nothing more is to be had from a dictionary, and the work is concluded.
    """
    found = context["period"]
    thin = sorted(found["by_domain"], key=lambda name: (found["by_domain"][name], name))[:3]
    rate = found["acceptance_rate"]
    idle = (
        found["tested"] > 0
        and found["primitives_added"] > 0
        and found["coverage_after"] <= found["coverage_before"]
    )
    done = idle and found["strategy"]["critic_strictness"] >= 1.0
    calibration = (
        "too_lenient" if idle or rate > 0.8 else "too_strict" if rate < 0.2 else "balanced"
    )
    poor = found["candidates"] >= 5 and rate < 0.2 and not idle
    patterns = [
        {
            "pattern": f"candidates fail the attack {name}",
            "frequency": number,
            "implications": _implied(name),
        }
        for name, number in found["failed_attacks"].items()
        if name
    ]
    corrections = {
        "strategy_adjustments": [
            {
                "component": "PROPOSER",
                "adjustment": f"look first at {', '.join(thin)}",
                "rationale": "they have the fewest",
            }
        ],
        "domain_priorities": thin,
        "criterion_calibration": _said(found, calibration, idle, done),
    }
    return {"meta_reflection": {
        "progress": {key: found[key] for key in PROGRESS},
        "patterns_observed": patterns,
        "strategy_assessment": {
            "proposer_effectiveness": max(1, min(5, 1 + round(4 * rate))), "critic_calibration": calibration,
            "domain_coverage_balance": ", ".join(f"{name} {number}" for name, number in found["by_domain"].items()),
        },
        "philosophical_observations": {
            "assumptions_identified": [{
                "assumption": "what a dictionary defines without a circle through its own word is primitive",
                "problematic": True, "mitigation": "a model, or a person, reads what was accepted",
            }],
            "tradition_bias": "English as a dictionary has it", "leibniz_alignment": 3,
        },
        "course_corrections": corrections,
        "decision": "CONCLUDE" if done else "PIVOT" if poor else "CONTINUE",
        "next_period_predictions": [],
        "insights_for_archive": [{"insight": row["pattern"], "category": "methodological"} for row in patterns[:2]],
    }}  # fmt: skip


PROGRESS = (
    "primitives_added",
    "primitives_rejected",
    "acceptance_rate",
    "coverage_before",
    "coverage_after",
)


def _said(found: Value, calibration: str, idle: bool, done: bool) -> str:
    said = f"{found['acceptance_rate']:.0%} of the candidates of the period were accepted"
    if idle:
        said += f", and {found['primitives_added']} primitives express no more of {found['tested']} test concepts than there were"
    more = (
        "; the critic cannot be stricter, and nothing more is to be had from a dictionary"
        if done
        else ""
    )
    return f"{said}: {calibration.replace('_', ' ')}{more}"


def _implied(attack: str) -> str:
    return {
        "decomposition": "they are made of simpler ones: propose those",
        "circularity": "their definitions lead back to them: propose the words that the circles share",
        "redundancy": "the alphabet can say them already",
        "parsimony": "little is lost without them",
    }.get(attack, "their meaning is not stable")


def mismatches(output: Mapping[str, object], found: Mapping[str, float]) -> list[str]:
    """ALPH-30: what a reflection claims of the period, and the logs do not say."""
    out = []
    for key in PROGRESS:
        claimed = narrow(output["progress"], dict)[key]
        if abs(claimed - found[key]) > 0.005:
            out.append(f"{key}: it says {claimed}, the logs say {found[key]}")
    return out
