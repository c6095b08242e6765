"""Edits JSON as text: what is added or taken out is one piece of the text, and every other byte stays."""

from __future__ import annotations

import json

from ....text.json_text import JSON, Member, Node, plain


def added(text: str, node: Node, wanted: JSON, width: str, where: str = "the file") -> str:
    """Adds what a value of the text lacks of `wanted`: members, and items at the end of lists. `width`: one indentation.

    Raises TypeError where the text has something else in the place of an object or a list.
    """
    if isinstance(wanted, dict):
        if node.kind != "object":
            raise TypeError(f"{where} is not an object")
        have = {member.key.value: member.value for member in node.value}
        fresh = [f"{json.dumps(key)}: " for key in wanted if key not in have]
        text = _with(text, node, fresh, [wanted[key] for key in wanted if key not in have], width)
        for key, value in reversed(have.items()):
            if key in wanted:
                text = added(text, value, wanted[key], width, f"`{key}`")
    elif isinstance(wanted, list):
        if node.kind != "array":
            raise TypeError(f"{where} is not a list")
        text = _with(text, node, [""] * len(wanted), wanted, width)
    return text


def _with(text: str, node: Node, heads: list[str], values: list[JSON], width: str) -> str:
    """Adds members or items at the end of an object or list, in the form of the first that it has."""
    if not values:
        return text
    parts = [_place(part) for part in node.value]
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    outer = "\n" + line[: len(line) - len(line.lstrip(" \t"))]
    before = text[node.start + 1 : parts[0][0]].replace("\r\n", "\n") if parts else outer + width
    indent, margin = (width, "\n" + before.rpartition("\n")[2]) if "\n" in before else (None, "\n")
    start, end = (parts[-1][1],) * 2 if parts else (node.start + 1, node.end - 1)
    made = [
        head + json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", margin)
        for head, value in zip(heads, values, strict=True)
    ]
    comma = "," + (before or " ")
    piece = comma.join([""] * bool(parts) + made) if parts else before + comma.join(made) + outer
    return text[:start] + piece.replace("\n", "\r\n" if "\r\n" in text else "\n") + text[end:]


def _place(part: Node | Member) -> tuple[int, int]:
    return (part.key.start, part.value.end) if isinstance(part, Member) else (part.start, part.end)


def left(have: JSON, wanted: JSON) -> JSON:
    """A value without the items of lists that are in `wanted` at the same place, and what is empty without them."""
    if isinstance(have, list) and isinstance(wanted, list):
        return [item for item in have if item not in wanted]
    if not isinstance(have, dict) or not isinstance(wanted, dict):
        return have
    parts = {
        key: left(value, wanted[key]) if key in wanted else value for key, value in have.items()
    }
    return {key: part for key, part in parts.items() if part == have[key] or part not in ([], {})}


def without(text: str, node: Node, wanted: JSON) -> str:
    """The text of a value with only what `left` leaves of it, which is something."""
    if node.kind == "object" and isinstance(wanted, dict):
        inner = [wanted.get(part.key.value) for part in node.value]
        gone = [
            left(have, more) != have and left(have, more) in ([], {})
            for have, more in zip(map(_value, node.value), inner, strict=True)
        ]
    elif node.kind == "array" and isinstance(wanted, list):
        inner, gone = [None] * len(node.value), [plain(part) in wanted for part in node.value]
    else:
        return text
    places = [_place(part) for part in node.value]
    for number, part in reversed(
        list(enumerate(node.value))
    ):  # so that the places before stay as they are
        if not gone[number]:
            text = without(text, part.value, inner[number]) if isinstance(part, Member) else text
            continue
        first = all(gone[:number])
        start = places[number][0] if first else places[number - 1][1]
        end = places[number + 1][0] if first else places[number][1]
        text = text[:start] + text[end:]
    return text


def _value(part: Member) -> JSON:
    value: JSON = plain(part.value)
    return value
