"""Of edits that pass when they are tried in memory: which comes first, and whether what was seen of them tells it apart. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shapes import Candidate, Probed

SAID = 8
"""Characters that count as little as what the file says everywhere counts more than what it says nowhere."""
WORDS = 1.8
"""Characters that count as much as it counts that an edit was half as likely, of edits that behave alike."""
STANDS = 12
"""Characters that a line counts as which the file has elsewhere: to find a line takes less than to make one."""
REBINDS = 12
"""Characters that count as much as it counts that an edit gives a value to another name."""
CRASHES, RISKY, PLAIN, MENDS = range(4)
"""What edits that pass are trusted by: the edited code raises by accident what a test expects; it negates or drops something, or
no test gets to where it failed; neither; it also uses a name that nothing used, or that the error misses."""
DOUBT = 2.0
"""How much likelier an edit that drops something was than the one that is trusted most, where neither is applied."""
FAINT = 0.01
"""The share of what the likeliest of all edits was worth, below which an edit is far-fetched: there are hundreds of that kind,
and few of them were tried. It is applied where it was measured, no other one passes and it puts there what code says elsewhere:
of eight such edits of six seeds seven were right."""
INVENTS = frozenset(("constant", "pattern"))
"""Kinds of edits that put something there which the code need not say anywhere else."""
BEHIND = 500
"""The number of likelier edits behind which one that is less likely than the average counts as faint, too."""
MANY = 20
"""Tests that run what an edit changes and all pass with it, from which on they speak for an edit that is faint, too."""
DOUBLING = 0.05
"""The share of the inputs that an edit may change more than another one, for each time that it was twice as likely as needed."""
TURNED = 0.5
"""What the proposer takes from the worth of an edit that turns a condition round, before any was tried."""
IDLE = 4.0
"""How much less likely an edit is with which no input gets to lines that are run with another one: what is there has a use."""
LINES, ARGUMENTS = 1, 2
"""Colons in the names of what can be idle: `FUNCTION:LINE`, and `FUNCTION:LINE:ARGUMENT`."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


def told_apart(passing: Sequence[Candidate]) -> bool:
    """True where one of several edits that pass, best first, changes less than the others over generated inputs, or the
    others behave as it does. Only the most trusted ones compete, and those that were much likelier before; where these negate
    or drop something, changing less says nothing, and where they crash, nothing is decided. How likely a behaviour was is the sum
    over the edits that have it. One that changes less may have been less likely, one that changes more must have been likelier
    (`_belief`); of those that change as much, one that the others only elaborate wins as well. Where nothing can be measured (no
    pytest), the most credible one is taken, and that is said; where measuring failed, nothing is decided."""
    passing = _near(passing)
    most = max(_trust(row) for row in passing)
    best, *others = [row for row in passing if _trust(row) == most]
    if not best.get("faint"):
        others = [row for row in others if not row.get("faint")]
    if most == CRASHES or (others and _hides(best)):
        return False  # what failed is not mended, and there is more than one way round it
    if best.get("turns_default") or best.get("evades"):
        return (
            False  # every caller would get something else, or what the error speaks of is as it was
        )
    if (
        best.get("faint")
        and most != MENDS
        and (others or best.get("kind") in INVENTS or not best["change"][1])
        and not _well_tested(best)
    ):
        return False
    if not any(row["change"][1] for row in (best, *others)):
        tried = any(
            row["change"][2] for row in (best, *others)
        )  # in vain: nothing is known of them
        return not others or (most != RISKY and not tried)
    every, outcomes = best["change"][1:3]
    before = _before([best, *others])
    belief = _belief(best, before)
    for row in others:
        inputs, same = row["change"][1:3]
        if not every or not inputs:
            return False
        alike = _share(row) == _share(best) and _elaborates(row, best)
        alike = alike and row["before"] <= best["before"]
        firm = belief >= _belief(row, before) + (0 if alike else math.log2(DOUBT))
        if same != outcomes and (most == RISKY or not firm):
            return False
    doubts = [row for row in passing if _trust(row) == RISKY and row["change"][2] != outcomes]
    return most != PLAIN or all(_dismissed(row, before[outcomes]) for row in doubts)


def _near(passing: Sequence[Candidate]) -> list[Candidate]:
    """The edits without the faint ones beside which another one that passes was a hundred times likelier."""
    least = FAINT * max((row["before"] for row in passing), default=0.0)
    return [row for row in passing if not row.get("faint") or row["before"] >= least]


def _dismissed(row: Candidate, likely: float) -> bool:
    """Whether an edit that negates or drops something counts for nothing beside a behaviour that was so `likely`. That it passes
    weak tests is no reason against a condition turned round where the other one passes them, too."""
    return row["before"] < (TURNED if _turns(row) else DOUBT) * likely


