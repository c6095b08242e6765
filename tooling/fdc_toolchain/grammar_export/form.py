"""The one form that all written grammars are made from: rules with a 64-bit parameter that is only handed down.

A rule is expanded for a parameter. Its alternatives may ask something of it (`Guard`) and hand it on changed
(`Change`). The parameter holds which names are bound, how many statements the body may still have, and what the place allows.

llguidance 1.9.1 confuses parameters where one rule is expected twice at one place of a text with two of them. So the text
must always say which parameter it is: rules whose parameter is not told by the text have a name of their own for it.
"""

from __future__ import annotations

from ..named_tuples import NamedTuple

MOST_NAMES = 48
STAGED = 1 << 49
"""A file was added since the last commit, whatever branch was taken."""
LEFT = (50, 56)
MOST_LEFT = 2 ** (LEFT[1] - LEFT[0]) - 1
CHOSEN = 1 << 56
"""Text from outside chose whether this body is run."""
STORES = 1 << 57
"""The plan may put text from outside into files: what it reads counts as such text, and it runs no command."""
RESULT = 1 << 58
"""The plan has not yielded its result."""
COLLECTS = 1 << 59
"""The loop around takes what is yielded."""
BRANCH = 1 << 60
"""Inside of a fork: no step that the automaton notices the order of."""
UNSTATED = 1 << 61
"""The plan states no budget: its loops run few rounds, and it calls no plan."""
ROUND = 1 << 62
"""Inside of a loop of such a plan: no other loop."""
NEVER = 63
"""A bit that is never set."""
ALL = 2**64 - 1
_FIELD = (1 << LEFT[1]) - (1 << LEFT[0])


class Guard(NamedTuple):
    """What an alternative asks of the parameter: bits that are set, bits that are clear, statements left, and sets of
    bits of each of which one is set."""

    bits: int = 0
    clear: int = 0
    left: int = 0
    some: tuple[int, ...] = ()

    def holds(self, parameter: int) -> bool:
        """True where a parameter is what is asked."""
        return (
            parameter & self.bits == self.bits
            and not parameter & self.clear
            and left_of(parameter) >= self.left
            and all(parameter & some for some in self.some)
        )


class Change(NamedTuple):
    """How a parameter is handed on: what is kept of it, what is set, and whether one statement less is left."""

    keep: int = ALL
    bits: int = 0
    less: bool = False

    def of(self, parameter: int) -> int:
        """The parameter handed on."""
        out = parameter & self.keep | self.bits
        return out - (1 << LEFT[0]) if self.less else out


SAME = Change()
"""Handed on as it is."""
ANYWHERE = Guard()
"""Nothing is asked."""


class Literal(NamedTuple):
    """A fixed text."""

    text: str


class Chars(NamedTuple):
    """`least` to `most` characters of a class, as regular expressions write it between brackets."""

    ranges: str
    least: int = 1
    most: int = 1


class Use(NamedTuple):
    """Another rule, with the parameter that it is given."""

    rule: str
    change: Change = SAME


Item = Literal | Chars | Use


class Way(NamedTuple):
    """One alternative of a rule."""

    items: tuple[Item, ...]
    guard: Guard = ANYWHERE


class Form:
    """Rules by name, in the order in which they came; `start` begins with each of `entries`. `firm`: rules that must spell
    something whichever names are bound, because what asks for them comes before names are known."""

    def __init__(self) -> None:
        self.rules: dict[str, list[Way]] = {}
        self.entries: list[int] = []
        self.firm: set[str] = set()

    def put(self, name: str, ways: list[Way]) -> str:
        """Adds a rule; gives its name."""
        self.rules[name] = ways
        return name

    def leaves(self, use: Use) -> set[Guard]:
        """What the alternatives of a statement ask for, each by itself."""
        found: set[Guard] = set()
        for way in self.rules[use.rule]:
            first, *more = way.items
            if isinstance(first, Use) and all(isinstance(item, Literal) for item in more):
                found |= self.leaves(first)
            else:
                found.add(way.guard)
        return found

    def firm_in(self, use: Use, place: int) -> bool:
        """Whether such a statement can be written in a place whichever names are bound."""
        return any(
            not guard.some and guard.bits & ~place == 0 == guard.clear & place
            for guard in self.leaves(use)
        )


def left_of(parameter: int) -> int:
    """How many statements are left."""
    return (parameter & _FIELD) >> LEFT[0]


def left(count: int) -> int:
    """The bits that say so."""
    return min(count, MOST_LEFT) << LEFT[0]


INNER = ALL & ~_FIELD
"""What a body keeps of the parameter of the statement around it."""


def word(text: str, *more: Item) -> tuple[Item, ...]:
    """A fixed text and what follows it."""
    return (Literal(text), *more)


