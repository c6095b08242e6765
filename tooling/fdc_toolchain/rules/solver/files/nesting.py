"""Files of a plan that lie in other files of it: `q` and `q/page.md` cannot both be files, whichever is made first.

Two literal paths are wrong. A path that holds values only may be so, which the proof assumes not to happen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ....diagnostics.span import Span
from ....linking.graph import Instance
from ....linking.model import Act, Unit
from ....named_tuples import NamedTuple
from .bodies import Effects, Wild, is_literal
from .failures import CauseTable
from .path_language import ALLOW, NOBODY, SETTLED, contains, head_of, opaque
from .paths import Path, path_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar

    T = TypeVar("T")

    class _Of(Generic[T]): ...

else:
    T, _Of = object, {object: object}  # so that `_Of[T]` is a class without any of this

MAKES = ("create", "write")


class Place(NamedTuple):
    """A step, and where the judged plan's text leads to it."""

    step: Span
    outer: Span


Places = dict[Path, set[Place]]


class Nested(NamedTuple):
    """A file, and one that lies in it; `certain`: whatever the values are."""

    above: Path
    below: Path
    certain: bool


def may_nest(paths: Iterable[Path]) -> bool:
    """False where no path of a plan lies in another one, seen by their names alone."""
    names = set()
    for path in paths:
        if not is_literal(path):
            return True
        names.add(str(path[0]))
    return any(above in names for name in names for above in _above(name))


class Nesting:
    """What a judged plan makes, by path, in the words of that plan."""

    def __init__(
        self, root: Instance, order: list[Instance], effects: Effects, causes: CauseTable
    ) -> None:
        self._causes = causes
        self.made: Places = {}
        self._folders: set[Span] = set()
        self._by_unit: list[set[str]] = []
        leads = _leads(root)
        for unit, outer in ((one.unit, leads.get(id(one))) for one in order):
            self._of_unit(unit, outer if unit is not root.unit else None)
        for table in (effects.wild, effects.fixed):
            self._of_table(table)

    def _of_unit(self, unit: Unit, outer: Span | None) -> None:
        literal = set()
        for act in unit.acts:
            for access, value in act.bound.files:
                if access not in MAKES:
                    continue
                span = unit.span(act.step)
                if makes_folder(act, access):
                    self._folders.add(span)
                if "{" not in value.text:
                    path = path_of(value)
                    literal.add(str(path[0]))
                    self.made.setdefault(path, set()).add(Place(span, outer or span))
        self._by_unit.append(literal)

    def _of_table(self, table: Wild) -> None:
        for path, (_, why) in table.items():
            if type(path[0]) is tuple and path[0][:1] == (ALLOW,):
                continue  # what commands make is another assumption
            steps = {
                Place(one.step, one.outer) for one in self._causes.each(why) if one.access in MAKES
            }
            if steps:
                plain = tuple(part for part in path if part != SETTLED)
                self.made.setdefault(plain, set()).update(steps)

    def files(self, path: Path) -> list[Place]:
        """The steps that make a path a file, in their order."""
        return sorted(one for one in self.made[path] if one.step not in self._folders)

    def pairs(self) -> Iterator[Nested]:
        """Every file of the plan that another one lies in, or may lie in."""
        literal = {str(path[0]): path for path in self.made if is_literal(path)}
        computed = [path for path in self.made if not is_literal(path)]
        files = [path for path in self.made if self.files(path)]
        known = {path for path in files if is_literal(path)}
        below: dict[str, list[Path]] = {}
        for name, path in literal.items():
            for above in _above(name):
                below.setdefault(above, []).append(path)
        for path in sorted(known):
            for other in below.get(str(path[0]), ()):
                if not self._said(str(path[0]), str(other[0])):
                    yield Nested(path, other, True)
        folders = _Heads((name, name) for name in below)
        # Two paths with any text in them are said only where one begins as the other one is.
        some = {
            texts: _Heads((head_of(path), path) for path in computed if texts or not opaque(path))
            for texts in (False, True)
        }
        inside: dict[str, list[Path]] = {}
        for path in computed:
            for above in _above(shown(path)) if opaque(path) else ():
                inside.setdefault(above, []).append(path)
        for path in files:
            head = f"{path[0]}/" if is_literal(path) else head_of(path)
            if not is_literal(path):
                for name in folders.longer(head):
                    if contains(path, (f"{name}/\0",)):
                        yield from (Nested(path, other, False) for other in below[name])
            texts = opaque(path)
            others = some[not texts]
            for other in (
                *others.longer(head),
                *others.shorter(head),
                *(inside.get(shown(path), ()) if texts else ()),
            ):
                if other != path and contains(path, other):
                    yield Nested(path, other, _always(path, other))

    def doubts(self, pairs: Iterable[Nested]) -> dict[str, list[Place]]:
        """By path as it is shown, the steps of those of which nothing else is assumed: a path with any text in it has an
        assumption."""
        places: dict[str, set[Place]] = {}
        for pair in pairs:
            for path in () if pair.certain else (pair.above, pair.below):
                if not opaque(path):
                    places.setdefault(shown(path), set()).update(self.made[path])
        return {name: sorted(places[name]) for name in sorted(places)}

    def _said(self, above: str, below: str) -> bool:
        """True where one plan names both, which is said in that plan (`file_places`)."""
        return any(above in names and below in names for names in self._by_unit)


class _Heads(_Of[T]):
    """Things by what their paths begin with, so that few are compared of many."""

    def __init__(self, rows: Iterable[tuple[str, T]]) -> None:
        self._by_head: dict[str, list[T]] = {}
        for head, one in rows:
            self._by_head.setdefault(head, []).append(one)
        self._sorted = sorted(self._by_head)
        self._lengths = sorted({len(head) for head in self._sorted})

    def longer(self, head: str) -> Iterator[T]:
        """Those that begin with `head`."""
        for at in range(bisect_left(self._sorted, head), len(self._sorted)):
            found = self._sorted[at]
            if not found.startswith(head):
                return
            yield from self._by_head[found]

    def shorter(self, head: str) -> Iterator[T]:
        """Those whose beginning is a part of `head`, and not all of it."""
        for end in self._lengths:
            if end >= len(head):
                return
            yield from self._by_head.get(head[:end], ())


def _leads(root: Instance) -> dict[int, Span]:
    """By instance: the first call of the judged plan that leads to it."""
    out: dict[int, Span] = {}
    for invoke, callee in zip(root.unit.calls, root.callees, strict=True):
        work = [callee]
        while work:
            one = work.pop()
            if one is not None and id(one) not in out:
                out[id(one)] = root.unit.span(invoke.call)
                work += one.callees
    return out


def makes_folder(act: Act, access: str) -> bool:
    """True where what a step makes at a path may be a folder: it writes no text there, and moves no file to it."""
    return access == "create" and act.bound.tool.block is None and len(act.bound.files) == 1


def _above(name: str) -> list[str]:
    return [name[:at] for at, letter in enumerate(name) if letter == "/"]


def _always(above: Path, below: Path) -> bool:
    """True where the second path begins with the first, and the values in it are the same ones."""
    held = any(type(part) is tuple and part[0] == NOBODY for part in above)
    return not held and shown(below).startswith(shown(above) + "/")
