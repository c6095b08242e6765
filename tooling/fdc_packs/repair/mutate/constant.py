"""Edits of constants: numbers, texts, truth values, None."""

from __future__ import annotations

import ast
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
