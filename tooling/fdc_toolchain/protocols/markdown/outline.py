"""The outline of a Markdown file: its headings, rules and code blocks.

CommonMark decides, by `markdown-it-py`: a fence inside a list, a quotation, an HTML comment or a longer fence
is not a block of the document, and `---` below a line of text is a heading (T-35).
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ...named_tuples import NamedTuple

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class Block(NamedTuple):
    """A block of the document itself, from line `start` to before line `end` (counted from 0).

    `kind` is fence, rule, heading or other; `info` is a fence's info string and a heading's level.
    """

    kind: str
    start: int
    end: int
    info: str = ""


def lines(text: str) -> list[str]:
    """The lines with their ends; CR LF, LF and CR end a line, as in CommonMark. Joined they are the text."""
    return _LINE.findall(text)


def blocks(text: str) -> list[Block]:
    """The document's own blocks in order, without those inside lists and quotations."""
    blocks_found = []
    for token in _parser().parse(text):
        if token.level or token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        if token.type == "fence":
            blocks_found.append(Block("fence", start, end, token.info))
        elif token.type == "heading_open":
            blocks_found.append(Block("heading", start, end, token.tag[1:]))
        else:
            blocks_found.append(Block("rule" if token.type == "hr" else "other", start, end))
    return blocks_found


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(
        ["normalize", "block"]
    )  # what is inside paragraphs is of no interest here
    return parser