def _before(rows: Sequence[Candidate]) -> dict[str, float]:
    """How likely each behaviour over generated inputs was before: the sum over the edits that have it."""
    out: dict[str, float] = {}
    for row in rows:
        out[row["change"][2]] = out.get(row["change"][2], 0.0) + row["before"]
    return out


def _belief(row: Candidate, before: dict[str, float]) -> float:
    """The logarithm (base 2) of how likely the behaviour of an edit was, less one for each DOUBLING of the inputs that it
    changes. An edit that does less than it must agrees with the tests and changes less than the right one: changing less alone
    decides nothing."""
    return math.log2(max(before[row["change"][2]], 1e-9)) - _share(row) / DOUBLING


def _share(row: Candidate) -> float:
    """The share of the inputs for which an edit gives another outcome: of each function's, and each function counts as much."""
    differ, every, *more = row["change"]
    return more[5] if more[5:] else differ / every if every else 0.5


def why_undecided(passing: Sequence[Candidate]) -> str:
    """What a person is told of edits that pass and are not told apart."""
    if len(passing) > 1:
        return f"all tests pass with {len(passing)} different small edits, and nothing that was measured says which is meant"
    if passing[0].get("turns_default"):
        return "all tests pass with one small edit, but it turns round what every caller gets that does not give the argument"
    if passing[0].get("evades"):
        return "all tests pass with one small edit, but it leaves what the error speaks of as it is"
    if passing[0].get("faint"):
        return "all tests pass with one small edit, but it is a far-fetched one, and nothing else speaks for it"
    return "all tests pass with one small edit, but only because the edited code itself cannot run"


def of_each_behaviour(passing: Sequence[Candidate]) -> list[Candidate]:
    """Of edits that pass and are not told apart, the likeliest of each behaviour over generated inputs, the likeliest first."""
    out: dict[str, Candidate] = {}
    for row in sorted(passing, key=worth_of, reverse=True):
        out.setdefault(row["change"][2] if row["change"][1] else row["key"], row)
    return list(out.values())


def _elaborates(row: Candidate, best: Candidate) -> bool:
    """True where an edit of the same place says all that another one does, and more that no test asks for."""
    (place, gone, more), (other, lost, less) = (_lines(one.get("diff", "")) for one in (row, best))
    left = iter(_TOKEN.findall(more))
    same = bool(less) and (place, gone) == (other, lost)
    return same and all(one in left for one in _TOKEN.findall(less))


def _lines(diff: str) -> tuple[list[str], list[str], str]:
    """Where a diff of one place changes something, the lines that it takes away, and those that it puts there."""
    rows = diff.splitlines()[2:]
    places = [row.partition("+")[0] for row in rows if row[:2] == "@@"]
    gone = [row for row in rows if row[:1] == "-"]
    return places, gone, "\n".join(row[1:] for row in rows if row[:1] == "+")


def _trust(row: Candidate) -> int:
    """How far a test that passes with an edit speaks for it."""
    if any(row["change"][3:4]):
        return CRASHES
    return RISKY if row["risky"] or _hides(row) else MENDS if row["mends"] else PLAIN


def _hides(row: Candidate) -> bool:
    """True where no test gets any more to where it failed, unless that is what a guard is for."""
    return any(row["change"][4:5]) and not row.get("turned")


def weighed(found: Sequence[Candidate], probed: Probed) -> list[Candidate]:
    """The candidates by what a probe of their edit has shown, how little it changes, and what they were worth before."""
    verdicts, changes = probed.get("verdicts") or {}, probed.get("changes") or {}
    out: list[Candidate] = []
    worths = sorted(map(worth_of, found), reverse=True)
    average = sum(worths) / max(1, len(worths))
    least = max(
        FAINT * max(worths, default=0.0),
        min(average, *worths[BEHIND : BEHIND + 1]) if worths[BEHIND:] else 0.0,
    )
    for row in found:
        said = verdicts.get(row["key"])
        worth = row["confidence"] / 2
        if said is not None:
            worth = (0.4 if said == "helps" else 0.0) + row["confidence"] / 10
        made: Candidate = {**row, "confidence": round(worth, 4)}
        if said:
            change = changes.get(row["key"]) or [0, 0, "", False]
            made |= {"probe": said, "change": change, "before": worth_of(row)}
            made |= {"faint": True} if worth_of(row) < least else {}
        out.append(made)
    passing = [row for row in out if row.get("probe") == "passes"]
    for row in passing:
        if row not in _near(passing):
            row["risky"] = True
        if any(_idle(row, other, LINES) for other in passing):
            row |= {"before": row["before"] / IDLE, "idle": True}
    _doubt(passing)
    turned_places = [_place(row) for row in passing if _turns(row)]
    for row in passing:  # a condition more says nothing that the same one turned round does not say
        if row["key"].startswith("narrowed-") and _place(row) in turned_places:
            row["risky"] = True
    for trust in {_trust(row) for row in passing}:
        rows = [row for row in passing if _trust(row) == trust]
        likely = _before(rows)
        for row in rows:  # first what was likely and changes little; what negates or drops last
            near = 2 ** min(0.0, _belief(row, likely) / 8)
            row["confidence"] = round(0.5 + 0.13 * trust + 0.08 * near + row["confidence"] / 100, 4)
    out.sort(key=lambda row: -row["confidence"])
    if out and out[0].get("probe") == "passes" and out[0]["change"][1]:
        best = out[0]
        first = _for_all_that_behave_so(best, passing)
        if first is not best:
            first["confidence"] = round(best["confidence"] + 0.0001, 4)
            out.sort(key=lambda row: -row["confidence"])
    return out


