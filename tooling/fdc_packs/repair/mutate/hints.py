"""What the first error's message says of the edit that is wanted: a name that is not there, an argument too few, a None. Pure."""

from __future__ import annotations

import ast
import keyword
import re
from collections import Counter
from typing import NamedTuple

from . import expected
from .source import Edit, Source
from .statements import LEAVES


class Hint(NamedTuple):
    """`message`: of which error; `weights`: how much likelier edits of a kind are, where it was raised (or, `anywhere`, at all).
    `named`: only those whose text has the name that the message quotes; `word`: only those that put it there."""

    message: re.Pattern[str]
    weights: dict[str, float]
    named: bool = False
    anywhere: bool = False
    word: str = ""


def _conversion(message: str, word: str, sure: float = 2.5) -> Hint:
    """A value of a type that the error names: what makes it of the other one may stand before the line that fails."""
    return Hint(
        re.compile(f"TypeError: .*(?:{message})"),
        {"wrapped": sure, "callee": 2.0},
        anywhere=True,
        word=word,
    )


_NOT_THERE = dict.fromkeys(
    ("name", "callee", "attribute", "restored", "lost", "order", "nesting", "nested", "exception"),
    2.5,
)
_HINTS = (
    Hint(re.compile(r"NameError: .*name '(\w+)'|UnboundLocalError: .*'(\w+)'"), _NOT_THERE, named=True, anywhere=True),
    Hint(re.compile(r"AttributeError: .*has no attribute '(\w+)'"), _NOT_THERE, named=True, anywhere=True),
    Hint(re.compile(r"TypeError: .*missing (?:[2-9]|\d\d+) required"), {"callee": 1.6, "attribute": 1.6}),
    Hint(re.compile(r"TypeError: .*(?:missing 1 required|expected (?:at least )?\d+ argument)"),
         {"added": 3.0, "callee": 1.6, "attribute": 1.6}),
    Hint(re.compile(r"IndexError: Replacement index|TypeError: not enough arguments for format"), {"added": 3.0}),
    Hint(re.compile(r"TypeError: .*argument after \*\*? must be"), {"name": 3.0, "wrapped": 1.5}),
    Hint(re.compile(r"ValueError: (?:math domain error|expected a (?:positive|nonnegative))"),
         {"wrapped": 2.0, "arguments": 1.3}),
    Hint(re.compile(r"TypeError: 'module' object|AttributeError: module '"), {"callee": 2.0, "name": 1.6, "attribute": 1.6,
                                                                             "wrapped": 1.6, "member": 2.0}),
    Hint(re.compile(r"UnicodeEncodeError|UnicodeDecodeError"), {"added": 3.0, "constant": 1.5}),
    Hint(re.compile(r"TypeError: .*(?:takes (?:at most |from )?\d+|too many) "),
         {"argument": 2.5, "callee": 1.6, "attribute": 1.6, "name": 1.3}),
    Hint(re.compile(r"TypeError: (?:unsupported operand|can only concatenate|'.+' not supported between|must be)"),
         {"arithmetic": 2.0, "wrapped": 1.8, "unwrapped": 1.5, "arguments": 1.5, "callee": 1.4, "name": 1.4}),
    Hint(re.compile(r"TypeError: .*object is not (?:callable|iterable|subscriptable|an iterator)"),
         {"name": 1.6, "attribute": 1.6, "callee": 1.5, "wrapped": 1.6, "arguments": 1.6}),
    Hint(re.compile(r"'NoneType'|assert None\b|\bNone (?:==|!=|is not)|None != "),
         {"return": 1.8, "restored": 1.6, "lost": 1.6, "guarded": 1.6}, anywhere=True),
    Hint(re.compile(r"TookTooLong"), {"inserted": 2.5, "assignment": 2.0, "comparison": 1.5, "arithmetic": 1.5}, anywhere=True),
    Hint(re.compile(r"ZeroDivisionError"), {"guarded": 3.0}),
    Hint(re.compile(r"KeyError: .?'(\w+)"), {"constant": 2.5, "added": 2.5, "exception": 1.5}),
    Hint(re.compile(r"IndexError|StopIteration"), {"bound": 1.6, "slice": 1.4, "comparison": 1.3, "exception": 1.4}),
    Hint(re.compile(r"DID NOT RAISE|not raised"), {"exception": 1.8, "guarded": 2.0, "restored": 1.4, "flow": 1.8,
                                                                  "narrowed": 1.3, "negation": 1.2}, anywhere=True),
    _conversion(r"integer is required|interpreted as an integer|must be (?:an )?int(?:eger)?\b", "int"),
    _conversion(r"must be str, not|expected str\b|can only concatenate str|must be a string", "str"),
    _conversion(r"bytes-like object is required, not 'str'|can't concat str to bytes", "encode"),
    _conversion(r"'(?:dict_\w+|map|filter|zip|generator|set|\w*_iterator)' (?:object is not subscriptable|has no len)", "list"),
    _conversion(r"object is not an iterator", "iter"),
    _conversion(r"unhashable type: '(?:dict|dict_items|dict_values|set)'", "frozenset", 5.0),
    _conversion(r"unhashable type: '(?:list|dict_values)'", "tuple", 5.0),
)  # fmt: skip

_ANY = re.compile("")
_CONVERTS = {"wrapped": 4.0, "callee": 3.0, "attribute": 3.0}
"""How much likelier a call is that makes what a test wants of what it gets."""


