"""Operators on constants: another number, truth value, text, or another part of a regular expression."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from . import expected
from .forgotten import lengths
from .known import Known, alike
from .values import MOST, Found, Row

_REPEATED = re.compile(r"(?<!\\)(?:[*+?]\??|\{\d+(?:,\d*)?\})")
_CLASS = re.compile(r"\\([dDwWsSbB])")
_SET = re.compile(r"(?<!\\)\[(\^?)((?:\\.|[^\]\\])+)\]")
_DIGITS = re.compile(r"(?:\\d|\[0-9\])(\+|\{[1-9]\d?(?:,\d{0,2})?\})")
_DOT = re.compile(r"(?<!\\)\.")
_ONCE = re.compile(r"[\w)\]](?![*+?{\\])")
_GROUP = re.compile(r"(?<!\\)\((?!\?)")
_BACKSLASH = "\\"
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NEAR_DIGITS = re.compile(r"""(['"])\d\1|\b(?:int|float|Decimal)\(""")
_OTHER = dict(zip(")]}>([{<", "([{<)]}>", strict=True))
"""By a bracket: the one that belongs to it."""
_ANCHOR = re.compile(r"^\^|\$$")
SERIES, DOWN = 1.0, 0.25
"""How common a fault is where one number of a row breaks its equal steps, up, and down: most rows go up."""

FRACTIONS = 0.4
"""How much less common it is to miss a number by one where numbers with a fraction are compared."""
REST = 1.5
"""How common a lost minus is where all items but the last are meant."""


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

    sets = [one.span() for one in _SET.finditer(body)]

    def outside(wanted: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """What is not in a set, where these marks stand for themselves."""
        for one in wanted.finditer(body):
            if not any(first < one.start() < last - 1 for first, last in sets):
                yield one

    for one in outside(_REPEATED):
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
                firm = 0.3 if mark in body else 0.5  # the whole pattern does not speak of it
                put(one, f"[{one[1]}{one[2]}{_BACKSLASH * (mark in '^]-')}{mark}]", firm)
        put(one, f"[{'' if one[1] else '^'}{one[2]}]", 0.1)
    quoted = any(isinstance(one, ast.JoinedStr) for one in known.above(node))
    for one in outside(_DOT):  # inside of an f-string no backslash may stand before Python 3.12
        put(one, "[.]" if quoted else "\\.", 0.35)
    for one in re.finditer(r"\\(?=[.+*?()\[])", body):
        put(one, "", 0.3)
    for one in outside(_ONCE):
        for mark in "+*?":
            put(one, mark, 0.12, one.end())
    for one in outside(_GROUP):
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


def constant(known: Known, node: ast.Constant) -> Iterator[Row]:
    """Another number, truth value or text."""
    value, up = node.value, known.parents.get(node)
    if isinstance(up, ast.Expr):
        return  # a docstring
    if isinstance(value, bool):
        identity = isinstance(up, ast.Compare) and isinstance(up.ops[0], ast.Is | ast.IsNot)
        yield "constant", node, str(not value), 0.4 if identity else 0.7
        yield "constant", node, "None", 0.7 if identity else 0.2
    elif isinstance(value, int):
        yield from _number(known, node)
    elif isinstance(value, float):
        for other in {-value, value * 10, value / 10, 0.0, 1.0} - {value}:
            yield "constant", node, repr(other), 0.1
    elif isinstance(value, str):
        yield from (pattern(known, node) if is_pattern(known, node) else _text(known, node))
    elif value is None:
        flag = known.is_flag(node)
        for truth in ("False", "True"):
            yield (
                "constant",
                node,
                truth,
                0.1 if isinstance(up, ast.Compare) else 0.6 if flag else 0.25,
            )


def _number(known: Known, node: ast.Constant) -> Iterator[Row]:
    up = known.parents.get(node)
    signed = isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.USub)
    at: ast.AST = up if signed and up is not None else node
    assert isinstance(node.value, int)
    number, around = -node.value if signed else node.value, known.parents.get(at)
    if known.segment(node)[:2].lower() in ("0x", "0b", "0o") and number > 255:
        return
    found = Found()
    firm = 1.2 if isinstance(around, ast.Subscript | ast.Slice | ast.Compare | ast.BinOp) else 1.0
    firm *= FRACTIONS if isinstance(around, ast.Compare) and _of_fraction(known, around) else 1.0
    for other, prior in ((1, 0.5), (-1, 0.5), (-2 * number, 0.2), (-2, 0.25), (2, 0.12)):
        found.raise_to(str(number + other), prior * firm)
    if number > 1 and isinstance(around, ast.Subscript):
        found.raise_to("0", 0.45)
    found.raise_all(_of_parts(known, at, around, number))
    bounds = set(found)
    if isinstance(around, ast.Tuple | ast.List | ast.Set):
        found.raise_all((str(one), prior) for one, prior in _in_series(around.elts, at))
    if number and number % 10 == 0:
        found.raise_to(str(number // 10), 0.3)
    if abs(number) > 2:
        for other, prior in ((0, 0.12), (1, 0.12), (number * 10, 0.06), (number * 2, 0.06)):
            found.raise_to(str(other), prior)
    for other in range(11) if isinstance(around, ast.Compare) else ():
        found.raise_to(str(other), 0.06)
    if not signed:
        for other, count in known.numbers.most_common(MOST):
            if 0 <= other < 10**6:
                found.raise_to(str(other), 0.14 + min(count, 10) * 0.004)
    found.raise_all(lengths.stepped(known, at, number))
    idle = _without_effect(around, at)
    for text, prior in ((text, prior) for text, prior in found.items() if prior):
        loose = text.startswith("-") and isinstance(around, ast.BinOp | ast.UnaryOp | ast.Attribute)
        if text not in (str(number), idle):
            yield (
                "bound" if text in bounds else "constant",
                at,
                f"({text})" if loose else text,
                prior,
            )


def _of_fraction(known: Known, asked: ast.Compare) -> bool:
    """Whether a number with a fraction is compared: one more is no next one there."""
    names = {one.id for one in (asked.left, *asked.comparators) if isinstance(one, ast.Name)}
    function = known.function(asked)
    before = [
        one
        for one in ast.walk(function or ast.Module([], []))
        if isinstance(one, ast.Assign) and one.lineno < asked.lineno
    ]
    values = [
        one.value for one in before if names & {known.segment(target) for target in one.targets}
    ]
    return any(map(_has_fraction, (asked.left, *asked.comparators, *values[-1:])))


def _has_fraction(node: ast.expr) -> bool:
    divided = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "float"
    return divided or called or (isinstance(node, ast.Constant) and isinstance(node.value, float))


def _of_parts(
    known: Known, node: ast.AST, up: ast.AST | None, number: int
) -> Iterator[tuple[str, float]]:
    """The first one of what is asked first whether there is any; all but the last of what the statement has the last of, too:
    `x[:-1]` beside `x[-1]`."""
    if isinstance(up, ast.Subscript):
        asked = (one for row in known.above(up) if isinstance(row, ast.BoolOp) for one in row.values)  # fmt: skip
        whole = known.segment(up.value)
        yield "0", 1.0 if any(known.segment(one) == whole for one in asked) else 0.0
    elif isinstance(up, ast.Slice) and up.upper is node:
        item, at = known.parents.get(up), known.statement(up)
        base = known.segment(item.value) if isinstance(item, ast.Subscript) else ""
        if base and at is not None and f"{base}[-{number}]" in known.segment(at):
            yield str(-number), REST


def _without_effect(up: ast.AST | None, node: ast.AST) -> str:
    """The number with which an operation does nothing, as `0` in `x + 0`: to leave the operation out says the same."""
    operation = getattr(up, "op", None)
    last = (isinstance(up, ast.BinOp) and node is up.right) or (
        isinstance(up, ast.AugAssign) and node is up.value
    )
    either = isinstance(up, ast.BinOp) and isinstance(operation, ast.Add | ast.Mult | ast.BitOr)
    if not (last or either):
        return ""
    if isinstance(operation, ast.Add | ast.Sub | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift):
        return "0"
    return "1" if isinstance(operation, ast.Mult | ast.Div | ast.FloorDiv | ast.Pow) else ""


def _in_series(row: list[ast.expr], at: ast.AST) -> list[tuple[int, float]]:
    """The number with which a row of three or more goes on by equal steps: 11 before 12 and 13; none where there is none."""
    values = [one.value if isinstance(one, ast.Constant) else None for one in row]
    place = next((number for number, one in enumerate(row) if one is at), -1)
    others = [(number, one) for number, one in enumerate(values) if number != place]
    known = [(number, one) for number, one in others if type(one) is int]
    if place < 0 or len(known) < 2 or len(known) < len(others):
        return []
    (first, one), (last, other) = known[0], known[-1]
    step, rest = divmod(other - one, last - first)
    series = not rest and all(value == one + step * (number - first) for number, value in known)
    prior = SERIES if step > 0 else DOWN
    return [(one + step * (place - first), prior)] if series and step else []


def _text(known: Known, node: ast.Constant) -> Iterator[Row]:
    said, value = known.segment(node), str(node.value)
    if said[:1] not in "'\"" or said[1:-1] != value or not value.isprintable():
        return
    found = Found()
    near = sorted(
        ((alike(value, text), text) for text in known.texts if text != value and len(text) < 40),
        reverse=True,
    )
    for ratio, text in near[:2]:
        if ratio > 0.5:
            found.raise_to(text, 0.2 * ratio)
    for match in _WORD.finditer(value):
        for word, ratio in _like(known, match[0]) if value.count(match[0]) == 1 else ():
            found.raise_to(value.replace(match[0], word), 0.4 * ratio)
    if len(value) <= 2:
        found.raise_to(" " if value == "" else "", 0.2)
        short = sorted(text for text in known.texts if 0 < len(text) <= 2)
        for text in (*_OTHER, *short[:MOST]):  # a bracket whose other one stands in the statement
            whole = known.segment(known.statement(node) or node)
            lone = _OTHER.get(text, "?") in whole and text not in whole
            found.raise_to(text, 0.5 if lone else 0.1 if text in short else 0.0)
    found.raise_all(_digits(known, node) if len(value) < 2 else ())
    found.raise_all(_as_given(known, node))
    if len(value) < 4:
        found.raise_to(value.strip(), 0.15)
        found.raise_to(f"{value} ", 0.15)
    for mark in "-_.,:/%" if len(value) < 2 else ():
        found.raise_to(value + mark, 0.12)
    for text in (value.rstrip(), value.strip(), value.swapcase(), value.removesuffix(" ")):
        if text:
            found.raise_to(text, 0.35)
    for text in expected.mended(value, known.message):
        found.raise_to(text, 0.6)
    for text, prior in found.items():
        if text != value and text.isprintable() and "\\" not in text and said[0] not in text:
            yield "constant", node, f"{said[0]}{text}{said[0]}", prior


def _digits(known: Known, node: ast.Constant) -> Iterator[tuple[str, float]]:
    """Digits: most likely beside another one, or in what becomes a number."""
    whole = known.segment(known.statement(node) or node).replace(known.segment(node), "", 1)
    prior = 0.45 if _NEAR_DIGITS.search(whole) else 0.06
    yield from (("0", prior), ("1", prior - 0.03))


def _as_given(known: Known, node: ast.Constant) -> Iterator[tuple[str, float]]:
    """What is looked up by a word has most often the name that it gets: `sign = groups["sign"]`."""
    up = known.parents.get(node)
    given = known.given_to(up) if isinstance(up, ast.Subscript) else ""
    if given and str(node.value).isidentifier():
        yield given, 0.4


def _like(known: Known, word: str) -> list[tuple[str, float]]:
    """Words of the file that are as if misspelt, the nearest first."""
    if len(word) < 3:
        return []
    ends = {word[0], word[-1]}
    near = [
        one
        for one in known.words
        if abs(len(one) - len(word)) <= 1 and one != word and {one[0], one[-1]} & ends
    ]
    rated = sorted(((alike(word, one), one) for one in near), reverse=True)
    return [(one, ratio) for ratio, one in rated[:3] if ratio > 0.8]
