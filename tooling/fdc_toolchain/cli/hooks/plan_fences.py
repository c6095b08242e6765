"""Plans in Markdown: the fenced blocks that say `plan`."""

from __future__ import annotations

from ...named_tuples import NamedTuple

NAMES = frozenset(("plan", "fdc"))


class Fence(NamedTuple):
    """A fenced plan; `line` is the line of its first row in the document, from 1."""

    line: int
    text: str

    @property
    def placed(self) -> str:
        """The text below as many empty lines as stand above it in the document: findings have the document's lines."""
        return "\n" * (self.line - 1) + self.text


def fences(document: str) -> list[Fence]:
    """The fenced plans of a document, in its order; also those in lists and quotes."""
    from markdown_it import MarkdownIt

    found = []
    for token in MarkdownIt("commonmark").parse(document):
        name = token.info.split()[:1] if token.type == "fence" else []
        if token.map is not None and name and name[0].lower() in NAMES:
            found.append(Fence(token.map[0] + 2, token.content))
    return found
