"""Statements that were forgotten where nothing stands: before what reads a name without a value, after what nothing uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..forgotten.statement import could_stand
from ..known import Known, alike
from ..source import OWN, Compound, Edit, Function, Loop, name_of
from ..statements import LEAVES, put_after, put_before
from .place import lacking
from .special import BEGINNING

NAMES, MEMBERS, ROWS, IDLE_ROWS, GIVEN_ROWS = 3, 6, 64, 24, 24
"""Names of one kind, and members, that are looked at; statements for each name and place; for a name that nothing reads; after
the last one."""
CERTAIN, IN_VAIN, GIVES, MAY_GIVE = 1.0, 0.45, 0.8, 0.3
"""How common it is that a statement is missing where a name has no value, where nothing reads a name, where a function whose
value is read gives none, and where another one gives none; by what the statement counts where `pass` stands."""
STRANGE, TYPED, ALIKE = 0.6, 0.2, 0.7
"""The same for a name that nothing in the function binds, and where another name is so much like it that it may be meant."""
ANSWER = 0.6
"""How common it is that a question ends with the answer that it gives elsewhere, by the other one."""
ONCE_MORE = 0.4
"""What an empty value is worth in a loop: it would begin anew each time."""
INHERITED = frozenset(dir(object))
_BINDS = re.compile(r"(\w+(?:, \w+)*) = (.*)", re.DOTALL)
_EMPTY = re.compile(r"\[\]|\{\}|\(\)|''|\"\"|b''|-?\d+|None|True|False|\w+\(\)")


def absent(known: Known, function: Function) -> Iterator[Edit]:
    """Whole statements more in a function, for what it lacks and for what it has in vain."""
    missing = lacking(known, function)[:NAMES]
    for name in missing:
        yield from _bound(known, function, name)
    left_empty = any(
        isinstance(one, ast.Pass) and not isinstance(known.parents[one], ast.ExceptHandler)
        for one in ast.walk(function)
    )
    if not missing and not left_empty:
        yield from _used(known, function)
        yield from _members(known, function)
        yield from _given(known, function)


def _bound(known: Known, function: Function, name: str) -> Iterator[Edit]:
    """What gives a name its value before it is read: in the block that reads it, or before that."""
    looped, scale = False, CERTAIN
    if name not in known.names_stored(function):  # it may be another one, or bound otherwise
        others = known.names(function.body[0]).keys() | known.everywhere
        scale = TYPED if any(alike(name, one) >= ALIKE for one in others) else STRANGE
    for at in _readers(function, name):
        found = []
        for text, prior in could_stand(known, at, function).items():
            binds = _BINDS.fullmatch(text)
            if binds is not None and name in binds[1].split(", "):
                again = looped and _EMPTY.fullmatch(binds[2])
                found.append((text, prior * (ONCE_MORE if again else 1.0)))
        yield from _before(known, at, found, ROWS, scale)
        looped = looped or isinstance(at, Loop)


def _before(
    known: Known, at: ast.stmt, found: list[tuple[str, float]], most: int, scale: float
) -> Iterator[Edit]:
    for text, prior in sorted(found, key=lambda row: -row[1])[:most]:
        yield from put_before(known, at, "lost", text, prior * scale)


def _readers(function: Function, name: str) -> Iterator[ast.stmt]:
    """The first statement of the function that has a name, then that of its only block that has it, and so on."""
    blocks = [function.body]
    while len(blocks) == 1:
        having = [one for one in blocks[0] if _has(one, name)]
        if not having:
            return
        yield having[0]
        if len(having) > 1 or not isinstance(having[0], Compound):
            return
        blocks = []
        for _, value in ast.iter_fields(having[0]):
            parts = value if isinstance(value, list) else [value]
            if parts and isinstance(parts[0], ast.stmt):
                blocks += [value] if any(_has(one, name) for one in parts) else []
            elif any(isinstance(one, ast.AST) and _has(one, name) for one in parts):
                return


def _has(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _used(known: Known, function: Function) -> Iterator[Edit]:
    """What reads a name that nothing reads: a parameter before the first statement, or before or after the last one,
    another name behind what binds it."""
    idle = [one for one in known.unused(function.body[0]) if one not in OWN]
    taken = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    documented = len(function.body) > 1 and ast.get_docstring(function, clean=False) is not None
    places: dict[tuple[ast.stmt, bool], list[str]] = {}
    for name in [one for one in idle if one in taken][:NAMES]:
        last = function.body[-1]
        while isinstance(last, ast.With | ast.AsyncWith):
            last = last.body[-1]
        ends = ((function.body[documented], True), (last, True), (last, False))
        for place in dict.fromkeys(ends):
            places.setdefault(place, []).append(name)
    for name, at in _binding(function, {one for one in idle if one not in taken}):
        places.setdefault((at, False), []).append(name)
    for (at, ahead), names in places.items():
        if not ahead and isinstance(at, LEAVES | Compound):
            continue
        words = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})\b")
        rows = could_stand(known, at, function).items()
        found = [row for row in rows if words.search(row[0].partition(" = ")[2] or row[0])]
        found = [row for row in found if not (ahead and row[0].startswith(("return", "raise")))]
        put = _before if ahead else _after
        yield from put(known, at, found, IDLE_ROWS, IN_VAIN)


def _after(
    known: Known, at: ast.stmt, found: list[tuple[str, float]], most: int, scale: float
) -> Iterator[Edit]:
    for text, prior in sorted(found, key=lambda row: -row[1])[:most]:
        yield from put_after(known, at, "lost", text, prior * scale)


def _binding(function: Function, names: set[str]) -> Iterator[tuple[str, ast.stmt]]:
    """Simple statements of the function that bind names, each name once: most `NAMES`."""
    for one in ast.walk(function):
        targets = one.targets if isinstance(one, ast.Assign) else []
        for part in (part for to in targets for part in ast.walk(to)):
            if isinstance(part, ast.Name) and part.id in names and isinstance(one, ast.Assign):
                names.discard(part.id)
                yield part.id, one


def _given(known: Known, function: Function) -> Iterator[Edit]:
    """What a function that may come to its end without a value gives back there."""
    last, inside = function.body[-1], list(ast.walk(function))
    if function.name == "__init__" or _leaves(last):
        return
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
        return
    given = [one.value for one in inside if isinstance(one, ast.Return) and one.value is not None]
    calls = known.named.get(function.name, [])
    read = bool(given) or any(not isinstance(known.parents.get(one), ast.Expr) for one in calls)
    rows = could_stand(known, last, function)
    answers = {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, bool)}  # fmt: skip
    if answers and all(isinstance(getattr(one, "value", None), bool) for one in given):
        rows.raise_all((f"return {one}", ANSWER if one in answers else 1.0) for one in (True, False))  # fmt: skip
    said = {known.segment(one) for one in ast.walk(last) if isinstance(one, ast.Return)}
    found = [row for row in rows.items() if row[0].startswith("return ") and row[0] not in said]
    scale = GIVES if read or "None" in known.message else MAY_GIVE
    for text, prior in sorted(found, key=lambda row: -row[1])[:GIVEN_ROWS]:
        yield from _at_end(known, function, text, prior * scale)


def _leaves(node: ast.stmt) -> bool:
    """Whether nothing behind a statement is ever run."""
    blocks = [[node]]
    if isinstance(node, ast.If):
        blocks = [node.body, node.orelse]
    elif isinstance(node, ast.With | ast.AsyncWith):
        blocks = [node.body]
    elif isinstance(node, ast.Try):
        blocks = [node.orelse or node.body, *(one.body for one in node.handlers)]
    elif isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
        return not any(isinstance(one, ast.Break) for one in ast.walk(node))
    if blocks != [[node]]:
        return all(block and _leaves(block[-1]) for block in blocks)
    return isinstance(node, LEAVES)


def _members(known: Known, function: Function) -> Iterator[Edit]:
    """What the maker of an object does not give a value, and the class reads."""
    owner = known.owner(function.body[0])
    if owner is None or function.name not in BEGINNING or function not in owner.body:
        return
    methods, read, stored = known.owned(owner)
    grown = (one.target for one in ast.walk(owner) if isinstance(one, ast.AugAssign))
    read = read | {one.attr for one in grown if isinstance(one, ast.Attribute)}
    strange = read - stored - methods - INHERITED if not owner.bases else set[str]()
    begun = _begun(owner, function)
    said = {name for name in read & stored - methods if f"'{name}'" in known.message}
    scales = dict.fromkeys(sorted((read & stored) - methods - begun), IN_VAIN)
    scales |= dict.fromkeys(sorted(strange | said), CERTAIN)
    last = function.body[-1]
    rows = could_stand(known, last, function).items()
    for name, scale in sorted(scales.items(), key=lambda row: -row[1])[:MEMBERS]:
        found = [row for row in rows if row[0].startswith(f"self.{name} = ")]
        if not isinstance(last, LEAVES | Compound):
            yield from _after(known, last, found, IDLE_ROWS, scale)


def _begun(owner: ast.ClassDef, function: Function) -> set[str]:
    """The members that a class gives a value in its body, in the maker of its objects, or in what that calls."""
    named = [one for one in owner.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    given = [one for one in named if one.value is not None]  # `rows: list[int]` says only the type
    called = {one.func.attr for one in ast.walk(function)
              if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)}  # fmt: skip
    makers = [one for one in owner.body if isinstance(one, Function) and one.name in called]
    found = {name for one in given for name in map(name_of, _targets(one))}
    for one in (part for maker in (function, *makers) for part in ast.walk(maker)):
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
            found.add(one.attr)
    return found


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _at_end(known: Known, function: Function, text: str, prior: float) -> Iterator[Edit]:
    last = function.body[-1]
    indent, end = known.indent(function.body[0]), known.end(last)
    if indent is not None and known.text[end : end + 1] in ("", "\r", "\n"):
        said = f"{known.newline}{indent}{text}"
        yield Edit("lost", last, ((end, end, said),), "", text, prior)
