"""What an expression of a script is worth once `args` is given: before the launch, and only where nothing can change it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import floor, trunc
from typing import TYPE_CHECKING, Any

from ..script import Declared, NotBounded, Script, arguments, literal, parts
from ..uses import Uses
from .only_read import Path, only_read
from .worth import (
    ANY,
    ROUNDED,
    UNDEFINED,
    Many,
    NotKnown,
    amount,
    arithmetic,
    containers,
    items,
    larger,
    number_of,
    plain,
    true,
    type_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from ..values import Size


MOST_STEPS = 2_000
_SAME = ("toSorted", "toReversed", "reverse", "sort")
_SHORTER = ("entries", "filter", "keys", "map", "values")


def measured(script: Script, size: Size, given: object) -> float | None:
    """The most that a size is anywhere in the script, or None where that is not known before the launch."""
    most = 0.0
    for (_, _, kind), node in size.places.items():
        if kind == "rounds":
            return None
        value = _settled(script, given, node)
        found = amount(value) if kind == "value" else items(value)
        if found is None:
            return None
        most = max(most, found)
    return most


def _settled(script: Script, given: object, node: Node) -> Any:
    """The value of an expression, or at least its most items; ANY where nothing is known."""
    for exact in (True, False):
        try:
            return Given(script, given, exact).settled(node)
        except (NotKnown, NotBounded, OverflowError, RecursionError, ValueError):
            pass
    return ANY


class Given:
    """Evaluates expressions for one `args`. `exact` False: lists may have fewer items than they were made with."""

    def __init__(self, script: Script, given: object, exact: bool) -> None:
        self.script = script
        self.exact = exact
        self.uses = Uses(script, exact=exact)
        self.args = UNDEFINED if given is None else given
        self._paths = {id(held): path for path, held in containers(given)}
        self._looked: set[Path] = set()
        self._kept: dict[Declared, Any] = {}
        self._steps = 0

    def settled(self, node: Node) -> object:
        """The value of an expression. Raises NotKnown, also where the script may change what it was read from."""
        value = self._value(node)
        self._look(value)
        if not only_read(self.script, self.uses, self.script.free.get("args", []), self._looked):
            raise NotKnown
        return value

    def _look(self, value: Any) -> None:
        """Notes that it matters what a list or an object of `args` has in it."""
        path = self._paths.get(id(value))
        if path is not None:
            self._looked.add(path)

    def _value(self, node: Node) -> Any:
        """The value of an expression. Raises NotKnown."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NotKnown
        found = _VALUES.get(node.type)
        if found is None:
            raise NotKnown
        return found(self, node)

    # names and members

    def _name(self, node: Node) -> Any:
        declared = self.script.resolved.get(node.id)
        if declared is None:
            if self.script.text(node) != "args":
                raise NotKnown
            self._looked.add(())
            return self.args
        if declared in self._kept:
            return self._kept[declared]
        if declared.kind == "var" or not declared.lasting and declared.value is None:
            raise NotKnown  # a `var` may be read before it is set
        if declared.value is not None:
            value = self._value(declared.value)
        elif declared.taken is not None:
            value = self._taken(declared)
        else:
            raise NotKnown
        if declared.writes:
            self._kept[declared] = value
            try:
                if not all(self._never(write, declared) for write in declared.writes):
                    raise NotKnown
            finally:
                del self._kept[declared]
        own = {path for path, held in containers(value) if id(held) not in self._paths}
        if own and not only_read(self.script, self.uses, declared.uses, own):
            raise NotKnown
        return value

    def _never(self, write: Node, declared: Declared) -> bool:
        """Whether a write is never reached as long as the name has its first value: `if (typeof a === 'string') a = ...`."""
        here = write
        while (parent := here.parent) is not None and here.id != declared.function:
            if parent.type == "if_statement" and parent.child_by_field_name("consequence") == here:
                try:
                    if not true(self._value(parts(parent, "condition")[0])):
                        return True
                except NotKnown:
                    pass
            here = parent
        return False

    def _taken(self, declared: Declared) -> Any:
        """A name of a pattern: `const { n = 3 } = args`."""
        assert declared.taken is not None
        source, steps = declared.taken
        value = self._value(source)
        for name, default in steps:
            value = self._of(value, name)
            if value is UNDEFINED and default is not None:
                value = self._value(default)
        return value

    def _of(self, value: Any, name: str) -> Any:
        self._look(value)
        if isinstance(value, dict):
            return value.get(name, UNDEFINED)
        if isinstance(value, list) and not self.exact:
            raise NotKnown
        if name == "length" and isinstance(value, list | str):
            return items(value)
        if value is None or value is UNDEFINED:
            return UNDEFINED  # the script ends there, or goes on so after `?.`
        if not isinstance(value, list) or not re.fullmatch("[0-9]{1,6}", name):
            raise NotKnown
        item = value[int(name)] if int(name) < len(value) else UNDEFINED
        if item is ANY or isinstance(item, dict | list | Many):
            raise NotKnown  # who changes what is in a list is not followed
        return item

    def _member(self, node: Node) -> Any:
        [target] = parts(node, "object")
        return self._of(self._value(target), self.script.member(node))

    def _subscript(self, node: Node) -> Any:
        target, index = parts(node, "object", "index")
        key = self._value(index)
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise NotKnown
        return self._of(self._value(target), str(key))

    # literals

    def _number(self, node: Node) -> Any:
        found = literal(self.script.text(node))
        if found is None:
            raise NotKnown
        return found.numerator if found.denominator == 1 else float(found)

    def _string(self, node: Node) -> str:
        text = self.script.text(node)[1:-1]
        if "\\" in text:
            raise NotKnown
        return text

    def _array(self, node: Node) -> Any:
        out: list[Any] = []
        extra = 0
        if re.search(r"[\[,],", "".join(child.type for child in node.children)):
            raise NotKnown
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type != "spread_element":
                out.append(self._some(child))
                continue
            more = self._list(self._value(child.named_children[0]))
            if isinstance(more, Many):
                extra += more.most
            else:
                out += more
        return Many(len(out) + extra) if extra else out

    def _some(self, node: Node) -> Any:
        """An item that may be anything: it counts as one."""
        try:
            return self._value(node)
        except NotKnown:
            return ANY

    def _object(self, node: Node) -> Any:
        out: dict[str, Any] = {}
        for child in node.named_children:
            if child.type == "spread_element":
                held = self._value(child.named_children[0])
                self._look(held)
                if isinstance(held, dict):
                    out.update(held)
                elif held is not None and held is not UNDEFINED:
                    raise NotKnown
            elif child.type == "pair":
                key, right = parts(child, "key", "value")
                if key.type not in ("property_identifier", "string"):
                    raise NotKnown
                out[self.script.text(key).strip("'\"")] = self._value(right)
            elif child.type != "comment":
                raise NotKnown
        return out

    # operators

    def _binary(self, node: Node) -> Any:
        left, right = parts(node, "left", "right")
        word = node.children[1].type
        one = self._value(left)
        if word == "??":
            return self._value(right) if one is None or one is UNDEFINED else one
        if word in ("||", "&&"):
            return self._value(right) if true(one) == (word == "&&") else one
        two = self._value(right)
        if word in ("===", "!=="):
            return self._same(one, two) == (word == "===")
        if word in ("==", "!=") and (two is None or two is UNDEFINED):
            return (one is None or one is UNDEFINED) == (word == "==")
        return arithmetic(word, one, two)

    def _same(self, one: Any, two: Any) -> bool:
        for value, other in ((one, two), (two, one)):
            if value is self.args is UNDEFINED and (other is None or other is UNDEFINED):
                raise NotKnown
        plain = (bool, int, float, str)
        if isinstance(one, plain) and isinstance(two, plain):
            return one == two and isinstance(one, bool) == isinstance(two, bool)
        if isinstance(one, plain) or isinstance(two, plain):
            return False
        if isinstance(one, dict | list | Many) and isinstance(two, dict | list | Many):
            raise NotKnown
        return one is two

    def _unary(self, node: Node) -> Any:
        word, value = node.children[0].type, self._value(parts(node, "argument")[0])
        if word == "!":
            return not true(value)
        if word == "typeof":
            if value is UNDEFINED and self.args is UNDEFINED:
                raise NotKnown  # `null` may be what is there
            return type_of(value)
        if word == "-":
            return -plain(value)
        if word == "+":
            return number_of(value)
        raise NotKnown

    def _ternary(self, node: Node) -> Any:
        condition, one, two = parts(node, "condition", "consequence", "alternative")
        try:
            yes = true(self._value(condition))
        except NotKnown:
            return larger(self._value(one), self._value(two))
        return self._value(one if yes else two)

    # calls

    def _list(self, value: Any) -> Any:
        self._look(value)
        if value is None or value is UNDEFINED:
            return []  # the script ends there, or nothing is in it
        if not isinstance(value, list | Many):
            raise NotKnown
        return value

    def _call(self, node: Node) -> Any:
        callee = node.child_by_field_name("function") or parts(node, "constructor")[0]
        given = arguments(node)
        if any(one.type == "spread_element" for one in given):
            raise NotKnown
        target = callee.child_by_field_name("object")
        owner = callee if target is None else target
        if owner.type == "identifier" and owner.id not in self.script.resolved:
            word = self.script.text(callee)
            if self.script.text(owner) != "args":
                return self._builtin(word, given)
        if target is None:
            raise NotKnown
        return self._method(self._value(target), self.script.member(callee), given)

    def _builtin(self, word: str, given: list[Node]) -> Any:
        if word == "Array.from" and given and given[0].type == "object":
            length = plain(self._of(self._object(given[0]), "length"))
            return Many(max(0, floor(length)))
        values = [self._value(one) for one in given[:1] if word.startswith(("Array", "Set"))]
        values = values or [self._value(one) for one in given]
        if word in ("Math.min", "Math.max") and values:
            numbers = [plain(one) for one in values]
            return min(numbers) if word == "Math.min" else max(numbers)
        if len(values) not in (1, 2):
            raise NotKnown
        first = values[0]
        if word in ROUNDED:
            return ROUNDED[word](plain(first))
        if word == "Array.isArray":
            return isinstance(first, list | Many)
        if word == "Array.from":
            held = self._list(first)
            return held if isinstance(held, Many) else Many(len(held))
        if word == "Set":
            return Many(items(self._list(first)) or 0)
        if word in ("Number", "parseInt", "parseFloat"):
            if values[1:] not in ([], [10]):
                raise NotKnown
            return trunc(number_of(first)) if word == "parseInt" else number_of(first)
        if word == "JSON.parse" and isinstance(first, str):
            return json.loads(first)
        if word in ("Object.keys", "Object.values", "Object.entries") and isinstance(first, dict):
            self._look(first)
            return [*first] if word == "Object.keys" else Many(len(first))
        raise NotKnown

    def _method(self, value: Any, word: str, given: list[Node]) -> Any:
        if isinstance(value, str) and word == "split" and len(given) == 1:
            mark = self._value(given[0])
            if not isinstance(mark, str) or not mark:
                raise NotKnown
            return value.split(mark)
        held = self._list(value)
        if word in _SHORTER:
            return Many(items(held) or 0)
        if word in _SAME:
            return Many(items(held) or 0) if given or word[0] != "t" else held
        if word != "slice":
            raise NotKnown
        ends = [self._some(one) for one in given]
        whole = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
        if isinstance(held, list) and self.exact and whole and len(ends) in (1, 2):
            return held[slice(*ends)] if len(ends) == 2 else held[ends[0] :]
        most = items(held) or 0
        if whole and len(ends) == 2 and 0 <= ends[0] and 0 <= ends[1]:
            most = min(most, max(0, ends[1] - ends[0]))
        return Many(most)


_VALUES: dict[str, Callable[[Given, Node], Any]] = {
    "array": Given._array,
    "await_expression": lambda given, node: given._value(node.named_children[0]),
    "binary_expression": Given._binary,
    "call_expression": Given._call,
    "false": lambda given, node: False,
    "identifier": Given._name,
    "member_expression": Given._member,
    "new_expression": Given._call,
    "null": lambda given, node: None,
    "number": Given._number,
    "object": Given._object,
    "parenthesized_expression": lambda given, node: given._value(node.named_children[0]),
    "spread_element": lambda given, node: given._value(node.named_children[0]),
    "string": Given._string,
    "subscript_expression": Given._subscript,
    "ternary_expression": Given._ternary,
    "true": lambda given, node: True,
    "unary_expression": Given._unary,
    "undefined": lambda given, node: UNDEFINED,
}
