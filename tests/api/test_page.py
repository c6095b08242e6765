"""The Python examples of docs/api.md are one program: each block prints the block of text below it, `...` understood."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.spec.test_docs import shown
from tests.support import process
from tests.support.repository import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = "--- the next block ---"


def examples(page: str) -> list[tuple[str, list[str]]]:
    """Each example with the lines that the page says it prints."""
    found: list[tuple[str, list[str]]] = []
    for kind, text in BLOCK.findall(page):
        if kind == "python":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def wrong(page: str, folder: Path) -> list[str]:
    """One report for each example that prints something else than the page says."""
    parts = examples(page)
    program = f"print({MARK!r})\n".join(text for text, _ in parts)
    done = process.run([sys.executable, "-c", program], cwd=folder)
    assert (0, "") == (done.returncode, done.stderr), done.stdout + done.stderr
    printed = done.stdout.split(MARK + "\n")
    assert len(parts) == len(printed)
    return [
        f"printed\n{said}\n--- and the page says\n" + "\n".join(expected)
        for (_, expected), said in zip(parts, printed, strict=True)
        if not shown(expected, said)
    ]


@pytest.mark.slow
def test_what_the_page_shows_is_what_happens(tmp_path: Path) -> None:
    found = wrong(PAGE, tmp_path)
    assert not found, "\n\n".join(found)


def test_a_planted_lie_is_found(tmp_path: Path) -> None:
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n```python\nprint(3)\n```\n\n```text\n3\n```\n"
    (report,) = wrong(page, tmp_path)
    assert report == "printed\n1\n\n--- and the page says\n2"
    assert [] == wrong(page.replace("```text\n2", "```text\n1"), tmp_path)
