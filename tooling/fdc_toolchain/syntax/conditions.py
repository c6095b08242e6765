"""Conditions: the part of the tail reader that builds their trees, in the form that `program.model` describes."""

from __future__ import annotations

from collections.abc import Callable

from ..named_tuples import NamedTuple
from ..narrow import narrow
from .grammar.lalr import Word
from .syntax_errors import Wrong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..certificate.forms import Condition as ConditionTree

_CONSTANTS = {"true": True, "false": False}
_CONNECTIVES = frozenset(("not", "and", "or", "test", "value"))
_DIGITS = 15
"""The most digits a number may have: a double holds every such number exactly."""
_NESTING = 64
"""Maximum nesting of a condition, so that it can be walked by recursion."""


class Ref(NamedTuple):
    """`{name}` or `{name.field}`: the path of names, and where it stands."""

    path: tuple[str, ...]
    start: int
    end: int


class Condition(NamedTuple):
    """`tree` has the form that `program.model` describes; `refs` and `predicates` say where names stand."""

    tree: ConditionTree
    refs: tuple[Ref, ...]
    predicates: tuple[tuple[str, int, int, int], ...]  # name, argument count, start, end


class Part(NamedTuple):
    """A condition or a value in it while it is read: its tree and the places of the names in it."""

    tree: Any
    refs: list[Ref]
    calls: list[tuple[str, int, int, int]]
    depth: int = 1


def number(token: Word) -> int | float:
    """The number that a token spells. Raises Wrong where it has too many digits to be exact."""
    if len(token) > _DIGITS and sum(character.isdigit() for character in token) > _DIGITS:
        raise Wrong(token.start_pos, token.end_pos, f"a number has at most {_DIGITS} digits")
    return float(token) if "." in token else int(token)


def condition(part: Part) -> Condition:
    """A whole condition."""
    return Condition(_truth(part.tree), tuple(part.refs), tuple(part.calls))


class Conditions:
    """The callbacks for the rules of conditions; `constant` reads a quoted text."""

    constant: Callable[[Word], str]

    def reference(self, children: list[Word]) -> Part:
        token = children[0]
        path = tuple(str(token).strip("{}").split("."))
        return Part({"ref": list(path)}, [Ref(path, token.start_pos, token.end_pos)], [])

    def literal(self, children: list[Word]) -> Part:
        token = children[0]
        if token.type == "STRING":
            value: object = self.constant(token)
        else:
            value = number(token) if token.type == "NUMBER" else _CONSTANTS[token]
        return Part({"const": value}, [], [])

    def length(self, children: list[Part]) -> Part:
        part = _value(children[0], "`len` measures a value")
        return _above({"len": part.tree}, [part])

    def predicate(self, children: list[object]) -> Part:
        name = narrow(children[0], Word)
        given = [narrow(item, Part) for item in children[1:] if item is not None]
        operands = [_value(item, f"`{name}` takes values") for item in given]
        calls = [(str(name), len(operands), name.start_pos, name.end_pos)]
        tree = {"call": str(name), "args": [item.tree for item in operands]}
        return _above(tree, operands, calls)

    def comparison(self, children: list[object]) -> Part:
        left, operator, right = children
        return self._test(str(operator), narrow(left, Part), narrow(right, Part))

    def membership(self, children: list[Part]) -> Part:
        return self._test("in", *children)

    def _test(self, operator: str, left: Part, right: Part) -> Part:
        pair = [_value(item, f"`{operator}` compares values") for item in (left, right)]
        return _above({"test": operator, "left": left.tree, "right": right.tree}, pair)

    def negation(self, children: list[Part]) -> Part:
        return _above({"not": _truth(children[0].tree)}, children)

    def conjunction(self, children: list[Part]) -> Part:
        return self._join("and", children)

    def disjunction(self, children: list[Part]) -> Part:
        return self._join("or", children)

    def _join(self, word: str, children: list[Part]) -> Part:
        if len(children) == 1:
            return children[0]
        return _above({word: [_truth(item.tree) for item in children]}, children)


def _above(tree: Any, parts: list[Part], calls: Any = ()) -> Part:
    """The node `tree` over `parts`. Raises Wrong where that is too deep, before more is read."""
    depth = 1 + max((part.depth for part in parts), default=0)
    refs = [ref for part in parts for ref in part.refs]
    if depth > _NESTING:
        at = refs[0].start if refs else 0
        raise Wrong(at, at + 1, f"the condition is nested deeper than the {_NESTING} that may be")
    return Part(tree, refs, [*calls, *(call for part in parts for call in part.calls)], depth)


def _value(part: Part, rule: str) -> Part:
    if not _CONNECTIVES.isdisjoint(part.tree):
        start, end = (part.refs[0].start, part.refs[-1].end) if part.refs else (0, 1)
        raise Wrong(start, end, f"{rule}; a condition in brackets is none")
    return part


def _truth(tree: Any) -> Any:
    """A value used as a condition holds when it is true, non-empty, non-zero."""
    return tree if not _CONNECTIVES.isdisjoint(tree) else {"value": tree}
