"""A script as a tree: its declarations, who uses them, and where things stand in the text."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ...diagnostics.span import Span
from ...named_tuples import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset(
    (
        "arrow_function", "function_expression", "function_declaration", "method_definition",
        "generator_function", "generator_function_declaration",
    )
)  # fmt: skip
LOOPS = frozenset(("for_statement", "for_in_statement", "while_statement", "do_statement"))
_SCOPES = (
    FUNCTIONS | LOOPS | {"program", "statement_block", "switch_body", "catch_clause", "class_body"}
)
_NAMED = ("function_declaration", "generator_function_declaration", "class_declaration")
_WRITES = frozenset(("assignment_expression", "augmented_assignment_expression"))
_NAMES = frozenset(
    ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
)
_PLAIN_KEYS = ("property_identifier", "shorthand_property_identifier_pattern")
_HOLDING = ("object_pattern", "array_pattern", "rest_pattern", "parenthesized_expression")
MOST_DEPTH = 300
MOST_NODES = 200_000


class NotBounded(Exception):
    """The number of agents cannot be bounded: `node` is where, `reason` why."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class NotJavaScript(Exception):
    """The text cannot be read as JavaScript; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(f"line {line}")
        self.line = line
        self.column = column


class Taken(NamedTuple):
    """What a pattern takes out of `source`: by these names, each with what stands for it where it is undefined."""

    source: Node
    steps: tuple[tuple[str, Node | None], ...]


class Declared:
    """A name that the script declares.

    `value` is the node that it is bound to where that is one whole value; `taken` is where it is a part of one.
    """

    __slots__ = ("name", "node", "kind", "value", "taken", "writes", "uses", "function")

    def __init__(self, name: str, node: Node, kind: str, value: Node | None, function: int) -> None:
        self.name = name
        self.node = node
        self.kind = kind
        self.value = value
        self.taken: Taken | None = None
        self.writes: list[Node] = []
        self.uses: list[Node] = []
        self.function = function

    @property
    def lasting(self) -> bool:
        """Whether the name stands for the same value as long as it is there."""
        return not self.writes


class Script:
    """The tree with its names resolved. Raises NotJavaScript, and NotBounded where it is nested too deeply."""

    def __init__(self, text: str, path: str) -> None:
        import tree_sitter_javascript
        from tree_sitter import Language, Parser

        self.path = path
        self.data = text.encode("utf-8", "surrogatepass")
        self._lines = text.split("\n")
        self._tree = Parser(Language(tree_sitter_javascript.language())).parse(self.data)
        self.root = self._tree.root_node
        if self.root.has_error:
            bad = self._first_error()
            raise NotJavaScript(bad.start_point[0] + 1, self._column(bad.start_point))
        self.scopes: dict[int, dict[str, Declared]] = {}
        self.at: dict[int, Declared] = {}
        self.resolved: dict[int, Declared] = {}
        self.free: dict[str, list[Node]] = {}
        self.nodes = list(self._all())
        for node in self.nodes:
            self._declare(node)
        for node in self.nodes:
            if node.type in _NAMES and node.id not in self.at:
                self._use(node)
        self._note_writes()

    def text(self, node: Node) -> str:
        """What stands there."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def span(self, node: Node) -> Span:
        """The place of a node; one that is longer than a line is cut at its first line's end."""
        row, end = node.start_point[0], node.end_point
        column = self._column(node.start_point)
        last = self._column(end) if end[0] == row else len(self._lines[row]) + 1
        return Span(self.path, row + 1, column, row + 1, max(last, column + 1))

    def member(self, node: Node) -> str:
        """The name behind the dot of a member expression; empty for what is none."""
        name = node.child_by_field_name("property")
        return self.text(name) if name is not None else ""

    def line(self, node: Node) -> int:
        """The line that a node begins on, from 1."""
        return node.start_point[0] + 1

    def _column(self, point: tuple[int, int]) -> int:
        row = self._lines[point[0]].encode("utf-8", "surrogatepass")
        return len(row[: point[1]].decode("utf-8", "replace")) + 1

    def _first_error(self) -> Node:
        work = [self.root]
        while work:
            node = work.pop()
            if node.is_error or node.is_missing:
                return node
            work += [
                child for child in reversed(node.children) if child.has_error or child.is_missing
            ]
        return self.root

    def _all(self) -> Iterator[Node]:
        work = [(self.root, 0)]
        count = 0
        while work:
            node, depth = work.pop()
            count += 1
            if depth > MOST_DEPTH or count > MOST_NODES:
                raise NotBounded(node, "the script is nested too deeply or too long to be followed")
            yield node
            work += [(child, depth + 1) for child in reversed(node.named_children)]

    def function_of(self, node: Node) -> Node:
        """The nearest function around a node, or the program."""
        here = node.parent
        while here is not None and here.type not in FUNCTIONS:
            here = here.parent
        return here or self.root

    def loops_between(self, node: Node, outer: Node) -> list[Node]:
        """The loops whose rounds evaluate a node, the innermost first, up to `outer`."""
        out: list[Node] = []
        inner, here = node, node.parent
        while here is not None and here.id != outer.id:
            if here.type in LOOPS:
                once = [here.child_by_field_name("initializer")]
                once += [here.child_by_field_name("right")] * (here.type == "for_in_statement")
                if inner not in once:
                    out.append(here)
            inner, here = here, here.parent
        return out

    def _scope_of(self, node: Node, whole_function: bool) -> Node:
        here = node.parent
        kinds = FUNCTIONS | {"program"} if whole_function else _SCOPES
        while here is not None and here.type not in kinds:
            here = here.parent
        return here or self.root

    def _add(self, name: Node, scope: Node, kind: str, value: Node | None) -> None:
        table = self.scopes.setdefault(scope.id, {})
        text = self.text(name)
        if text in table:  # `var` twice, or a function twice: which one counts is not followed
            table[text].writes.append(name)
        else:
            table[text] = Declared(text, name, kind, value, self._home(name, kind))
        self.at[name.id] = table[text]

    def _home(self, name: Node, kind: str) -> int:
        """The function in which a name lives; a function's own name lives outside of it."""
        function = self.function_of(name)
        if kind == "function" and function.child_by_field_name("name") == name:
            function = self.function_of(function)
        return function.id

    def _declare(self, node: Node) -> None:
        kind = node.type
        if kind == "variable_declarator":
            name = node.child_by_field_name("name")
            parent = node.parent
            assert name is not None and parent is not None
            word = self.text(parent).split(None, 1)[0]
            scope = self._scope_of(node, word == "var")
            value = node.child_by_field_name("value") if name.type == "identifier" else None
            for leaf in leaves(name):
                self._add(leaf, scope, word, value)
            source = node.child_by_field_name("value")
            if source is not None:
                for leaf, steps in self._steps(name, ()):
                    self.at[leaf.id].taken = Taken(source, steps)
        elif kind in _NAMED:
            name = node.child_by_field_name("name")
            if name is not None:
                self._add(name, self._scope_of(node, False), "function", node)
        elif kind == "for_in_statement" and node.child_by_field_name("kind") is not None:
            for leaf in leaves(node.child_by_field_name("left")):
                self._add(leaf, node, "item", None)
        elif kind == "catch_clause":
            for leaf in leaves(node.child_by_field_name("parameter")):
                self._add(leaf, node, "item", None)
        if kind in FUNCTIONS:
            for parameter in parameters(node):
                for leaf in leaves(parameter):
                    self._add(leaf, node, "parameter", None)
            name = node.child_by_field_name("name")
            if name is not None and kind in ("function_expression", "generator_function"):
                self._add(name, node, "function", node)

    def _steps(
        self, pattern: Node, steps: tuple[tuple[str, Node | None], ...]
    ) -> Iterator[tuple[Node, tuple[tuple[str, Node | None], ...]]]:
        """The names of a pattern that stand for one part of what is taken apart."""
        rows: list[tuple[str, Node]] = []
        if pattern.type == "object_pattern":
            for child in pattern.named_children:
                key, inner = child, child
                if child.type == "pair_pattern":
                    key, inner = parts(child, "key", "value")
                elif child.type == "object_assignment_pattern":
                    [key] = parts(child, "left")
                if key.type in _PLAIN_KEYS:
                    rows.append((self.text(key), inner))
        elif pattern.type == "array_pattern" and ",," not in "".join(
            child.type for child in pattern.children
        ):
            found = [child for child in pattern.named_children if child.type != "comment"]
            rows = [
                (str(at), child) for at, child in enumerate(found) if child.type != "rest_pattern"
            ]
            rows = rows if pattern.children[1].type != "," else []
        elif pattern.type in ("identifier", "shorthand_property_identifier_pattern") and steps:
            yield pattern, steps
        for name, inner in rows:
            default = None
            if inner.type in ("assignment_pattern", "object_assignment_pattern"):
                inner, default = parts(inner, "left", "right")
            yield from self._steps(inner, (*steps, (name, default)))

    def _use(self, node: Node) -> None:
        text = self.text(node)
        here: Node | None = node.parent
        while here is not None:
            found = self.scopes.get(here.id, {}).get(text)
            if found is not None:
                self.resolved[node.id] = found
                found.uses.append(node)
                return
            here = here.parent
        self.free.setdefault(text, []).append(node)

    def _note_writes(self) -> None:
        for node in self.nodes:
            targets: list[Node] = []
            again = node.type == "for_in_statement" and node.child_by_field_name("kind") is None
            if node.type in _WRITES or again:
                targets = [*leaves(node.child_by_field_name("left"))]
            elif node.type == "update_expression":
                targets = parts(node, "argument")
            for target in targets:
                if target.id in self.resolved:
                    self.resolved[target.id].writes.append(node)
                elif target.type in _NAMES:
                    why = f"assigns to `{self.text(target)}`, which the script does not declare"
                    raise NotBounded(node, why)


