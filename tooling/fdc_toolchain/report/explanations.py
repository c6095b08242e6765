"""The long explanations of rules: `explain/RULE.md` in the package, one for each code.

Each has the same four headings, is printed by `fdc explain`, goes into SARIF as the rule's help
and is run by the tests: its example must give the finding, its repair must not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..diagnostics.codes import BY_NAME, CODES
from ..exits import Missing, WorldError
from ..named_tuples import NamedTuple

HEADINGS = ("What it flags", "Why it matters", "Example", "Instead")

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "explain")


class Explanation(NamedTuple):
    """A rule with its code, severity and one line, and its explanation: Markdown by heading, and whole."""

    code: str
    rule: str
    severity: str
    summary: str
    sections: dict[str, str]
    markdown: str


def path(rule: str) -> str:
    """The path of the rule's explanation."""
    return os.path.join(_FOLDER, f"{rule}.md")


def find(word: str) -> str | None:
    """The code that a user means by a code (`301` is FDC301) or a rule's name, in any case, or None."""
    word = word.strip()
    code = f"FDC{word}" if word.isdecimal() else word.upper()
    return code if code in CODES else BY_NAME.get(word.lower())


def of(word: str) -> Explanation:
    """The explanation that a user means by a code or a rule's name. Raises Missing, and WorldError."""
    code = find(word)
    if code is None:
        from ..text.suggest import did_you_mean
        from .terminal.terminal_text import visible

        hint = did_you_mean(word, [*CODES, *BY_NAME]) or "`fdc rules` lists all of them"
        raise Missing(f"the rule `{visible(word)}` does not exist; {hint}")
    try:
        return load(code)
    except OSError as failed:
        raise WorldError(
            f"the explanation of {code} is missing from this installation: {failed}"
        ) from failed


def load(code: str) -> Explanation:
    """The explanation of a known code. Raises OSError where the package was shipped without it."""
    row = CODES[code]
    with open(path(row.name), encoding="utf-8") as file:
        markdown = file.read()
    return Explanation(code, row.name, row.severity, row.summary, sections(markdown), markdown)


class Part(NamedTuple):
    """A stretch of an explanation. `kind`: heading, prose or block; `language` and `name` are a block's."""

    kind: str
    lines: list[str]
    language: str = ""
    name: str = ""


def sections(markdown: str) -> dict[str, str]:
    """The text below each second-level heading. Headings inside fenced blocks are text."""
    out: dict[str, list[str]] = {}
    current: list[str] = []
    for part in parts(markdown):
        if part.kind == "heading" and part.lines[0].startswith("## "):
            current = out.setdefault(part.lines[0][3:].strip(), [])
        elif part.kind == "block":
            info = part.language + (f" name={part.name}" if part.name else "")
            current += [f"```{info}", *part.lines, "```"]
        else:
            current += part.lines
    return {name: "\n".join(lines).strip("\n") for name, lines in out.items()}


def parts(markdown: str) -> Iterator[Part]:
    """The explanation in order: headings, paragraphs with the blank lines around them, blocks."""
    prose: list[str] = []
    rows = iter(markdown.split("\n"))
    for row in rows:
        fenced = row.startswith("```")
        if prose and (fenced or row.startswith("#")):
            yield Part("prose", prose)
            prose = []
        if fenced:
            language, *words = row[3:].split() or [""]
            name = next((word[5:] for word in words if word.startswith("name=")), "")
            yield Part("block", list(iter(lambda: next(rows, "```"), "```")), language, name)
        elif row.startswith("#"):
            yield Part("heading", [row])
        else:
            prose.append(row)
    if prose:
        yield Part("prose", prose)


def expectation(line: str) -> tuple[str, str] | None:
    """(severity, text to show) of a line that states the finding of the next line, or None."""
    mark = line.strip()
    for severity in ("error", "warning", "info", "assumption", "fragment"):
        if mark.startswith(f"## {severity}: "):
            indent = line[: len(line) - len(line.lstrip())]
            return severity, f"{indent}## {severity}: {mark[mark.index('[') : mark.index(']') + 1]}"
    return None


def block_sentence(part: Part) -> str | None:
    """A sentence for a block that is a command or a list of findings; None for a file."""
    if part.language == "console":
        command = next((line[2:] for line in part.lines if line.startswith("$ ")), "")
        return f"Checked by `{command}`."
    if part.language == "findings":
        rows = (line.split(": ", 2) for line in part.lines if line.strip())
        return "Found: " + "; ".join(f"`{place}` {severity}" for place, severity, _ in rows) + "."
    return None
