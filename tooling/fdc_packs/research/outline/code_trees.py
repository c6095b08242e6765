"""Outlines by tree-sitter, for the languages whose grammar is installed (the extra `code`)."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

from fdc_toolchain.api.files import Document

from .code_definitions import TROUBLE, Definition, Outline, remark_above

GRAMMARS = {
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".h": ("tree_sitter_cpp", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".cxx": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
    ".cs": ("tree_sitter_c_sharp", "language"),
    ".php": ("tree_sitter_php", "language_php"),
    ".rb": ("tree_sitter_ruby", "language"),
}
KINDS = {
    "function_declaration": "function", "generator_function_declaration": "function", "function_definition": "function",
    "function_item": "function", "function_signature_item": "function", "function_signature": "function",
    "function_expression": "function", "method_definition": "method", "method_declaration": "method",
    "method_signature": "method", "abstract_method_signature": "method", "method_elem": "method", "method": "method",
    "singleton_method": "method", "constructor_declaration": "method", "pair": "method", "field_definition": "method",
    "public_field_definition": "method", "assignment_expression": "function", "class_declaration": "class",
    "abstract_class_declaration": "class", "class_specifier": "class", "class": "class", "interface_declaration": "interface",
    "enum_declaration": "enum", "record_declaration": "record", "struct_declaration": "struct", "type_alias_declaration": "type",
    "alias_declaration": "type", "delegate_declaration": "type", "type_alias": "type", "type_spec": "type",
    "struct_item": "struct", "enum_item": "enum", "trait_item": "trait", "trait_declaration": "trait", "type_item": "type",
    "mod_item": "module", "module": "module", "internal_module": "module", "namespace_declaration": "module",
    "namespace_definition": "module", "impl_item": "impl", "macro_definition": "macro", "const_item": "constant",
    "static_item": "constant", "const_spec": "constant", "var_spec": "constant", "const_element": "constant",
    "assignment": "constant", "init_declarator": "constant", "struct_specifier": "struct", "enum_specifier": "enum",
    "union_specifier": "union", "type_definition": "type", "preproc_def": "macro", "preproc_function_def": "macro",
    "variable_declarator": "constant",
}  # fmt: skip
IMPORTING = frozenset(
    "import_statement import_declaration import_spec use_declaration preproc_include extern_crate_declaration"
    " using_directive namespace_use_declaration".split()
)
CALLS = {"call_expression": "function", "call": "method"}
REQUIRES = frozenset(("require", "require_relative"))
INSIDE = frozenset(("function", "method"))
BODIES = frozenset(
    "function_expression arrow_function generator_function func_literal closure_expression lambda_expression"
    " anonymous_function".split()
)
"""Functions without a declaration: what is bound in them is local."""
NAMES = frozenset(("constant", "name"))
"""What Ruby and PHP call an identifier."""
NAMED = re.compile(r"[\w$]+(?:\.[\w$]+)*")
TARGET = re.compile(r"(?:(?:module\.)?exports|this)(?:\.|$)|\.prototype\b")
MAX_BYTES = 1_000_000
SECONDS = 1.5
"""The most that one file may take: some broken texts cost a parser the square of their length. Then lines must do."""


@cache
def _parser(extension: str) -> Any:
    """A parser for files of that extension, or None where it is not installed."""
    row = GRAMMARS.get(extension)
    if row is None:
        return None
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = getattr(importlib.import_module(row[0]), row[1])()
        return tree_sitter, tree_sitter.Language(grammar)
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def missing(extensions: Iterable[str]) -> list[str]:
    """Those for which there is a grammar that is not installed: their files are read line by line."""
    return sorted(one for one in extensions if one in GRAMMARS and _parser(one) is None)


def outline(document: Document, extension: str) -> Outline | None:
    """The outline of a source file; None where no grammar for it is installed, or where it is too large for one."""
    found = _parser(extension)
    if found is None or document.size > MAX_BYTES:
        return None
    tree_sitter, language = found
    data = "\n".join(document.lines).encode("utf-8")
    ends = time.monotonic() + SECONDS
    try:
        tree = tree_sitter.Parser(language).parse(
            lambda at, _: data[at : at + 65536],
            progress_callback=lambda *_: time.monotonic() > ends,
        )
    except ValueError:  # it was given up
        return None
    reader = _Reader(data)
    reader.walk(tree.root_node)
    trouble = {
        number
        for number, line in enumerate(document.lines, 1)
        if number not in reader.prose and TROUBLE.search(line)
    }
    definitions = [
        one._replace(doc=remark_above(one.line, reader.remarks, document.lines))
        for one in sorted(reader.definitions, key=lambda one: one.line)
    ]
    uses = {name: tuple(sorted(lines)) for name, lines in reader.uses.items()}
    return Outline(
        tuple(definitions),
        uses,
        frozenset(reader.imports),
        frozenset(reader.prose),
        frozenset(trouble),
        "tree-sitter",
        frozenset(reader.declared),
    )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.definitions: list[Definition] = []
        self.uses: dict[str, set[int]] = {}
        self.imports: set[int] = set()
        self.prose: set[int] = set()
        self.remarks: set[int] = set()
        """The lines of comments that stand behind no code."""
        self.declared: set[tuple[str, int]] = set()

    def walk(self, root: Any) -> None:
        """Every node once, without recursion."""
        work: list[tuple[Any, str, bool, int]] = [(root, "", False, -1)]
        while work:
            node, inside, local, named = work.pop()
            kind = node.type
            if "comment" in kind:
                self.prose.update(_rows(node))
                line = self.data.rfind(b"\n", 0, node.start_byte) + 1
                if not self.data[line : node.start_byte].strip():
                    self.remarks.update(_rows(node))
                continue
            if kind in IMPORTING or (
                kind == "export_statement" and node.child_by_field_name("source") is not None
            ):
                self.imports.update(_rows(node))
            if kind in CALLS and self.text(node.child_by_field_name(CALLS[kind])) in REQUIRES:
                self.imports.update(_rows(node))
            if not node.child_count:
                if (kind.endswith("identifier") or kind in NAMES) and node.start_byte != named:
                    self.uses.setdefault(self.text(node), set()).add(node.start_point[0] + 1)
                    if not local and _is_declared(node):
                        self.declared.add((self.text(node), node.start_point[0] + 1))
                continue
            what, name = self._defined(node, kind, local)
            if kind == "function_expression" and name is None:
                own = node.child_by_field_name("name")
                named = named if own is None else own.start_byte
            if name is not None:
                said, named = self.text(name), name.start_byte
                rows = _rows(node)
                inside += self._owner(node, name)
                if what != "impl":
                    self.definitions.append(
                        Definition(said, inside + said, what, rows[0], rows[-1])
                    )
                inside = f"{inside}{said}."
            local = (
                local
                or (name is not None and what in INSIDE)
                or (kind in BODIES and not _runs_at_once(node))
            )
            work += [(child, inside, local, named) for child in reversed(node.children)]

    def _defined(self, node: Any, kind: str, local: bool) -> tuple[str, Any]:
        """What a node defines and the node of its name, which is None where it defines nothing."""
        what = KINDS.get(kind)
        if what is None or (
            kind.endswith("_specifier") and node.child_by_field_name("body") is None
        ):
            return "", None  # `struct pot *p` names one, it does not define it
        made = _made(node)
        if (
            kind == "assignment_expression"
        ):  # JavaScript's `app.route = function (path) {}` and `exports.heat = 3`
            left = node.child_by_field_name("left")
            shown = not local and self.text(left).startswith(("exports.", "module.exports."))
            what = made or (self._shared(node, left) if shown else "")
            if not what or left is None or (left.type != "member_expression" and local):
                return "", None
            name = left if left.type == "identifier" else left.child_by_field_name("property")
            return what, None if name is None or self.text(name) == "exports" else name
        if kind in ("pair", "field_definition", "public_field_definition"):
            name = (
                node.child_by_field_name("key")
                or node.child_by_field_name("property")
                or node.child_by_field_name("name")
            )
            fits = (
                made == "function"
                and not local
                and name is not None
                and name.type.endswith("identifier")
            )
            return "method", name if fits else None
        if kind == "function_expression":  # one that another name is given to is not defined twice
            return what, None if local or node.parent.type in KINDS else node.child_by_field_name(
                "name"
            )
        if kind == "assignment":  # Ruby's
            left = node.child_by_field_name("left")
            return (
                what,
                left if not local and left is not None and left.type == "constant" else None,
            )
        if kind == "init_declarator" and node.parent.parent.type in (
            "for_statement",
            "compound_statement",
        ):
            return "", None
        if what == "constant" and local:
            return "", None
        return made if what == "constant" and made else what, _name(node)

    def _shared(self, node: Any, left: Any) -> str:
        """`export` where JavaScript's `exports.pour = pour` shares what is defined elsewhere; else `constant`."""
        right = node.child_by_field_name("right")
        if right.type == "member_expression":
            right = right.child_by_field_name("property")
        same = self.text(right) == self.text(left.child_by_field_name("property"))
        return "export" if same else "constant"

    def _owner(self, node: Any, name: Any) -> str:
        """`Pot.` of Go's `func (p *Pot) Pour()`, of JavaScript's `Pot.prototype.pour = function`, of C++'s `int Pot::pour()`."""
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            found = self.text(receiver).strip("()").replace("*", " ").split()
            return f"{found[-1].partition('[')[0]}." if found else ""
        if node.type == "assignment_expression" and name.parent.type == "member_expression":
            owner = TARGET.sub("", self.text(name.parent.child_by_field_name("object")))
            return f"{owner}." if owner and NAMED.fullmatch(owner) else ""
        owners = []
        while name.parent is not None and name.parent.type == "qualified_identifier":
            name = name.parent
            owners.append(self.text(name.child_by_field_name("scope")))
        return "".join(f"{one}." for one in reversed(owners) if NAMED.fullmatch(one))

    def text(self, node: Any) -> str:
        return (
            ""
            if node is None
            else self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        )


