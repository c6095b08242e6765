"""Excerpts of source text with marks under them: the part of a report between `-->` and `= help`.

Marks in one line share it; lines of one file share one excerpt; a span of several lines gets
an excerpt of its own with a bracket in the margin. A line that is too long for the report is
shown as a window around the mark. Spans outside of their text are moved into
it, or give no excerpt: nothing here raises.
"""

from __future__ import annotations

from collections.abc import Callable

from ...diagnostics.span import Span
from ...named_tuples import NamedTuple
from .style import Style
from .terminal_text import cells, plain, wrapped

_LONGEST = 120
"""Columns of source text shown where the report has no width of its own."""

_FIRST, _LAST = 3, 2
"""Lines shown of a long span, at its start and at its end."""


class Mark(NamedTuple):
    """A place in a text (0-based line, code points from 0, end exclusive), and its message."""

    span: Span
    top: int
    left: int
    bottom: int
    right: int
    message: str
    role: str
    sign: str


class Block(NamedTuple):
    """An excerpt: the marks of one file, in order, with the one that gives the header first."""

    lines: list[str]
    marks: list[Mark]


def settle(span: Span, lines: list[str], message: str, role: str, sign: str) -> Mark | None:
    """The span as a mark inside the text, or None where it begins outside of it."""
    top = span.line - 1
    if not 0 <= top < len(lines):
        return None
    bottom = min(max(span.end_line - 1, top), len(lines) - 1)
    left = min(max(span.column - 1, 0), len(lines[top]))
    right = min(max(span.end_column - 1, 0), len(lines[bottom]))
    if bottom < span.end_line - 1:
        right = len(lines[bottom])
    if bottom > top and right == 0:  # ends where a line begins: that is the end of the line before
        bottom -= 1
        right = len(lines[bottom])
    if bottom == top and right < left:
        right = left
    return Mark(span, top, left, bottom, right, message, role, sign)


def blocks(marks: list[tuple[Mark, list[str]]]) -> list[Block]:
    """The marks gathered into excerpts: single lines by file, several lines each for itself."""
    out: list[Block] = []
    by_path: dict[str, Block] = {}
    for mark, lines in marks:
        block = by_path.get(mark.span.path) if mark.top == mark.bottom else None
        if block is None:
            block = Block(lines, [])
            out.append(block)
            if mark.top == mark.bottom:
                by_path[mark.span.path] = block
        block.marks.append(mark)
    return out


def last_line(block: Block) -> int:
    """The greatest line number that the excerpt shows."""
    return max(mark.bottom for mark in block.marks) + 1


def draw(block: Block, gutter: int, style: Style) -> list[str]:
    """The excerpt's rows, without its header. `gutter` is the width of the line numbers."""
    bar = style.paint("faint", " " * gutter + " |")
    room = max(20, style.width - gutter - 3 if style.width else _LONGEST)
    if block.marks[0].bottom > block.marks[0].top:
        rows = _bracket(block.lines, block.marks[0], gutter, room, style)
    else:
        rows = _lines(block, gutter, room, style)
    return [bar, *rows]


def _numbered(number: int, gutter: int, text: str, style: Style) -> str:
    head = style.paint("faint", f"{number:>{gutter}} |")
    return f"{head} {text}" if text else head


def _lines(block: Block, gutter: int, room: int, style: Style) -> list[str]:
    bar = style.paint("faint", " " * gutter + " |")
    rows: list[str] = []
    before = -1
    by_line: dict[int, list[Mark]] = {}
    for mark in block.marks:
        by_line.setdefault(mark.top, []).append(mark)
    for number in sorted(by_line):
        if before >= 0 and number == before + 2:
            between = _window(block.lines[before + 1], 0, 0, room)[0]
            rows.append(_numbered(before + 2, gutter, between, style))
        elif before >= 0 and number > before + 1:
            rows.append(style.paint("faint", "." * max(3, gutter)))
        before = number
        marks = by_line[number]
        shown, places = _window(block.lines[number], marks[0].left, marks[0].right, room)
        rows.append(_numbered(number + 1, gutter, shown, style))
        for mark in marks:
            at = places(mark.left)
            sign = mark.sign * max(1, places(mark.right) - at)
            rows += _signed(bar, " " * at, sign, mark, room, style)
    return rows