def expanded(
    form: Form, most: int
) -> tuple[dict[tuple[str, int], list[tuple[Item, ...]]], list[tuple[str, int]]]:
    """The rules for every parameter that comes up, without those that spell nothing, and the entries.

    Raises TooLarge where there are more than `most` of them.
    """
    rules: dict[tuple[str, int], list[tuple[Item, ...]]] = {}
    seen = _looked_at(form)
    entries = [("start", parameter & seen["start"]) for parameter in form.entries]
    work = list(entries)
    while work:
        key = work.pop()
        if key in rules:
            continue
        if len(rules) >= most:
            raise TooLarge(most)
        name, parameter = key
        ways = [way.items for way in form.rules[name] if way.guard.holds(parameter)]
        rules[key] = [
            tuple(
                _given(item, parameter, seen) if isinstance(item, Use) else item for item in items
            )
            for items in ways
        ]
        work += [_key(item) for items in rules[key] for item in items if isinstance(item, Use)]
    return _productive(rules), entries


class TooLarge(ValueError):
    """The grammar has more rules than are written."""


FLAGS = (CHOSEN, STORES, BRANCH)
"""What a place allows: bits of which a rule far below may ask."""
PLACES = tuple(
    sum(flag for number, flag in enumerate(FLAGS) if place >> number & 1)
    for place in range(1 << len(FLAGS))
)
"""Every combination of them."""


Places = dict[str, frozenset[int]]
"""By rule, the places in which it spells something."""


def possible(form: Form) -> Places:
    """By rule, the places in which it spells something at all: for those that must be `firm`, whichever names are bound."""
    firm = _spelling({name: [*filter(_sure, ways)] for name, ways in form.rules.items()}, {})
    return _spelling(form.rules, {name: firm[name] for name in form.firm})


def _sure(way: Way) -> bool:
    """Whether an alternative asks for nothing but the place."""
    return not way.guard.some and not (way.guard.bits | way.guard.clear) & ~PLACES[-1]


def _spelling(rules: dict[str, list[Way]], fixed: Places) -> Places:
    out = {name: fixed.get(name, frozenset()) for name in rules}
    users: dict[str, set[str]] = {}
    for name, ways in rules.items():
        for way in ways:
            for item in way.items:
                if isinstance(item, Use):
                    users.setdefault(item.rule, set()).add(name)
    work = dict.fromkeys(name for name in rules if name not in fixed)
    while work:
        name = next(iter(work))
        del work[name]
        new = frozenset(place for way in rules[name] for place in places(way, out))
        if new != out[name]:
            out[name] = new
            work.update(dict.fromkeys(users.get(name, set()) - {*fixed}))
    return out


def places(way: Way, known: Places) -> frozenset[int]:
    """The places in which an alternative spells something."""
    flags = PLACES[-1]
    out = []
    for place in PLACES:
        fits = (
            place & way.guard.bits & flags == way.guard.bits & flags and not place & way.guard.clear
        )
        if fits and all(
            (place & item.change.keep | item.change.bits) & flags in known[item.rule]
            for item in way.items
            if isinstance(item, Use)
        ):
            out.append(place)
    return frozenset(out)


def _given(item: Use, parameter: int, seen: dict[str, int]) -> Use:
    return Use(item.rule, Change(0, item.change.of(parameter) & seen[item.rule]))


def _key(item: Use) -> tuple[str, int]:
    return item.rule, item.change.bits


def _looked_at(form: Form) -> dict[str, int]:
    """By rule, the bits of the parameter that it or what it uses looks at: for all others it spells the same."""
    seen = {}
    users: dict[str, set[str]] = {}
    for name, ways in form.rules.items():
        seen[name] = 0
        for way in ways:
            seen[name] |= _asked(way.guard)
            for item in way.items:
                if isinstance(item, Use):
                    users.setdefault(item.rule, set()).add(name)
    work = list(seen)
    while work:
        for name in users.get(work.pop(), ()):
            new = seen[name]
            for way in form.rules[name]:
                for item in way.items:
                    if isinstance(item, Use):
                        new |= seen[item.rule] & item.change.keep & ~item.change.bits
            if new != seen[name]:
                seen[name] = new
                work.append(name)
    return seen


def _asked(guard: Guard) -> int:
    out = guard.bits | guard.clear | (_FIELD if guard.left > 0 else 0)
    for some in guard.some:
        out |= some
    return out


def _productive(
    rules: dict[tuple[str, int], list[tuple[Item, ...]]],
) -> dict[tuple[str, int], list[tuple[Item, ...]]]:
    """Without the alternatives that use a rule which spells nothing."""
    waiting: dict[tuple[str, int], list[tuple[tuple[str, int], int]]] = {}
    missing: dict[tuple[tuple[str, int], int], int] = {}
    done: set[tuple[str, int]] = set()
    work: list[tuple[str, int]] = []
    for key, ways in rules.items():
        for number, items in enumerate(ways):
            needs = {_key(item) for item in items if isinstance(item, Use)}
            missing[key, number] = len(needs)
            for need in needs:
                waiting.setdefault(need, []).append((key, number))
            if not needs:
                work.append(key)
    while work:
        key = work.pop()
        if key in done:
            continue
        done.add(key)
        for way in waiting.get(key, ()):
            missing[way] -= 1
            if not missing[way]:
                work.append(way[0])
    return {
        key: [items for number, items in enumerate(ways) if not missing[key, number]]
        for key, ways in rules.items()
        if key in done
    }
