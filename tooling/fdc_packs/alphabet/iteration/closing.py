"""What an iteration leaves behind: every file of its commit, or why there is none (ALPH-03, 22, 37 to 39, 48 to 54, 67, 88)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fdc_toolchain.api.text import narrow

from .. import layout
from ..calculus.consistency import Violation, score, violations, violations_between, violations_near
from ..calculus.metrics import BenchmarkError
from ..drawing import drawn
from ..model import Alphabet, Primitive, slug
from ..schemas import Events, Tree
from ..state import REGISTERS, balance, status_of
from ..state_files import files_of
from ..texts import text
from ..yamltext import dump, parse
from . import archive
from .phases import Stop, stopping, unchanged
from .steps import acceptance, facts_of
from .work import Work, row_of, work_of

Value = dict[str, object]
WHOLE = 2000
"""Primitives up to which every iteration checks all of them; above, those that were touched, and all at the interval."""


def touched_files(tree: Tree, staged: Events) -> Value:
    """The detailed entries that the iteration changes, which it must read first."""
    work = _settled(work_of(tree, staged["events"]))
    before = [work.base.alphabet.get(one.id) for one in _touched(work)]
    return {"paths": [entry_path(one) for one in before if one is not None]}


def entry_path(one: Primitive) -> str:
    """Where the whole entry of a primitive is."""
    return f"{layout.DETAILED}/{one.id}_{slug(one.label)}.yaml"


def _touched(work: Work) -> list[Primitive]:
    """Primitives that are other than they were, but for their status."""
    before = work.base.alphabet.primitives
    return [
        one for one in work.alphabet.primitives.values()
        if one.id not in before or (one is not before[one.id] and one._replace(status="") != before[one.id]._replace(status=""))
    ]  # fmt: skip


def _settled(work: Work) -> Work:
    """The work with every status as this iteration makes it (ALPH-39)."""
    window = work.base.config["stopping"]["stability_window"]
    contested = set(
        re.findall(r"PRM_\d{4,}", " ".join(work.state["pending"]["conflicts_to_resolve"]))
    )
    changed = []
    for one in work.alphabet.primitives.values():
        status = status_of(one, work.iteration, window, contested)
        if status != one.status:
            changed.append(one._replace(status=status))
    return work._replace(alphabet=work.alphabet.replaced(*changed)) if changed else work


def checked(work: Work) -> list[Violation]:
    """The six rules over what is about to be written: all of it, or what a change of a large alphabet can have broken."""
    found = violations_between(work.base.state["current_iteration"], work.iteration)
    if len(work.alphabet.primitives) <= WHOLE or _due(work):
        return found + violations(work.alphabet)
    return found + violations_near(work.alphabet, {one.id for one in _touched(work)})


def _due(work: Work) -> bool:
    """Whether it is time for what is expensive (ALPH-62)."""
    return bool(work.iteration % work.base.config["validation"]["check_interval"] == 0)


def build_change(tree: Tree, staged: Events, details: Value) -> Value:
    """The commit of an iteration: `files` by path; or `ok` false with the conflicts that a person has to look at (C-25)."""
    work = _settled(work_of(tree, staged["events"]))
    found = checked(work)
    if found:
        why = "; ".join(f"{one.rule}: {one.why}" for one in found[:5])
        return {**_nothing(work), "why": f"consistency violation, a person must look: {why}"}
    facts = facts_of(work)
    stop = stopping(facts, work.base.config)
    _finish(work, stop)
    balance(work.state["history"])
    touched = _touched(work)
    reflected = bool(work.of("reflection")) or stop is not None
    version = _version(work.base.version, bool(touched), reflected)
    summary = archive.summary_of(work, dict(work.state["metrics"]))
    files = _files(work, version, summary, touched, narrow(details.get("files", {}), dict))
    if reflected and len(work.alphabet):
        files |= snapshot(work, version, files, stop)
    if stop is not None:
        files |= report_files(work, stop, version, summary)
    changed = {path: text for path, text in files.items() if tree["files"].get(path) != text}
    return {
        "ok": True, "why": "", "files": changed, "iteration": work.iteration, "version": version, "summary": summary,
        "stop": stop.code if stop else "", "stop_why": stop.why if stop else "", "immutable": f"{layout.VERSIONS}/",
        "unchanged": unchanged(facts), "stability_window": work.base.config["stopping"]["stability_window"],
        "remove": [*_renamed(work, touched), *_overruled(work, stop)], "mirror": list(MIRRORED),
    }  # fmt: skip


MIRRORED = (
    "alphabet/primitives/*", "alphabet/relationships/*", layout.STATE, layout.CANDIDATES, layout.HANDOFF,
    "reasoning/rejected/*", "reasoning/*/_*_index.yaml", "reasoning/meta_reflections/*", f"{layout.LOGS}/*/summary.yaml",
)  # fmt: skip
"""What can be put back where it is damaged (ALPH-70), as patterns in which `*` goes through folders. Of the logs the summaries:
they are read by every iteration that follows."""


def _overruled(work: Work, stop: Stop | None) -> list[str]:
    """What is not so any more: pictures of drawings that are written anew, and where the work goes on after its end the report
    of that end, which its snapshot tells of."""
    if stop is not None:
        return [f"{drawn.FOLDER}/{name}" for name in drawn.PICTURES]
    if not work.base.state["history"]["stopped"]:
        return []
    return [
        layout.REPORT_MD,
        layout.REPORT_YAML,
        *(f"{drawn.FOLDER}/{name}" for name in drawn.FILES),
    ]


def _renamed(work: Work, touched: list[Primitive]) -> list[str]:
    """Entries whose primitive is called otherwise now."""
    olds = [(work.base.alphabet.get(one.id), one) for one in touched]
    return [
        entry_path(old)
        for old, one in olds
        if old is not None and entry_path(old) != entry_path(one)
    ]


def outcome(change: Value) -> Value:
    """How the iteration ended, without its files."""
    kept = ("iteration", "ok", "why", "stop", "stop_why", "version", "summary")
    counts = {key: change.get(key, 0) for key in ("unchanged", "stability_window")}  # added in 0.2
    return {
        **{key: change[key] for key in kept},
        **counts,
        "files": len(narrow(change["files"], dict)),
    }


def _nothing(work: Work) -> Value:
    return {
        "ok": False, "why": "", "files": {}, "iteration": work.iteration, "version": work.base.version, "summary": {},
        "stop": "", "stop_why": "", "immutable": f"{layout.VERSIONS}/", "unchanged": 0, "stability_window": 0,
        "remove": [], "mirror": [],
    }  # fmt: skip


def _finish(work: Work, stop: Stop | None) -> None:
    state, history = work.state, work.state["history"]
    if not work.of("reflection"):
        history["iterations_since_last_meta"] += 1
    history["iterations_since_last_primitive"] = (
        0 if work.added else history["iterations_since_last_primitive"] + 1
    )
    history["stopped"] = stop.code if stop else ""
    state["phase"], state["cycle_in_phase"] = "EXPANSION", 0
    state["pending"]["candidates_to_evaluate"] = [row["id"] for row in work.pending["to_evaluate"]]
    state["pending"]["candidates_to_revise"] = [row["id"] for row in work.pending["to_revise"]]
    state["metrics"]["recent_acceptance_rate"] = acceptance(work)[0]
    state["metrics"]["consistency_score"] = score(work.alphabet, ())


def _version(old: str, touched: bool, period: bool) -> str:
    """0.X.Y: Y grows with every iteration that changes the alphabet, X with every reflection, which takes a snapshot."""
    parts = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", old)
    major, minor, patch = (int(part) for part in parts.groups()) if parts else (0, 0, 0)
    if period:
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if touched else old


def _files(
    work: Work, version: str, summary: Value, touched: list[Primitive], details: Mapping[str, str]
) -> dict[str, str]:
    config = work.base.config
    out = files_of(
        work.alphabet,
        version,
        work.iteration,
        work.at,
        work.examples,
        pretty=config["pretty_print_yaml"],
    )
    for one in touched:
        before = work.base.alphabet.get(one.id)
        out[entry_path(one)] = entry(
            work, one, details.get(entry_path(before)) if before is not None else None
        )
    out[layout.STATE] = dump({"iteration_state": work.state})
    out[layout.CANDIDATES] = dump(work.pending)
    out[layout.HANDOFF] = dump({"session_handoff": _handoff(work, summary)})
    out |= archive.rejections([*work.base.rejected, *work.rejected], work.at)
    for path, register in (
        (layout.DECISIONS, archive.decisions(work)), (layout.PARADOXES, archive.paradoxes(work)),
        (layout.REFLECTIONS, archive.reflections(work)),
    ):  # fmt: skip
        rows = register.rows
        out |= register.files
        out[path] = dump({REGISTERS[path]: {"total": len(rows), "entries": rows}})
    out |= archive.logs(work, summary, config["logging"]["include_raw_llm_output"])
    if work.coverage:
        measured = dump(
            {"coverage_report": {"iteration": work.iteration, "at": work.at, **work.coverage}}
        )
        out[layout.COVERAGE] = measured
        out[layout.DECOMPOSITIONS] = _decompositions(work)
        out[
            f"validation/benchmarks/results/coverage_by_iteration/iteration_{work.iteration:03d}.yaml"
        ] = measured
    if config["validation"]["run_consistency_check"] and (
        len(work.alphabet) <= WHOLE or _due(work)
    ):
        out |= consistency_files(work.alphabet, work.iteration, work.at)
    return out


def _decompositions(work: Work) -> str:
    from ..calculus import metrics

    rows = metrics.decompositions(
        work.alphabet, work.base.concepts, [*work.base.rejected, *work.rejected]
    )
    return dump({"decompositions": {"iteration": work.iteration, "concepts": rows}}, rows=True)


def consistency_files(alphabet: Alphabet, iteration: int, at: str) -> dict[str, str]:
    """ALPH-83: circularity, redundancy, contrasts and presuppositions, each `pass`, `warning` or `fail`."""
    from ..calculus import consistency_report

    found = consistency_report.consistency(alphabet)
    head = {"iteration": iteration, "checked_at": at, "primitives": len(alphabet)}
    checks = found["checks"]
    return {
        layout.CIRCULARITY: dump({"circularity_check": {**head, **checks["circularity"]}}),
        layout.REDUNDANCY: dump({"redundancy_check": {**head, **checks["redundancy"]}}),
        layout.CONSISTENCY: dump({"consistency_report": {**head, **found}}),
        layout.CONSISTENCY.replace(".yaml", ".md"): text("consistency", found),
    }


def entry_row(one: Primitive) -> Value:
    """A primitive as its entry has it: without what changes with every iteration."""
    row = row_of(one)
    row |= {f"{key}_iteration": row.pop(key) for key in ("added", "changed")}
    return {key: value for key, value in row.items() if key not in ("reviewed", "status")}


def entry(work: Work, one: Primitive, old: str | None) -> str:
    """ALPH-22: the whole entry of a primitive: what it is, where it comes from, every attack it withstood, every change."""
    before = parse(old) if old else {}
    body = before.get("primitive", {}) if isinstance(before, dict) else {}
    candidate, evaluation = _origin(work, one.id)
    if candidate is not None:
        body["origin"] = candidate
        body["evaluation"] = evaluation
    history = list(body.get("history", ()))
    for event in work.events:
        history += [
            {"iteration": work.iteration, **change}
            for change in event.get("revisions", ())
            if change["primitive_id"] == one.id
        ]
        history += [
            {"iteration": work.iteration, "relation": relation} for done in event.get("integrations", ())
            if done["primitive_id"] == one.id for relation in done["relationships_added"]
        ]  # fmt: skip
    return dump(
        {"primitive": {**body, **entry_row(one), "last_updated": work.at, "history": history}}
    )


def _origin(work: Work, name: str) -> tuple[Value | None, Value | None]:
    for event in work.of("refiner"):
        for done in event["integrations"]:
            if done["primitive_id"] == name:
                mine = done["candidate_id"]
                rows = [
                    row
                    for one in work.of("critic")
                    for row in one["evaluations"]
                    if row["candidate_id"] == mine
                ]
                whole = [
                    row
                    for one in work.of("critic")
                    for row in one["candidates"]
                    if row["id"] == mine
                ]
                return whole[-1] if whole else None, rows[-1] if rows else None
    return None, None


def _handoff(work: Work, summary: Value) -> Value:
    """ALPH-88: what the next reader sees first."""
    state = work.state
    return {
        "written": work.at, "after_iteration": work.iteration, "next": "EXPANSION", "stopped": state["history"]["stopped"],
        "strategy": state["current_strategy"], "pending": {key: len(value) for key, value in state["pending"].items()},
        "gaps": state["pending"]["gaps_to_fill"][:10], "last": {key: summary[key] for key in ("candidates", "primitives_added")},
    }  # fmt: skip


def snapshot(
    work: Work, version: str, files: Mapping[str, str], stop: Stop | None = None
) -> dict[str, str]:
    """ALPH-37: the alphabet as it is, below a name that is never written again; and why the work ended with it, if it did."""
    folder = f"{layout.VERSIONS}/v{version}"
    out = {f"{folder}/index.yaml": files[layout.INDEX]}
    for domain in work.alphabet.domains:
        out[f"{folder}/primitives/{domain}.yaml"] = files[layout.domain_file(domain)]
    out[f"{folder}/CHANGELOG.md"] = text("changelog", work, version, stop)
    return out


def report_files(work: Work, stop: Stop, version: str, summary: Value) -> dict[str, str]:
    """ALPH-67: the final report, for people and for programs, with its drawings and the page."""
    history, metrics = work.state["history"], work.state["metrics"]
    summaries = [*work.base.summaries, summary]
    value = {
        "stopped": work.at, "reason": stop.code, "justification": stop.why, "iterations": work.iteration, "version": version,
        "metrics": metrics, "history": {key: history[key] for key in history if key.startswith("total_")},
        "answered_by": drawn.who(summaries),
        "alphabet": [{"id": one.id, "label": one.label, "prime": one.prime, "domain": one.domain} for one in work.alphabet],
    }  # fmt: skip
    counted = ", ".join(f"{history[f'total_{kind}']} {kind}" for kind in drawn.COUNTED)
    pages = _pages(work, summaries, stop)
    drawings = [f"{drawn.FOLDER}/{name}" for name in drawn.DRAWINGS if name in pages]
    said = text("final", work, version, stop, counted, drawn.who(summaries), drawings)
    out = {layout.REPORT_MD: said, layout.REPORT_YAML: dump({"final_report": value})}
    return out | {f"{drawn.FOLDER}/{name}": text for name, text in pages.items()}


def _pages(work: Work, summaries: list[Value], stop: Stop) -> dict[str, str]:
    """The drawings; none where the test concepts cannot be measured with, which is not a reason not to end."""
    rejected = [*work.base.rejected, *work.rejected]
    try:
        return drawn.pages(
            work.alphabet,
            summaries,
            work.base.concepts,
            rejected,
            "An alphabet of thought",
            stop.code,
        )
    except BenchmarkError:
        return {}
