"""A rule that holds for each value of an argument on its own: `same` (formal core, *skolem file*).

One value is fixed, which stands for any of its kind (`rules.solver.values`), and the plan is walked as under any
other rule; but only the steps count whose argument is that value. A literal argument is it or is not. The name
of a `for_each_file` is it in one turn of the loop, if the file was there when the loop began and the glob matches
it, and in no other turn. A plan's parameter is it where the caller gives it. What a run is given from outside
does not change while it lasts: an argument made of that is the value or is not, for the whole run, and both are
looked at; what is broken both ways, or for every value of such an argument, is broken certainly. Of any other
name it is unknown: the step counts or does not, and what depends on that is unproved.

Whether the file is there is followed from step to step: what creates it makes it be there, what deletes it ends
that, and a shell step may create it, as in `rules.files`; no one else interferes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import islice, product

from ...linking.graph import Instance
from ...linking.model import Act, Invoke, Loop
from ...linking.protocol_rules.obligation import Obligation
from ...syntax.values import Ref, Value
from ...text import glob_match
from ..solver import events, values
from ..solver.counterexample import Reached, Refusal, Search, merge
from ..solver.files.step_paths import bound_twice
from ..solver.words import Machine, Rows, Summaries
from .argument_values import Given, Named, given, named, plain
from .rule_machine import STOP, Case, machine_of

MOST_VALUES = 2000
"""Maximum number of values of a plan that are checked one by one."""

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
        """The body of a loop: its names are the value, are not (False), or it is unknown (None)."""
        assert isinstance(view, View)
        names = {name for name in (node.name, node.alias) if name}
        yes, no = view.same - names, view.other - names
        known = frozenset(self._stable(view, names)) if same is not None else frozenset()
        return self.view(view, yes | known if same else yes, no | known if same is False else no)

    def relation(self, view: View, value: Value, kind: str) -> bool | None:
        """Whether an argument is the value; None: it is unknown."""
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
                relation = plain(param.default, self.kind) == self.value
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


def _cases(
    root: Instance, rule: Obligation, value: values.Value, found: Named, fixed: list[Given]
) -> Iterator[Case]:
    """The walks about one value: for each way in which the arguments that do not change may be it."""
    about = (
        f" for the {rule.same} `{value.text}`"
        if value.literal
        else f" for a {rule.same} such as `{value.text}`"
    )
    possible = [one for one in fixed if one.may_be(value.text, found.kind)]
    looked_at = list(islice(possible, MOST_GIVEN))
    for chosen in product((False, True), repeat=len(looked_at)):
        assumed = dict.fromkeys((one.value.text for one in fixed if one not in possible), False)
        assumed |= {one.value.text: yes for one, yes in zip(looked_at, chosen, strict=True)}
        words = PerValue(rule, value.text, found.kind, root, assumed, files=found.files)
        same = frozenset(one.value.text for one, yes in zip(looked_at, chosen, strict=True) if yes)
        leaf = looked_at[0].leaf if looked_at else None
        yield Case(words, PerValueSearch(words), words.view(root), words.starts, about, same, leaf)
