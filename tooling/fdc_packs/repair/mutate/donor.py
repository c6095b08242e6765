"""Edits whose material other places of the file give: statements fitted to the names that are known here, conditions, arguments,
calls, guards (templates as in PAR, Kim and others, 2013; donors as in GenProg, Le Goues and others, 2012)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .known import Known
from .scope import Scope, _name_of
from .source import Edit, Source, simple
from .wraps import wraps

_EMPTY = ("[]", "{}", "None", "0", "False", "set()", "''", "True", "1")
_SIMPLE_VALUES = ("None", "True", "False", "0", "1")
DONORS, CONDITIONS, ARGUMENTS = 160, 16, 48
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


def edits(source: Source, nodes: Sequence[ast.AST], scope: Scope) -> Iterator[Edit]:
    """Every such edit of `nodes`."""
    known = Known(source)
    atoms = list(_atoms(source))
    for node in nodes:
        if any(isinstance(up, ast.JoinedStr | ast.arguments) for up in (node, *known.above(node))):
            continue
        if isinstance(node, ast.Pass):
            yield from _statement(known, scope, node)
        elif isinstance(node, ast.Call):
            yield from _arguments(known, scope, node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield from _conditions(known, scope, node.test, atoms)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _guards(known, node)
        if isinstance(node, ast.Raise) and isinstance(
            node.exc, ast.Constant | ast.Name | ast.BinOp | ast.JoinedStr
        ):
            found = {
                f"{name}({source.segment(node.exc)})": 0.5 - 0.02 * rank
                for rank, name in enumerate(_raised(source))
            }
            yield from _put(source, "wrapped", node.exc, found, len(found))
        if isinstance(
            node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
        ) and known.value(node):
            yield from wraps(known, scope, node)


def _raised(source: Source) -> list[str]:
    """The exceptions that a file raises, the most frequent first, and those that everybody does."""
    named = (one.exc.func.id for one in source.nodes if isinstance(one, ast.Raise)
             and isinstance(one.exc, ast.Call) and isinstance(one.exc.func, ast.Name))  # fmt: skip
    return list(
        dict.fromkeys(
            (
                *(name for name, _ in Counter(named).most_common(6)),
                "ValueError",
                "TypeError",
                "RuntimeError",
            )
        )
    )


def _put(
    source: Source, kind: str, node: ast.AST, found: dict[str, float], most: int
) -> Iterator[Edit]:
    first, last = source.start(node), source.end(node)
    old = source.text[first:last]
    for text in sorted(found, key=lambda one: -found[one])[:most]:
        yield Edit(kind, node, ((first, last, text),), old, text, found[text])


def _statement(known: Known, scope: Scope, node: ast.Pass) -> Iterator[Edit]:
    """What may have stood where `pass` is: what binds a name that is read and never bound, or uses one that nothing uses."""
    source = known.source
    function = source.function(node)
    if function is None:
        return
    found: dict[str, float] = {}
    names = source.names(node)
    plain = [name for name in names if name not in ("self", "cls", "_")]
    missing = scope.unknown(node)
    late = [name for name, line in names.items() if line > node.lineno and name not in missing]
    for name in (*missing, *late):
        firm = 0.8 if name in missing else 0.35
        for rank, text in enumerate(_assigned(known, node, name)):
            found.setdefault(text, firm - 0.01 * rank)
        for value in (*_EMPTY, *plain):
            found.setdefault(f"{name} = {value}", firm * 0.45)
    owner = scope.owner(node)
    if owner is not None and "self" in names:
        _, read, stored = scope.own(owner)
        for name in sorted(read - stored - scope.own(owner)[0]):
            for value in (
                *(one for one in plain if one == name or one == name.lstrip("_")),
                *_EMPTY[:5],
                *plain,
            ):
                found.setdefault(
                    f"self.{name} = {value}", 0.7 if value.strip("_") == name.strip("_") else 0.25
                )
        for name in plain:
            if name in source.unused(node):
                found.setdefault(f"self.{name} = {name}", 0.6)
    if any(
        isinstance(up, ast.For | ast.AsyncFor | ast.While)
        for up in _ancestors(source, node, function)
    ):
        found.setdefault("break", 0.4)
        found.setdefault("continue", 0.4)
    found |= {f"return {name}": 0.6 - 0.02 * rank for rank, name in enumerate(plain[:12])}
    found |= dict.fromkeys(("return True", "return False", "return self"), 0.3)
    found.setdefault("return", 0.2)
    found.setdefault("return None", 0.05)
    for text, prior in _donors(known, scope, node, function):
        if prior > found.get(text, 0.0):
            found[text] = prior
    yield from _put(source, "restored", node, found, 2 * DONORS)


def _ancestors(source: Source, node: ast.AST, end: ast.AST) -> Iterator[ast.AST]:
    at = source.parents.get(node)
    while at is not None and at is not end:
        yield at
        at = source.parents.get(at)


def _assigned(known: Known, node: ast.AST, name: str) -> Iterator[str]:
    """Assignments to a name that stand elsewhere in the file, the nearest first."""
    source = known.source
    every = (one for one in source.nodes if isinstance(one, ast.Assign))
    there = [
        one
        for one in every
        if any(getattr(part, "id", "") == name for to in one.targets for part in ast.walk(to))
    ]
    line = getattr(node, "lineno", 0)
    for one in sorted(there, key=lambda one: abs(one.lineno - line))[:12]:
        text = source.segment(one)
        if "\n" not in text and known.reads(one, node):
            yield text


def _donors(
    known: Known, scope: Scope, node: ast.Pass, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, float]]:
    """Statements of the file, with unknown names exchanged for known ones, and words of their function for those of this."""
    source = known.source
    owner = scope.owner(node)
    bound = source.names(node)
    idle = source.unused(node)
    here = [one.arg for one in function.args.args]
    last = function.body[-1] is node
    made: list[tuple[str, float]] = []
    for one in source.nodes:
        inside = source.function(one) if simple(one) else None
        if inside is None or not isinstance(
            one, ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Delete
        ):
            continue
        text = source.segment(one)
        if (
            "\n" in text
            or len(text) > 120
            or isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Constant)
        ):
            continue
        near = (
            0.45
            if inside is function
            else 0.36
            if owner is not None and scope.owner(one) is owner
            else 0.22
        )
        if isinstance(one, ast.Return) != last and isinstance(one, ast.Return):
            near *= 0.8
        twin = inside is not function and [part.arg for part in inside.args.args] == here
        near += 0.08 if twin and (inside.body[-1] is one) == last else 0.0
        fitted = _fitted(
            known, one, text, node, [part.arg for part in inside.args.args], here, bound
        )
        for said, worth in fitted:
            used = sum(1 for name in idle if re.search(rf"\b{re.escape(name)}\b", said))
            made.append((said, near * worth + 0.1 * min(used, 2)))
        other = _renamed(inside.name, function.name, text)
        if other and known.reads(one, node):
            made.append((other, near + 0.15))
    made.sort(key=lambda row: -row[1])
    yield from (
        (text, prior - 0.0005 * rank) for rank, (text, prior) in enumerate(made[: 2 * DONORS])
    )


def _fitted(
    known: Known,
    one: ast.AST,
    text: str,
    node: ast.AST,
    there: list[str],
    here: list[str],
    bound: dict[str, int],
) -> list[tuple[str, float]]:
    """A donor as it is, where all names are known; else with parameters exchanged by position, or one name by each known."""
    own = known.source.names(node)
    strange = list(dict.fromkeys(
        part.id for part in ast.walk(one) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        and part.id not in own and part.id not in known.everywhere
    ))  # fmt: skip
    if not strange:
        return [(text, 1.0)]
    by_place = {name: here[at] for at, name in enumerate(there) if at < len(here)}
    if all(name in by_place for name in strange):
        return [(_exchanged(text, {name: by_place[name] for name in strange}), 0.9)]
    if len(strange) == 1:
        wanted = [name for name in bound if name not in ("self", "cls", "_")][:6]
        return [(_exchanged(text, {strange[0]: name}), 0.5) for name in wanted]
    return []


def _exchanged(text: str, names: dict[str, str]) -> str:
    return re.sub(r"(?<![\w.\"'])[A-Za-z_]\w*\b", lambda match: names.get(match[0], match[0]), text)


def _renamed(there: str, here: str, text: str) -> str:
    """A statement of a function whose name differs by one word from this one's, with that word exchanged."""
    one, other = _PART.findall(there), _PART.findall(here)
    apart = [(left, right) for left, right in zip(one, other, strict=False) if left != right]
    if len(one) != len(other) or len(apart) != 1 or apart[0][0] not in text:
        return ""
    return text.replace(*apart[0])


