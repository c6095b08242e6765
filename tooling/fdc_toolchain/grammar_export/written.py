"""The form as text: llguidance with parameters, GBNF and Lark with every parameter expanded."""

from __future__ import annotations

from .form import (
    LEFT, NEVER, OWED, Change, Chars, Form, Guard, Item, Literal, Use, expanded,
)  # fmt: skip

MOST_RULES = 60_000
"""Rules of an expanded grammar; a larger one is not written."""


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def llguidance(form: Form) -> str:
    """The grammar for llguidance: Lark with a parameter of 64 bits."""
    writer = _Parametric(form)
    lines = ["start: " + "\n  | ".join(f"main::{parameter:#x}" for parameter in form.entries)]
    for name, ways in form.rules.items():
        title = "main" if name == "start" else name
        rows = [writer.items(way.items) + _condition(way.guard) for way in ways]
        # llguidance 1.9.1 panics where it inlines a rule that has one alternative.
        rows.append(f'"!" %if bit_set({NEVER})')
        lines.append(f"{title}::_: " + "\n  | ".join(rows))
    lines += writer.hops
    return "\n".join(lines) + "\n"


class _Parametric:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.hops: list[str] = []
        self.known: dict[tuple[str, int, int], str] = {}

    def items(self, items: tuple[Item, ...]) -> str:
        return " ".join(map(self.item, items)) or '""'

    def item(self, item: Item) -> str:
        if isinstance(item, Literal):
            return _quoted(item.text)
        if isinstance(item, Chars):
            return f"/[{item.ranges}]{{{item.least},{item.most}}}/"
        change = item.change
        if change.less:
            return f"{item.rule}::decr([{LEFT[0]}:{LEFT[1]}])"
        if change == Change():
            return f"{item.rule}::_"
        if change.keep == Change().keep:
            return f"{item.rule}::bit_or({change.bits:#x})"
        if not change.bits:
            return f"{item.rule}::bit_and({change.keep:#x})"
        key = (item.rule, change.keep, change.bits)
        if key not in self.known:
            self.known[key] = f"hop{len(self.known)}"
            self.hops.append(
                f"{self.known[key]}::_: {item.rule}::bit_or({change.bits:#x})"
                f'\n  | "!" %if bit_set({NEVER})'
            )
        return f"{self.known[key]}::bit_and({change.keep:#x})"


def _condition(guard: Guard) -> str:
    parts = [f"bit_set({bit})" for bit in range(64) if guard.bits >> bit & 1]
    parts += [f"bit_clear({bit})" for bit in range(64) if guard.clear >> bit & 1]
    left, owed = f"[{LEFT[0]}:{LEFT[1]}]", f"[{OWED[0]}:{OWED[1]}]"
    if guard.left > 0:
        parts.append(f"ge({left}, {guard.left})")
    if guard.owed is not None:
        parts.append(f"eq({owed}, {guard.owed})")
    if guard.either:
        parts.append(f"or(eq({owed}, 0), ge({left}, {guard.either}))")
    if guard.some:
        parts.append(_joined("or", [f"bit_set({bit})" for bit in range(64) if guard.some >> bit & 1]))
    return f" %if {_joined('and', parts)}" if parts else ""


def _joined(word: str, parts: list[str]) -> str:
    out = parts.pop()
    while parts:
        out = f"{word}({parts.pop()}, {out})"
    return out


def gbnf(form: Form) -> str:
    """The grammar for llama.cpp and what else reads GBNF."""
    return _expanded(form, "root", "::=", lambda item: f"[{item.ranges}]", "-")


def lark(form: Form) -> str:
    """The grammar for Lark and what else reads its notation, without parameters."""
    return _expanded(form, "start", ":", lambda item: f"/[{item.ranges}]{{{item.least},{item.most}}}/", "_")


def _expanded(form: Form, root: str, sign: str, shown: object, joint: str) -> str:
    rules, entries = expanded(form, MOST_RULES)
    same = _merged(rules)
    names: dict[tuple[str, int], str] = {}
    counts: dict[str, int] = {}
    for key in rules:
        if same[key] == key:
            number = counts[key[0]] = counts.get(key[0], 0) + 1
            names[key] = f"{key[0].replace('_', joint)}{joint}{number}"

    def item(one: Item) -> str:
        if isinstance(one, Literal):
            return _quoted(one.text)
        if isinstance(one, Use):
            return names[same[one.rule, one.change.bits]]
        if sign == "::=":
            count = "" if (one.least, one.most) == (1, 1) else f"{{{one.least},{one.most}}}"
            return f"[{one.ranges}]{count}"
        return f"/[{one.ranges}]{{{one.least},{one.most}}}/"

    lines = [f"{root} {sign} " + " | ".join(dict.fromkeys(names[same[key]] for key in entries if key in rules))]
    for key, name in names.items():
        rows = dict.fromkeys(" ".join(map(item, items)) or '""' for items in rules[key])
        lines.append(f"{name} {sign} " + " | ".join(rows))
    return "\n".join(lines) + "\n"


def _merged(rules: dict[tuple[str, int], list[tuple[Item, ...]]]) -> dict[tuple[str, int], tuple[str, int]]:
    """By rule, the first one that spells the same: rules whose alternatives are the same are one."""
    same = {key: key for key in rules}
    while True:
        known: dict[tuple[object, ...], tuple[str, int]] = {}
        new = {}
        for key, ways in rules.items():
            shape: tuple[object, ...] = (key[0], *(
                tuple(same[item.rule, item.change.bits] if isinstance(item, Use) else item for item in items)
                for items in ways
            ))
            new[key] = known.setdefault(shape, key)
        if new == same:
            return same
        same = new
