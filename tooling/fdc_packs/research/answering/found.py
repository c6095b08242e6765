"""What answers a question: places with their deciding lines, best first, how sure that is, or that nothing does."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from ..explore.code_search import BLOCK, PLAIN, Search, Tree
from ..explore.unit_spans import Unit
from ..retrieval.file_worth import TESTS
from ..retrieval.name_words import whole
from ..retrieval.question import terms, written_names
from .named_units import AFTER_TESTS, OF_CODE, named_first, subjects, subjects_first, tests_first
from .references import KINDS, Reference, Relation, asked, find
from .twins import are_twins

MOST = 5
NEAR = 6
"""Lines: what lies nearer to a place is that place."""
FIRST, OTHERS = 8, 2
"""Lines that are shown of the first place, and of each of the others."""
FAR = 12
"""Lines from which on the deciding lines are shown without the head of their definition, whose name stands above them."""
WIDEST = 76
CODE_FIRST = 0.5
"""Code is shown before comments where it has this part of what they have of the question."""
LISTED = 200
"""References that are kept; all of them are counted."""

HIGH, MODERATE, LOW, NONE = "High", "Moderate", "Low", "None"
FITTED = (2.29, 1.83, 0.61, 1.47, -0.59)
"""A logistic regression of "one of the shown places answers" on the questions of benchmarks/research that are not held out,
those without an answer included, over trees of 3,000 to 660,000 lines (`python -m benchmarks.research.fit`): bias, and what
`signs` returns. What is a find in a small tree, is chance in a large one."""
FEWEST_LINES = 10_000
"""A smaller tree counts as one of so many lines."""
FEWEST_BLOCKS = 3
"""Chance is counted over at least so many blocks: in one or two small files all words meet by chance."""
LEVELS = ((HIGH, 0.84), (MODERATE, 0.66), (LOW, 0.5))
"""By the share of answers that are right, package by package, with the regression made on the others. An answer must be more
likely right than wrong."""
CLOSE = 5
"""Lines in a row that count as one place of the question's words."""


class Shown(NamedTuple):
    """A place: its lines as they stand there, what it is, and why it is shown; `twins`: where else about the same stands."""

    path: str
    line: int
    name: str
    kind: str
    code: tuple[tuple[int, str], ...]
    score: float
    twins: tuple[str, ...] = ()


class Found(NamedTuple):
    """The places that answer, best first, how sure that is and why; with `NONE` they are what comes nearest."""

    places: tuple[Shown, ...]
    sure: str
    why: str
    total: int


def find_places(
    tree: Tree, search: Search, question: str, most: int = MOST, ranked: Search | None = None
) -> Found:
    """The answer to a question: references where it asks for them, else the units that its words and names rank first.

    `ranked`: the same search in another order; how sure that is was measured without it.
    """
    names = written_names(question)
    relation = asked(question)
    if relation is not None and (relation.name in names or _is_known(tree, relation)):
        return _references(tree, relation)
    lost = [name for name in names if not stands(tree, name)]
    about = [] if names else subjects(tree, question)
    units = (ranked or search).units()
    if about:
        units = subjects_first(units, about)
    else:
        units = named_first(tree, units, [name for name in names if name not in lost])
    if (about or names) and AFTER_TESTS.search(question):
        units = tests_first(tree, units, about or names)
    if lost:
        said = ", ".join(f"`{name}`" for name in lost)
        return Found(_places(search, units, most), NONE, f"no file has {said}", len(units))
    if not units:
        return Found((), NONE, "no file has the words of the question", 0)
    telling = _telling(search)
    heard = all(search.files(n) or search.concepts[n].word in OF_CODE for n in telling)
    if (about and heard) or any(tree.defined(name) for name in names):
        close = max(_close(search, unit, telling) for unit in units[:MOST])
        sure = HIGH if 2 * close > len(telling) else MODERATE
        if about and _sure(search, search.units())[0] == NONE:
            sure = MODERATE  # a plain word may be the name of something else
        why = f"`{(about or names)[0]}` stands there"
    else:
        sure, why = _sure(search, search.units())
        if sure in (LOW, NONE) and names and _only_names(search, telling, names):
            sure, why = MODERATE, f"`{names[0]}` stands there"
    return Found(_places(search, units, most), sure, why, len(units))


