"""The archivist: the logs of an iteration as files, YAML and prose, without a word from any model (ALPH-02, 32 to 36, 60, 90)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .. import layout, markers
from ..calculus.consistency import score, violations
from ..model import slug
from ..yamltext import dump
from .work import Event, Work, primitive_of

Files = dict[str, str]
Value = dict[str, Any]
LOGGED = {"proposer": ("proposer",), "critic": ("critic",), "refiner": ("refiner", "consolidation")}
"""Which staged steps go into which log."""


def logs(work: Work, summary: Value, raw: bool) -> Files:
    """Everything below `reasoning/logs/iteration_NNN/`. All cycles of a role are in one file (T-52)."""
    folder = layout.iteration_folder(work.iteration)
    out: Files = {f"{folder}/summary.yaml": dump({"summary": summary})}
    for name, kinds in LOGGED.items():
        steps = [event for event in work.events if event["kind"] in kinds]
        cycles = [
            {**_plain(event), **({"outputs": _outputs(work, event)} if name == "refiner" else {})}
            for event in steps
        ]
        out[f"{folder}/{name}.yaml"] = dump(
            {f"{name}_log": {"iteration": work.iteration, "cycles": cycles}}
        )
        out[f"{folder}/{name}.md"] = _prose(name, work.iteration, steps)
    composed = [_plain(event) for event in work.of("composition")]
    touched = {"added": work.added, "changed": work.changed, "retired": work.retired}
    out[f"{folder}/artifacts.yaml"] = dump(
        {"artifacts": {"iteration": work.iteration, **touched, "composition": composed}}
    )
    out[f"{folder}/highlights.md"] = _highlights(work, summary)
    for event in work.events if raw else ():
        for number, attempt in enumerate(event.get("attempts", ()), 1):
            if attempt["raw"] is not None:
                said = attempt["raw"] if isinstance(attempt["raw"], str) else dump(attempt["raw"])
                out[f"{folder}/raw/{event['kind']}_{event['cycle']:02d}_{number}.txt"] = said
    return out


def _plain(event: Event) -> Value:
    """A staged step as it is logged: without the raw texts, which have their own files, and without what is derived."""
    out = {
        key: value
        for key, value in event.items()
        if key not in ("attempts", "primitives", "examples", "count", "sizes")
    }
    out["attempts"] = [{"wrong": attempt["wrong"]} for attempt in event.get("attempts", ())]
    out["markers"] = [one._asdict() for one in _marks(event)]
    if event.get("sizes"):
        out["context_tokens"] = event["sizes"]
    return out


def _outputs(work: Work, event: Event) -> list[Value]:
    """ALPH-26: what a refiner did, as the seed writes it: an output for each primitive that was taken in, else one without."""
    alphabet = work.base.alphabet
    for before in work.events[: work.events.index(event) + 1]:
        alphabet = alphabet.replaced(*(primitive_of(row) for row in before.get("primitives", ())))
    state = {
        "total_primitives": len(alphabet), "by_domain": {name: len(found) for name, found in alphabet.domains.items()},
        "consistency_score": score(alphabet, violations(alphabet)),
    }  # fmt: skip
    kept = ("primitive_id", "assigned_prime", "relationships_added")
    taken: list[Value | None] = [{key: row[key] for key in kept} for row in event["integrations"]]
    rest = {key: event[key] for key in ("revisions", "conflicts_detected", "conflicts_resolved")}
    action = event.get("action") or "INTEGRATE"
    return [
        {"refiner_output": {"action": action, "integration": one, **rest, "alphabet_state": state}}
        for one in taken or [None]
    ]


def _prose(name: str, iteration: int, steps: Iterable[Event]) -> str:
    lines = [f"# {name.upper()}, iteration {iteration}", ""]
    for event in steps:
        who = (
            "computed, no model was asked"
            if event.get("embedded")
            else f"a model, temperature {event['temperature']}"
        )
        lines += [f"## {event['phase']}, cycle {event['cycle']} ({who})", ""]
        if event.get("wrong"):
            lines += [f"The answer could not be used: {line(event['wrong'])}", ""]
        lines += [f"- {line(text)}" for text in _said(event) or ["nothing to be done"]] + [""]
    if len(lines) == 2:
        lines += ["Nothing to do.", ""]
    return "\n".join(lines)


def _said(event: Event) -> list[str]:
    kind = event["kind"]
    if kind == "proposer":
        found = [
            f"**{row['label']}** ({row['id']}, {row['domain']}): {row['informal_definition']}. {row['primitiveness_argument']}"
            for row in event["candidates"]
        ]
        left = [f"not taken up: {row['label']}: {row['why']}" for row in event["dropped"]]
        return [f"strategy {event['strategy']}", *found, *left]
    if kind == "critic":
        rows = event["evaluations"]
        return [
            f"**{row['label']}** ({row['candidate_id']}): {row['verdict']}. {row['summary']}"
            for row in rows
        ]
    out = [f"{row['primitive_id']} has the prime {row['assigned_prime']}" + "".join(
        f"; {one['type']} {one['target']} ({one['justification']})" for one in row["relationships_added"]
    ) for row in event["integrations"]]  # fmt: skip
    out += [
        f"{row['primitive_id']}.{row['field_changed']} revised: {row['reason']}"
        for row in event["revisions"]
    ]
    out += [
        f"{row['retired']} merged into {row['keep']}: {row['reason']}" for row in event["merges"]
    ]
    out += [
        f"{row['retired']} split into {' and '.join(row['into'])}: {row['reason']}"
        for row in event["splits"]
    ]
    return out + [f"conflict: {row['why']}" for row in event["conflicts_detected"]]


def line(text: Any) -> str:
    """A text on one line, without what a terminal or an editor would act on."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", str(text))


