"""Questions after who calls, uses, imports or raises a name: asked of the syntax tree, not of words.

Python is read by its own parser. Other languages go by the uses that their outline has (tree-sitter where its
grammar is installed, else words): `how` says which.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from ..explore.code_search import Tree
from ..outline.code_outline import is_code
from ..retrieval.question import written_names

_VERBS = {
    "call": "calls?|callers?|called|invokes?|invoked",
    "use": "uses?|users?|used|references?|referenced|needs?|depends? on",
    "import": "imports?|imported",
    "raise": "raises?|raised|throws?|thrown",
}
KINDS = {"call": "calls", "use": "uses", "import": "imports", "raise": "raises"}
"""The relations that there are, each as a verb."""
_NAME = r"`?(?P<name>[A-Za-z_$][\w$.]*)`?"
_NOUN = r"(?:\s+(?:of|to|on|the|a|an|function|method|class|constant|exception|error))*\s+"
_ASKING = r"^\W*(?:who|what|which|where|list|find|show|all)\b"


class Relation(NamedTuple):
    """What a question asks of a name, `call`, `use`, `import` or `raise`, and the verb that it asks with."""

    kind: str
    name: str
    verb: str = ""


class Reference(NamedTuple):
    """A line that has the name in that relation, the definition around it, and how it was found."""

    path: str
    line: int
    inside: str
    how: str


def asked(question: str) -> Relation | None:
    """The relation that a question asks for.

    >>> [asked(one) for one in ("Who calls `pour`?", "What does `pour` call?")]
    [Relation(kind='call', name='pour', verb='calls'), None]
    """
    names = written_names(question)
    for kind, verbs in _VERBS.items():
        for pattern in (
            rf"{_ASKING}.*\b(?P<verb>{verbs}){_NOUN}{_NAME}",
            rf"{_ASKING}.*\b(?:is|are|gets?)\s+(?:the\s+)?{_NAME}\s+(?P<verb>{verbs})\b",
        ):
            found = re.search(pattern, question.strip(), re.IGNORECASE | re.DOTALL)
            if found is None:
                continue
            name = found["name"].rstrip(".")
            alone = re.fullmatch(rf".*\b(?:{verbs})(?:\s+`?\w+`?)?\W*", question, re.I | re.S)
            if name in names or (alone and not names and len(question.split()) <= 6):
                return Relation(kind, name, found["verb"].lower())
    return None


def find(tree: Tree, relation: Relation) -> list[Reference]:
    """Every place in that relation, by path and line; those in tests too."""
    last = relation.name.rpartition(".")[2]
    out = []
    whole = re.compile(rf"(?<![\w$]){re.escape(last)}(?![\w$])")
    for path in tree.documents:
        if not is_code(path) or whole.search(tree.text(path)[0]) is None:
            continue
        outlined = tree.outline(path)
        if outlined is None:
            continue
        lines = tree.documents[path].lines
        if outlined.how == "ast":
            found = sorted(set(_python("\n".join(lines), relation.kind, last)))
        else:
            found = [
                line
                for line in outlined.uses.get(last, ())
                if _fits(lines[line - 1], relation.kind, last, line in outlined.imports)
            ]
        for line in found:
            around = tree.around(path, line)
            name = around.qualified if around is not None else ""
            out.append(Reference(path, line, name, outlined.how))
    return out


def _python(text: str, kind: str, name: str) -> Iterator[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text.replace("\r", " "))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if kind in ("import", "use"):
                wanted = [alias.lineno for alias in node.names if name in alias.name.split(".")]
                module = getattr(node, "module", None) or ""
                yield from wanted or ([node.lineno] if name in module.split(".") else [])
        elif kind == "call" and isinstance(node, ast.Call):
            if _named(node.func) == name:
                yield node.func.end_lineno or node.lineno
        elif kind == "raise" and isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if _named(raised) == name:
                yield node.lineno
        elif kind == "use" and isinstance(node, (ast.Name, ast.Attribute)) and _named(node) == name:
            yield node.end_lineno or node.lineno


def _named(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _fits(line: str, kind: str, name: str, imported: bool) -> bool:
    if kind == "call":
        return re.search(rf"(?<![\w$]){re.escape(name)}(?:<[^()]*>)?\s*\(", line) is not None
    if kind == "raise":
        return re.search(rf"\b(?:throws?|raise|panic!?)\b.*\b{re.escape(name)}\b", line) is not None
    return imported if kind == "import" else True
