"""Reads the lines of a document one after the other into sections and blocks."""

from __future__ import annotations

import re
from collections.abc import Callable

from .blocks import Block, Outline, Piece, Row, Section
from .notation import (  # fmt: skip
    ASCIIDOC,
    CELL,
    DIRECTIVE,
    EXPLICIT,
    FENCE,
    FIELD,
    FRONT,
    GRID,
    HTML,
    INLINE,
    ITEM,
    MARKDOWN,
    MARKED,
    ORG,
    PLAIN,
    PROSE_DIRECTIVES,
    QUOTED,
    REFERENCE,
    REST,
    RULE,
    TABLE_RULE,
)

MAX_LINE = 20_000
"""A longer line is data; it is neither scanned nor quoted."""
MAX_BLOCK = 200
"""Lines that a block has at most."""
LABEL = 60
"""Characters that a label has at most."""


def plain_words(text: str) -> str:
    """A heading or label without its inline markup, on one line."""
    bare = INLINE.sub(lambda found: found.group(1) or "", text)
    return " ".join("".join(char for char in bare if char.isprintable() or char.isspace()).split())


class Scanner:
    """One pass over the rows of a document."""

    def __init__(self, name: str, rows: list[Row], dialect: str) -> None:
        self.rows = rows
        self.dialect = dialect
        self.out = Outline(name)
        self.titled = False
        self.levels: list[tuple[int, str]] = []
        self.adornments: list[str] = []
        self.open: Block | None = None
        self.blank = True
        self.code_above = (
            -1
        )  # the indentation below which an indented code block ends; -1 outside of one
        self.term = ""  # the defined term whose description we are in, and its indentation
        self.term_indent = -1

    def run(self) -> Outline:
        at = self._front_matter()
        while at < len(self.rows):
            at = self._row(at)
        return self.out

    # blocks

    def _add(
        self, kind: str, row: Row, start: int, join: bool, label: str = "", header: str = ""
    ) -> None:
        end = len(row.text.rstrip())
        if end <= start:
            return
        piece = Piece(row.line, row.start + start, row.start + end)
        if (
            join
            and self.open is not None
            and self.open.kind == kind
            and len(self.open.pieces) < MAX_BLOCK
        ):
            self.open.pieces.append(piece)
            return
        self.open = Block(kind, len(self.out.sections) - 1, [piece], label, header)
        self.out.blocks.append(self.open)

    def _close(self) -> None:
        self.open = None

    def _heading(self, row: Row, level: int, text: str) -> None:
        words = plain_words(text[:400])
        self._close()
        if not words:
            return
        self.term, self.term_indent = "", -1
        while self.levels and self.levels[-1][0] >= level:
            self.levels.pop()
        self.levels.append((level, words))
        self.out.sections.append(Section(row.line, tuple(text for _, text in self.levels)))
        if not self.titled:
            self.out.title, self.titled = words, True

    # rows; each returns the index of the next row to look at

    def _front_matter(self) -> int:
        if not self.rows or self.rows[0].text.rstrip() != "---" or self.dialect != MARKDOWN:
            return 0
        for at in range(1, min(len(self.rows), 200)):
            text = self.rows[at].text.rstrip()
            if text in ("---", "..."):
                return at + 1
            found = FRONT.match(text)
            if found and found.group(1) and not self.titled:
                self.out.title, self.titled = plain_words(found.group(1)), True
        self.out.title, self.titled = self.out.title, False
        return 0

    def _row(self, at: int) -> int:
        row = self.rows[at]
        text = row.text
        if row.heading:
            self._heading(row, row.heading, text)
            return at + 1
        if not text.strip():
            self._close()
            self.blank = True
            return at + 1
        was_blank, self.blank = self.blank, False
        if len(text) > MAX_LINE:
            self._close()
            self._add("code", row, 0, False)
            return at + 1
        if text[0].isalpha() and self._is_plain(at, text):
            self.code_above = -1
            self._flow(at, row, text, 0)
            return at + 1
        if self.code_above >= 0 and self._in_code(at):
            return at + 1
        special = self._fence(at) or self._marked(at) or self._markup(at)
        if special:
            return special
        if self.dialect == REST:
            special = self._directive(at)
        special = special or self._underlined(at) or self._table(at)
        if special:
            return special
        indent = _indent(text)
        if self.dialect == MARKDOWN and was_blank and indent >= 4 and not self._after_item():
            self.code_above = 4
            self._add("code", row, 0, False)
            return at + 1
        self._prose(at)
        return at + 1

    def _is_plain(self, at: int, text: str) -> bool:
        """True for a line that begins with a letter and can be nothing but prose: the most frequent kind."""
        if "|" in text or text.startswith("o "):
            return False
        following = self.rows[at + 1].text if at + 1 < len(self.rows) else ""
        return not following or following[0].isalnum() or not RULE.match(following)

    def _in_code(self, at: int) -> bool:
        row = self.rows[at]
        if _indent(row.text) < self.code_above:
            self.code_above = -1
            return False
        last = self.out.blocks[-1] if self.out.blocks else None
        self.open = last if last is not None and last.kind == "code" else self.open
        self._add("code", row, 0, True)
        return True

    def _after_item(self) -> bool:
        return bool(self.out.blocks) and self.out.blocks[-1].kind == "item"

    def _fence(self, at: int) -> int:
        found = FENCE.match(self.rows[at].text)
        if self.dialect in (ASCIIDOC, ORG):
            text = self.rows[at].text.strip()
            if self.dialect == ASCIIDOC and text in ("----", "...."):
                return self._verbatim(at, lambda line: line.strip() == text)
            if self.dialect == ORG and text.lower().startswith(("#+begin_src", "#+begin_ex")):
                return self._verbatim(at, lambda line: line.strip().lower().startswith("#+end_"))
        if not found or (found.group(1)[0] == "`" and "`" in found.group(2)):
            return 0
        mark = found.group(1)
        closing = re.compile(r"[\s>]*" + re.escape(mark[0]) + f"{{{len(mark)},}}\\s*$")
        return self._verbatim(at, lambda line: closing.match(line) is not None)

    def _verbatim(self, at: int, ends: Callable[[str], bool]) -> int:
        self._close()
        for inside in range(at + 1, len(self.rows)):
            if ends(self.rows[inside].text):
                self._close()
                return inside + 1
            self._add("code", self.rows[inside], 0, True)
        self._close()
        return len(self.rows)

    def _marked(self, at: int) -> int:
        pattern = MARKED.get(self.dialect)
        found = pattern and pattern.match(self.rows[at].text)
        if not found:
            return 0
        self._heading(self.rows[at], len(found.group(1)), found.group(2))
        return at + 1

    def _markup(self, at: int) -> int:
        text = self.rows[at].text
        if self.dialect == MARKDOWN:
            stripped = text.lstrip()
            if stripped.startswith("<!--"):
                while at < len(self.rows) and "-->" not in self.rows[at].text:
                    at += 1
                self._close()
                return at + 1
            if REFERENCE.match(text) or (HTML.match(text) and not HTML.sub("", text).strip(" <>/")):
                self._close()
                return at + 1
        return 0

    def _directive(self, at: int) -> int:
        text = self.rows[at].text
        found = DIRECTIVE.match(text)
        if found and found.group(1) in PROSE_DIRECTIVES:
            self._close()
            if not found.group(1).startswith(
                ("version", "deprecated")
            ):  # whose argument is a number
                self._add("text", self.rows[at], found.start(2), False)
            return at + 1
        if not EXPLICIT.match(text):
            return 0
        self._close()
        base = _indent(text)
        keep = bool(found)
        at += 1
        while at < len(self.rows) and (
            not self.rows[at].text.strip() or _indent(self.rows[at].text) > base
        ):
            if keep and self.rows[at].text.strip():
                self._add("code", self.rows[at], 0, True)
            at += 1
        self._close()
        self.blank = True
        return at

    def _underlined(self, at: int) -> int:
        row = self.rows[at]
        rule = RULE.match(row.text)
        following = self.rows[at + 1].text if at + 1 < len(self.rows) else ""
        if rule:
            # an overline: the title between two equal rules
            third = self.rows[at + 2].text if at + 2 < len(self.rows) else ""
            between = (
                third.strip() == row.text.strip()
                and following.strip()
                and not RULE.match(following)
            )
            if between and self.dialect in (REST, PLAIN):
                self._heading(self.rows[at + 1], self._level("over" + rule.group(1)), following)
                return at + 3
            self._close()
            return at + 1
        under = RULE.match(following)
        if not under or self.open is not None or len(row.text.strip()) > 120 or "|" in row.text:
            return 0
        mark = under.group(1)
        if self.dialect == MARKDOWN:
            if mark not in "=-" or _indent(row.text) > 3 or ITEM.match(row.text):
                return 0
            self._heading(row, 1 if mark == "=" else 2, row.text)
            return at + 2
        if (
            self.dialect in (REST, PLAIN)
            and len(following.strip()) >= min(len(row.text.strip()), 8) * 0.7
        ):
            self._heading(row, self._level(mark), row.text)
            return at + 2
        return 0

    def _level(self, adornment: str) -> int:
        if adornment not in self.adornments:
            self.adornments.append(adornment)
        return self.adornments.index(adornment) + 1

    def _table(self, at: int) -> int:
        text = self.rows[at].text
        following = self.rows[at + 1].text if at + 1 < len(self.rows) else ""
        if GRID.match(text):
            self._close()
            at += 1
            while at < len(self.rows) and self.rows[at].text.strip():
                self._add("code", self.rows[at], 0, True)
                at += 1
            self._close()
            return at
        if "|" not in text or not (
            text.lstrip().startswith("|") or ("|" in following and TABLE_RULE.match(following))
        ):
            return 0
        self._close()
        header: list[str] = []
        if "|" in following and TABLE_RULE.match(following):
            header = [plain_words(text[s:e]) for s, e in _cells(text)]
            at += 2
        while (
            at < len(self.rows)
            and "|" in self.rows[at].text
            and len(self.rows[at].text) <= MAX_LINE
        ):
            self._cells(self.rows[at], header)
            at += 1
        self._close()
        return at

    def _cells(self, row: Row, header: list[str]) -> None:
        if TABLE_RULE.match(row.text):
            return
        label = ""
        for column, (start, end) in enumerate(_cells(row.text)):
            part = Row(row.line, row.start, row.text[:end])
            named = header[column] if column < len(header) else ""
            self._add("cell", part, start, False, label or named, named)
            if not column:
                label = plain_words(row.text[start:end])
                label = label if len(label) <= LABEL else ""

    def _defines(self, at: int) -> bool:
        """True for a short line with a more indented one right below it: a term and its description."""
        if self.dialect not in (REST, PLAIN) or self.open is not None or at + 1 >= len(self.rows):
            return False
        text, following = self.rows[at].text, self.rows[at + 1].text
        return (
            bool(following.strip())
            and _indent(following) > _indent(text)
            and len(text.strip()) <= 100
        )

    def _prose(self, at: int) -> None:
        row = self.rows[at]
        text = row.text
        quoted = QUOTED.match(text) if self.dialect == MARKDOWN else None
        start = quoted.end() if quoted else 0
        item = ITEM.match(text, start) or (FIELD.match(text) if self.dialect == REST else None)
        if item and (item.end() > start):
            self._close()
            if self.dialect != REST or not DIRECTIVE.match(text, item.end()):
                self._add("item", row, item.end(), False)
        else:
            self._flow(at, row, text, start)
            return
        self._announces_code(at, text)

    def _flow(self, at: int, row: Row, text: str, start: int) -> None:
        """A line of a paragraph, or of an item that goes on; or a term with its description below."""
        if self._defines(at):
            self._close()
            self.term = plain_words(text)[:LABEL]
            self.term_indent = _indent(text)
            return
        start += _indent(text[start:])
        if _indent(text) <= self.term_indent:
            self.term, self.term_indent = "", -1
        kind = "item" if self.open is not None and self.open.kind == "item" else "text"
        self._add(kind, row, start, True, self.term)
        self._announces_code(at, text)

    def _announces_code(self, at: int, text: str) -> None:
        if self.dialect == REST and text.rstrip().endswith("::"):
            following = next((r.text for r in self.rows[at + 1 : at + 4] if r.text.strip()), "")
            if _indent(following) > _indent(text):
                self.code_above = _indent(following)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _cells(text: str) -> list[tuple[int, int]]:
    """Start and end of each cell of a `|` row, white space trimmed."""
    out = []
    inner = text.rstrip()
    first = len(inner) - len(inner.lstrip(" |")) if inner.lstrip().startswith("|") else 0
    for found in CELL.finditer(inner, first):
        raw = found.group()
        start = found.start() + len(raw) - len(raw.lstrip())
        out.append((start, found.start() + len(raw.rstrip())))
    return [(start, end) for start, end in out if end > start]
