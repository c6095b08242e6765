"""The four ways to look at a source tree (EXP-30 to 33). Each names places, best first, and reads nothing else.

    PatternSearch       the words themselves: comments, documentation, prose, texts
    DependencyTrace     who imports and who uses what the question is about
    ImplementationScan  what defines it, what it says of itself, where it fails
    BoundaryExplore     entry files, exports, configuration, command lines

A place is a line with what was found there. `subject` is the definition that it belongs to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fdc_toolchain.text.glob_match import matches

from ..outline.sentences import is_prose, sentences
from .code_outline import WORD, Definition, is_code
from .code_search import TESTS, Search, Tree, Unit

MOST = 200
SUBJECTS = 6
"""Definitions that a track follows."""
FEWEST = 3
SENTENCES = 3
"""Sentences of a passage that are quoted."""
VARIED, VARIATIONS, KNOWN = 2, 3, 0.6
"""Words of which variations are told, how many of each, and what one is worth, of the best of all: it says how, not where."""
STRONG = 0.45
"""The part of the best definition's score that another needs to be a subject too."""
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
_MARKS = re.compile(
    r"^\s*(?:[rRuUbBfF]{0,2}(?:\"{3}|'{3})|/\*+|\*+/?|//[/!]?|#+[:!]?|--|;+|%+|<!--)?\s*|\s*(?:\"{3}|'{3}|\*+/|-->)\s*$"
)
_EFFECT = re.compile(
    r"^\s*(?:\w+(?:\.\w+|\[[^\]]*\])+)\s*(?:[-+*/|&%]?=)(?!=)|\b(?:open|write\w*|print\w*|echo|send\w*|emit|save|remove|unlink|mkdir"
    r"|rename|replace|exec\w*|commit|publish|append|update|setattr|delete)\(|^\s*(?:return|yield)\s+\S"
)
TYPES = ("class", "interface", "struct", "trait", "enum", "record", "type", "union")
_OPENS = re.compile(r"\s*(?:[-*+] |\d+[.)] |[:@.]\w|[rRuUbB]?[\"']{3}|\w+ : )")
_WORDS = re.compile(r"\w{2}")
_STOPS = re.compile(r"[.!?]\s+(?=[A-Z`\"'(])|:\s+$")
_TEXT = re.compile(r"[\"'`][^\"'`]{6,}[\"'`]|\s(?:#|//|--)\s+\w.{6,}")
"""A quoted text, or a remark at the end of a line."""


class Place(NamedTuple):
    """A line, what kind of find it is, which definition it tells of (and where that stands), and what it is worth."""

    path: str
    line: int
    kind: str
    subject: str
    home: str
    description: str
    score: float
    said: str = ""
    """The whole sentence that begins or stands there, where it is one."""


def subjects(search: Search, within: str, most: int = SUBJECTS) -> list[Unit]:
    """The definitions that the words are about."""
    found = [
        unit for unit in search.units() if unit.definition is not None and inside(unit.path, within)
    ]
    if not found:
        return []
    least = STRONG * found[0].score
    return [
        unit for number, unit in enumerate(found[:most]) if unit.score >= least or number < FEWEST
    ]


def inside(path: str, within: str) -> bool:
    """Whether a path is one that a track looks at; an empty glob is every path."""
    return not within or matches(path, within) or path.startswith(within.rstrip("/") + "/")


def places(tree: Tree, search: Search, approach: str, within: str = "") -> list[Place]:
    """What a strategy finds, best first, a line once."""
    best: dict[tuple[str, int], Place] = {}
    for place in STRATEGIES[approach](tree, search, within):
        at = (place.path, place.line)
        if at not in best or best[at].score < place.score:
            best[at] = place
    return sorted(best.values(), key=lambda one: (-one.score, one.path, one.line))[:MOST]


def sentence(lines: tuple[str, ...], line: int, prose: frozenset[int]) -> str:
    """The first sentence of a documentation that begins on a line, on one line, without its marks; `prose` has its lines."""
    out: list[str] = []
    for number in range(line, min(line + 4, len(lines) + 1)):
        if number not in prose:
            break
        text = _MARKS.sub("", lines[number - 1])
        if not text.strip():
            break
        out.append(text.strip())
        if re.search(r"[.!?:][\"'`)]*$", out[-1]) or re.search(
            r"[\"']{3}\s*$|\*/\s*$", lines[number - 1]
        ):
            break
    return " ".join(out)


def around(lines: tuple[str, ...], line: int, prose: frozenset[int]) -> str:
    """The sentence of a comment or docstring that a line is part of, on one line; `prose` has the lines that are either."""
    first = line
    while (
        first - 1 in prose
        and line - first < 6
        and _WORDS.search(lines[first - 2])
        and not _OPENS.match(lines[first - 1])
    ):
        first -= 1
    text, at = "", 0
    for number in range(first, min(line + 6, len(lines)) + 1):
        bare = _MARKS.sub("", lines[number - 1]).strip()
        if (
            number not in prose
            or not _WORDS.search(bare)
            or (number > line and _OPENS.match(lines[number - 1]))
        ):
            break
        at = len(text) if number == line else at
        text += bare + " "
    starts = [0, *(found.end() for found in _STOPS.finditer(text))]
    begin = max(start for start in starts if start <= at)
    end = next((start for start in starts if start > at + 1), len(text))
    return text[begin:end].strip().removeprefix("- ").removeprefix("* ")


