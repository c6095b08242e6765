"""Lists at a terminal: no line is wider than it, so none is broken within a word.

The terminal has 80 columns, and what stands before takes up to 30 of them: a longer word, such as a path, cannot be broken.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.test_live import Terminal
from tests.support.inside import fdc


@pytest.mark.parametrize(
    "words",
    [("doctor",), ("tools",), ("tools", "--pack", "research"), ("rules",), ("audit",)],
)
def test_no_line_is_wider_than_the_terminal(workspace: Path, words: tuple[str, ...]) -> None:
    (workspace / "protocols").mkdir()
    (workspace / "protocols/tea.protocol.json").write_text('{"protocol_id": "tea"}')
    terminal = Terminal(workspace, *words)
    try:
        shown = terminal.until(None)
    finally:
        terminal.close()
    lines = [re.sub(r"\x1b\[[0-9;]*[mK]", "", line).rstrip("\r") for line in shown.split("\n")]
    plain = fdc(*words, cwd=workspace).stdout
    wide = [line for line in lines if len(line) > 80 and len(line.split()[-1]) <= 50]
    assert not wide, "\n".join(wide)
    assert max(map(len, plain.splitlines())) > 80
    spoken = set(re.findall(r"[\w-]+", plain)) - {"no", "terminal"}
    assert (
        len(spoken - set(re.findall(r"[\w-]+", " ".join(lines)))) < 8
    )  # broken between words: all of them are whole


@pytest.mark.parametrize(
    "words",
    [
        ("explore", "Who calls `reserve`?"), ("run", "gone.plan", "--budget", "tea=1"), ("lint", "--no-such-option"),
        ("resume", "last"), ("init", "--agent", "nobody"),
    ],
)  # fmt: skip
def test_no_message_on_stderr_is_wider_than_the_terminal(
    workspace: Path, words: tuple[str, ...]
) -> None:
    for kind in ("css", "go", "java", "js", "rb", "rs", "sh", "ts", "c", "cpp", "cs", "php", "kt"):
        (workspace / f"stock.{kind}").write_text("reserve\n")
    (workspace / "stock.py").write_text("def reserve():\n    return 1\n\n\nreserve()\n")
    terminal = Terminal(workspace, *words)
    try:
        shown = terminal.until(None)
    finally:
        terminal.close()
    lines = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown).replace("\r", "\n").split("\n")
    assert not [line for line in lines if len(line) > 80], shown