class Said:
    """What a message says: `weight` gives how much more credible an edit is for it."""

    def __init__(self, message: str) -> None:
        self._known: list[tuple[Hint, re.Pattern[str] | None]] = [
            (Hint(_ANY, _CONVERTS, anywhere=True, word=one), None)
            for one in expected.converting(message)
        ]
        for hint in _HINTS:
            match = hint.message.search(message)
            if match is not None:
                name = next((one for one in match.groups() if one), "") if hint.named else ""
                self._known.append((hint, re.compile(rf"\b{re.escape(name)}\b") if name else None))

    def weight(self, kind: str, old: str, new: str, raised: bool) -> float:
        """1 or more; `raised`: the edit is of the lines where the error was raised."""
        found = 1.0
        for hint, name in self._known:
            worth = hint.weights.get(kind, 1.0) if raised or hint.anywhere else 1.0
            put = not hint.word or (_calls(new, hint.word) and not _calls(old, hint.word))
            if worth > found and put and (name is None or name.search(old) or name.search(new)):
                found = worth
        return found


def _calls(text: str, word: str) -> bool:
    """True where a text calls what the word names, or is that word."""
    return re.search(rf"\b{word}\(", f"{text}(") is not None


_TOKEN = re.compile(r"\w+|[^\w\s]")


def lacks(node: ast.AST | None, message: str) -> bool:
    """Whether the error is that a value lacks this member: the call that makes of it what has the member may be lost."""
    return isinstance(node, ast.Attribute) and f"has no attribute '{node.attr}'" in message


def takes_away(edit: Edit, message: str) -> bool:
    """True for an edit that only leaves out words, as an argument, an operand or a call, where no error asks for that.

    A call or a computation that does less passes weak tests more easily than one that does what is meant.
    """
    old, new = (_TOKEN.findall(one) for one in (edit.old, edit.new))
    rest = iter(old)
    if isinstance(edit.node, ast.Constant) or not all(one in rest for one in new):
        return False  # a text or a number is another one
    words = [one for one in (Counter(old) - Counter(new)).elements() if one[0].isalnum()]
    lost = any(not keyword.iskeyword(one) for one in words)
    return lost and Said(message).weight(edit.kind, edit.old, edit.new, True) <= 1.0


_NONE = re.compile(r"(?:AttributeError|TypeError): .*'NoneType'")
_CATCHES = re.compile(r"\b(?:AttributeError|TypeError)\b")
_UNKNOWN = re.compile(r"NameError: name '(\w+)' is not defined")
_UNORDERED = re.compile(r"TypeError: '[<>]=?' not supported between")
_ORDERS = frozenset(("<", ">", "<=", ">="))
_SIGN = re.compile(r"[<>]=?")


def evades(edit: Edit, message: str) -> bool:
    """True for an edit that leaves what the error speaks of as it is: an unknown name that it does not touch, so that no test
    gets there any more, values that cannot be ordered, which it asks to be equal, a None that it catches the error of, or
    what is caught and is no exception."""
    if _NONE.match(message) and edit.kind in ("widened", "exception") and _CATCHES.search(edit.new):
        return True
    if "catching classes that do not inherit" in message:
        return not (isinstance(edit.node, ast.expr) and edit.kind in ("exception", "name"))
    unknown = _UNKNOWN.match(message)
    if unknown is not None:
        said = re.search(rf"\b{unknown[1]}\b", f"{edit.old}\n{edit.new}")
        return said is None and edit.kind != "import"
    ordered = [bool(_ORDERS & set(_SIGN.findall(one))) for one in (edit.old, edit.new)]
    return (
        bool(_UNORDERED.match(message)) and edit.kind == "comparison" and ordered == [True, False]
    )


_OF_TYPE = re.compile(r"(?:TypeError|AttributeError): ")
_ASKS = re.compile(r"\b(?:isinstance|issubclass|hasattr|callable)\(|\bis (?:not )?None\b")


def inverted(source: Source, edit: Edit, message: str, line: int) -> bool:
    """True for the negation of a question about a type where a value of the wrong type fails in the block that it guards:
    such a guard lets in what it was to keep out. `line`: where the error was raised."""
    at = source.statement(edit.node)
    if isinstance(at, ast.If) and _lets_none_pass(source, at, edit, message, line):
        return True
    if edit.kind not in ("negation", "comparison") or not isinstance(at, ast.If) or not line:
        return False
    spans = [(block[0].lineno, block[-1].end_lineno or 0) for block in (at.body, at.orelse) if block]  # fmt: skip
    whole = source.segment(at.test) in (edit.old, f"not {edit.old}")
    asks = whole and _ASKS.search(edit.old) and _OF_TYPE.match(message)
    return bool(asks) and any(first <= line <= last for first, last in spans)


def asks_for_none(source: Source, edit: Edit, message: str, line: int) -> bool:
    """True where a question becomes one about None, and None fails in the block beside that one: `x is None` for `x is True`."""
    if edit.kind != "constant" or edit.new != "None" or not _NONE.match(message):
        return False
    at = source.statement(edit.node)
    if not isinstance(at, ast.If) or edit.node not in ast.walk(at.test):
        return False
    first, last = (at.orelse[0].lineno, at.orelse[-1].end_lineno or 0) if at.orelse else (1, 0)
    return first <= line <= last


def _lets_none_pass(source: Source, at: ast.If, edit: Edit, message: str, line: int) -> bool:
    """True for `not x` in place of `x` where the block is left if `x` is there, and `x.y` behind it fails as `x` is None."""
    name = at.test.id if isinstance(at.test, ast.Name) else ""
    if (
        not name
        or (edit.kind, edit.old, edit.new) != ("negation", name, f"not {name}")
        or at.orelse
    ):
        return False
    function, end = source.function(at), at.end_lineno or 0
    behind = function is not None and end < line <= (function.end_lineno or 0)
    used = behind and re.search(rf"\b{re.escape(name)}[.\[(]", source.row(line)[0])
    return bool(used and _NONE.match(message) and isinstance(at.body[-1], LEAVES))
