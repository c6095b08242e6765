"""Error messages for a tail that does not have its form.

The parser knows where a tail becomes invalid and which terminals would fit there.
Common mistakes get a sentence of their own; other messages list the terminals.
Every finding has the form that was expected.
"""

from __future__ import annotations

import re

from ..named_tuples import NamedTuple
from ..text.later_regex import later
from .language import STATEMENTS


class Malformed(NamedTuple):
    """The tail does not have its form: where, one sentence, and what to write."""

    start: int
    end: int
    message: str
    help: str | None = None


class Wrong(Exception):
    """Ends the reading of a tail: it has its form, but is not valid."""

    def __init__(self, start: int, end: int, message: str, help_: str | None = None) -> None:
        super().__init__(message)
        self.malformed = Malformed(start, end, message, help_)


FORMS = {
    "arguments": 'an argument is a word, a "quoted text", `{name}`, or `key=` before one of these',
    **{row.tail: row.form for row in STATEMENTS.values()},
}
"""The form of each tail, by the grammar's name for it."""

_QUOTED_AT_MOST = 60
_CONDITIONS = ("if_tail", "require_tail", "iterate_tail")

_OPERATORS = {
    "=": "`=` does not compare; write `==`",
    "===": "`===` is not a comparison; write `==`",
    "&&": "`&&` is written `and`",
    "&": "`&` is written `and`",
    "||": "`||` is written `or`",
    "|": "`|` is written `or`",
    "!": "`!` is written `not`",
    "<>": "`<>` is written `!=`",
    "=>": "`=>` is written `>=`",
    "=<": "`=<` is written `<=`",
    "!==": "`!==` is not a comparison; write `!=`",
}
_WORDS = {
    "is": "`is` does not compare; write `==`",
    "equals": "`equals` does not compare; write `==`",
    "contains": "`contains` is written the other way round: `ITEM in LIST`",
    "then": "nothing follows a condition on its line; the body stands indented below",
    "do": "nothing follows a condition on its line; the body stands indented below",
}
_INSIDE = 'a `"` inside a quoted text is written `\\"`'
_QUOTED = later(r'"(?:[^"\\]|\\.)*"')
_NAMES = {
    "INTEGER": "a whole number",
    "DECIMAL": "a number",
    "STRING": "a quoted text",
    "NAME": "a name",
    "WORD": "a word",
    "REFERENCE": "`{name}`",
    "KEY": "`key=value`",
    "OPERATOR": "a comparison",
    "EQUALS": "`=`",
    "$END": "the end of the line",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "COMMA": "`,`",
    "LEN": "`len`",
}
_VALUE = {"STRING", "REFERENCE", "INTEGER", "DECIMAL", "NAME", "WORD"}
_OPERAND = {
    "IDENTIFIER",
    "BRACED",
    "DOTTED",
    "STRING",
    "NUMBER",
    "TRUE",
    "FALSE",
    "LEN",
    "LPAR",
    "_NOT",
}
_LUMP = later(r"[A-Za-z_][A-Za-z0-9_.]*|-?[0-9]+(?:\.[0-9]+)?|[=<>!&|]+|\{[^}\s]*\}?|'[^']*'?|\S")


def clip(text: str) -> str:
    """A user's text, shortened for a message."""
    return text if len(text) <= _QUOTED_AT_MOST else text[: _QUOTED_AT_MOST - 3] + "..."


_PLAIN = "write them as words after the tool: `TOOL VALUE VALUE`, or by name: `TOOL key=value`"


def complain(start: str, text: str, at: int, expected: set[str]) -> Malformed:
    """The finding about `text`, read by the rule `start`, where at `at` only `expected` terminals fit."""
    form = FORMS[start]
    if at >= len(text):
        message = f"the line ends too early; expected {_list(expected, start)}"
        return Malformed(len(text), len(text) + 1, message, form)
    if text[at].isspace():
        name = "a tab" if text[at] == "\t" else f"U+{ord(text[at]):04X}"
        return Malformed(at, at + 1, f"{name} where a space is expected", form)
    if text[at] == '"':
        closed = _QUOTED.match(text, at)
        if closed:
            end = closed.end()
            return Malformed(end, end + 1, "a space is missing after the quoted text", _INSIDE)
        return Malformed(at, len(text), "the quoted text is not closed", _INSIDE)
    lump = _lump(start, text, at)
    if start not in _CONDITIONS and lump[0] == "'":
        return Malformed(at, at + len(lump), "a text is quoted with `\"`, not with `'`", form)
    if start not in _CONDITIONS and '"' in lump:
        place = at + lump.index('"')
        if re.match(r'[\[{]+"', lump):
            return Malformed(at, len(text), "arguments are not written as JSON", _PLAIN)
        return Malformed(
            place,
            place + 1,
            'a `"` inside a word',
            'quote the whole argument, and write `\\"` inside',
        )
    shown = clip(lump)
    explanation = (
        _condition(text, at, shown)
        if _in_condition(start, text, at)
        else _other(start, text, at, shown)
    )
    message = explanation or f"unexpected `{shown}`; expected {_list(expected, start)}"
    return Malformed(
        at, at + len(lump), message, None if explanation and start in _CONDITIONS else form
    )


