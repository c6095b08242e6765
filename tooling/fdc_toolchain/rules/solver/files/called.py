"""The effects of a called plan on the paths of its caller."""

from __future__ import annotations

from .bodies import NO_CAUSES, Effects, Wild, is_literal, mingled
from .effects import UNKNOWN, Effect, settled
from .path_language import SETTLED
from .paths import Path, filled


class Called:
    """Puts what calls give into the paths of the plans that they call; what does not depend on a call is found once."""

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
            ):  # a field of an argument that has none, or no argument: reported elsewhere
                effect = settled(effect, UNKNOWN)
                key = (SETTLED, *path)
            if key in paths:
                return None
            paths[key] = effect
        wild: Wild = {}
        literal = dict(effects.fixed)
        for path, (bits, why) in effects.wild.items():
            key = filled(path, given)[0]
            table = literal if is_literal(key) else wild
            known, causes = table.get(key, (0, NO_CAUSES))
            table[key] = known | bits, causes | why
        return Effects(paths, effects.rest, wild, literal)
