"""Conditions: a small parser and what they mean (docs/language.md, "Conditions")."""

from __future__ import annotations

import re
from typing import Any

from tests.reference.parse import PlanError, unquote
from tests.reference.stops import Stop
from tests.reference.values import Names, look_up

TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\["\\nt])*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<sign>==|!=|<=|>=|<|>|\(|\)|,)'
    r"|\{(?P<braced>[A-Za-z_][\w.]*)\}|(?P<word>[A-Za-z_][\w.]*))",
    re.ASCII,
)
WORDS = {"and", "or", "not", "in", "len", "true", "false"}


def kind_of(value: Any) -> str:
    for kind, types in (
        ("null", type(None)),
        ("bool", bool),
        ("number", (int, float)),
        ("text", str),
        ("list", list),
    ):
        if isinstance(value, types):
            return str(kind)
    return "object"


def number_in(value: Any) -> float | None:
    """The number that a number is or a text spells."""
    if kind_of(value) == "number":
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value):
        return float(value)
    return None


def comparable(left: Any, right: Any) -> bool:
    """Whether the two are compared as numbers."""
    kinds = {kind_of(left), kind_of(right)}
    return (kinds == {"number"} or kinds == {"number", "text"}) and None not in (
        number_in(left),
        number_in(right),
    )


def equal(left: Any, right: Any) -> bool:
    if comparable(left, right):
        return number_in(left) == number_in(right)
    if kind_of(left) != kind_of(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(equal(one, other) for one, other in zip(left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return bool(left == right)


def holds(value: Any) -> bool:
    """A value alone: true, not empty, not zero."""
    return bool(value)


def less(left: Any, right: Any) -> bool:
    if comparable(left, right):
        return float(number_in(left) or 0) < float(number_in(right) or 0)
    if kind_of(left) == kind_of(right) == "text":
        return bool(left < right)
    raise Stop("value", f"{kind_of(left)} and {kind_of(right)} have no order")


def length(value: Any) -> int:
    if value is None:
        return 0
    if kind_of(value) in ("bool", "number"):
        raise Stop("value", f"a {kind_of(value)} has no length")
    return len(value)


def inside(left: Any, right: Any) -> bool:
    kind = kind_of(right)
    if kind == "list":
        return any(equal(left, item) for item in right)
    if kind == "text" and isinstance(left, str):
        return left in right
    if kind == "object":
        return isinstance(left, str) and left in right
    raise Stop("value", f"a {kind_of(left)} cannot be in a {kind}")


class Condition:
    """One condition of a plan: `value(names, ask)`; `constant()` says whether it looks at nothing but the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise PlanError(f"no condition: {text}")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind]))
            at = match.end()
        self.at = 0
        self.tree = self._or()
        if self.at < len(self.tokens):
            raise PlanError(f"no condition: {text}")

    def _word(self, *words: str) -> str | None:
        if (
            self.at < len(self.tokens)
            and self.tokens[self.at][0] in ("word", "sign")
            and self.tokens[self.at][1] in words
        ):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def _or(self) -> Any:
        tree = self._and()
        while self._word("or"):
            tree = ("or", tree, self._and())
        return tree

    def _and(self) -> Any:
        tree = self._not()
        while self._word("and"):
            tree = ("and", tree, self._not())
        return tree

    def _not(self) -> Any:
        return ("not", self._not()) if self._word("not") else self._comparison()

    def _comparison(self) -> Any:
        left = self._operand()
        if sign := self._word("==", "!=", "<=", ">=", "<", ">", "in"):
            return (sign, left, self._operand())
        return left

    def _operand(self) -> Any:
        if self._word("("):
            tree = self._or()
            if not self._word(")"):
                raise PlanError(f"a bracket does not close: {self.text}")
            return tree
        if self.at >= len(self.tokens):
            raise PlanError(f"a condition ends too early: {self.text}")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return ("constant", unquote(text[1:-1]))
        if kind == "number":
            return ("constant", float(text) if "." in text else int(text))
        if kind == "braced":
            return ("name", text)
        if kind != "word" or text in ("and", "or", "not", "in"):
            raise PlanError(f"no value: {text} in {self.text}")
        if text in ("true", "false"):
            return ("constant", text == "true")
        if self._word("("):
            inner = self._or()
            if not self._word(")"):
                raise PlanError(f"a bracket does not close: {self.text}")
            return ("len", inner) if text == "len" else ("ask", text, inner)
        return ("name", text)

    def constant(self, tree: Any = None) -> bool:
        tree = self.tree if tree is None else tree
        if tree[0] in ("name", "ask"):
            return False
        return tree[0] == "constant" or all(self.constant(part) for part in tree[1:])

    def value(self, names: Names, ask: Any = None, tree: Any = None) -> Any:
        """The value; `ask(predicate, value)` answers predicates. Stop `value` where it has no meaning."""
        operation, *parts = self.tree if tree is None else tree
        if operation == "constant":
            return parts[0]
        if operation == "name":
            return look_up(parts[0], names)
        if operation == "ask":
            return ask(parts[0], self.value(names, ask, parts[1]))
        left = self.value(names, ask, parts[0])
        if operation == "not":
            return not holds(left)
        if operation == "len":
            return length(left)
        if operation in ("and", "or"):
            if holds(left) != (operation == "and"):
                return operation == "or"
            return holds(self.value(names, ask, parts[1]))
        right = self.value(names, ask, parts[1])
        return {
            "==": lambda: equal(left, right),
            "!=": lambda: not equal(left, right),
            "<": lambda: less(left, right),
            ">": lambda: less(right, left),
            "<=": lambda: not less(right, left),
            ">=": lambda: not less(left, right),
            "in": lambda: inside(left, right),
        }[operation]()

    def names(self, tree: Any = None) -> set[str]:
        tree = self.tree if tree is None else tree
        if tree[0] == "name":
            return {tree[1].split(".")[0]}
        return set().union(
            *(self.names(part) for part in tree[1:] if isinstance(part, tuple)), set()
        )
