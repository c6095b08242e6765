"""The members of Python's own types and modules, and whether they can be called as a call does."""

from __future__ import annotations

import ast
import collections
import datetime
import decimal
import fractions
import functools
import inspect
import itertools
import math
import pathlib
import re
import statistics
import string
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..known import Known
from ..values import Found

FITS = 0.6
"""What a member of a module is worth that takes what a call gives, where the one that is called does not."""
LACKED = 0.3
"""What a member of a type is worth that the error says, where the one that is asked for is none."""
MISFIT = 0.2
"""What another method is worth that does not take it either."""
_STANDARD = sys.stdlib_module_names
_TYPES = (str, bytes, list, dict, set, tuple, int, re.Pattern, re.Match)
_NAMED: dict[str, type] = {one.__name__: one for one in _TYPES}
_NO_MEMBER = re.compile(r"AttributeError: '(?:\w+\.)*(\w+)' object has no attribute '(\w+)'")
LOADED = (collections, datetime, decimal, fractions, itertools, math, pathlib, statistics, string)
"""Modules that are loaded here, so that it is known what they have."""


def lacked(known: Known, node: ast.Attribute, call: ast.Call | None) -> Iterator[tuple[str, float]]:
    """The members of the type that has none by this name, as the error says: those that take what the call gives."""
    told = _NO_MEMBER.search(known.message)
    if told is None or told[2] != node.attr:
        return
    kind = _NAMED.get(told[1]) or object_of(known, told[1])
    if not isinstance(kind, type):
        return
    for other in (one for one in dir(kind) if one[0] != "_" or node.attr[0] == "_"):
        fits = call is None or takes(kind, other, call, bound=True) is not False
        if fits or told[1] in _NAMED:
            often = other in known.methods_called
            plain = other[:2] != "__" or often  # hardly anybody calls those of Python itself
            yield other, LACKED * (1.0 if plain else MISFIT) + 0.05 * often


def made_with(known: Known, node: ast.expr) -> list[str]:
    """The built-in types that have the member which a value has not, as the error says: of what is stored in a name that is
    asked for it, or returned."""
    told, up = _NO_MEMBER.search(known.message), known.parents.get(node)
    stored = isinstance(up, ast.Assign) and any(
        told is not None and told[2] in known.members.get(known.segment(one), ())
        for one in up.targets
    )
    if told is None or not (stored or isinstance(up, ast.Return)):
        return []
    return [
        one.__name__ for one in (set, list, dict, str, bytes) if hasattr(one, told[2]) and one.__name__ != told[1]
    ]  # fmt: skip


def of_types(known: Known, node: ast.Attribute, call: ast.Call) -> Iterator[tuple[str, float]]:
    """The methods of the built-in types that have this one, where they take what the call gives: those that share a word with it
    (`difference_update`, `update`), then those that the file calls, and what answers a question where one is asked. All come
    early where this one does not take it. Where the error says of which type the value is, only those of that type."""
    asked, words = known.is_asked(call), set(node.attr.split("_"))
    said = _said(known, node)
    kinds = [said] if said is not None else [one for one in _TYPES if hasattr(one, node.attr)]
    least = LACKED if _never(said, node.attr, call) else 0.04
    for other in dict.fromkeys(name for kind in kinds for name in dir(kind) if name[0] != "_"):
        fits = (takes(kind, other, call, bound=True) for kind in kinds if hasattr(kind, other))
        if False not in fits:
            answers = asked and other.startswith("is")
            near = 0.3 if words & set(other.split("_")) else 0.0
            often = answers or other in known.methods_called
            yield other, max(near, least, 0.12 if often else 0.0)


def _said(known: Known, node: ast.Attribute) -> type | None:
    """The built-in type of a value that has no such member, as the error says."""
    told = _NO_MEMBER.search(known.message)
    return _NAMED.get(told[1]) if told is not None and told[2] == node.attr else None


def _never(kind: type | None, name: str, call: ast.Call) -> bool:
    """True for the name of a method that, of the type, or of no built-in type which has it, can be called as a call does."""
    if kind is not None:
        return takes(kind, name, call, bound=True) is False
    fits = {takes(one, name, call, bound=True) for one in _TYPES if hasattr(one, name)}
    return False in fits and True not in fits


def public(known: Known, node: ast.expr) -> list[str]:
    """The public members of what a dotted name of the standard library stands for, where it is loaded here."""
    return members_of(known, known.segment(node))


def members_of(known: Known, dotted: str) -> list[str]:
    """The same of the dotted name as it is written."""
    found = object_of(known, dotted)
    return [one for one in dir(found) if one[0] != "_"] if found is not None else []


def object_of(known: Known, dotted: str) -> object | None:
    """What a dotted name of the standard library stands for, where it is loaded here."""
    first, *rest = dotted.split(".")
    module, _, member = known.imported.get(first, "").partition(":")
    found: Any = sys.modules.get(module) if module.partition(".")[0] in _STANDARD else None
    for part in (member, *rest) if member else rest:
        found = getattr(found, part, None)
    return found


def fitted(known: Known, node: ast.Attribute, call: ast.Call, found: Found) -> Found:
    """Of the members of a module or class that is known: those that take what the call gives, and where this one does not,
    these are likely. What is no member of it, or cannot be called so, is left out, and errors but behind `raise`."""
    there = object_of(known, known.segment(node.value))
    if not isinstance(there, ModuleType | type):
        said = _said(known, node)
        wrong = _never(said, node.attr, call)
        return Found(
            {
                name: prior * (MISFIT if wrong and _never(said, name, call) else 1.0)
                for name, prior in found.items()
            }
        )
    wrong = takes(there, node.attr, call) is False
    raised = isinstance(known.parents.get(call), ast.Raise)
    kind = isinstance(getattr(there, node.attr, None), type)
    kept = Found()
    for other, prior in found.items():
        member = getattr(there, other, None)
        error = isinstance(member, type) and issubclass(member, BaseException)
        fits = takes(there, other, call) if raised or not error else False
        likely = fits and wrong and isinstance(member, type) == kind  # a function for a function
        if fits is not False:
            kept.raise_to(other, max(prior, FITS) if likely else prior)
    return kept


def takes(there: ModuleType | type, name: str, call: ast.Call, bound: bool = False) -> bool | None:
    """Whether a member can be called as a call does; None where that is not known. `bound`: of an object of the type."""
    member = vars(there).get(name) if isinstance(there, ModuleType) else getattr(there, name, None)
    if not callable(member):
        return False
    named = {one.arg: one for one in call.keywords if one.arg is not None}
    if len(named) < len(call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    signature = _signature(member)
    if signature is None:  # it is not written in Python; its text may say that it takes nothing
        bare = bound and re.match(rf"\w+\.{name}\(\)", getattr(member, "__doc__", None) or "")
        return False if bare and (call.args or call.keywords) else None
    own = (None,) if bound and not isinstance(vars(there).get(name), classmethod | staticmethod) else ()  # fmt: skip
    try:
        signature.bind(*own, *call.args, **named)
    except TypeError:
        return False
    return True


@functools.lru_cache(maxsize=1024)
def _signature(member: Callable[..., object]) -> inspect.Signature | None:
    try:
        return inspect.signature(member)
    except (TypeError, ValueError):
        return None
