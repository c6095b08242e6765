"""The plan of a proposed code change, which has one step (FDC-84). Pure."""

from __future__ import annotations

import unicodedata

from ...text.merge_diff import CLOSE, MIDDLE, OPEN
from .research_plan import quoted

AUTOMATON = "tooling/code_change_fsm.json"
_KEPT = (
    ("knowledge_core", "its files are changed by their own commands"),
    ("protocols", "protocols are changed with tooling/protocol_updater.py"),
    ("logs", "the log is a record"),
    ("postmortems", "a post-mortem is a record"),
    (".git", "git's own files"),
    (".fdc", "the records of runs"),
)
"""Folders that a lesson's code change must not touch, with reasons. The engine refuses more (`workspace.files`)."""

_FILES = ("agents.md", "version", "fdc.toml", "fdc_tools.json", "fdc_tools.lock.json")


def path_fault(path: str) -> str | None:
    """Why a lesson must not change the file at this path, or None. Checks the text of the path only."""
    shown = f"`{path[:80]}`"
    if not path.isprintable() or not path.strip() or any(char in path for char in '*?[]{}\\"`'):
        return f"{shown} cannot be named in a plan: remove quotes, braces, wildcards and hidden characters"
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith(("/", "~")) or ".." in parts or not parts:
        return f"{shown} is not a path inside the workspace"
    first = unicodedata.normalize("NFKC", parts[0]).casefold()
    for folder, why in _KEPT:
        if first == folder:
            return f"{shown} lies in `{folder}/`: {why}"
    if len(parts) == 1 and first in _FILES:
        return f"{shown} must not be changed by lessons: it is compiled, or it controls what plans may do"
    return None


def sections(diff: str) -> str:
    """A diff as SEARCH and REPLACE sections; of a unified diff one for each hunk: what it keeps and removes, and
    what it keeps and adds. Raises ValueError for a diff that is neither, or of several files."""
    lines = diff.replace("\r\n", "\n").strip("\n").split("\n")
    if lines[0] == OPEN:
        return "\n".join(lines)
    start = next((at for at, line in enumerate(lines) if line.startswith("@@")), None)
    if start is None:
        raise ValueError(f"the diff does not begin with `{OPEN}`, and has no line `@@`")
    hunks: list[tuple[list[str], list[str]]] = []
    for number, line in enumerate(lines[start:], start + 1):
        sign, text = line[:1] or " ", line[1:]
        if line.startswith("@@"):
            hunks.append(([], []))
        elif sign not in " -+\\" or text in (OPEN, MIDDLE, CLOSE):
            raise ValueError(f"line {number} of the diff is not of one file's change")
        else:
            hunks[-1][0].extend([text] * (sign in " -"))
            hunks[-1][1].extend([text] * (sign in " +"))
    if not all(before for before, _ in hunks):
        raise ValueError("a hunk of the diff has no line that says where it belongs")
    return "\n".join(
        line for before, after in hunks for line in (OPEN, *before, MIDDLE, *after, CLOSE)
    )


def code_change_plan(path: str, diff: str) -> str:
    """The plan that applies `diff` to the file at `path`: `replace_with_git_merge_diff`, path, diff.

    It is governed by `tooling/code_change_fsm.json` (one write and no more) and grants itself this file alone.
    Raises ValueError for a path that no lesson may change and for a diff without a section or a hunk.
    """
    from ...syntax.values import escape

    fault = path_fault(path)
    if fault:
        raise ValueError(fault)
    block = "\n".join(f"    {line}" if line else "" for line in escape(sections(diff)).split("\n"))
    word = quoted(path)
    return f"# FSM: {AUTOMATON}\nallow write {word}\nreplace_with_git_merge_diff {word}\n{block}\n"
