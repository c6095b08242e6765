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
from .kept_names import calls_through, keepers, last_name

_VERBS = {
    "call": "calls?|callers?|called|invokes?|invoked",
    "use": "uses?|users?|used|usages?|references?|referenced|needs?|depends? on",
    "import": "imports?|importers?|imported",
    "raise": "raises?|raised|throws?|thrown",
}
KINDS = {"call": "calls", "use": "uses", "import": "imports", "raise": "raises"}
"""The relations that there are, each as a verb."""
_NAME = r"`?(?P<name>[A-Za-z_$][\w$.]*)`?"
_NOUN = r"(?:\s+(?:of|to|on|the|a|an|function|method|class|constant|exception|error))*\s+"
_ANYWHERE = r"(?:\s+(?:anywhere|ever|here|at all|(?:by|from|in)\s+\S+))?"
_ASKING = (
    r"^\W*(?=(?:who|what|which|where|list|find|show|give|all|(?:does|do|is|are) any\w*|"
    r"(?:callers?|calls|users?|uses|usages?|references?|importers?|imports)\s+(?:of|to))\b)"
)


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
    through: str = ""
    """The container that keeps what is called, where it is not called by its own name."""


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
            rf"^\W*(?:is|are)\s+{_NAME}\s+(?:ever\s+|still\s+)?(?P<verb>{verbs}){_ANYWHERE}\W*$",
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
    """Every place in that relation, by path and line; those in tests too. What a list or a dictionary keeps is called where
    that is called (Python)."""
    path, _, last = relation.name.rpartition(".")
    if relation.kind == "import" and path and is_code(relation.name):  # `kettle.js`
        last = path.rpartition(".")[2]
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
        elif relation.kind == "import":  # the module may stand in a text: `require("./kettle")`
            found = [line for line in sorted(outlined.imports) if whole.search(lines[line - 1])]
        else:
            found = [
                line
                for line in outlined.uses.get(last, ())
                if _fits(lines[line - 1], relation.kind, last)
                and (last, line) not in outlined.declared
            ]
        for line in found:
            around = tree.around(path, line)
            name = around.qualified if around is not None else ""
            out.append(Reference(path, line, name, outlined.how))
    if relation.kind == "call":
        have = {(one.path, one.line) for one in out}
        out += [one for one in _through(tree, last) if (one.path, one.line) not in have]
    return sorted(out, key=lambda one: (one.path, one.line))


def _through(tree: Tree, name: str) -> Iterator[Reference]:
    """The calls by way of containers that keep the function of that name, in its files and where these are imported."""
    own = dict(_parsed(tree, [name]))
    kept = {path: keepers(parsed, name) for path, parsed in own.items()}
    shared = [one for found in kept.values() for one in found]
    for path, parsed in _parsed(tree, [one.name for one in shared]):
        here = calls_through(own.get(path, parsed), kept.get(path, []), True)
        for line, container in sorted({*here, *calls_through(parsed, shared, False)}):
            around = tree.around(path, line)
            inside = around.qualified if around is not None else ""
            yield Reference(path, line, inside, "ast", container)


def _parsed(tree: Tree, names: list[str]) -> Iterator[tuple[str, ast.Module]]:
    """The Python files that have one of the names, parsed."""
    whole = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)") if names else None
    for path in tree.documents if whole is not None else ():
        if (
            path.endswith((".py", ".pyi"))
            and whole is not None
            and whole.search(tree.text(path)[0])
        ):
            outlined = tree.outline(path)
            if outlined is not None and outlined.how == "ast":
                yield path, _tree("\n".join(tree.documents[path].lines))


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.replace("\r", " "))


def _python(text: str, kind: str, name: str) -> Iterator[int]:
    tree = _tree(text)
    if kind == "raise":
        yield from _raised_again(tree, name)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if kind in ("import", "use"):
                wanted = [alias.lineno for alias in node.names if name in alias.name.split(".")]
                module = getattr(node, "module", None) or ""
                yield from wanted or ([node.lineno] if name in module.split(".") else [])
        elif kind == "call" and isinstance(node, ast.Call):
            if last_name(node.func) == name:
                yield node.func.end_lineno or node.lineno
        elif kind == "raise" and isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if last_name(raised) == name:
                yield node.lineno
        elif (
            kind == "use"
            and isinstance(node, (ast.Name, ast.Attribute))
            and last_name(node) == name
        ):
            yield node.end_lineno or node.lineno


def _raised_again(tree: ast.Module, name: str) -> Iterator[int]:
    """Where a handler of that exception raises what it caught: `except NAME: raise`."""
    for handler in ast.walk(tree):
        if not isinstance(handler, ast.ExceptHandler):
            continue
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        work: list[ast.AST] = (
            list(handler.body) if any(last_name(one) == name for one in caught) else []
        )
        while work:
            node = work.pop()
            again = isinstance(node, ast.Raise) and (
                node.exc is None
                or (handler.name is not None and last_name(node.exc) == handler.name)
            )
            if again and isinstance(node, ast.Raise):
                yield node.lineno
            if not isinstance(
                node, (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
            ):
                work += ast.iter_child_nodes(node)


def _fits(line: str, kind: str, name: str) -> bool:
    if kind == "call":
        return re.search(rf"(?<![\w$]){re.escape(name)}(?:<[^()]*>)?\s*\(", line) is not None
    if kind == "raise":
        return re.search(rf"\b(?:throws?|raise|panic!?)\b.*\b{re.escape(name)}\b", line) is not None
    return True
