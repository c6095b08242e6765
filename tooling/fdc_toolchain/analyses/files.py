"""Files: there before they are used, absent before they are created, in every run (FDC-19 to FDC-22, FDC-32).

Each path is a little machine of its own with four states: absent, present, unknown, and made by a
command if at all. What a body does to a path is then a table from entry state to exit states, with the steps that fail
from that entry; tables compose, so a plan is looked at once, however often it is called, and
its effects are visible to its callers.

Where a path starts: a literal one as the workspace has it now; the file of a `for_each_file`
present; any other computed path unknown, and never reported before the plan itself settles it.
Two computed paths are taken for different files, and one whose name the plan binds twice is not
followed at all. Where a call makes two of the callee's paths one, the callee is looked at once
more with these arguments. A shell step may create files that no one names: what was absent is
there after it if the command made it, so a use of it is neither proved nor refuted, and is said
as a warning (FDC414). What was present is believed to stay.

A branch of a fork that keeps failures may end anywhere, so a path is afterwards in any of the states
that it was in on the way: what it creates may not be there, what it deletes in the end may still be.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ..resolve.bound import bound_in
from ..resolve.graph import Instance
from ..resolve.model import Act, Choice, Invoke, Loop, Node, Unit
from ..syntax.values import Ref, Value
from ..text.diagnostic import Diagnostic, Label
from ..text.span import Span
from .paths import Path, filled, inner_name, outer_name, path_of, shown
from .rule import Context

ABSENT, PRESENT, UNKNOWN, MADE = 1, 2, 4, 8
"""`MADE`: nothing but a command can have created it."""

class Failure(NamedTuple):
    """A step that fails: what it wanted, where it stands, and where the judged plan's text leads to it.

    `perhaps`: unless a command has made the file.
    """

    access: str
    step: Span
    outer: Span
    perhaps: bool = False


Failures = frozenset[Failure]
FourFailures = tuple[Failures, Failures, Failures, Failures]
Exits = tuple[int, int, int, int]


class Effect(NamedTuple):
    """What happens to one path: exit states and failures by entry state (absent, present, unknown, made)."""

    exits: Exits
    failures: FourFailures
    writes: bool


_SETTLED = "\0"
"""Starts the key of a path that nobody outside can name, kept for its failures."""

_NONE: Failures = frozenset()
_NOWHERE = (_NONE, _NONE, _NONE, _NONE)
_SAME = Effect((ABSENT, PRESENT, UNKNOWN, MADE), _NOWHERE, False)
_SHELL = Effect((MADE, PRESENT, UNKNOWN, MADE), _NOWHERE, False)

_THERE = (PRESENT, PRESENT, PRESENT, PRESENT)
"""The only tuple of these four, so that `is` tells (see `_exits`)."""
_GONE = (ABSENT, ABSENT, ABSENT, ABSENT)

_STATES = [tuple(state for state in range(4) if mask >> state & 1) for mask in range(16)]
"""By mask: the numbers of the states in it."""

_MAYBE = Effect((ABSENT | MADE, PRESENT, UNKNOWN, MADE), _NOWHERE, False)
"""A shell step on some runs; with `_SAME` and `_SHELL` all that can happen to a path that a body does not name."""

_TABLE = {
    # access: exits from each entry; the entry that fails
    "read": (_THERE, 0, False),
    "edit": (_THERE, 0, True),
    "write": (_THERE, None, True),
    "create": (_THERE, 1, True),
    "delete": (_GONE, 0, True),
}


class Effects(NamedTuple):
    """The effects of a body: on the paths it names, and on every other (`rest`)."""

    paths: dict[Path, Effect]
    rest: Effect

    def of(self, path: Path) -> Effect:
        """The effect on any path."""
        return self.paths.get(path, self.rest)


class Outcomes(NamedTuple):
    """The effects of a body that comes to its end, and those of one that may stop anywhere; None where nobody asks."""

    ends: Effects
    stops: Effects | None


Given = tuple[tuple[str, Path], ...]
"""What a callee's parameters stand for, in the names of the caller (`_OUTER` before each)."""


