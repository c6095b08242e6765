"""The archivist: the logs of an iteration as files, YAML and prose, without a word from any model (ALPH-02, 32 to 36, 60, 90)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from fdc_toolchain.api.text import narrow

from .. import layout, markers
from ..calculus.consistency import score, violations
from ..model import slug
from ..texts import line, text
from ..yamltext import dump
from .work import Event, Work, primitive_of

Files = dict[str, str]
Value = dict[str, object]
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
        out[f"{folder}/{name}.md"] = text("log", name, work.iteration, steps)
    composed = [_plain(event) for event in work.of("composition")]
    touched = {"added": work.added, "changed": work.changed, "retired": work.retired}
    out[f"{folder}/artifacts.yaml"] = dump(
        {"artifacts": {"iteration": work.iteration, **touched, "composition": composed}}
    )
    marks = [one for event in work.events for said in _texts(event) for one in markers.blog(said)]
    out[f"{folder}/highlights.md"] = text("highlights", work, summary["insights"], marks)
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


def summary_of(work: Work, metrics: Value) -> Value:
    """ALPH-90: what `summary.yaml` counts. `recount` says what the logs of the iteration add up to."""
    rows = [row for event in work.of("critic") for row in event["evaluations"]]
    said = [one for event in work.events for one in _texts(event)]
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
        "unread": work.unread,
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


class Register:
    """New files of one kind with their rows in the index: `PREFIX_0001_...`, numbered on from those that there are."""

    def __init__(self, work: Work, index: str, prefix: str) -> None:
        self._folder, self._prefix, self._iteration = (
            index.rpartition("/")[0],
            prefix,
            work.iteration,
        )
        self.rows: list[Value] = list(work.base.registers.get(index, []))
        self.files: Files = {}

    @property
    def next(self) -> int:
        """The number of the next file."""
        return len(self.rows) + 1

    def add(self, name: str, files: Mapping[str, str], **row: object) -> None:
        """Files of one name, by their suffix; the index has the first of them."""
        number = f"{self._prefix}_{self.next:04d}"
        whole = [f"{number}_{name}.{suffix}" for suffix in files]
        self.files |= {f"{self._folder}/{one}": said for one, said in zip(whole, files.values())}
        self.rows.append({"id": number, "file": whole[0], **row, "iteration": self._iteration})


def decisions(work: Work) -> Register:
    """ALPH-36: `DEC_XXXX_*.md` for every addition, merger and split, and their rows in the index."""
    out = Register(work, layout.DECISIONS, "DEC")
    evaluated = {
        row["candidate_id"]: row for event in work.of("critic") for row in event["evaluations"]
    }
    for event in work.events:
        if event["kind"] not in ("refiner", "consolidation"):
            continue
        made = []
        for row in event["integrations"]:
            one, verdict = (
                work.alphabet.get(row["primitive_id"]),
                evaluated.get(row["candidate_id"]),
            )
            why = [verdict["summary"] if verdict else ""]
            if verdict and verdict["output"]:
                attacks = verdict["output"]["attacks"].items()
                why += [f"{attack}: {body['notes']}" for attack, body in attacks]
            label = one.label if one is not None else row["primitive_id"]
            made.append((f"{label} is primitive", why))
        made += [
            (f"{row['retired']} merged into {row['keep']}", [row["reason"]])
            for row in event["merges"]
        ]
        made += [(f"{row['retired']} split", [row["reason"]]) for row in event["splits"]]
        for title, why in made:
            out.add(slug(title), {"md": text("decision", work, title, why)}, title=title)
    return out


def paradoxes(work: Work, most: int = 3) -> Register:
    """ALPH-36: `PAR_XXXX_*.md` for definitions that lead back to themselves, and for what a role marks as a paradox."""
    out = Register(work, layout.PARADOXES, "PAR")
    found = []
    for row in work.rejected:
        if row["failed_attack"] == "circularity":
            title = f"circularity of {row['label']}"
            found.append((title, text("circle", work, title, row)))
    for event in work.events:
        for one in _marks(event):
            if one.kind == f"{markers.BLOG}PARADOX":
                title = " ".join(line(one.text).split()[:8])
                found.append((title, text("puzzle", work, title, event, one.text)))
    for title, said in found[:most]:
        out.add(slug(title), {"md": said}, title=title)
    return out


def reflections(work: Work) -> Register:
    """ALPH-32: `MR_XXXX_iteration_NNN.yaml` and `.md`."""
    out = Register(work, layout.REFLECTIONS, "MR")
    for event in work.of("reflection"):
        output, period = event["output"], event["period"]
        body = {"iteration_range": period["iteration_range"], "timestamp": work.at, **output}
        marked = [one._asdict() for one in _marks(event)]
        kept = {key: event[key] for key in ("reasons", "mismatches", "wrong")}
        archive = {"computed": period, "markers": marked, **kept}
        files = {
            "yaml": dump({"meta_reflection": body, "archive": archive}),
            "md": text("reflection", work, out.next, event),
        }
        decision = output.get("decision", "") if output else ""
        out.add(f"iteration_{work.iteration:03d}", files, decision=decision)
    return out


def rejections(rows: Iterable[Mapping[str, object]], at: str) -> Files:
    """ALPH-34: everything that was ever rejected, and an index of it by attack."""
    every = list(rows)
    index: dict[str, list[str]] = {}
    for row in every:
        index.setdefault(str(row.get("failed_attack", "")), []).append(str(row.get("label", "")))
    head = {"last_updated": at, "total": len(every)}
    return {
        layout.REJECTED: dump({"rejected_candidates": {**head, "candidates": every}}),
        layout.REJECTED_INDEX: dump({"rejected_index": {**head, "by_attack": index}}),
    }


def recount(
    summary: Mapping[str, object], proposer: Mapping[str, object], critic: Mapping[str, object]
) -> list[str]:
    """ALPH-90: where a summary does not say what the iteration's logs say."""
    cycles = narrow(critic.get("cycles", []), list)
    rows = [row for cycle in cycles for row in cycle.get("evaluations", ())]
    words = Counter(row.get("verdict") for row in rows)
    cycles = narrow(proposer.get("cycles", []), list)
    proposed = sum(len(cycle.get("candidates", ())) for cycle in cycles)
    counted = {
        "proposed": proposed, "accepted": words["ACCEPT"], "rejected": words["REJECT"], "refined": words["REFINE"],
        "deferred": words["DEFER"], "unparsed": words["UNPARSED"],
    }  # fmt: skip
    said = narrow(summary.get("candidates", {}), dict)
    wrong = {key: number for key, number in counted.items() if said.get(key) != number}
    return [
        f"candidates.{key} says {said.get(key)}, the logs {number}" for key, number in wrong.items()
    ]
