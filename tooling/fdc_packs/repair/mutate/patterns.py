"""Operators on regular expressions: another repetition, class, set, anchor or point."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from .known import Known
from .values import Found, Row

_REPEATED = re.compile(r"(?<!\\)(?:[*+?]\??|\{\d+(?:,\d*)?\})")
_CLASS = re.compile(r"\\([dDwWsSbB])")
_SET = re.compile(r"(?<!\\)\[(\^?)((?:\\.|[^\]\\])+)\]")
_DIGITS = re.compile(r"(?:\\d|\[0-9\])(\+|\{[1-9]\d?(?:,\d{0,2})?\})")
_BACKSLASH = "\\"
_ANCHOR = re.compile(r"^\^|\$$")


def is_pattern(known: Known, node: ast.Constant) -> bool:
    """True for a regular expression: the text is raw, or given to a function of `re`."""
    up = known.parents.get(node)
    given = (
        isinstance(up, ast.Call)
        and known.segment(up.func).startswith("re.")
        and up.args[:1] == [node]
    )
    return given or re.match(r"[rR]['\"]", known.segment(node)) is not None


def pattern(known: Known, node: ast.Constant) -> Iterator[Row]:  # noqa: C901
    """Another repetition, class, set, anchor or point of a regular expression; all that Python can compile."""
    text = known.segment(node)
    begin = re.match(r"[rRbBuU]*('{3}|\"{3}|'|\")", text)
    if begin is None:
        return
    head, tail = begin.end(), len(text) - len(begin[1])
    body, found = text[head:tail], Found()

    def put(match: re.Match[str], instead: str, prior: float, start: int | None = None) -> None:
        found.raise_to(
            body[: match.start() if start is None else start] + instead + body[match.end() :], prior
        )

    for one in _REPEATED.finditer(body):
        for other in ("*", "+", "?", "*?", "+?", ""):
            put(one, other, 0.4)
    for one in _CLASS.finditer(body):
        for other in ("d", "w", "s", one[1].swapcase()):
            put(one, f"\\{other}", 0.35)
    for one in _DIGITS.finditer(body):  # a number that does not begin with zero
        put(one, f"[1-9]\\d{_fewer(one[1])}", 0.2)
        put(one, f"(?:0|[1-9]\\d{_fewer(one[1])})", 0.1)
    for one in _SET.finditer(body):
        for other in ("_", "-", ".", "\\s", "\\n", "0-9", "A-Z", "\\w"):
            if other not in one[2]:
                put(one, f"[{one[1]}{one[2]}{other}]", 0.12)
        if one[1] and "\\x0" not in one[2]:
            put(one, f"[^{one[2]}\\x00-\\x1f]", 0.12)  # nor a control character
        for mark in known.told.marks:
            if mark not in one[2]:
                put(one, f"[{one[1]}{one[2]}{_BACKSLASH * (mark in '^]-')}{mark}]", 0.3)
        put(one, f"[{'' if one[1] else '^'}{one[2]}]", 0.1)
    for one in re.finditer(r"(?<!\\)\.", body):
        put(one, "\\.", 0.35)
    for one in re.finditer(r"\\(?=[.+*?()\[])", body):
        put(one, "", 0.3)
    for one in re.finditer(r"[\w)\]](?![*+?{\\])", body):
        for mark in "+*?":
            put(one, mark, 0.12, one.end())
    for one in re.finditer(r"(?<!\\)\((?!\?)", body):
        put(one, "(?:", 0.1)
    plain = _ANCHOR.sub("", body)
    for other in (plain, f"^{plain}", f"{plain}$", f"^{plain}$", f"{plain}\\Z", f"\\b{plain}\\b"):
        found.raise_to(other, 0.35)
    for other, prior in found.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a set that may once mean another one
                re.compile(other)
        except (re.error, OverflowError, RecursionError):
            continue
        if other and other != body:
            yield "pattern", node, f"{text[:head]}{other}{text[tail:]}", prior


def _fewer(repeated: str) -> str:
    """A repetition, at least once, by one time less."""
    if repeated == "+":
        return "*"
    counts = [str(int(one) - 1) if one else "" for one in repeated.strip("{}").split(",")]
    return f"{{{','.join(counts)}}}"
