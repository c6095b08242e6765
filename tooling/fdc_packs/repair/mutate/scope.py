"""Edits that put another name, member, function, number or word in a place: one that the scope, the class, the imports or the
rest of the file know. What a file does elsewhere is likelier than what it does nowhere (Hindle and others, 2012)."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from .kinds import PEERS
from .source import Edit, Source

MOST = 24
"""Names, members or functions that are tried in one place."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_CALLABLE = (
    "len list tuple set dict str int float bool iter next range sorted reversed enumerate zip map filter min max sum any all abs"
    " isinstance hasattr getattr type repr divmod round"
).split()
_TYPES = (str, bytes, list, dict, set, tuple, int, re.Pattern, re.Match)
_BUILTINS = frozenset(dir(builtins))
_OWN = ("self", "cls")


class Scope:
    """What a file knows, counted once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.members: dict[str, Counter[str]] = {}
        self.with_member: dict[str, set[str]] = {}
        self.called: Counter[str] = Counter()
        self.methods_called: set[str] = set()
        self.numbers: Counter[int] = Counter()
        self.words: set[str] = set()
        self.top: set[str] = set()
        self.read: dict[ast.AST, Counter[str]] = {}
        self.classes = [one.name for one in source.nodes if isinstance(one, ast.ClassDef)]
        self._members: dict[ast.ClassDef, tuple[set[str], set[str], set[str]]] = {}
        for node in source.nodes:
            self._count(node)
        for name in ast.iter_child_nodes(source.tree):
            self.top |= {
                one.id
                for one in ast.walk(name)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            }

    def _count(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            base = self.source.segment(node.value)
            self.members.setdefault(base, Counter())[node.attr] += 1
            self.words.add(node.attr)
            if isinstance(node.value, ast.Name):
                self.with_member.setdefault(node.attr, set()).add(node.value.id)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                self.called[node.func.id] += 1
            elif isinstance(node.func, ast.Attribute):
                self.methods_called.add(node.func.attr)
        elif isinstance(node, ast.Constant):
            if type(node.value) is int:
                self.numbers[node.value] += 1
            elif isinstance(node.value, str) and len(node.value) < 400:
                self.words.update(_WORD.findall(node.value))
        elif isinstance(node, ast.Name):
            self.words.add(node.id)
        elif isinstance(node, ast.arg):
            self.words.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.top |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.words.add(node.name)
            if isinstance(self.source.parents.get(node), ast.Module | ast.If | ast.Try):
                self.top.add(node.name)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class that a node is in."""
        at = self.source.parents.get(node)
        while at is not None and not isinstance(at, ast.ClassDef):
            at = self.source.parents.get(at)
        return at

    def own(self, owner: ast.ClassDef) -> tuple[set[str], set[str], set[str]]:
        """A class's methods, and the members of `self` that it reads and that it stores."""
        if owner not in self._members:
            methods = {
                one.name
                for one in owner.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            stored = {one.id for part in owner.body for one in ast.walk(part) if isinstance(part, ast.Assign | ast.AnnAssign)
                      and isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}  # fmt: skip
            read: set[str] = set()
            for one in ast.walk(owner):
                if (
                    isinstance(one, ast.Attribute)
                    and isinstance(one.value, ast.Name)
                    and one.value.id in _OWN
                ):
                    (read if isinstance(one.ctx, ast.Load) else stored).add(one.attr)
            self._members[owner] = methods, read, stored
        return self._members[owner]

    def reads(self, function: ast.AST) -> Counter[str]:
        """The names that a function reads, and how often."""
        if function not in self.read:
            self.read[function] = Counter(
                one.id
                for one in ast.walk(function)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
            )
        return self.read[function]

    def unknown(self, node: ast.AST) -> list[str]:
        """Names that the function around a node reads, and that nothing binds."""
        function = self.source.function(node)
        if function is None:
            return []
        inside = {name for one in ast.walk(function) for name in _bound(one)}
        around = self.source.names(node)
        return [one for one in self.reads(function)
                if one not in inside and one not in around and one not in self.top and one not in _BUILTINS]  # fmt: skip


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler
    ):
        yield node.name or ""
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def edits(source: Source, nodes: Sequence[ast.AST], scope: Scope) -> Iterator[Edit]:
    """Every such edit of the expressions among `nodes`."""
    for node in nodes:
        if any(isinstance(up, ast.JoinedStr) for up in _above(source, node)):
            continue
        if isinstance(node, ast.Name):
            called = isinstance(up := source.parents.get(node), ast.Call) and up.func is node
            if called:
                yield from _weighed(source, "callee", node, _functions(scope, node))
            elif isinstance(node.ctx, ast.Load):
                yield from _weighed(source, "name", node, _names(scope, node))
            else:
                yield from _weighed(source, "name", node, _targets(scope, node))
        elif isinstance(node, ast.Attribute):
            yield from _members(scope, node)
        elif isinstance(node, ast.Constant):
            yield from _constants(scope, node)


