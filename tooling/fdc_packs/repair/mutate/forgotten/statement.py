"""The statement that was forgotten where `pass` stands, made of what other places of the file have.

Templates are as in PAR (Kim and others, 2013), donors as in GenProg (Le Goues and others, 2012).
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator

from ..known import OF_ORDER, Known
from ..missing.lost import lost
from ..missing.place import given_to, lacking
from ..source import OWN, Function, Loop, name_of, same
from ..statements import as_others
from ..values import Found, Row, token_of
from . import blanks, branches, container, objects, plainer, tallies, turning

DONORS, FORMS, WANTED = 160, 48, 3
OWN_NAMES = 0.06
"""How much likelier a statement of another function is for each name in it that is bound here."""
ALIKE = 0.2
"""How much likelier a statement is of a function that has the same name: of another class, as a rule."""
_EMPTY = ("[]", "{}", "None", "0", "False", "set()", "''", "True", "1", "()", "[[]]", "b''")
_COLLECTS = ("list", "tuple", "set", "dict", "sorted", "iter", "next", "str")
_ORDERS = ("==", "!=", "<", "<=", ">", ">=")
_PLAIN = re.compile(r"'[^'\\]*'|-?\d+(?:\.\d+)?|None|True|False")
_OPERATORS = (
    "add + sub - mul * truediv / floordiv // mod % lshift << rshift >> and & or | xor ^".split()
)
_OF_OPERATOR = {
    f"__{kind}{name}__": sign
    for name, sign in zip(_OPERATORS[::2], _OPERATORS[1::2], strict=True)
    for kind in ("", "r", "i")
}
_PAIRS = (("+", "-"), ("*", "/"), ("<<", ">>"))
_OPPOSITE = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_BETWEEN = re.compile(r" (\+|-|\*|/|<<|>>) ")
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


def statement(known: Known, node: ast.Pass) -> Iterator[Row]:
    """What may have stood where `pass` is: what binds a name that is read and never bound, or uses one that nothing uses."""
    function = known.function(node)
    if function is None:
        return
    most = (2 if _alone(known, node, function) else 3) * DONORS
    yield from could_stand(known, node, function).rows("restored", node, most)


def could_stand(known: Known, node: ast.stmt, function: Function) -> Found:
    """Statements that may have been forgotten at a place, with how common each is."""
    found, names = Found(), known.names(node)
    plain = [name for name in names if name not in (*OWN, "_")]
    missing = lacking(known, function)
    beside = sorted(known.bound_beside(node) | branches.bound(known, node))
    wanted = list(dict.fromkeys((*missing, *beside)))[:WANTED]
    late = [name for name, line in names.items() if line > node.lineno and name not in missing]
    values = _values(known, node, function, plain)
    unbound = list(dict.fromkeys((*missing, *beside, *late)))
    found.raise_all(container.drawn(function, unbound))
    found.raise_all(plainer.made(function))
    loop = turning.around(known, node)
    found.raise_all(turning.changes(known, loop) if loop is not None else ())
    for name in unbound:
        firm = 0.8 if name in missing or name in beside else 0.35
        for rank, text in enumerate(_assigned(known, node, name)):
            found.raise_to(text, firm - 0.01 * rank)
        for value in (*_EMPTY, *plain):
            found.raise_to(f"{name} = {value}", firm * 0.45)
        found.raise_all(as_others(known, node, name, function), firm)
        found.raise_all(container.held(known, node, function, name, plain))
        for value, prior in values.items():
            found.raise_to(f"{name} = {value}", firm * prior)
    for value, prior in values.items():
        found.raise_to(f"return {value}", 0.6 * prior if function.body[-1] is node else 0.4 * prior)
    found.raise_all(_of_class(known, node, function, plain, values))
    if any(isinstance(up, Loop) for up in known.around(node) if up is not function):
        found.raise_to("break", 0.4)
        found.raise_to("continue", 0.4)
    if any(isinstance(up, ast.ExceptHandler) for up in known.around(node)):
        found.raise_to("raise", 0.45)
    held = [name for name in known.reads(function) if name in known.data]
    for rank, name in enumerate([*plain[:12], *held[:4]]):
        found.raise_to(f"return {name}", 0.6 - 0.02 * rank)
    found.raise_all(plainer.results(function))
    given = [one.value for one in ast.walk(function) if isinstance(one, ast.Return)]
    if any(isinstance(one, ast.Constant) for one in given):
        for text in _expected(known.message):
            found.raise_to(f"return {text}", 0.6)
    found.raise_all(_made(known, node, function, plain))
    found.raise_all(_imported(known, function))
    found.raise_all(branches.alike(known, node))
    found.raise_all(branches.asked_again(known, node))
    found.raise_all(blanks.given(known, function, wanted))
    found.raise_all(blanks.stored(known, node, function, wanted, plain))
    found.raise_all(blanks.counted(known, node, function))
    found.raise_all(blanks.grown(known, node, function, plain, values))
    found.raise_all(tallies.gathered(known, node, function, plain, values))
    found.raise_all(objects.made(known, node, function, wanted))
    found.raise_all(lost(known, node, function, wanted, missing))
    found.raise_all(tallies.folded(known, node, function, plain))
    found.raise_all(blanks.yielded(known, node, function, plain, values))
    found.raise_all(blanks.composed(known, node, function))
    found.raise_all(blanks.members(known, wanted, plain))
    found.raise_all(blanks.of_functions(known, node, function, plain))
    found.raise_all(blanks.handed_up(known, node, function))
    found.raise_all(blanks.called_otherwise(known, node, function))
    for rank, (text, prior) in enumerate(donors(known, node, function)):
        found.raise_to(text, prior - 0.0005 * rank)
    if any(isinstance(one, ast.Return) and one.value is None for one in ast.walk(function)):
        found.raise_to("return", 0.5)
    return Found({text: prior for text, prior in found.items() if prior})


def _alone(known: Known, node: ast.Pass, function: Function) -> bool:
    """Whether nothing else is in the block of `pass`, as people write it where nothing is to be done."""
    blocks = [getattr(known.parents.get(node), name, None) for name in ("body", "orelse")]
    return [node] in blocks and function.body != [node]


def _made(
    known: Known, node: ast.AST, function: Function, plain: list[str]
) -> Iterator[tuple[str, float]]:
    """What is given back: a collection of what was gathered, or the result of a function that takes what is here."""
    idle, owner, names = known.unused(node), known.owner(node), known.names(node)
    for name in known.told.wanted:
        yield f"raise {name}", 0.5 if name in known.everywhere else 0.0
    for name, other in itertools.product(sorted(idle), plain):
        if name != other:
            yield f"{other}.{name} = {name}", 0.3
            alike = set(_PART.findall(name)) & set(_PART.findall(other))
            yield f"{other} = {name}", 0.55 if alike else 0.35
    gathered = [name for name in plain if name in known.names_stored(function)]
    for rank, name in enumerate(gathered[:6]):
        for form, prior in (("tuple({})", 0.34), ("''.join({})", 0.32), ("list({})", 0.3)):
            yield f"return {form.format(name)}", prior - 0.01 * rank
    outer = [one.args for one in known.around(node) if isinstance(one, Function)]
    stars = [f"*{one.vararg.arg}" for one in outer[:1] if one.vararg]
    stars += [f"**{one.kwarg.arg}" for one in outer[:1] if one.kwarg]
    for name in (one.arg for args in outer[1:] for one in args.args) if stars else ():
        yield f"return {name}({', '.join(stars)})", 0.4
    for name, one in known.defined.items():
        method = owner is not None and one in owner.body
        wanted = given_to(one, method)
        needed = wanted[: len(wanted) - len(one.args.defaults)]
        top = known.parents.get(one) is known.tree
        if one is function or not (method or top) or not wanted or one.args.vararg:
            continue
        prefix = next((f"{one}." for one in OWN if method and one in names), "")
        own = [part.arg for part in function.args.args if part.arg not in OWN]
        if all(part in names for part in needed):
            given = ", ".join(part for part in wanted if part in names)
            yield f"return {prefix}{name}({given})", 0.38 + 0.1 * bool(idle & set(wanted))
            near = 0.15 * (name in function.name or function.name in name)
            for made in _COLLECTS if top else ():
                yield f"return {made}({name}({given}))", 0.22 + near
        elif len(needed) <= len(own) <= len(wanted):
            yield f"return {prefix}{name}({', '.join(own)})", 0.2


def _imported(known: Known, function: Function) -> Iterator[tuple[str, float]]:
    """What an imported function, or a parameter, makes of the other parameters, in their order."""
    own = [one.arg for one in function.args.args if one.arg not in OWN]
    near = function.name.lower()
    for name in known.members_imported if own else ():
        said = any(len(part) > 3 and part in near for part in name.lower().split("_"))
        firm = (0.4 if name in known.idle_imports else 0.3) + 0.1 * said
        for given in dict.fromkeys((", ".join(own), own[0])):
            yield f"return {name}({given})", firm
    for name in own if len(own) > 1 else ():
        yield f"return {name}({', '.join(one for one in own if one != name)})", 0.3


def _values(known: Known, node: ast.stmt, function: Function, plain: list[str]) -> Found:
    """What the file computes, of names that are known here: the function's own calls, and calls of one thing of what is held."""
    found, idle = Found(), known.unused(node)
    for one in ast.walk(function):
        text = known.segment(one) if isinstance(one, ast.Call) else "\n"
        if "\n" not in text and len(text) <= 60 and known.fits(one, node):
            found.raise_to(text, 0.6)
    bound = [one for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]  # fmt: skip
    last = {one.id: one.lineno for one in bound if one.lineno <= node.lineno}
    held = sorted(plain, key=lambda name: (name not in idle, -last.get(name, 0)))[:4]
    forms = dict.fromkeys((f"{name}({{}})" for name in ("iter", "list", "tuple", "next")), 0.4)
    taken = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for name in sorted(idle & taken):  # a function that was given and that nothing calls
        forms[f"{name}({{}})"] = 0.5
        forms[f"{{}}({name})"] = 0.3
    valued = _valued(known)
    for text, calls in known.calls.items():
        one, few, called = calls[0], min(len(calls), 6), name_of(calls[0].func)
        if called not in valued:
            continue
        fits = not set(text) & set("\n{}") and known.fits(one.func, node)
        if any(not each.args and not each.keywords for each in calls):
            found.raise_to(f"{text}()", 0.4 if fits and len(text) <= 40 else 0.0)
            forms[f"{{}}.{called}()"] = 0.4 + 0.02 * few
        if fits and any(len(each.args) == 1 and not each.keywords for each in calls):
            forms[f"{text}({{}})"] = 0.45 + 0.02 * few
    owner = known.owner(node)
    for one in known.nodes:
        near = known.function(one) is function or (owner is not None and known.owner(one) is owner)
        if near and isinstance(one, ast.Attribute | ast.Subscript) and known.fits(one, node):
            text = known.segment(one)
            if isinstance(one.ctx, ast.Load) and "\n" not in text and len(text) <= 40:
                found.raise_to(text, 0.4)
            if isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice):
                base = known.segment(one.value)
                if not set(base) & set("\n{}"):
                    forms.setdefault(f"{base}[{{}}]", 0.52)
    for form, prior in sorted(forms.items(), key=lambda row: -row[1])[:FORMS]:
        for rank, name in enumerate(held):
            found.raise_to(form.format(name), prior * (1.5 if name in idle else 1.0) - 0.06 * rank)
    return found


