"""The part of the checker that finds what one step may choose, read and change, by its tool's row in the program.

Like `control.py` it imports nothing of fdc. Its rules are those of `docs/trust.md`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .file_sets import ANY, HOLE, RUN, SEEN, Files, below, files_of, lasting, text_of

if TYPE_CHECKING:
    from .forms import Instruction, Parameter, Program

RECORDS = re.compile(r"(?:^|/)\.fdc(?:/|$)", re.IGNORECASE)
"""Names fdc's own records in a path."""

PLAIN = re.compile(r"[\w./:@%+,= \x00\x01-]*", re.ASCII)
OPTIONS = {
    **dict.fromkeys(("cat", "cmp", "head", "sha256sum", "tail", "wc"), r"--?[\w.,=\x00-]*"),
    "diff": r"-[abBdeEiNqrstuUwyZ0-9]*|--brief|--unified(=\d+)?",
    "sort": r"-[bcdfghiMmnrRsuVzkt0-9.,]*",
}
"""Commands that only read data, with their options that write nothing and start nothing."""


class Step:
    """One step: its tool's row, and its arguments by parameter."""

    def __init__(self, program: Program, node: Instruction) -> None:
        self.tool = program["tools"][node["tool"]]
        self.args = {
            row["name"]: node["args"][row["name"]]
            for row in self.tool["parameters"]
            if row["name"] in node["args"]
        }
        if len(self.args) != len(node["args"]):
            raise ValueError(f"`{node['tool']}` is given what it does not take")
        self.rows = [row for row in self.tool["parameters"] if row["name"] in self.args]
        commands = [
            text_of(self.args[row["name"]]) for row in self.rows if row.get("sink") == "command"
        ]
        self.command = bool(commands)
        self.looks = [files for command in commands for files in only_looks(command) or ()]
        self.executes = any(only_looks(command) is None for command in commands)
        self.plan = "run" not in self.tool and any(
            row.get("sink") == "plan" for row in self.tool["parameters"]
        )
        self.unknown = self.tool.get("writes") == "unknown" and (self.executes or not self.command)

    def chooses(self, row: Parameter) -> str | None:
        """What the text of a parameter chooses; None: nothing."""
        unsaid = (
            None
            if self.tool["effect"] == "pure" or "prompt" in self.tool.get("run", ())
            else "anything"
        )
        sink = row.get("sink", "path" if row["kind"] in ("path", "glob") else unsaid)
        return None if sink in ("data", "user") else sink

    def acts(self) -> bool:
        """Whether it does more than read, write below the folder of the run and tell the user."""
        if self.tool.get("writes") == "unknown" or {self.chooses(row) for row in self.rows} & {
            "command", "message", "change", "anything", "plan"
        }:  # fmt: skip
            return True
        changed = [self.files(row) for row in self.rows if row.get("access", "read") != "read"]
        tells = bool(self.tool["parameters"]) and all(
            row.get("sink") == "user" for row in self.tool["parameters"]
        )
        return (
            any(map(lasting, changed))
            or self.tool["effect"] == "once"
            and not changed
            and not tells
        )

    def files(self, row: Parameter) -> Files:
        """The files that a parameter may name."""
        return files_of(text_of(self.args[row["name"]]))

    def reads(self) -> Iterator[tuple[Files, bool, bool]]:
        """The files that its result depends on, each with whether on their texts, and whether on which of them exist."""
        if self.command and not self.executes:
            yield from ((files, True, True) for files in self.looks)
        elif self.unknown:
            # a plan that is run is proved by itself, with what files hold, and gives nothing on that is from outside
            yield SEEN if self.command else ANY, not self.plan, True
        elif self.tool["trust"] in ("workspace", "model") and self.tool["effect"] != "pure":
            texts = self.tool.get("reads") != "names"
            paths = [row for row in self.rows if self.chooses(row) == "path"]
            for row in (
                paths
            ):  # a step that needs one file fails without it, and so tells nothing by its result
                is_file = row["kind"] == "path"
                yield (
                    (self.files(row), True, False)
                    if is_file
                    else (below(text_of(self.args[row["name"]])), texts, True)
                )
            if not paths and (
                self.tool["trust"] == "workspace"
                or {"python", "command", "mcp"} & {*self.tool.get("run", ())}
            ):
                yield ANY, texts, True
        failed = self.tool.get("failure") == "value"
        for row in self.rows:
            access = row.get("access")
            if access == "delete" or access and failed:
                yield self.files(row), failed and access in ("read", "edit"), True

    def recalls(self) -> bool:
        """Whether one of its paths may name fdc's records, or what a run left in its folder for text from outside."""
        for text in (
            text_of(self.args[row["name"]]) for row in self.rows if self.chooses(row) == "path"
        ):
            path = posixpath.normpath(text)
            run = path.startswith("runs/") and not path.startswith(RUN[:-1])
            if (
                RECORDS.search(text)
                or run
                and (re.search(r"[\0*?\[]", path) or "/outside/" in path + "/")
            ):
                return True
        return False

    def changes(self) -> Iterator[tuple[Files, str]]:
        """The files that it changes, each with its access; `unknown`: perhaps."""
        if self.unknown:
            yield SEEN if self.command else ANY, "unknown"
        yield from (
            (self.files(row), row["access"])
            for row in self.rows
            if row.get("access", "read") != "read"
        )

    def fails(self) -> bool:
        """Whether it may end the run, or the branch."""
        return self.tool.get("failure") != "value" and (
            self.tool["effect"] != "pure" or "run" in self.tool
        )


def only_looks(command: str) -> list[Files] | None:
    """The files that a command reads, if it only reads data; None for every other command."""
    program, *words = command.split(" ")
    option = OPTIONS.get(program)
    if option is None or not PLAIN.fullmatch(command):
        return None
    files = []
    for word in words:
        if (
            word.startswith("-")
            and not re.fullmatch(option, word)
            or word.startswith(HOLE)
            and program in ("diff", "sort")
        ):
            return None
        if (
            word.startswith(HOLE)
            or word.startswith("-")
            and (program == "sha256sum" or not re.fullmatch("-[A-Za-z0-9]*", word))
        ):
            files.append(SEEN)  # an option may make it read names of files from a file
        else:
            files.append(below(word) if program == "diff" else files_of(word))
    return files
