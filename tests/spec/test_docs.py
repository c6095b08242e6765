"""README.md and docs/*.md are executed: every ```console block is typed in, and what it shows must come out.

A block holds lines `$ COMMAND` (gone on in lines `> MORE`), each followed by the output that a reader sees
on both streams. `...` stands for any text: alone on a line, for any number of lines; elsewhere, for any part
of one. A command that ends with another exit code than 0 is followed by `$ echo $?` and the code. A page's
blocks run in order, in one copy of the checkout.

README.md has blocks to paste instead: ```bash, each followed by a ```text block with what it prints where that is shown. They are
pasted into one shell, in order, and then all of them a second time.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support import forks, process, profiles
from tests.support.alphabets import need_dictionary
from tests.support.repository import ROOT, copy_to, files

PAGES = [name for name in files() if name == "README.md" or re.fullmatch(r"docs/.+\.md", name)]
FORKED = sys.platform == "linux" and not profiles.SOAK
PASTED = re.compile(r"^```bash\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass
class Command:
    """One command of a page, and what the page says that it prints."""

    line: int
    text: str
    output: list[str] = field(default_factory=list)


def commands(page: str) -> list[Command]:
    """The commands of a page, in order."""
    found: list[Command] = []
    for block in BLOCK.finditer(page):
        first = page.count("\n", 0, block.start(1)) + 1
        inside: list[Command] = []
        for number, line in enumerate(block[1].splitlines(), first):
            if line.startswith("$ "):
                inside.append(Command(number, line[2:]))
            elif (line.startswith("> ") or line == ">") and inside and not inside[-1].output:
                inside[-1].text += "\n" + line[2:]
            elif not inside:
                raise ValueError(f"line {number}: a console block begins with `$ COMMAND`")
            else:
                inside[-1].output.append(line)
        found.extend(inside)
    return found


_STEP = re.compile(r"(?:ok|failed) +[a-z]+/")
_TOOK = r"(?:  \d[\d.,]* (?:ms|s|min|h)\b.*)?[ \t]*\n"
"""A step says how long it took where that was long, which is another machine's business."""


def pattern(expected: list[str]) -> re.Pattern[str]:
    """What the output must look like as a whole, `...` understood."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(re.escape(part) for part in line.rstrip().split("...")))
            parts.append(_TOOK if _STEP.match(line) else r"[ \t]*\n")
    return re.compile("".join(parts))


def shown(expected: list[str], printed: str) -> bool:
    """True when a page's output fits what was printed. Blank lines at the end do not count."""
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    text = "".join(line + "\n" for line in printed.rstrip().splitlines())
    return pattern(expected).fullmatch(text) is not None


