"""The two written forms of an automaton: from a JSON tree to one declaration that keeps its places.

    table form  states, alphabet, start_state, accept_states, transitions {state: {symbol: state}}
    list form   states, initial_state, final_states, transitions [{source, dest, trigger}]

This file checks the form only (`malformed-automaton`), and agrees with `tooling/fsm.schema.json`;
the loader checks the names. A declaration has all parts that could be
read, so that all faults are found at once.
"""

from __future__ import annotations

import re

from ..diagnostics.diagnostic import Diagnostic, Label
from ..named_tuples import NamedTuple
from ..text.json_text import Member, Node, Places
from ..text.slots import Record
from ..text.suggest import did_you_mean

TABLE = ("states", "alphabet", "start_state", "accept_states", "transitions")
LIST = ("states", "initial_state", "final_states", "transitions")
OPTIONAL = ("$schema", "description")
MOVE = ("source", "dest", "trigger")

MAX_NAME = 200
"""Characters of a state's or symbol's name."""

# Names are printed in messages and drawn: what cannot be seen, or turns text around, is not a name.
_INVISIBLE = re.compile("[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class Name(NamedTuple):
    """A state or symbol as written, and its place."""

    text: str
    start: int
    end: int


class Transition(NamedTuple):
    """`source` --`symbol`--> `target`; `start` and `end` are the place of the whole."""

    source: Name
    symbol: Name
    target: Name
    start: int
    end: int


class Declaration(Record):
    """What a file declares. None where a part is missing or of the wrong kind."""

    __slots__ = (
        "form",
        "states",
        "alphabet",
        "start",
        "accept",
        "accept_place",
        "transitions",
        "rows",
    )

    def __init__(
        self,
        form: str,
        states: list[Name] | None = None,
        alphabet: list[Name] | None = None,
        start: Name | None = None,
        accept: list[Name] | None = None,
        accept_place: tuple[int, int] = (0, 0),
    ) -> None:
        self.form = form
        self.states = states
        self.alphabet = alphabet
        self.start = start
        self.accept = accept
        self.accept_place = accept_place
        self.transitions: list[Transition] = []
        self.rows: list[Name] = []


def read(root: Node, places: Places) -> tuple[Declaration | None, list[Diagnostic]]:
    """The declaration in a JSON tree and what is wrong with its form. None: it is of neither form."""
    reader = _Reader(places)
    return reader.document(root), reader.findings


def _kind(node: Node) -> str:
    article = "an" if node.kind in ("object", "array") else "" if node.kind == "null" else "a"
    return f"{article} {node.kind}".strip()


class _Reader:
    def __init__(self, places: Places) -> None:
        self.places = places
        self.findings: list[Diagnostic] = []

    def report(
        self, node: Node | Name, message: str, hint: str | None = None, first: Name | None = None
    ) -> None:
        labels = (Label(self.places.span(first.start, first.end), "first here"),) if first else ()
        span = self.places.span(node.start, node.end)
        self.findings.append(Diagnostic(span, "FDC202", message, labels=labels, help=hint))

    def document(self, root: Node) -> Declaration | None:
        if root.kind != "object":
            self.report(root, f"expected an object that declares an automaton, found {_kind(root)}")
            return None
        members: dict[str, Member] = {}
        for member in root.value:
            members.setdefault(member.key.value, member)
        form = _form(members)
        if form is None:
            place = Node("object", (), root.start, root.start + 1)
            self.report(
                place,
                "an object of neither automaton form",
                f"the table form has {_list(TABLE)}; the list form has {_list(LIST)}",
            )
            return None
        self.keys(root, members, form)
        declaration = Declaration(form)
        values = {name: member.value for name, member in members.items()}
        declaration.states = self.names(values.get("states"), "states", least=1)
        if form == "table":
            declaration.alphabet = self.names(values.get("alphabet"), "alphabet", least=1)
            start, accept = values.get("start_state"), values.get("accept_states")
        else:
            start, accept = values.get("initial_state"), values.get("final_states")
        declaration.start = self.name(start, "the start state") if start else None
        declaration.accept = self.names(accept, TABLE[3] if form == "table" else LIST[2])
        if accept is not None:
            declaration.accept_place = (accept.start, accept.end)
        if "transitions" in values:
            (self.table if form == "table" else self.moves)(values["transitions"], declaration)
        for key in OPTIONAL:
            if key in values and values[key].kind != "string":
                self.report(
                    values[key], f"expected a string for `{key}`, found {_kind(values[key])}"
                )
        return declaration

    def keys(self, root: Node, members: dict[str, Member], form: str) -> None:
        expected, other = (TABLE, LIST) if form == "table" else (LIST, TABLE)
        for name, member in members.items():
            if name in expected or name in OPTIONAL:
                continue
            shown = _short(name)
            if name in other:
                self.report(
                    member.key,
                    f"the key `{shown}` belongs to the {'list' if form == 'table' else 'table'} form, "
                    f"this automaton is written in the {form} form",
                    "the list form takes its alphabet from the triggers"
                    if name == "alphabet"
                    else None,
                )
            else:
                self.report(
                    member.key, f"unknown key `{shown}`", did_you_mean(shown, expected + OPTIONAL)
                )
        for name in expected:
            if name not in members:
                place = Node("object", (), root.start, root.start + 1)
                self.report(
                    place, f"the key `{name}` is missing", f"the {form} form has {_list(expected)}"
                )

    def name(self, node: Node, what: str) -> Name | None:
        """The name that a string spells; reports and gives None when it is none."""
        if node.kind != "string":
            self.report(node, f"expected a string for {what}, found {_kind(node)}")
        elif not node.value:
            self.report(node, f"an empty name for {what}")
        elif len(node.value) > MAX_NAME:
            self.report(
                node, f"a name of {len(node.value)} characters for {what}, more than {MAX_NAME}"
            )
        elif hidden := _INVISIBLE.search(node.value):
            self.report(
                node,
                f"a character that cannot be seen (U+{ord(hidden.group()):04X}) in the name of {what}",
            )
        else:
            return Name(node.value, node.start, node.end)
        return None

    def names(self, node: Node | None, key: str, least: int = 0) -> list[Name] | None:
        """The names in a list without repetitions; None when no list exists."""
        if node is None:
            return None
        if node.kind != "array":
            self.report(node, f"expected an array for `{key}`, found {_kind(node)}")
            return None
        if len(node.value) < least:
            self.report(node, f"`{key}` is empty")
        seen: dict[str, Name] = {}
        for item in node.value:
            name = self.name(item, f"an item of `{key}`")
            if name is None:
                continue
            if name.text in seen:
                self.report(name, f"`{name.text}` twice in `{key}`", first=seen[name.text])
            else:
                seen[name.text] = name
        return list(seen.values())

    def table(self, node: Node, declaration: Declaration) -> None:
        if node.kind != "object":
            self.report(
                node, f"expected an object for `transitions` in the table form, found {_kind(node)}"
            )
            return
        for member in node.value:
            source = self.name(member.key, "a state in `transitions`")
            if source is not None:
                declaration.rows.append(source)
            if member.value.kind != "object":
                self.report(
                    member.value,
                    f"expected an object of symbols and states, found {_kind(member.value)}",
                )
                continue
            for entry in member.value.value:
                symbol = self.name(entry.key, "a symbol")
                target = self.name(entry.value, "the state that a transition enters")
                if source and symbol and target:
                    declaration.transitions.append(
                        Transition(source, symbol, target, entry.key.start, entry.value.end)
                    )

    def moves(self, node: Node, declaration: Declaration) -> None:
        if node.kind != "array":
            self.report(
                node, f"expected an array for `transitions` in the list form, found {_kind(node)}"
            )
            return
        for item in node.value:
            if item.kind != "object":
                self.report(item, f"expected an object with {_list(MOVE)}, found {_kind(item)}")
                continue
            parts: dict[str, Name | None] = {}
            for member in item.value:
                key = member.key.value
                if key not in MOVE:
                    self.report(
                        member.key, f"unknown key `{_short(key)}`", did_you_mean(_short(key), MOVE)
                    )
                elif key not in parts:
                    parts[key] = self.name(member.value, f"`{key}`")
            for key in MOVE:
                if key not in parts:
                    self.report(item, f"a transition without `{key}`")
            source, target, symbol = (parts.get(key) for key in MOVE)
            if source and symbol and target:
                declaration.transitions.append(
                    Transition(source, symbol, target, item.start, item.end)
                )


def _form(members: dict[str, Member]) -> str | None:
    """The form that a file is meant to have: by the kind of `transitions`, else by the other keys."""
    if "transitions" in members:
        kind = members["transitions"].value.kind
        if kind in ("object", "array"):
            return "table" if kind == "object" else "list"
    table = sum(key in members for key in TABLE if key not in LIST)
    listed = sum(key in members for key in LIST if key not in TABLE)
    if not table and not listed:
        return None
    return "table" if table >= listed else "list"


def _list(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _short(text: str) -> str:
    """A key of the file, shortened and escaped for a message."""
    text = text if len(text) <= 60 else text[:59] + "…"
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
