"""The files that agents read, and the form of each.

AGENTS.md is what most of them read. Claude Code and Gemini CLI have files of their own that can take
another one in, so theirs are one line long. Cursor and Copilot cannot: theirs hold the rules themselves,
with front matter that says for which files they are.
"""

from __future__ import annotations

import glob
import json
import posixpath
from collections.abc import Callable

from ..named_tuples import NamedTuple


class Target(NamedTuple):
    """A kind of file: its path for a folder, its template, and the lines of its front matter for a folder."""

    path: Callable[[str], str]
    template: str
    front: Callable[[str], list[str]]

    def scope(self, path: str) -> str:
        """The folder whose file of this kind lies at `path`; "" where it is none, or the repository's."""
        before, after = self.path("\0").split("\0")
        return (
            path[len(before) : -len(after)]
            if path.startswith(before) and path.endswith(after)
            else ""
        )


def named(output: str) -> Target:
    """The target for AGENTS.md at the path `output`; files in folders below have the same name."""
    name = posixpath.basename(output)
    return Target(
        lambda folder: posixpath.join(folder, name) if folder else output, "agents.md.j2", _nothing
    )


def _nothing(folder: str) -> list[str]:
    return []


def _files(folder: str) -> str:
    """A glob for all files in a folder; a comma would begin another glob."""
    return json.dumps(glob.escape(folder).replace(",", "?") + "/**", ensure_ascii=False)


def _cursor(folder: str) -> list[str]:
    if not folder:
        return ["description: The rules of this repository, compiled by fdc", "alwaysApply: true"]
    description = json.dumps(f"The rules for {folder}/, compiled by fdc", ensure_ascii=False)
    return [f"description: {description}", f"globs: {_files(folder)}", "alwaysApply: false"]


def _copilot(folder: str) -> list[str]:
    return [f"applyTo: {_files(folder)}"] if folder else []


TARGETS = {
    "claude": Target(lambda folder: posixpath.join(folder, "CLAUDE.md"), "import.md.j2", _nothing),
    "gemini": Target(lambda folder: posixpath.join(folder, "GEMINI.md"), "import.md.j2", _nothing),
    "cursor": Target(lambda folder: posixpath.join(".cursor/rules", folder, "fdc.mdc"), "front.md.j2", _cursor),
    "copilot": Target(
        lambda folder: f".github/instructions/{folder}/fdc.instructions.md" if folder else ".github/copilot-instructions.md",
        "front.md.j2", _copilot,
    ),
}  # fmt: skip
"""By the name that `--target` and the setting `targets` take."""
