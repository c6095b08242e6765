"""Finds what in a source tree speaks of some words, by definitions, uses, imports and prose; best first.

Only files that have one of the words are parsed, each once. A word is found inside identifiers too
(`resume` in `resumeRun` and `resume_run`), in any of its forms (stems), and under names alike, which
weigh less. What is ranked are units: a definition without the definitions inside of it, a passage of a
document, a stretch of other lines. They are ranked by BM25F: name, first line of the documentation, place, prose and code
are fields of one text.
"""

from __future__ import annotations

import math
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from fdc_toolchain.api.files import Document, Scan

from ..outline.code_outline import is_code
from ..outline.files import MOST_FILES, Files
from ..retrieval.file_worth import makes, worth_of
from ..retrieval.name_words import PARTS, ends, whole
from ..retrieval.question import Concept, terms
from ..retrieval.stems import Stemmer
from .unit_spans import Gathered, Sort, Spans, Unit, worth_of_definition

MAX_HITS = 60_000
"""Occurrences of one word that are looked at."""
BLOCK = 20
"""How rare a word is, is counted over blocks of so many lines; the files to parse are chosen by their best two."""

NAME_WEIGHT, FIRST_WEIGHT, PLACE_WEIGHT, PROSE_WEIGHT, CODE_WEIGHT = 2.5, 0.7, 0.5, 0.6, 0.3
"""Of a word: in the name, in the first line of the documentation, in the path, in other prose, in code."""
SATURATION = 2.5
USUAL_LINES = 40
RARITY = 0.85
COVERED = 1.0
NEAR, NEAR_LINES = 0.25, 5
DOCUMENTS = 0.45
"""What a passage of a document is worth where the question is how something is done, and not how to do it."""
ALIKE = 0.5
"""What a synonym is worth in code, of what it is worth in prose: names in code are chosen."""


class Tree(Files):
    """The files of one scan, and what was searched for in them."""

    def __init__(self, scan: Scan, documents: Sequence[Document]) -> None:
        super().__init__(scan, documents)
        self._found: dict[tuple[tuple[Concept, ...], frozenset[str], bool, Sort], Search] = {}
        self.kept: dict[tuple[object, ...], Search] = {}
        """What others made of a search, for the next one who asks the same."""
        self._stemmer = Stemmer()
        self._stems: dict[str, str] = {}
        self._parts: dict[str, tuple[frozenset[str], int]] = {}
        self._spans: dict[str, Spans] = {}

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """The stem of each word."""
        with self.lock:
            fresh = sorted({word for word in words if word not in self._stems})
            for word, found in zip(fresh, self._stemmer(fresh) if fresh else ()):
                self._stems[word] = found[0] if found else word
            return self._stems

    def parts(self, name: str) -> tuple[frozenset[str], int]:
        """The stems of the words that a name is made of, and how many words these are."""
        found = self._parts.get(name)
        if found is None:
            words = [part.lower() for part in PARTS.findall(name)]
            stems = self.stems(words)
            found = frozenset(stems[word] for word in words), len(words)
            self._parts[name] = found
        return found

    def spans(self, path: str) -> Spans:
        """Which unit each line of a file belongs to."""
        with self.lock:
            if path not in self._spans:
                outlined = self.outline(path)
                shape = self.shape(path) if outlined is None else None
                self._spans[path] = Spans(self.documents[path], outlined, shape)
            return self._spans[path]

    def search(
        self,
        concepts: Sequence[Concept],
        names: Iterable[str] = (),
        code: bool = False,
        sort: Sort = "",
    ) -> Search:
        """What speaks of the concepts; what has one of the `names` first, documents last where `code` is asked for, and
        definitions of a `sort` before other code. Kept for the next one who asks the same."""
        key = (tuple(concepts), frozenset(names), code, sort)
        with self.lock:
            if key not in self._found:
                self._found[key] = Search(self, *key)
            return self._found[key]