def _arguments(known: Known, scope: Scope, node: ast.Call) -> Iterator[Edit]:
    """One more argument, at each place: what other calls of the function have there, a name of the scope, a plain value."""
    source = known.source
    if any(isinstance(one, ast.Starred) for one in node.args):
        return
    found: dict[tuple[int, str], float] = {}
    function = source.segment(node.func)
    passed = {source.segment(one) for one in node.args}
    bound = source.names(node)
    others = [one for one in known.calls.get(function, ()) if one is not node]
    for other in others[:40]:
        extra = 0.45 if len(other.args) > len(node.args) else 0.2
        for at, one in enumerate(other.args[: len(node.args) + 1]):
            text = source.segment(one)
            if (
                "\n" not in text
                and text not in passed
                and known.reads(one, node)
                and not isinstance(one, ast.Starred)
            ):
                found.setdefault((at, text), extra)
    defined = known.defined.get(_name_of(node.func))
    short = 1.0
    if defined is not None:
        method = (
            bool(defined.args.args)
            and defined.args.args[0].arg in ("self", "cls")
            and isinstance(node.func, ast.Attribute)
        )
        wanted = [one.arg for one in defined.args.args][1 if method else 0 :]
        if len(node.args) + len(node.keywords) < len(wanted) - len(defined.args.defaults):
            short = 2.5
        for at, name in enumerate(wanted[: len(node.args) + 1]):
            if name in bound and name not in passed:
                found[at, name] = 0.5
    here = scope.reads(around) if (around := source.function(node)) is not None else Counter[str]()
    values = sorted(
        bound.keys() - passed - {"_"}, key=lambda one: (one in ("self", "cls"), -here[one], one)
    )
    for at in range(len(node.args) + 1):
        for rank, name in enumerate(values[:10]):
            found.setdefault((at, name), 0.16 - 0.008 * rank)
        for value in _SIMPLE_VALUES:
            found.setdefault((at, value), 0.08)
    first, last = source.start(node), source.end(node)
    old = source.text[first:last]
    for (at, text), prior in sorted(found.items(), key=lambda row: -row[1])[:ARGUMENTS]:
        if at < len(node.args):
            start = source.start(node.args[at])
            piece = (start, start, f"{text}, ")
        else:
            behind = source.end(node.func)
            start = (
                source.end(node.args[-1]) if node.args else source.text.index("(", behind, last) + 1
            )
            piece = (
                start,
                start,
                f", {text}" if node.args else f"{text}, " if node.keywords else text,
            )
        yield Edit(
            "added",
            node,
            (piece,),
            old,
            old[: start - first] + piece[2] + old[start - first :],
            min(0.9, prior * short),
        )