@functools.lru_cache(maxsize=2)
def _valued(known: Known) -> set[str]:
    """The names of functions and methods that are called for what they give: the others stand alone wherever they are called."""
    return {
        name
        for name, calls in known.named.items()
        if name and any(not isinstance(known.parents.get(one), ast.Expr) for one in calls)
    }


def _of_class(
    known: Known, node: ast.AST, function: Function, plain: list[str], values: Found
) -> Iterator[tuple[str, float]]:
    """Statements that store a member that the class reads, or give one back."""
    owner = known.owner(node)
    if owner is None or "self" not in known.names(node):
        return
    methods, read, stored = known.owned(owner)
    lost = read - stored - methods
    pairs = [
        (name, one) for one in plain for name in sorted(lost) if name.strip("_") == one.strip("_")
    ]
    if len(pairs) > 1:  # in the order in which they were taken
        left, right = (
            ", ".join(part)
            for part in ((f"self.{name}" for name, _ in pairs), (one for _, one in pairs))
        )
        yield f"{left} = {right}", 0.7
    for name in sorted(lost):
        for value in (*plain, *_EMPTY[:5]):
            yield f"self.{name} = {value}", 0.7 if value.strip("_") == name.strip("_") else 0.25
        for value, prior in values.items():
            said = name.strip("_").lower() in value.partition("(")[0].lower()
            yield f"self.{name} = {value}", 0.7 * prior if said else 0.4 * prior
    for twin in (one for one in ast.walk(function) if isinstance(one, ast.Assign)):
        word, text = name_of(twin.targets[0]), known.segment(twin)
        alike = isinstance(twin.targets[0], ast.Attribute) and word in known.segment(twin.value)
        for member in sorted((read | stored) - methods) if alike and "\n" not in text else ():
            fitted = re.sub(rf"(?<=\.){word}\b", member, text)
            if fitted not in known.segment(function) and member[-2:] != "__":
                yield fitted, 0.55
    for name in plain:
        idle = name in known.unused(node)
        yield f"self.{name} = {name}", 0.6 if idle else 0.0
        for member in sorted((read | stored) - methods)[:12]:
            for form in ("{} += {}", "{}.append({})", "{}.add({})", "{} = {}"):
                yield f"self.{form.format(member, name)}", 0.35 if idle else 0.2
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


