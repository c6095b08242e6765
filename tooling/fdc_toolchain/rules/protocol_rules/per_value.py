"""A rule that holds for each value of an argument on its own: `same` (formal core, *skolem file*).

One value is fixed, which stands for any of its kind (`rules.solver.values`), and the plan is walked as under any
other rule; but only the steps count whose argument is that value. A literal argument is it or is not. The name
of a `for_each_file` is it in one turn of the loop, if the file was there when the loop began and the glob matches
it, and in no other turn. A plan's parameter is it where the caller gives it. What a run is given from outside
does not change while it lasts: an argument made of that is the value or is not, for the whole run, and both are
looked at; what is broken both ways, or for every value of such an argument, is broken for certain. Of any other
name nobody knows: the step counts or does not, and what depends on that is unproved.

Whether the file is there is followed from step to step: what creates it makes it be there, what deletes it ends
that, and a shell step may create it, as in `rules.files`; nobody else interferes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import islice, product
from typing import NamedTuple

from ...linking.bound import bound_in
from ...linking.graph import Instance
from ...linking.model import BUILT_IN, Act, Choice, Invoke, Loop, Node
from ...linking.protocol_rules import Obligation
from ...syntax.values import Ref, Value
from ...text import glob_match
from ..files import bound_twice
from ..solver import events, trace, values
from ..solver.counterexample import Reached, Refusal, Search, merge
from ..solver.words import Machine, Rows, Summaries
from .rule_machine import STOP, Case, machine_of

MOST_VALUES = 2000
"""Values that a plan may name before nobody looks at each of them."""

MOST_GIVEN = 4
"""Arguments made of what a run is given, all ways of which to be a value or not are looked at."""

_BECOMES = {"create": "+", "write": "+", "delete": "-"}


class View(Instance):
    """A plan as one call sees it: which of its names are the value, and which are certainly not."""

    __slots__ = ("base", "same", "other")

    def __init__(self, base: Instance, same: frozenset[str], other: frozenset[str]) -> None:
        super().__init__(base.unit, base.context)
        self.base = base
        self.callees = base.callees
        self.same = same
        self.other = other


class Given(NamedTuple):
    """An argument of the root's that is the same for a whole run: it is made of what the run is given."""

    value: Value
    leaf: trace.Leaf
    """Where it first stands."""


class Named(NamedTuple):
    """What the plans that a root reaches say about the argument: texts, globs, and whether they go through files.

    `kind` is `path` where the argument is one of a tool's that takes paths, else `word`.
    """

    literals: set[str]
    globs: set[values.Glob]
    files: bool
    kind: str


def named(root: Instance, rule: Obligation) -> Named:
    """Everything that can tell one value from another."""
    same = rule.same or ""
    reached = list(_reached(root))
    nodes = [node for instance in reached for node in _nodes(instance.unit.body)]
    files = any(isinstance(node, Loop) and node.kind == "each" for node in nodes)
    paths = any(
        isinstance(node, Act) and events.kind_of(node, same) in ("path", "glob") for node in nodes
    )
    out = Named(set(), set(), files, "path" if paths else "word")
    for group in rule.events:
        for event in group:
            for name, text in event.arguments:
                if name == rule.same:
                    out.globs.add(values.Glob(glob_match.compiled([(False, text)])))
    for instance in reached:
        for param in instance.unit.params.values():
            if param.default is not None:
                out.literals.add(_plain(param.default, out.kind))
    for node in nodes:
        if isinstance(node, Invoke):
            for value in node.arguments.values():
                _name(out, value, out.kind)
        elif isinstance(node, Loop) and node.kind == "each" and node.over is not None:
            literal = node.over.literal
            glob = None if literal is None else values.files_of(literal)
            if glob is not None:
                out.globs.add(glob)
        elif isinstance(node, Act):
            given = node.bound.arguments.get(same)
            if given is not None:
                _name(out, given, out.kind)
            for _, value in node.bound.files if files else ():
                _name(out, value, "path")
    return out


def _plain(text: str, kind: str) -> str:
    return glob_match.plain(text) if kind == "path" else text


def _name(out: Named, value: Value, kind: str) -> None:
    pattern = events.pattern_of(value, kind)
    if all(literal for literal, _ in pattern):
        out.literals.add("".join(text for _, text in pattern))
    elif pattern != events.ANYTHING:
        out.globs.add(values.Glob(glob_match.compiled(pattern)))


