"""What a comparison that failed says of a text: what stands in one side and not in the other may be lost, or too much. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

MOST = 40
"""Characters that a text is thought to have lost or won."""
NEAR = 12
"""Characters around them that say where."""
_SIDE = r"(\w*'(?:[^'\\\n]|\\.)*'|\w*\"(?:[^\"\\\n]|\\.)*\")"
_FILLED = re.compile(r"\{\w*(?:![rsa])?(?::[^{}]*)?\}|%[-+#0-9.]*[a-zA-Z]")
"""Where a text is filled in: what stands there in the comparison is not known."""
_COMPARED = re.compile(rf"{_SIDE}\s*(?:==|!=)\s*{_SIDE}")


def mended(value: str, message: str) -> Iterator[str]:
    """The texts that `value` would be if it lost, or won, what the two sides of the failed comparison do not share."""
    found = _COMPARED.search(message)
    if found is None:
        return
    try:
        sides = [ast.literal_eval(one) for one in found.groups()]
    except (SyntaxError, ValueError):
        return
    if not all(isinstance(one, str) for one in sides):
        return
    for one, other in (sides, sides[::-1]):
        head = _alike(one, other)
        tail = _alike(one[head:][::-1], other[head:][::-1])
        lost, put = one[head : len(one) - tail], other[head : len(other) - tail]
        if max(len(lost), len(put)) <= MOST:
            yield from _exchanged(value, lost, put, one[:head], one[len(one) - tail :])


def _exchanged(value: str, lost: str, put: str, before: str, after: str) -> Iterator[str]:
    """`put` for `lost` wherever the characters beside it are those that the side has, as far as the text reaches."""
    for at in range(len(value) - len(lost) + 1):
        left, right = value[:at], value[at + len(lost) :]
        near = _FILLED.split(left)[-1][-NEAR:], _FILLED.split(right)[0][:NEAR]
        if value[at : at + len(lost)] != lost or not any(near):
            continue
        if before.endswith(near[0]) and after.startswith(near[1]):
            yield left + put + right


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at
