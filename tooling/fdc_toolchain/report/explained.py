"""A rule's explanation for a terminal: simplified Markdown, with its files as indented blocks."""

from __future__ import annotations

from .explanations import Explanation, block_sentence, expectation, parts
from .terminal.style import Style
from .terminal.terminal_text import visible, wrapped

_MARGIN = "  "


def render(item: Explanation, style: Style) -> str:
    """The explanation as text, coloured and wrapped by the style."""
    head = f"{style.paint(item.severity, f'{item.severity}[{item.code}]')} {style.paint('strong', item.rule)}"
    out = [f"{head}: {item.summary}"]
    for part in parts(item.markdown):
        sentence = block_sentence(part) if part.kind == "block" else None
        if part.kind == "heading":
            if part.lines[0].startswith("## "):
                out += ["", style.paint("strong", part.lines[0][3:])]
        elif part.kind == "prose":
            out += _prose("\n".join(part.lines), style)
        elif sentence is not None:
            out += _prose(sentence, style)
        else:
            out += [
                "",
                *([f"{_MARGIN}{style.paint('faint', part.name + ':')}"] if part.name else []),
            ]
            out += [_code(line, style) for line in part.lines]
    return "\n".join(line.rstrip() for line in out) + "\n"


def _prose(text: str, style: Style) -> list[str]:
    out = []
    for paragraph in text.strip("\n").split("\n\n"):
        if paragraph.strip():
            words = " ".join(paragraph.split()) if style.width else paragraph
            rows = (
                wrapped(words, min(style.width, 88) - len(_MARGIN))
                if style.width
                else words.split("\n")
            )
            out += ["", *(_MARGIN + row for row in rows)]
    return out


def _code(line: str, style: Style) -> str:
    expected = expectation(line)
    if expected is not None:
        severity, shown = expected
        return f"{_MARGIN * 2}{style.paint(severity, shown)}"
    return f"{_MARGIN * 2}{visible(line)}"
