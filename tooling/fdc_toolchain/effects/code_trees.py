"""Outlines by tree-sitter, for the languages whose grammar is installed (the extra `code`)."""

from __future__ import annotations

import importlib
import time
from functools import cache
from typing import Any

from .code_outline import TROUBLE, Definition, Outline, remark_above
from .documents import Document

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
    ".h": ("tree_sitter_c", "language"),
}
KINDS = {
    "function_declaration": "function", "generator_function_declaration": "function", "function_definition": "function",
    "function_item": "function", "function_signature_item": "function", "method_definition": "method",
    "method_declaration": "method", "method_signature": "method", "constructor_declaration": "method",
    "class_declaration": "class", "abstract_class_declaration": "class", "interface_declaration": "interface",
    "enum_declaration": "enum", "record_declaration": "record", "type_alias_declaration": "type", "type_spec": "type",
    "struct_item": "struct", "enum_item": "enum", "trait_item": "trait", "type_item": "type", "mod_item": "module",
    "impl_item": "impl", "macro_definition": "macro", "const_item": "constant", "static_item": "constant",
    "const_spec": "constant", "struct_specifier": "struct", "enum_specifier": "enum", "union_specifier": "union",
    "type_definition": "type", "preproc_def": "macro", "preproc_function_def": "macro", "variable_declarator": "constant",
}  # fmt: skip
IMPORTING = frozenset(
    "import_statement import_declaration import_spec use_declaration preproc_include extern_crate_declaration".split()
)
INSIDE = frozenset(("function", "method"))
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
            lambda at, _: data[at : at + 65536], progress_callback=lambda *_: time.monotonic() > ends
        )
    except ValueError:  # it was given up
        return None
    reader = _Reader(data)
    reader.walk(tree.root_node)
    trouble = {number for number, line in enumerate(document.lines, 1) if number not in reader.prose and TROUBLE.search(line)}
    definitions = [
        one._replace(doc=remark_above(one.line, reader.prose)) for one in sorted(reader.definitions, key=lambda one: one.line)
    ]
    uses = {name: tuple(sorted(lines)) for name, lines in reader.uses.items()}
    return Outline(
        tuple(definitions), uses, frozenset(reader.imports), frozenset(reader.prose), frozenset(trouble), "tree-sitter"
    )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.definitions: list[Definition] = []
        self.uses: dict[str, set[int]] = {}
        self.imports: set[int] = set()
        self.prose: set[int] = set()

    def walk(self, root: Any) -> None:
        """Every node once, without recursion."""
        work: list[tuple[Any, str, bool, int]] = [(root, "", False, -1)]
        while work:
            node, inside, local, named = work.pop()
            kind = node.type
            if "comment" in kind:
                self.prose.update(_rows(node))
                continue
            if kind in IMPORTING or (kind == "export_statement" and node.child_by_field_name("source") is not None):
                self.imports.update(_rows(node))
            if kind == "call_expression" and self.text(node.child(0)) == "require":
                self.imports.update(_rows(node))
            if not node.child_count:
                if kind.endswith("identifier") and node.start_byte != named:
                    self.uses.setdefault(self.text(node), set()).add(node.start_point[0] + 1)
                continue
            what = KINDS.get(kind)
            if kind.endswith("_specifier") and node.child_by_field_name("body") is None:
                what = None  # `struct pot *p` names one, it does not define it
            name = None if what is None or (what == "constant" and local) else _name(node)
            if what is not None and name is not None:
                said, named = self.text(name), name.start_byte
                if what == "constant" and _is_function(node):
                    what = "function"
                rows = _rows(node)
                inside += self._receiver(node)
                if what != "impl":
                    self.definitions.append(Definition(said, inside + said, what, rows[0], rows[-1]))
                inside = f"{inside}{said}."
                local = local or what in INSIDE
            work += [(child, inside, local, named) for child in reversed(node.children)]

    def _receiver(self, node: Any) -> str:
        """`Pot.` of Go's `func (p *Pot) Pour()`."""
        receiver = node.child_by_field_name("receiver")
        found = [] if receiver is None else self.text(receiver).strip("()").replace("*", " ").split()
        return f"{found[-1].partition('[')[0]}." if found else ""

    def text(self, node: Any) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _rows(node: Any) -> range:
    """The lines of a node; one that ends at the beginning of a line does not have that."""
    last = node.end_point[0] + (1 if node.end_point[1] else 0)
    return range(node.start_point[0] + 1, max(last, node.start_point[0] + 1) + 1)


def _name(node: Any) -> Any:
    found = node.child_by_field_name("name") or node.child_by_field_name("declarator") or node.child_by_field_name("type")
    while found is not None and found.child_count and not found.type.endswith("identifier"):
        found = found.child_by_field_name("declarator") or found.child_by_field_name("name") or found.child_by_field_name("type")
    return found if found is not None and found.type.endswith("identifier") else None


def _is_function(node: Any) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type in ("arrow_function", "function_expression", "function")
