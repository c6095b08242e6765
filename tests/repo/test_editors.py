"""The extension for VS Code: its grammar follows from the language's table of words, and its client talks to the real server."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from fdc_toolchain.syntax.language import CONSTRUCTS

from tests.support import process
from tests.support.repository import ROOT

VSCODE = ROOT / "editors" / "vscode"
GRAMMAR = json.loads((VSCODE / "syntaxes" / "fdc-plan.tmLanguage.json").read_text("utf-8"))


def test_the_grammar_is_what_its_script_writes() -> None:
    done = process.run([sys.executable, VSCODE / "make_grammar.py", "--check"], cwd=ROOT)
    assert (0, "") == (done.returncode, done.stderr)


def patterns(line: str) -> list[int]:
    """The numbers of the top patterns of the grammar that a line begins."""
    rows = [row.get("begin") or row["match"] for row in GRAMMAR["patterns"]]
    return [number for number, row in enumerate(rows) if re.match(row, line)]


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.word)
def test_every_word_of_the_language_is_a_keyword(row: object) -> None:
    word, header, binds = row.word, row.header, row.binds  # type: ignore[attr-defined]
    kind = [1] if header else [2]
    assert kind == patterns(f"{word} x") == patterns(f"    {word}")
    assert [3] == patterns(f"{word}er x"), "a tool may begin like a word"
    if binds:
        assert kind == patterns(f"  found <- {word} x")[:1]  # the first that fits counts


def test_steps_and_their_text_blocks_are_told_apart() -> None:
    assert [0] == patterns("  # a note") and [] == patterns("")
    assert [3] == patterns("  page <- read_file {x}")
    below = GRAMMAR["patterns"][3]["while"].replace("\\1", "  ")
    assert re.match(below, "    submit") and re.match(below, "")
    assert not re.match(below, "  submit")


def test_the_language_has_the_same_files_in_the_extension_and_in_fdc() -> None:
    from fdc_toolchain.linking.project.discover import is_plan

    (language,) = json.loads((VSCODE / "package.json").read_text("utf-8"))["contributes"][
        "languages"
    ]
    assert all(is_plan(f"a{suffix}") for suffix in language["extensions"])
    assert all(is_plan(name) for name in language["filenames"])
    assert ["*.plan.txt"] == language["filenamePatterns"] and is_plan("a.plan.txt")


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_client_starts_the_server_and_shows_what_it_finds(tmp_path: Path) -> None:
    fdc = tmp_path / "fdc"
    fdc.write_text(f'#!/bin/sh\nexec {sys.executable} -m fdc_toolchain "$@"\n', "utf-8")
    fdc.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    done = process.run(
        ["node", "--test", VSCODE / "test" / "client.test.js"],
        cwd=tmp_path,
        env={"FDC": str(fdc), "WORK": str(work)},
    )
    assert 0 == done.returncode, done.stdout + done.stderr
