"""Markdown that is run: blocks of a section become files, and what the linter finds must be what the page says.

A fenced block ` ```plan `, ` ```json name=fdc_tools.json ` and so on is one file (a plan without a name is
`example.plan`); the blocks of one section are one workspace. An expected finding stands on a line of its own
before the line that it is about, once more for every further finding there:

    ## error: [unknown-tool]
    ## warning: 3 [unused-name] "never used"

with a column and a regular expression on the message where they matter. Assumptions and fragments
(`## assumption: [rule]`) are compared in the sections that expect one; elsewhere they may be there.
These lines are taken out before the
file is written, so they change no line number. A block ` ```findings ` names what is found where no line of a
block is: `knowledge_core/plan_registry.json:1: warning: [missing-registry]`.

With the word `escaped` in the fence's line, `\\u{FEFF}` and `\\x{FF}` in the block stand for that character and
that byte. With the word `joined`, a line that begins with a space goes on with the one above it. All plans
of the section are linted, unless a block ` ```console ` says `$ COMMAND` (`fdc` or
`plan_manager`): then that command is run in the workspace, and its findings are read from what it prints.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fdc_toolchain.check import check_paths
from fdc_toolchain.diagnostics.codes import CODES

from tests.support import process

FOLDERS = ("docs/tea", "docs/coffee", "notes", "src", "out")
"""Folders that every workspace of an example has, empty: a step that looks through a missing one is an error."""

EXPECTATION = re.compile(
    r'\s*## (error|warning|info|assumption|fragment): (?:(\d+) )?\[([a-z0-9-]+)\](?: "(.*)")?\s*'
)
_ELSEWHERE = re.compile(
    r'(\S+):(\d+): (error|warning|info|assumption|fragment): \[([a-z0-9-]+)\](?: "(.*)")?'
)
_PRINTED = re.compile(
    r"(\S+?):(\d+):(\d+): (error|warning|info|assumption|fragment)\[(FDC\d+)\] (.*) \(([a-z0-9-]+)\)"
)
_ESCAPE = re.compile(r"\\([ux])\{([0-9A-Fa-f]+)\}")
_FENCE = re.compile(r"(`{3,})(\w*)(.*)")
DEFAULT = "example.plan"


class Expected(NamedTuple):
    """A finding that the page promises; `page_line` is where it says so."""

    path: str
    line: int
    severity: str
    rule: str
    column: int | None
    message: str | None
    page_line: int


class Finding(NamedTuple):
    """A finding that there is."""

    path: str
    line: int
    column: int
    severity: str
    rule: str
    message: str


class Section(NamedTuple):
    """One workspace: its heading, its place on the page, its files, the plans among them, what is expected of them."""

    heading: str
    page_line: int
    files: dict[str, bytes]
    plans: list[str]
    expected: list[Expected]
    command: str | None


def sections(page: str) -> list[Section]:
    """The sections of a page that have blocks, in order. Raises ValueError for a page that is malformed."""
    out: list[Section] = []
    heading, heading_line = "", 1
    current: Section | None = None
    rows = iter(enumerate(page.split("\n"), 1))
    for number, row in rows:
        fence = _FENCE.fullmatch(row)
        if fence is None:
            if row.startswith("#"):
                heading, heading_line, current = row.lstrip("#").strip(), number, None
            continue
        mark, language, info = fence.groups()
        body = []
        for inside, line in rows:
            if line == mark:
                break
            body.append((inside, line))
        else:
            raise ValueError(f"line {number}: the block does not end")
        words = info.split()
        name = next(
            (word[5:] for word in words if word.startswith("name=")),
            DEFAULT if language == "plan" else "",
        )
        if language not in ("findings", "console") and not name:
            continue
        if current is None:
            current = Section(heading, heading_line, {}, [], [], None)
            out.append(current)
        if language == "console":
            current = out[-1] = current._replace(command=_command(body))
        elif language == "findings":
            current.expected.extend(_elsewhere(body))
        elif name in current.files:
            raise ValueError(f"line {number}: there is a `{name}` in this section already")
        else:
            current.files[name] = _file(name, body, current.expected, words)
            if language == "plan":
                current.plans.append(name)
    return out


def _command(body: list[tuple[int, str]]) -> str:
    first = next((line for _, line in body if line.startswith("$ ")), None)
    if first is None:
        raise ValueError(
            f"line {body[0][0] if body else 0}: a console block begins with `$ COMMAND`"
        )
    return first[2:]


def _elsewhere(body: list[tuple[int, str]]) -> Iterator[Expected]:
    for number, line in body:
        match = _ELSEWHERE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"line {number}: expected `PATH:LINE: error: [rule]`")
        path, at, severity, rule, message = match.groups()
        yield Expected(path, int(at), severity, rule, None, message, number)


def _file(
    name: str, body: list[tuple[int, str]], expected: list[Expected], words: list[str]
) -> bytes:
    kept: list[str] = []
    for number, line in body:
        match = EXPECTATION.fullmatch(line)
        if match is None:
            kept.append(line)
            continue
        severity, column, rule, message = match.groups()
        expected.append(
            Expected(
                name,
                _at(kept, "joined" in words),
                severity,
                rule,
                int(column) if column else None,
                message,
                number,
            )
        )
    text = "".join(line + "\n" for line in kept)
    if "joined" in words:
        text = re.sub(r"\n +", " ", text)
    if "escaped" not in words:
        return text.encode("utf-8")
    out, last = b"", 0
    for match in _ESCAPE.finditer(text):
        value = int(match[2], 16)
        out += text[last : match.start()].encode("utf-8")
        out += chr(value).encode("utf-8") if match[1] == "u" else bytes((value,))
        last = match.end()
    return out + text[last:].encode("utf-8")


def _at(kept: list[str], joined: bool) -> int:
    """The number that the next line of a file will have."""
    return 1 + sum(1 for line in kept if not (joined and line.startswith(" ")))


def write(section: Section, workspace: Path) -> None:
    """Writes the section's files into the folder `workspace`, which has the folders that examples look through."""
    for name in FOLDERS:
        (workspace / name).mkdir(parents=True, exist_ok=True)
    for name, data in section.files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def findings(section: Section, workspace: Path) -> list[Finding]:
    """Writes the section's files into the folder `workspace` and lints them there, or runs its command."""
    write(section, workspace)
    if section.command is None:
        checked = check_paths([str(workspace / name) for name in section.plans], str(workspace))
        return [
            Finding(
                item.span.path,
                item.span.line,
                item.span.column,
                item.severity,
                item.rule,
                item.message,
            )
            for item in [
                *checked.diagnostics,
                *([*checked.assumptions, *checked.fragments] if _expects_more(section) else []),
            ]
        ]
    program, *arguments = shlex.split(section.command)
    script = {"fdc": "fdc_cli.py", "plan_manager": "plan_manager.py"}[program]
    if arguments[0] == "lint":
        arguments += ["--format", "concise", "--no-cache"]
    run = process.fdc(*arguments, cwd=workspace, script=script)
    if run.returncode not in (0, 1):
        raise AssertionError(
            f"`{section.command}` ended with {run.returncode}:\n{run.stdout}{run.stderr}"
        )
    out = []
    for line in (run.stdout + run.stderr).splitlines():
        match = _PRINTED.fullmatch(line)
        if match:
            path, at, column, severity, code, message, rule = match.groups()
            assert CODES[code].name == rule
            out.append(Finding(path, int(at), int(column), severity, rule, message))
    return out