def _doubt(passing: Sequence[Candidate]) -> None:
    """Marks as `risky` the edits with which an argument has no effect that it has with another one."""
    for row in passing:
        others = [one for one in passing if one["change"][2] != row["change"][2]]
        if not _hides(row):  # what never gets to where it failed shows no use of anything there
            others = [one for one in others if not _hides(one)]
        if _trust(row) == MENDS:  # what is there has no use without it
            others = [one for one in others if _trust(one) == MENDS]
        if any(_idle(row, other, ARGUMENTS) for other in others):
            row["risky"] = True
        elif _turns(row) and others and all(_idle(one, row) for one in others):
            row["risky"] = False


def _for_all_that_behave_so(best: Candidate, passing: Sequence[Candidate]) -> Candidate:
    """Of those that behave as the best one the one that adds least, that the file says more often, and that was likelier; but
    the condition turned round where that was at least as likely: what else does the same is no less of a doubt."""
    alike = [row for row in passing if row["change"][:5] == best["change"][:5]]
    trusted = [row for row in alike if _trust(row) == _trust(best)]
    twins = [row for row in trusted if not row.get("idle")] or trusted
    turned = [row for row in alike if _turns(row)]
    likeliest = max(worth_of(row) for row in twins)
    if turned and worth_of(turned[0]) / TURNED >= likeliest:
        return turned[0]
    return min(twins, key=lambda row: _odd(row) / WORDS - math.log2(max(row["before"], 1e-9)))


def _idle(row: Candidate, other: Candidate, what: int = 0) -> bool:
    """Whether more LINES of a function stay without a run than with another edit of it, or ARGUMENTS without an effect; 0: or."""
    here, there = ((one["change"][5:] or [{}])[0] for one in (row, other))
    return any(
        count > there.get(name, count)
        for name, count in here.items()
        if what in (0, name.count(":"))
    )


def _well_tested(row: Candidate) -> bool:
    """Whether many tests run what the edit changes: hardly any wrong edit passes them all."""
    return sum(row["change"][6:7]) >= MANY


def _turns(row: Candidate) -> bool:
    """Whether an edit only turns a condition round."""
    return bool(row["risky"]) and row["key"].startswith(("comparison-", "negation-"))


def _place(row: Candidate) -> tuple[object, object]:
    """What an edit replaces: its region and its text."""
    return row.get("affected_region"), row.get("old")


def worth_of(row: Candidate) -> float:
    """What an edit was worth before it was tried."""
    return float(row.get("score", row["confidence"]))


def _odd(row: Candidate) -> float:
    """Characters that an edit adds, few for a whole line that stands elsewhere; fewer where what it says is said elsewhere in
    the file, more where what it takes away is; and more where it gives a value to another name: it is easier to read a wrong
    name than to bind one."""
    added = sum(len(text) - (end - start) for start, end, text in row.get("pieces") or ())
    added = min(added, STANDS) if row.get("stands") else added
    rebinds = REBINDS if row.get("rebinds") else 0
    return max(0, added) + rebinds - SAID * float(row.get("likelier", 0.0))


def credible(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without those that were not tried in memory and are less likely than usual: some pass by chance."""
    usual = sum(map(worth_of, found)) / max(1, len(found))
    return [row for row in found if "probe" in row or worth_of(row) >= usual]


def remarks(probed: Probed) -> list[str]:
    """What a person must know of the edits that were tried in memory: that several pass."""
    passing = sum(said == "passes" for said in (probed.get("verdicts") or {}).values())
    if passing < 2:
        return []
    measured = bool(probed.get("changes"))
    least = "the most credible one of those that change little over generated inputs"
    first = least if measured else "the most credible one"
    return [
        f"{passing} different small edits pass the tests when tried in memory; {first} is tried first"
    ]
