"""Which paths the steps of a plan name, and which folders they look through."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....diagnostics.span import Span
from ....linking.bound import always_rebound, bound_in, every, rebound
from ....linking.model import Act, Invoke, Loop, Node, Unit
from ....syntax.values import Value
from .bodies import is_literal
from .effects import (
    CHANGES,
    CREATES,
    NOWHERE,
    SAME,
    UNKNOWN,
    USES,
    Effect,
    effect_of,
    either,
    settled,
)
from .failures import CauseTable
from .path_language import NOBODY, SETTLED, VALUE, language_of
from .paths import Part, Path, filled, looked_through, path_of

LOOKS = ("list_files", "grep")
"""Tools that fail where the folder or file that they look through is not there."""
_RUN: tuple[Path, ...] = ((("run",),), *((("run",), end) for end in ("/", "/outside", "/outside/")))
"""Folders that may always be looked through."""


_MOST_BEFORE = 4
"""So many values of a name are followed back."""


def _fresh(names: set[str], mark: str) -> dict[str, Path]:
    """New values of names, each a value of its own for the node that the mark tells."""
    return {name: ((mark, name),) for name in names}


def _line(node: Node) -> int:
    if isinstance(node, Act):
        return node.step.line
    return node.call.line if isinstance(node, Invoke) else node.node.line


def _marks(nodes: list[Node]) -> set[str]:
    lines = {_line(node) for node in every(nodes)}
    return {f"{VALUE}{line}{end}" for line in lines for end in ("", "<")}


def bound_twice(unit: Unit) -> set[str]:
    """Names of results that are bound at two places, or have a second meaning: which file they name is not followed."""
    seen = set(unit.params)
    out = {name for name in unit.results if name in unit.loops and name not in unit.params}
    for name in unit.results:
        (out if name in seen else seen).add(name)
    return out


class StepPaths:
    """The paths of steps, each in the words of its plan.

    `folders`: the literal paths that some plan looks through; `single`: those of them that are files now.
    `doubtful`: some plan names a file by a value, or runs a command.
    """

    def __init__(
        self,
        folders: Collection[str],
        single: Collection[str],
        causes: CauseTable,
        *,
        doubtful: bool,
    ) -> None:
        self.causes = causes
        self.folders = frozenset(folders)
        self.single = frozenset(single)
        self.doubtful = doubtful
        self._unstable: dict[str, frozenset[str]] = {}
        self._before: dict[tuple[str, Part], Path] = {}
        """What a name of a plan that is bound again stood for before: on some runs it still does."""

    def of(self, unit: Unit, value: Value, env: dict[str, Path]) -> Path:
        """The path that an argument names, with the values that no one can name marked."""
        path = path_of(value)
        if is_literal(path):
            return path
        if not env:
            return path
        known = filled(path, env)[
            0
        ]  # an empty one names no file, and what the step does then no one follows
        return known or tuple((NOBODY, *part) if type(part) is tuple else part for part in path)

    def followed(
        self, unit: Unit, nodes: list[Node], env: dict[str, Path]
    ) -> Iterator[tuple[Node, dict[str, Path]]]:
        """The nodes of a body, with what names stand for there: a name that is bound twice is another value after each."""
        unstable = self.unstable(unit)
        for node in nodes:
            yield node, env
            if unstable and (again := rebound(node) & unstable):
                fresh = _fresh(again, f"{VALUE}{_line(node)}")
                self._perhaps(unit, again - always_rebound(node), fresh, env)
                env = env | fresh

    def _perhaps(
        self, unit: Unit, names: set[str], fresh: dict[str, Path], env: dict[str, Path]
    ) -> None:
        for name in names:
            self._before[unit.key, fresh[name][0]] = env.get(name, ((name,),))

    def inside(
        self, unit: Unit, loop: Loop, env: dict[str, Path], present: Path | None
    ) -> dict[str, Path]:
        """What names stand for when a round of a loop begins. `present`: the file of the round, which has two names."""
        own = set(filter(None, (loop.name, loop.alias)))
        inner = {name: path for name, path in env.items() if name not in own}
        if unstable := self.unstable(unit):
            again = set().union(*map(rebound, loop.body)) if loop.kind != "fork" else set()
            fresh = _fresh((again | own) & unstable, f"{VALUE}{_line(loop)}<")
            self._perhaps(unit, (again - own) & unstable, fresh, env)
            inner |= fresh
        return inner if present is None else inner | dict.fromkeys(own, present)

    def bound(self, unit: Unit, nodes: list[Node]) -> set[str]:
        """What paths begin with that only these nodes can name: names that they bind, and marks of their bindings."""
        unstable = self.unstable(unit)
        return (bound_in(nodes) - unstable) | (_marks(nodes) if unstable else set())

    def own(self, unit: Unit) -> set[str]:
        """As `bound`, of a whole plan: its names were counted while it was linked."""
        unstable = self.unstable(unit)
        names = {*unit.results, *unit.loops} - unstable
        return names | (_marks(unit.body) if unstable else set())

    def given(
        self, unit: Unit, call: Invoke, callee: Unit, env: dict[str, Path]
    ) -> dict[str, Path]:
        """What the parameters of a called plan stand for, in the names of the caller."""
        given: dict[str, Path] = {}
        for name, param in callee.params.items():
            value = call.arguments.get(name)
            if value is not None:
                given[name] = self.of(unit, value, env) if value.text else ("",)
            elif param.default is not None:
                given[name] = (param.default,)
        return given

    def unstable(self, unit: Unit) -> frozenset[str]:
        """The names of a plan of which no one follows which file they name."""
        found = self._unstable.get(unit.key)
        if found is None:
            found = self._unstable[unit.key] = frozenset(bound_twice(unit))
        return found

    def above(self, path: Path, access: str, effect: Effect) -> Iterator[tuple[Path, Effect]]:
        """The folders that some plan looks through which are there once a file is, or the file as one of them."""
        name = str(path[0])
        names = [name]
        if CHANGES[access] == CREATES:
            names += [name[:at] for at, char in enumerate(name) if char == "/"]
        on_it = Effect(effect.exits, NOWHERE, USES, effect.tail)
        yield from (((f"{one}/",), on_it) for one in names if one in self.folders)

    def through(
        self, unit: Unit, value: Value, env: dict[str, Path], span: Span
    ) -> Iterator[tuple[Path, Effect]]:
        """The folders on the way to a computed path, whatever values follow."""
        path = path_of(value)
        for number, part in enumerate(path):
            for at, char in enumerate(part if isinstance(part, str) else ""):
                below = (part[at:], *path[number + 1 :])
                if char == "/" and (at or number) and any(self._named(one, env) for one in below):
                    folder = (*path[:number], part[:at]) if at else path[:number]
                    folder = filled(folder, env)[0] or folder
                    passed = effect_of("through", span, self.causes)
                    for one in self._as_before(unit.key, folder):
                        yield one, passed if one == folder else either(SAME, passed)

    def _named(self, part: Part, env: dict[str, Path]) -> bool:
        """Whether a part of a path names something there, and not the folder before it."""
        if isinstance(part, str):
            return bool(part.strip("/."))
        known = env.get(part[0], (part,)) if len(part) == 1 else (part,)
        return any(one.strip("/.") if isinstance(one, str) else language_of(one) for one in known)

    def _as_before(self, key: str, path: Path) -> list[Path]:
        """The path, and what it was before its first name was bound again."""
        paths = [path]
        while path and (before := self._before.get((key, path[0]))) and len(paths) <= _MOST_BEFORE:
            path = (*before, *path[1:])
            paths.append(path)
        return paths

    def use(self, node: Act, access: str, span: Span) -> Effect:
        """What a step does to a file that it names: perhaps nothing, where its failure is a value and the run goes on."""
        effect = effect_of(access, span, self.causes, doubts=self.doubtful)
        return either(SAME, effect) if node.bound.tool.row.get("failure") == "value" else effect

    def looks(
        self, unit: Unit, node: Act, span: Span, env: dict[str, Path]
    ) -> Iterator[tuple[Path, Effect]]:
        """The folders and globs that a step looks through."""
        for parameter in node.bound.tool.parameters:
            value = node.bound.arguments.get(parameter.name) if parameter.kind == "glob" else None
            if value is None:
                continue
            name = looked_through(value)
            if name in self.single:
                yield (str(name),), effect_of("list", span, self.causes, doubts=self.doubtful)
            elif name is not None:
                yield (f"{name}/",), effect_of("list", span, self.causes)
            elif "{" in value.text:
                path = self.of(unit, value, env)
                is_glob = any(mark in value.text for mark in "*?[")
                access = "match" if is_glob or path in _RUN else "list"
                yield (
                    (SETTLED, *path),
                    settled(effect_of(access, span, self.causes), UNKNOWN),
                )

    def source(self, unit: Unit, node: Act, env: dict[str, Path]) -> Path | None:
        """The path that a step which gives a file another name takes away."""
        gone = next((value for access, value in node.bound.files if access == "delete"), None)
        return None if gone is None else self.of(unit, gone, env)
