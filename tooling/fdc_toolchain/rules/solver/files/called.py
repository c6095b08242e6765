"""The effects of a called plan on the paths of its caller."""

from __future__ import annotations

from collections.abc import Callable

from .bodies import NO_CAUSES, Effects, Wild, is_literal, mingled
from .effects import UNKNOWN, Effect, settled
from .failures import STATES_IN
from .path_language import SETTLED
from .paths import Path, filled


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


class Row:
    """Calls of one plan that follow each other in a body, with nothing between them that touches files.

    From the third one on, a call finds what the one before it found, and what fails in it failed there for the same
    reasons. Nothing is said of it but errors, which are said at each call. So, where there are none, it is passed over.
    """

    __slots__ = ("_inner", "_before", "_over")

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        """Records that another step accesses files."""
        self._inner: Effects | None = None
        self._before: dict[Path, Effect] | None = None
        self._over: bool | None = None

    def over(self, inner: Effects, now: Callable[[Path], Effect]) -> bool:
        """True where a call that has these effects can be passed over; what is so `now` is asked for as little as can be."""
        if self._inner is not inner or inner.wild:
            self.end()
            self._inner = inner
            return False
        if self._over is None:
            before = {path: now(path) for path in inner.paths}
            if self._before is not None:
                self._over = _settled(inner, self._before, before)
            self._before = before
        return self._over is True


def _settled(inner: Effects, before: dict[Path, Effect], after: dict[Path, Effect]) -> bool | None:
    """Whether calls do the same from here on, and fail with no error; None where it cannot be known yet."""
    if any(effect.exits != before[path].exits for path, effect in after.items()):
        return None
    for path, effect in inner.paths.items():
        states = 0
        for exits in after[path].exits:
            states |= exits
        for state in STATES_IN[states]:
            if any(failure.kind == "error" for failure in effect.failures[state]):
                return False
    return True