def _then(first: Effect, second: Effect) -> Effect:
    if first is _SAME or second is _SAME:
        return second if first is _SAME else first
    if first.exits is _THERE and second.exits[1] == PRESENT and not second.failures[1] and first.writes >= second.writes:
        return first  # it is there, and stays
    exits, failures = second.exits, first.failures
    if exits is not _THERE and exits is not _GONE:  # which are the same wherever one comes from
        exits = _composed(first.exits, exits)
    if second.failures is not _NOWHERE:
        failures = tuple(map(partial(_wrong, second.failures), first.exits, failures))  # type: ignore[assignment]
    return Effect(exits, failures, first.writes or second.writes)


def _composed(first: Exits, second: Exits) -> Exits:
    exits = []
    for middle in first:
        out = 0
        for state in _STATES[middle]:
            out |= second[state]
        exits.append(out)
    return _exits(tuple(exits))


def _exits(exits: tuple[int, ...]) -> Exits:
    return _THERE if exits == _THERE else exits  # type: ignore[return-value]


def _wrong(second: FourFailures, middle: int, wrong: Failures) -> Failures:
    """What fails on the way to the states in `middle`, and then what fails from them."""
    for state in _STATES[middle]:
        if second[state]:
            wrong |= second[state]
    return wrong


def _or(first: Effect, second: Effect) -> Effect:
    if first is second:
        return first
    exits, failures = first.exits, first.failures
    if exits is not second.exits:
        exits = _exits(tuple(a | b for a, b in zip(exits, second.exits, strict=True)))
    if failures is _NOWHERE:
        failures = second.failures
    elif failures is not second.failures and second.failures is not _NOWHERE:
        failures = tuple(a | b for a, b in zip(failures, second.failures, strict=True))  # type: ignore[assignment]
    return Effect(exits, failures, first.writes or second.writes)


def _repeat(body: Effect, least: int, most: int | None) -> Effect:
    """Between `least` (0 or 1) and `most` times. Four states: four rounds reach everything that can be reached."""
    if body is _SAME:
        return body
    total = body if least else _SAME
    turn = total
    for _ in range(min(4, 4 if most is None else most - least)):
        before, turn = turn, _then(turn, body)
        if turn == before:
            break
        total = _or(total, turn)
    return total


