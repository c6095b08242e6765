"""BoundaryExplore: entry files, exports, configuration and command lines (EXP-33)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..outline.code_outline import is_code
from ..retrieval.file_worth import TESTS
from .code_search import Search, Tree
from .place import Place, home, inside, subjects

_ENTRY = re.compile(
    r"(?:^|/)(?:index\.[cm]?[jt]sx?|__init__\.py|__main__\.py|main\.\w+|mod\.rs|lib\.rs|cli\.\w+|app\.\w+|setup\.py|manage\.py"
    r"|package\.json|pyproject\.toml|setup\.cfg|cargo\.toml|go\.mod|makefile|dockerfile)$|(?:^|/)(?:cli|cmd|bin)/",
    re.IGNORECASE,
)
_CONFIG = frozenset((".toml", ".yaml", ".yml", ".ini", ".cfg", ".json", ".env"))
_OUTSIDE = re.compile(
    r"__all__|^\s*export\b|module\.exports|^\s*pub\s|add_argument\(|\.option\(|@click\.|environ|getenv|process\.env|\bconfig\b"
    r"|settings|entry_points|\[project\.scripts\]",
    re.IGNORECASE,
)


def boundary_explore(tree: Tree, search: Search, within: str) -> Iterator[Place]:
    """Find entry files, grep their exports, tell what is internal, map what they depend on."""
    exported: set[str] = set()
    for place in _met(tree, search, within):
        if place.kind == "export":
            exported.add(place.home)
        yield place
    seen: set[str] = set()
    for unit in subjects(search, ""):
        one = unit.definition
        assert one is not None
        stands = home(unit.path, one)
        outlined = tree.outline(unit.path)
        if not inside(unit.path, within) or outlined is None:
            continue
        if stands not in exported and one.kind not in ("method", "key"):
            shown = f"no entry file names `{one.name}`"
            yield Place(
                unit.path, one.line, "internal", one.qualified, stands, shown, unit.score * 0.4
            )
        if unit.path not in seen:
            seen.add(unit.path)
            for line in sorted(outlined.imports)[:3]:
                yield Place(
                    unit.path,
                    line,
                    "dependency",
                    one.qualified,
                    stands,
                    f"{unit.path} imports",
                    unit.score * 0.35,
                )


def _met(tree: Tree, search: Search, within: str) -> Iterator[Place]:
    """Where entry files and the outside are met: exports, settings, command lines."""
    names = {
        unit.definition.name: unit for unit in subjects(search, "") if unit.definition is not None
    }
    whole = (
        re.compile(r"(?<![\w$])(?:" + "|".join(map(re.escape, names)) + r")(?![\w$])")
        if names
        else None
    )
    for path, document in tree.documents.items():
        if not inside(path, within):
            continue
        entry = _ENTRY.search(path) is not None
        config = os.path.splitext(path)[1].lower() in _CONFIG
        hits = search.hits.get(path, {})
        factor = 0.4 if TESTS.search(path) else 1.0
        outlined = (
            tree.outline(path)
            if entry and (hits or (whole is not None and whole.search(tree.text(path)[0])))
            else None
        )
        if entry and is_code(path):
            for number in sorted(outlined.imports if outlined is not None else ()):
                found = whole.search(document.lines[number - 1]) if whole is not None else None
                if found is not None:
                    unit = names[found.group()]
                    assert unit.definition is not None
                    stands = home(unit.path, unit.definition)
                    shown = f"entry file with `{found.group()}`"
                    yield Place(
                        path,
                        number,
                        "export",
                        unit.definition.qualified,
                        stands,
                        shown,
                        unit.score * factor,
                    )
        for line, concepts in hits.items():
            text = document.lines[line - 1]
            outside = _OUTSIDE.search(text) is not None
            if not (config or outside) or len(text) > 400 or len(text.split()) < 2 and not config:
                continue
            around = tree.outline(path)
            if around is not None and line in around.prose:
                continue
            worth = sum(search.weights[number] * weight for number, weight in concepts.items())
            kind = "configuration" if config else "boundary"
            shown = "a setting" if config else "where the outside is met"
            yield Place(
                path,
                line,
                kind,
                "",
                "",
                shown,
                worth * factor * (1.2 if outside and entry else 1.0),
            )
