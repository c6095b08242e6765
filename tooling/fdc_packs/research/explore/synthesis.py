"""One answer out of several tracks: what they share, where they differ, what stays open, and how sure that is. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fdc_toolchain.api.text import narrow

from ..answering.found import LOW, NONE
from ..answering.judge import confirmed
from ..answering.short import short
from .tracks import rows_of

MARK = "<!-- fdc: research report -->"
UNIFIED, NUANCES = 6, 12
LEADS = 0.7
"""What is worth this part of the best finding belongs to the answer, though only one track reached it."""
SHARED = 0.4
"""What several tracks reached belongs to the answer where it is worth this part of the best finding; the first few always."""
WEAK = 0.25
"""What is worth less than this part of it is not told, but for the first few."""
FEWEST = 3
AGREED = 0.1
"""What a second track that reached the same adds to a finding's worth."""
KEPT = ("track", "focus", "approach", "conclusions", "blocked", "why", "gates", "deeper")


def aggregate(question: str, findings: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The synthesis where no model is configured (EXP-22, 23): what several tracks reached independently of each other is
    the answer, what is worth most to the question first; so is what is worth nearly as much as the best of all, though
    only one track can reach it. The others are nuances, each with the one track that it comes from. Where nothing is
    shared, the first finding of each track is the answer.
    """
    open_tracks = [row for row in findings if isinstance(row, dict) and not row.get("blocked")]
    claims: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
    for row in open_tracks:
        for one in row.get("findings", ()):
            claims.setdefault(_key(one), []).append((str(row["track"]), one))
    tracks = {key: list(dict.fromkeys(name for name, _ in rows)) for key, rows in claims.items()}
    worth = {
        key: max(float(one.get("worth") or 0.0) for _, one in rows) for key, rows in claims.items()
    }
    order = {key: number for number, key in enumerate(claims)}
    fused = _fused(open_tracks)
    of = len(open_tracks)
    value = {key: worth[key] * (1 + AGREED * (len(tracks[key]) > 1)) for key in claims}
    ranked = sorted(
        claims, key=lambda key: (-value[key], len(tracks[key]) < of, -fused[key], order[key])
    )
    least = LEADS * max(worth.values(), default=0.0)
    shared = [key for key in ranked if len(tracks[key]) > 1]
    strong = SHARED * max(worth.values(), default=0.0)
    kept = {key for number, key in enumerate(shared) if number < FEWEST or worth[key] >= strong}
    common = [key for key in ranked if key in kept or worth[key] >= least > 0][:UNIFIED]
    if not shared:
        first = [next(key for key in ranked if name in tracks[key]) for name in _names(open_tracks)]
        common = list(dict.fromkeys([*common, *first]))[:UNIFIED]
        common.sort(key=ranked.index)
    unified = [_claim(claims[key], tracks[key], of) for key in common]
    nuances: list[dict[str, Any]] = []
    floor = WEAK * max(worth.values(), default=0.0)
    left = [key for key in ranked if key not in common]
    rest = [
        (key, *claims[key][0])
        for number, key in enumerate(left)
        if number < FEWEST or worth[key] >= floor
    ]
    rest += [(key, *row) for key in common for row in _users(claims[key])]
    turns = [[one for _, name, one in rest if name == str(row["track"])] for row in open_tracks]
    for nth in range(
        max(map(len, turns), default=0)
    ):  # a track in turn, so that none drowns the others
        for row, inside in zip(open_tracks, turns):
            if nth < len(inside) and len(nuances) < NUANCES:
                nuances.append(
                    {**_bare(inside[nth]), "explanation": f"only `{row['track']}` reached it"}
                )
    return {"unified": unified, "nuances": nuances, "open_questions": []}


def _users(rows: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Who uses what a claim tells of, where the claim itself is of something else."""
    told = _told(rows)
    return [
        (track, one)
        for track, one in rows
        if one.get("uses") and not any(one is other for _, other in told)
    ][:1]


def _told(rows: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """What a claim is made of: what its subject is and says, unless the question is worth more about who uses it."""
    used = max((float(one.get("worth") or 0.0) for _, one in rows if one.get("uses")), default=0.0)
    rest = [(track, one) for track, one in rows if not one.get("uses")]
    wanted = max((float(one.get("worth") or 0.0) for _, one in rest), default=0.0)
    if rest and (wanted >= used or not used):
        return rest
    return [(track, one) for track, one in rows if one.get("uses")] + rest


def _key(finding: dict[str, Any]) -> tuple[str, str]:
    """What a finding tells of: a definition by name and place, else the claim itself."""
    return str(finding.get("subject") or finding.get("claim")), str(finding.get("home") or "")


def _names(tracks: list[dict[str, Any]]) -> list[str]:
    return [str(row["track"]) for row in tracks if row.get("findings")]


def _fused(tracks: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """How high what was found stands in all tracks together (reciprocal ranks)."""
    out: dict[tuple[str, str], float] = {}
    for row in tracks:
        for rank, key in enumerate(dict.fromkeys(_key(one) for one in row["findings"])):
            out[key] = out.get(key, 0.0) + 1 / (rank + 3)
    return out


def _claim(rows: list[tuple[str, dict[str, Any]]], tracks: list[str], of: int) -> dict[str, Any]:
    citations: list[dict[str, Any]] = []
    claims: list[str] = []
    seen: set[str] = set()
    for track, one in _told(rows):
        if track in seen:
            continue
        seen.add(track)
        if one["claim"] not in claims:
            claims.append(one["claim"])
        citations += [cited for cited in one["citations"][:2] if cited not in citations]
    claims = [
        one for one in claims if not any(other != one and other.startswith(one) for other in claims)
    ]
    shared = "all tracks" if len(tracks) == of > 1 else f"{len(tracks)} of {of} tracks"
    support = f"{shared}: {', '.join(tracks)}"
    return {
        "claim": "; ".join(claims[:2]),
        "support": support,
        "tracks": tracks,
        "citations": citations[:6],
    }


def _bare(one: dict[str, Any]) -> dict[str, Any]:
    return {"claim": one["claim"], "citations": one["citations"]}


def judge(
    question: str,
    tracks: dict[str, object],
    findings: list[object],
    checked: dict[str, object],
    scope: dict[str, object],
    places: dict[str, object],
    verdicts: dict[str, object],
) -> dict[str, object]:
    """The outcome: `success` with what was confirmed, `absent` where nothing here answers, or `blocked` with blockers and
    alternatives (EXP-04, 05). What a judge was asked about and did not confirm is dropped.

    The confidence is that of the places, as measured (EXP-24); it is lowered where claims were dropped or tracks blocked.
    """
    rows = [row for row in findings if isinstance(row, dict)]
    blocked = [row for row in rows if row.get("blocked")]
    proposal = checked.get("proposal")
    proposal = proposal if isinstance(proposal, dict) else {}
    first = rows_of(checked, "unified")
    unified, dropped = confirmed(first, 0, verdicts)
    nuances, more = confirmed(rows_of(checked, "nuances"), len(first), verdicts)
    rejected: list[Any] = [*rows_of(checked, "rejected"), *dropped, *more]
    gaps = [gap for row in rows for gap in row.get("gaps", ())]
    gaps += [str(one) for one in proposal.get("open_questions") or () if str(one).strip()]
    gaps += [f"no file has `{word}`" for word in narrow(scope.get("missing") or [], list)]
    gaps += [f"{row['track']}: blocked: {row['why']}" for row in blocked]
    gaps += [f"a claim of the synthesis was rejected: {row.get('why')}" for row in rejected]
    confidence, reason = _confidence(places, blocked, rejected, unified)
    out: dict[str, Any] = {
        "ended": "success",
        "question": question,
        "unified": unified,
        "nuances": nuances,
        "open_questions": list(dict.fromkeys(gaps)),
        "confidence": confidence,
        "justification": reason,
        "tracks": [{key: row.get(key) for key in KEPT} for row in rows],
        "checked": narrow(checked.get("checked") or 0, int) + sum(int(row.get("checked") or 0) for row in rows),
        "held": sum(len(rows_of(row, "citations")) for row in (*unified, *nuances)),
        "rejected": rejected + [one for row in rows for one in row.get("rejected", ())],
        "blockers": [], "alternatives": [], "ask": "", "options": [],
        "places": rows_of(places, "places"), "total": narrow(places.get("total") or 0, int),
    }  # fmt: skip
    if confidence == NONE:
        out["ended"] = "absent"
    elif not unified and (verdicts.get("asked") is not False or not out["places"]):
        why = "no claim of the synthesis holds"
        if "failed" in proposal:
            why = f"synthesis: {proposal.get('failed')}: {proposal.get('why', '')}"
        out["ended"] = "blocked"
        out["blockers"] = [f"{row['track']}: {row['why']}" for row in blocked] or [why]
        out["alternatives"] = [
            "ask with the names that the code uses", "look at other files (`--paths`)", "answer from documents: `fdc research`",
        ]  # fmt: skip
    return _told_in_full(out)


def _told_in_full(out: dict[str, Any]) -> dict[str, Any]:
    """An outcome with its first lines and its page."""
    short_one = short(out) if out["ended"] in ("success", "absent") else ""
    page = markdown({**out, "text": short_one})
    return {**out, "text": short_one or page.split("\n", 1)[1], "markdown": page}


def _confidence(
    places: dict[str, Any], blocked: list[Any], rejected: list[Any], unified: list[Any]
) -> tuple[str, str]:
    sure, why = str(places.get("sure") or NONE), str(places.get("why") or "nothing was found")
    judged = any(row.get("confirmed") for row in unified)
    if sure == NONE and not judged:
        return NONE, why
    if judged:
        why = (
            f"{len(unified)} claim{'' if len(unified) == 1 else 's'} confirmed by a second question"
        )
    if rejected:
        return (
            LOW,
            f"{why}; {len(rejected)} did not hold and {'is' if len(rejected) == 1 else 'are'} left out",
        )
    if blocked:
        return (
            LOW,
            f"{why}; {len(blocked)} of the tracks {'is' if len(blocked) == 1 else 'are'} blocked",
        )
    return (LOW if sure == NONE else sure), why


def halted(question: str, halt: dict[str, object]) -> dict[str, object]:
    """The outcome of an exploration that did not begin: a question back, or options with what each costs (EXP-02, 03)."""
    out = {
        "ended": str(halt.get("halt")), "question": question, "unified": [], "nuances": [], "open_questions": [],
        "confidence": "", "justification": "", "tracks": [], "checked": 0, "held": 0, "rejected": [],
        "blockers": [], "alternatives": [], "ask": str(halt.get("ask") or ""),
        "options": rows_of(halt, "options"), "places": [], "total": 0,
    }  # fmt: skip
    return _told_in_full(out)


def markdown(out: Mapping[str, object]) -> str:
    """An outcome as a page; every claim is followed by its places, `path:line`."""

    def listed(name: str) -> list[Any]:
        return narrow(out[name], list)

    rows = [MARK, f"# {_title(out['question']) or 'No question'}", ""]
    if out["ended"] == "confusion":
        rows += ["It cannot be explored as it stands.", "", f"**{_flat(out['ask'])}**"]
    elif out["ended"] == "ambiguity":
        rows += [f"**{_flat(out['ask'])}**", ""]
        for row in listed("options"):
            place = f" {_place(row)}" if row.get("path") else ""
            how = f": `{row['how']}`" if row.get("how") else ""
            rows += [f"- {_flat(row['option'])}{place}{how}", f"  - {_flat(row['tradeoff'])}"]
    elif out["ended"] == "blocked":
        rows += [
            "It is blocked.",
            "",
            "## Blockers",
            "",
            *(f"- {_flat(one)}" for one in listed("blockers")),
        ]
        rows += ["", "## Alternatives", "", *(f"- {_flat(one)}" for one in listed("alternatives"))]
    else:
        rows += [
            "## Answer",
            "",
            "```",
            *str(out["text"]).replace("```", "` ` `").split("\n"),
            "```",
        ]
        rows += ["", "## What was found", ""]
        for row in listed("unified"):
            rows += [
                f"- {_flat(row['claim'])}"
                + (f" ({_flat(row['support'])})" if row.get("support") else ""),
                *_cited(row),
            ]
        if out["nuances"]:
            rows += ["", "## Nuances", ""]
            for row in listed("nuances"):
                rows += [f"- {_flat(row['claim'])} ({_flat(row['explanation'])})", *_cited(row)]
    if out["ended"] in ("success", "blocked", "absent"):
        rows += [
            "",
            "## Open questions",
            "",
            *([f"- {_flat(one)}" for one in listed("open_questions")] or ["- none"]),
        ]
        rows += ["", "## Tracks", ""]
        for row in listed("tracks"):
            said = f"blocked: {row['why']}" if row["blocked"] else _flat(row["focus"])
            rows.append(f"- {_flat(row['track'])} ({row['approach']}): {_flat(said)}")
            for below in row["deeper"] or ():
                rows.append(
                    f"  - {_flat(below['track'])}: {_flat(below['why'] if below['blocked'] else below['focus'])}"
                )
    if out["ended"] == "success":
        rows += [
            "",
            f"Citations: {out['checked']} opened and compared, {out['held']} quoted here, all of which hold.",
        ]
    return "\n".join(rows)


def _cited(row: dict[str, Any]) -> list[str]:
    return [f"  - {_place(one)} {_code(one['quote'])}" for one in row["citations"]]


def _place(row: dict[str, Any]) -> str:
    return f"`{row['path']}:{row['line']}`"


def _code(quote: str) -> str:
    text = _flat(quote)
    fence = "`" * (max((len(run) for run in _ticks(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _ticks(text: str) -> list[str]:
    import re

    return re.findall("`+", text)


def _flat(text: Any) -> str:
    return " ".join(str(text).split())


def _title(question: Any, most: int = 300) -> str:
    text = _flat(question)
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."
