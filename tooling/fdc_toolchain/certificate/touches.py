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
    from .forms import Instruction, Program, Template
    from .forms.rows import Parameter

RECORDS = re.compile(r"(?:^|/)\.fdc(?:/|$)", re.IGNORECASE)
"""Names fdc's own records in a path."""

PLAIN = re.compile(r"[\w./:@%+,= \x00\x01-]*", re.ASCII)
OPTIONS = {
    **dict.fromkeys(("cat", "cmp", "head"), r"--?[\w.,=\x00-]*"),
    "sha256sum": r"-[abd-zA-Z]*|--(?!c)[\w-]+",
    "tail": r"-[a-eg-zA-EG-Z0-9]*|--(?!f)[\w.,=-]+",
    "wc": r"-[A-Za-z]*|--(?!f)[\w=-]+",
    "diff": r"-[abBdeEiNqrstuUwyZ0-9]*|--brief|--unified(=\d+)?",
    "sort": r"-[bcdfghiMmnrRsuVzkt0-9.,]*",
}
"""Commands that only read data, with their options that write, start and follow nothing, and open no file that others name."""


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
        self.git = self.tool.get("shares") == "git"
        self.told = self.tool.get("failure") == "value"
        self.code = self.tool["effect"] != "pure" and bool(
            {"python", "command", "mcp"} & {*self.tool.get("run", ())}
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
        tells = {row.get("sink") for row in self.tool["parameters"]} == {"user"}
        lasts = self.tool["effect"] in ("once", "idempotent") and (self.code or not changed)
        writes = self.tool.get("approves") or self.tool.get("access", {}).get("write")
        return any(map(lasting, changed)) or bool(writes) or lasts and not tells

    def adds(self) -> Iterator[Template]:
        """The paths of what git is given for the next commit. What stands in its index is not followed."""
        yield from (
            self.args[row["name"]] for row in self.rows if self.git and row.get("access") == "read"
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
            # a step that needs one file fails without it, and so tells nothing by its result
            for row in paths:
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
        yield from self.opens()

    def opens(self) -> Iterator[tuple[Files, bool, bool]]:
        """The same for files that code of the workspace or git opens by itself, and for those that it changes, but `opened`."""
        if self.code:
            for glob in self.tool.get("access", {}).get("read", ("**",)):
                yield files_of(glob), True, True
        named = [row for row in self.rows if "access" in row]
        for row in named if not any(stays for *_, stays in self.opened()) else ():
            access = row["access"]
            texts = self.git or self.code or access == "edit" or self.told and access == "read"
            if texts or self.told or access == "delete":
                yield self.files(row), texts, self.told or access not in ("read", "edit")
        if self.git and not named:
            yield SEEN, True, True  # a commit is made of all files that are tracked

    def opened(self) -> list[tuple[Files, bool, bool]]:
        """Files that it can open because it can change them, whether it may tell which exist, and whether their text stays."""
        named = [row for row in self.rows if "access" in row]
        globs = self.tool.get("access", {}).get("write", ())
        if len(named) != 1 or "writes" in self.tool or globs:
            return [(files_of(glob), True, False) for glob in globs if self.code]
        access, alone = named[0]["access"], len(self.tool["parameters"]) == 1
        if access != "edit" and not (
            access == "write" and alone or self.code and access in ("write", "create")
        ):
            return []
        return [(self.files(named[0]), access != "edit" or self.told, True)]

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
        for glob in self.tool.get("access", {}).get("write", ()):
            yield files_of(glob), "unknown"
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
        if HOLE in word or re.search(r"^/|(^|/)\.\.(/|$)", word):
            files.append(SEEN)  # it may lead anywhere
        else:
            files.append(below(word) if program == "diff" else files_of(word))
    return files
