"""Removes from Markdown what a viewer would execute: `<script>` elements and `on...` attributes (FDC-99).

CommonMark decides which parts of the text are HTML (code blocks are not), `html.parser` parses these.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any

from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...named_tuples import NamedTuple
from .outline import lines

MOST_PASSES = 20
"""Maximum passes: the rest of a removal may be a tag again."""


_BREAK = r"[ \t]*(?:\r\n|\r|\n)[ \t>]*"
"""The end of a line in a paragraph, with what belongs to the lists and quotations that it is in."""


class Active(NamedTuple):
    """Active content from `start` to before `end`; `instead` is what replaces it."""

    start: int
    end: int
    what: str
    instead: str


def active(text: str) -> list[Active]:
    """The active content of a Markdown text, in order and without overlaps."""
    items = []
    for start, end, tags in _blocks(text):
        for item in _Parser(_html_only(text, start, end, tags)).found:
            items.append(item._replace(start=item.start + start, end=item.end + start))
    return items


def findings(text: str, path: str) -> list[Diagnostic]:
    """FDC524 for each piece of active content."""
    diagnostics = []
    for item in active(text):
        line = text.count("\n", 0, item.start) + 1
        help_ = "`--sanitise` leaves it out"
        diagnostics.append(
            Diagnostic(
                Span(path, line, 1, line, 2),
                "FDC524",
                f"{item.what} would act in a viewer",
                help=help_,
            )
        )
    return diagnostics


def sanitised(text: str) -> tuple[str, int]:
    """The text without active content, and how many pieces were removed. Raises ValueError after MOST_PASSES."""
    count = 0
    for _ in range(MOST_PASSES):
        items = active(text)
        if not items:
            return text, count
        count += len(items)
        for item in reversed(items):
            text = text[: item.start] + item.instead + text[item.end :]
    raise ValueError("the HTML in it is nested so that removing some makes more")


class _Parser(HTMLParser):
    """Finds active content in a block: a text of the block's length, blank where it is not HTML."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Active] = []
        self._text = text
        self._starts = [0, *accumulate(len(row) + 1 for row in text.split("\n"))]
        self._script: Active | None = None
        self.feed(text)
        for end in (
            ">",
            '">',
            "'>",
        ):  # a tag that does not end here is ended by what is shown after it
            if self.rawdata.startswith("<"):
                self.feed(end)
        self.close()
        if self._script is not None:  # without an end; what follows it is shown again
            self.found.append(self._script)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs, ">")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs, " />")

    def handle_endtag(self, tag: str) -> None:
        if tag != "script":
            return
        start = self._at()
        end = self._text.find(">", start) + 1 or len(self._text)
        begun, self._script = self._script, None
        self.found.append(Active(begun.start if begun else start, end, "`<script>`", ""))

    def _seen(self, tag: str, attrs: list[tuple[str, str | None]], end: str) -> None:
        start = self._at()
        stop = min(start + len(self.get_starttag_text() or ""), len(self._text))
        if tag == "script":
            self._script = Active(start, stop, "`<script>`", "")
            return
        acting = [name for name, _ in attrs if name.startswith("on")]
        if acting:
            attributes = "".join(
                f" {name}" if value is None else f' {name}="{escape(value)}"'
                for name, value in attrs
                if name not in acting
            )
            attribute = f"`{acting[0]}` of `<{tag}>`"
            self.found.append(Active(start, stop, attribute, f"<{tag}{attributes}{end}"))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._starts[line - 1] + column


def _html_only(text: str, start: int, end: int, tags: list[tuple[int, int]]) -> str:
    """The block with a space for every character outside of its tags; line ends stay."""
    characters = ["\n" if character == "\n" else " " for character in text[start:end]]
    for first, last in tags:
        characters[first - start : last - start] = text[first:last]
    return "".join(characters)


def _blocks(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Each block with HTML in it: its place in the Markdown text, and where the HTML is."""
    starts = [0, *accumulate(map(len, lines(text)))]
    for token in _parser().parse(text):
        if token.map is None:
            continue
        start, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
        if token.type == "html_block":
            yield start, end, [(start, end)]
        elif token.type == "inline" and (
            tags := [*_inline(text, start, end, token.children or [])]
        ):
            yield start, end, tags


def _inline(text: str, start: int, end: int, children: list[Any]) -> Iterator[tuple[int, int]]:
    """The tags in a paragraph; code spans before a tag are stepped over, and so are tags that are escaped.

    Where a tag cannot be found as the parser read it, the whole paragraph counts as HTML.
    """
    block = text[start:end].replace("\0", "\ufffd")
    at = 0
    for child in children:
        if child.type == "code_inline":
            opened = block.find(child.markup, at) + len(child.markup)
            at = block.find(child.markup, opened) + len(child.markup)
        elif child.type == "html_inline":
            pattern = re.compile(_BREAK.join(map(re.escape, child.content.split("\n"))))
            match = next(
                (hit for hit in pattern.finditer(block, at) if not _escaped(block, hit.start())),
                None,
            )
            if match is None:
                yield start, end
                return
            at = match.end()
            yield start + match.start(), start + at


def _escaped(text: str, at: int) -> bool:
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
