"""What a grammar is specialised to: an automaton, tools, files, names, calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ..linking import types
from ..linking.types import DIGITS, KINDS, LIST, NULL, NUMBER, OBJECT, TEXTS, Type
from ..named_tuples import NamedTuple
from ..syntax.tail_values import escape

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.catalogue import Tool
    from ..linking.link import Linker
    from ..linking.model import Unit

MOST_FILES = 2000
LEVELS = {"trusted": 0, "workspace": 1, "model": 2, "untrusted": 3}
OUTSIDE = 3
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")


class Slot(NamedTuple):
    """A name that plans of the grammar may bind. `kinds`: what its value may be, a type for each way to bind it (none: it is
    unknown). `level`: how far its text is trusted at worst. `made`: what binds it: step, item, file, param, collected or
    call; `any` for all of them. `reads`: the fields that a plan reads of it, where nothing says which it has; `by`: the tools
    whose results it is given there."""

    name: str
    kinds: tuple[Type, ...]
    level: int
    made: str
    reads: tuple[tuple[str, ...], ...] = ()
    by: frozenset[str] = frozenset()


class Need(NamedTuple):
    """What a value must be: a name for rules, whether types fit, and what binds it (anything: ""). Where values are followed, all
    values of a type must fit; of a plan's own names some must, for the linter then assumes it."""

    name: str
    fits: Callable[[tuple[Type, ...]], bool]
    made: str = ""


WANTED = {
    "any": KINDS & ~NULL,
    "value": KINDS & ~NULL,
    "compared": KINDS & ~NULL,
    "text": TEXTS,
    "number": NUMBER | DIGITS,
    "length": NULL | TEXTS | LIST | OBJECT,
    "list": LIST,
    "object": OBJECT,
}
"""Kinds of values that uses ask for."""


