"""The run that shows a fault, as a numbered list of steps through calls.

The depth of a step is that of its message, if that begins with spaces (two for each
level); else a path that is not on the stack of plans is a call, and one that is on it a return.
"""

from __future__ import annotations

from ...diagnostics.diagnostic import Label
from .style import Style
from .terminal_text import columns, cut, visible, wrapped
from .texts import Texts

_HEAD, _TAIL = 12, 8
"""Steps shown of a long run, at its start and at its end."""

_PLACE, _TEXT = 34, 28
"""With a width: maximum columns for `path:line`, and minimum columns for a step with its message beside it."""


def depths(trace: tuple[Label, ...]) -> list[int]:
    """How deep in calls each step is, the first one at 0."""
    stack: list[str] = []
    out = []
    for step in trace:
        path = step.span.path
        if path in stack:
            del stack[stack.index(path) + 1 :]
        else:
            stack.append(path)
        stated = (len(step.message) - len(step.message.lstrip(" "))) // 2
        out.append(stated or len(stack) - 1)
    return out


def rows(trace: tuple[Label, ...], texts: Texts, style: Style, margin: int) -> list[str]:
    """The list, one step a row (two where the message has no room), each indented by `margin`."""
    room = max(30, style.width - margin) if style.width else 0
    size = len(str(len(trace)))
    steps = []
    for number, (step, depth) in enumerate(zip(trace, depths(trace), strict=True), 1):
        if _HEAD < number <= len(trace) - _TAIL and len(trace) > _HEAD + _TAIL + 1:
            continue
        indent = "  " * min(depth, 12)
        place = f"{indent}{_short(visible(step.span.path), step.span.line, _PLACE - len(indent) if room else 0)}"
        text, message = _text(step, texts), visible(step.message.strip())
        if text == message or not text:
            text, message = message, ""
        steps.append((number, place, text, message))
    place_width = max(columns(place) for _, place, _, _ in steps)
    text_width = max(columns(text) for _, _, text, _ in steps)
    message_width = max(columns(message) for _, _, _, message in steps)
    used = size + 2 + place_width + 2
    left = room - used - (2 + message_width if message_width else 0)
    beside = not room or left >= min(text_width, _TEXT)
    if room:
        text_width = min(text_width, max(16, left if beside else room - used))
    pad = " " * margin
    out = []
    previous = 0
    for number, place, text, message in steps:
        if number != previous + 1:
            out.append(
                style.paint("faint", f"{pad}{'...':>{size + 1}} {number - previous - 1} steps more")
            )
        previous = number
        if room:
            text = cut(text, text_width)
        row = f"{pad}{number:>{size}}. {style.paint('faint', place)}"
        if text:
            row += f"{' ' * (place_width - columns(place))}  {text}"
        if message and beside:
            row += f"{' ' * (text_width - columns(text))}  {style.paint('faint', message)}"
            message = ""
        out.append(row)
        for line in wrapped(message, max(16, room - used - 2)) if message else ():
            out.append(f"{pad}{' ' * (used + 2)}{style.paint('faint', line)}")
    return out


def _text(step: Label, texts: Texts) -> str:
    lines = texts(step.span.path)
    if lines is None or not 0 < step.span.line <= len(lines):
        return ""
    return visible(lines[step.span.line - 1].strip())


def _short(path: str, line: int, room: int) -> str:
    """`path:line`, the path shortened from the left to the room there is (0: as much as it needs)."""
    tail = f":{line}"
    room = max(12, room - len(tail)) if room else 0
    if room and columns(path) > room:
        while path and columns(path) > room - 3:
            path = path[1:]
        path = "..." + path
    return path + tail
