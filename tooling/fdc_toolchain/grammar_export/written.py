"""The form as text: llguidance with parameters, GBNF and Lark with every parameter expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .form import (
    ANYWHERE,
    FLAGS,
    LEFT,
    NEVER,
    PLACES,
    SAME,
    Chars,
    Form,
    Guard,
    Item,
    Literal,
    Use,
    Way,
    expanded,
    places,
    possible,
)  # fmt: skip

MOST_RULES = 60_000
"""Rules of an expanded grammar; a larger one is not written."""


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def llguidance(form: Form) -> str:
    """The grammar for llguidance: Lark with a parameter of 64 bits."""
    writer = _Parametric(form)
    known = possible(form)
    lines = [
        "start: "
        + "\n  | ".join(f"{writer.names['start']}::{parameter:#x}" for parameter in form.entries)
    ]
    for name, ways in form.rules.items():
        title = writer.names[name]
        if (words := _words([way.items for way in ways])) and not any(
            way.guard != ANYWHERE for way in ways
        ):
            lines.append(
                f'{title.upper()}: {words}\n{title}::_: {title.upper()}\n  | "!" %if bit_set({NEVER})'
            )
            continue
        rows = writer.rows([(way, where) for way in ways if (where := places(way, known))])
        lines.append(f"{title}::_: " + "\n  | ".join(rows))
    lines += writer.hops + writer.groups
    lines.append(f'nothing::_: "" %if bit_clear({NEVER})\n  | "!" %if bit_set({NEVER})')
    return "\n".join(lines) + "\n"


class _Parametric:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.hops: list[str] = []
        self.known: dict[tuple[str, int, int], str] = {}
        self.shared: dict[str, str] = {}
        self.groups: list[str] = []
        # A third of a grammar would be names that say what a rule is for.
        self.names = {name: f"{name[0]}{number}" for number, name in enumerate(form.rules)}

    def rows(self, ways: list[tuple[Way, frozenset[int]]]) -> list[str]:
        """The alternatives of a rule. Where many ask for the same, that is asked once: what else they are is a rule of its own,
        which other rules share."""
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for way, where in ways:
            parts = _asked(way.guard, where)
            own = [part for part in parts if part in _OWN]
            common = tuple(part for part in parts if part not in _OWN)
            items = way.items
            indent = items[0].text if items and isinstance(items[0], Literal) else ""
            indent = "" if indent.strip(" ") or len(items) < 2 else indent
            text = self.items(items[1:] if indent else items)
            groups.setdefault((indent, common), []).append(text + _when(own))
        out = []
        for (indent, common), rows in groups.items():
            head = f"{_quoted(indent)} " if indent else ""
            if len(rows) < _MANY // 2 or not (indent or common):
                # What a row asks for by itself stands behind it already.
                for row in rows:
                    text, _, asks = row.partition(" %if ")
                    out.append(head + text + _when([*common, *([asks] if asks else [])]))
                continue
            text = "\n  | ".join([*rows, _NEVER])
            if text not in self.shared:
                self.shared[text] = f"z{len(self.shared)}"
                self.groups.append(f"{self.shared[text]}::_: {text}")
            out.append(
                f"{head}{self.shared[text]}::_{'' if head else ' nothing::_'}{_when([*common])}"
            )
        # llguidance 1.9.1 panics where it inlines a rule that has one alternative.
        return [*out, _NEVER]

    def items(self, items: tuple[Item, ...]) -> str:
        out = list(_patterned(items, self.item))
        if len(items) == 1 and isinstance(items[0], Use) and items[0].change != SAME:
            out.append(
                "nothing::_"
            )  # llguidance 1.9.1 panics where a rule is only another one with another parameter
        return " ".join(out) or '""'

    def item(self, item: Item) -> str:
        if isinstance(item, Literal):
            return _quoted(item.text)
        if isinstance(item, Chars):
            return _pattern(item)
        change, rule = item.change, self.names[item.rule]
        if change.less:
            return f"{rule}::decr([{LEFT[0]}:{LEFT[1]}])"
        if change == SAME:
            return f"{rule}::_"
        if change.keep == SAME.keep:
            return f"{rule}::bit_or({change.bits:#x})"
        if not change.bits:
            return f"{rule}::bit_and({change.keep:#x})"
        key = (item.rule, change.keep, change.bits)
        if key not in self.known:
            self.known[key] = f"hop{len(self.known)}"
            self.hops.append(
                f"{self.known[key]}::_: {rule}::bit_or({change.bits:#x}) nothing::_"
                f'\n  | "!" %if bit_set({NEVER})'
            )
        return f"{self.known[key]}::bit_and({change.keep:#x})"


_MANY = 8
"""Fixed texts of which one is taken, from which on they are one word of the lexer: a parser follows each by itself."""


def _words(ways: list[tuple[Item, ...]]) -> str:
    """The texts of a rule that spells one of many fixed texts."""
    texts = [items[0].text for items in ways if len(items) == 1 and isinstance(items[0], Literal)]
    return " | ".join(map(_quoted, texts)) if _MANY < len(texts) == len(ways) else ""


def _pattern(item: Chars) -> str:
    ranges = item.ranges.replace("/", "\\/")
    return (
        f"[{ranges}]"
        if (item.least, item.most) == (1, 1)
        else f"[{ranges}]{{{item.least},{item.most}}}"
    )


def _patterned(items: tuple[Item, ...], shown: Callable[[Item], str]) -> Iterator[str]:
    """The items in the notation of Lark: characters that follow each other are one pattern, which never matches nothing."""
    run = ""
    for item in items:
        if isinstance(item, Chars):
            run += _pattern(item)
            continue
        if run:
            yield f"/{run}/"
            run = ""
        yield shown(item)
    if run:
        yield f"/{run}/"


_NEVER = f'"!" %if bit_set({NEVER})'
_OWN = frozenset(f"bit_set({bit})" for bit in range(LEFT[0]))
"""Conditions that a name is bound."""


def _when(parts: list[str]) -> str:
    return f" %if {_joined('and', parts)}" if parts else ""


def _asked(guard: Guard, where: frozenset[int]) -> list[str]:
    """What an alternative asks for, and that what it uses is possible in such a place (`where`)."""
    for flag in FLAGS:
        if all(place & flag for place in where):
            guard = guard._replace(bits=guard.bits | flag)
        if not any(place & flag for place in where):
            guard = guard._replace(clear=guard.clear | flag)
    parts = [f"bit_set({bit})" for bit in range(64) if guard.bits >> bit & 1]
    parts += [f"bit_clear({bit})" for bit in range(64) if guard.clear >> bit & 1]
    fitting = [
        place
        for place in PLACES
        if place & guard.bits == guard.bits & PLACES[-1] and not place & guard.clear
    ]
    if set(fitting) != where:
        parts.append(_joined("or", [_joined("and", [
            f"bit_{'set' if place & flag else 'clear'}({flag.bit_length() - 1})" for flag in FLAGS
        ]) for place in sorted(where)]))  # fmt: skip
    if guard.left > 0:
        parts.append(f"ge([{LEFT[0]}:{LEFT[1]}], {guard.left})")
    parts += [_joined("or", list(_ranges(some))) for some in guard.some]
    return parts


def _ranges(mask: int) -> Iterator[str]:
    """By run of bits that stand side by side in a mask: that one of them is set."""
    while mask:
        low = (mask & -mask).bit_length() - 1
        high = low + ((mask >> low) + 1 & -((mask >> low) + 1)).bit_length() - 1
        yield f"bit_set({low})" if high == low + 1 else f"ne([{low}:{high}], 0)"
        mask &= ~((1 << high) - 1)


def _joined(word: str, parts: list[str]) -> str:
    out = parts.pop()
    while parts:
        out = f"{word}({parts.pop()}, {out})"
    return out


def gbnf(form: Form) -> str:
    """The grammar for llama.cpp and what else reads GBNF."""
    return _expanded(form, "root", "::=", "-")


def lark(form: Form) -> str:
    """The grammar for Lark and what else reads its notation, without parameters."""
    return _expanded(form, "start", ":", "_")


def _expanded(form: Form, root: str, sign: str, joint: str) -> str:
    rules, entries = expanded(form, MOST_RULES)
    same = _merged(rules)
    names: dict[tuple[str, int], str] = {}
    counts: dict[str, int] = {}
    for key in rules:
        if same[key] == key:
            number = counts[key[0]] = counts.get(key[0], 0) + 1
            names[key] = f"{key[0].replace('_', joint)}{joint}{number}"

    def item(one: Item) -> str:
        if isinstance(one, Use):
            return names[same[one.rule, one.change.bits]]
        return _quoted(one.text) if isinstance(one, Literal) else _pattern(one).replace("\\/", "/")

    def way(items: tuple[Item, ...]) -> str:
        if sign == "::=":
            return " ".join(map(item, items)) or '""'
        return " ".join(_patterned(items, item))  # in Lark an alternative without text is empty

    lines = [
        f"{root} {sign} "
        + " | ".join(dict.fromkeys(names[same[key]] for key in entries if key in rules))
    ]
    for key, name in names.items():
        if sign == ":" and (words := _words(rules[key])):
            lines += [f"{name} : {name.upper()}", f"{name.upper()} : {words}"]
            continue
        lines.append(f"{name} {sign} " + " | ".join(dict.fromkeys(map(way, rules[key]))))
    return "\n".join(lines) + "\n"


def _merged(
    rules: dict[tuple[str, int], list[tuple[Item, ...]]],
) -> dict[tuple[str, int], tuple[str, int]]:
    """By rule, the first one that spells the same: rules whose alternatives are the same are one."""
    same = {key: key for key in rules}
    while True:
        known: dict[tuple[object, ...], tuple[str, int]] = {}
        new = {}
        for key, ways in rules.items():
            shape: tuple[object, ...] = (
                key[0],
                *(
                    tuple(
                        same[item.rule, item.change.bits] if isinstance(item, Use) else item
                        for item in items
                    )
                    for items in ways
                ),
            )
            new[key] = known.setdefault(shape, key)
        if new == same:
            return same
        same = new
