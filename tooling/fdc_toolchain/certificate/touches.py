"""The part of the checker that says what one step may choose, look at and change, by its tool's row in the program.

Like `control.py` it imports nothing of fdc. Its rules are those of `docs/trust.md`.

Files are known by how their paths begin and end: `(path,)` is one file, `(begin, end)` all that begin and end so.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

Files = tuple[str, ...]

RUN = "runs/\1/"
"""Stands for the folder of this run, whatever its name is. Another path below `runs/` may lie in it."""

HIDDEN = RUN + "outside/"
"""No command sees what is below."""

ANY: Files = ("", "")
SEEN: Files = ("\2", "")
"""All that a command sees."""

HOLE = "\0"

RECORDS = re.compile(r"(?:^|/)\.fdc(?:/|$)", re.IGNORECASE)
"""Names fdc's own records in a path."""

PLAIN = re.compile(r"[\w./:@%+,= \x00\x01-]*", re.ASCII)
OPTIONS = {
    **dict.fromkeys(("cat", "cmp", "head", "sha256sum", "tail", "wc"), r"--?[\w.,=\x00-]*"),
    "diff": r"-[abBdeEiNqrstuUwyZ0-9]*|--brief|--unified(=\d+)?",
    "sort": r"-[bcdfghiMmnrRsuVzkt0-9.,]*",
}
"""Commands that only look at data, with their options that write nothing and start nothing."""


# ---- paths ---------------------------------------------------------------------------------------------


def text_of(template: Any) -> str:
    """A template as text, with marks for the values in it. Raises ValueError where its own text has such marks."""
    if any(
        mark in part for part in template if type(part) is str for mark in (HOLE, RUN[-2], SEEN[0])
    ):
        raise ValueError("a text with control characters")
    return "".join(
        part if type(part) is str else RUN[:-1] if part["ref"] == ["run"] else HOLE
        for part in template
    )


@cache
def files_of(text: str) -> Files:
    """The files that an argument may name."""
    text = text[:1] + text[1:].replace(RUN[:-1], HOLE)
    if not re.search(r"[\0*?\[]", text):
        path = posixpath.normpath(text)
        if path.startswith("runs/") and not path.startswith(RUN):
            return ("runs/", "/" + path.split("/", 2)[2] if path.count("/") > 1 else "")
        return (path,)
    if ".." in text or "//" in text or "./" in text:
        return ANY
    begin, end = re.split(r"[\0*?\[]", text)[0], re.split(r"[\0*?\]]", text)[-1]
    begin, end = (
        re.sub(r"(^|/)\.$", r"\1", begin),
        re.sub(r"^\.?(/\.?)*$|(/\.?)+$", "", end),
    )  # a `.` alone is no name
    return ("runs/" if begin.startswith("runs/") and not begin.startswith(RUN[:-1]) else begin, end)


def below(text: str) -> Files:
    """The files that a folder or a glob may name, with those below."""
    begin = files_of(text)[0]
    return ("" if begin == "." else begin, "")


def hidden(files: Files) -> bool:
    """Whether no command sees any of them."""
    return files[0].startswith(HIDDEN)


def lasting(files: Files) -> bool:
    """Whether some of them outlive the run."""
    return not files[0].startswith(RUN)


@cache
def apart(one: Files, other: Files) -> bool:
    """Whether two arguments never name the same file: one of them is hidden, or they begin or end differently."""
    if SEEN in (one, other):
        return hidden(one) or hidden(other)
    if len(one) == len(other) == 1:
        return one != other
    begins = one[0].startswith(other[0]) or other[0].startswith(one[0])
    return not (begins and (one[-1].endswith(other[-1]) or other[-1].endswith(one[-1])))


# ---- steps ---------------------------------------------------------------------------------------------


class Step:
    """One step: its tool's row, and what it is given, by parameter."""

    def __init__(self, program: Any, node: Any) -> None:
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
        self.unknown = self.tool.get("writes") == "unknown" and (self.executes or not self.command)

    def chooses(self, row: Any) -> str | None:
        """What the text of a parameter chooses; None: nothing."""
        unsaid = (
            None
            if self.tool["effect"] == "pure" or "prompt" in self.tool.get("run", ())
            else "anything"
        )
        sink = row.get("sink", "path" if row["kind"] in ("path", "glob") else unsaid)
        return None if sink in ("data", "user") else sink

    def acts(self) -> bool:
        """Whether it does more than to read, to write below the folder of the run and to tell the user."""
        if self.tool.get("writes") == "unknown" or {self.chooses(row) for row in self.rows} & {
            "command", "message", "change", "anything"
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

    def files(self, row: Any) -> Files:
        """The files that a parameter may name."""
        return files_of(text_of(self.args[row["name"]]))

    def reads(self) -> Iterator[tuple[Files, bool, bool]]:
        """The files that its result tells of: whether of their texts, and whether of which of them there are."""
        if self.command and not self.executes:
            yield from ((files, True, True) for files in self.looks)
        elif self.unknown:
            yield SEEN if self.command else ANY, True, True
        elif self.tool["trust"] in ("workspace", "model") and self.tool["effect"] != "pure":
            texts = self.tool.get("reads") != "names"
            paths = [row for row in self.rows if self.chooses(row) == "path"]
            for row in (
                paths
            ):  # a step that needs one file fails without it, and so tells nothing by its result
                one = row["kind"] == "path"
                yield (
                    (self.files(row), True, False)
                    if one
                    else (below(text_of(self.args[row["name"]])), texts, True)
                )
            if not paths and (
                self.tool["trust"] == "workspace" or "python" in self.tool.get("run", ())
            ):
                yield ANY, texts, True
        failed = self.tool.get("failure") == "value"
        for row in self.rows:
            access = row.get("access")
            if access == "delete" or access and failed:
                yield self.files(row), failed and access in ("read", "edit"), True

    def recalls(self) -> bool:
        """Whether its text says that it may read records, or what a run left in its folder for text from outside."""
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
        """The files that it changes, each with how; `unknown`: perhaps."""
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
    """The files that a command looks at which executes nothing that it finds; None for every other command."""
    program, *words = command.split(" ")
    option = OPTIONS.get(program)
    if option is None or not PLAIN.fullmatch(command):
        return None
    found = []
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
            found.append(SEEN)  # an option may make it read names of files from a file
        else:
            found.append(below(word) if program == "diff" else files_of(word))
    return found
