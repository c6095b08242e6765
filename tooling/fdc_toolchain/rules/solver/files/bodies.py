"""The effects of a body on files: on each path that it names, and on all others (`files` creates them).

Bodies are joined, moved into callers, and rid of names that only they know.
"""

from __future__ import annotations

from ....named_tuples import NamedTuple
from .effects import (
    BY_CHANCE,
    CERTAINLY,
    COMMANDS,
    DELETES,
    EDITS,
    NOWHERE,
    PERHAPS,
    SAME,
    UNKNOWN,
    Causes,
    Effect,
    Moves,
    either,
    interference,
    moved,
    only_passes,
    repeat,
    settled,
    then,
)
from .path_language import ALLOW, APART, CHANCE, NOBODY, SETTLED, hits
from .paths import Path, inner_name

NO_CAUSES: Causes = 0

Wild = dict[Path, tuple[int, Causes]]
"""What steps may do to files that are named in other words, by the path that they name (bits of `file_effects`)."""


class Effects(NamedTuple):
    """The effects of a body: on the paths it names, and on every other.

    `rest`: what its commands do; `wild`: what its steps with computed paths, and commands that may write some
    files only, may do; `fixed`: what its steps with literal paths do, which matters to computed ones.
    """

    paths: dict[Path, Effect]
    rest: Effect
    wild: Wild
    fixed: Wild

    def of(self, path: Path) -> Effect:
        """The effect on any path."""
        found = self.paths.get(path)
        return found if found is not None else elsewhere(path, self)


class Outcomes(NamedTuple):
    """The effects of a body that comes to its end, and those of one that may stop anywhere; None where no caller asks."""

    ends: Effects
    stops: Effects | None


def joined(into: Wild, more: Wild) -> None:
    """Adds the effects of more steps."""
    for path, (bits, why) in more.items():
        known = into.get(path)
        into[path] = (bits, why) if known is None else (known[0] | bits, known[1] | why)


def is_literal(path: Path) -> bool:
    return len(path) == 1 and type(path[0]) is str


def elsewhere(path: Path, effects: Effects) -> Effect:
    """The effect of a body on a path that it does not name."""
    if not effects.wild and (not effects.fixed or is_literal(path)):
        return effects.rest
    bits, causes = 0, effects.rest.tail
    folder = is_literal(path) and str(path[0]).endswith("/")
    tables = (effects.wild,) if is_literal(path) else (effects.wild, effects.fixed)
    for table in tables:
        for other, (done, why) in table.items():
            done &= ~EDITS
            if other == path or not done:
                continue
            met = hits(other, path)
            if met != APART:
                if folder:  # it stays when a file in it goes
                    done &= ~DELETES
                bits |= done << BY_CHANCE if met == CHANCE and not done & COMMANDS else done
                causes |= why
    if not bits:
        return effects.rest
    return Effect(interference(effects.rest.exits, bits), NOWHERE, 0, causes)


def perhaps(wild: Wild) -> Wild:
    """The same on some runs only: a command that did not run has made nothing."""
    if not any(bits & CERTAINLY for bits, _ in wild.values()):
        return wild
    return {
        path: (bits & ~CERTAINLY | PERHAPS if bits & CERTAINLY else bits, why)
        for path, (bits, why) in wild.items()
    }


def either_body(one: Effects, other: Effects) -> Effects:
    paths = {path: either(one.of(path), other.of(path)) for path in {**one.paths, **other.paths}}
    wild: Wild = {}
    for path in {**one.wild, **other.wild}:
        (bits, why), (more, causes) = (
            one.wild.get(path, (0, NO_CAUSES)),
            other.wild.get(path, (0, NO_CAUSES)),
        )
        both = bits | more
        if both & CERTAINLY and not bits & more & CERTAINLY:
            both = both & ~CERTAINLY | PERHAPS
        wild[path] = both, why | causes
    fixed = dict(one.fixed)
    joined(fixed, other.fixed)
    return Effects(paths, either(one.rest, other.rest), wild, fixed)


