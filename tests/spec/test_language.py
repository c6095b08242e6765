"""docs/language.md and the pages beside it are the specification: their examples are linted, their tables true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.codes import BY_NAME
from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.syntax.keyword_hints import RESERVED
from fdc_toolchain.syntax.language import WORDS

from tests.support import spec
from tests.support.repository import ROOT

NAMES = (
    "language.md",
    "headers.md",
    "types.md",
    "branches.md",
    "plan-text.md",
    "trust.md",
    "verdicts.md",
)
PAGES = {name: (ROOT / "docs" / name).read_text("utf-8") for name in NAMES}
PAGE = PAGES["language.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_linter_finds_in_every_example_what_the_page_says_and_nothing_else(
    name: str, tmp_path: Path
) -> None:
    wrong = spec.run(PAGES[name], tmp_path)
    assert not wrong, "\n" + "\n".join(wrong)


def test_the_page_names_every_keyword() -> None:
    table = PAGE.split("| first word |")[1].split("\n\n")[0]
    assert set(WORDS) == set(re.findall(r"`([a-z_]+)`", table))


def test_the_page_names_every_reserved_word() -> None:
    words = re.split(r"not\s+tools\s+either", PAGE)[1].split("```")[0]
    assert set(RESERVED) == set(re.findall(r"`([a-z_]+)`", words))


def test_the_page_states_every_limit() -> None:
    rows = re.findall(r"\| (\d+) \| `limits\.([a-z-]+)` \|", PAGES["plan-text.md"])
    assert {name.replace("-", "_"): int(value) for value, name in rows} == Limits()._asdict()


def test_the_pages_show_what_the_rules_of_the_text_find() -> None:
    text = "".join(PAGES.values())
    shown = {
        BY_NAME[rule] for rule in re.findall(r"(?:error|warning): (?:\d+ )?\[([a-z-]+)\]", text)
    }
    assert {"FDC103", "FDC107", "FDC109", "FDC111", "FDC115", "FDC116", "FDC117", "FDC119"} <= shown
