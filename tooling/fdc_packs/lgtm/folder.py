"""A run folder as a whole: whether every artifact in it is what it must be, and leads to what it names. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from . import document, knowledge
from .artifacts import problems
from .names import FILE

_CHALLENGE = re.compile(r"null_challenges/nc_h_[A-Za-z0-9]{1,40}_\d{3}_challenge\.json\Z")
_VERSION = re.compile(
    r"hypotheses/hyp_(?P<id>h_[A-Za-z0-9]{1,40}_\d{3})_v(?P<number>\d+)_(?P<kind>[a-z]+)\.json\Z"
)


def faults(files: Mapping[str, str]) -> list[str]:
    """What is wrong with the artifacts of a run, each with its file (and the path in it); `files` are texts by their paths
    from the run folder (LGTM-04, 07 to 18, 20, 22, 25 to 27, 68, 77, 78)."""
    wv, out = _json(files, "worldview.json", "worldview")
    if wv is None:
        return out
    entries = {row["filePath"]: row for row in wv["knowledgeBase"]["entries"]}
    for path, row in entries.items():
        out += _knowledge(files, path, row)
    versions: dict[str, dict[int, tuple[str, Any]]] = {}
    for path in sorted(files):
        if FILE.match(path):
            named = _VERSION.match(path)
            value, wrong = _json(files, path, "hypothesis")
            out += wrong
            if named and value is not None:
                if int(named["number"]) in versions.get(named["id"], {}):
                    out.append(f"{path}: version {named['number']} is there twice")
                versions.setdefault(named["id"], {})[int(named["number"])] = path, value
                out += _hypothesis(
                    files,
                    path,
                    value,
                    named["id"],
                    {row["areaID"] for row in wv["areasOfAnalysis"]},
                )
    for ident, known in versions.items():
        out += _history(ident, known)
    for row in wv["microHypotheses"]:
        out += _entry(files, row)
    for value in (wv["synthesisOutput"], wv["meta"]["optimizedPipeline"]):
        if value is not None:
            out += _there(files, "worldview.json", value["filePath"])
    plan = wv["meta"]["finalPlanPath"]
    if plan is not None:
        out += _there(files, "worldview.json", plan)
        text = files.get(plan, "")
        valid = [
            row["microHypothesisID"]
            for row in wv["microHypotheses"]
            if row["status"] == "Validated"
        ]
        out += [f"{plan}: {one}" for one in document.flaws(text, valid)] if text else []
        out += [one for link in document.links(text) for one in _there(files, plan, link)]
    return out


def _json(files: Mapping[str, str], path: str, kind: str) -> tuple[Any, list[str]]:
    if path not in files:
        return None, [f"{path}: it is missing"]
    try:
        value = json.loads(files[path], parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        return None, [f"{path}: it is not a strict JSON ({wrong})"]
    found = problems(kind, value)
    return (None if found else value), [f"{path}: {one}" for one in found]


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is not a number")


def _there(files: Mapping[str, str], where: str, path: Any) -> list[str]:
    return [] if path in files else [f"{where}: `{path}` leads to no file of the run"]


def _knowledge(files: Mapping[str, str], path: str, row: dict[str, Any]) -> list[str]:
    missing = _there(files, "worldview.json", path)
    if missing:
        return missing
    try:
        found = knowledge.parsed(files[path])
    except ValueError as wrong:
        return [f"{path}: {wrong}"]
    out = (
        []
        if row["source"] in found.sources
        else [f"{path}: its source {row['source']} is not in the list"]
    )
    if (found.confidence, found.summary.strip()) != (row["confidence"], row["contentSummary"]):
        out.append(f"{path}: its confidence or its summary is not that of the worldview")
    return out


def _hypothesis(
    files: Mapping[str, str], path: str, value: Any, ident: str, areas: set[str]
) -> list[str]:
    out = (
        []
        if value["microHypothesisID"] == ident
        else [f"{path}: $.microHypothesisID is not that of its name"]
    )
    if value["areaOfAnalysisID"] not in areas:
        out.append(
            f"{path}: $.areaOfAnalysisID: the area {value['areaOfAnalysisID']} does not exist"
        )
    return out + [
        one
        for row in value["keyAssumptions"]
        for each in row["evidence"]
        for one in _there(files, path, each)
    ]


def _history(ident: str, known: dict[int, tuple[str, Any]]) -> list[str]:
    numbers = sorted(known)
    if numbers != list(range(len(numbers))):
        return [
            f"hypotheses: the versions of {ident} are {', '.join(map(str, numbers))}; one is missing"
        ]
    out = []
    for number in numbers:
        path, value = known[number]
        kind = path.rpartition("_")[2].removesuffix(".json")
        if (kind == "initial") != (number == 0):
            out.append(f"{path}: version {number} cannot be `{kind}`")
        before = known[number - 1][1]["refinementHistory"] if number else []
        if value["refinementHistory"][: len(before)] != before:
            out.append(
                f"{path}: $.refinementHistory does not go on from that of version {number - 1}"
            )
    return out


def _entry(files: Mapping[str, str], row: dict[str, Any]) -> list[str]:
    out = _there(files, "worldview.json", row["filePath"])
    path = row["nullChallengeFilePath"]
    if path is None:
        return out
    if not _CHALLENGE.match(path):
        return [*out, f"worldview.json: `{path}` is not a file of a challenge"]
    value, wrong = _json(files, path, "null_challenge")
    out += wrong
    if value is not None:
        out += _there(files, path, value["hypothesisFilePath"])
        out += [one for attempt in value["falsificationAttempts"] for each in attempt["falsificationEvidenceFound"]
                for one in _there(files, path, each)]  # fmt: skip
        if value["overallOutcome"] != row["nullChallengeOutcome"]:
            out.append(
                f"{path}: $.overallOutcome is not that of the worldview, {row['nullChallengeOutcome']}"
            )
    return out
