"""The tools of the explore pack that look at the workspace. They list, search and read; none can change anything.

The pack's pure functions are in the files beside this one. What a step returns is journaled, so it
carries places and chosen lines.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.tools import Context, ToolFailure, text, word

from ..answering.found import as_rows
from ..answering.found import find_places as found_places
from ..answering.quotes import of_workspace
from ..answering.references import asked as asked_relation
from ..retrieval import library
from ..retrieval.file_worth import TESTS
from ..retrieval.question import written_names
from .code_search import Tree
from .place import inside, subjects
from .strategies import STRATEGIES, as_row, places

CANDIDATES = 200
EVIDENCE = 24
"""Places of a track that are opened and handed on as evidence."""
PER_FILE = 6
MOST_SHARE = 3.0
QUOTE = 240
NOWHERE = ("internal", "variation")
"""Evidence of what is not there, or of how it is written: it is no place that a track alone looks at."""
EVERYTHING = ("**", "**/*", ".", "")
_KEPT = 2
_lock = threading.Lock()
_trees: OrderedDict[tuple[str, str, str], Tree] = OrderedDict()
_WIDE = re.compile(
    r"\b(?:architect\w*|design\w*|structur\w*|layer\w*|module\w*|component\w*|interact\w*|flow\w*|across|throughout"
    r"|everywhere|whole|overall|system|subsystem\w*|lifecycle|end[- ]to[- ]end|why|cause\w*|impact\w*|affect\w*|depend\w*"
    r"|relat\w*|feature\w*)\b",
    re.IGNORECASE,
)
_HOW_DONE = re.compile(
    r"^\W*(?:where|which (?:function|method|class|code|module|file)|what (?:happens|does|calls|uses)|who (?:calls|uses)"
    r"|how (?:is|are|was|were|does))\b",
    re.IGNORECASE,
)
"""Questions after what code does; those after what to do with it (`how do I`, `why`) are answered by documents too."""
_ARCHITECTURE = re.compile(
    r"\b(?:architect\w*|layer\w*|overall|structure of|how is .* (?:built|organi[sz]ed|structured))\b",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"\b(?:feature\w*|end[- ]to[- ]end|endpoint\w*|ui|frontend|user interface)\b", re.IGNORECASE
)


def map_code(args: dict[str, Any], context: Context) -> Any:
    """`map_code`: which files there are to look at, in which languages, and what was skipped (EXP-14: nothing is run)."""
    paths = word(args, "paths", "**")
    rerank = word(args, "rerank", "no") == "yes"
    if rerank:
        from fdc_toolchain.api.models import missing

        if missing():
            raise ToolFailure("unavailable", missing())
    with library.folder(".", context) as opened:
        shelf = library.read(opened, True)
    tree = _tree(shelf, paths)
    skipped = [one for one in shelf.scan.skipped if _among(one.path, paths)]
    kinds = Counter(os.path.splitext(path)[1].lower() or "(none)" for path in tree.documents)
    return {
        "paths": paths,
        "rerank": rerank,
        "digest": shelf.scan.digest,
        "files": len(tree.documents),
        "lines": sum(len(document.lines) for document in tree.documents.values()),
        "kinds": dict(kinds.most_common(12)),
        "skipped": [{"path": one.path, "reason": one.reason} for one in skipped[:20]],
        "skipped_count": len(skipped),
    }


def scope_exploration(args: dict[str, Any], context: Context) -> Any:
    """What a question is about, and whether it can be explored as it stands: no halt, `confusion` or `ambiguity`.

    `wide` says whether it has several sides, `pointed` that it has one only and names it (EXP-02, 03, 36).
    """
    question = text(args, "question").strip()
    if not question:
        return _confused("", "The question is empty. What do you want to know?", [])
    tree, changed = _mapped(args, context)
    found = _search(tree, question)
    telling = [
        (number, concept.word)
        for number, concept in enumerate(found.concepts)
        if concept.weight == 1.0
    ]
    known = [name for number, name in telling if found.files(number)]
    missing = [name for number, name in telling if not found.files(number)]
    if not tree.documents:
        paths = _object(args, "map").get("paths")
        asks = f"No file fits `{paths}`. Which files do you mean?"
        if paths in EVERYTHING:
            asks = "There is no source file and no document here. Which folder do you mean?"
        return _confused(question, asks, missing)
    ask = ""
    if not known:  # whoever takes the question apart may know what the code calls it: a model, for one in another language
        asked = ", ".join(f"`{one}`" for one in missing[:6]) or "anything that could be looked for"
        ask = f"No file has {asked}. What is it called in this code?"
    named = written_names(question)
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
    several = trigger(question, len(known))
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
        "pointed": not several and any(tree.defined(name) for name in named),
        "uses": asked_relation(question) is not None,
        "files": len(found.hits),
    }


def trigger(question: str, known: int) -> bool:
    """Whether a question has several sides, so that tracks are worth their cost: it is about how things are built or hang
    together, about a cause, about something that cuts across the code, or about more than three things that the code
    knows (EXP-36).
    """
    return known > 3 or any(kind.search(question) for kind in (_WIDE, _ARCHITECTURE, _FEATURE))


def find_places(args: dict[str, Any], context: Context) -> Any:
    """The places that answer a question, with their deciding lines, and how sure that is."""
    question = text(args, "question")
    tree, _ = _mapped(args, context)
    ranked = _looked(tree, {"terms": [question], "asked": question}, args)
    found = found_places(tree, _search(tree, question), question, ranked=ranked)
    return {
        "places": as_rows(found),
        "total": found.total,
        "sure": found.sure,
        "why": found.why,
    }


def survey_tracks(args: dict[str, Any], context: Context) -> Any:
    """For each proposed track, the places that its strategy would look at: what independence is computed from (EXP-08)."""
    proposal = args.get("proposal")
    rows = proposal.get("tracks") if isinstance(proposal, dict) else None
    tree, changed = _mapped(args, context)
    out = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        approach = row.get("approach")
        found = []
        if approach in STRATEGIES and row.get("focus"):
            search = _search(tree, _terms(row))
            looked = places(tree, search, str(approach), _within(row))
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


def gather_files(args: dict[str, Any], context: Context) -> Any:
    """The files that a track looks at, best first (EXP-15: gather)."""
    track = _object(args, "track")
    tree, _ = _mapped(args, context)
    search = _looked(tree, track, args)
    files = [path for path in search.best_files(40) if inside(path, _within(track))]
    return {"files": files[:25], "of": len(search.hits), "changed": False}


def explore_track(args: dict[str, Any], context: Context) -> Any:
    """What the track's strategy finds: places, best first, not more than a few of one file (EXP-15: explore)."""
    track = _object(args, "track")
    tree, _ = _mapped(args, context)
    approach = str(track.get("approach"))
    if approach not in STRATEGIES:
        raise ToolFailure("argument", f"there is no strategy `{approach[:60]}`")
    found = places(tree, _looked(tree, track, args), approach, _within(track))
    kept: list[dict[str, Any]] = []
    seen = Counter[str]()
    share = track.get("share")
    if isinstance(share, (int, float)) and not isinstance(
        share, bool
    ):  # a side of the question is worth its part of it
        found = [
            place._replace(score=place.score * min(max(share, 0.0), MOST_SHARE)) for place in found
        ]
    for place in found:
        seen[place.path] += 1
        if seen[place.path] <= PER_FILE and len(kept) < EVIDENCE:
            kept.append(as_row(place))
    return {
        "places": kept,
        "count": len(kept),
        "of": len(found),
        "files": len(seen),
        "spread": dict(seen.most_common(30)),
    }