def home(path: str, definition: Definition) -> str:
    """Where a definition stands, as it is cited."""
    return f"{path}:{definition.line}"


def _implementation_scan(tree: Tree, search: Search, within: str) -> Iterator[Place]:
    """Find types, locate implementations, trace effects, document errors."""
    found = [
        unit for unit in search.units() if unit.definition is not None and inside(unit.path, within)
    ][:40]
    least = STRONG * found[0].score if found else 0.0
    for unit in found:
        one = unit.definition
        assert one is not None
        stands = home(unit.path, one)
        yield Place(
            unit.path,
            one.line,
            "definition",
            one.qualified,
            stands,
            f"{one.kind} `{one.qualified}`",
            unit.score,
        )
        outlined = tree.outline(unit.path)
        prose = frozenset[int]() if outlined is None else outlined.prose
        if one.doc:
            said = f"what `{one.qualified}` says of itself"
            whole = sentence(tree.documents[unit.path].lines, one.doc, prose)
            yield Place(
                unit.path,
                one.doc,
                "documentation",
                one.qualified,
                stands,
                said,
                unit.score * 0.95,
                whole,
            )
        if unit.score < least:
            continue  # that it is there is enough to know of a weaker one
        effects = _effects(tree, unit, prose)[:2]
        wrong = (
            []
            if outlined is None
            else sorted(line for line in outlined.trouble if one.line <= line <= one.end)
        )
        told = {*prose, *effects, *wrong[:2]}
        inner = [row for row in unit.lines if one.line < row[0] <= one.end and row[0] not in told]
        for line, _ in sorted(inner, key=lambda row: -row[1])[:2]:
            yield Place(
                unit.path,
                line,
                "code",
                one.qualified,
                stands,
                f"in `{one.qualified}`",
                unit.score * 0.6,
            )
        for path, line, name in _implementations(tree, one):
            if inside(path, within):
                shown = f"`{name}` implements `{one.name}`"
                yield Place(
                    path,
                    line,
                    "implementation",
                    one.qualified,
                    stands,
                    shown,
                    unit.score * 0.55,
                    name,
                )
        for line in effects:
            shown = f"what `{one.qualified}` does to others"
            yield Place(unit.path, line, "effect", one.qualified, stands, shown, unit.score * 0.5)
        for line in wrong[:2]:
            yield Place(
                unit.path,
                line,
                "error",
                one.qualified,
                stands,
                f"how `{one.qualified}` fails",
                unit.score * 0.5,
            )


def _implementations(tree: Tree, one: Definition) -> list[tuple[str, int, str]]:
    """The types that name a type in their head: (path, line, name), a few."""
    if one.kind not in TYPES:
        return []
    out = []
    for path, line, _ in tree.users(one.name):
        found = tree.around(path, line)
        if (
            found is not None
            and found.line == line
            and found.kind in (*TYPES, "impl")
            and found.name != one.name
        ):
            out.append((path, line, found.qualified))
    return out[:4]


def _effects(tree: Tree, unit: Unit, prose: frozenset[int]) -> list[int]:
    """The lines of a definition that change something or give something out, those with words of the question first."""
    one = unit.definition
    if one is None or one.kind in TYPES:
        return []
    lines = tree.documents[unit.path].lines
    worth = dict(unit.lines)
    here = [
        line
        for line in range(one.line + 1, one.end + 1)
        if line not in prose and _EFFECT.search(lines[line - 1])
    ]
    return sorted(here, key=lambda line: (-worth.get(line, 0.0), line))


def _dependency_trace(tree: Tree, search: Search, within: str) -> Iterator[Place]:
    """Find exports, their imports, their uses; which file depends on which."""
    for unit in subjects(search, ""):
        one = unit.definition
        assert one is not None
        if one.name.startswith("__"):
            continue  # everything has one of that name
        stands = home(unit.path, one)
        per_file: dict[str, int] = {}
        for path, line, imported in tree.users(one.name):
            if not inside(path, within) or (path == unit.path and one.line <= line <= one.end):
                continue
            per_file[path] = per_file.get(path, 0) + 1
            if per_file[path] > 6:
                continue
            worth = (
                unit.score
                * (0.9 if imported else 1.0 if path != unit.path else 0.7)
                * (0.95 ** per_file[path])
            )
            worth *= 0.5 if TESTS.search(path) else 1.0
            kind = "import" if imported else "use"
            user = None if imported else tree.around(path, line)
            shown = f"{'imports' if imported else 'uses'} `{one.name}`" + (
                f" in `{user.qualified}`" if user is not None else ""
            )
            yield Place(
                path,
                line,
                kind,
                one.qualified,
                stands,
                shown,
                worth,
                user.qualified if user is not None else "",
            )