def _rows(node: Any) -> range:
    """The lines of a node; one that ends at the beginning of a line does not have that."""
    last = node.end_point[0] + (1 if node.end_point[1] else 0)
    return range(node.start_point[0] + 1, max(last, node.start_point[0] + 1) + 1)


def _name(node: Any) -> Any:
    found = _next(node)
    while found is not None and (
        found.type == "qualified_identifier" or (found.child_count and not _is_name(found))
    ):
        found = _next(found)
    return found if found is not None and _is_name(found) else None


def _next(node: Any) -> Any:
    found = (
        node.child_by_field_name("name")
        or node.child_by_field_name("declarator")
        or node.child_by_field_name("type")
    )
    return found or next((child for child in node.named_children if _is_name(child)), None)


def _is_name(node: Any) -> bool:
    return node.type.endswith("identifier") or node.type in NAMES


def _made(node: Any) -> str:
    """`function` or `class` where a node gives a name to one that it writes down there, else empty."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None:
        return ""
    return "function" if value.type in BODIES else "class" if value.type == "class" else ""


def _is_declared(name: Any) -> bool:
    """Whether it is the name in `int pour(int);`, which has no body there."""
    above = name.parent
    if above is None or above.type != "function_declarator":
        return False
    while above is not None and above.type.endswith("declarator"):
        above = above.parent
    return above is not None and above.type in ("declaration", "field_declaration")


def _runs_at_once(node: Any) -> bool:
    """Whether it is JavaScript's `(function () { ... })()`: what is bound in it belongs to the file."""
    above = node.parent
    while above is not None and above.type in ("parenthesized_expression", "member_expression"):
        node, above = above, above.parent
    return (
        above is not None
        and above.type == "call_expression"
        and above.child_by_field_name("function") == node
    )