def summary_of(work: Work, metrics: Value) -> Value:
    """ALPH-90: what `summary.yaml` counts. `recount` says what the logs of the iteration add up to."""
    rows = [row for event in work.of("critic") for row in event["evaluations"]]
    said = [text for event in work.events for text in _texts(event)]
    counted = Counter(row["verdict"] for row in rows)
    embedded = [event["embedded"] for event in work.events if event.get("attempts")]
    return {
        "iteration": work.iteration,
        "started": work.at,
        "answered_by": "embedded" if all(embedded) else "model" if not any(embedded) else "model and embedded",
        "candidates": {
            "proposed": sum(len(event["candidates"]) for event in work.of("proposer")),
            "accepted": counted["ACCEPT"], "rejected": counted["REJECT"], "refined": counted["REFINE"],
            "deferred": counted["DEFER"], "unparsed": counted["UNPARSED"],
        },
        "verdicts": [row["verdict"] for row in rows],
        "failed_attacks": [row["attack"] for row in rows if row["verdict"] == "REJECT"],
        "strategies": [event["strategy"] for event in work.of("proposer")],
        "primitives_added": list(work.added),
        "primitives_changed": [*(name for name in work.changed if name not in work.added), *work.retired],
        "conflicts": len(work.conflicts),
        "pivot": work.pivots[0],
        "reflected": bool(work.of("reflection")),
        "insights": [row["output"]["key_insight"] for row in rows if row["output"] and row["output"]["key_insight"]][:10],
        "blog_markers": sum(len(markers.blog(text)) for text in said),
        "markers": dict(Counter(one.kind for text in said for one in markers.found(text))),
        "metrics_before": dict(work.base.state["metrics"]),
        "metrics_after": metrics,
        "total_primitives": len(work.alphabet),
    }  # fmt: skip


def _texts(event: Event) -> list[str]:
    return [
        attempt["raw"] for attempt in event.get("attempts", ()) if isinstance(attempt["raw"], str)
    ]


def _marks(event: Event) -> list[markers.Mark]:
    """Every marker of what was said in a step, those for the blog with their category (ALPH-89)."""
    said = _texts(event)
    blog = [
        markers.Mark(f"{markers.BLOG}{one.kind}", one.text)
        for text in said
        for one in markers.blog(text)
    ]
    return [*(one for text in said for one in markers.found(text)), *blog]


