"""Draws the pictures of terminals: what `fdc` really prints in a terminal of its own, in a fresh workspace.

`refused.svg` is in README.md; `run.svg` in docs/seeing.md, with the times and the run's name of one example.

    python3 docs/pictures/draw.py

A test compares the files with what this makes now.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
FDC = HERE.parent.parent / "tooling" / "fdc_cli.py"
COLUMNS, ROWS = 100, 80
PLAN = """\
set_plan Correct the price of oolong
plan_step_complete ready
page <- view_text_website https://tea.example/oolong
overwrite_file_with_block price.txt
    12
read_file price.txt
run_in_bash_session git commit --all --message {page}
close_task
submit
"""
RUN = """\
set_plan Count the words of each tea
plan_step_complete The folder is known.
teas <- list_files teas
require len(teas) > 1 else "one tea is no list"
for_each_file teas/*.md as tea max 9
    run_in_bash_session wc -w {tea}
if len(teas) > 2
    message_user There are three or more.
close_task
submit
"""
_WIDTH, _HEIGHT, _MARGIN = 8.0, 17, 14
_COLOURS = {"31": "#ff7b72", "32": "#7ee787", "35": "#d2a8ff", "36": "#79c0ff"}
_PLAIN = "#e6edf3"
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


def on_screen(*arguments: str, cwd: Path) -> str:
    """What `fdc ARGUMENTS` writes to a terminal, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "FDC_RUN")
    }
    environment |= {"TERM": "xterm", "FDC_CACHE_DIR": str(cwd / ".fdc_cache")}
    with open(theirs, "wb", buffering=0) as screen:
        process = subprocess.Popen(
            [sys.executable, str(FDC), *arguments],
            cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=screen, stderr=screen,
        )  # fmt: skip
    said = b""
    with open(ours, "rb", buffering=0) as reader:
        while True:
            try:
                data = reader.read(65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            said += data
    process.wait()
    return said.decode("utf-8").replace("\r\n", "\n")


def session() -> str:
    """The whole screen: the plan, and what `fdc lint` says of it in a repository where `fdc init` was run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        on_screen("init", ".", "--test-command", "make test", cwd=folder)
        (folder / "plan.txt").write_text(PLAN, "utf-8")
        said = on_screen("lint", "plan.txt", cwd=folder)
    prompt = "\x1b[32m$\x1b[0m "
    return f"{prompt}cat plan.txt\n{PLAN}{prompt}fdc lint plan.txt\n{said}"


def teas(folder: Path) -> None:
    """The plan `words.plan` and what it reads."""
    (folder / "teas").mkdir()
    for tea in ("assam", "oolong", "sencha"):
        (folder / "teas" / f"{tea}.md").write_text(f"{tea} is a tea\n", "utf-8")
    (folder / "words.plan").write_text(RUN, "utf-8")


def running() -> str:
    """The screen of a run at its end. How long steps took is left out, and the name is an example's: they differ each time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "knowledge_core").mkdir()
        teas(folder)
        said = on_screen("run", "words.plan", cwd=folder)
    said = re.sub(
        r"[|/\\-] \d+ steps, \d+:\d\d.*?\r(?:\x1b\[\d+A)?\x1b\[J", "", said, flags=re.DOTALL
    )
    said = re.sub(
        r"\b\d{8}-\d{6}-\w{4}\b", "20261124-101500-9k2f", re.sub(r"(  |, )[\d.]+ m?s\b", "", said)
    )
    return f"\x1b[32m$\x1b[0m fdc run words.plan\n{said}"


def svg(screen: str, title: str) -> str:
    """The screen as a picture: one text element for each line, one span for each colour."""
    lines = screen.rstrip("\n").split("\n")
    columns = max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines)
    wide, high = columns * _WIDTH + 2 * _MARGIN, len(lines) * _HEIGHT + 2 * _MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high}" width="{wide:g}" height="{high}" role="img">',
        f"<title>{title}</title>",
        f'<rect width="{wide:g}" height="{high}" rx="8" fill="#0d1117"/>',
        f'<g font-family="{_FONTS}" font-size="13" fill="{_PLAIN}">',
    ]
    for number, line in enumerate(lines):
        spans = "".join(_spans(line))
        if spans:
            out.append(f'<text y="{_MARGIN + (number + 0.75) * _HEIGHT:g}">{spans}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


def _spans(line: str) -> list[str]:
    """The pieces of a line, each at its own column: whatever font there is, the columns stand below each other."""
    spans, style, column = [], "", 0
    for number, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if number % 2:
            style = _style(part)
        elif part:
            for text in re.finditer(r"\S+(?: \S+)*", part):  # a renderer makes one blank of several
                x, long = _MARGIN + (column + text.start()) * _WIDTH, len(text[0]) * _WIDTH
                spans.append(
                    f'<tspan x="{x:g}" textLength="{long:g}"{style}>{escape(text[0], quote=False)}</tspan>'
                )
            column += len(part)
    return spans


def _style(codes: str) -> str:
    out = ""
    for code in codes.split(";"):
        out += f' fill="{_COLOURS[code]}"' if code in _COLOURS else ""
        out += ' font-weight="bold"' if code == "1" else ' opacity="0.7"' if code == "2" else ""
    return out


PICTURES = {
    "refused.svg": lambda: svg(
        session(), "A plan in a terminal, and two errors that fdc lint finds in it"
    ),
    "run.svg": lambda: svg(
        running(), "A run in a terminal: a gate that passed, a loop, the side of an if, exit codes"
    ),
}

if __name__ == "__main__":
    for file, made in PICTURES.items():
        (HERE / file).write_text(made(), "utf-8")