def either_outcome(one: Outcomes, other: Outcomes) -> Outcomes:
    stops = one.stops and other.stops and either_body(one.stops, other.stops)
    return Outcomes(either_body(one.ends, other.ends), stops)


def mingled(effects: Effects, params: set[str]) -> bool:
    """True where what is given decides whether a path that is changed is another one that is named."""
    changed = {**effects.wild, **effects.fixed}
    files = [path for path, effect in effects.paths.items() if not only_passes(effect)]
    everything = dict.fromkeys((*files, *effects.wild))
    asked = [
        path
        for path in everything
        if any(type(part) is tuple and part[0] in params for part in path)
    ]
    for path in asked:
        for other in {**everything, **effects.fixed}:
            if (
                other is not path
                and other != path
                and other[0] != SETTLED
                and (path in changed or other in changed)
            ):
                if (
                    type(other[0]) is tuple
                    and other[0][:1] == (ALLOW,)
                    or hits(path, other) != APART
                ):
                    return True
    return False


def with_inner_names(effects: Effects) -> Effects:
    return Effects(
        {inner_name(path): effect for path, effect in effects.paths.items()},
        effects.rest,
        {inner_name(path): value for path, value in effects.wild.items()},
        effects.fixed,
    )


def moved_body(entry: Effects, moves: Moves) -> Effects:
    """What a callee's steps do, as steps of the call."""
    tables = [
        {path: (bits, moves.one_by_one(why)) for path, (bits, why) in table.items()}
        for table in (entry.wild, entry.fixed)
    ]
    return Effects(entry.paths, moved(entry.rest, moves), *tables)


def unnamed(path: Path, local: set[str]) -> Path:
    """The path with names that are known in a body only marked as values that no one can name."""
    if not any(type(part) is tuple and part[0] in local for part in path):
        return path
    return tuple(
        (NOBODY, *part) if type(part) is tuple and part[0] in local else part for part in path
    )


def other_rounds(effects: Effects, local: set[str], mine: Path) -> Effects:
    """What rounds with other files may do to the file `mine` of this one: what they name by their file is another path."""
    wild: Wild = {}
    for path, (bits, why) in effects.wild.items():
        if path != mine:
            there = unnamed(path, local)
            done, causes = wild.get(there, (0, NO_CAUSES))
            wild[there] = done | bits, causes | why
    return effects._replace(wild=wild)


def forget(
    effects: Effects, local: set[str], present: Path | None, *, again: bool = False
) -> Effects:
    """Settles the paths that only this body can name. The file `present` was there when its loop began.

    `again`: rounds before this one may have done something to it.
    """
    paths: dict[Path, Effect] = {}
    for path, effect in effects.paths.items():
        if path[0] != SETTLED and not local.isdisjoint(
            [part[0] for part in path if type(part) is tuple]
        ):
            if path == present:
                before = elsewhere(path, other_rounds(effects, local, path)) if again else SAME
                effect = settled(effect, before.exits[1], before.tail)
            else:
                effect = settled(effect, UNKNOWN)
            if not effect.failures[0]:
                continue
            path = (SETTLED, *path)
        known = paths.get(
            path
        )  # a plan that is called may have a name and a glob that are the same
        paths[path] = effect if known is None else then(known, effect)
    wild: Wild = {}
    for path, (bits, why) in effects.wild.items():
        path = unnamed(path, local)
        done, causes = wild.get(path, (0, NO_CAUSES))
        wild[path] = done | bits, causes | why
    return Effects(paths, effects.rest, wild, effects.fixed)


def in_a_turn(ends: Effects, stops: Effects, most: int | None, turns: Effects) -> Effects:
    """What a loop does that stops in one of its turns: the turns before it come to their ends. `turns`: all turns do."""
    fewer = None if most is None else most - 1
    paths = {
        path: then(repeat(ends.of(path), 0, fewer), effect) for path, effect in stops.paths.items()
    }
    rest = then(repeat(ends.rest, 0, fewer), stops.rest)
    return Effects(paths, rest, perhaps(turns.wild), turns.fixed)