def _highlights(work: Work, summary: Value) -> str:
    lines = [f"# Iteration {work.iteration}", ""]
    for name in work.added:
        one = work.alphabet.primitives[name]
        lines.append(
            f"- new: **{line(one.label)}** ({one.id}, {one.domain}): {line(one.definition)}"
        )
    lines += [f"- rejected: {line(row['label'])}: {line(row['reason'])}" for row in work.rejected]
    lines += [f"- {line(text)}" for text in summary["insights"]]
    said = [text for event in work.events for text in _texts(event)]
    lines += [f"- [{one.kind}] {line(one.text)}" for text in said for one in markers.blog(text)]
    return "\n".join([*lines, ""])


def decisions(work: Work) -> tuple[Files, list[Value]]:
    """ALPH-36: `DEC_XXXX_*.md` for every addition, merger and split, and their rows in the index."""
    known = work.base.registers.get(layout.DECISIONS, [])
    number = len(known)
    files: Files = {}
    rows: list[Value] = []
    evaluated = {
        row["candidate_id"]: row for event in work.of("critic") for row in event["evaluations"]
    }
    for event in work.events:
        if event["kind"] not in ("refiner", "consolidation"):
            continue
        made = [
            (
                f"{_label(work, row['primitive_id'])} is primitive",
                row,
                evaluated.get(row["candidate_id"]),
            )
            for row in event["integrations"]
        ]
        made += [
            (f"{row['retired']} merged into {row['keep']}", row, None) for row in event["merges"]
        ]
        made += [(f"{row['retired']} split", row, None) for row in event["splits"]]
        for title, row, verdict in made:
            number += 1
            name = f"DEC_{number:04d}_{slug(title)}"
            why = [verdict["summary"]] if verdict else [str(row.get("reason", ""))]
            if verdict and verdict["output"]:
                why += [
                    f"{attack}: {body['notes']}"
                    for attack, body in verdict["output"]["attacks"].items()
                ]
            lines = [
                f"# {line(title)}",
                "",
                f"Iteration {work.iteration}, {work.at}.",
                "",
                *(f"- {line(one)}" for one in why),
            ]
            files[f"reasoning/decisions/{name}.md"] = "\n".join([*lines, ""])
            rows.append(
                {
                    "id": f"DEC_{number:04d}",
                    "file": f"{name}.md",
                    "title": title,
                    "iteration": work.iteration,
                }
            )
    return files, [*known, *rows]


def _label(work: Work, name: str) -> str:
    one = work.alphabet.get(name)
    return one.label if one is not None else name


def paradoxes(work: Work, most: int = 3) -> tuple[Files, list[Value]]:
    """ALPH-36: `PAR_XXXX_*.md` for definitions that lead back to themselves, and for what a role marks as a paradox."""
    known = work.base.registers.get(layout.PARADOXES, [])
    files: Files = {}
    rows: list[Value] = []
    for row in [row for row in work.rejected if row["failed_attack"] == "circularity"][:most]:
        paths = row["critic_output"]["attacks"]["circularity"]["circular_paths"]
        number = len(known) + len(rows) + 1
        name = f"PAR_{number:04d}_circularity_of_{slug(row['label'])}"
        title = f"circularity of {row['label']}"
        text = [
            f"# The {line(title)}",
            "",
            f"Iteration {work.iteration}, {row['candidate_id']}.",
            "",
            line(row["reason"]),
            "",
        ]
        text += [f"- {' -> '.join(line(word) for word in path)}" for path in paths[:20]] + [""]
        files[f"reasoning/paradoxes/{name}.md"] = "\n".join(text)
        rows.append(
            {
                "id": f"PAR_{number:04d}",
                "file": f"{name}.md",
                "title": title,
                "iteration": work.iteration,
            }
        )
    said = [
        (event, one.text)
        for event in work.events
        for one in _marks(event)
        if one.kind == f"{markers.BLOG}PARADOX"
    ]
    for event, puzzle in said[: max(0, most - len(rows))]:
        number = len(known) + len(rows) + 1
        title = " ".join(line(puzzle).split()[:8])
        name = f"PAR_{number:04d}_{slug(title)}"
        where = f"Iteration {work.iteration}, said by the {event['role']} in {event['phase']}, cycle {event['cycle']}."
        files[f"reasoning/paradoxes/{name}.md"] = "\n".join(
            [f"# {title}", "", where, "", line(puzzle), ""]
        )
        rows.append(
            {
                "id": f"PAR_{number:04d}",
                "file": f"{name}.md",
                "title": title,
                "iteration": work.iteration,
            }
        )
    return files, [*known, *rows]