def _only_names(search: Search, telling: list[int], names: list[str]) -> bool:
    """Whether a question tells nothing but names, and what they stand for: the `retries` option."""
    known = {" ".join(terms(name)) for name in names} | OF_CODE
    return all(search.concepts[number].word in known for number in telling)


def _is_known(tree: Tree, relation: Relation) -> bool:
    """Whether a word is a name here: of a definition, or of a module in a question after what imports it."""
    if relation.kind in ("import", "use") and find(tree, Relation("import", relation.name)):
        return True
    if relation.kind == "import":
        parts = {part.partition(".")[0] for path in tree.documents for part in path.split("/")}
        if relation.name in parts:
            return True
    return bool(tree.defined(relation.name))


def stands(tree: Tree, name: str) -> bool:
    """Whether a name stands somewhere as it was written."""
    last = name.rpartition(".")[2]
    alone = whole(name)
    return any(
        last in tree.text(path)[0] and alone.search(tree.text(path)[0]) for path in tree.documents
    )


def _references(tree: Tree, relation: Relation) -> Found:
    found = _tests_last(find(tree, relation))
    verb = KINDS[relation.kind]
    handed = _handed_on(tree, relation, found)
    if not found:
        known = stands(tree, relation.name)
        why = (
            f"nothing here {verb} `{relation.name}`" if known else f"no file has `{relation.name}`"
        )
        near = handed or _tests_last(find(tree, Relation("use", relation.name)))
        return Found(_listed(tree, near, "uses"), NONE, why, len(near))
    ways = {one.how for one in found}
    how = "the syntax tree" if ways <= {"ast", "tree-sitter"} else "words, as a grammar is missing"
    why = f"{len(found)} found by {how}"
    if handed:
        lines = "1 line uses" if len(handed) == 1 else f"{len(handed)} lines use"
        why += f"; {lines} the name without a call"
    return Found(_listed(tree, found, verb), HIGH, why, len(found))


def _tests_last(found: list[Reference]) -> list[Reference]:
    return sorted(found, key=lambda one: (TESTS.search(one.path) is not None, one.path, one.line))


def _listed(tree: Tree, found: list[Reference], verb: str) -> tuple[Shown, ...]:
    """References as places, each with its line."""
    return tuple(
        Shown(
            one.path, one.line, f"{one.inside} through {one.through}".strip() if one.through else one.inside, verb,
            ((one.line, _cut(_line(tree, one.path, one.line))),), 1.0,
        )
        for one in found[:LISTED]
    )  # fmt: skip


def _handed_on(tree: Tree, relation: Relation, found: list[Reference]) -> list[Reference]:
    """For a question after calls: where the name stands as a value and is neither called, imported nor exported."""
    if relation.kind != "call":
        return []
    known = {(one.path, one.line) for one in found}
    for path in {one.path for one in find(tree, Relation("import", relation.name))}:
        outlined = tree.outline(path)
        known |= {(path, line) for line in outlined.imports} if outlined is not None else set()
    known |= {(path, one.line) for path, one in tree.defined(relation.name, exported=True)}
    kept = [
        one
        for one in find(tree, Relation("use", relation.name))
        if (one.path, one.line) not in known
    ]
    return [one for one in kept if not TESTS.search(one.path)]


