"""What an agent on a track can ask for: ranked places, references, the outline of a file; what it has seen, quoted.

They list, search and read; none can change anything. What a step returns is journaled, so it carries places and chosen lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.text import narrow
from fdc_toolchain.api.tools import Context, ToolFailure, object_of, text, word

from ..answering.quotes import of_workspace
from ..answering.references import KINDS, Relation, find
from ..outline.code_outline import is_code
from .looking import bodies
from .looking import places as places_seen
from .mapped import mapped, ranked, within
from .place import inside
from .strategies import STRATEGIES, as_row, places

EVIDENCE = 24
"""Places of a track that one call brings."""
PER_FILE = 6
MOST_SHARE = 3.0
QUOTE = 240
MAPPED, NAMES = 25, 12
"""Files of the map that an agent is shown first, and names of each."""
LISTED = 120
"""References, or definitions of a file, that one call brings."""


def gather_files(args: Mapping[str, object], context: Context) -> object:
    """The files that a track looks at, best first, and what each of them defines (EXP-15: gather)."""
    track = object_of(args, "track")
    tree, _ = mapped(args, context)
    search = ranked(tree, track, args)
    files = [path for path in search.best_files(40) if inside(path, within(track))][:MAPPED]
    rows = []
    for path in files:
        outlined = tree.outline(path)
        names = (
            [one.qualified for one in outlined.definitions if "." not in one.qualified]
            if outlined
            else []
        )
        rows.append(f"{path}: {', '.join(dict.fromkeys(names[:NAMES]))}".rstrip(": "))
    return {"files": files, "map": rows, "of": len(search.hits)}


def track_places(args: Mapping[str, object], context: Context) -> object:
    """What the track's strategy finds: places, best first, not more than a few of one file (EXP-15: explore)."""
    track = dict(object_of(args, "track"))
    if args.get("terms"):
        track["terms"], track["asked"] = [word(args, "terms")], word(args, "terms")
    if args.get("paths"):
        track["paths"] = word(args, "paths")
    tree, _ = mapped(args, context)
    approach = str(track.get("approach"))
    if approach not in STRATEGIES:
        raise ToolFailure("argument", f"the strategy `{approach[:60]}` does not exist")
    found = places(tree, ranked(tree, track, args), approach, within(track))
    kept: list[dict[str, Any]] = []
    seen = Counter[str]()
    share = track.get("share")
    if isinstance(share, (int, float)) and not isinstance(share, bool):
        # a side of the question is worth its part of it
        worth = min(max(share, 0.0), MOST_SHARE)
        found = [place._replace(score=place.score * worth) for place in found]
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


def code_references(args: Mapping[str, object], context: Context) -> object:
    """The lines that stand in a relation to a name, each with the definition around it."""
    kind = word(args, "kind", "use")
    if kind not in KINDS:
        raise ToolFailure("argument", f"`kind` is one of {', '.join(KINDS)}")
    name = text(args, "name").strip("` ")
    tree, _ = mapped(args, context)
    found = find(tree, Relation(kind, name))
    rows = [
        {
            "path": one.path, "line": one.line, "kind": "use", "subject": one.inside or name, "home": "",
            "description": f"{KINDS[kind]} `{name}`" + (f" in `{one.inside}`" if one.inside else ""), "score": 0.0,
            "said": tree.documents[one.path].lines[one.line - 1].strip()[:QUOTE],
        }
        for one in found[:LISTED]
    ]  # fmt: skip
    return {"places": rows, "of": len(found)}


def code_outline(args: Mapping[str, object], context: Context) -> object:
    """What a file defines, with the first and the last line of each."""
    path = word(args, "path")
    tree, _ = mapped(args, context)
    if path not in tree.documents:
        raise ToolFailure("argument", f"`{path}` is not one of the files that are looked at")
    outlined = tree.outline(path) if is_code(path) else None
    rows = [
        {"name": one.qualified, "kind": one.kind, "first": one.line, "last": one.end}
        for one in (outlined.definitions if outlined else ())
    ]
    return {"path": path, "lines": len(tree.documents[path].lines), "definitions": rows[:LISTED]}


def collect_evidence(args: Mapping[str, object], context: Context) -> object:
    """What an agent has seen: opens the files and quotes the lines that were found (EXP-15: collect)."""
    rows, of, spread = places_seen(args.get("seen"))
    said = args.get("said")
    out = []
    with of_workspace(context) as lines:
        for row in rows:
            quote = lines.at(str(row["path"]), narrow(row["line"], int))
            if quote is not None and quote.strip():
                out.append({**row, "quote": quote.strip()[:QUOTE]})
    why = (
        f"{said['failed']}: {said.get('why')}"
        if isinstance(said, dict) and said.get("failed")
        else ""
    )
    return {
        "evidence": out,
        "bodies": bodies(args.get("seen")),
        "count": len(out),
        "of": of,
        "spread": dict(spread.most_common(30)),
        "why": why,
    }
