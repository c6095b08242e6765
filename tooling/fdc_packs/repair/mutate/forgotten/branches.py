"""What may have stood where `pass` is, as the branches beside it say: the same, with the words that differ exchanged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..known import Known
from ..source import name_of, simple

BRANCHES = 8
"""Branches that are asked, the nearest first."""
LONGEST = 120
"""Characters of a statement."""
_TOKEN = re.compile(r"'[^'\\\n]*'|\"[^\"\\\n]*\"|[^\W\d]\w*|\d+|[^\w\s]")
_WORD = re.compile(r"[^\W\d]\w*")
ASKED, ASKED_OF_ANOTHER = 1.3, 0.6
"""How common it is that the same is done where the same is asked, and where it is asked of another name."""
Branch = tuple[str, list[ast.stmt]]
"""What a branch is asked, empty where nothing is, and its statements."""


def alike(known: Known, node: ast.stmt) -> Iterator[tuple[str, float]]:
    """Statements of the branches beside it: `value = low` where `value > high` is asked gives `value = high`."""
    own, others = _beside(known, node)
    for rank, other in enumerate(others[:BRANCHES] if own is not None else ()):
        assert own is not None
        here = own[1].index(node)
        words = _apart(known, other, own, node)
        for place, one in enumerate(other[1]):
            text = known.segment(one)
            if not simple(one) or isinstance(one, ast.Pass) or "\n" in text or len(text) > LONGEST:
                continue
            near = (0.75 if place == here and len(own[1]) == len(other[1]) else 0.55) - 0.03 * rank
            fitted = _exchanged(text, words)
            if fitted != text and _known_here(known, fitted, node):
                yield fitted, near
            if known.fits(one, node):
                yield text, 0.6 * near
            for other_text in _other_constants(one, known) if len(other[1]) == 1 else ():
                yield other_text, 0.95 - 0.03 * rank
            for single in of_one(known, one):
                if _known_here(known, single, node):
                    yield single, 0.7 - 0.03 * rank


def _other_constants(statement: ast.stmt, known: Known) -> Iterator[str]:
    """Where a branch only gives a name a plain value, the others like it: an empty text, the other truth value, a number."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(statement, ast.Assign) and isinstance(value, ast.Constant):
        target = known.segment(statement.targets[0])
        like = _LIKE.get(type(value.value), ())
        yield from (f"{target} = {other}" for other in like if other != ast.unparse(value))


_LIKE = {str: ("''",), bool: ("True", "False"), int: ("0", "1", "-1"), bytes: ("b''",)}


