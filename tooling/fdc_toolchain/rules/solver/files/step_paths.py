"""Which paths the steps of a plan name, and which folders they look through."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....diagnostics.span import Span
from ....linking.model import Act, Invoke, Unit
from ....syntax.values import Value
from .bodies import is_literal
from .effects import CHANGES, CREATES, UNKNOWN, Effect, effect_of, settled
from .failures import CauseTable
from .path_language import NOBODY, SETTLED
from .paths import Path, filled, looked_through, path_of

LOOKS = ("list_files", "grep")
"""Tools that fail where the folder or file that they look through is not there."""


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

    def of(self, unit: Unit, value: Value, env: dict[str, Path]) -> Path:
        """The path that an argument names, with the values that no one can name marked."""
        path = path_of(value)
        if is_literal(path):
            return path
        unstable = self.unstable(unit)
        if any(type(part) is tuple and part[0] in unstable for part in path):
            path = tuple(
                (NOBODY, *part) if type(part) is tuple and part[0] in unstable else part
                for part in path
            )
        if not env:
            return path
        known = filled(path, env)[
            0
        ]  # an empty one names no file, and what the step does then no one follows
        return known or tuple((NOBODY, *part) if type(part) is tuple else part for part in path)

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

    def above(self, name: str, access: str) -> list[Path]:
        """The folders that some plan looks through which are there once a file is, or the file as one of them."""
        names = [name]
        if CHANGES[access] == CREATES:
            names += [name[:at] for at, char in enumerate(name) if char == "/"]
        return [(f"{one}/",) for one in names if one in self.folders]

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
                access = "match" if any(mark in value.text for mark in "*?[") else "list"
                yield (
                    (SETTLED, *self.of(unit, value, env)),
                    settled(effect_of(access, span, self.causes), UNKNOWN),
                )

    def source(self, unit: Unit, node: Act, env: dict[str, Path]) -> Path | None:
        """The path that a step which gives a file another name takes away."""
        gone = next((value for access, value in node.bound.files if access == "delete"), None)
        return None if gone is None else self.of(unit, gone, env)
