"""The files that a step was given by `map_code`, as a tree, and a question searched for in them; kept between steps."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from fdc_toolchain.api.tools import Context, object_of

from ..answering.references import asked as asked_relation
from ..bridges.idioms import idioms
from ..retrieval import library
from ..retrieval.question import FADED, concepts_of, faint, written_names
from .code_search import Search, Tree
from .place import inside
from .unit_spans import Sort

EVERYTHING = ("**", "**/*", ".", "")
_KEPT = 2
_lock = threading.Lock()
_trees: OrderedDict[tuple[str, str, str], Tree] = OrderedDict()
_HOW_DONE = re.compile(
    r"^\W*(?:where|which (?:function|method|class|code|module|file)|what (?:happens|does|calls|uses)|who (?:calls|uses)"
    r"|what (?!is\b|was\b|has\b)\w+s (?=(?:an?|the|how|which|that|each|every)\b)|when (?:is|are|does|do)"
    r"|how (?:is|are|was|were|does))\b",
    re.IGNORECASE,
)
"""Questions after what code does; those after what to do with it (`how do I`, `why`) are answered by documents too."""


_WHICH_ERROR = re.compile(r"\b(?:which|what)\s+(?:exception|error)s?\b", re.IGNORECASE)
"""Questions that a class of errors answers."""
_WHICH_VALUE = re.compile(
    r"^\W*where (?:is|are)\b.*\b(set|defined|declared|listed|kept|stored)\W*$", re.IGNORECASE
)
"""Questions that a constant or another value of a module answers; the verb is no word to look for."""
_ASKS_ERROR = frozenset(
    "exception exceptions error errors raise raised raises throw thrown throws".split()
)


def mapped(args: Mapping[str, object], context: Context) -> tuple[Tree, bool]:
    """The tree that a step was given, and whether it has changed since."""
    given = object_of(args, "map")
    digest = str(given.get("digest", ""))
    with library.folder(".", context) as opened:
        shelf = library.get(opened, True, digest)
    return tree_of(shelf, str(given.get("paths", "**"))), shelf.scan.digest != digest


def tree_of(shelf: library.Shelf, paths: str) -> Tree:
    """The files of a shelf that a glob names, without what runs wrote."""
    key = (shelf.folder, shelf.scan.digest, paths)
    with _lock:
        if key not in _trees:
            chosen = [one for one in shelf.scan.documents if among(one.path, paths)]
            _trees[key] = Tree(shelf.scan, chosen)
        _trees.move_to_end(key)
        while len(_trees) > _KEPT:
            _trees.popitem(last=False)
        return _trees[key]


def among(path: str, paths: str) -> bool:
    """Whether a path is one of those that `--paths` names."""
    return paths in EVERYTHING or inside(path, paths.removeprefix("./"))


def searched(tree: Tree, question: str) -> Search:
    """What the tree has of the words and names of a question."""
    asked = concepts_of(question)
    more = faint(question, asked)
    relation = asked_relation(question)
    if relation is not None:  # its verb is the relation, and no word to look for
        verb = relation.verb
        asked = [concept for concept in asked if concept.word != verb] or asked
        more = [concept for concept in more if concept.word != verb]
    sort: Sort = ""
    value = _WHICH_VALUE.search(question)
    if value is not None:
        sort, verb = "value", value[1].lower()
        asked = [concept for concept in asked if concept.word != verb] or asked
    if _WHICH_ERROR.search(question):
        sort = "error"  # what kind of thing is asked for is seldom said where it is defined
        asked = [
            replace(concept, weight=FADED) if concept.word in _ASKS_ERROR else concept
            for concept in asked
        ]
    code = sort == "error" or _HOW_DONE.search(question) is not None
    more = [*more, *idioms(question)]
    return tree.search([*asked, *more], written_names(question), code, sort)


def ranked(tree: Tree, track: Mapping[str, object], args: Mapping[str, object]) -> Search:
    """What a track looks at: by words, and by meaning too where the run has the reranker."""
    search = searched(tree, terms_of(track))
    if not object_of(args, "map").get("rerank") or len(search.concepts) < 2:
        return search  # one word is a side of the question, not its meaning
    from .rerank import reranked

    return reranked(search, str(track.get("asked") or track.get("focus", ""))[:2000])


def terms_of(track: Mapping[str, object]) -> str:
    """What a track looks for."""
    terms = track.get("terms")
    listed = " ".join(str(one) for one in terms) if isinstance(terms, list) else ""
    return listed.strip() or str(track.get("focus", ""))


def within(track: Mapping[str, object]) -> str:
    """Where a track looks; empty for everywhere."""
    paths = track.get("paths")
    return paths if isinstance(paths, str) and paths not in EVERYTHING else ""