def _pattern_search(tree: Tree, search: Search, within: str) -> Iterator[Place]:
    """Find files, grep the terminology, read around it (prose and texts only), document in which variations it is written."""
    if not within:  # a part of a track has those of the whole
        yield from _variations(tree, search)
    spoken = {
        (unit.path, unit.definition.doc)
        for unit in search.units()[:120]
        if unit.definition is not None
    }
    for unit in search.units()[:120]:
        if not inside(unit.path, within):
            continue
        if not is_code(unit.path):
            yield from _passage(tree, unit)
            continue
        outlined = tree.outline(unit.path)
        lines = tree.documents[unit.path].lines
        name = unit.definition.qualified if unit.definition is not None else ""
        stands = home(unit.path, unit.definition) if unit.definition is not None else ""
        most = max((weight for _, weight in unit.lines), default=1.0)
        for line, weight in unit.lines:
            prose = outlined is None or line in outlined.prose
            if outlined is not None and line in outlined.trouble:
                continue
            if not prose and not _TEXT.search(lines[line - 1]):
                continue
            if unit.definition is not None and line == unit.definition.line:
                continue
            if (
                len(lines[line - 1].split()) < 3 or (unit.path, line) in spoken
            ):  # ImplementationScan quotes these
                continue
            what = "says" if prose else "has a text"
            shown = f"`{name}` {what}" if name else f"{unit.path} {what}"
            worth = unit.score * (0.4 + 0.4 * weight / most) * (1.0 if prose else 0.7)
            said = around(lines, line, outlined.prose) if prose and outlined is not None else ""
            yield Place(
                unit.path, line, "prose" if prose else "text", name, stands, shown, worth, said
            )


def _variations(tree: Tree, search: Search) -> Iterator[Place]:
    """The names in which the code writes what tells most of the question, where it writes it in several ways."""
    units = search.units()
    files = [path for path in search.best_files(40) if is_code(path) and not TESTS.search(path)]
    for number in (
        sorted(range(len(search.concepts)), key=lambda one: -search.weights[one])[:VARIED]
        if units
        else ()
    ):
        stand: dict[str, list[tuple[str, int]]] = {}
        for path in files:
            outlined = tree.outline(path)
            prose = outlined.prose if outlined is not None else frozenset[int]()
            for line in sorted(
                line
                for line, here in search.hits[path].items()
                if number in here and line not in prose
            ):
                for name in dict.fromkeys(WORD.findall(tree.documents[path].lines[line - 1])):
                    if number in search.meant(name):
                        stand.setdefault(name, []).append((path, line))
        word = search.concepts[number].word
        names = sorted(stand, key=lambda name: -len(stand[name]))[:VARIATIONS]
        taken: set[tuple[str, int]] = set()
        for name in (
            reversed(names) if len(names) > 1 else ()
        ):  # what stands in few places has the choice of a line of its own
            place = next((one for one in stand[name] if one not in taken), None)
            if place is not None:
                taken.add(place)
                often = f"{len(stand[name])} time{'' if len(stand[name]) == 1 else 's'}"
                worth = units[0].score * KNOWN * (1 - 0.01 * names.index(name))
                yield Place(
                    *place,
                    "variation",
                    word,
                    "",
                    f"`{word}` is written `{name}`",
                    worth,
                    f"`{name}` {often}",
                )


def _passage(tree: Tree, unit: Unit) -> Iterator[Place]:
    """The sentences of a passage that have most of the question; what stands above it is what they tell of."""
    lines = tree.documents[unit.path].lines
    worth = dict(unit.lines)
    title = unit.heading or unit.path
    stands = f"{unit.path}:{unit.line}"
    found: list[tuple[float, int, str]] = []
    for block in tree.shape(unit.path).blocks:
        if block.kind == "code" or block.end_line < unit.line or block.line > unit.end:
            continue
        for one in sentences(block, lines):
            inner = {line: worth.get(line, 0.0) for line in range(one.line, one.end_line + 1)}
            best = max(inner, key=lambda line: (inner[line], -line))
            if inner[best] and is_prose(one.text):
                found.append((sum(inner.values()) / (1 + 0.15 * len(inner)), best, one.folded))
    if not found:
        found = [
            (weight, line, "") for line, weight in unit.lines if len(lines[line - 1].split()) > 2
        ]
    found.sort(key=lambda row: (-row[0], row[1]))
    for nth, (_, line, said) in enumerate(found[:SENTENCES]):
        yield Place(
            unit.path, line, "passage", title, stands, f"{title} says", unit.score * 0.9**nth, said
        )


def _boundary_explore(tree: Tree, search: Search, within: str) -> Iterator[Place]:
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


Strategy = Callable[[Tree, Search, str], Iterator[Place]]
STRATEGIES: dict[str, Strategy] = {
    "PatternSearch": _pattern_search,
    "DependencyTrace": _dependency_trace,
    "ImplementationScan": _implementation_scan,
    "BoundaryExplore": _boundary_explore,
}


def as_row(place: Place) -> dict[str, Any]:
    """A place as the journal has it."""
    return {**place._asdict(), "score": round(place.score, 4)}
