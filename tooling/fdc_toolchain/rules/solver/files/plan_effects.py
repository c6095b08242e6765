"""What plans do to files, each plan once.

Each path is a little machine of its own (`file_effects`). What a body does to a path is a table from entry state
to exit states, with the steps that fail from that entry; tables compose, so a plan is looked at once, however
often it is called, and its effects are visible to its callers.

Where a path starts: a literal one as the workspace has it now; the file of a `for_each_file` present when the loop
is entered; any other computed path unknown. A path is touched certainly by a step that names it in the same words,
with the same values in them: the same literal, or the same binding in the same round. It is perhaps touched by a
step whose path may be the same (`path_language`), of which both outcomes are followed, and by every command that
may write there. A name that the plan binds twice is another value after each binding.

What a body does to paths that it does not name is kept beside the table: the effect of its commands (`rest`) and,
by computed path, what the steps that name it may do (`wild`). Where a callee's parameters decide whether two of
its paths are one, the callee is looked at once more with these arguments.

A branch of a fork that keeps failures may end anywhere: a path is afterwards in any state that it was in on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from ....linking.graph import Instance
from ....linking.model import Act, Choice, Invoke, Loop, Node
from ..kept_effects import KeptEffects
from .bodies import (
    NO_CAUSES,
    Effects,
    Outcomes,
    Wild,
    either_outcome,
    elsewhere,
    forget,
    in_a_turn,
    is_literal,
    joined,
    moved_body,
    perhaps,
    with_inner_names,
)
from .called import Again, Called, Named, Row, TooManyError
from .effects import (
    CERTAINLY,
    CHANGES,
    COMPUTED,
    NOWHERE,
    SAME,
    SHELL,
    THERE,
    UNKNOWN,
    Effect,
    Exits,
    effect_of,
    either,
    settled,
    then,
)
from .failures import CauseTable, Moves
from .fork_conflicts import ForkConflicts
from .log import Log
from .path_language import ALLOW, GLOB, NOBODY, SETTLED, glob_text, never_literal
from .paths import AS, Path, outer_name
from .step_paths import LOOKS, StepPaths

Given = tuple[tuple[str, Path], ...]
"""What a callee's parameters stand for, in the names of the caller."""
Limits = tuple[tuple[str, ...], ...]
"""The globs of every `allow write` in force."""


