"""The part of the checker that finds the files which a program is made of. It imports nothing of fdc."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from .file_sets import apart, files_of
from .plans import Wrong

if TYPE_CHECKING:
    from .forms import Json, Program, Tool


def programs(tool: Tool) -> Iterator[str]:
    """The files of the workspace that the command of a tool, or of its server, may name."""
    run = tool.get("run", {})
    words = cast("list[str]", run.get("command", ()))
    server = cast("dict[str, list[str]]", run.get("mcp", {}))
    for word in (*words, *server.get("command", ())):
        path = word.partition("=")[2] if word.startswith("-") else word
        if path and "{" not in path:
            yield posixpath.normpath(path)


def check_made_of(of: Program) -> None:
    """Raises Wrong where a plan, automaton, prompt or code of the program has text from outside, and nobody allowed it."""
    allowed = [row["text"] for row in of.get("assumptions", ()) if row["code"] == "FDC712"]
    if any(" allowed FDC474" in text for text in allowed):
        return
    others = [files_of(glob) for glob in of.get("untrusted", ())]
    rows = (*of["tools"].values(), *of.get("predicates", {}).values())
    gone = {*of.get("chosen", ())} - {*of.get("stored", ())}
    python = any(
        {"python", "embedded"} & {*cast("dict[str, Json]", row.get("run", {}))} for row in rows
    )
    if python and any(path.endswith(".py") for path in gone):
        raise Wrong("text from outside may have chosen which modules are its code")
    commands = [path for tool in of["tools"].values() for path in programs(tool)]
    for path in (*of.get("sources", ()), *of.get("modules", ()), *commands):
        shipped = path.startswith("fdc:")
        named = not shipped and any(not apart((path,), one) for one in others)
        if named or path in of.get("stored", ()) or path.removeprefix("fdc:") in gone:
            raise Wrong(f"text from outside may be in `{path}`, which the program is made of")
