"""Micro-hypotheses: how they begin, are criticised, refined and compared without a model, and what they must be. Pure.

Without a model a hypothesis is an extracted statement with its place: `name` (`path:line`): what stands there.
"""

from __future__ import annotations

from typing import Any

from .artifacts import problems, written
from .finds import (
    ASSUMPTIONS,
    about_what,
    assumptions_of,
    bears,
    counted,
    kept,
    named,
    speaks,
    statement_of,
    words_missing,
    words_told,
)
from .knowledge import said
from .names import KNOWLEDGE, area_id, hypothesis_id, hypothesis_path
from .statements import NEGATION, OBSOLETE, against, content, names, quoted

AREAS = 5
STRONG = 0.4
"""The part of the best area's score that another needs to be one."""
TELLING = 0.5
"""The part of the question's words that the evidence has which an area must tell."""
CODE = 2
"""Lines of code that are assumptions of a first hypothesis: what is said comes before what is done."""
PROSE = (".md", ".rst", ".txt", ".adoc", ".org", ".html")
"""Files whose headings nobody uses and no test names."""
_SAID = ("documentation", "sentence", "prose", "exception")
_PROMISED = ("statement", "confidence", "gapCharacterization", "rationale", "keyAssumptions", "validationCriteria",
             "critiquePoints", "questions", "alternativeApproaches")  # fmt: skip


