"""The effects of a called plan on the paths of its caller."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_

from .bodies import NO_CAUSES, Effects, Wild, is_literal, mingled
from .effects import UNKNOWN, Effect, Exits, only_passes, settled
from .failures import NOWHERE, has_error
from .path_language import SETTLED
from .paths import Path, filled

MOST_COMPUTED, MOST_LITERAL = 500, 10_000
"""Different paths that the calls of one plan may name: with values in them, which are compared, and without."""
MOST_AGAIN = 1_000
"""Pairs of a plan and what it is given, where the plan is looked at once more for that."""


class Called:
    """Inserts the arguments of calls into paths of called plans; results that do not depend on a call are computed once."""

    def __init__(self) -> None:
        self._apart: dict[int, tuple[dict[Path, Effect], list[tuple[Path, Effect]], bool]] = {}
        self._held: list[Effects] = []  # so that no other has the id of one of them

    def effects(self, effects: Effects, given: dict[str, Path]) -> Effects | None:
        """A plan's effects on the paths of its caller; None where they depend on what is given."""
        apart = self._apart.get(id(effects))
        if apart is None:
            fixed, computed = {}, []
            for path, effect in effects.paths.items():
                if path[0] == SETTLED or all(isinstance(part, str) for part in path):
                    fixed[path] = effect
                else:
                    computed.append((path, effect))
            self._held.append(effects)
            apart = self._apart[id(effects)] = fixed, computed, mingled(effects, set(given))
        fixed, computed, mixed = apart
        if not computed and not effects.wild:
            return effects
        if mixed:
            return None
        paths = dict(fixed)
        for path, effect in computed:
            key, whole = filled(path, given)
            if (
                not whole
            ):  # a field of an argument that has none, or no argument: reported elsewhere; or empty
                effect = settled(effect, UNKNOWN)
                key = (SETTLED, *path)
            if key in paths:
                return None
            paths[key] = effect
        wild: Wild = {}
        literal = dict(effects.fixed)
        for path, (bits, why) in effects.wild.items():
            key = filled(path, given)[0]
            if not key:
                continue
            table = literal if is_literal(key) else wild
            known, causes = table.get(key, (0, NO_CAUSES))
            table[key] = known | bits, causes | why
        return Effects(paths, effects.rest, wild, literal)


Again = tuple[int, tuple[tuple[str, Path], ...]]
"""A plan that is looked at again, and what it is given."""


class TooManyError(Exception):
    """The calls of a plan name more files than are followed."""


class Named:
    """The files that the calls of one plan name: each level of calls can multiply them, and they are compared in pairs."""

    def __init__(self) -> None:
        self.again: set[Again] = set()
        self._computed: set[Path] = set()
        self._literal: set[Path] = set()
        self._seen: dict[int, Effects] = {}  # held, so that no other has the id of one of them

    def looked_again(self, pairs: set[Again]) -> None:
        """Adds plans that were looked at again for a call. Raises TooManyError."""
        self.again |= pairs
        if len(self.again) > MOST_AGAIN:
            raise TooManyError

    def add(self, effects: Effects) -> None:
        """Adds what a call names. Raises TooManyError."""
        if id(effects) in self._seen:
            return
        self._seen[id(effects)] = effects
        for path in [path for path, effect in effects.paths.items() if not only_passes(effect)]:
            (self._literal if is_literal(path) else self._computed).add(path)
        if len(self._computed) > MOST_COMPUTED or len(self._literal) > MOST_LITERAL:
            raise TooManyError


class Row:
    """Calls of one plan that follow each other in a body, with nothing between them that touches files.

    From the third one on, a call finds what the one before it found, and what fails in it failed there for the same
    reasons. Nothing is said of it but errors, which are said at each call. So, where there are none, it is passed over.
    """

    __slots__ = ("_inner", "before", "_over")

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        """Records that another step accesses files. `before`: what the next call of the same plan finds, if it is known."""
        self._inner: Effects | None = None
        self.before: dict[Path, Effect] | None = None
        self._over: bool | None = None

    def over(
        self, inner: Effects, now: Callable[[Path], Effect], exits: Callable[[Path], Exits]
    ) -> bool:
        """True where a call that has these effects can be passed over; what is so `now` is asked for as little as can be, and
        mostly where it leads to (`exits`) is enough."""
        if self._inner is not inner or inner.wild:
            self.end()
            self._inner = inner
            return False
        before, self.before = self.before, None
        if self._over is None:
            if before is not None:
                after = {path: exits(path) for path in inner.paths}
                if all(effect.exits == after[path] for path, effect in before.items()):
                    self._over = _harmless(inner, after)
            if self._over is None:
                self.before = {path: now(path) for path in inner.paths}
        return self._over is True


_states: dict[Exits, int] = {}


def _harmless(inner: Effects, after: dict[Path, Exits]) -> bool:
    """Whether calls fail with no error where they find files so."""
    for path, effect in inner.paths.items():
        exits = after[path]
        states = _states.get(exits)
        if states is None:
            states = _states[exits] = reduce(or_, exits)
        if effect.failures is not NOWHERE and has_error(effect.failures, states):
            return False
    return True
