"""What is prose, what is not, and where it stands: Markdown, reStructuredText, plain text, comments."""

from __future__ import annotations

import pytest
from fdc_packs.research.outline.blocks import Outline
from fdc_packs.research.outline.comments import comment_outline
from fdc_packs.research.outline.outline import outline
from fdc_packs.research.outline.sentences import is_prose, sentences


def lines_of(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n"))


def prose(found: Outline, lines: tuple[str, ...]) -> list[str]:
    """Each sentence as `last heading|label|text`."""
    out = []
    for block in found.blocks:
        if block.kind != "code":
            heading = (found.sections[block.section].path or ("",))[-1]
            out += [f"{heading}|{block.label}|{one.folded}" for one in sentences(block, lines)]
    return out


def read(path: str, text: str) -> list[str]:
    lines = lines_of(text)
    return prose(outline(path, lines), lines)


def test_markdown_headings_fences_comments_and_front_matter_are_no_prose() -> None:
    text = """\
---
title: The title
tags: [a, b]
---

# Heading one #

First sentence. Second
one goes on.

<!-- hidden
words -->
Setext heading
--------------

```sh
# not a heading
echo "not. Prose."
```
After the fence.

    indented code. Not prose.

[link]: https://example.org
<p align="center">
Last."""
    assert [
        "Heading one||First sentence.", "Heading one||Second one goes on.",
        "Setext heading||After the fence.", "Setext heading||Last.",
    ] == read("a.md", text)  # fmt: skip
    assert ("The title", "a.md") == (
        outline("a.md", lines_of(text)).title,
        outline("a.md", ("Text.",)).title,
    )


def test_lists_quotes_and_tables_give_their_own_pieces() -> None:
    text = """\
- An item that
  goes on.
- Another. With two.
  1. Nested one

> A quotation
> over two lines.

| name | what it does |
|:-----|--------------|
| `scan` | reads. Then lists. |
| a \\| b | escaped |
"""
    assert [
        "||An item that goes on.", "||Another.", "||With two.", "||Nested one", "||A quotation over two lines.",
        "|name|`scan`", "|scan|reads.", "|scan|Then lists.", "|name|a \\| b", "|a \\| b|escaped",
    ] == read("a.md", text)  # fmt: skip


def test_restructured_text_has_directives_literal_blocks_and_terms() -> None:
    text = """\
=====
Title
=====

Intro text::

    literal. Not prose.

.. note:: Mind the gap.
   It is wide.

.. code-block:: python

   x = "not. prose"

.. _target:

Part
----

``option``
  Its description.

:param name: what it is called
"""
    assert [
        "Title||Intro text::", "Title||Mind the gap.", "Title||It is wide.",
        "Part|option|Its description.", "Part||what it is called",
    ] == read("a.rst", text)  # fmt: skip


def test_plain_text_has_underlined_headings() -> None:
    assert ["Install||Run make.", "Install||And wait.", "Use|term|What it means."] == read(
        "README", "Install\n=======\n\nRun make. And wait.\n\nUse\n---\nterm\n    What it means.\n"
    )


def test_comments_and_docstrings_are_the_prose_of_source_files() -> None:
    text = '''\
#!/usr/bin/env python3
# A comment
# of two lines.
X = """not a docstring
# nor a comment
"""


class Thing:
    """What it is.

    More about it.
    """

    def method(self):
        # Why it does so.
        return 'it\\'s """ a trap'
'''
    lines = lines_of(text)
    assert [
        "||A comment of two lines.", "Thing||What it is.", "Thing||More about it.", "method||Why it does so.",
    ] == [one for one in prose(comment_outline("a.py", lines), lines) if "usr/bin" not in one]  # fmt: skip
    c = lines_of(
        "/* Adds two numbers.\n * Never fails. */\nint add(int a, int b);  // sum\n/// Rust-like doc.\n"
    )
    assert ["||Adds two numbers.", "||Never fails.", "||Rust-like doc."] == prose(
        comment_outline("a.c", c), c
    )


def test_full_stops_inside_of_code_addresses_and_abbreviations_end_nothing() -> None:
    text = (
        "Run `a. B` now. See https://example.org/a.B?c=D. E.g. this one, i.e. that by Dr. Smith in Fig. 3. "
        "Version 1.2.3 is out. `code` starts one. Is it? Yes! (In brackets. Twice.) The end"
    )
    assert [
        "Run `a. B` now.", "See https://example.org/a.B?c=D.", "E.g. this one, i.e. that by Dr. Smith in Fig. 3.",
        "Version 1.2.3 is out.", "`code` starts one.", "Is it?", "Yes!", "(In brackets.", "Twice.)", "The end",
    ] == [one.split("|")[2] for one in read("a.txt", text)]  # fmt: skip


def test_scripts_without_spaces_have_sentences_too() -> None:
    assert ["||这是第一句。", "||这是第二句！"] == read("a.md", "这是第一句。这是第二句！")


def test_what_says_nothing_is_no_prose() -> None:
    said = ["The journal is one table.", "Ja, das ist ein ganzer Satz.", "这个数据库支持事务处理。"]
    unsaid = [
        "Too short.", "[A link](x.md) [another](y.md) [and more](z.md)", "Chapter one . . . . . . . . 12",
        "0x00 0x01 | 17 | 42 %% ##",
        "GET PUT POST HEAD", "x = {1; 2; 3}; y = {4}; z = f(a); q = 1;", "It is \x1b[31mred and hidden here.", "word " * 200,
    ]  # fmt: skip
    assert ([True] * len(said), [False] * len(unsaid)) == (
        [*map(is_prose, said)],
        [*map(is_prose, unsaid)],
    )


@pytest.mark.long
def test_hostile_lines_are_read_in_linear_time() -> None:
    """Each of these takes a naive pattern hours; all of them together take well under the suite's limit here."""
    size = 6_000
    lines = [
        "](" * size,
        "x " + "`" * size,
        "[" * size,
        "<a " * size,
        "a-" * size,
        "# " + "[" * size,
        "|" * size,
        "x | y" * 4000,
    ]
    lines += [
        "e.g. A " * 2500,
        "* " * size,
        "- " + "(" * size,
        ":" * size,
        "=" * size,
        "> " * size,
        "x" * 3_000_000,
        "http://" * 2500,
    ]
    text = (*lines, *["The word is said."] * 30_000, "Last of all, the end.")
    assert "Last of all, the end." == prose(outline("a.md", text), text)[-1].split("|")[2]
    assert prose(outline("a.rst", text), text) and prose(
        comment_outline("a.py", tuple("# " + line for line in text)), text
    )