def _reached(root: Instance) -> Iterator[Instance]:
    seen = {id(root)}
    work = [root]
    while work:
        instance = work.pop()
        yield instance
        for callee in instance.callees:
            if callee is not None and id(callee) not in seen:
                seen.add(id(callee))
                work.append(callee)


def _nodes(nodes: list[Node]) -> Iterator[Node]:
    work = list(nodes)
    while work:
        node = work.pop()
        yield node
        if isinstance(node, Loop):
            work += node.body
        elif isinstance(node, Choice):
            work += node.then + node.orelse


class PerValue(Summaries):
    """The words of one rule about one value. States with a file that is there come after those without (`there`)."""

    def __init__(
        self,
        rule: Obligation,
        value: str,
        kind: str,
        root: Instance,
        fixed: Mapping[str, bool],
        *,
        files: bool,
    ) -> None:
        made = rule.machine
        one = machine_of(rule)
        self.rule = rule
        self.value = value
        self.kind = kind
        self.root_plan = root
        self.fixed = fixed
        self.files = files
        self._made = made
        count = len(made.states)
        copies = 2 if files else 1
        self.there = ((1 << count) - 1) << count if files else 0
        self.starts = (0, count)[:copies]
        accept = made.accept | made.accept << count if files else made.accept
        machine = Machine(rule.id, one.states * copies, {}, 0, accept, rule.id)
        super().__init__(machine, self._read, STOP if rule.strict else None)
        self._views: dict[Hashable, View] = {}
        self._unstable: dict[str, set[str]] = {}
        self._symbols: dict[tuple[int, int], Hashable] = {}

    # ---- names -------------------------------------------------------------------------

    def view(
        self,
        base: Instance,
        same: frozenset[str] = frozenset(),
        other: frozenset[str] = frozenset(),
    ) -> View:
        """The plan with these names known; the same one each time."""
        base = base.base if isinstance(base, View) else base
        key = (id(base), same, other)
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = View(base, same, other)
        return found

    def _stable(self, instance: Instance, names: set[str]) -> set[str]:
        unit = instance.unit
        unstable = self._unstable.get(unit.key)
        if unstable is None:
            unstable = self._unstable[unit.key] = bound_twice(unit)
        return names - unstable

    def with_names(self, view: Instance, node: Loop, *, same: bool | None) -> View:
        """The body of a loop: its names are the value, are not (False), or nobody knows (None)."""
        assert isinstance(view, View)
        names = {name for name in (node.name, node.alias) if name}
        yes, no = view.same - names, view.other - names
        known = frozenset(self._stable(view, names)) if same is not None else frozenset()
        return self.view(view, yes | known if same else yes, no | known if same is False else no)

    def relation(self, view: View, value: Value, kind: str) -> bool | None:
        """Whether an argument is the value; None: nobody knows."""
        assert isinstance(view, View)
        if view.base is self.root_plan and kind == self.kind and value.text in self.fixed:
            return self.fixed[value.text]
        if (
            len(value.parts) == 1
            and isinstance(value.parts[0], Ref)
            and len(value.parts[0].path) == 1
        ):
            name = value.parts[0].path[0]
            return True if name in view.same else False if name in view.other else None
        pattern = events.pattern_of(value, kind)
        if all(literal for literal, _ in pattern):
            return "".join(text for _, text in pattern) == self.value
        return None if glob_match.fits(self.value, glob_match.compiled(pattern)) else False

    def enter(self, instance: Instance, node: Invoke) -> Instance | None:
        callee = instance.callees[node.number]
        if callee is None or self.rule.hides(callee.unit):
            return None
        assert isinstance(instance, View)
        same: set[str] = set()
        other: set[str] = set()
        for name, param in callee.unit.params.items():
            value = node.arguments.get(name)
            if value is not None:
                relation = self.relation(instance, value, self.kind)
            elif param.default is not None:
                relation = _plain(param.default, self.kind) == self.value
            else:
                relation = None
            if relation is not None:
                (same if relation else other).add(name)
        stable = self._stable(callee, set(callee.unit.params))
        return self.view(callee, frozenset(same & stable), frozenset(other & stable))

    # ---- steps -------------------------------------------------------------------------

    def _read(self, instance: Instance, node: Act) -> Hashable:
        key = (id(instance), id(node.bound))
        if key not in self._symbols:
            assert isinstance(instance, View)
            self._symbols[key] = self._symbol(instance, node)
        return self._symbols[key]

    def _symbol(self, view: View, node: Act) -> Hashable:
        """(is the first certain, (letter, what becomes of the file), ...); letter -1: a step about another value."""
        bound, rule = node.bound, self.rule
        same = rule.same or ""
        given = bound.arguments.get(same)
        relations: dict[str, bool | None] = {}
        if given is not None:
            relations[given.text] = self.relation(view, given, self.kind)
        files = bound.files if self.files else ()
        for _, value in files:
            relations.setdefault(value.text, self.relation(view, value, "path"))
        found: dict[tuple[int, str], None] = {}
        choices = [
            (True, False) if relation is None else (relation,) for relation in relations.values()
        ]
        for assumed in product(*choices):
            is_it = dict(zip(relations, assumed, strict=True))
            becomes = ""
            for access, value in files:
                if is_it[value.text]:
                    becomes = _BECOMES.get(access, becomes)
            meant = given is not None and is_it[given.text]
            for letter in events.letters(rule, node, (same, self.value)) if meant else (-1,):
                found[letter, becomes] = None
        certain = len(found) == 1
        if self.files and bound.tool.writes_unknown:
            found.update(dict.fromkeys([(letter, "+") for letter, _ in found]))
        return None if list(found) == [(-1, "")] else (certain, *found)

    def believed(self, symbol: Hashable) -> bool:
        return symbol != STOP and bool(symbol[0])  # type: ignore[index]

    def rows(self, symbol: Hashable) -> Rows:
        if symbol == STOP:
            return (self._row(-2, ""),)
        return tuple(self._row(*one) for one in symbol[1:])  # type: ignore[index]

    def _row(self, letter: int, becomes: str) -> list[int]:
        made = self._made
        count = len(made.states)
        out = []
        for copy in range(len(self.starts)):
            after = {"+": 1, "-": 0}.get(becomes, copy)
            for state in range(count):
                if letter == -2:
                    target = state if made.accept >> state & 1 else -1
                else:
                    target = state if letter < 0 else made.table[letter][state]
                out.append(-1 if target < 0 else target + after * count)
        return out

    # ---- loops -------------------------------------------------------------------------

    def listed(self, node: Loop) -> bool | None:
        """Whether a loop goes through the value, if that is a file that is there."""
        assert node.over is not None
        literal = node.over.literal
        glob = None if literal is None else values.files_of(literal)
        if glob is not None:
            return values.member(self.value, glob)
        if literal is not None:
            return None
        pattern = events.pattern_of(node.over, "glob")
        tokens = glob_match.compiled(
            [(literal and not set("*?[") & set(text), text) for literal, text in pattern]
        )
        return None if "[" in node.over.text or glob_match.fits(self.value, tokens) else False

    def loop(self, instance: Instance, node: Loop, mask: int) -> int:
        if node.kind != "each":
            return super().loop(self.with_names(instance, node, same=None), node, mask)
        others = self.with_names(instance, node, same=False)
        listed = self.listed(node)
        if listed is False:
            return super().loop(others, node, mask)
        visiting = mask & (self.there if listed else ~self.machine.sink)
        out = super().loop(others, node, mask & ~visiting if listed else mask)
        return out | self._visiting(
            others, self.with_names(instance, node, same=True), node, visiting
        )

    def _visiting(self, others: View, this: View, node: Loop, mask: int) -> int:
        """Any number of turns for other files, one for this, any number for others, within the loop's bound."""
        sink = self.machine.sink
        before = early = mask
        after = late = 0
        left = 2 * self.machine.size if node.most is None else node.most
        while (early or late) and left > 0:
            left -= 1
            still = self.body(others, node.body, early) if early else 0
            now = self.body(this, node.body, early) if early else 0
            now |= self.body(others, node.body, late) if late else 0
            early = still & ~before & ~sink
            late = now & ~after & ~sink
            before |= still
            after |= now
        return after | before & sink