def _places(search: Search, units: list[Unit], most: int) -> tuple[Shown, ...]:
    out: list[Shown] = []
    kept: list[Unit] = []
    for unit in units:
        code = _excerpt(search, unit, OTHERS if out else FIRST)
        if not code:
            continue
        begin, last = code[0][0], code[-1][0]
        twin = next((at for at, one in enumerate(kept) if are_twins(search.tree, one, unit)), None)
        if twin is not None:
            out[twin] = out[twin]._replace(twins=(*out[twin].twins, f"{unit.path}:{unit.line}"))
            continue
        if any(
            one.path == unit.path and max(one.code[-1][0], last) - min(one.code[0][0], begin) < NEAR
            for one in out
        ):
            continue
        kept.append(unit)
        one = unit.definition
        name = one.qualified if one is not None else unit.heading
        kind = one.kind if one is not None else "text"
        out.append(Shown(unit.path, unit.line if one else begin, name, kind, code, unit.score))
        if len(out) == most:
            break
    return tuple(out)


def _excerpt(search: Search, unit: Unit, most: int) -> tuple[tuple[int, str], ...]:
    """The lines of a unit that decide: its head, what it says of itself where there is room, and the stretch of its code, or
    of its text where it has no code with a word of the question, that has most of the question."""
    lines, hits = search.tree.documents[unit.path].lines, search.hits.get(unit.path, {})
    outlined, one = search.tree.outline(unit.path), unit.definition
    prose = outlined.prose if outlined is not None and one is not None else frozenset[int]()
    first, last = unit.line, min(unit.end, len(lines))
    said = [
        at for at in sorted(prose) if first < at <= last and _describes(lines[at - 1], search.names)
    ]
    wanted = {first} if one is not None else set()
    if one is not None and one.doc and most > OTHERS and not said:
        wanted.add(one.doc)
    inner = [at for at in range(first, last + 1) if at not in wanted and lines[at - 1].strip()]
    told = [at for at in inner if at not in prose] if most > OTHERS else []

    def deciding(size: int) -> list[int]:
        if said:
            return [at for at in inner if at >= said[0]][:size]
        worth, stretch = _stretch(search, hits, inner, size)
        other, code = _stretch(search, hits, told, size)
        return code if other >= CODE_FIRST * worth > 0 else stretch

    stretch = deciding(max(1, most - len(wanted)))
    if wanted and stretch and stretch[-1] - first >= FAR:
        wanted, stretch = set(), deciding(most)
    shown = sorted(wanted | set(stretch))
    return tuple((at, _cut(lines[at - 1])) for at in shown)


_DESCRIBED = re.compile(
    r"\W*(?:(?:param|arg|var|attr|keyword|property)\b(?:\s+\{[^}]*\}|\s+[\w|.]+(?=\s+\w+:))?)?\W*"
)


def _describes(line: str, names: frozenset[str]) -> bool:
    """Whether a line of documentation says what a name stands for: it begins with the name, and a colon or dash follows.

    >>> [_describes(one, frozenset({"uds"})) for one in ("  uds: A path.", " :param str uds: A path.", "of uds: no")]
    [True, True, False]
    """
    begin = _DESCRIBED.match(line)
    rest = line[begin.end() :] if begin is not None else line
    return any(
        rest.startswith(name)
        and re.match(r"`*\]?\s*(?:\([^)]*\)\s*)?(?::|--?\s|[–—])", rest[len(name) :])
        for name in names
    )


def _stretch(
    search: Search, hits: dict[int, dict[int, float]], inner: list[int], size: int
) -> tuple[float, list[int]]:
    """Of some lines those in a row that have most of the question, the first such, and what that is worth."""
    best, start = -1.0, 0
    last = max(0, len(inner) - size)
    for nth in sorted({0, *(min(at, last) for at, line in enumerate(inner) if line in hits)}):
        here: dict[int, float] = {}
        for at in inner[nth : nth + size]:
            for number, weight in hits.get(at, {}).items():
                here[number] = max(here.get(number, 0.0), weight)
        worth = math.fsum(search.weights[number] * value for number, value in here.items())
        if worth > best:
            best, start = worth, nth
    return best, inner[start : start + size]


