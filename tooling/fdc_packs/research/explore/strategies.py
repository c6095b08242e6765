"""The four ways to look at a source tree (EXP-30 to 33). Each names places, best first, and reads nothing else.

    PatternSearch       the words themselves: comments, documentation, prose, texts
    DependencyTrace     who imports and who uses what the question is about
    ImplementationScan  what defines it, what it says of itself, where it fails
    BoundaryExplore     entry files, exports, configuration, command lines

A place is a line with what was found there. `subject` is the definition that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..outline.code_outline import WORD, Definition, is_code
from ..outline.comment_sentences import around, sentence
from ..outline.sentences import is_prose, sentences
from ..retrieval.file_worth import TESTS
from .boundary import boundary_explore
from .code_search import Search, Tree
from .place import STRONG, Place, home, inside, subjects
from .unit_spans import Unit

MOST = 200
SENTENCES = 3
"""Sentences of a passage that are quoted."""
VARIED, VARIATIONS, KNOWN = 2, 3, 0.6
"""Words of which variations are told, how many of each, and what one is worth, of the best of all: it says how, not where."""
_EFFECT = re.compile(
    r"^\s*(?:\w+(?:\.\w+|\[[^\]]*\])+)\s*(?:[-+*/|&%]?=)(?!=)|\b(?:open|write\w*|print\w*|echo|send\w*|emit|save|remove|unlink|mkdir"
    r"|rename|replace|exec\w*|commit|publish|append|update|setattr|delete)\(|^\s*(?:return|yield)\s+\S"
)
TYPES = ("class", "interface", "struct", "trait", "enum", "record", "type", "union")
_TEXT = re.compile(r"[\"'`][^\"'`]{6,}[\"'`]|\s(?:#|//|--)\s+\w.{6,}")
"""A quoted text, or a remark at the end of a line."""


def places(tree: Tree, search: Search, approach: str, within: str = "") -> list[Place]:
    """What a strategy finds, best first, a line once."""
    best: dict[tuple[str, int], Place] = {}
    for place in STRATEGIES[approach](tree, search, within):
        at = (place.path, place.line)
        if at not in best or best[at].score < place.score:
            best[at] = place
    return sorted(best.values(), key=lambda one: (-one.score, one.path, one.line))[:MOST]


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


Strategy = Callable[[Tree, Search, str], Iterator[Place]]
STRATEGIES: dict[str, Strategy] = {
    "PatternSearch": _pattern_search,
    "DependencyTrace": _dependency_trace,
    "ImplementationScan": _implementation_scan,
    "BoundaryExplore": boundary_explore,
}


def as_row(place: Place) -> dict[str, object]:
    """A place as the journal has it."""
    return {**place._asdict(), "score": round(place.score, 4)}