def _lump(start: str, text: str, at: int) -> str:
    """The part to report: in conditions a symbol or word, elsewhere everything up to a space."""
    match = (_LUMP if start in _CONDITIONS else re.compile(r"\S+")).match(text, at)
    return match[0] if match else text[at]


def _in_condition(start: str, text: str, at: int) -> bool:
    return start in ("if_tail", "require_tail") or (
        start == "iterate_tail" and " until " in f" {text[:at]}"
    )


def _condition(text: str, at: int, lump: str) -> str | None:
    before = text[:at].rstrip()
    if lump in _OPERATORS:
        return _OPERATORS[lump]
    if lump in (">", "=") and before.endswith("<"):
        return _OPERATORS["<>" if lump == ">" else "=<"]
    if lump in _WORDS:
        return _WORDS[lump]
    if lump in ("==", "!=", "<", "<=", ">", ">="):
        return (
            "comparisons do not chain; join two with `and`" if re.search(r"[=<>]", before) else None
        )
    if lump == ":" and at == len(text) - 1:
        return (
            "a colon after a condition; write the condition without it, and indent the body below"
        )
    if lump[0] == "'":
        return 'a text in a condition is quoted with `"`'
    if lump[0] == "{":
        return f"`{lump}` is not a reference; write `{{name}}` or `{{name.field}}`"
    if lump[0] == "$":
        return (
            "a value stands in a condition by its name alone, without `$`: `name` or `name.field`"
        )
    if lump[0] == "." and before.endswith("}"):
        return "a field stands inside the braces: `{name.field}`"
    if lump in ("+", "-", "*", "/", "%"):
        return "a condition does not calculate; let a step do it, and bind its result"
    if before.endswith("len"):
        return "`len` takes its value in brackets: `len(name)`"
    return None


def _other(start: str, text: str, at: int, lump: str) -> str | None:  # noqa: C901
    before = text[:at].split()
    if start in ("for_tail", "fork_tail"):
        if before == ["each"]:
            word = start.removesuffix("_tail")
            return f"`{word} each` is written `{word} NAME in VALUE max N`, or `for_each_file GLOB`"
        if len(before) == 1 and lump in ("of", "=", ":=", "<-"):
            return f"`{lump}` is written `in`"
        if not before and lump.endswith(","):
            return "a loop binds one name"
        if lump == "keep" and start == "for_tail":
            return "only the branches of a `fork` can fail alone: `fork NAME in VALUE max N keep failures`"
    if start == "for_each_tail" and len(before) == 1 and lump == "in":
        return f"the pattern comes first: `for_each_file GLOB as {before[0]}`"
    if start == "iterate_tail":
        if not before and lump.isdecimal():
            return f"a bound is written `max {lump}`"
        if lump == "while":
            return "`iterate` goes on until its condition holds; write `until`"
    if before[-1:] == ["max"] and re.fullmatch(r"\d+\s*:\s*", text[at:]):
        return "a colon after a bound; write the bound without it, and indent the body below"
    if before[-1:] == ["max"]:
        return f"a bound is a whole number that stands in the plan, not `{lump}`"
    if start == "call_tail" and before:
        if lump == "=" or text[at + len(lump) :].lstrip().startswith("="):
            return "no spaces around the `=` of an argument"
        if before[-1] != "depth":
            return f"arguments of a call are named: `key={lump}`"
    if start == "require_tail" or (start == "param_tail" and lump[0] == "'"):
        return None
    if start == "param_tail" and not before and not lump.isascii():
        return f"`{lump}` has characters outside ASCII; a name is made of ASCII letters, digits and `_`"
    if start == "param_tail" and before and before[-1] != "=" and "=" in "".join(before):
        return f"unexpected `{lump}`; a default of several words is quoted"
    return None


def _list(names: set[str], start: str) -> str:
    words = []
    if start in _CONDITIONS and "OPERATOR" in names:
        ends = ["`else`"] if start == "require_tail" else ["the end of the line"]
        return ", ".join(["a comparison", "`and`", "`or`"]) + f" or {ends[0]}"
    if names >= _VALUE:
        words.append("a value")
        names = names - _VALUE
    if names >= {"IDENTIFIER", "BRACED", "STRING"}:
        words.append("a name, a number, a quoted text or `(`")
        names = names - _OPERAND
    if {"INTEGER", "DECIMAL"} <= names:
        names = names - {"INTEGER"}
    if start == "param_tail" and "NAME" in names:
        names = names - {"KEY"}
    words += sorted({_NAMES.get(name, f"`{name.lower().lstrip('_')}`") for name in names})
    if not words:
        return "nothing more"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
