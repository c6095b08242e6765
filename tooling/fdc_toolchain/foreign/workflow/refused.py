"""What a script must not have, since what it does could then not be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .language import HIDING, METHODS, STARTERS, words
from .script import FUNCTIONS, NotBounded, Script

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = words("array false null number object string template_string true")
_PLAIN_COMPUTED = _PLAIN | {
    "await_expression", "binary_expression", "call_expression", "identifier", "member_expression", "ternary_expression",
}  # fmt: skip
_OWN = (METHODS - {"length", "size"}) | {"toJSON", "toString", "valueOf"}
_MEMBERS = STARTERS | {"__proto__", "constructor", "prototype", "spawn", "subagent"}
_OBJECT = words("create defineProperties defineProperty getPrototypeOf setPrototypeOf")
_EXPORTED = (*FUNCTIONS, "class_declaration", "identifier")


def refuse(script: Script) -> None:
    """Raises NotBounded for the first such thing."""
    for name in HIDING & script.free.keys():
        raise NotBounded(script.free[name][0], f"`{name}` can do what cannot be followed")
    for declared in script.at.values():
        if declared.name in STARTERS and declared.kind != "function":
            raise NotBounded(declared.node, f"`{declared.name}` is not the runtime's own here")
    for node in script.nodes:
        _look(script, node)


def _look(script: Script, node: Node) -> None:
    kind = node.type
    if kind == "hash_bang_line" and any(end in script.text(node) for end in "\r\u2028\u2029"):
        raise NotBounded(node, "what follows the end of the first line cannot be followed")
    if kind in ("import_statement", "import", "with_statement"):
        raise NotBounded(node, "what is imported cannot be followed")
    if kind == "export_statement":
        parts = [node.child_by_field_name(name) for name in ("value", "declaration")]
        if any(part and part.type in _EXPORTED for part in parts):
            raise NotBounded(node, "the script exports a function: who calls it is not known")
    elif kind == "member_expression":
        name, owner = script.member(node), node.child_by_field_name("object")
        of_object = owner is not None and script.text(owner) == "Object"
        if name in _MEMBERS or of_object and name in _OBJECT:
            raise NotBounded(node, f"`.{name}` can do what cannot be followed")
    elif kind in ("pair", "method_definition", "field_definition"):
        key = node.child_by_field_name("key") or node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        computed = key is not None and key.type == "computed_property_name"
        word = script.text(key).strip("'\"") if key is not None else ""
        plain = _PLAIN_COMPUTED if computed else _PLAIN
        if (computed or word in _OWN) and (value is None or value.type not in plain):
            raise NotBounded(node, f"`{word}` is a method of the script's own here")
