"""The argument that a call lost, where Python's own function, or the code around, says of what kind it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import expected
from ..calls import with_argument
from ..known import Known
from ..source import OWN, name_of
from ..values import Found, Row
from . import blanks
from .mirrored import block_of

_ASKING = ("hasattr", "getattr", "delattr")
_TEXT = ('encoding="utf-8"',)
_MODES = tuple(f'mode="{one}"' for one in ("wb", "rb", "w", "r", "a"))
_GIVEN_WORDS = {
    "zip": ("strict=True",), "open": (*_TEXT, *_MODES), "read_text": _TEXT, "write_text": _TEXT, "print": ("file=sys.stderr",),
    "dumps": ("ensure_ascii=False", "sort_keys=True"), "makedirs": ("exist_ok=True",), "mkdir": ("exist_ok=True",),
    "unlink": ("missing_ok=True",), "max": ("default=0", "default=None"), "min": ("default=0", "default=None"),
    "sorted": ("key=str", "key=len"), **dict.fromkeys(("GzipFile", "BZ2File", "LZMAFile", "ZipFile", "fdopen"), _MODES),
}  # fmt: skip
"""Keywords that calls of Python's own functions lack most often."""


_OF_TYPE = ("isinstance", "issubclass")
_TYPES: tuple[type, ...] = (str, list, dict, tuple, int, bytes, set, float, bool, frozenset, type)
_HINTS = ("typing:", "typing_extensions:")
_TWO = ("(list, tuple)", "(str, bytes)", "(int, float)")
_SHORT = {"map": 2, "filter": 2, "zip": 2}
"""How many arguments Python's own functions that go through something have at least, or mostly."""
_INSIDE = ("items", "values", "keys")
MEMBERS = 24
_DEFAULTED = {"get": 1, "pop": 1, "setdefault": 1, "next": 1, "getattr": 2}
"""How many arguments what looks something up has without the value for nothing."""
_EMPTY = ("dict", "list", "set", "str", "int")


def well_known(known: Known, node: ast.Call) -> Iterator[Row]:
    """What Python's own functions are given most often: a keyword, the name of a member, a type."""
    name, every = name_of(node.func), {one.arg for one in node.keywords}
    for text in _GIVEN_WORDS.get(name, ()):
        word, _, value = text.partition("=")
        if word not in every:
            yield "added", node, with_argument(known, node, word, value), 0.2
    if len(node.args) < _SHORT.get(name, 0):  # what is gone through, or what lies in it
        for text, prior in _gone_through(known, node):
            yield "added", node, with_argument(known, node, len(node.args), text), prior
    around = known.function(node)
    if around is not None and len(node.args) == _DEFAULTED.get(name) and not node.keywords:
        lost = len(list(expected.missing(known.message)))
        for rank, text in enumerate(blanks.constants(known, around)):
            prior = (0.4 if rank < lost else 0.2) - 0.01 * min(rank, 10)
            yield "added", node, with_argument(known, node, len(node.args), text), prior
        empty = (
            _EMPTY if known.given_to(node) in known.called else ()
        )  # a type: what is found is called
        for rank, text in enumerate(empty):
            said = with_argument(known, node, len(node.args), text)
            yield "added", node, said, 0.4 - 0.01 * rank
    if len(node.args) == 1 and not node.keywords:
        found = (
            _types(known, node)
            if name in _OF_TYPE
            else _members(known, node)
            if name in _ASKING
            else Found()
        )
        for text, prior in sorted(found.items(), key=lambda row: -row[1])[:MEMBERS]:
            yield "added", node, with_argument(known, node, 1, text), prior