def _signed(bar: str, before: str, sign: str, mark: Mark, room: int, style: Style) -> list[str]:
    """The row of a mark, and its message beside it or, where no room exists, below it."""
    first = f"{bar} {before}{style.paint(mark.role, sign)}"
    if not mark.message:
        return [first]
    if not style.width or len(before) + len(sign) + 1 + len(mark.message) <= room:
        return [f"{first} {style.paint(mark.role, mark.message)}"]
    indent = min(len(before), max(0, room - 40))
    rows = wrapped(mark.message, room - indent)
    return [first, *(f"{bar} {' ' * indent}{style.paint(mark.role, row)}" for row in rows)]


def _bracket(lines: list[str], mark: Mark, gutter: int, room: int, style: Style) -> list[str]:
    bar = style.paint("faint", " " * gutter + " |")
    room -= 2
    edge = style.paint(mark.role, "|")
    first = lines[mark.top]
    shown, places = _window(first, mark.left, mark.left + 1, room)
    rows = []
    if not first[: mark.left].strip():
        rows.append(
            _numbered(mark.top + 1, gutter, style.paint(mark.role, "/") + " " + shown, style)
        )
    else:
        rows.append(_numbered(mark.top + 1, gutter, "  " + shown, style))
        rows.append(
            f"{bar} {style.paint(mark.role, ' ' + '_' * (places(mark.left) + 1) + mark.sign)}"
        )
    below = range(mark.top + 1, mark.bottom + 1)
    cut = len(below) > _FIRST + _LAST
    before = mark.top
    for number in [*below[: _FIRST - 1], *below[-_LAST:]] if cut else below:
        if number > before + 1:
            dots = "." * max(3, gutter)
            rows.append(f"{style.paint('faint', dots)}{' ' * (gutter + 3 - len(dots))}{edge}")
        before = number
        focus = mark.right if number == mark.bottom else 0
        shown, places = _window(lines[number], max(0, focus - 1), focus, room)
        rows.append(_numbered(number + 1, gutter, f"{edge} {shown}".rstrip(), style))
    last = max(0, places(mark.right) - 1)
    rows += _signed(bar, "", f"|{'_' * (last + 1)}{mark.sign}", mark, room, style)
    return rows


def _window(line: str, left: int, right: int, room: int) -> tuple[str, Callable[[int], int]]:
    """The line, or the part of it around `left`..`right`, and a function from its characters to columns."""
    low, high = 0, len(line)
    if high <= room and plain(line):
        return line.rstrip(), lambda index: max(0, min(index, high))
    if high > 6 * room:  # only what can be shown is measured
        low = max(0, left - 2 * room)
        high = min(high, left + 2 * room)
    shown_cells = cells(line[low:high])
    ends = [0]
    for _, width in shown_cells:
        ends.append(ends[-1] + width)
    shift = 0
    first, last = 0, len(shown_cells)
    if low or high < len(line) or ends[-1] > room:
        begin = ends[max(0, min(left - low, len(shown_cells)))]
        end = ends[max(0, min(right - low, len(shown_cells)))]
        if low or end > room - 3:
            start = (
                max(begin - room // 3, min(end - room * 2 // 3, begin - 6), 0)
                if begin > room // 3 or low
                else 0
            )
            first = _at(ends, start)
        dots = 3 if first or low else 0
        shift = ends[first] - dots
        while last > first and ends[last] - shift > room - (
            3 if last < len(shown_cells) or high < len(line) else 0
        ):
            last -= 1
        text = "".join(shown for shown, _ in shown_cells[first:last])
        text = (
            ("..." if dots else "")
            + text
            + ("..." if last < len(shown_cells) or high < len(line) else "")
        )
    else:
        text = "".join(shown for shown, _ in shown_cells)

    def place(index: int) -> int:
        index = max(first, min(index - low, last))
        return ends[index] - shift

    return text.rstrip(), place


def _at(ends: list[int], column: int) -> int:
    """The first character that begins at `column` or after it."""
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low
