"""Unified diffs of what repairs or formatting would change.

Without a width and colours (a pipe, a file) the diff is exact and `patch` applies it; for a
terminal hidden characters are escaped.
"""

from __future__ import annotations

from .terminal.style import PLAIN, Style
from .terminal.terminal_text import visible

_CONTEXT = 3


def unified(path: str, before: str, after: str, style: Style = PLAIN) -> str:
    """The diff from one text of a file to another; empty where they are equal."""
    if before == after:
        return ""
    from difflib import SequenceMatcher

    old, new = _lines(before), _lines(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first = max(0, head - _CONTEXT)
    cut = max(0, tail - _CONTEXT)
    old, new = old[first : len(old) - cut], new[first : len(new) - cut]
    name = visible(path)
    out = [style.paint("strong", f"--- a/{name}"), style.paint("strong", f"+++ b/{name}")]
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT):
        left = _range(first + group[0][1], first + group[-1][2])
        right = _range(first + group[0][3], first + group[-1][4])
        out.append(style.paint("hunk", f"@@ -{left} +{right} @@"))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += [_row(" ", line, "", style) for line in old[i1:i2]]
                continue
            out += [_row("-", line, "removed", style) for line in old[i1:i2]]
            out += [_row("+", line, "added", style) for line in new[j1:j2]]
    return "\n".join(out) + "\n"


def _lines(text: str) -> list[str]:
    """Lines with their LF, so that a last line without one differs from one with it."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _range(start: int, stop: int) -> str:
    size = stop - start
    if size == 1:
        return str(start + 1)
    return f"{start + 1 if size else start},{size}"


def _row(sign: str, line: str, role: str, style: Style) -> str:
    ended = line.endswith("\n")
    text = sign + (line[:-1] if ended else line)
    if style.colour or style.width:
        shown = visible(text.removesuffix("\r"))
        text = style.paint(role, shown) if role else shown
    return text if ended else f"{text}\n\\ No newline at end of file"
