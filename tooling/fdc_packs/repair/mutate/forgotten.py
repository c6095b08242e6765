"""Operators for what was forgotten, made of what other places of the file have: statements, conditions, arguments, calls.

Templates are as in PAR (Kim and others, 2013), donors as in GenProg (Le Goues and others, 2012).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .known import Known
from .source import OWN, Edit, Function, Loop, name_of, simple
from .statements import put_before
from .values import Row
from .words import Found

DONORS, CONDITIONS, ARGUMENTS, INSERTED = 160, 16, 48, 24
_EMPTY = ("[]", "{}", "None", "0", "False", "set()", "''", "True", "1")
_SIMPLE_VALUES = ("None", "True", "False", "0", "1")
_WRAPS = "list tuple sorted set str int len iter dict reversed bool next sum max min abs".split()
_ITERATED = "range enumerate reversed sorted list iter set zip".split()
_BARE = "groups groupdict group lower upper strip items keys values copy split encode decode pop popitem".split()
_PLAIN = re.compile(r"'[^'\\]*'|-?\d+(?:\.\d+)?|None|True|False")
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_GIVEN = ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Delete
_VALUED = (
    ast.Return
    | ast.Assign
    | ast.AugAssign
    | ast.BinOp
    | ast.Compare
    | ast.keyword
    | ast.IfExp
    | ast.Tuple
)


def statement(known: Known, node: ast.Pass) -> Iterator[Row]:
    """What may have stood where `pass` is: what binds a name that is read and never bound, or uses one that nothing uses."""
    function = known.function(node)
    if function is None:
        return
    found, names = Found(), known.names(node)
    plain = [name for name in names if name not in (*OWN, "_")]
    missing = known.unknown(node)
    late = [name for name, line in names.items() if line > node.lineno and name not in missing]
    for name in (*missing, *late):
        firm = 0.8 if name in missing else 0.35
        for rank, text in enumerate(_assigned(known, node, name)):
            found.raise_to(text, firm - 0.01 * rank)
        for value in (*_EMPTY, *plain):
            found.raise_to(f"{name} = {value}", firm * 0.45)
    for text, prior in _of_class(known, node, function, plain):
        found.raise_to(text, prior)
    if any(isinstance(up, Loop) for up in known.around(node) if up is not function):
        found.raise_to("break", 0.4)
        found.raise_to("continue", 0.4)
    for rank, name in enumerate(plain[:12]):
        found.raise_to(f"return {name}", 0.6 - 0.02 * rank)
    for text, prior in (("True", 0.3), ("False", 0.3), ("self", 0.3), ("", 0.2), ("None", 0.05)):
        found.raise_to(f"return {text}".strip(), prior)
    given = [one.value for one in ast.walk(function) if isinstance(one, ast.Return)]
    if any(isinstance(one, ast.Constant) for one in given):
        for text in _expected(known.message):
            found.raise_to(f"return {text}", 0.6)
    for rank, (text, prior) in enumerate(_donors(known, node, function)):
        found.raise_to(text, prior - 0.0005 * rank)
    yield from Found({text: prior for text, prior in found.items() if prior}).rows(
        "restored", node, 2 * DONORS
    )


def _of_class(
    known: Known, node: ast.AST, function: Function, plain: list[str]
) -> Iterator[tuple[str, float]]:
    """Statements that store a member that the class reads, or give one back."""
    owner = known.owner(node)
    if owner is None or "self" not in known.names(node):
        return
    methods, read, stored = known.owned(owner)
    for name in sorted(read - stored - methods):
        for value in (*plain, *_EMPTY[:5]):
            yield f"self.{name} = {value}", 0.7 if value.strip("_") == name.strip("_") else 0.25
    for name in plain:
        yield f"self.{name} = {name}", 0.6 if name in known.unused(node) else 0.0
    if function.body[-1] is node:
        for name in sorted((read | stored) - methods)[:12]:
            yield f"return self.{name}", 0.5


def _expected(message: str) -> list[str]:
    """The two sides of a comparison that failed, where they are plain values."""
    found = re.search(r"assert (.{1,40}) == (.{1,40})$", message, re.MULTILINE)
    return [one for one in found.groups() if _PLAIN.fullmatch(one)] if found else []


def _assigned(known: Known, node: ast.AST, name: str) -> Iterator[str]:
    """Assignments to a name that stand elsewhere in the file, the nearest first."""
    line = getattr(node, "lineno", 0)
    there = [one for one in known.nodes if isinstance(one, ast.Assign)
             and any(getattr(part, "id", "") == name for to in one.targets for part in ast.walk(to))]  # fmt: skip
    for one in sorted(there, key=lambda one: abs(one.lineno - line))[:12]:
        if "\n" not in known.segment(one) and known.fits(one, node):
            yield known.segment(one)


def _donors(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> list[tuple[str, float]]:
    """Statements of the file, with unknown names exchanged for known ones, and words of their function for those of this."""
    owner, bound, idle = known.owner(node), known.names(node), known.unused(node)
    here, last = [one.arg for one in function.args.args], function.body[-1] is node
    made: list[tuple[str, float]] = []
    for one in known.nodes:
        inside = known.function(one) if isinstance(one, _GIVEN) and simple(one) else None
        text = known.segment(one) if inside is not None else "\n"
        said = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if inside is None or "\n" in text or len(text) > 120 or said:
            continue
        near = (
            0.45
            if inside is function
            else 0.36
            if owner is not None and known.owner(one) is owner
            else 0.22
        )
        near *= 0.8 if isinstance(one, ast.Return) and not last else 1.0
        there = [part.arg for part in inside.args.args]
        near += (
            0.08
            if inside is not function and there == here and (inside.body[-1] is one) == last
            else 0.0
        )
        for fitted, worth in _fitted(known, one, text, node, there, here, bound):
            used = sum(1 for name in idle if re.search(rf"\b{re.escape(name)}\b", fitted))
            made.append((fitted, near * worth + 0.1 * min(used, 2)))
        other = _renamed(inside.name, function.name, text)
        if other and known.fits(one, node):
            made.append((other, near + 0.15))
    return sorted(made, key=lambda row: -row[1])[: 2 * DONORS]


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
    read = (
        part.id
        for part in ast.walk(one)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    )
    strange = [
        name for name in dict.fromkeys(read) if name not in bound and name not in known.everywhere
    ]
    if not strange:
        return [(text, 1.0)]
    by_place = dict(zip(there, here, strict=False))
    if all(name in by_place for name in strange):
        return [(_exchanged(text, {name: by_place[name] for name in strange}), 0.9)]
    wanted = [name for name in bound if name not in (*OWN, "_")][:6] if len(strange) == 1 else []
    return [(_exchanged(text, {strange[0]: name}), 0.5) for name in wanted]


def _exchanged(text: str, names: dict[str, str]) -> str:
    return re.sub(r"(?<![\w.\"'])[A-Za-z_]\w*\b", lambda match: names.get(match[0], match[0]), text)


def _renamed(there: str, here: str, text: str) -> str:
    """A statement of a function whose name differs by one word from this one's, with that word exchanged."""
    one, other = _PART.findall(there), _PART.findall(here)
    apart = [(left, right) for left, right in zip(one, other, strict=False) if left != right]
    return (
        text.replace(*apart[0])
        if len(one) == len(other) and len(apart) == 1 and apart[0][0] in text
        else ""
    )


