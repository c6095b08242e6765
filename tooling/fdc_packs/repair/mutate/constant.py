"""Edits of constants: numbers, texts, truth values, None."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from .source import Edit, Source, replaced


def constant_edits(source: Source, node: ast.Constant, texts: list[str]) -> Iterator[Edit]:  # noqa: C901
    """The edits of one constant; `texts` are those that the file has."""
    value = node.value
    parent = source.parents.get(node)
    if isinstance(parent, ast.Expr):
        return  # a docstring
    if isinstance(value, bool):
        yield replaced(source, "constant", node, str(not value), 0.7)
        yield replaced(source, "constant", node, "None", 0.2)
    elif isinstance(value, int):
        signed = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
        at: ast.AST = parent if signed and parent is not None else node
        number = -value if signed else value
        radix = source.segment(node)[:2].lower()
        if radix in ("0x", "0b", "0o") and value > 255:
            return
        indexes = isinstance(
            source.parents.get(at), ast.Subscript | ast.Slice | ast.Compare | ast.BinOp
        )
        for other, prior in (
            (number + 1, 0.5),
            (number - 1, 0.5),
            (-number, 0.2),
            (number - 2, 0.25),
            (number + 2, 0.12),
        ):
            if other != number:
                text = str(other)
                loose = other < 0 and isinstance(
                    source.parents.get(at), ast.BinOp | ast.UnaryOp | ast.Attribute
                )
                yield replaced(
                    source,
                    "bound",
                    at,
                    f"({text})" if loose else text,
                    prior * (1.2 if indexes else 1.0),
                )
        if number and number % 10 == 0:
            yield replaced(source, "constant", at, str(number // 10), 0.3)
        if number > 1 and isinstance(source.parents.get(at), ast.Subscript):
            yield replaced(source, "bound", at, "0", 0.45)
        if abs(number) > 2:
            for other, prior in ((0, 0.12), (1, 0.12), (number * 10, 0.06), (number * 2, 0.06)):
                yield replaced(source, "constant", at, str(other), prior)
    elif isinstance(value, float):
        for fraction in (-value, value * 10, value / 10, 0.0, 1.0):
            if fraction != value:
                yield replaced(source, "constant", node, repr(fraction), 0.1)
    elif isinstance(value, str) and _pattern(source, node):
        yield from _pattern_edits(source, node)
    elif isinstance(value, str) and source.segment(node)[:1] in "'\"":
        quote = source.segment(node)[0]
        near = [
            (SequenceMatcher(None, value, text).ratio(), text)
            for text in texts
            if text != value and len(text) < 40
        ]
        wanted = [
            (text, 0.2 * ratio) for ratio, text in sorted(near, reverse=True)[:2] if ratio > 0.5
        ]
        wanted += [(" ", 0.2)] if value == "" else [("", 0.2)] if len(value) <= 2 else []
        wanted += [
            (text, 0.15)
            for text in (value.strip(), f"{value} ")
            if text != value and len(value) < 4
        ]
        wanted += [
            (text, 0.3) for text in (value.rstrip(), value.swapcase()) if text != value and text
        ]
        wanted += [(f"{value}{mark}", 0.12) for mark in "-_.,:/%" if len(value) < 2]
        for text, prior in wanted:
            if text.isprintable() and "\\" not in text and quote not in text:
                yield replaced(source, "constant", node, f"{quote}{text}{quote}", prior)
    elif value is None:
        for truth in ("False", "True"):
            yield replaced(
                source,
                "constant",
                node,
                truth,
                0.25 if not isinstance(parent, ast.Compare) else 0.1,
            )


_REPEATED = re.compile(r"(?<!\\)(?:[*+?]\??|\{\d+(?:,\d*)?\})")
_CLASS = re.compile(r"\\([dDwWsSbB])")
_ANCHOR = re.compile(r"^\^|\$$")


def _pattern(source: Source, node: ast.Constant) -> bool:
    """True for a regular expression: the text is raw, or given to a function of `re`."""
    up = source.parents.get(node)
    to = source.segment(up.func) if isinstance(up, ast.Call) else ""
    raw = re.match(r"[rR]['\"]", source.segment(node)) is not None
    return raw or (to.startswith("re.") and isinstance(up, ast.Call) and up.args[:1] == [node])


def _pattern_edits(source: Source, node: ast.Constant) -> Iterator[Edit]:
    """Another repetition, class, anchor or point of a regular expression; all that Python can compile."""
    text = source.segment(node)
    begin = re.match(r"[rRbBuU]*('{3}|\"{3}|'|\")", text)
    if begin is None:
        return
    head, tail = begin.end(), len(text) - len(begin[1])
    body = text[head:tail]
    found: dict[str, float] = {}
    for one in _REPEATED.finditer(body):
        for other in ("*", "+", "?", "*?", "+?", ""):
            found[body[: one.start()] + other + body[one.end() :]] = 0.4
    for one in _CLASS.finditer(body):
        for other in ("d", "w", "s", one[1].swapcase()):
            found[f"{body[: one.start()]}\\{other}{body[one.end() :]}"] = 0.35
    for one in re.finditer(r"(?<!\\)\.", body):
        found[f"{body[: one.start()]}\\{body[one.start() :]}"] = 0.35
    for one in re.finditer(r"\\(?=[.+*?()\[])", body):
        found[body[: one.start()] + body[one.end() :]] = 0.3
    for one in re.finditer(r"[\w)\]](?![*+?{\\])", body):
        for mark in "+*?":
            found.setdefault(body[: one.end()] + mark + body[one.end() :], 0.12)
    plain = _ANCHOR.sub("", body)
    for other in (plain, f"^{plain}", f"{plain}$", f"^{plain}$"):
        found.setdefault(other, 0.35)
    for other, prior in found.items():
        try:
            re.compile(other)
        except (re.error, OverflowError, RecursionError):
            continue
        if other != body and other:
            yield replaced(source, "pattern", node, f"{text[:head]}{other}{text[tail:]}", prior)