def of_one(known: Known, statement: ast.stmt) -> Iterator[str]:
    """For one thing what a statement does for each of many: `y = f(x)` beside `y = [f(one) for one in x]` and `map(f, x)`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        begin = f"{known.segment(statement.targets[0])} = "
    elif isinstance(statement, ast.Return):
        begin = "return "
    else:
        return
    for node in ast.walk(statement):
        made = ""
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
            each = node.generators[0]
            if isinstance(each.target, ast.Name) and not each.ifs:
                made = _with(node.elt, each.target.id, each.iter)
        elif isinstance(node, ast.Call) and name_of(node.func) == "map" and len(node.args) == 2:
            function, many = node.args
            if isinstance(function, ast.Lambda) and len(function.args.args) == 1:
                made = _with(function.body, function.args.args[0].arg, many)
            elif isinstance(function, ast.Call) and name_of(function.func) == "attrgetter":
                told = function.args[0] if function.args else None
                text = told.value if isinstance(told, ast.Constant) else None
                made = f"{known.segment(many)}.{text}" if isinstance(text, str) else ""
            else:
                made = f"{known.segment(function)}({known.segment(many)})"
        if made:
            yield begin + made
            yield f"{begin}[{made}]"


def _with(expression: ast.expr, name: str, other: ast.expr) -> str:
    """An expression with another one in the place of a name."""

    class Exchange(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return other if node.id == name else node

    copied: ast.expr = ast.parse(ast.unparse(expression), mode="eval").body
    return ast.unparse(Exchange().visit(copied))


def asked_again(known: Known, node: ast.stmt) -> Iterator[tuple[str, float]]:
    """What is done elsewhere in the file where the same is asked, or the same of another name."""
    up = known.parents.get(node)
    if not isinstance(up, ast.If) or node not in up.body:
        return
    own, at = (known.segment(up.test), up.body), up.body.index(node)
    for one in known.nodes:
        if not isinstance(one, ast.If) or one is up or len(one.body) <= at:
            continue
        there, text = (known.segment(one.test), one.body), known.segment(one.body[at])
        if not simple(one.body[at]) or "\n" in text or len(text) > LONGEST:
            continue
        words = _apart(known, there, (own[0], [node]), node)
        if there[0] == own[0] and known.fits(one.body[at], node):
            yield text, ASKED
        elif len(words) == 1 and _known_here(known, fitted := _exchanged(text, words), node):
            yield fitted, ASKED_OF_ANOTHER


def bound(known: Known, node: ast.stmt) -> set[str]:
    """The names that other branches beside a statement bind, and its own does not."""
    own, others = _beside(known, node)
    if own is None:
        return set()
    there = {name for _, body in others for one in body for name in known.names_stored(one)}
    return there - {name for one in own[1] for name in known.names_stored(one)}


def _beside(known: Known, node: ast.stmt) -> tuple[Branch | None, list[Branch]]:
    """The branch that a statement is of, and those beside it: of the same chain, then of the questions before and after."""
    top = known.parents.get(node)
    if isinstance(top, ast.ExceptHandler):
        top = known.parents.get(top)
    while isinstance(
        up := known.parents.get(top) if top is not None else None, ast.If
    ) and up.orelse == [top]:
        top = up
    chain = _branches(known, top)
    own = next((at for at, (_, body) in enumerate(chain) if node in body), None)
    if own is None or top is None:
        return None, []
    near = sorted((abs(at - own), at) for at in range(len(chain)) if at != own)
    found = [chain[at] for _, at in near]
    block = next((one for one in _blocks(known.parents.get(top)) if top in one), [])
    place = block.index(top) if top in block else 0
    ranked = sorted(
        (abs(at - place), at)
        for at, one in enumerate(block)
        if isinstance(one, ast.If) and one is not top
    )
    for _, at in ranked:
        found += _branches(known, block[at])
    return chain[own], [one for one in found if one[1]]


def _branches(known: Known, node: ast.AST | None) -> list[Branch]:
    if isinstance(node, ast.If):
        rest = node.orelse
        elifs = len(rest) == 1 and isinstance(rest[0], ast.If)
        more = _branches(known, rest[0]) if elifs else [("", rest)]
        return [(known.segment(node.test), node.body), *more]
    if isinstance(node, ast.Try):
        caught = [(known.segment(one.type) if one.type else "", one.body) for one in node.handlers]
        return [("", node.body), *caught, ("", node.orelse)]
    return []


def _blocks(node: ast.AST | None) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [one for one in found if isinstance(one, list)]


def _apart(known: Known, other: Branch, own: Branch, node: ast.stmt) -> dict[str, str]:
    """The words of another branch and those that this one has in their places, where the two say the same otherwise."""
    place = own[1].index(node)
    pairs = [(other[0], own[0])]
    if len(other[1]) == len(own[1]):
        for at, (one, mine) in enumerate(zip(other[1], own[1], strict=True)):
            pairs += [(known.segment(one), known.segment(mine))] if at != place else []
    words: dict[str, str] = {}
    for there, here in pairs:
        old, new = _TOKEN.findall(there), _TOKEN.findall(here)
        if len(old) == len(new):
            apart = [(one, mine) for one, mine in zip(old, new, strict=True) if one != mine]
        else:  # one name each that the other does not have
            gone, came = ([one for one in dict.fromkeys(side) if one not in rest and _WORD.fullmatch(one)]
                          for side, rest in ((old, new), (new, old)))  # fmt: skip
            apart = list(zip(gone, came, strict=True)) if len(gone) == len(came) == 1 else []
        for one, mine in apart:
            if one[0].isalnum() == mine[0].isalnum():
                words.setdefault(one, mine)
            parts = [part.split("_") for part in (one, mine)]
            differ = [pair for pair in zip(*parts, strict=False) if pair[0] != pair[1]]
            if len(parts[0]) == len(parts[1]) > 1 and len(differ) == 1:
                words.setdefault(*differ[0])
    return words


def _exchanged(text: str, words: dict[str, str]) -> str:
    """A text with other words, and other parts of words that are joined by `_`."""

    def put(match: re.Match[str]) -> str:
        word = match[0]
        parts = word.split("_") if _WORD.fullmatch(word) else []
        return words.get(word) or (
            "_".join(words.get(one, one) for one in parts) if parts else word
        )

    return _TOKEN.sub(put, text)


def _known_here(known: Known, text: str, node: ast.stmt) -> bool:
    """True for a statement whose names are known in a place, or that binds them itself."""
    try:
        tree = ast.parse(text if not text.startswith("return") else f"def f():\n {text}")
    except (SyntaxError, ValueError):
        return False
    names: Sequence[ast.Name] = [one for one in ast.walk(tree) if isinstance(one, ast.Name)]
    bound = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    here = known.names(node).keys() | known.everywhere | bound
    return all(one.id in here for one in names)