class Files:
    """Effects of plans and bodies, each plan once. `forks`: what branches do to each other; `cut`: plans that name too
    many files by calls, each with the first call that is not followed.
    `computed`: some plan names a file by a value; `commands`: some plan runs one.
    `folders`: the literal paths that some plan looks through; `single`: those of them that are files now.
    """

    def __init__(
        self,
        computed: bool = True,
        commands: bool = True,
        folders: Collection[str] = (),
        single: Collection[str] = (),
        kept: KeptEffects | None = None,
    ) -> None:
        self.computed = computed
        self.doubtful = computed or commands
        self.folders = {*folders, *single}
        self.kept = kept or KeptEffects()
        self.kept.stand_on((computed, commands, frozenset(folders), frozenset(single)))
        self.causes = CauseTable()
        self._tables: dict[int, CauseTable] = {}
        self._paths = StepPaths(folders, single, self.causes, doubtful=self.doubtful)
        self._known: dict[tuple[int, Given, bool, Limits], tuple[Outcomes, set[Again]]] = {}
        self._given = Called()
        self._named, self._again = Named(), 0
        self.cut: dict[int, tuple[Instance, Invoke]] = {}
        self._limits: Limits = ()
        self.forks = ForkConflicts()

    def table(self, instance: Instance) -> CauseTable:
        """The causes in a plan, each plan with numbers of its own."""
        return self._tables.setdefault(id(instance), self.kept.table(instance.unit.key))

    def plan(self, instance: Instance, given: Given = ()) -> Effects:
        """The effects of a whole plan on the paths that its parameters and literals make."""
        return self._plan(instance, given, stopping=False).ends

    def _plan(self, instance: Instance, given: Given, *, stopping: bool) -> Outcomes:
        limits, unit = self._limits, instance.unit
        if unit.allow:
            mine = (ALLOW, *(glob_text(ALLOW, glob) for glob in unit.allow.get("write", ())))
            self._limits = limits if mine in limits else (*limits, mine)
        key = (id(instance), given, stopping, self._limits)
        found = self._known.get(key)
        if found is None:
            outer = self.causes, self._named
            self.causes, self._named = self.table(instance), Named()
            self._paths.causes = self.causes
            self._again += bool(given)
            try:
                ends, stops = self._body(instance, unit.body, dict(given), stopping=stopping)
                again = {*self._named.again, (id(instance), given)} if given else set()
            finally:
                self._again -= bool(given)
                self.causes, self._named = outer
                self._paths.causes = self.causes
                self._limits = limits
            local = unit.names - {"run"} - set(() if given else unit.params)
            local |= self._paths.own(unit) - set(unit.params)
            ends = forget(ends, local, None)
            stops = stops and forget(stops, local, None)
            found = self._known[key] = Outcomes(ends, stops), again
        self._limits = limits
        if given:
            self._named.looked_again(found[1])
        return found[0]

    def _body(  # noqa: C901
        self, instance: Instance, nodes: list[Node], env: dict[str, Path], *, stopping: bool
    ) -> Outcomes:
        paths: dict[Path, Effect] = {}
        rest = SAME
        # Where it may stop: what was so of a path at any time, and of every other.
        ever: dict[Path, Effect] = {}
        rest_ever = SAME
        # What steps do to paths that they do not name is put to a path when it is asked for next. By path: how much
        # of the log its effect accounts for.
        log = Log()
        seen: dict[Path, int] = {}
        wild: Wild = {}
        fixed: Wild = {}
        # Calls that changed nothing, with the number of changes until then: the next such call changes nothing either.
        idle: dict[int, tuple[Effects, int]] = {}
        changes, row = 0, Row()
        unit = instance.unit

        def exits(path: Path) -> Exits:
            found = paths.get(path)
            if found is None or wild or fixed and not is_literal(path):
                return now(path).exits
            return log.exits_since(found, seen[path])

        def now(path: Path) -> Effect:
            found = paths.get(path)
            # commands do the same to every such path
            by_commands = not wild and (not fixed or is_literal(path) or never_literal(path))
            if found is not None:
                return log.since(path, found, seen[path], by_commands=by_commands)
            return rest if by_commands else log.since(path, SAME, 0, by_commands=False)

        def put(path: Path, before: Effect, effect: Effect, moves: Moves | None = None) -> None:
            nonlocal changes
            after = then(before, effect, moves)
            if after is before:
                return
            if stopping:
                ever[path] = either(
                    either(ever.get(path) or elsewhere(path, so_far()), before), after
                )
            paths[path] = after
            seen[path] = len(log)
            changes += 1

        def so_far() -> Effects:
            return Effects({}, rest_ever, wild, fixed)

        def logged(entry: Effects) -> None:
            nonlocal rest, rest_ever, changes
            log.add(entry)
            changes += 1
            if entry.rest is not SAME:
                rest = then(rest, entry.rest)
                if stopping:
                    rest_ever = either(rest_ever, rest)
            if entry.wild:
                joined(wild, entry.wild)
            if entry.fixed:
                joined(fixed, entry.fixed)

        for node, env in self._paths.followed(instance.unit, nodes, env):  # noqa: B020
            if type(node) is Act:
                bound = node.bound
                tool, uses = bound.tool, bound.files
                looks = tool.name in LOOKS
                if not uses and not looks and not tool.writes_unknown:
                    continue
                row.end()
                span = unit.span(node.step)
                changing = False
                if uses:
                    done: Wild = {}
                    computed: Wild = {}
                    for access, value in uses:
                        path = self._paths.of(unit, value, env)
                        literal = is_literal(path)
                        effect = self._paths.use(node, access, span)
                        causes = effect.tail
                        renames = access == "create" and len(uses) > 1
                        if renames and path == self._paths.source(unit, node, env):
                            effect = effect_of("same", span, self.causes)
                        if not literal and any(
                            type(part) is tuple and part[0] == NOBODY for part in path
                        ):
                            path, effect = (SETTLED, *path), settled(effect, UNKNOWN)
                            put(path, paths.get(path, SAME), effect)
                            path = path[1:]
                        else:
                            for folder, of_it in (
                                () if literal else self._paths.through(unit, value, env, span)
                            ):
                                put(folder, now(folder), of_it)
                            here = now(path)
                            if access != "read" or here.exits is not THERE:
                                put(path, here, effect)
                            if literal and self._paths.folders and access in CHANGES:
                                for folder, on_it in self._paths.above(path, access, effect):
                                    put(folder, now(folder), on_it)
                        bit = (CHANGES if literal else COMPUTED).get(access, 0)
                        if self.computed and bit:
                            changing = True
                            table = done if literal else computed
                            bits, why = table.get(path, (0, NO_CAUSES))
                            table[path] = bits | bit, why | causes
                    if changing:
                        logged(Effects({}, SAME, computed, done))
                        for path in (*done, *computed):
                            if path in seen:
                                seen[path] = len(log)
                if looks and not changing:
                    for path, effect in self._paths.looks(unit, node, span, env):
                        put(
                            path, now(path) if path[0] != SETTLED else paths.get(path, SAME), effect
                        )
                if tool.writes_unknown:
                    why = self.causes.caused("command", span)
                    if self._limits:
                        logged(Effects({}, SAME, {self._limits: (CERTAINLY, why)}, {}))
                    else:
                        logged(Effects({}, Effect(SHELL, NOWHERE, 0, why), {}, {}))
                continue
            moves = None
            if isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is None:
                    continue
                found = self._followed(instance, node, callee, env, stopping=stopping)
                if found is None:
                    continue
                inner, stops = found
                if stops is None and row.over(inner, now, exits):
                    continue
                moves = Moves(self.table(callee), self.causes, unit.span(node.call))
            elif isinstance(node, Loop | Choice):
                row.end()
                inner, stops = self._part(instance, node, env, stopping=stopping)
            else:
                continue
            nothing = stops is None and idle.get(id(inner), (inner, -1))[1] == changes
            named = {} if nothing else inner.paths
            before = (moves and named and row.before) or {path: now(path) for path in named}
            if stops is not None:  # what it names nowhere is as before or after
                for path, effect in stops.paths.items():
                    here = before[path] if path in before else now(path)
                    after = then(here, effect, moves)
                    ever[path] = either(
                        either(ever.get(path) or elsewhere(path, so_far()), here), after
                    )
            if inner.rest is not SAME or inner.wild or inner.fixed:
                entry = inner._replace(paths={})
                logged(entry if moves is None else moved_body(entry, moves))
            unchanged, count = changes, len(log.entries)
            for path, effect in named.items():
                put(path, before[path], effect, moves)
                if path in seen:
                    seen[path] = count
            if changes == unchanged and moves is not None:
                idle[id(inner)] = inner, changes
        ends = Effects({path: now(path) for path in paths}, rest, wild, fixed)
        if not stopping:
            return Outcomes(ends, None)
        stopped = {path: either(effect, ends.of(path)) for path, effect in ever.items()}
        return Outcomes(ends, Effects(stopped, rest_ever, perhaps(wild), fixed))

    def _followed(
        self,
        instance: Instance,
        node: Invoke,
        callee: Instance,
        env: dict[str, Path],
        *,
        stopping: bool,
    ) -> Outcomes | None:
        """What a call does; None in a plan whose calls, or whose callee's, name too many files."""
        if id(instance) in self.cut:
            return None
        try:
            found = self._called(instance, node, callee, env, stopping=stopping)
            if id(callee) in self.cut:
                return None
            self._named.add(found.ends)
        except TooManyError:
            if self._again:  # it depends on what a caller gives, and is said there
                raise
            self.cut[id(instance)] = instance, node
            return None
        return found

    def _called(
        self,
        instance: Instance,
        node: Invoke,
        callee: Instance,
        env: dict[str, Path],
        *,
        stopping: bool,
    ) -> Outcomes:
        given = self._paths.given(instance.unit, node, callee.unit, env)
        known = self._plan(callee, (), stopping=stopping)
        found = [self._given.effects(effects, given) for effects in known if effects is not None]
        if None in found:  # what its paths have to do with each other depends on what is given
            outer = tuple((name, outer_name(path)) for name, path in given.items())
            known = self._plan(callee, outer, stopping=stopping)
            found = [with_inner_names(effects) for effects in known if effects is not None]
        return Outcomes(*found, *(() if stopping else (None,)))  # type: ignore[arg-type]

    def _part(
        self, instance: Instance, node: Loop | Choice, env: dict[str, Path], *, stopping: bool
    ) -> Outcomes:
        """What a loop or an `if` does; one that stands in a plan by itself does what it did when it was looked at before."""
        made: Callable[..., Outcomes] = self._loop if type(node) is Loop else self._choice
        make = partial(made, instance, node, env, stopping=stopping)
        if not self.kept.lasting or env or stopping or self._limits or self._again:
            return make()
        return self.kept.of(node, self._paths.unstable(instance.unit), self.forks, make)

    def _choice(
        self, instance: Instance, node: Choice, env: dict[str, Path], *, stopping: bool
    ) -> Outcomes:
        look = partial(self._body, instance, env=env, stopping=stopping)
        if node.known is not None:
            return look(node.then if node.known else node.orelse)
        return either_outcome(look(node.then), look(node.orelse))

    def _loop(
        self, instance: Instance, node: Loop, env: dict[str, Path], *, stopping: bool
    ) -> Outcomes:
        present: Path | None = None
        if node.alias and node.over is not None:
            present = ((node.alias, glob_text(GLOB, node.over), AS + (node.name or node.alias)),)
        inner = self._paths.inside(instance.unit, node, env, present)
        ends, stops = self._body(instance, node.body, inner, stopping=stopping or node.keeps)
        if present is not None and node.over is not None and "{" in node.over.text:
            whole = (SETTLED, *self._paths.of(instance.unit, node.over, env))
            span = instance.unit.span(node.node)
            effect = settled(effect_of("match", span, self.causes), UNKNOWN)
            for outcome in (ends, stops):
                if outcome is not None:
                    outcome.paths[whole] = then(outcome.paths.get(whole, SAME), effect)
        local = {*filter(None, (node.name, node.alias))}
        local |= self._paths.bound(instance.unit, [node])
        if node.kind == "fork" and node.most != 1 and self.computed and not self._again:
            self.forks.look_at(instance, node, ends, local)
        turns = partial(self.forks.turns, instance, noted=not self._again)
        again = node.most != 1 and node.kind != "fork"
        ends = forget(ends, local, present, again=again)
        if stops is None:
            return Outcomes(turns(node, ends), None)
        stops = forget(stops, local, present, again=again)
        if node.keeps:
            return Outcomes(turns(node, stops), None)
        if node.kind == "fork":  # several branches may stop, and then what is around the fork does
            return Outcomes(turns(node, ends), turns(node, stops))
        every = turns(node, ends)
        return Outcomes(every, in_a_turn(ends, stops, node.most, every))
