"""The final plan document: put together here, checked here and where its links are opened. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .names import NONE, generate_file_name

if TYPE_CHECKING:
    from .shapes.artifacts import Hypothesis, Worldview
    from .shapes.steps import (
        Challenged,
        Changes,
        Component,
        Components,
        Document,
        Drawing,
        LostDrawing,
        Sections,
    )

SECTIONS = (
    r"^# Implementation Plan: \S", r"^\*\*Run ID:\*\* \S",
    r"^\*\*Based on Synthesis of Validated Micro-Hypotheses:\*\* \S",
    r"^\*\*Null Challenge Summary:\*\* \S", r"^\*\*Synthesis Summary:\*\* \S", r"^## 1\. Problem Summary \(The Gap\)$",
    r"^## 2\. Proposed Solution \(Synthesized\)$", r"^- \*\*Overall Narrative:\*\*",
    r"^- \*\*Key Components/Areas Addressed:\*\*",
    r"^- \*\*Implementation Prerequisites:\*\*", r"^- \*\*Key Dependencies:\*\*", r"^## 3\. Implementation Sequence$",
    r"^### Step 1: \S", r"^## 4\. Key Assumptions & Considerations \(Aggregated/Synthesized\)$",
    r"^## 5\. Relevant Visualizations \(Proposed State\)$",
)  # fmt: skip
SHOWN = 4
"""Assumptions of one hypothesis that the document tells."""
LINK = re.compile(r"\]\(([^()\s]+)\)")
_ID = re.compile(r"\bh_[A-Za-z0-9]+_\d{3}\b")


def assemble(
    wv: Worldview, hypotheses: Sequence[Hypothesis], components: Components, diagrams: Sequence[Drawing | LostDrawing],
    challenges: Sequence[Challenged] | None = None, changes: Changes | None = None,
) -> Document:  # fmt: skip
    """The document in the order of LGTM-77, and its path from the run folder. Raises ValueError where there is no synthesis."""
    meta, synthesis = wv["meta"], wv["synthesisOutput"]
    if synthesis is None:
        raise ValueError("the run has no synthesis to plan from")
    entries = {row["microHypothesisID"]: row for row in wv["microHypotheses"]}
    parts = components["components"]
    linked = {
        row["microHypothesisID"]: f"[{row['microHypothesisID']}]({row['filePath']})"
        for row in wv["microHypotheses"]
    }
    valid = [row["microHypothesisID"] for row in hypotheses]
    failed = [ident for ident, row in entries.items() if row["status"] == "Invalidated"]
    undecided = [
        ident for ident, row in entries.items() if row["nullChallengeOutcome"] == "Undecided"
    ]
    files = [
        entries[ident]["nullChallengeFilePath"] or NONE for ident in (*valid, *failed, *undecided)
    ]
    records = ", ".join(f"[{path.rpartition('/')[2]}]({path})" for path in files)
    out_of_it = [f"{len(failed)} Failed and left out (gate: subset)"] if failed else []
    out_of_it += [f"{len(undecided)} Undecided and left out"] if undecided else []
    verdict = ", ".join([f"{len(valid)} Passed", *out_of_it]) if out_of_it else "Passed"
    out = [
        f"# Implementation Plan: {_line(meta['originalQuestion'])}", "", f"**Run ID:** {meta['runFolderPath']}", "",
        f"**Based on Synthesis of Validated Micro-Hypotheses:** {', '.join(linked[ident] for ident in valid)}", "",
        f"**Null Challenge Summary:** {verdict} ({records})", "",
        f"**Synthesis Summary:** [{synthesis['filePath']}]({synthesis['filePath']})", "",
    ]  # fmt: skip
    out += ["## 1. Problem Summary (The Gap)", "", f"- {_line(meta['originalQuestion'])}"]
    out += [
        f"- {linked[row['microHypothesisID']]}: {_line(row['gapCharacterization'])}"
        for row in hypotheses
    ]
    out += ["", "## 2. Proposed Solution (Synthesized)", "", "- **Overall Narrative:**", ""]
    out += [_quoted(synthesis["synthesizedNarrative"]), "", "- **Key Components/Areas Addressed:**"]
    areas = {row["areaID"]: row["description"] for row in wv["areasOfAnalysis"]}
    out += [f"  - {ident}: {_line(areas[entries[ident]['areaOfAnalysisID']])}" for ident in valid]
    out += [
        "- **Implementation Prerequisites:**",
        *_listed(synthesis["implementationPrerequisites"]),
    ]
    out += ["- **Key Dependencies:**"]
    out += _listed(
        [f"{row['from']} needs {row['to']}: {row['why']}" for row in synthesis["keyDependencies"]]
    )
    out += ["", "## 3. Implementation Sequence", ""]
    for number, part in enumerate(parts, 1):
        out += _step(number, part, linked)
    out += [f"- A step was lost: {_line(one)}" for one in components.get("lost") or ()]
    out += ["## 4. Key Assumptions & Considerations (Aggregated/Synthesized)", ""]
    for row in hypotheses:
        more = len(row["keyAssumptions"]) - SHOWN
        for one in row["keyAssumptions"][:SHOWN]:
            support = ", ".join(f"[{path.rpartition('/')[2]}]({path})" for path in one["evidence"])
            out.append(
                f"- **Assumption:** {_line(one['statement'])} (Supporting Evidence: {support or 'none'})"
            )
        out += [f"  - {more} more in {linked[row['microHypothesisID']]}"] if more > 0 else []
    critiques: dict[str, list[str]] = {}
    for row in hypotheses:
        for point in row["critiquePoints"]:
            critiques.setdefault(_line(point), []).append(row["microHypothesisID"])
    risks = [
        f"- **Potential Critique/Risk:** {one} ({', '.join(ids)})" for one, ids in critiques.items()
    ]
    risks += [f"- **Potential Critique/Risk:** {_line(row['description'])} ({row['conflictID']}"
              f"{', resolved since' if row['status'] == 'Resolved' else ''})"
              for row in wv["hypothesisConflicts"]]  # fmt: skip
    risks += [f"- **Potential Critique/Risk:** {_line(one)} ([challenge of {row['id']}]"
              f"({entries[row['id']]['nullChallengeFilePath']}))"
              for row in challenges or () for one in row["weaknesses"][:SHOWN]]  # fmt: skip
    out += [*(risks or ["- **Potential Critique/Risk:** none was found"]), ""]
    out += ["## 5. Relevant Visualizations (Proposed State)", ""]
    for drawn in diagrams:
        drawing: Drawing = (
            {"name": drawn["item"]["name"], "text": f"(not drawn: {drawn['why']})"}
            if "failed" in drawn
            else drawn
        )
        out += [f"**{_line(drawing['name'])}:**", "", _fenced(str(drawing["text"]), "ascii"), ""]
    out.append("This plan has not been carried out: a person must decide that.")
    if changes is not None:
        out += _executable(changes, meta["runFolderPath"])
    path = generate_file_name("plan_synth", meta["runId"], "final", "md")
    return {"path": path, "text": "\n".join(out), "components": len(parts)}


def flaws(text: str, ids: list[str]) -> list[str]:
    """What a document lacks: sections in order, a known hypothesis in every step (LGTM-77, 81)."""
    plain = _unfenced(text)
    found, at = [], 0
    for pattern in SECTIONS:
        here = re.compile(pattern, re.MULTILINE).search(plain, at)
        if here is None:
            name = re.sub(r"[\\^$*]|S$", "", pattern).strip()
            found.append(f"the section `{name}` is missing or out of order")
        else:
            at = here.end()
    sequence = plain.partition("## 3. Implementation Sequence")[2].partition("\n## 4. ")[0]
    for step in re.split(r"^### ", sequence, flags=re.MULTILINE)[1:]:
        title = step.split("\n", 1)[0][:60]
        related = next(
            (
                line
                for line in step.split("\n")
                if line.startswith("- **Related Micro-Hypotheses:**")
            ),
            "",
        )
        if not set(_ID.findall(related)) & set(ids):
            found.append(f"`{title}` belongs to no micro-hypothesis")
    return found


def check_sections(document: Document, hypotheses: Sequence[Hypothesis]) -> Sections:
    """What can be said of a document without opening anything: its flaws, and the links to open."""
    ids = [row["microHypothesisID"] for row in hypotheses]
    return {"flaws": flaws(document["text"], ids), "links": links(document["text"])}


def _executable(changes: Changes, run: str) -> list[str]:
    """How the code of the document gets into the files, where a model wrote any (LGTM-79)."""
    out = []
    if changes["ok"]:
        files = ", ".join(f"`{one}`" for one in changes["files"])
        out.append(f"`fdc run {run}/{changes['path']}` writes the code above to {files} after an approval; without "
                   "approval it changes nothing.")  # fmt: skip
    return (
        ["", *out, *(f"- {_line(one)}" for one in changes["left"])]
        if out or changes["left"]
        else []
    )


def _step(number: int, row: Component, linked: dict[str, str]) -> list[str]:
    out = [
        f"### Step {number}: {_line(row['title'])}",
        "",
        f"- **Rationale/Details:** {_line(row['rationale'])}",
    ]
    out.append(
        f"- **Related Micro-Hypotheses:** {', '.join(linked[ident] for ident in row['hypotheses'] if ident in linked)}"
    )
    if row["touches"]:
        out += ["- **What it touches:**", *(f"  - {_line(one)}" for one in row["touches"])]
    return [
        *out,
        "- **Full Proposed Code:**",
        "",
        _fenced(row["code"] or "(none)", row["language"] or "text"),
        "",
    ]


def _listed(rows: list[str]) -> list[str]:
    return [f"  - {_line(row)}" for row in rows] or ["  - none"]


def _quoted(text: str) -> str:
    """A text that cannot begin a section: quoted, line by line, and without links of its own."""
    return "\n".join(f"> {_unlinked(line)}".rstrip() for line in text.split("\n"))


def _line(text: object) -> str:
    return _unlinked(" ".join(str(text).split()))


def _unlinked(text: str) -> str:
    return re.sub(r"\]\(", "] (", text)


def _fenced(text: str, language: str) -> str:
    ticks = max([len(run) for run in re.findall(r"^\s*(`{3,})", text, re.MULTILINE)], default=2) + 1
    fence = "`" * max(3, ticks)
    return f"{fence}{re.sub(r'[^A-Za-z0-9+-]', '', language)}\n{text}\n{fence}"


def _unfenced(text: str) -> str:
    """The document without what stands in fences and quotations."""
    out, fence = [], ""
    for line in text.split("\n"):
        mark = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif mark:
            fence = mark.group()
        elif not line.startswith(">"):
            out.append(line)
    return "\n".join(out)


def links(text: str) -> list[str]:
    """Every link of the document, each once (LGTM-78)."""
    return list(dict.fromkeys(LINK.findall(_unfenced(text))))
