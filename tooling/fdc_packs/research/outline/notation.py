"""What lines look like in Markdown, reStructuredText, AsciiDoc, Org and plain text.

Every pattern is linear in the line, or bounded: documents may be hostile.
"""

from __future__ import annotations

import re

MARKDOWN, REST, PLAIN, ASCIIDOC, ORG = "markdown", "rest", "plain", "asciidoc", "org"
DIALECTS = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN, ".rst": REST, ".rest": REST,
    ".adoc": ASCIIDOC, ".asciidoc": ASCIIDOC, ".org": ORG,
}  # fmt: skip

FENCE = re.compile(r"[\s>]*(?:[-*+]\s+)?(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*?)[ \t]*#*[ \t]*$")
MARKED = {
    MARKDOWN: _ATX,
    ASCIIDOC: re.compile(r"(={1,6})\s+(\S.*?)\s*$"),
    ORG: re.compile(r"(\*{1,8})\s+(\S.*?)\s*$"),
}
RULE = re.compile(r"\s*([-=~^\"'`#*+_.:<>])\1{2,}\s*$")
ITEM = re.compile(r"\s*(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|o(?=\s\s?[A-Z]))\s+(?=\S)")
FIELD = re.compile(r"\s*:[a-zA-Z][^:`]*:(?:\s+|$)")
DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]+\|\s+)?([\w:+.-]+)::\s*(.*)$")
EXPLICIT = re.compile(r"\s*\.\.(?:\s|$)")
PROSE_DIRECTIVES = frozenset(
    "note warning tip hint important caution danger attention seealso admonition topic"
    " versionadded versionchanged deprecated describe option envvar".split()
)
TABLE_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$")
GRID = re.compile(r"\s*(?:\+[-=+]{3,}|={2,}(?:\s+={2,})+|-{2,}(?:\s+-{2,})+)\s*$")
REFERENCE = re.compile(r"\s{0,3}\[[^\]]+\]:\s+\S+")
HTML = re.compile(r"\s*</?[a-zA-Z!][^>]*>")
QUOTED = re.compile(r"\s{0,3}(?:>\s?)+")
FRONT = re.compile(r"(?:title|name)\s*:\s*[\"']?(.*?)[\"']?\s*$", re.IGNORECASE)
INLINE = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*]+|<[^>]+>|:\w+:(?=`)|\{#[^}]*\}")
CELL = re.compile(r"(?:\\.|`[^`]*`|[^|\\`]|`)+")
