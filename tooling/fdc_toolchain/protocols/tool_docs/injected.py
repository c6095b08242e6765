"""Adds and removes the documentation of tools below a protocol's description, in JSON text (FDC-98).

Only the end of that one string is changed; spacing and escapes elsewhere stay as they are.
"""

from __future__ import annotations

import json
import re

from ...text.json_text import Node, parse
from ..render import bare

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


def strip(text: str) -> tuple[str, str]:
    """The protocol without injected documentation, and the removed part as it is written in the string.

    A text without any, or of which nothing else would be left, comes back as it is, beside "".
    """
    node = _description(text)
    if node is None:
        return text, ""
    rest = bare(node.value)
    if rest == node.value or not rest:
        return text, ""
    characters = _CHARACTER.finditer(text, node.start + 1)
    at = [next(characters).end() for _ in rest][-1]
    return text[:at] + text[node.end - 1 :], text[at : node.end - 1]


def insert(text: str, tail: str) -> str:
    """The protocol with `tail` (as it is written in a string) at the end of its description, instead of any before."""
    text, _ = strip(text)
    node = _description(text)
    return text if node is None else text[: node.end - 1] + tail + text[node.end - 1 :]


def written(text: str) -> str:
    """The text as it is written inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _description(text: str) -> Node | None:
    root, problems = parse(text)
    if root is None or problems or root.kind != "object":
        return None
    for member in root.value:
        if member.key.value == "description" and member.value.kind == "string":
            node: Node = member.value
            return node
    return None