class Files:
    """Effects of plans and bodies, each plan once. `conflicts` collects what branches of a fork all write."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Given, bool], Outcomes] = {}
        self._apart: dict[int, tuple[dict[Path, Effect], list[tuple[Path, Effect]]]] = {}
        self._unstable: dict[str, set[str]] = {}
        self._again = 0
        self.conflicts: dict[tuple[int, Path], tuple[Instance, Loop]] = {}

    def plan(self, instance: Instance, given: Given = ()) -> Effects:
        """The effects of a whole plan on the paths that its parameters and literals make."""
        return self._plan(instance, given, stopping=False).ends

    def _plan(self, instance: Instance, given: Given, *, stopping: bool) -> Outcomes:
        key = (id(instance), given, stopping)
        found = self._known.get(key)
        if found is None:
            self._again += bool(given)
            ends, stops = self._body(instance, instance.unit.body, dict(given), stopping=stopping)
            self._again -= bool(given)
            local = instance.unit.names - {"run"}
            local = local if given else local - set(instance.unit.params)
            found = self._known[key] = Outcomes(_forget(ends, local, None), stops and _forget(stops, local, None))
        return found

    def body(self, instance: Instance, nodes: list[Node], env: dict[str, Path]) -> Effects:
        """The effects of a body in order; `env` holds names that stand for another path."""
        return self._body(instance, nodes, env, stopping=False).ends

    def _body(self, instance: Instance, nodes: list[Node], env: dict[str, Path], *, stopping: bool) -> Outcomes:
        paths: dict[Path, Effect] = {}
        rest = _SAME
        # Where it may stop: what was so of a path at any time, and of every other.
        ever: dict[Path, Effect] = {}
        rest_ever = _SAME
        # What shell steps do to a path is put to it when it is asked for next: one certain shell
        # step does all that any number does, and so does one possible one. By path: how many of
        # each its effect accounts for.
        certain = possible = 0
        seen: dict[Path, tuple[int, int]] = {}
        # Calls that changed nothing, with the number of changes until then: the next such call changes nothing either.
        idle: dict[int, tuple[Effects, int]] = {}
        changes = 0

        def now(path: Path) -> Effect:
            found = paths.get(path)
            if found is None:
                return rest
            if found.exits is _THERE:  # no command removes it
                return found
            before = seen[path]
            if before[0] != certain:
                return _then(found, _SHELL)
            return found if before[1] == possible else _then(found, _MAYBE)

        def put(path: Path, before: Effect, effect: Effect, outer: Span | None = None) -> None:
            nonlocal changes
            after = _then(before, effect)
            if after is before:
                return
            if outer is not None:
                after = _then(before, _moved(effect, outer))
            if stopping:
                ever[path] = _or(_or(ever.get(path, rest_ever), before), after)
            paths[path] = after
            seen[path] = (certain, possible)
            changes += 1

        for node in nodes:
            if isinstance(node, Act):
                for access, value in node.bound.files:
                    path = self._path(instance.unit, value, env)
                    if path is None:
                        continue
                    here = now(path)
                    if access != "read" or here.exits is not _THERE:
                        put(path, here, _effect(access, instance.unit.span(node.step)))
                if node.bound.tool.writes_unknown:
                    certain += 1
                    if rest is not _SHELL:
                        rest = _then(rest, _SHELL)
                        rest_ever = _or(rest_ever, rest)
                continue
            outer = None
            if isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is None:
                    continue
                inner, stops = self._called(instance, node, callee, env, stopping=stopping)
                outer = instance.unit.span(node.call)
            elif isinstance(node, Loop):
                inner, stops = self._loop(instance, node, env, stopping=stopping)
            elif isinstance(node, Choice):
                inner, stops = self._choice(instance, node, env, stopping=stopping)
            else:
                continue
            known = idle.get(id(inner))
            nothing = known is not None and known[1] == changes and stops is None
            named = {} if nothing else inner.paths
            before = {path: now(path) for path in named}
            if stops is not None:  # what is nowhere named in there is no more than before or after
                for path, effect in stops.paths.items():
                    here = before[path] if path in before else now(path)
                    after = _then(here, effect if outer is None else _moved(effect, outer))
                    ever[path] = _or(_or(ever.get(path, rest_ever), here), after)
            if inner.rest.exits == _SHELL.exits:
                certain += 1
            elif inner.rest.exits != _SAME.exits:
                possible += 1
            unchanged = changes
            for path, effect in named.items():
                put(path, before[path], effect, outer)
            if changes == unchanged and outer is not None:
                idle[id(inner)] = inner, changes
            rest = _then(rest, inner.rest)
            rest_ever = _or(rest_ever, rest)
        ends = Effects({path: now(path) for path in paths}, rest)
        if not stopping:
            return Outcomes(ends, None)
        return Outcomes(ends, Effects({path: _or(effect, ends.of(path)) for path, effect in ever.items()}, rest_ever))

    def _path(self, unit: Unit, value: Value, env: dict[str, Path]) -> Path | None:
        """The path that an argument names, or None where a name in it is bound more than once."""
        path = path_of(value)
        if len(path) == 1 and isinstance(path[0], str):
            return path
        unstable = self._unstable.get(unit.key)
        if unstable is None:
            unstable = self._unstable[unit.key] = bound_twice(unit)
        if any(isinstance(part, tuple) and part[0] in unstable for part in path):
            return None
        return filled(path, env)[0] if env else path

    def _called(
        self, instance: Instance, node: Invoke, callee: Instance, env: dict[str, Path], *, stopping: bool
    ) -> Outcomes:
        given: dict[str, Path] = {}
        for name, param in callee.unit.params.items():
            value = node.arguments.get(name)
            if value is not None:
                parts = tuple(part.path if isinstance(part, Ref) else part for part in value.parts)
                given[name] = filled(parts, env)[0] if env else parts
            elif param.default is not None:
                given[name] = (param.default,)
        known = self._plan(callee, (), stopping=stopping)
        found = [self._as_called(effects, given) for effects in known if effects is not None]
        if None in found:  # two of its paths are one here
            given_paths = tuple((name, outer_name(path)) for name, path in given.items())
            known = self._plan(callee, given_paths, stopping=stopping)
            found = [
                Effects({inner_name(path): effect for path, effect in effects.paths.items()}, effects.rest)
                for effects in known
                if effects is not None
            ]
        return Outcomes(*found, *(() if stopping else (None,)))  # type: ignore[arg-type]

    def _as_called(self, effects: Effects, given: dict[str, Path]) -> Effects | None:
        """A plan's effects on the paths of its caller; None where two of its paths are one there."""
        apart = self._apart.get(id(effects))
        if apart is None:
            fixed, computed = {}, []
            for path, effect in effects.paths.items():
                if path[0] == _SETTLED or all(isinstance(part, str) for part in path):
                    fixed[path] = effect
                else:
                    computed.append((path, effect))
            apart = self._apart[id(effects)] = fixed, computed
        fixed, computed = apart
        if not computed:
            return effects
        paths = dict(fixed)
        for path, effect in computed:
            key, whole = filled(path, given)
            if not whole:  # a field of an argument that has none, or no argument: reported elsewhere
                effect = _settled(effect, 2)
                key = (_SETTLED, *path)
            if key in paths:
                return None
            paths[key] = effect
        return Effects(paths, effects.rest)

    def _choice(self, instance: Instance, node: Choice, env: dict[str, Path], *, stopping: bool) -> Outcomes:
        if node.known is not None:
            return self._body(instance, node.then if node.known else node.orelse, env, stopping=stopping)
        then = self._body(instance, node.then, env, stopping=stopping)
        orelse = self._body(instance, node.orelse, env, stopping=stopping)
        stops = None if then.stops is None or orelse.stops is None else _either(then.stops, orelse.stops)
        return Outcomes(_either(then.ends, orelse.ends), stops)

    def _loop(self, instance: Instance, node: Loop, env: dict[str, Path], *, stopping: bool) -> Outcomes:
        inner = {name: path for name, path in env.items() if name not in (node.name, node.alias)}
        if node.name and node.alias:
            inner[node.name] = ((node.alias,),)  # two names of one file
        ends, stops = self._body(instance, node.body, inner, stopping=stopping or node.keeps)
        local = {name for name in (node.name, node.alias) if name} | bound_in(node.body)
        present = node.alias if node.kind == "each" else None
        ends = _forget(ends, local, present)
        if stops is None:
            return Outcomes(self._turns(instance, node, ends), None)
        stops = _forget(stops, local, present)
        if node.keeps:
            return Outcomes(self._turns(instance, node, stops), None)
        if node.kind == "fork":  # several branches may stop, and then what is around the fork does
            return Outcomes(self._turns(instance, node, ends), self._turns(instance, node, stops))
        turns = self._turns(instance, node, ends)
        fewer = None if node.most is None else node.most - 1
        cut = {path: _then(_repeat(ends.of(path), 0, fewer), effect) for path, effect in stops.paths.items()}
        return Outcomes(turns, Effects(cut, _then(_repeat(ends.rest, 0, fewer), stops.rest)))

    def _turns(self, instance: Instance, node: Loop, outer: Effects) -> Effects:
        """What a loop does whose turns do `outer`."""
        paths = {}
        for path, effect in outer.paths.items():
            if node.kind == "fork" and node.most != 1 and effect.writes and path[0] != _SETTLED:
                if not self._again:
                    self.conflicts.setdefault((id(node), path), (instance, node))
                paths[path] = _repeat(effect, 0, 1)  # what turns do to each other is said by that
            else:
                paths[path] = _repeat(effect, node.least, node.most)
        return Effects(paths, _repeat(outer.rest, node.least, node.most))