def parameters(function: Node) -> list[Node]:
    """The parameters of a function, as patterns."""
    one = function.child_by_field_name("parameter")
    if one is not None:
        return [one]
    return _listed(function, "parameters")


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    return _listed(call, "arguments")


def _listed(node: Node, field: str) -> list[Node]:
    found = node.child_by_field_name(field)
    return [] if found is None else [one for one in found.named_children if one.type != "comment"]


def leaves(pattern: Node | None) -> Iterator[Node]:
    """The names that a pattern binds. The default values in it are not names of it."""
    if pattern is None:
        return
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        yield pattern
    elif pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        yield from leaves(pattern.child_by_field_name("left"))
    elif pattern.type == "pair_pattern":
        yield from leaves(pattern.child_by_field_name("value"))
    elif pattern.type in _HOLDING:
        for child in pattern.named_children:
            yield from leaves(child)


def bare(node: Node) -> Node:
    """What stands in parentheses."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def parts(node: Node, *names: str) -> list[Node]:
    """The parts of a node with these names. Raises NotBounded where one is not there."""
    found = [node.child_by_field_name(name) for name in names]
    out = [part for part in found if part is not None]
    if len(out) < len(names):
        raise NotBounded(node, "this form is not known")
    return out


def literal(text: str) -> Fraction | None:
    """The value of a number as it is written, None for what is not plain number."""
    if len(text) > 20 or len(text.lower().partition("e")[2]) > 3 and text[:2].lower() != "0x":
        return None  # no one counts that far
    try:
        plain = text.replace("_", "")
        based = plain[:2].lower() in ("0x", "0b", "0o")
        return Fraction(int(plain, 0)) if based else Fraction(plain)
    except (ValueError, ZeroDivisionError):
        return None


def at_least(script: Script, node: Node) -> Fraction | None:
    """The least that an expression can be, as it is written: `4`, a name for it, `Math.max(1, n)`."""
    declared = script.resolved.get(node.id)
    if declared is not None:
        value = declared.value if declared.lasting and declared.kind == "const" else None
        return None if value is None else at_least(script, value)
    if node.type == "parenthesized_expression" and len(node.named_children) == 1:
        return at_least(script, node.named_children[0])
    if node.type == "call_expression" and script.text(parts(node, "function")[0]) == "Math.max":
        owner = parts(node, "function")[0].child_by_field_name("object")
        found = [at_least(script, item) for item in arguments(node)]
        known = [item for item in found if item is not None]
        return max(known, default=None) if owner and owner.id not in script.resolved else None
    return literal(script.text(node)) if node.type == "number" else None