class PerValueSearch(Search):
    """Shortest runs about one value; the traces say where it comes in."""

    def __init__(self, summaries: PerValue) -> None:
        super().__init__(summaries)
        self.words = summaries

    def _move(self, before: str, after: str) -> str:
        return "" if before == after else after

    def _loop(
        self, instance: Instance, node: Loop, here: Reached, refusals: dict[int, Refusal]
    ) -> Reached:
        words = self.words
        if node.kind != "each":
            return super()._loop(words.with_names(instance, node, same=None), node, here, refusals)
        others = words.with_names(instance, node, same=False)
        listed = words.listed(node)
        if listed is False:
            return super()._loop(others, node, here, refusals)
        visiting = {
            state: way for state, way in here.items() if not listed or words.there >> state & 1
        }
        rest = {state: way for state, way in here.items() if not listed or state not in visiting}
        out = super()._loop(others, node, rest, refusals) if rest else {}
        this = words.with_names(instance, node, same=True)
        merge(out, self._visiting(others, this, node, visiting, refusals))
        return out

    def _visiting(
        self, others: View, this: View, node: Loop, here: Reached, refusals: dict[int, Refusal]
    ) -> Reached:
        before, after = dict(here), dict[int, tuple[int, object]]()
        early: Reached = here
        late: Reached = {}
        left = 2 * self.machine.size if node.most is None else node.most
        turn = 0
        while (early or late) and left > 0:
            left -= 1
            turn += 1
            remark = self._leaf(others, node.node, f"turn {turn}", False)
            mine = remark._replace(text=f"turn {turn}, for `{self.words.value}`")
            ways = (
                (
                    before,
                    others,
                    {state: (length, (path, remark)) for state, (length, path) in early.items()},
                ),
                (
                    after,
                    this,
                    {state: (length, (path, mine)) for state, (length, path) in early.items()},
                ),
                (
                    after,
                    others,
                    {state: (length, (path, remark)) for state, (length, path) in late.items()},
                ),
            )
            early, late = {}, {}
            for into, view, entered in ways:
                improved = merge(into, self._body(view, node.body, entered, refusals))  # type: ignore[arg-type]
                (early if into is before else late).update(improved)
        return after  # type: ignore[return-value]