def areas(question: str, results: list[Any]) -> dict[str, Any]:
    """The areas that the evidence falls into: by what it tells of, the best first (LGTM-52).

    An area tells enough of the question: two of its words at least, and half of those that the evidence has. Fewer
    areas are better than one that is about something else; the one that tells most is always there. What tests do is no
    area of its own, where there is another: a change does not begin in them.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    rows = [row for row in kept(results) if not row["stub"].get("test")] or kept(results)
    coded = {
        about_what(row["stub"])[1]: about_what(row["stub"])
        for row in reversed(rows)
        if row["stub"].get("subject")
    }
    for row in rows:
        about = about_what(row["stub"])
        groups.setdefault(
            about if row["stub"].get("subject") else coded.get(about[1], about), []
        ).append(row)
    spoken_of = {
        about: inside for about, inside in groups.items() if speaks(about[0], inside, question)
    }
    groups = spoken_of or groups
    worth = {
        about: max(float(row["stub"].get("score") or 0) for row in inside)
        for about, inside in groups.items()
    }
    told = {
        about: frozenset().union(*(words_told(row, question) for row in inside))
        for about, inside in groups.items()
    }
    spoken = len(frozenset().union(*told.values())) if told else 0
    enough = min(spoken, max(2, round(TELLING * spoken)), max(map(len, told.values()), default=0))
    least = STRONG * max(
        (worth[about] for about in groups if len(told[about]) >= enough), default=0.0
    )
    ranked = sorted(
        (
            item
            for item in groups.items()
            if worth[item[0]] >= least and len(told[item[0]]) >= enough
        ),
        key=lambda item: -worth[item[0]],
    )
    out: list[dict[str, Any]] = []
    for (name, place), rows in ranked[:AREAS]:
        ident = area_id(name, [one["areaID"] for one in out])
        count = f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'}"
        paths = [row["entry"]["filePath"] for row in rows]
        out.append(
            {
                "areaID": ident,
                "description": f"`{name}` in {place}: {count} of knowledge",
                "evidence": paths,
            }
        )
    return {"areas": out}


def draft(question: str, area: dict[str, Any], proposal: Any, results: list[Any]) -> dict[str, Any]:
    """The first hypothesis of an area: its best extracted statement, what supports it, what it leaves open."""
    listed = proposal.get("areas", []) if isinstance(proposal, dict) else []
    mine = next(
        (row.get("evidence") or [] for row in listed if row.get("areaID") == area["areaID"]), []
    )
    rows = [row for row in kept(results) if row["entry"]["filePath"] in mine] or kept(results)[:1]
    wanted = content(question)
    ordered = sorted(rows, key=lambda row: (
        -len(words_told(row, question)), row["stub"].get("kind") not in _SAID, -len(wanted & content(str(row["stub"]["quote"]))),
        -float(row["stub"].get("score") or 0),
    ))  # fmt: skip
    code = [row for row in ordered[1:] if row["stub"].get("kind") not in (*_SAID, "definition")]
    heads = [
        row for row in ordered[1:] if row["stub"].get("kind") == "definition"
    ]  # the plan shows the code itself
    best, more = (
        ordered[0],
        [row for row in ordered[1:] if row not in code[CODE:] and row not in heads],
    )
    here = frozenset().union(*(words_told(row, question) for row in rows))
    anywhere = frozenset().union(*(words_told(row, question) for row in kept(results)))
    missing, elsewhere = (
        words_missing(question, anywhere),
        words_missing(question, here | (content(question) - anywhere)),
    )
    name = about_what(best["stub"])[0]
    silent = [f"nothing that was found speaks of {named(missing)}"] if missing else []
    silent += (
        [f"it says nothing of {named(elsewhere)}, which other places speak of"] if elsewhere else []
    )
    said = "; ".join(silent)
    gap = (
        f"{said[:1].upper()}{said[1:]}."
        if said
        else (
            "Every word of the question is spoken of here: look first whether it is done already."
        )
    )
    subject = str(best["stub"].get("subject") or "")
    document = str(best["stub"]["path"]).lower().endswith(PROSE)
    about = (
        [f"Who uses `{subject}`?", f"Which tests name `{subject}`?"]
        if subject and not document
        else []
    )
    asked = [*about, *(f"What speaks of {word}?" for word in missing[:3])]
    criteria = [f"Every use of `{subject}` works as before, or is changed with it.",
                f"A test names `{subject}` and fails where the change is left out."]  # fmt: skip
    files = len({row["stub"]["path"] for row in rows})
    return {
        "statement": statement_of(best["stub"]),
        "confidence": _confidence(len(rows), 0),
        "gapCharacterization": gap,
        "rationale": f"{counted(len(rows), 'place')} in {counted(files, 'file')} of `{name}` speak of it; this one tells most"
        f" of the question (ref: {best['entry']['entryID']}).",
        "keyAssumptions": assumptions_of([best, *more], [], "A"),
        "validationCriteria": criteria if about else [f"`{name}` agrees with what was changed."],
        "critiquePoints": [],
        "questions": asked,
        "alternativeApproaches": [statement_of(row["stub"]) for row in heads if row["stub"].get("subject") != subject][:3],
    }  # fmt: skip


def critique(hypothesis: dict[str, Any], framework: str) -> dict[str, Any]:
    """What can be held against a hypothesis, by rule: one file only, no test, words of doubt in its evidence."""
    rows = hypothesis["keyAssumptions"]
    files = {_file(row["statement"]) for row in rows} - {""}
    points = []
    if len(files) < 2:
        points.append("All of its evidence comes from one file.")
    if not any("test" in one for one in files) and not _file(
        hypothesis["statement"]
    ).lower().endswith(PROSE):
        points.append("No test is among its evidence.")
    for row in rows:
        quote = quoted(row["statement"])
        found = OBSOLETE.search(quote) or NEGATION.search(quote)
        if found:
            points.append(
                f"{row['id']} has a word of exception, `{found.group()}`: read it before relying on it."
            )
    return {"framework": framework, "points": points[:6]}


def questions(hypothesis: dict[str, Any], critiques: Any, round: Any = 1) -> dict[str, Any]:
    """What to find out next: what is still open. `round` is for a model, which is to ask something else where nothing came."""
    return {"questions": list(hypothesis["questions"])[:4]}


def tools_needed(questions: Any, tools: str) -> dict[str, Any]:
    """Which of the tools answer the questions: names are looked up, words are searched."""
    rows = _texts(questions, "questions")
    wanted = ["CodebaseGrep" if names(row) else "FileSearch" for row in rows] or ["FileSearch"]
    return {
        "tools": [one for one in dict.fromkeys(wanted) if one in tools.split(",")],
        "questions": rows,
    }


def refine(
    question: str, hypothesis: dict[str, Any], critiques: Any, results: list[Any]
) -> dict[str, Any]:
    """The hypothesis with what was found since: new assumptions, answered questions gone, what can be held against it now."""
    known = set(names(" ".join([hypothesis["statement"], *hypothesis["questions"]])))
    rows = [row for row in kept(results) if bears(row["stub"], known, question)]
    found = " ".join(str(row["stub"]["quote"]) for row in rows)
    usual = content("uses tests name speaks")
    left = [one for one in hypothesis["questions"] if not content(found) & (content(one) - usual)]
    assumptions = [
        *hypothesis["keyAssumptions"],
        *assumptions_of(rows, hypothesis["keyAssumptions"], "A"),
    ][:ASSUMPTIONS]
    points = critique({**hypothesis, "keyAssumptions": assumptions}, "")["points"]
    files = len({row["stub"]["path"] for row in rows})
    more = f" {len(rows)} further places in {files} files bear on it." if rows else ""
    return {
        **{key: hypothesis[key] for key in _PROMISED},
        "confidence": _confidence(len(assumptions), len(points)),
        "rationale": hypothesis["rationale"] + more,
        "keyAssumptions": assumptions,
        "critiquePoints": points,
        "questions": left,
    }


def validate(
    drafted: Any,
    area: str,
    known: list[Any],
    results: list[Any],
    old: dict[str, Any] | None = None,
    version: Any = 0,
) -> dict[str, Any]:
    """A drafted hypothesis as the artifact it becomes: `ok`, `why`, its path and text (LGTM-15, 17, 56 to 58).

    `old`: the version before. Its history is carried on by us, not by whoever drafted. Evidence must be an entry there is.
    """
    number = int(version)
    ident = old["microHypothesisID"] if old else hypothesis_id(area, 1)
    path = hypothesis_path(ident, number, "refined" if old else "initial")
    out = {
        "ok": False,
        "why": "",
        "id": ident,
        "area": area,
        "version": number,
        "path": path,
        "text": "",
        "hypothesis": None,
    }
    if not isinstance(drafted, dict) or "failed" in drafted:
        why = drafted.get("why") if isinstance(drafted, dict) else "it is not JSON"
        return {**out, "why": f"{path}: {why}"}
    entries = {row["filePath"] for row in known} | {
        row["entry"]["filePath"] for row in kept(results)
    }
    made = {key: drafted.get(key) for key in _PROMISED}
    history = list(old["refinementHistory"]) if old else []
    if old and all(made[key] == old[key] for key in _PROMISED):
        return {**out, "why": "nothing new was found"}
    if old:
        evidence = [row["entry"]["entryID"] for row in kept(results)]
        history.append({"version": number, "confidence": made["confidence"], "newEvidence": evidence,
                        "change": _change(old, made)})  # fmt: skip
    whole: dict[str, Any] = {
        "microHypothesisID": ident,
        "areaOfAnalysisID": area,
        **made,
        "refinementHistory": history,
    }
    found = problems("hypothesis", whole)
    for row in whole["keyAssumptions"] if not found else ():
        found += [f"$.keyAssumptions: {row['id']} names {one}, which there is not"
                  for one in row["evidence"] if one not in entries or not KNOWLEDGE.match(one)]  # fmt: skip
    if found:
        return {**out, "why": f"{path}: {'; '.join(found[:3])}"}
    return {**out, "ok": True, "hypothesis": whole, "text": written("hypothesis", whole, path)}


def read(text: str) -> dict[str, Any]:
    """A hypothesis out of its file. Raises ValueError for a file that holds none."""
    import json

    value = json.loads(text)
    found = problems("hypothesis", value)
    if found:
        raise ValueError(f"a hypothesis file is not one any more: {found[0]}")
    return dict(value)


def refinement(
    checked: dict[str, Any],
    knowledge: list[Any],
    log: Any = None,
    request: Any = None,
    stubs: Any = None,
) -> dict[str, Any]:
    """What a branch of the loop returns (LGTM-57): evidence is kept even where the refinement failed. `lines` is its log."""
    new = [row["entry"] for row in kept(knowledge)]
    lines = [*([log] if log else []), *said(request, stubs, knowledge)]
    out = {
        **{key: checked[key] for key in ("id", "version", "path", "hypothesis")},
        "knowledge": knowledge,
        "lines": lines,
    }
    if checked["ok"]:
        return {**out, "outcome": "SuccessfulRefinement", "newKnowledgeEntries": new}
    lines.append(
        {
            "level": "Info",
            "message": f"{checked['id']} stays as it is: Validation Failed: {checked['why']}",
        }
    )
    failed = {
        "failedHypID": checked["id"],
        "reason": "Validation Failed",
        "why": checked["why"],
        "newKnowledgeEntries": new,
    }
    return {**out, "outcome": "FailedRefinement", **failed}


def join(results: list[Any], strategy: str) -> dict[str, Any]:
    """Join: the results of a fork together. Raises ValueError for a strategy that there is not (LGTM-41)."""
    if strategy == "CollectResults":
        return {"results": results, "count": len(results)}
    if strategy == "CollectTupleResults":
        pairs = [
            [row["item"]["microHypothesisID"], "NotAttempted"]
            if "failed" in row
            else [row["id"], row["outcome"]]
            for row in results
        ]
        return {
            "results": results,
            "count": len(results),
            "tuples": pairs,
            "all": all(two == "Passed" for _, two in pairs),
        }
    raise ValueError(
        f"there is no strategy `{strategy[:40]}`; there are CollectResults, CollectTupleResults"
    )


def conflicts(hypotheses: list[Any]) -> dict[str, Any]:
    """The pairs of hypotheses of which an assumption speaks against one of the other's (LGTM-59)."""
    rows = []
    for number, one in enumerate(hypotheses):
        for other in hypotheses[number + 1 :]:
            found = _clash(one, other)
            if found:
                ids = [one["microHypothesisID"], other["microHypothesisID"]]
                rows.append({"involvedHypotheses": ids, "description": found})
    return {"conflicts": rows}