def inserted(known: Known, node: ast.stmt) -> Iterator[Edit]:
    """A line before a statement: a question that leaves the block, or a statement of the function or class."""
    function = known.function(node)
    if (
        function is None
        or not (simple(node) or isinstance(node, ast.If | Loop))
        or isinstance(node, ast.Pass)
    ):
        return
    read = {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    names = [
        name
        for name, line in known.names(node).items()
        if name in read and name not in OWN and line <= node.lineno
    ]
    leaves = ["continue"] if any(isinstance(up, Loop) for up in known.around(node)) else []
    leaves += ["return", *(f"return {name}" for name in names[:1])]
    for name in names[:3] if function.body[0] is not node else ():
        for leave in leaves:
            yield from put_before(known, node, "guarded", f"if not {name}: {leave}", 0.05)
            yield from put_before(known, node, "guarded", f"if {name} is None: {leave}", 0.05)
    before = known.text[: known.start(node)].rstrip().rpartition("\n")[2].strip()
    beside = (before, known.segment(node))  # said twice, it says nothing
    near = [
        row
        for row in _donors(known, node, function)
        if row[1] >= 0.36 and not row[0].startswith("return")
    ]
    for text, prior in [row for row in near if row[0] not in beside][:INSERTED]:
        yield from put_before(known, node, "inserted", text, prior * 0.12)


def arguments(known: Known, node: ast.Call) -> Iterator[Row]:  # noqa: C901
    """One more argument, at each place: what other calls of the function have there, a name of the scope, a plain value."""
    if any(isinstance(one, ast.Starred) for one in node.args):
        return
    found: dict[tuple[int | str, str], float] = {}
    passed = {known.segment(one) for one in (*node.args, *(part.value for part in node.keywords))}
    named = {one.arg for one in node.keywords}
    bound = known.names(node)
    count = len(node.args)
    for other in [one for one in known.calls.get(known.segment(node.func), ()) if one is not node][
        :40
    ]:
        for at, one in enumerate(other.args[: count + 1]):
            text = known.segment(one)
            if (
                "\n" not in text
                and text not in passed
                and known.fits(one, node)
                and not isinstance(one, ast.Starred)
            ):
                found.setdefault((at, text), 0.45 if len(other.args) > count else 0.2)
        for word in other.keywords:
            text = known.segment(word.value)
            if (
                word.arg
                and word.arg not in named
                and "\n" not in text
                and known.fits(word.value, node)
            ):
                found.setdefault((word.arg, text), 0.3)
    defined, short = known.defined.get(name_of(node.func)), 1.0
    if defined is not None:
        method = (
            bool(defined.args.args)
            and defined.args.args[0].arg in OWN
            and isinstance(node.func, ast.Attribute)
        )
        wanted = [one.arg for one in defined.args.args][method:]
        if count + len(node.keywords) < len(wanted) - len(defined.args.defaults):
            short = 2.5
        for at, name in enumerate(wanted[: count + 1]):
            if name in bound and name not in passed:
                found[at, name] = 0.5
        for name in (*wanted[count + 1 :], *(one.arg for one in defined.args.kwonlyargs)):
            if name in bound and name not in passed:
                found.setdefault((name, name), 0.4)
    around = known.function(node)
    counts = known.reads(around) if around is not None else {}
    values = sorted(
        bound.keys() - passed - {"_"}, key=lambda one: (one in OWN, -counts.get(one, 0), one)
    )
    for at in range(count + 1):
        for rank, name in enumerate(values[:10]):
            idle = name in known.unused(node) and bound[name] <= node.lineno
            found.setdefault((at, name), 0.5 if idle else 0.16 - 0.008 * rank)
        for value in (*_SIMPLE_VALUES, *known.texts_given):
            found.setdefault((at, value), 0.08)
    if around is not None:  # what the caller was given is handed on
        for name in (one.arg for one in (*around.args.args, *around.args.kwonlyargs)):
            if name not in (*OWN, *passed, *named):
                found.setdefault((name, name), 0.14 if name in known.unused(node) else 0.05)
    for (place, text), prior in sorted(found.items(), key=lambda row: -row[1])[:ARGUMENTS]:
        yield "added", node, _with_argument(known, node, place, text), min(0.9, prior * short)


def _with_argument(known: Known, node: ast.Call, place: int | str, text: str) -> str:
    end = known.end(node) - 1
    if isinstance(place, int) and place < len(node.args):
        start = known.start(node.args[place])
        return known.cut(node, (start, start, f"{text}, "))
    if isinstance(place, str):
        bare = known.text[known.end(node.func) : end].rstrip()[-1:] in ("(", ",")
        return known.cut(node, (end, end, f"{place}={text}" if bare else f", {place}={text}"))
    if node.args:
        start = known.end(node.args[-1])
        return known.cut(node, (start, start, f", {text}"))
    start = known.text.index("(", known.end(node.func), end + 1) + 1
    return known.cut(node, (start, start, f"{text}, " if node.keywords else text))


def idle(known: Known, node: ast.Expr) -> Iterator[Row]:
    """A call of what stands there as a statement and does nothing: of itself, of a member, with it as the argument."""
    text, owner = known.segment(node), known.owner(node)
    if not isinstance(node.value, ast.Name | ast.Attribute):
        return
    found = Found({f"{text}()": 0.5})
    for name in known.members.get(text, {}):
        found.raise_to(f"{text}.{name}()", 0.4 if name in known.methods_called else 0.2)
    for one in owner.body if owner is not None and text in OWN else ():
        if isinstance(one, Function) and len(one.args.args) - len(one.args.defaults) == 1:
            found.raise_to(f"{text}.{one.name}()", 0.3)
    for name in (*known.called, *known.taking_one):
        found.raise_to(f"{name}({text})", 0.2)
    yield from found.rows("restored", node, DONORS)


def conditions(known: Known, node: ast.If | ast.While | ast.IfExp) -> Iterator[Row]:
    """A condition that was one of two: what is asked elsewhere in the file of names that are known here."""
    test, text = node.test, known.segment(node.test)
    if "\n" in text or isinstance(test, ast.Lambda):
        return
    near, owner, bound = known.function(test), known.owner(test), known.names(test)
    read = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    found = Found()
    for one, said, names in known.asked:
        if said not in text and all(name in bound or name in known.everywhere for name in names):
            same = owner is not None and known.owner(one) is owner
            prior = 0.2 if known.function(one) is near else 0.14 if same else 0.1
            found.raise_to(said, prior + (0.04 if read & names else 0.0))
    for name in bound:
        if name not in (*OWN, "_"):
            fresh = 0.0 if name in read else 0.05
            for said, prior in (
                ("{} is not None", 0.09),
                ("{} is None", 0.09),
                ("{}", 0.06 + fresh),
                ("not {}", 0.05 + fresh),
            ):
                found.raise_to(said.format(name), prior)
    whole = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp) else text
    for said in sorted(found, key=lambda one: -found[one])[:CONDITIONS]:
        for word in ("and", "or"):
            yield "narrowed", test, f"{whole} {word} {said}", found[said]
            yield "narrowed", test, f"{said} {word} {whole}", 0.6 * found[said]


