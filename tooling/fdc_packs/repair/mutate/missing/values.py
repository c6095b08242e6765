"""Values that a forgotten statement may have given to a name, or back: of what nothing else reads."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from difflib import SequenceMatcher

from ..known import Known, alike
from ..source import OWN, Function
from .place import Place, given_to

PARTS = ("0", "1", "-1")
"""Items that a name most often gets of something."""
WRAPS = {"{}": 1.0, "tuple({})": 0.8, "list({})": 0.8, "iter({})": 0.6, "next({})": 0.6}
"""What becomes of the result of a function, and how common it is beside the result itself."""
MADE, TUPLE, PART, ITEM, OBJECT, BY_METHOD = 0.5, 0.45, 0.4, 0.42, 0.45, 0.25
"""How common values are: the result of a function, several names together, an item, what a table has for a name, of an object
that the function made, of any other."""
NEAR, PART_OF_WORD = 0.6, 4
"""How much alike the name of a function and of its result are where that says something; how many letters in a row they share."""
Value = tuple[str, float, str]
"""A value as it is written, how common it is, and what its name would be called by it."""


def values(place: Place) -> Iterator[Value]:
    """The values that the names here make likely, most of all those that nothing reads."""
    yield from _results(place)
    yield from _together(place)
    yield from _parts(place)
    yield from _of_objects(place)
    yield from _of_methods(place)
    yield from _of_given(place)
    yield from _handed_on(place)


def _results(place: Place) -> Iterator[Value]:
    """What a function of the file, or a method of the object, gives for the names that its parameters have."""
    known, idle = place.known, set(place.idle)
    for name, one in known.defined.items():
        owner = known.owner(one)
        method = owner is not None and owner is place.owner
        if (
            name[:2] == "__"
            or one is place.function
            or not (method or known.parents.get(one) is known.tree)
        ):
            continue
        taken = given_to(one, method)
        needed = taken[: len(taken) - len(one.args.defaults)]
        prefix = "self." if method else ""
        if not taken or (not needed and method):
            yield (
                f"{prefix}{name}()",
                0.3 + called_so(place.function.name, name.rpartition("_")[2]),
                name,
            )
        latest = [part for part in place.before[::-1] if part not in taken][:1]
        fills = ("", *(part for part in needed if part not in idle)) if latest else ("",)
        known_here = list(
            itertools.takewhile(lambda part: part in place.before, taken[len(needed) :])
        )
        for wanted in (needed, [*needed, *known_here]):
            for filled in fills if wanted else ():
                given = [latest[0] if part == filled else part for part in wanted]
                if not set(place.before).issuperset(given):
                    continue
                firm = MADE if idle & set(given) else MADE / 2
                for form, share in WRAPS.items():
                    yield form.format(f"{prefix}{name}({', '.join(given)})"), firm * share, name


def _together(place: Place) -> Iterator[Value]:
    """The names that nothing reads, together; given to a class or a function that takes as many."""
    known, idle = place.known, place.idle
    for other in place.before[-4:] if idle else ():
        if other != idle[-1]:
            yield f"{other}, {idle[-1]}", TUPLE - 0.15, ""
            yield f"{idle[-1]}, {other}", TUPLE - 0.15, ""
            for text in known.calls:
                if "." in text and len(text) < 20 and text.partition(".")[0] in known.top:
                    yield f"{text}({idle[-1]}, {other})", 0.26, text.rpartition(".")[2]
    if not 1 < len(idle) < 8:
        return
    given = ", ".join(idle)
    yield given, TUPLE, ""
    for name in dict.fromkeys((*known.classes, *known.called, *known.idle_imports)):
        if name in known.everywhere and name not in OWN:
            yield f"{name}({given})", 0.3 + 0.1 * (name in known.classes), name
    for text in known.calls:
        if "." in text and len(text) < 30 and text.partition(".")[0] in known.top:
            yield f"{text}({given})", 0.3, text.rpartition(".")[2]
            if len(idle) == 2:
                yield f"{text}({idle[1]}, {idle[0]})", 0.28, text.rpartition(".")[2]


def _parts(place: Place) -> Iterator[Value]:
    """An item of something that nothing reads; what a table of the module has for it."""
    known = place.known
    for rank, name in enumerate(place.idle[:3]):
        for at, part in enumerate(PARTS):
            yield f"{name}[{part}]", PART - 0.08 * at - 0.05 * rank, ""
        for other in place.before:
            if other != name:
                yield f"{other}[{name}]", ITEM - 0.05 * rank - 0.1 * (other not in place.idle), ""
        for table in tables(known):
            yield f"{table}[{name}]", ITEM - 0.05 * rank, table
            yield f"{name} in {table}", ITEM - 0.1 - 0.05 * rank, ""
    for name in place.taken:
        for at, part in enumerate(PARTS if name not in place.idle else ()):
            yield f"{name}[{part}]", PART - 0.15 - 0.08 * at, ""
        for table in _tables_of(place):
            if table != name:
                yield f"{table}[{name}]", ITEM - 0.1, table


def tables(known: Known) -> list[str]:
    """The names of the module that hold a dictionary or a list, those that nothing reads first."""
    holds = ast.Dict | ast.List | ast.Tuple | ast.DictComp | ast.ListComp
    found = [
        one.targets[0].id
        for one in getattr(known.tree, "body", ())
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and isinstance(one.value, holds)
    ]  # fmt: skip
    read = known.reads(known.tree) if known.tree is not None else {}
    return sorted(dict.fromkeys(found), key=lambda name: name in read)[:6]


def _tables_of(place: Place) -> list[str]:
    """The names of the functions around that hold a dictionary."""
    around = [one for one in place.known.around(place.node) if isinstance(one, Function)]
    given = [one for one in ast.walk(around[-1]) if isinstance(one, ast.Assign)]
    held = [one.targets[0] for one in given if isinstance(one.value, ast.Dict)]
    return [one.id for one in held if isinstance(one, ast.Name)]


def _of_given(place: Place) -> Iterator[Value]:
    """What a function that was given, and that the function calls or hands on, makes of what was bound last."""
    calls = [one.func for one in ast.walk(place.function) if isinstance(one, ast.Call)]
    asked = {one.id for one in calls if isinstance(one, ast.Name)}
    outer = [one.args for one in place.known.around(place.node) if isinstance(one, Function)][1:]
    own = ", ".join([one.arg for one in place.function.args.args] or ["self"])
    for name in (one.arg for args in outer for one in args.args):
        yield f"{name}({own})", 0.4, name
    for name in place.taken:
        if (
            name in asked
            or name in place.idle
            or name.endswith(("factory", "func", "fn", "cls", "type"))
        ):
            for rank, other in enumerate([one for one in place.before[::-1] if one != name][:3]):
                yield f"{name}({other})", 0.38 - 0.04 * rank, name
                mapped = f"map({name}, {other})"
                yield mapped, 0.36 - 0.04 * rank, name
                for made in ("list", "tuple", *(text for text, _ in place.known.calls_of_one[:12])):
                    if not {*made} & set(".{"):
                        yield f"{made}({mapped})", 0.34 - 0.04 * rank, made


def _handed_on(place: Place) -> Iterator[Value]:
    """What a method by the same name gives, of data of the module or of a member of the object; a pair of what was bound last."""
    known, name = place.known, place.function.name
    given = ", ".join(place.taken)
    for data in sorted(known.data):
        if known.members.get(data):
            yield f"{data}.{name}({given})", 0.35 + 0.1 * data.startswith("_"), name
    for member in members(place)[:6]:
        yield f"self.{member}.{name}({given})", 0.35, name
    for many in (2, 3, 4) if len(place.before) > 1 else ():
        yield ", ".join(place.before[-many:]), (0.36 if place.last else 0.27) - 0.01 * many, ""
    for one in place.idle[:2]:
        for text, _ in known.calls_of_one[:24]:
            if "." not in text and "{" not in text:
                yield from ((f"{form}({text}({one}))", 0.25, text) for form in ("list", "tuple"))


def members(place: Place) -> list[str]:
    """The members of the object, those that the function does not use first."""
    if place.owner is None:
        return []
    methods, read, stored = place.known.owned(place.owner)
    text = place.known.segment(place.function)
    return sorted((read | stored) - methods, key=lambda one: (f"self.{one}" in text, one))


def _of_objects(place: Place) -> Iterator[Value]:
    """What a method gives of an object that the function made of a class of the file, for what its parameters are named by."""
    known = place.known
    classes = {one.name: one for one in known.nodes if isinstance(one, ast.ClassDef)}
    for one in ast.walk(place.function):
        made = one.value if isinstance(one, ast.Assign) else None
        kind = classes.get(getattr(getattr(made, "func", None), "id", ""))
        to = one.targets[0] if isinstance(one, ast.Assign) else None
        if kind is None or not isinstance(to, ast.Name) or to.id not in place.before:
            continue
        for method in (part for part in kind.body if isinstance(part, Function)):
            needed = given_to(method, True)
            if method.name[:2] != "__" and set(place.before).issuperset(needed):
                yield f"{to.id}.{method.name}({', '.join(needed)})", OBJECT, method.name


def _of_methods(place: Place) -> Iterator[Value]:
    """What the methods give that the file calls with nothing, of the names here."""
    for name, calls in place.known.named.items():
        method = any(isinstance(one.func, ast.Attribute) and not one.args for one in calls)
        for rank, other in enumerate(place.useful() if method and name.isidentifier() else ()):
            firm = BY_METHOD - 0.03 * rank + 0.1 * (other in place.idle)
            yield f"{other}.{name}()", firm, name
            for form in ("sorted({})", "list({})") if name in ("keys", "items", "values") else ():
                yield form.format(f"{other}.{name}()"), firm, name


def called_so(name: str, said: str) -> float:
    """How much what a value is called by speaks for a name: 0 to 0.25."""
    if not said or not name:
        return 0.0
    one, other = name.strip("_").lower(), said.strip("_").lower()
    near = alike(one, other)
    if near < NEAR and SequenceMatcher(None, one, other).find_longest_match().size >= PART_OF_WORD:
        near = NEAR
    return 0.25 * near if near >= NEAR or one in other or (len(other) > 3 and other in one) else 0.0