class Terminal:
    """A copy of the checkout and a shell in it, with `fdc` and `plan_manager` on PATH.

    Both are forked (`support/forks`) from this checkout's code, which is the copy's; in the soak they are the copy's scripts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = copy_to(folder / "fdc")
        commands = folder / "bin"
        commands.mkdir()
        self.handles: list[int] = []
        for name, script in (("fdc", "fdc_cli.py"), ("plan_manager", "plan_manager.py")):
            file = commands / name
            text = f'#!/bin/sh\nexec "{sys.executable}" "{self.folder}/tooling/{script}" "$@"\n'
            if FORKED:
                text, handle = forks.program(
                    str(ROOT / "tooling" / script), process.clean_environment()
                )
                self.handles = [handle]
            file.write_text(text, "utf-8")
            file.chmod(0o755)
        self.env = {
            "PATH": f"{commands}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(folder),
        }
        self.last = 0

    def type(self, text: str) -> str:
        """Runs one command in a shell whose `$?` is the exit code of the one before. Returns both streams as one."""
        line = f"exec 2>&1; (exit {self.last})\n{text}"
        done = process.run(
            ["bash", "-c", line], cwd=self.folder, env=self.env, handles=self.handles
        )
        self.last = done.returncode
        return done.stdout


def play(page: str, terminal: Terminal) -> list[str]:
    """Types every command of a page. Returns one report for each that did not do what the page says."""
    wrong = []
    script = commands(page)
    for command, after in zip(script, [*script[1:], None], strict=True):
        printed = terminal.type(command.text)
        if not shown(command.output, printed):
            wrong.append(
                f"line {command.line}: `{command.text}` printed\n{printed}\n--- and the page says\n"
                + "\n".join(command.output)
            )
        elif terminal.last and not (after and after.text == "echo $?"):
            wrong.append(
                f"line {command.line}: `{command.text}` ended with exit code {terminal.last}: the page hides it"
            )
    return wrong


def paste(page: str, terminal: Terminal) -> list[str]:
    """Pastes every block of a page twice. Returns one report for each that did not do what the page says."""
    wrong = []
    home = terminal.folder
    for time in ("first", "second"):
        terminal.folder = home
        for block in PASTED.finditer(page):
            kept = home.parent / "where"
            printed = terminal.type(f"{block[1]}\ncode=$?; pwd > {kept}; exit $code")
            terminal.folder = Path(kept.read_text("utf-8").strip())
            expected = block[2].splitlines() if block[2] else ["..."]
            if not shown(expected, printed) or terminal.last:
                wrong.append(
                    f"{block[1]}printed, pasted for the {time} time\n{printed}exit {terminal.last}"
                )
    return wrong


@pytest.mark.long
def test_what_the_readme_shows_can_be_pasted_and_pasted_again(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert 4 <= len(PASTED.findall(page))
    assert "\n$ " not in page and "\n> " not in page
    wrong = paste(page, Terminal(tmp_path))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_is_what_happens(name: str, tmp_path: Path) -> None:
    page = (ROOT / name).read_text("utf-8")
    if name == "docs/alphabet.md":
        need_dictionary()
    if commands(page):
        wrong = play(page, Terminal(tmp_path))
        assert not wrong, "\n\n".join(wrong)


def test_the_readme_shows_five_commands_or_more() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    shown_commands = {
        word for block in PASTED.finditer(page) for word in re.findall(r"(?m)^fdc (\w+)", block[1])
    }
    assert len(shown_commands) >= 5, shown_commands


def test_the_readme_fits_on_a_screen_and_a_half() -> None:
    assert 60 <= len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 105


@pytest.mark.parametrize(
    ("block", "finding"),
    [
        ("$ echo tea\ncoffee\n", "printed\ntea"),
        ("$ echo tea; echo milk\ntea\n", "printed\ntea\nmilk"),
        ("$ echo tea\ntea\nmilk\n", "printed\ntea"),
        ("$ echo tea; exit 3\ntea\n", "exit code 3"),
        ("$ echo trouble >&2\n", "printed\ntrouble"),
    ],
)
def test_a_planted_lie_is_found(
    block: str, finding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = play(f"# A page\n\n```console\n{block}```\n", shell(tmp_path, monkeypatch))
    assert len(wrong) == 1 and finding in wrong[0] and wrong[0].startswith("line 4:")


@pytest.mark.parametrize(
    "block",
    [
        "$ printf 'one\\ntwo\\nthree\\n'\none\n...\n",
        "$ printf 'one\\ntwo\\nthree\\n'\n...\nthree\n",
        "$ echo took 17 ms\ntook ... ms\n",
        "$ sh -c 'echo no; exit 1'\nno\n$ echo $?\n1\n",
        "$ true\n",
        "$ touch made-here\n$ ls made-*\nmade-here\n",
        "$ cat <<'END'\n> one\n>\n> two\n> END\none\n\ntwo\n",
    ],
)
def test_the_truth_passes(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [] == play(f"```console\n{block}```\n", shell(tmp_path, monkeypatch))


def shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in an empty folder, for pages that are not about fdc."""
    monkeypatch.setattr(f"{__name__}.copy_to", lambda target: (target.mkdir(), target)[1])
    return Terminal(folder)
