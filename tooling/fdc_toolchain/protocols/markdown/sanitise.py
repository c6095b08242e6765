"""Takes out of Markdown what would act in a viewer: `<script>` elements and `on...` attributes (FDC-99).

CommonMark says which stretches of the text are HTML (what stands in code is not), `html.parser` what they mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any, NamedTuple

from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from .outline import lines

MOST_PASSES = 20
"""What is left of one removal may be a tag again; after so many passes it is somebody's puzzle."""


_BREAK = r"[ \t]*(?:\r\n|\r|\n)[ \t>]*"
"""The end of a line in a paragraph, with what belongs to the lists and quotations that it is in."""


class Active(NamedTuple):
    """Something that acts, from `start` to before `end`; `instead` is what may stay of it."""

    start: int
    end: int
    what: str
    instead: str


def active(text: str) -> list[Active]:
    """What in the Markdown text would act in a viewer, in order, no two of them overlapping."""
    found = []
    for start, end, tags in _blocks(text):
        for item in _Parser(_html_only(text, start, end, tags)).found:
            found.append(item._replace(start=item.start + start, end=item.end + start))
    return found


def findings(text: str, path: str) -> list[Diagnostic]:
    """FDC524 for each of them."""
    found = []
    for item in active(text):
        line = text.count("\n", 0, item.start) + 1
        help_ = "`--sanitise` leaves it out"
        found.append(
            Diagnostic(
                Span(path, line, 1, line, 2),
                "FDC524",
                f"{item.what} would act in a viewer",
                help=help_,
            )
        )
    return found


def sanitised(text: str) -> tuple[str, int]:
    """The text without them, and how many were taken out. Raises ValueError where they do not end."""
    count = 0
    for _ in range(MOST_PASSES):
        found = active(text)
        if not found:
            return text, count
        count += len(found)
        for item in reversed(found):
            text = text[: item.start] + item.instead + text[item.end :]
    raise ValueError("the HTML in it is nested so that removing some makes more")


class _Parser(HTMLParser):
    """Finds what acts in a block: a text as long as the block is, blank where that is not an HTML."""

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
            kept = "".join(
                f" {name}" if value is None else f' {name}="{escape(value)}"'
                for name, value in attrs
                if name not in acting
            )
            what = f"`{acting[0]}` of `<{tag}>`"
            self.found.append(Active(start, stop, what, f"<{tag}{kept}{end}"))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._starts[line - 1] + column


def _html_only(text: str, start: int, end: int, tags: list[tuple[int, int]]) -> str:
    """The block with a space for every character that is in none of its tags; line ends stay."""
    kept = ["\n" if character == "\n" else " " for character in text[start:end]]
    for first, last in tags:
        kept[first - start : last - start] = text[first:last]
    return "".join(kept)


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
            found = next(
                (hit for hit in pattern.finditer(block, at) if not _escaped(block, hit.start())),
                None,
            )
            if found is None:
                yield start, end
                return
            at = found.end()
            yield start + found.start(), start + at


def _escaped(text: str, at: int) -> bool:
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