def _either(one: Effects, other: Effects) -> Effects:
    paths = {path: _or(one.of(path), other.of(path)) for path in {**one.paths, **other.paths}}
    return Effects(paths, _or(one.rest, other.rest))


def bound_twice(unit: Unit) -> set[str]:
    """Names of results that are bound at two places, or have a second meaning: which file they name is not followed."""
    seen = set(unit.params)
    out = {name for name in unit.results if name in unit.loops and name not in unit.params}
    for name in unit.results:
        (out if name in seen else seen).add(name)
    return out


def _moved(effect: Effect, outer: Span) -> Effect:
    """The effect as the caller sees it: what fails, fails at the call."""
    if effect.failures is _NOWHERE or not any(effect.failures):
        return effect
    failures = tuple(
        frozenset([Failure(access, step, outer, perhaps) for access, step, _, perhaps in wrong]) if wrong else wrong
        for wrong in effect.failures
    )
    return Effect(effect.exits, failures, effect.writes)  # type: ignore[arg-type]


def _settled(effect: Effect, entry: int) -> Effect:
    """What is left of the effect on a path that begins in one state: its failures, from wherever."""
    failures = effect.failures[entry]
    return Effect(_SAME.exits, (failures, failures, failures, failures), False)


def _forget(effects: Effects, local: set[str], present: str | None) -> Effects:
    """Settles the paths that only this body can name; the file `present` was there."""
    paths: dict[Path, Effect] = {}
    for path, effect in effects.paths.items():
        if path[0] == _SETTLED or local.isdisjoint([part[0] for part in path if type(part) is tuple]):
            paths[path] = effect
            continue
        settled = _settled(effect, 1 if path == ((present,),) else 2)
        if settled.failures[0]:
            paths[(_SETTLED, *path)] = settled
    return Effects(paths, effects.rest)


