"""Synthesis of what was validated, and the pipeline that makes the implementation's components. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .names import generate_file_name
from .statements import names

if TYPE_CHECKING:
    from .shapes.artifacts import Hypothesis, Synthesis
    from .shapes.steps import (
        Component,
        Components,
        ComponentsJudged,
        DiagramSpec,
        Drawing,
        Kept,
        Taken,
        Tried,
    )


def validate(hypotheses: Sequence[Hypothesis], analysis: object, narrated: object) -> Kept:
    """The synthesis as the worldview keeps it, or why it cannot be kept (LGTM-72): it must speak of every hypothesis."""
    out: Kept = {"ok": False, "why": "", "output": None, "refused": ""}
    if not isinstance(analysis, dict) or "failed" in analysis:
        return {
            **out,
            "why": f"the analysis failed: {analysis.get('why') if isinstance(analysis, dict) else ''}",
        }
    if not isinstance(narrated, str) or not narrated.strip():
        return {
            **out,
            "why": f"no narrative exists: {narrated.get('why') if isinstance(narrated, dict) else 'it is empty'}",
        }
    ids = [row["microHypothesisID"] for row in hypotheses]
    silent = [ident for ident in ids if ident not in narrated]
    if silent:
        why = f"the narrative does not name {', '.join(silent[:4])}"
        return {**out, "why": why, "refused": f"{why}. It was: {narrated.strip()}"}
    foreign = [
        ident for ident in re.findall(r"\bh_[A-Za-z0-9]+_\d{3}\b", narrated) if ident not in ids
    ]
    if foreign:
        why = f"the narrative names {foreign[0]}, which was not validated"
        return {**out, "why": why, "refused": f"{why}. It was: {narrated.strip()}"}
    rows = [
        row
        for row in analysis["keyDependencies"]
        if row["from"] in ids and row["to"] in ids and row["from"] != row["to"]
    ]
    output: Synthesis = {
        "synthesizedNarrative": narrated.strip(),
        "implementationPrerequisites": analysis["implementationPrerequisites"],
        "keyDependencies": rows,
    }
    return {**out, "ok": True, "output": output}


def synthesis_path(run: str) -> str:
    """Where the narrative lies, from the run folder."""
    return generate_file_name("synthesis", run.rpartition("/")[2], "narrative", "md")


def unproved() -> Tried:
    """What is known of a pipeline before there is one."""
    return {"proved": False, "findings": [], "text": "", "program": "", "cost": {}, "tries": 0}


def optimise(proof: Mapping[str, object]) -> str:
    """Plan: rounds that do not depend on each other are run in parallel. The linter judges the result."""
    return re.sub(
        r"^(\s*(?:[A-Za-z_]\w* *<- *)?)for (?=[A-Za-z_]\w* in )",
        r"\1fork ",
        str(proof["text"]),
        flags=re.MULTILINE,
    )


def choose(base: Tried, better: Tried, run: str) -> Taken:
    """The optimised pipeline where it is proved and costs no more, else the one that was proved before (LGTM-44)."""
    measures = ("steps", "model_calls", "tokens")
    take = bool(better["proved"]) and all(
        better["cost"].get(key, 0) <= base["cost"].get(key, 0) for key in measures
    )
    taken = better if take else base
    path = generate_file_name("pipeline", run.rpartition("/")[2], "optimized", "plan")
    return {**taken, "path": path, "optimised": take and better["text"] != base["text"]}


def ordered(components: Sequence[object], synthesis: Synthesis) -> Components:
    """The components in an order in which each comes after what it depends on, as far as there is one; prose comes last."""
    needs: dict[str, set[str]] = {}
    for row in synthesis.get("keyDependencies") or []:
        needs.setdefault(row["from"], set()).add(row["to"])
    whole, lost = _whole(components)
    left = [
        *(row for row in whole if row["language"] != "text"),
        *(row for row in whole if row["language"] == "text"),
    ]
    out: list[Component] = []
    while left:
        waiting = {ident for row in left for ident in row["hypotheses"]}
        free = [row for row in left
                if not any(needs.get(one, set()) & (waiting - set(row["hypotheses"])) for one in row["hypotheses"])]  # fmt: skip
        chosen = (free or left)[0]
        out.append(chosen)
        left.remove(chosen)
    return {"components": out, "count": len(out), "lost": lost}


def validate_components(
    result: object, hypotheses: Sequence[Hypothesis], synthesis: Synthesis
) -> ComponentsJudged:
    """What the pipeline yielded, as components of these hypotheses and nothing else; `ok` where there is one at least."""
    rows = result.get("components", []) if isinstance(result, dict) else result
    whole, lost = _whole(rows if isinstance(rows, list) else [])
    ids = {row["microHypothesisID"] for row in hypotheses}
    mine = [row for row in whole if row["hypotheses"] and set(row["hypotheses"]) <= ids]
    lost += [
        f"`{row['title']}` belongs to no validated hypothesis" for row in whole if row not in mine
    ]
    if isinstance(result, dict):
        lost += [str(one) for one in result.get("lost") or ()] + (
            [str(result.get("why"))] if "failed" in result else []
        )
    made = ordered(mine, synthesis)
    return {
        **made,
        "lost": lost,
        "ok": bool(made["components"]),
        "why": "; ".join(lost) or "the pipeline yielded no component",
    }


def _whole(rows: Sequence[object]) -> tuple[list[Component], list[str]]:
    """The components among these values, with every field; and why the others are none."""
    out: list[Component] = []
    lost: list[str] = []
    for row in rows:
        if not isinstance(row, dict) or "failed" in row:
            lost.append(
                str(row.get("why", "")) if isinstance(row, dict) else "what is not a component"
            )
            continue
        texts = {
            key: str(row.get(key) or "")
            for key in ("title", "rationale", "language", "code", "place")
        }
        ids = (
            [str(one) for one in row["hypotheses"]]
            if isinstance(row.get("hypotheses"), list)
            else []
        )
        touches = (
            [str(one) for one in row["touches"]] if isinstance(row.get("touches"), list) else []
        )
        if texts["title"] and ids:
            out.append(
                {
                    "title": texts["title"],
                    "rationale": texts["rationale"],
                    "language": texts["language"],
                    "code": texts["code"],
                    "place": texts["place"],
                    "hypotheses": ids,
                    "touches": touches,
                }
            )
        else:
            lost.append("a component without a title or a hypothesis")
    return out, lost


def diagrams(synthesis: Mapping[str, object], components: object) -> list[DiagramSpec]:
    """The diagrams of the plan: what depends on what, and what each component touches."""
    wanted = "the components from first to last, what each needs and touches"
    return [{"name": "Order of the components", "prompt": wanted}]


def _places(touches: list[str]) -> dict[tuple[str, str], list[str]]:
    """The lines that a component touches by file, uses and tests apart; of a text that names no place, nothing."""
    out: dict[tuple[str, str], list[str]] = {}
    for one in touches:
        found = re.match(r"(Test )?`([^`]+):(\d+)`", one)
        if found:
            lines = out.setdefault(("tested by" if found[1] else "used by", found[2]), [])
            lines += [found[3]] if found[3] not in lines else []
    return out


def draw(spec: DiagramSpec, synthesis: Synthesis, components: Components) -> Drawing:
    """A diagram in ASCII, by its name: drawn from the components and the uses that were found, so that it says what is so."""
    rows = components["components"]
    number = {ident: at for at, row in enumerate(rows, 1) for ident in row["hypotheses"]}
    out = []
    for at, row in enumerate(rows, 1):
        name = (names(row["title"]) or [""])[0]
        out.append(
            f"[{at}] {name}  ({row['place']})" if name else f"[{at}] {row['place'] or row['title']}"
        )
        before = sorted({number[one["to"]] for one in synthesis.get("keyDependencies") or []
                         if one["from"] in row["hypotheses"] and one["to"] in number})  # fmt: skip
        out += [f"     +--> needs [{one}]" for one in before]
        out += [
            f"     <--- {mark} {path}: line {', '.join(lines)}"
            for (mark, path), lines in _places(row["touches"]).items()
        ]
    out.append("")
    out.append(
        "[n]: step n of section 3   +--> what it needs   <--- who uses it, which tests name it"
    )
    return {"name": spec["name"], "text": "\n".join(out).encode("ascii", "replace").decode("ascii")}