def put_back(known: Known, node: ast.Call) -> Iterator[Row]:
    """For `x = f(...)`: the item or member that the next statement stores something made of `x` in, and the item whose key an
    `if` around has just found: `if k in d: x = f(d[k])`."""
    statement = known.parents.get(node)
    if not isinstance(statement, ast.Assign) or "\n" in known.segment(node):
        return
    block, up = block_of(known, statement), known.parents.get(statement)
    after = block[block.index(statement) + 1 :][:1] if block else []
    made = {one.id for one in statement.targets if isinstance(one, ast.Name)}
    found = [
        known.segment(to) for one in after if isinstance(one, ast.Assign) and not made.isdisjoint(_read(one.value))
        for to in one.targets if isinstance(to, ast.Subscript | ast.Attribute)
    ]  # fmt: skip
    for one in ast.walk(up.test) if isinstance(up, ast.If) and block is up.body else ():
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In):
            found.append(f"{known.segment(one.comparators[0])}[{known.segment(one.left)}]")
    given = {known.segment(one) for one in node.args}
    for text in dict.fromkeys(one for one in found if one not in given and "\n" not in one):
        for at in range(len(node.args) + 1):
            yield "added", node, with_argument(known, node, at, text), 0.5


def within_others(known: Known, node: ast.Call) -> Iterator[Row]:
    """What other calls of the function make their arguments of: `d.values()` where `zip(d.keys(), map(f, d.values()))` is."""
    said = known.segment(node)
    others = [one for one in known.calls.get(known.segment(node.func), ()) if one is not node][:40]
    parts = [part for one in others for given in one.args for part in ast.walk(given)]
    asked = (
        one for one in parts if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    )
    for text in dict.fromkeys(known.segment(one) for one in asked if known.fits(one, node)):
        if text not in said and "\n" not in text + said:
            yield "added", node, with_argument(known, node, len(node.args), text), 0.5


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _gone_through(known: Known, node: ast.Call) -> Iterator[tuple[str, float]]:
    """The parameters of the function around, and the parts of a dictionary where the file asks for such parts."""
    around = known.function(node)
    taken = [one.arg for one in around.args.args if one.arg not in OWN] if around else []
    passed = {known.segment(one) for one in node.args}
    asked = [one for one in _INSIDE if one in known.methods_called]
    for rank, one in enumerate(name for name in taken if name not in passed):
        yield one, 0.4 - 0.02 * rank
        for member in asked:
            yield f"{one}.{member}()", 0.35 - 0.02 * rank


def _members(known: Known, node: ast.Call) -> Found:
    """The names of members: of its own class, and those that the function around asks the same thing for."""
    found, owner, around = Found(), known.owner(node), known.function(node)
    subject = known.segment(node.args[0])
    if owner is not None and name_of(node.args[0]) in OWN:
        near = known.statement(node)
        parts = ast.walk(near) if near is not None else ()
        beside = {one.attr for one in parts if isinstance(one, ast.Attribute)}
        methods, read, stored = known.owned(owner)
        for member in sorted(stored | read | methods):
            found.raise_to(f'"{member}"', 0.4 if member in beside else 0.2)
    for member in _asked_of(known, around, subject):
        found.raise_to(f'"{member}"', 0.4)
    return found


def _types(known: Known, node: ast.Call) -> Found:
    """The types that a question may be about: those with all members that are used where it holds come first."""
    found, subject = Found(), known.segment(node.args[0])
    owner, near = known.owner(node), known.statement(node)
    block = near.body if isinstance(near, ast.If | ast.While) else []
    used = {member for one in block for member in _asked_of(known, one, subject)}
    for rank, kind in enumerate(_TYPES):
        fits = bool(used) and all(hasattr(kind, one) for one in used)
        found.raise_to(kind.__name__, (0.6 if fits else 0.32) - 0.01 * rank)
    for rank, text in enumerate(_TWO):
        found.raise_to(text, 0.22 - 0.01 * rank)
    for name in known.classes:
        own = owner is not None and name == owner.name and subject not in OWN
        found.raise_to(name, 0.5 if own else 0.3)
    for name in known.members_imported:
        idle = name in known.idle_imports  # nothing else reads it
        hint = known.imported[name].startswith(_HINTS)  # no object is of it
        named = name[:1].isupper() and not name.isupper() and not hint
        found.raise_to(name, 0.0 if not named else 0.9 if idle else 0.25)
    return Found({name: prior for name, prior in found.items() if prior})


def _asked_of(known: Known, within: ast.AST | None, subject: str) -> list[str]:
    """The members that something is asked for within a statement."""
    parts = ast.walk(within) if within is not None else ()
    asked = (one for one in parts if isinstance(one, ast.Attribute))
    return list(dict.fromkeys(one.attr for one in asked if known.segment(one.value) == subject))