class Search:
    """The occurrences of concepts in a tree, by file, and the units that they rank."""

    def __init__(
        self,
        tree: Tree,
        concepts: tuple[Concept, ...],
        names: frozenset[str] = frozenset(),
        code: bool = False,
        sort: Sort = "",
    ) -> None:
        self.tree = tree
        self.code = code
        self.sort: Sort = sort
        self.names = names
        self.concepts = concepts
        self._asked = {concept.word for concept in concepts}
        self._made = any(is_code(path) and makes(path) for path in tree.documents)
        self.hits: dict[str, dict[int, dict[int, float]]] = {}
        """path to line to concept to weight"""
        self._having: list[set[str]] = [set() for _ in concepts]
        self._scales: list[dict[str, float]] = [{} for _ in concepts]
        self.blocks = sum(len(one.lines) // BLOCK + 1 for one in tree.documents.values())
        self.unheard = _rarity(self.blocks, 0)
        written = {" ".join(terms(name)) for name in names}
        self.weights = [
            concept.weight * self._heard(number, concept, concept.word in written)
            for number, concept in enumerate(concepts)
        ]
        self._units: list[Unit] | None = None
        self._files: list[str] | None = None
        self._meant: dict[str, frozenset[int]] = {}
        self._forms = self._stemmed()

    def _heard(self, number: int, concept: Concept, written: bool) -> float:
        """Notes where a concept stands under each of its names; how much it tells: how rare the word itself is, else the rarest
        synonym. A synonym counts less where it is more common than the word."""
        own: dict[tuple[str, int], float] = {}
        others: list[tuple[str, float, set[tuple[str, int]]]] = []
        for nth, (words, weight) in enumerate(concept.variants):
            if nth and written and own:
                break  # a name that stands here as it was written is not meant in parts
            parts = words.split()
            found = set(self._word(parts[0]) if len(parts) == 1 else self._phrase(parts))
            if nth and weight < PLAIN:
                others.append((words, weight * ALIKE, found))
            else:
                for at in found:
                    own[at] = max(own.get(at, 0.0), weight)
        rare = [_rarity(self.blocks, _blocks(found)) if found else 0.0 for _, _, found in others]
        tells = _rarity(self.blocks, _blocks(own)) if own else max(rare, default=0.0)
        for (words, weight, found), heard in zip(others, rare):
            self._scales[number][words] = scale = weight * min(1.0, heard / (tells or 1.0))
            for at in found:
                own[at] = max(own.get(at, 0.0), scale)
        for (path, line), weight in own.items():
            self.hits.setdefault(path, {}).setdefault(line, {})[number] = weight
            self._having[number].add(path)
        return tells

    def _stemmed(self) -> list[tuple[int, frozenset[str], float]]:
        """The stems that a name must have for each way to write a concept, and what the concept is worth then."""
        out = []
        for number, concept in enumerate(self.concepts):
            for nth, (words, weight) in enumerate(concept.variants):
                parts = words.split()
                stems = self.tree.stems(parts)
                worth = self._scales[number].get(words, weight) if nth else weight
                out.append((number, frozenset(stems[part] for part in parts), worth))
        return out

    def files(self, number: int) -> set[str]:
        """The files that have a concept, under any of its names."""
        return self._having[number]

    def _word(self, word: str) -> Iterator[tuple[str, int]]:
        stem = self.tree.stems([word])[word]
        seek = stem[:-1] if stem.endswith("i") and len(stem) > 3 else stem
        if not word.startswith(seek) or len(seek) < 2:
            seek = word
        for path in self.tree.documents:
            text, low, starts = self.tree.text(path)
            at = low.find(seek)
            if at < 0:
                continue
            found: list[tuple[int, str]] = []
            while at >= 0 and len(found) < MAX_HITS:
                end = ends(text, at, len(seek))
                if end:
                    found.append((at, low[at:end]))
                at = low.find(seek, max(end, at + len(seek)))
            stems = self.tree.stems({form for _, form in found})
            for place, form in found:
                if form == word or stems[form] == stem:
                    yield path, bisect_right(starts, place)

    def _phrase(self, parts: list[str]) -> Iterator[tuple[str, int]]:
        joined = re.compile(r"[\W_]{0,3}".join(re.escape(part) for part in parts))
        longest = max(parts, key=len)
        for path in self.tree.documents:
            text, low, starts = self.tree.text(path)
            if longest not in low:
                continue
            for found in joined.finditer(low):
                at = found.start()
                if not text[at - 1 : at].isalpha() or text[at].isupper():
                    yield path, bisect_right(starts, at)

    def units(self) -> list[Unit]:
        """Every unit that has a word of the question, best first."""
        with self.tree.lock:  # all tracks ask at once; one does the work
            if self._units is None:
                found = [unit for path in self.best_files() for unit in self._of(path)]
                found.sort(key=lambda one: (-one.score, one.path, one.line))
                self._units = found
            return self._units

    def ordered(self, units: list[Unit]) -> None:
        """Puts units into another order, that of their scores."""
        self._units = units

    def best_files(self, most: int = MOST_FILES) -> list[str]:
        """The files of which some lines have most of the question, those with its very names first: only these are parsed."""
        with self.tree.lock:
            if self._files is None:
                worth = {path: self._worth_of_file(path) for path in self.hits}
                self._files = sorted(worth, key=lambda path: (-worth[path], path))
            return self._files[:most]

    def _worth_of_file(self, path: str) -> float:
        blocks: dict[int, dict[int, float]] = {}
        for line, concepts in self.hits[path].items():
            for at in (line // BLOCK, line // BLOCK + 1):  # two that touch count as one stretch
                here = blocks.setdefault(at, {})
                for number, weight in concepts.items():
                    if weight > here.get(number, 0.0):
                        here[number] = weight
        worth = max(self._worth(here) for here in blocks.values())
        worth += 0.5 * self._worth(self.named(os.path.splitext(path)[0]))
        worth *= worth_of(self.tree.documents[path], self._asked, self._made)
        if any(whole(name).search(self.tree.text(path)[0]) for name in self.names):
            worth += sum(self.weights)
        return worth

    def _worth(self, concepts: dict[int, float]) -> float:
        return sum(self.weights[number] * weight for number, weight in concepts.items())

    def _of(self, path: str) -> list[Unit]:
        document = self.tree.documents[path]
        outlined = self.tree.outline(path)
        sections: dict[tuple[int, int], Gathered] = {}
        spans = self.tree.spans(path)
        for line, concepts in self.hits[path].items():
            definition, start, end, heading = spans.at(line)
            one = sections.setdefault((start, end), Gathered(definition, start, end, heading))
            one.lines[line] = concepts
            prose = outlined is None or line in outlined.prose
            if definition is not None and line == definition.doc:
                one.first = concepts
            for number, weight in concepts.items():
                part = one.said if prose else one.body
                part[number] = part.get(number, 0.0) + weight
        for one in sections.values():
            name = one.definition.qualified if one.definition is not None else one.heading
            if name:
                parts = self.tree.parts(name)[1] or 1
                named = self.named(name)
                exact = 0.6 + 0.4 * min(1.0, len(named) / parts)
                one.named = {number: weight * exact for number, weight in named.items()}
        above = self.named(f"{os.path.splitext(path)[0]} {spans.title}")
        factor = worth_of(document, self._asked, self._made)
        factor *= DOCUMENTS if self.code and outlined is None else 1.0
        return [self._unit(path, one, above, factor) for one in sections.values()]

    def meant(self, name: str) -> frozenset[int]:
        """The concepts that a name is made of, by number, synonyms aside; kept for the next line that has it."""
        found = self._meant.get(name)
        if found is None:
            found = self._meant[name] = frozenset(
                number for number, worth in self.named(name).items() if worth >= PLAIN
            )
        return found

    def named(self, name: str) -> dict[int, float]:
        """The concepts that a name is made of."""
        have, _ = self.tree.parts(name)
        out: dict[int, float] = {}
        for number, wanted, worth in self._forms:
            if wanted <= have:
                out[number] = max(out.get(number, 0.0), worth)
        return out

    def _unit(self, path: str, one: Gathered, above: dict[int, float], factor: float) -> Unit:
        score, covered, total = 0.0, 0.0, sum(self.weights) or 1.0
        size = 0.4 + 0.6 * (one.end - one.line + 1) / USUAL_LINES
        for number, weight in enumerate(self.weights):
            body, said = one.body.get(number, 0.0), one.said.get(number, 0.0)
            named, lies = one.named.get(number, 0.0), min(1.0, above.get(number, 0.0))
            often = (
                NAME_WEIGHT * named
                + PLACE_WEIGHT * lies
                + FIRST_WEIGHT * one.first.get(number, 0.0)
                + (PROSE_WEIGHT * said + CODE_WEIGHT * body) / size
            )
            score += weight * often * (1 + SATURATION) / (often + SATURATION)
            covered += weight * min(1.0, max(named, lies * 0.8, body + said))
        score *= (COVERED + covered / total) * (1 + NEAR * self._near(one.lines) / total) * factor
        known = one.definition
        if known is not None:
            score *= worth_of_definition(self.tree.documents[path], known, self.sort)
        if known is not None and self.names:
            if self.names & {known.name, known.qualified}:
                score = score * 2 + 3 * total * factor
            elif self.names & set(known.qualified.split(".")[:-1]):  # inside of what is named
                score = score * 1.5 + 1.5 * total * factor
        lines = tuple(sorted((line, self._worth(at)) for line, at in one.lines.items()))
        concepts = frozenset(number for at in one.lines.values() for number in at)
        return Unit(
            path, one.line, one.end, one.definition, round(score, 6), lines, concepts, one.heading
        )

    def _near(self, lines: dict[int, dict[int, float]]) -> float:
        """What the best few lines in a row have of the question."""
        order = sorted(lines)
        best = 0.0
        for at, first in enumerate(order):
            here: dict[int, float] = {}
            for line in order[at : at + NEAR_LINES]:
                if line - first >= NEAR_LINES:
                    break
                for number, weight in lines[line].items():
                    here[number] = max(here.get(number, 0.0), weight)
            best = max(best, self._worth(here))
        return best


def _blocks(places: Iterable[tuple[str, int]]) -> int:
    """In how many blocks of lines the places lie."""
    return len({(path, line // BLOCK) for path, line in places})


def _rarity(total: int, count: int) -> float:
    """How much it tells that a word is there: its inverse frequency over blocks of lines."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5)) ** RARITY


PLAIN = 0.49
"""Variants below this weight are synonyms; above, they are parts or forms of the word itself."""
