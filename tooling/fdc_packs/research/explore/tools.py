"""The tools with which an exploration begins: the files there are, what a question is about, where it is answered."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.tools import Context, ToolFailure, object_of, text, word

from ..answering.found import as_rows, stands
from ..answering.found import find_places as found_places
from ..answering.references import asked as asked_relation
from ..outline.code_outline import is_code
from ..retrieval import library
from ..retrieval.file_worth import TESTS, makes
from ..retrieval.question import written_names
from .code_search import Tree
from .mapped import EVERYTHING, among, mapped, ranked, searched, terms_of, tree_of, within
from .place import subjects
from .strategies import STRATEGIES, places

OFFERED = 8
"""Definitions that a question back may name; of more, a reader looks for none."""
NOWHERE = ("internal", "variation")
"""Evidence of what is not there, or of how it is written: it is not a place that a track alone looks at."""
_WIDE = re.compile(
    r"\b(?:architect\w*|design\w*|structur\w*|layer\w*|module\w*|component\w*|interact\w*|flow\w*|across|throughout"
    r"|everywhere|whole|overall|system|subsystem\w*|lifecycle|end[- ]to[- ]end|why|cause\w*|impact\w*|affect\w*|depend\w*"
    r"|relat\w*|feature\w*)\b",
    re.IGNORECASE,
)
_ARCHITECTURE = re.compile(
    r"\b(?:architect\w*|layer\w*|overall|structure of|how is .* (?:built|organi[sz]ed|structured))\b",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"\b(?:feature\w*|end[- ]to[- ]end|endpoint\w*|ui|frontend|user interface)\b", re.IGNORECASE
)


def map_code(args: Mapping[str, object], context: Context) -> object:
    """`map_code`: which files there are to look at, in which languages, and what was skipped (EXP-14: nothing is run)."""
    paths = word(args, "paths", "**")
    rerank = word(args, "rerank", "no") == "yes"
    if rerank:
        from fdc_toolchain.api.models import missing

        if missing():
            raise ToolFailure("unavailable", missing())
    with library.folder(".", context) as opened:
        shelf = library.read(opened, True)
    tree = tree_of(shelf, paths)
    skipped = [one for one in shelf.scan.skipped if among(one.path, paths)]
    kinds = Counter(os.path.splitext(path)[1].lower() or "(none)" for path in tree.documents)
    return {
        "paths": paths,
        "rerank": rerank,
        "digest": shelf.scan.digest,
        "files": len(tree.documents),
        "lines": sum(len(document.lines) for document in tree.documents.values()),
        "list": list(tree.documents),
        "kinds": dict(kinds.most_common(12)),
        "skipped": [{"path": one.path, "reason": one.reason} for one in skipped[:20]],
        "skipped_count": len(skipped),
    }


def scope_exploration(args: Mapping[str, object], context: Context) -> object:
    """What a question is about, and whether it can be explored as it stands: no halt, `confusion` or `ambiguity`.

    `wide` says whether it has several sides, `pointed` that it has one only and names it (EXP-02, 03, 36).
    """
    question = text(args, "question").strip()
    if not question:
        return _confused("", "The question is empty. What do you want to know?", [])
    tree, changed = mapped(args, context)
    found = searched(tree, question)
    telling = [
        (number, concept.word)
        for number, concept in enumerate(found.concepts)
        if concept.weight == 1.0
    ]
    known = [name for number, name in telling if found.files(number)]
    missing = [name for number, name in telling if not found.files(number)]
    if not tree.documents:
        paths = object_of(args, "map").get("paths")
        asks = f"No file fits `{paths}`. Which files do you mean?"
        if paths in EVERYTHING:
            asks = "No source file and no document was found here. Which folder do you mean?"
        return _confused(question, asks, missing)
    ask = ""
    named = written_names(question)
    absent = [name for name in named if not stands(tree, name)]
    if (
        not known
    ):  # the planner may know the word, as a model does for a question in another language
        asked = ", ".join(f"`{one}`" for one in (absent or missing)[:6]) or "anything to look for"
        ask = f"No file has {asked}. What is it called in this code?{_offered(tree)}"
    if word(args, "broad", "no") != "yes":
        meanings = _meanings(tree, named)
        if meanings is not None:
            return {**_scope(question, known, missing, changed), **meanings}
    rows = []
    for unit in subjects(found, ""):
        one = unit.definition
        assert one is not None
        where = {"path": unit.path, "line": one.line, "score": unit.score}
        rows.append({"name": one.name, "qualified": one.qualified, "kind": one.kind, **where})
    template = "FeatureInvestigation" if _FEATURE.search(question) else ""
    template = "ArchitectureUnderstanding" if _ARCHITECTURE.search(question) else template
    several, relation = trigger(question, len(known)), asked_relation(question)
    weights = sorted(
        ({"word": name, "weight": round(found.weights[number], 4), "files": len(found.files(number))}
         for number, name in telling if found.weights[number]),
        key=lambda row: -float(str(row["weight"])),
    )  # fmt: skip
    return {
        **_scope(question, known, missing, changed),
        "ask": ask,
        "subjects": rows,
        "names": named,
        "concepts": weights,
        "folders": _folders(found),
        "template": template,
        "wide": several,
        "pointed": not several and (relation is not None or any(map(tree.defined, named))),
        "uses": relation is not None,
        "files": len(found.hits),
    }


def trigger(question: str, known: int) -> bool:
    """Whether a question has several sides, so that tracks are worth their cost: it is about how things are built or hang
    together, about a cause, about something that cuts across the code, or about more than three things that the code
    knows (EXP-36).
    """
    return known > 3 or any(kind.search(question) for kind in (_WIDE, _ARCHITECTURE, _FEATURE))


def find_places(args: Mapping[str, object], context: Context) -> object:
    """The places that answer a question, with their deciding lines, and how sure that is."""
    question = text(args, "question")
    tree, _ = mapped(args, context)
    order = ranked(tree, {"terms": [question], "asked": question}, args)
    found = found_places(tree, searched(tree, question), question, ranked=order)
    return {
        "places": as_rows(found),
        "total": found.total,
        "sure": found.sure,
        "why": found.why,
    }


def survey_tracks(args: Mapping[str, object], context: Context) -> object:
    """For each proposed track, the places that its strategy would look at: what independence is computed from (EXP-08)."""
    proposal = args.get("proposal")
    rows = proposal.get("tracks") if isinstance(proposal, dict) else None
    tree, changed = mapped(args, context)
    out = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        approach = row.get("approach")
        found = []
        if approach in STRATEGIES and row.get("focus"):
            search = searched(tree, terms_of(row))
            looked = places(tree, search, str(approach), within(row))
            found = [f"{one.path}:{one.line}" for one in looked if one.kind not in NOWHERE]
        out.append({**row, "places": found})
    said = proposal if isinstance(proposal, dict) else {}
    rest = {key: said.get(key) for key in ("ask", "options", "failed", "why")}
    return {
        "tracks": out,
        "rationale": str(said.get("rationale", ""))[:2000],
        "changed": changed,
        **rest,
    }


def _confused(question: str, asks: str, missing: list[str]) -> dict[str, Any]:
    return {**_scope(question, [], missing, False), "halt": "confusion", "ask": asks}


def _scope(question: str, known: list[str], missing: list[str], changed: bool) -> dict[str, Any]:
    return {
        "question": question[:2000], "known": known, "missing": missing, "changed": changed, "halt": "", "ask": "",
        "options": [], "subjects": [], "names": [], "concepts": [], "folders": [], "template": "", "wide": False,
        "pointed": False, "uses": False, "files": 0,
    }  # fmt: skip


def _meanings(tree: Tree, named: list[str]) -> dict[str, Any] | None:
    """The options of a question about one name that means several things; None where it means one, or none (EXP-03)."""
    if len(named) != 1:
        return None
    name = named[0]
    found = [
        (path, one)
        for path, one in tree.defined(name)
        if one.kind not in ("variable", "key", "export") and not TESTS.search(path)
    ]
    found = [row for row in found if "." not in row[1].qualified or "." in name]
    files = {path for path, _ in found}
    if len(files) < 2:
        return None
    options = []
    uses = Counter(path for path, _, _ in tree.users(name))
    for path, one in sorted(found, key=lambda row: (row[0], row[1].line))[:8]:
        folder = os.path.dirname(path)
        near = sum(count for user, count in uses.items() if os.path.dirname(user) == folder)
        options.append({
            "option": f"`{one.qualified}`, a {one.kind}", "path": path, "line": one.line,
            "how": f"--paths '{folder + '/**' if folder else path}'",
            "tradeoff": f"{near} of {sum(uses.values())} lines that use the name are in its folder; the others are left out",
        })  # fmt: skip
    options.append({
        "option": "all of them together", "path": "", "line": 0, "how": "--broad",
        "tradeoff": f"nothing is left out, and the answer speaks of {len(found)} different things",
    })  # fmt: skip
    return {
        "halt": "ambiguity",
        "ask": f"`{name}` is defined in {len(files)} files. Which one do you mean?",
        "options": options,
    }


def _offered(tree: Tree) -> str:
    """What a small tree defines, so that the asker can choose a name; empty where there are more than a few."""
    names: list[str] = []
    for path in tree.documents:
        outlined = tree.outline(path) if is_code(path) and makes(path) else None
        names += [
            f"`{one.qualified}` ({path}:{one.line})"
            for one in (outlined.definitions if outlined is not None else ())
            if one.kind not in ("variable", "key", "constant", "export")
            and not one.name.startswith("__")
        ]
        if len(names) > OFFERED:
            return ""
    return f" This code defines {', '.join(names)}." if names else ""


def _folders(found: Any) -> list[str]:
    """The folders that the best files lie in, two levels deep."""
    counts = Counter("/".join(path.split("/")[:-1][:2]) for path in found.best_files(60))
    return [folder for folder, _ in counts.most_common(6) if folder]