def wrapped(known: Known, node: ast.expr) -> Iterator[Row]:
    """A call around a value: an argument, a returned or an assigned value, an operand, what is iterated over."""
    up, text = known.parents.get(node), known.segment(node)
    iterated = isinstance(up, ast.For | ast.comprehension) and node is up.iter
    held = isinstance(up, ast.Subscript) and node is up.value
    valued = node in up.args if isinstance(up, ast.Call) else iterated or isinstance(up, _VALUED)
    odd = isinstance(node, ast.Constant) and not isinstance(node.value, int | str)
    if (
        not (valued or held)
        or odd
        or "\n" in text
        or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    ):
        return
    found = Found()
    for rank, name in enumerate(_ITERATED if iterated else ()):
        found.raise_to(name, 0.3 - 0.02 * rank)
    for name in _WRAPS:
        found.raise_to(name, 0.08)
    for name, count in known.called.most_common(12):
        found.raise_to(name, 0.08 + 0.005 * min(count, 8))
    for name in known.defined:  # private, and no plan calls it any more
        if (
            name.startswith("_")
            and not name.startswith("__")
            and name in known.top
            and name not in known.called
        ):
            found.raise_to(name, 0.3)
    for name in known.taking_one:
        found.raise_to(name, 0.09)
    if isinstance(up, ast.Return):
        found.raise_to(known.owed(up), 0.4)
    own = {name_of(one.func) for one in (up, node) if isinstance(one, ast.Call)} | {text, ""}
    constant = isinstance(node, ast.Constant)
    for name in found.keys() - own:
        yield "wrapped", node, f"{name}({text})", found[name] * (0.5 if constant else 1.0)
    for name in (
        dict.fromkeys((*sorted(known.methods_called & set(_BARE)), *_BARE)) if not constant else ()
    ):
        yield "wrapped", node, f"{text}.{name}()", 0.1 if name in known.methods_called else 0.05
    if isinstance(node, ast.Name) and not isinstance(up, ast.Compare):
        for empty in ("[]", "()", "{}", "''"):
            yield "wrapped", node, f"({text} or {empty})", 0.03