def _expects_more(section: Section) -> bool:
    return any(item.severity in ("assumption", "fragment") for item in section.expected)


def differences(section: Section, found: list[Finding]) -> list[str]:
    """One line for each finding that is missing, and for each that no one expected."""
    left = list(found)
    wrong = []
    for item in section.expected:
        fit = next((other for other in left if _fits(item, other)), None)
        if fit is not None:
            left.remove(fit)
            continue
        more = f' "{item.message}"' if item.message else ""
        column = f"{item.column} " if item.column else ""
        wrong.append(
            f"line {item.page_line}: missing    {item.path}:{item.line}: {item.severity}: {column}[{item.rule}]{more}"
        )
    for other in left:
        where = f"{other.path}:{other.line}:{other.column}: {other.severity}"
        wrong.append(
            f"section `{section.heading}`: unexpected {where}: [{other.rule}] {other.message}"
        )
    return wrong


def _fits(expected: Expected, found: Finding) -> bool:
    return (
        (expected.path, expected.line, expected.severity, expected.rule)
        == (found.path, found.line, found.severity, found.rule)
        and expected.column in (None, found.column)
        and (expected.message is None or re.search(expected.message, found.message) is not None)
    )


def run(page: str, folder: Path) -> list[str]:
    """What the page says wrongly: every section in a workspace of its own below `folder`."""
    wrong = []
    for number, section in enumerate(sections(page)):
        workspace = folder / str(number)
        (workspace / "knowledge_core").mkdir(parents=True)
        wrong += differences(section, findings(section, workspace))
    return wrong