def reflections(work: Work) -> tuple[Files, list[Value]]:
    """ALPH-32: `MR_XXXX_iteration_NNN.yaml` and `.md`."""
    known = work.base.registers.get(layout.REFLECTIONS, [])
    files: Files = {}
    rows: list[Value] = []
    for event in work.of("reflection"):
        number = len(known) + len(rows) + 1
        name = f"MR_{number:04d}_iteration_{work.iteration:03d}"
        output = event["output"]
        body = {
            "iteration_range": event["period"]["iteration_range"],
            "timestamp": work.at,
            **output,
        }
        marked = [one._asdict() for one in _marks(event)]
        more = {
            "computed": event["period"],
            "markers": marked,
            **{key: event[key] for key in ("reasons", "mismatches", "wrong")},
        }
        files[f"reasoning/meta_reflections/{name}.yaml"] = dump(
            {"meta_reflection": body, "archive": more}
        )
        because = [f"- because {line(why)}" for why in event["reasons"]]
        lines = [f"# Reflection {number}, iteration {work.iteration}", "", *because]
        if output:
            lines += [
                "",
                f"**{output['decision']}.** {line(output['course_corrections']['criterion_calibration'])}",
                "",
            ]
            seen = output["patterns_observed"]
            lines += [
                f"- {line(row['pattern'])} ({row['frequency']}): {line(row['implications'])}"
                for row in seen
            ]
            lines += [
                f"- {row['category']}: {line(row['insight'])}"
                for row in output["insights_for_archive"]
            ]
        lines += [f"- claimed, and not so: {line(one)}" for one in event["mismatches"]]
        files[f"reasoning/meta_reflections/{name}.md"] = "\n".join([*lines, ""])
        decision = output.get("decision", "") if output else ""
        rows.append(
            {
                "id": f"MR_{number:04d}",
                "file": f"{name}.yaml",
                "iteration": work.iteration,
                "decision": decision,
            }
        )
    return files, [*known, *rows]


def rejections(work: Work) -> Files:
    """ALPH-34: everything that was ever rejected, and an index of it by attack."""
    rows = [*work.base.rejected, *work.rejected]
    index: dict[str, list[str]] = {}
    for row in rows:
        index.setdefault(str(row.get("failed_attack", "")), []).append(str(row.get("label", "")))
    head = {"last_updated": work.at, "total": len(rows)}
    return {
        layout.REJECTED: dump({"rejected_candidates": {**head, "candidates": rows}}),
        layout.REJECTED_INDEX: dump({"rejected_index": {**head, "by_attack": index}}),
    }


def recount(summary: Mapping[str, Any], proposer: Any, critic: Any) -> list[str]:
    """ALPH-90: where a summary does not say what the iteration's logs say."""
    rows = [row for cycle in critic.get("cycles", ()) for row in cycle.get("evaluations", ())]
    words = Counter(row.get("verdict") for row in rows)
    proposed = sum(len(cycle.get("candidates", ())) for cycle in proposer.get("cycles", ()))
    counted = {
        "proposed": proposed, "accepted": words["ACCEPT"], "rejected": words["REJECT"], "refined": words["REFINE"],
        "deferred": words["DEFER"], "unparsed": words["UNPARSED"],
    }  # fmt: skip
    said = summary.get("candidates", {})
    wrong = {key: number for key, number in counted.items() if said.get(key) != number}
    return [
        f"candidates.{key} says {said.get(key)}, the logs {number}" for key, number in wrong.items()
    ]