def _effect(access: str, span: Span) -> Effect:
    exits, wrong, writes = _TABLE[access]
    failures = [*_NOWHERE]
    if wrong is not None:
        failures[wrong] = frozenset((Failure(access, span, span),))
    if wrong == 0:
        failures[3] = frozenset((Failure(access, span, span, True),))
    return Effect(exits, tuple(failures), writes)  # type: ignore[arg-type]


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root, from the workspace as it is now, and those of every fork."""
    files = Files()
    exists = context.linker.files.exists
    for instance, _ in context.roots:
        effects = files.plan(instance)
        probes = context.probes.setdefault(instance.unit.key, set())
        found: list[tuple[Path, Failure, int]] = []
        for path, effect in effects.paths.items():
            if len(path) == 1 and isinstance(path[0], str):
                probes.add(path[0])
                entry = 1 if exists(path[0]) else 0
            else:
                entry = 2
            found += [(path, failure, entry) for failure in effect.failures[entry]]
        certain = {failure for _, failure, _ in found}
        for path, failure, entry in found:
            if not (failure.perhaps and failure._replace(perhaps=False) in certain):
                yield _finding(path, failure, entry)
    for instance in context.order:
        files.plan(instance)
    for (_, path), (instance, fork) in files.conflicts.items():
        name = fork.name or "NAME"
        message = f"every branch of this fork writes `{shown(path)}`, and they run at the same time"
        help_ = f"give each branch a path of its own, such as one with `{{{name}}}` in it"
        yield Diagnostic(instance.unit.span(fork.node), "FDC413", message, help=help_)


def _finding(path: Path, failure: Failure, entry: int) -> Diagnostic:
    name = shown(tuple(part for part in path if part != _SETTLED))
    labels = () if failure.outer == failure.step else (Label(failure.step, "this step"),)
    if failure.access == "fork":
        help_ = "let the path depend on the branch's own name"
        return Diagnostic(failure.outer, "FDC413", f"parallel branches all write `{name}`", labels, help=help_)
    if failure.access == "create":
        code, message = "FDC412", f"Cannot create `{name}`: it already exists"
        help_ = "an earlier step, or an earlier turn of the loop, creates it"
        if entry == 1:
            help_ = "use `overwrite_file_with_block` to replace it"
    elif failure.perhaps:
        code, message = "FDC414", f"`{name}` is there only if a command before this step makes it"
        help_ = "create it in a step, or read another file; a suppression with a reason says that the command does"
    else:
        code, message = "FDC411", f"Cannot access `{name}`: it does not exist at this point"
        help_ = "an earlier step deletes or renames it"
        if entry == 0:
            help_ = "a step that creates it must come before, on every run"
    return Diagnostic(failure.outer, code, message, labels, help=help_)
