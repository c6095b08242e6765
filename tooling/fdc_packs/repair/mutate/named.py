"""Edits of what an error names: a misspelt import, definition or encoding, a lost import or `self`, a word of another language.

They are few, and whatever ran the line: the error says what is missing.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

from .known import BUILTINS, Known
from .source import OWN, Edit, Function

_LOST = re.compile(r"NameError: (?:global )?name '(\w+)' is not defined")
_COMMON = (
    "re os sys math json time random itertools functools collections typing datetime pathlib decimal string"
).split()


_NO_MODULE = re.compile(r"(?:ModuleNotFound|Import)Error: No module named '([\w.]+)'")
_NO_MEMBER = re.compile(r"ImportError: cannot import name '(\w+)' from '([\w.]+)'")
_NO_NAME = re.compile(
    r"ImportError: cannot import name '(\w+)'|AttributeError: .*has no attribute '(\w+)'"
    r"|NameError: (?:global )?name '(\w+)' is not defined"
)
_NO_SELF = re.compile(r"TypeError: (?:\w+\.)*(\w+)\(\) takes (?:from )?\d.* positional argument")
_NOT_YET = re.compile(r"UnboundLocalError: (?:cannot access local variable|local variable) '(\w+)'")
_NO_CODEC = re.compile(r"LookupError: unknown (error handler name '|encoding: )([^'\s]+)")
_CODECS = {
    "error handler name '": frozenset(
        "strict ignore replace xmlcharrefreplace backslashreplace namereplace surrogateescape surrogatepass".split()
    ),
    "encoding: ": frozenset(
        "ascii utf-8 utf-8-sig utf-16 utf-32 latin-1 iso-8859-1 cp1252 idna punycode".split()
    ),
}
"""What a text may be that names how to handle errors of an encoding, or an encoding."""
_FOREIGN = {"null": "None", "nil": "None", "none": "None", "undefined": "None", "true": "True", "false": "False"}  # fmt: skip
NEAR = 0.66
"""How alike two words are, at least, where one is the other misspelt."""
ERRORS = ("NameError", "ImportError", "ModuleNotFoundError")
"""Errors for which the other files are asked what they import and define."""


def edits(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """All of these."""
    for operator in _OPERATORS:
        yield from operator(known, message, others)


def lost(source: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """The import of the name that an error misses: as another file has it, or from the standard library."""
    found = _LOST.search(message)
    body = [one for one in getattr(source.tree, "body", ()) if not isinstance(one, ast.Expr)]
    if found is None or not body:
        return
    name = found[1]
    texts: dict[str, float] = {}
    whole = re.compile(
        rf"^(?:from [\w.]+ )?import (?:[\w., ]+, *)?(?:\w+ as )?{name}\b.*$", re.MULTILINE
    )
    for text in others.values():
        for match in whole.finditer(text):
            if not match[0].rstrip().endswith(("(", "\\")):
                texts.setdefault(match[0].strip(), 0.8)
    if name in sys.stdlib_module_names:
        texts.setdefault(f"import {name}", 0.9)
    for module in _COMMON:
        if hasattr(importlib.import_module(module), name):
            texts.setdefault(f"from {module} import {name}", 0.5)
    first = next((one for one in body if not _future(one)), body[-1])
    place = source.start(first)
    for text, prior in texts.items():
        yield Edit("import", first, ((place, place, f"{text}\n"),), "", text, prior)


def imported(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """A module, or what is imported from it, as it is spelt."""
    module, member = _NO_MODULE.search(message), _NO_MEMBER.search(message)
    own = {path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2] for path in others}
    modules, odd = {*sys.stdlib_module_names, *own}, module[1].rpartition(".")[2] if module else ""
    used = {one.id for one in known.nodes if isinstance(one, ast.Name)}
    for node in known.nodes if module or member else ():
        of = node.module if isinstance(node, ast.ImportFrom) else None
        if of is not None and odd in of.split("."):
            start = known.text.index(of, known.start(node) + len("from "))
            for name in _close(odd, modules):
                text = re.sub(rf"\b{odd}\b", name, of)
                yield Edit("name", node, ((start, start + len(of), text),), of, text, 0.9)
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            names = modules if of is None and alias.name == odd else set()
            if member is not None and of is not None and alias.name == member[1]:
                names = _members(member[2], others)
            for name in _close(alias.name, names):
                start = known.start(alias)
                text = name if alias.asname or name in used else f"{name} as {alias.name}"
                piece = (start, start + len(alias.name), text)
                yield Edit("name", node, (piece,), alias.name, text, 0.9)


def defined(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """A function or class by the name that is asked for and that nothing defines."""
    found = _NO_NAME.search(message)
    name = next((one for one in found.groups() if one), "") if found else ""
    there = [one for one in known.nodes if isinstance(one, Function | ast.ClassDef)]
    for node in there if name and all(one.name != name for one in there) else ():
        if _close(name, {node.name}):
            start = known.text.index(node.name, known.text.index(" ", known.start(node)))
            if isinstance(node, ast.AsyncFunctionDef):
                start = known.text.index(node.name, known.text.index("def", known.start(node)) + 3)
            yield Edit("name", node, ((start, start + len(node.name), name),), node.name, name, 0.9)


def foreign(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """A name that nothing binds, where it is one of another language or misspelt: outside of functions, too."""
    found = _LOST.search(message)
    near = _close(found[1], known.everywhere | BUILTINS) if found else []
    if found is not None and found[1] in _FOREIGN:
        near.insert(0, _FOREIGN[found[1]])
    for node in known.nodes if near else ():
        if isinstance(node, ast.Name) and found is not None and node.id == found[1]:
            for rank, name in enumerate(near):
                yield known.change("name", node, name, 0.9 - 0.1 * rank)


def own(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """The first parameter of a method that is called with one argument more than it takes."""
    found = _NO_SELF.search(message)
    for node in known.nodes if found is not None else ():
        if not (isinstance(node, Function) and found and node.name == found[1]):
            continue
        named = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        if isinstance(known.parents.get(node), ast.ClassDef) and named[:1] not in ([OWN[0]], [OWN[1]]):  # fmt: skip
            start = known.text.index("(", known.start(node)) + 1
            rest = ", " if known.text[start : start + 1] != ")" else ""
            yield Edit("name", node, ((start, start, f"self{rest}"),), "", f"self{rest}", 0.9)


def spelled(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """A text that names no encoding, or no way to handle its errors, as the nearest one is spelled."""
    found = _NO_CODEC.search(message)
    for node in known.nodes if found is not None else ():
        if found and isinstance(node, ast.Constant) and node.value == found[2]:
            for rank, name in enumerate(_close(found[2], _CODECS[found[1]])):
                text = known.segment(node).replace(found[2], name)
                yield known.change("constant", node, text, 0.9 - 0.1 * rank)


def bound(known: Known, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """What a function binds by mistake, so that an outer name is not known above: a name that is read there and never bound."""
    found = _NOT_YET.search(message)
    for node in known.nodes if found is not None else ():
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and found is not None
            and node.id == found[1]
        ):
            for rank, name in enumerate(known.unknown(node)):
                yield known.change("name", node, name, 0.9 - 0.1 * min(rank, 8))


_OPERATORS: tuple[Callable[[Known, str, Mapping[str, str]], Iterator[Edit]], ...] = (
    lost, imported, defined, foreign, own, spelled, bound,
)  # fmt: skip


def _close(word: str, names: set[str] | frozenset[str]) -> list[str]:
    return [one for one in get_close_matches(word, names, 3, NEAR) if one != word]


def _members(module: str, others: Mapping[str, str]) -> set[str]:
    """What can be imported from a module: of the standard library, or of a file of the workspace."""
    if module in _COMMON:  # of what is not loaded nothing is known: an import runs code
        return set(dir(importlib.import_module(module)))
    if module.partition(".")[0] in sys.stdlib_module_names:
        return set(dir(sys.modules.get(module)))
    end = module.replace(".", "/")
    texts = [text for path, text in others.items() if path.endswith((f"{end}.py", f"{end}/__init__.py"))]  # fmt: skip
    return {name for text in texts for name in _TOP.findall(text)}


_TOP = re.compile(r"^(?:(?:async )?def |class )?(\w+)(?= *[=(:])", re.MULTILINE)


def _future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