def _clash(one: dict[str, Any], other: dict[str, Any]) -> str:
    for mine in one["keyAssumptions"]:
        for theirs in other["keyAssumptions"]:
            why = against(quoted(mine["statement"]), quoted(theirs["statement"]))
            if why:
                first, second = (
                    f"{row['id']} in {hyp['microHypothesisID']}"
                    for row, hyp in ((mine, one), (theirs, other))
                )
                return f"Assumption {first} and assumption {second}: {why}."
    return ""


def _confidence(count: int, points: int) -> float:
    """More places that bear on it raise it, points of the critique lower it. It counts; it is no probability."""
    return float(f"{max(0.1, min(0.95, 0.5 + 0.06 * count - 0.03 * points)):.2f}")


def _change(old: dict[str, Any], new: dict[str, Any]) -> str:
    gained = len(new["keyAssumptions"] or ()) - len(old["keyAssumptions"])
    changed = (
        "the statement was changed"
        if new["statement"] != old["statement"]
        else "the statement stays"
    )
    return f"{changed}; {gained:+d} assumptions"


def _file(statement: str) -> str:
    found = statement.partition("(`")[2].partition("`)")[0]
    return found.rpartition(":")[0]


def _texts(value: Any, key: str) -> list[str]:
    rows = value.get(key) if isinstance(value, dict) else None
    return [str(row) for row in rows] if isinstance(rows, list) else []


def candidate(text: str) -> dict[str, Any]:
    """The file of a candidate: the hypothesis as it was refined, under the version that is challenged."""
    return {"text": written("hypothesis", read(text), "the candidate")}