def donors(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> list[tuple[str, float]]:
    """Statements of the file, with unknown names exchanged for known ones, and words of their function for those of this.
    All statements of a function that know the same names have the same ones, unless they end it."""
    key = (function, known.owner(node), known.scope(node), function.body[-1] is node)
    found = known.donors.get(key)
    if found is None:
        found = known.donors[key] = _donors(known, node, function)
    return found


def _donors(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> list[tuple[str, float]]:
    owner, bound, idle = known.owner(node), known.names(node), known.unused(node)
    words = [re.compile(rf"\b{re.escape(name)}\b") for name in idle]
    here, last = [one.arg for one in function.args.args], function.body[-1] is node
    made: list[tuple[str, float]] = []
    for one, inside, text in known.on_a_line:
        near = (
            0.45
            if inside is function
            else 0.36
            if owner is not None and known.owner(one) is owner
            else 0.22
        )
        near *= 0.8 if isinstance(one, ast.Return) and not last else 1.0
        near += OWN_NAMES * min(3, len(bound.keys() & set(known.needs(one)))) * (near < 0.3)
        near += ALIKE * (inside is not function and inside.name == function.name)
        there = [part.arg for part in inside.args.args]
        near += (
            0.08
            if inside is not function and there == here and (inside.body[-1] is one) == last
            else 0.0
        )
        for fitted, worth in _fitted(known, one, text, there, here, bound):
            used = sum(1 for word in words if word.search(fitted))
            made.append((fitted, near * worth + 0.1 * min(used, 2)))
            sign = OF_ORDER.get(function.name)
            made += [(other, 0.6 if sign and f" {sign} " in other else near * worth * 0.8)
                     for other in _compared(one, fitted)]  # fmt: skip
        other = _renamed(inside.name, function.name, text)
        if other and known.fits(one, node):
            made.append((other, near + 0.15))
        if there == here and known.owner(one) is owner is not None and known.fits(one, node):
            made += [(other, near + 0.15) for other in _computed(inside.name, function.name, text)]
    return sorted(made, key=lambda row: -row[1])[: 2 * DONORS]


def _fitted(
    known: Known,
    one: ast.AST,
    text: str,
    there: list[str],
    here: list[str],
    bound: dict[str, int],
) -> list[tuple[str, float]]:
    """A donor as it is, where all names are known; else with parameters exchanged by position, or one name by each known."""
    strange = [
        name for name in known.needs(one) if name not in bound and name not in known.everywhere
    ]
    if not strange:
        return [(text, 1.0)]
    by_place = dict(zip(there, here, strict=False))
    if all(name in by_place for name in strange):
        return [(exchanged(text, {name: by_place[name] for name in strange}), 0.9)]
    wanted = [name for name in bound if name not in (*OWN, "_")][:6] if len(strange) == 1 else []
    return [(exchanged(text, {strange[0]: name}), 0.5) for name in wanted]


def _compared(one: ast.AST, text: str) -> Iterator[str]:
    """A donor that gives a comparison back, with each other operator: methods of a class that compare are alike."""
    value = one.value if isinstance(one, ast.Return) else None
    sign = token_of(value.ops[0]) if isinstance(value, ast.Compare) and len(value.ops) == 1 else ""
    for other in _ORDERS if sign in _ORDERS and text.count(f" {sign} ") == 1 else ():
        if other != sign:
            yield text.replace(f" {sign} ", f" {other} ")


def _computed(there: str, here: str, text: str) -> Iterator[str]:
    """A statement of the method of an operator, for that of another one: `<<` for `>>`; of its opposite, with the
    opposites of all other operators, too."""
    one, other = _OF_OPERATOR.get(there), _OF_OPERATOR.get(here)
    if one is None or other is None or one == other or f" {one} " not in text:
        return
    yield text.replace(f" {one} ", f" {other} ")
    if _OPPOSITE.get(one) == other:
        yield _BETWEEN.sub(lambda found: f" {_OPPOSITE.get(found[1], found[1])} ", text)


def exchanged(text: str, names: dict[str, str]) -> str:
    return re.sub(r"(?<![\w.\"'])[A-Za-z_]\w*\b", lambda match: names.get(match[0], match[0]), text)


def _renamed(there: str, here: str, text: str) -> str:
    """A statement of a function whose name differs by one word from this one's, with that word exchanged."""
    one, other = _PART.findall(there), _PART.findall(here)
    apart = [(left, right) for left, right in zip(one, other, strict=False) if left != right]
    if len(one) != len(other) or len(apart) != 1:
        return ""
    left, right = apart[0]
    if left not in text:  # `postrelease` and `devrelease`: `post` for `dev`
        left, right = _but_common_end(left, right)
    return text.replace(left, right) if left and right and left in text else ""


def _but_common_end(one: str, other: str) -> tuple[str, str]:
    tail = same(one[::-1], other[::-1])
    return one[: len(one) - tail], other[: len(other) - tail]
