"""What a script does with a list: whether it can become longer than it was made."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from .language import CALLING, GROWS, HARMLESS, OBJECT_READS, READS
from .script import FUNCTIONS, LOOPS, Declared, Script, arguments, parameters

if TYPE_CHECKING:
    from tree_sitter import Node

_THROUGH = frozenset(("parenthesized_expression", "await_expression", "sequence_expression"))
_CARRIES = frozenset(
    ("pair", "object", "array", "spread_element", "template_substitution", "template_string")
)
_MEMBERS = frozenset(("member_expression", "subscript_expression"))
_BRANCHES = frozenset(("binary_expression", "ternary_expression"))
_HANDING_BACK = frozenset(("Array", "Map", "Object", "Promise", "Set", "parallel", "pipeline"))
"""Of what is harmless, those whose result has in it what they were given."""


class Uses:
    """Answers about the lists of one script. `exact`: one that gets shorter, or is sorted in place, is changed, too."""

    def __init__(self, script: Script, *, exact: bool = False) -> None:
        self.script = script
        self.exact = exact
        self._known: dict[Declared, tuple[Node, ...] | None] = {}

    @functools.cached_property
    def only_names_grow(self) -> bool:
        """Whether every list that becomes longer has a name of its own, so that one in another list stays as it is."""
        return not any(self._grows_another(node) for node in self.script.nodes)

    def _grows_another(self, node: Node) -> bool:
        if node.type == "call_expression":
            callee = node.child_by_field_name("function")
            return callee is not None and callee.type == "subscript_expression"
        if node.type == "object_pattern":
            return any(word in self.script.text(node) for word in (*GROWS, "fill"))
        word = self.script.member(node) if node.type == "member_expression" else ""
        grows = word in GROWS - {"concat", "length"} or word in (
            "apply",
            "assign",
            "bind",
            "call",
            "fill",
            "set",
        )
        if not grows and not (node.type in _MEMBERS and is_written(node)):
            return False
        target = node.child_by_field_name("object")
        declared = self.script.resolved.get(target.id) if target is not None else None
        value = declared.value if declared is not None and declared.lasting else None
        return value is None or value.type not in ("array", "new_expression", "object")

    def pushes(self, declared: Declared) -> tuple[Node, ...] | None:
        """The calls of `push` on a name that is only read otherwise; None where more may happen to its list."""
        if declared not in self._known:
            self._known[declared] = None  # until it is known: what refers to itself is not followed
            self._known[declared] = self._pushes(declared)
        return self._known[declared]

    def fixed(self, declared: Declared) -> bool:
        """Whether nothing changes the length of the name's list."""
        return declared.lasting and self.pushes(declared) == ()

    def reads(self, node: Node) -> bool:
        """Whether an expression is only read where it stands, so that no one can change its list from there."""
        return self._pushed(node) == ()

    def _pushes(self, declared: Declared) -> tuple[Node, ...] | None:
        out: list[Node] = []
        for use in declared.uses:
            found = self._pushed(use)
            if found is None:
                return None
            out += found
        return tuple(out)

    def _pushed(self, node: Node) -> tuple[Node, ...] | None:
        """The call of `push` that the node is the list of, () where it is only read, None where it is lost sight of."""
        parent = node.parent
        if parent is None:
            return None
        kind = parent.type
        if node.type == "shorthand_property_identifier" or kind in _CARRIES:
            return () if self._handed_out(node) else None
        if kind in _THROUGH:
            return self._pushed(parent)
        if kind in _BRANCHES:
            condition = parent.child_by_field_name("condition")
            if condition is not None and condition.id == node.id:
                return ()
            operator = parent.child_by_field_name("operator")
            if kind == "binary_expression" and operator is not None:
                if self.script.text(operator) not in ("||", "??", "&&"):
                    return ()
            return () if self._pushed(parent) == () else None
        if kind == "member_expression":
            return self._member(parent)
        if kind == "subscript_expression":
            return None if is_written(parent) else ()
        if kind == "for_in_statement":
            right = parent.child_by_field_name("right")
            return () if right is not None and right.id == node.id else None
        if kind in ("unary_expression", "expression_statement", "if_statement", "while_statement"):
            return ()
        if kind == "variable_declarator":
            name = parent.child_by_field_name("name")
            new = self.script.at.get(name.id) if name is not None else None
            return () if new is not None and self.fixed(new) else None
        if kind == "arguments":
            return () if self._handed_out(node) else None
        if kind == "return_statement":
            return () if self.script.function_of(parent).type == "program" else None
        return None

    def _member(self, parent: Node) -> tuple[Node, ...] | None:
        word, call = self.script.member(parent), parent.parent
        if call is not None and call.type == "call_expression":
            call = call if call.child_by_field_name("function") == parent else None
        else:
            call = None
        if word == "push" and call is not None:
            return (call,)
        if self.exact and word in ("reverse", "sort"):
            return None
        if call is not None and word in ("pop", "shift", "splice") and not self.exact:
            spread = any(item.type == "spread_element" for item in arguments(call))
            return () if len(arguments(call)) <= 2 and not spread else None
        if word not in READS or is_written(parent):
            return None
        if call is not None and word in CALLING:
            if not all(self._sees_no_list(item, word) for item in arguments(call)):
                return None
            if word in ("sort", "reverse"):  # the list itself is the result
                return self._pushed(call)
        return ()

    def _sees_no_list(self, argument: Node, method: str) -> bool:
        """Whether what is given to a method of a list does not get the list itself as its last parameter."""
        node: Node | None = argument
        if argument.type == "identifier":
            declared = self.script.resolved.get(argument.id)
            if declared is None:
                return True
            node = declared.value if declared.lasting else None
            if node is None:
                return False
        if node is None or node.type not in FUNCTIONS:
            return node is not None and node.type != "call_expression"
        names = parameters(node)
        most = 3 if method in ("reduce", "reduceRight") else 2
        return len(names) <= most and all(name.type != "rest_pattern" for name in names)

    def _handed_out(self, node: Node) -> bool:
        """Whether the node goes into a call that only reads it, or into the result of the script."""
        script = self.script
        here = node
        while here.parent is not None:
            parent = here.parent
            if parent.type == "arguments":
                return self._reads_argument(parent, here, direct=here.id == node.id)
            if parent.type == "return_statement":
                return script.function_of(parent).type == "program"
            if parent.type == "spread_element" or parent.type == "template_substitution":
                return True
            if parent.type not in _CARRIES and parent.type not in _THROUGH:
                return False
            here = parent
        return False

    def _reads_argument(self, argument_list: Node, argument: Node, *, direct: bool) -> bool:
        script = self.script
        call = argument_list.parent
        if call is None:
            return False
        callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        if callee is None:
            return False
        if callee.type == "member_expression":
            target, word = callee.child_by_field_name("object"), script.member(callee)
            if target is None or not word:
                return False
            if target.type == "identifier" and target.id not in script.resolved:
                owner = script.text(target)
                if not direct and owner in _HANDING_BACK or word in ("freeze", "of", "resolve"):
                    return False
                return word in OBJECT_READS if owner == "Object" else owner in HARMLESS
            return direct and word in ("concat", "includes", "indexOf", "join")
        if callee.type != "identifier":
            return False
        declared = script.resolved.get(callee.id)
        if declared is None:
            word = script.text(callee)
            again = not direct or word in ("Array", "Object")
            return word in HARMLESS and not (again and word in _HANDING_BACK)
        if not direct or not declared.lasting or declared.value is None:
            return False
        if declared.value.type not in FUNCTIONS:
            return False
        index = next((at for at, one in enumerate(arguments(call)) if one.id == argument.id), 0)
        if any(one.type == "spread_element" for one in arguments(call)[: index + 1]):
            return False
        names = parameters(declared.value)
        if index >= len(names) or names[index].type != "identifier":
            return False
        inner = script.at.get(names[index].id)
        return inner is not None and self.fixed(inner)

    def copied(self, node: Node) -> bool:
        """Whether what the node has in it is out of reach where the node goes: it is turned into text, or taken apart."""
        parent = node.parent
        while parent is not None and parent.type in (_CARRIES | _THROUGH) - {"spread_element"}:
            if parent.type == "template_substitution":
                return True
            node, parent = parent, parent.parent
        if parent is None or parent.type == "spread_element":
            return False
        call = parent.parent
        if parent.type != "arguments" or call is None:
            return True
        callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        owner = callee.child_by_field_name("object") if callee is not None else None
        word = self.script.text(owner or callee) if callee is not None else ""
        return word in HARMLESS - _HANDING_BACK or self.script.text(call).startswith(
            ("Array.isArray(", "Object.keys(")
        )

    def same_place(self, declared: Declared, node: Node) -> bool:
        """Whether a node is in the same function and in the same loops as a declaration."""
        script = self.script
        home = script.function_of(declared.node)
        if script.function_of(node).id != home.id:
            return False
        mine = {loop.id for loop in script.loops_between(node, home)}
        return mine == {loop.id for loop in script.loops_between(declared.node, home)}


def is_written(node: Node) -> bool:
    """Whether an expression is assigned to, updated or deleted where it stands."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type in ("assignment_expression", "augmented_assignment_expression"):
        left = parent.child_by_field_name("left")
        return left is not None and left.id == node.id
    if parent.type == "unary_expression":
        return parent.children[0].type == "delete"
    if parent.type in ("assignment_pattern", "object_assignment_pattern"):
        return parent.child_by_field_name("left") == node
    written = (
        "update_expression",
        "array_pattern",
        "object_pattern",
        "pair_pattern",
        "rest_pattern",
    )
    return parent.type in written or (
        parent.type in LOOPS and parent.child_by_field_name("left") == node
    )
