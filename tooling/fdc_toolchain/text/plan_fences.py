"""Finds plans in Markdown: fenced blocks with the info string `plan`."""

from __future__ import annotations

from ..named_tuples import NamedTuple


class Fence(NamedTuple):
    """A fenced plan; `line` is the number of its first line in the document, from 1."""

    line: int
    text: str

    @property
    def placed(self) -> str:
        """The text with empty lines above it, so that its line numbers are those of the document."""
        return "\n" * (self.line - 1) + self.text


def fences(document: str) -> list[Fence]:
    """The fenced plans of a document in order, including those in lists and quotes."""
    from markdown_it import MarkdownIt

    found = []
    for token in MarkdownIt("commonmark").parse(document):
        name = token.info.lower().split()[:1] if token.type == "fence" else []
        if token.map is not None and name == ["plan"]:
            found.append(Fence(token.map[0] + 2, token.content))
    return found