def _atoms(source: Source) -> Iterator[tuple[ast.AST, str, set[str]]]:
    """The conditions of a file, with their text and names."""
    within = ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.comprehension
    for one in source.nodes:
        if isinstance(one, ast.Compare | ast.UnaryOp | ast.Call) and isinstance(
            source.parents.get(one), within
        ):
            said = source.segment(one)
            if "\n" not in said and len(said) <= 80:
                yield one, said, {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}


def _conditions(
    known: Known, scope: Scope, test: ast.expr, atoms: list[tuple[ast.AST, str, set[str]]]
) -> Iterator[Edit]:
    """A condition that was one of two: what is asked elsewhere in the file of names that are known here."""
    source = known.source
    text = source.segment(test)
    if "\n" in text or isinstance(test, ast.Lambda):
        return
    function, owner = source.function(test), scope.owner(test)
    read = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    found: dict[str, float] = {}
    bound = source.names(test)
    for one, said, named in atoms:
        if said in text or not all(name in bound or name in known.everywhere for name in named):
            continue
        near = source.function(one)
        prior = (
            0.2
            if near is function
            else 0.14
            if owner is not None and scope.owner(one) is owner
            else 0.1
        )
        prior += 0.04 if read & named else 0.0
        found[said] = max(prior, found.get(said, 0.0))
    for name in source.names(test):
        if name not in ("self", "cls", "_"):
            found.setdefault(f"{name} is not None", 0.09)
            found.setdefault(f"{name} is None", 0.09)
            found.setdefault(name, 0.12 if name not in read else 0.05)
            found.setdefault(f"not {name}", 0.1 if name not in read else 0.05)
    whole = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp) else text
    place = (source.start(test), source.end(test))
    for said in sorted(found, key=lambda one: -found[one])[:CONDITIONS]:
        for word in ("and", "or"):
            yield Edit(
                "narrowed",
                test,
                ((*place, f"{whole} {word} {said}"),),
                text,
                f"{whole} {word} {said}",
                found[said],
            )
            yield Edit(
                "narrowed",
                test,
                ((*place, f"{said} {word} {whole}"),),
                text,
                f"{said} {word} {whole}",
                0.6 * found[said],
            )


def _guards(known: Known, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """A function that begins with a question: `if x is None: return`, as others of the file do."""
    source = known.source
    documented = len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None
    first = node.body[1] if documented else node.body[0]
    line = source.start(first)
    indent = source.text[source.text.rfind("\n", 0, line) + 1 : line]
    if indent.strip():
        return
    end = "\r\n" if "\r\n" in source.text else "\n"
    names = [one.arg for one in node.args.args if one.arg not in ("self", "cls")][:4]
    guards = {
        f"if {name} is None: return {value}": 0.06 for name in names for value in ("None", name)
    }
    guards |= {f"if not {name}: return {name}": 0.06 for name in names}
    for text, prior in guards.items():
        yield Edit("base", first, ((line, line, f"{text}{end}{indent}"),), "", text, prior)