def collect_evidence(args: dict[str, Any], context: Context) -> Any:
    """Opens the files and quotes the lines that were found (EXP-15: collect)."""
    rows = _list(_object(args, "found"), "places")
    out = []
    with of_workspace(context) as lines:
        for row in rows:
            quote = lines.at(str(row.get("path")), int(row.get("line", 0)))
            if quote is not None and quote.strip():
                out.append({**row, "quote": quote.strip()[:QUOTE]})
    return {
        "evidence": out,
        "count": len(out),
        "of": int(_object(args, "found").get("of", len(out))),
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
        if one.kind not in ("variable", "key") and not TESTS.search(path)
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


def _folders(found: Any) -> list[str]:
    """The folders that the best files lie in, two levels deep."""
    counts = Counter("/".join(path.split("/")[:-1][:2]) for path in found.best_files(60))
    return [folder for folder, _ in counts.most_common(6) if folder]


def _terms(track: Mapping[str, Any]) -> str:
    terms = track.get("terms")
    listed = " ".join(str(one) for one in terms) if isinstance(terms, list) else ""
    return listed.strip() or str(track.get("focus", ""))


def _within(track: Mapping[str, Any]) -> str:
    paths = track.get("paths")
    return paths if isinstance(paths, str) and paths not in ("**", "**/*") else ""


def _search(tree: Tree, question: str) -> Any:
    from ..retrieval.question import concepts_of, faint

    asked = concepts_of(question)
    more = faint(question, asked)
    relation = asked_relation(question)
    if relation is not None:  # its verb is the relation, and no word to look for
        verb = relation.verb
        asked = [concept for concept in asked if concept.word != verb] or asked
        more = [concept for concept in more if concept.word != verb]
    return tree.search(
        [*asked, *more], written_names(question), _HOW_DONE.search(question) is not None
    )


def _looked(tree: Tree, track: Mapping[str, Any], args: Mapping[str, Any]) -> Any:
    """What a track looks at: by words, and by meaning too where the run has the reranker."""
    search = _search(tree, _terms(track))
    if (
        not _object(args, "map").get("rerank") or len(search.concepts) < 2
    ):  # one word is a side of the question, not its meaning
        return search
    from .rerank import reranked

    return reranked(search, str(track.get("asked") or track.get("focus", ""))[:2000])


def _mapped(args: Mapping[str, Any], context: Context) -> tuple[Tree, bool]:
    """The tree that a step was given, and whether it has changed since."""
    mapped = _object(args, "map")
    digest = str(mapped.get("digest", ""))
    with library.folder(".", context) as opened:
        shelf = library.get(opened, True, digest)
    return _tree(shelf, str(mapped.get("paths", "**"))), shelf.scan.digest != digest


def _tree(shelf: library.Shelf, paths: str) -> Tree:
    key = (shelf.folder, shelf.scan.digest, paths)
    with _lock:
        if key not in _trees:
            chosen = [one for one in shelf.scan.documents if _among(one.path, paths)]
            _trees[key] = Tree(shelf.scan, chosen)
        _trees.move_to_end(key)
        while len(_trees) > _KEPT:
            _trees.popitem(last=False)
        return _trees[key]


def _among(path: str, paths: str) -> bool:
    return paths in EVERYTHING or inside(path, paths.removeprefix("./"))


def _object(args: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = args.get(name)
    if not isinstance(value, dict):
        raise ToolFailure("argument", f"`{name}` is not what the step before it returns")
    return value


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    rows = value.get(name)
    if not isinstance(rows, list):
        raise ToolFailure("argument", f"`{name}` is no list")
    return rows
