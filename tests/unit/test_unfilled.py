"""What counts as not written in a post-mortem (FDC-69)."""

from __future__ import annotations

import pytest
from fdc_toolchain.tasks.unfilled import LEARNED, SECTIONS, unfilled

WRITTEN = (
    "# Post-mortem\n\n"
    + "".join(f"## {n}. {name}\n\nIt was so.\n\n" for n, name in enumerate(SECTIONS, 1))
    + "Nothing was learned: the task was done before.\n"
)


def test_a_page_that_is_written_has_no_gap() -> None:
    assert [] == unfilled(WRITTEN)
    assert [] == unfilled(
        WRITTEN.replace(
            "It was so.", "- [a link](x.md)\n- [x] done\n- [ ] not\n- a [b] c\n\n```\n[code]\n```"
        )
    )


@pytest.mark.parametrize(
    "line",
    [
        "[What happened?]",
        "- [What?]",
        "* [What?]",
        "3. [What?]",
        "1. **Lesson:** [What?]",
        "   **Action:** [What?]",
    ],
)
def test_a_line_that_is_only_a_bracket_is_a_gap(line: str) -> None:
    page = WRITTEN.replace("It was so.", f"It was so.\n{line}", 1)
    [gap] = unfilled(page)
    assert (6, "Summary", "[What") == (gap.line, gap.section, gap.what[:5])
    assert line == page.splitlines()[gap.line - 1]


def test_sections_without_text_and_sections_that_are_gone_are_gaps() -> None:
    page = WRITTEN.replace(
        "## 2. What Went Well\n\nIt was so.\n", "## 2. What Went Well\n"
    ).replace("4. Root Cause", "4. Roots")
    assert [
        ("What Went Well", "nothing is written here"),
        ("Root Cause Analysis", "the section is missing"),
    ] == [(gap.section, gap.what) for gap in unfilled(page)]
    assert list(SECTIONS) == sorted((gap.section for gap in unfilled("")), key=SECTIONS.index)


@pytest.mark.parametrize(
    ("said", "gaps"),
    [
        ("No action was proposed.", 1),
        ("Nothing was learned: WHY", 1),
        ("Nothing was learned:", 1),
        ("1. **Lesson:** Look first.", 1),
        ("- Nothing was learned: it was done before", 0),
        ("1. **Lesson:** Look first.\n   **Action:** Write a list.", 0),
    ],
)
def test_a_post_mortem_says_what_was_learned_or_that_nothing_was(said: str, gaps: int) -> None:
    page = WRITTEN.replace("Nothing was learned: the task was done before.", said)
    assert [LEARNED] * gaps == [gap.section for gap in unfilled(page)]