def each_value(root: Instance, rule: Obligation) -> Iterator[Case] | None:
    """The walks over a root's runs, one for each value that there is to tell from others; None where they are too many."""
    found = named(root, rule)
    all_of_them = values.kinds(found.literals, found.globs, paths=found.kind == "path")
    if all_of_them is None or len(all_of_them) > MOST_VALUES:
        return None
    fixed = given(root, rule)
    return (case for value in all_of_them for case in _cases(root, rule, value, found, fixed))


def given(root: Instance, rule: Obligation) -> list[Given]:
    """The arguments of the root that are made of what the run is given, each once."""
    unit = root.unit
    stable = {*unit.params, *BUILT_IN} - bound_twice(unit) - bound_in(unit.body)
    out: dict[str, Given] = {}
    for node in _nodes(unit.body):
        values_of: list[Value] = []
        if isinstance(node, Act):
            values_of = [
                value for value in (node.bound.arguments.get(rule.same or ""),) if value is not None
            ]
            values_of += [value for _, value in node.bound.files]
        elif isinstance(node, Invoke):
            values_of = list(node.arguments.values())
        for value in values_of:
            names = {part.path[0] for part in value.parts if isinstance(part, Ref)}
            if names and names <= stable and value.text not in out:
                statement = node.step if isinstance(node, Act) else node.call  # type: ignore[union-attr]
                leaf = trace.Leaf(unit.key, statement.line, statement.column, "", True, "value")
                out[value.text] = Given(value, leaf)
    return list(out.values())


def _cases(
    root: Instance, rule: Obligation, value: values.Value, found: Named, fixed: list[Given]
) -> Iterator[Case]:
    """The walks about one value: for each way in which the arguments that do not change may be it."""
    about = (
        f" for the {rule.same} `{value.text}`"
        if value.literal
        else f" for a {rule.same} such as `{value.text}`"
    )
    possible = [one for one in fixed if _may_be(one, value.text, found.kind)]
    looked_at = list(islice(possible, MOST_GIVEN))
    for chosen in product((False, True), repeat=len(looked_at)):
        assumed = dict.fromkeys((one.value.text for one in fixed if one not in possible), False)
        assumed |= {one.value.text: yes for one, yes in zip(looked_at, chosen, strict=True)}
        words = PerValue(rule, value.text, found.kind, root, assumed, files=found.files)
        same = frozenset(one.value.text for one, yes in zip(looked_at, chosen, strict=True) if yes)
        leaf = looked_at[0].leaf if looked_at else None
        yield Case(words, PerValueSearch(words), words.view(root), words.starts, about, same, leaf)


def _may_be(one: Given, text: str, kind: str) -> bool:
    return glob_match.fits(text, glob_match.compiled(events.pattern_of(one.value, kind)))