class Call(NamedTuple):
    """A plan that may be called. `ends`: by state before, the state after (None: it leaves the state as it is).
    `outside`: it brings text from outside; `acts`: it does what such text must not choose; `costs`: who calls it states a budget;
    `shares`: no branches of a fork may call it at the same time. Of a plan's own calls: `binds`
    are the names that the plan has for what they give, `deep`: with `depth`."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    ends: dict[str, str] | None
    outside: bool = False
    acts: bool = False
    costs: bool = False
    shares: bool = False
    binds: frozenset[str] = frozenset()
    deep: bool = False


class Given(NamedTuple):
    """What a plan gives in one place: by parameter, as it is written, and the names (bits) in it."""

    texts: tuple[tuple[str, str], ...]
    bits: int


class Place(NamedTuple):
    """All that a grammar is made of.

    `ended`: states behind a submit, where nothing but a submit may follow; `head`: the lines that every plan begins with;
    `outside`: files there hold text from outside already; `free`: origins of names are not known (they are those
    of somebody's plan); `small`: for notations without parameters, fewer names and no `fork`; `given`: bits of the names
    that are bound at the start; `joined`: by depth, of those that both branches of an `if` bind; `yields`: a branch may
    yield the plan's result; `ways`: states in which a plan begins, each with those in which it may end;
    `brief`: bodies are one deep and of two statements at most, and texts short, for models that find no end;
    `unions`: by two states, the one that says that it is either of them; `orders`: by tool or call, the orders
    in which a plan names arguments; `rounds`: as `joined`, the names that an `iterate` binds; `choices` and `repeats`: the states
    around each `if` and each loop of the plan, which need not leave the state as it is; `collects`: what its loops collect;
    `own`: by tool, call (`call_plan NAME`) or `for_each_file`, what the plan gives to the parameters that choose something;
    `turns`: how often its loops run at most.
    """

    automaton: Automaton
    ended: frozenset[str]
    head: str
    tools: tuple[Tool, ...]
    files: tuple[str, ...]
    slots: tuple[Slot, ...]
    calls: tuple[Call, ...]
    predicates: dict[str, int]
    outside: bool
    free: bool
    small: bool
    given: int
    joined: tuple[tuple[int, int], ...]
    yields: bool
    depth: int
    most: int
    ways: tuple[tuple[str, tuple[str, ...]], ...]
    brief: bool = False
    unions: Mapping[tuple[str, str], str] = {}
    orders: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    rounds: tuple[tuple[int, int], ...] = ()
    choices: frozenset[tuple[str, str, str]] = frozenset()
    repeats: frozenset[tuple[str, str]] = frozenset()
    collects: frozenset[Type] = frozenset()
    own: Mapping[str, tuple[Given, ...]] = {}
    turns: tuple[int, ...] = ()

    def either(self, one: str, other: str) -> str | None:
        """The state that says that it is one of two; None where the grammar has none."""
        return one if one == other else self.unions.get((one, other))


def files_of(root: str, glob: str, linker: Linker) -> tuple[tuple[str, ...], list[str]]:
    """The readable text files of a workspace that match and that git does not ignore, and what is to be said where not all
    of them are taken."""
    from ..linking.project.secret_files import secret
    from ..runs.dry_run import listing

    out = _ignored(root)
    found = [
        name
        for name in listing(root, glob) or ()
        if not out(name) and secret(name, linker.settings.secret) is None
    ]
    said = []
    if hidden := [name for name in found if not name.isprintable()]:
        said.append(f"left out: files whose names have invisible characters ({len(hidden)})")
    found = [name for name in found if name.isprintable()]
    if len(found) > MOST_FILES:
        said.append(
            f"{len(found)} files match `{glob}`; the grammar has the first {MOST_FILES} (choose others with --files)"
        )
    return tuple(name for name in found[:MOST_FILES] if linker.files.unfit(name) is None), said


def plain(name: str) -> bool:
    """Whether a path is a word that a plan, a glob and a command may have without quotes."""
    return bool(_PLAIN.fullmatch(name))


def spelled(name: str) -> str:
    """A path as a word of a plan: between quotes unless it is plain."""
    if plain(name):
        return name
    text = escape(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _ignored(root: str) -> Callable[[str], bool]:
    """Whether git would ignore a file, by its path in the workspace."""
    from ..linking.project.ignored import Ignored

    rules = Ignored(root)

    @cache
    def folder(path: str) -> bool:
        if not path:
            return False
        if folder(path.rpartition("/")[0]) or rules(path, True):
            return True
        rules.enter(path)
        return False

    return lambda name: folder(name.rpartition("/")[0]) or rules(name, False)


def level_of(tool: Tool) -> int:
    """How far a tool's result is trusted by its declaration."""
    return LEVELS[tool.trust]


def kind_of(tool: Tool) -> Type:
    """The type of a tool's result."""
    found = types.of_result(tool.row.get("result"))
    return types.joined(found, types.FAILED) if tool.row.get("failure") == "value" else found


def slots_of(tools: Sequence[Tool], small: bool) -> tuple[Slot, ...]:
    """Names for the results of these tools, of loops and of inputs. `small`: as few as will do."""
    kinds: dict[tuple[Type, int], int] = {}
    for tool in tools:
        kind = kind_of(tool)
        if kind.kinds & types.KINDS not in (types.KINDS, types.NULL):
            key = (kind, max(1, level_of(tool)))
            kinds[key] = kinds.get(key, 0) + 1
    ordered = sorted(
        kinds, key=lambda key: (key[1] == 2, not key[0].kinds & (LIST | types.TEXTS), -kinds[key])
    )
    out = [
        Slot(f"input{number}", (types.GIVEN,), 0, "param") for number in range(1, 2 if small else 4)
    ]
    taken: dict[str, int] = {}
    for kind, level in ordered[: 3 if small else 8]:
        word = ("", "", "said_", "outside_")[level] + _word(kind)
        for _ in range(1 if small else 4 if kind == types.TEXT and level == 1 else 2):
            taken[word] = taken.get(word, 0) + 1
            out.append(Slot(f"{word}{taken[word]}", (kind,), level, "step"))
    out += [
        Slot(f"file{number}", (types.TEXT,), 1, "file") for number in ((1,) if small else (1, 2))
    ]
    items = dict.fromkeys(
        (known(kind.of_item()), slot.level)
        for slot in out
        for kind in slot.kinds
        if kind.kinds & LIST
    )
    for number, (own, level) in enumerate(items, 1):
        out.append(Slot(f"item{number}", own, level, "item"))
    if not small:
        out += [
            Slot("gathered1", (types.Type(LIST),), OUTSIDE, "collected"),
            Slot("entry1", (), OUTSIDE, "item"),
        ]
    return tuple(out)


def known(kind: Type) -> tuple[Type, ...]:
    """A type as a slot has it: none, where it may be anything."""
    return () if kind == types.ANY else (kind,)


def _word(kind: Type) -> str:
    if kind.kinds & types.TEXTS:
        return "text"
    return "list" if kind.kinds & LIST else "record" if kind.kinds & types.OBJECT else "value"


def automaton_reads(automaton: Automaton, tools: Sequence[Tool]) -> bool:
    """True where some plan of these tools is accepted."""
    actions = {tool.action for tool in tools}
    seen, work = set(), [automaton.start]
    while work:
        state = work.pop()
        if state not in seen:
            seen.add(state)
            work += [to for action, to in automaton.transitions[state].items() if action in actions]
    return not seen.isdisjoint(automaton.accept)


def with_closing(automaton: Automaton, *, fragment: bool) -> tuple[Automaton, frozenset[str]]:
    """The automaton together with the rule that a plan ends closed (`rules.closure`), and the states behind a submit.

    A fragment may begin in any state, and owes no end.
    """
    from ..automata.model import build
    from ..rules.closure import CLOSURE

    asked = "close_op" in automaton.table and not fragment
    begins = automaton.states if fragment else (automaton.start,)
    work = [(state, CLOSURE.start, False) for state in begins]
    rows: dict[str, dict[str, str]] = {}
    accept, ended = [], set()
    while work:
        state, closing, submitted = one = work.pop()
        name = _whole(*one)
        if name in rows:
            continue
        rows[name] = {}
        for symbol, to in automaton.transitions[state].items():
            if not submitted or symbol == "submit_op":
                after = (to, CLOSURE.table[symbol][closing], symbol == "submit_op")
                rows[name][symbol] = _whole(*after)
                work.append(after)
        if state in automaton.accept and (not asked or CLOSURE.accept >> closing & 1):
            accept.append(name)
        if submitted:
            ended.add(name)
    start = _whole(automaton.start, CLOSURE.start, False)
    made = build(automaton.name, automaton.path, rows, automaton.alphabet, start, accept, rows)
    return made, frozenset(ended)


def _whole(state: str, closing: int, submitted: bool) -> str:
    return f"{state}/{closing}{'/ended' * submitted}"


def reached(linker: Linker, unit: Unit) -> list[Unit]:
    """A plan and all that it calls."""
    found = {unit.key: unit}
    work = [unit]
    while work:
        for call in work.pop().calls:
            if call.key in linker.units and call.key not in found:
                found[call.key] = linker.units[call.key]
                work.append(found[call.key])
    return list(found.values())
