"""The repository stands alone: no file speaks of a folder that its readers do not have."""

from __future__ import annotations

import re

import pytest

from tests.support.repository import ROOT, files

# Assembled, so that this file does not find itself.
FOLDER = "sha" + "red"
OUTSIDE = re.compile(
    rf"(\.\./|/work/){FOLDER}\b"
    rf"|\b{FOLDER}/(seeds|hooks|design|style|requirements|formal|performance|ecosystem|security|engines|anchors|README)\b"
    rf"|/work/(main|venv|brief)\b|/root/\.pyenv"
)


def mentions(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if OUTSIDE.search(line)]


def test_no_file_needs_what_is_outside_the_repository() -> None:
    found = {
        f"{name}:{line}"
        for name in files()
        for line in mentions((ROOT / name).read_bytes().decode("utf-8", "replace"))
    }
    assert set() == found


@pytest.mark.parametrize(
    "text",
    [f"see ../{FOLDER}/style.md", f"/work/{FOLDER}", f"`{FOLDER}/design.md`", "/work/" + "main/x"],
)
def test_a_planted_mention_is_found(text: str) -> None:
    assert [2] == mentions(f"first\n{text}\n")


@pytest.mark.parametrize(
    "text", [f"a {FOLDER} cache", f"{FOLDER}/plans is yours", f"lib/{FOLDER}.py"]
)
def test_the_plain_word_is_free(text: str) -> None:
    assert [] == mentions(text)