def _above(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        yield at
        at = source.parents.get(at)


def _weighed(
    source: Source, kind: str, node: ast.AST, found: dict[str, float], most: int = MOST
) -> Iterator[Edit]:
    first, last = source.start(node), source.end(node)
    old = source.text[first:last]
    for text in sorted((one for one in found if one != old), key=lambda one: -found[one])[:most]:
        yield Edit(kind, node, ((first, last, text),), old, text, found[text])


def _raise(found: dict[str, float], name: str, prior: float) -> None:
    found[name] = max(prior, found.get(name, 0.0))


def _names(scope: Scope, node: ast.Name) -> dict[str, float]:  # noqa: C901
    """Another name where one is read: of the function, of the module, with the member that is asked for."""
    source, found = scope.source, dict[str, float]()
    function, parent = source.function(node), source.parents.get(node)
    if function is None:
        return found
    bound, read = source.names(node), scope.reads(function)
    lost = node.id not in bound and node.id not in scope.top and node.id not in _BUILTINS
    firm = 1.6 if lost else 1.0
    for name, line in bound.items():
        if line <= node.lineno and name != "_":
            _raise(found, name, (0.2 if name not in _OWN else 0.12) * firm)
            if lost:
                _raise(found, name, 0.6 * SequenceMatcher(None, node.id, name).ratio())
    for name in read:
        if name in scope.top or name in scope.classes:
            _raise(found, name, 0.14 * firm)
    if isinstance(parent, ast.Attribute):
        for name in scope.with_member.get(parent.attr, ()):
            if name in bound or name in scope.top:
                _raise(found, name, 0.4 * firm)
        owner = scope.owner(node)
        if (
            owner is not None
            and "self" in bound
            and any(parent.attr in names for names in scope.own(owner))
        ):
            _raise(found, "self", 0.4 * firm)
    if isinstance(parent, ast.ExceptHandler):
        for name in (
            "StopIteration",
            "KeyError",
            "ValueError",
            "TypeError",
            "AttributeError",
            "IndexError",
        ):
            _raise(found, name, 0.3 * firm)
    if (
        isinstance(parent, ast.Call)
        and node in parent.args[1:2]
        and _name_of(parent.func) == "isinstance"
    ):
        for name in (*scope.classes, "str", "int", "list", "dict", "tuple", "bytes", "float"):
            _raise(found, name, 0.12)
    for name in scope.top:
        alike = (
            SequenceMatcher(None, node.id, name).ratio() if name[:1] == node.id[:1] or lost else 0.0
        )
        if alike > 0.6:
            _raise(found, name, 0.25 * alike)
        elif name.isupper() and (lost or node.id.isupper()):
            _raise(found, name, 0.1)
    return found


def _name_of(node: ast.AST) -> str:
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def _targets(scope: Scope, node: ast.Name) -> dict[str, float]:
    """Another name where one is bound: one that is read and never bound, above all."""
    source, found = scope.source, dict[str, float]()
    for name in scope.unknown(node):
        found[name] = 0.8
    bound = source.names(node)
    odd = (
        node.id in source.unused(node)
        or node.id in _OWN
        or bound.get(node.id, node.lineno) < node.lineno
    )
    for name in bound:
        if name not in _OWN and name != "_":
            _raise(found, name, 0.2 if odd else 0.05)
    return found


def _functions(scope: Scope, node: ast.Name) -> dict[str, float]:
    """Another function where one is called: what this function, this file or everybody calls."""
    source, found = scope.source, dict[str, float]()
    function = source.function(node)
    lost = (
        node.id not in scope.top and node.id not in _BUILTINS and node.id not in source.names(node)
    )
    for name in PEERS.get(node.id, ()):
        _raise(found, name, 0.3)
    for name in _CALLABLE:
        _raise(found, name, 0.09 if name not in scope.called else 0.13)
    for name, count in scope.called.most_common(2 * MOST):
        _raise(found, name, 0.12 + min(count, 10) * 0.003)
    near = (
        {_name_of(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
        if function is not None
        else set()
    )
    for name in (*source.names(node), *near):
        if name in scope.called or name in source.unused(node):
            _raise(found, name, 0.25)
    for name in scope.top:
        alike = (
            SequenceMatcher(None, node.id, name).ratio() if lost or name[:1] == node.id[:1] else 0.0
        )
        if alike > 0.6:
            _raise(found, name, 0.3 * alike)
    return {name: prior * (1.5 if lost else 1.0) for name, prior in found.items() if name}


def _members(scope: Scope, node: ast.Attribute) -> Iterator[Edit]:  # noqa: C901
    """Another member: of the same owner elsewhere, of the class, the method's own name, of a built-in type that has this one."""
    source, found = scope.source, dict[str, float]()
    last = source.end(node)
    first = last - len(node.attr)
    if source.text[first:last] != node.attr:
        return
    called = isinstance(up := source.parents.get(node), ast.Call) and up.func is node
    base = source.segment(node.value)
    function, owner = source.function(node), scope.owner(node)
    for name, count in scope.members.get(base, Counter()).items():
        fits = (name in scope.methods_called) == called
        _raise(found, name, (0.3 if fits else 0.12) + min(count, 5) * 0.01)
    if isinstance(node.value, ast.Name) and node.value.id in _OWN and owner is not None:
        methods, read, stored = scope.own(owner)
        for name in methods | read | stored:
            fits = name in methods if called else name not in methods
            _raise(found, name, 0.28 if fits else 0.1)
        if not isinstance(node.ctx, ast.Load):
            for name in read - stored - methods:
                _raise(found, name, 0.8)
        elif node.attr not in methods | stored:
            found = {name: prior * 1.5 for name, prior in found.items()}
    if function is not None:
        if base.startswith("super()") or (
            function.name.startswith("__") and node.attr.startswith("__")
        ):
            _raise(found, function.name, 0.7)
        for one in ast.walk(function):
            if isinstance(one, ast.Attribute):
                _raise(
                    found, one.attr, 0.16 if (one.attr in scope.methods_called) == called else 0.06
                )
    for name in PEERS.get(node.attr, ()):
        _raise(found, name, 0.35)
    if called:
        for kind in _TYPES:
            if hasattr(kind, node.attr):
                for name in dir(kind):
                    if not name.startswith("_"):
                        _raise(found, name, 0.12 if name in scope.methods_called else 0.04)
        for name in scope.methods_called:
            _raise(found, name, 0.07)
    old = source.segment(node)
    names = sorted((one for one in found if one != node.attr), key=lambda one: -found[one])
    for name in names[: 2 * MOST]:
        yield Edit(
            "attribute",
            node,
            ((first, last, name),),
            old,
            old[: len(old) - len(node.attr)] + name,
            found[name],
        )


def _constants(scope: Scope, node: ast.Constant) -> Iterator[Edit]:
    source = scope.source
    if isinstance(source.parents.get(node), ast.Expr):
        return
    text = source.segment(node)
    if type(node.value) is int and text.isdigit():
        others = {
            str(one): 0.14 + min(count, 10) * 0.004
            for one, count in scope.numbers.items()
            if 0 <= one < 10**6
        }
        yield from _weighed(source, "constant", node, others, MOST // 2)
    elif (
        isinstance(node.value, str)
        and text[:1] in "'\""
        and "\\" not in text
        and node.value.isprintable()
    ):
        found: dict[str, float] = {}
        for match in _WORD.finditer(node.value):
            if node.value.count(match[0]) == 1:
                for word, alike in _like(scope, match[0]):
                    found[text.replace(match[0], word)] = 0.4 * alike
        for other in (node.value.strip(), node.value.swapcase()):
            if other and other != node.value:
                found[f"{text[0]}{other}{text[0]}"] = 0.35
        yield from _weighed(source, "constant", node, found, 6)


def _like(scope: Scope, word: str) -> list[tuple[str, float]]:
    """Words of the file that are as if misspelt, the nearest first."""
    if len(word) < 4:
        return []
    ends = {word[0], word[-1]}
    near = [
        one
        for one in scope.words
        if abs(len(one) - len(word)) <= 1 and one != word and {one[0], one[-1]} & ends
    ]
    rated = sorted(((SequenceMatcher(None, word, one).ratio(), one) for one in near), reverse=True)
    return [(one, ratio) for ratio, one in rated[:3] if ratio > 0.8]