def signs(search: Search, units: list[Unit]) -> tuple[float, ...]:
    """What tells how sure an answer is: the worth of the first place (log), how many words tell something, how much more often
    they meet than by chance (log), and the lines of all files (log)."""
    telling = _telling(search)
    total = sum(search.weights[n] or search.unheard for n in telling) or 1.0
    words = sum(len(search.concepts[number].word.split()) for number in telling)
    lines = sum(len(document.lines) for document in search.tree.documents.values())
    worth = math.log(units[0].score / total + 0.01)
    return worth, words, _meeting(search, telling), math.log(max(lines, FEWEST_LINES))


def _meeting(search: Search, telling: list[int]) -> float:
    """How much more often two of the words stand in one block of lines than they would by chance (log), on average over the
    pairs; synonyms aside. Words that belong together meet all over a tree that is about them."""
    where: dict[int, set[tuple[str, int]]] = {number: set() for number in telling}
    for path, lines in search.hits.items():
        for line, concepts in lines.items():
            for number, weight in concepts.items():
                if number in where and weight >= PLAIN:
                    where[number].add((path, line // BLOCK))
    blocks = max(search.blocks, FEWEST_BLOCKS)
    more = [
        math.log((len(one & two) + 0.5) / (len(one) * len(two) / blocks + 0.5))
        for one, two in combinations(where.values(), 2)
    ]
    return sum(more) / len(more) if more else 0.0


def likely(seen: Sequence[float], by: Sequence[float] = FITTED) -> float:
    """How likely one of the shown places answers."""
    return 1 / (1 + math.exp(-by[0] - sum(one * value for one, value in zip(by[1:], seen))))


def _sure(search: Search, units: list[Unit]) -> tuple[str, str]:
    """How sure it is that the question has an answer here, and in words why."""
    telling = _telling(search)
    close = round(max(_close(search, unit, telling) for unit in units[:MOST]))
    lost = ", ".join(f"`{search.concepts[n].word}`" for n in telling if not search.files(n))
    gone = f"no file has {lost}" if lost else ""
    right = likely(signs(search, units))
    for level, least in LEVELS:
        if right >= least:
            return level, "; ".join(filter(None, (together(close, len(telling)), gone)))
    return NONE, gone or refusal(close, len(telling))


def together(close: int, telling: int) -> str:
    """How many of the words that tell something stand close together."""
    return f"{close} of {telling} telling words stand close together in a place"


def refusal(close: int, telling: int) -> str:
    """Why nothing is said to answer, where every word is somewhere."""
    said = together(close, telling)
    if close < telling:
        return f"only {said}"
    return f"{said}, but fewer than half of such answers are right"


def _telling(search: Search) -> list[int]:
    """The words of the question that tell something, by number; no verbs that only ask."""
    return [number for number, one in enumerate(search.concepts) if one.weight == 1.0]


def name_of(unit: Unit) -> str:
    """What a unit is called: the qualified name of its definition, or the heading above it."""
    return unit.definition.qualified if unit.definition is not None else unit.heading


def _close(search: Search, unit: Unit, telling: list[int]) -> float:
    """How many of the concepts the name of a unit and a few lines in a row of it have; one under another name is a part."""
    named = search.named(name_of(unit))
    lines = sorted(line for line, _ in unit.lines)
    most = 0.0
    for first in lines or [unit.line]:
        here = dict(named)
        for line in (one for one in lines if 0 <= one - first < CLOSE):
            for number, weight in search.hits[unit.path][line].items():
                here[number] = max(here.get(number, 0.0), weight)
        most = max(most, sum(min(1.0, here.get(number, 0.0)) for number in telling))
    return most


def _line(tree: Tree, path: str, line: int) -> str:
    return tree.documents[path].lines[line - 1].strip()


def _cut(text: str) -> str:
    text = text.rstrip().expandtabs(4)
    return text if len(text) <= WIDEST else text[: WIDEST - 3].rstrip() + "..."


def as_rows(found: Found) -> list[dict[str, object]]:
    """The places as the journal has them."""
    return [
        {**one._asdict(), "code": [{"line": line, "text": text} for line, text in one.code]}
        for one in found.places
    ]
