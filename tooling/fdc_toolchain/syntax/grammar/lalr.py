"""Runs Lark's tables: the loop of an LALR parser, and of its contextual lexer.

Tables, terminals and the meaning of the grammar's marks are Lark's (`syntax.grammar.tables`); only the
loop is ours, because Lark's own takes longer than everything else in reading a plan. For input that
this loop refuses, Lark itself makes the error message. A test checks that both give the same trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from .table_form import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Refused(Exception):
    """The input does not match the grammar; Lark can say why."""


class Word(str):
    """A token of a tail: its text, its terminal, and where it stands."""

    __slots__ = ("type", "start_pos", "end_pos")

    type: str
    start_pos: int
    end_pos: int


class _End:
    type = "$END"


_END = _End()
_BELOW = -1
"""Marks the bottom of the stack, below the first state."""


class Driver:
    """Built once from tables and the object whose methods build the nodes, named as the rules."""

    def __init__(self, tables: Tables, builder: object) -> None:
        rules = [_reduction(rule, builder) for rule in tables.rules]
        self._starts = tables.starts
        self._actions: dict[int, dict[str, Any]] = {
            state: {
                name: action if action >= 0 else rules[-1 - action] for name, action in row.items()
            }
            for state, row in tables.states.items()
        }
        self._leaps: dict[tuple[int, int, str], int] = {}
        self._lexers = tables.lexers
        self._patterns = tables.patterns
        self._scanners: dict[int, tuple[Any, dict[str, dict[str, str]]]] = {}
        self._gap = (
            " " if tables.ignored else None
        )  # the grammar ignores spaces, and no word starts with one

    def parse(self, start: str, tokens: Iterable[object]) -> object:
        """The value of a start rule over tokens that have a `type`. Raises Refused."""
        state, final = self._starts[start]
        return self._value((*tokens, _END), [_BELOW, state], final)

    def read(self, start: str, text: str) -> object:
        """The value of a start rule over a text, split into words as each state accepts them. Raises Refused."""
        state, final = self._starts[start]
        states = [_BELOW, state]
        return self._value(self._words(text, states), states, final)

    def _value(self, tokens: Iterable[Any], states: list[int], final: int) -> Any:
        actions = self._actions
        values: list[Any] = []
        row = actions[states[-1]]
        leaps = self._leaps
        for token in tokens:
            kind = token.type
            key = states[-2], states[-1], kind
            leap = leaps.get(key)
            if leap is None:
                leap = leaps[key] = self._leap(*key)
            if leap >= 0:
                last = values[-1]
                values[-2].append(last)
                values[-1] = token
                states[-1] = leap
                row = actions[leap]
                continue
            while True:
                action = row.get(kind)
                if type(action) is int:
                    states.append(action)
                    values.append(token)
                    row = actions[action]
                    break
                if action is None:
                    raise Refused
                size, origin, build = action
                if build is None:  # one part, which stands for the whole
                    state = actions[states[-2]][origin]
                    if state == final and kind == "$END":
                        return values[-1]
                    states[-1] = state
                    row = actions[state]
                    continue
                if build is _grow:  # the list stays where it is
                    states.pop()
                    last = values.pop()
                    values[-1].append(last)
                    row = actions[states[-1]]
                    continue
                if size:
                    children = values[-size:]
                    del values[-size:]
                    del states[-size:]
                else:
                    children = []
                value = build(children)
                state = actions[states[-1]][origin]
                if state == final and kind == "$END":
                    return value
                states.append(state)
                values.append(value)
                row = actions[state]
        raise Refused

    def _leap(self, below: int, top: int, kind: str) -> int:
        """The state after a token, if all that happens first is that the top value is appended to the list below it; else -1.

        This holds for most lines: one look-up then replaces several table steps.
        """
        action = self._actions[top].get(kind)
        while type(action) is tuple and below != _BELOW:
            _, origin, build = action
            if build is _grow:
                after = self._actions[below].get(kind)
                return after if type(after) is int else -1
            if build is not None:
                return -1
            action = self._actions[self._actions[below][origin]].get(kind)
        return -1

    def _words(self, text: str, states: list[int]) -> Iterator[Any]:
        """The words of a text, each as the state on top of `states` accepts it, then the end. Raises Refused."""
        at, length = 0, len(text)
        gap, scanners = self._gap, self._scanners
        while at < length:
            if text[at] == gap:
                at += 1
                continue
            match, keywords = scanners.get(states[-1]) or self._scanner(states[-1])
            matched = match(text, at)
            if matched is None or matched.end() == at:
                raise Refused
            kind = matched.lastgroup
            token = Word(matched.group())
            if kind in keywords:
                kind = keywords[kind].get(token, kind)
            token.type = kind
            token.start_pos, token.end_pos = at, matched.end()
            at = token.end_pos
            yield token
        yield _END

    def _scanner(self, state: int) -> tuple[Any, dict[str, dict[str, str]]]:
        pattern, keywords = self._patterns[self._lexers[state]]
        scanner = self._scanners[state] = (re.compile(pattern).match, keywords)
        return scanner


def _reduction(
    rule: tuple[int, str, str, list[Any], bool], builder: Any
) -> tuple[int, str, Callable[[list[Any]], Any] | None]:
    size, name, method_name, kept, single = rule
    if name.startswith("__"):  # what Lark makes of `rule*`: a list that grows at its end
        if size == 2 and len(kept) == 2:
            return size, name, _grow
        return size, name, _growing(*(at for at, _, _ in kept))
    plain = not any(splice or nones for _, splice, nones in kept)
    if single and len(kept) == 1 and plain:
        at = kept[0][0]
        return size, name, None if size == 1 else lambda children: children[at]
    if size == 1 and len(kept) == 1 and plain and method_name in builder.transparent:
        return size, name, None
    method = getattr(builder, method_name, list)
    if plain and len(kept) == size:
        return size, name, method
    if len(kept) == 1 and kept[0][1] and not kept[0][2]:
        at = kept[0][0]
        return size, name, lambda children: method(children[at])

    def build(children: list[Any]) -> Any:
        out: list[Any] = []
        for at, splice, nones in kept:
            if nones:
                out += [None] * nones
            if splice:
                out += children[at]
            elif at >= 0:
                out.append(children[at])
        return method(out)

    return size, name, build


def _grow(children: list[Any]) -> list[Any]:
    """Puts the second of two parts at the end of the first, which is a list; the loops do it themselves."""
    children[0].append(children[1])
    return children[0]


def _growing(first: int, last: int | None = None) -> Callable[[list[Any]], Any]:
    if last is None:
        return lambda children: [children[first]]

    def grow(children: list[Any]) -> list[Any]:
        children[first].append(children[last])
        return children[first]

    return grow
