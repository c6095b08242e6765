"""What an approval shows: the changes that the run will make behind it, and the files that this is made of.

Nothing is changed. Loops over files and steps that only read are looked up now; what they found is bound: the run acts on
these files and no others, as they are now (`engine.files.released`). Contents are shown as a difference, up to a size.

    {"rows": [row, ...],                      # what is shown, in its order
     "lists": {GLOB: [PATH, ...]},            # what is bound: the files that a glob names,
     "files": {PATH: DIGEST or ""}}           # and what is in them ("": there is none)
    row = {"line": N, "plan": PATH, "what": WORD, "file": PATH, "diff": [LINE, ...], "left_out": BYTES, "perhaps": true}
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.ahead import UNKNOWN, Hole, follow
from ..engine.events import Perform
from ..engine.files.released import NONE, Released, may_write
from ..engine.state import Scope, Strand
from ..engine.values import text
from ..narrow import narrow
from ..program.model import Grant, Instruction, Program, ToolRow
from ..text.glob_match import compare, compiled, matches, plain
from . import capability, globs, merge_diff
from .failure import ToolFailure
from .files import Root
from .shown_files import Noted, difference, digest, named, now_at

ROWS = 500
ONE = 12 * 1024
"""Bytes of one difference that are shown."""
ALL = 48 * 1024
"""Bytes of all differences that are shown."""
LISTED = 200
"""Files of one list that are shown."""
LONGEST = 5_000
"""Lines of a file that are compared."""


def preview(
    program: Program, strand: Strand, root: Root, perform: Callable[[Perform, Root], object]
) -> dict[str, object]:
    """What comes behind the approval at which a strand stands.

    `perform(effect, root)` does a step that only reads, and raises ToolFailure. Raises TooMuch.
    """
    noted = Noted()
    seer = _Seer(program, root, noted, perform)
    follow(program, strand, seer)
    if seer.more:
        seer.rows.append({"what": "more", "count": seer.more, "left_out": seer.unshown})
    return {"rows": seer.rows, "lists": noted.lists, "files": noted.files}


def differences(shows: Mapping[str, object], root: Root) -> str:
    """Why the files are not as they were shown; empty where they are. More files than a glob named are left alone."""
    released = Released(narrow(shows.get("lists", {}), dict), narrow(shows.get("files", {}), dict))
    for path in released.files:
        found = difference(released, root, path)
        if found:
            return found
    return ""


class _Seer:
    """Port `engine.ahead.Visitor`. `after` holds the contents that the steps so far leave, UNKNOWN where it is unknown."""

    def __init__(
        self, program: Program, root: Root, noted: Noted, perform: Callable[[Perform, Root], object]
    ) -> None:
        self.program = program
        self.root = root
        self.noted = noted
        self.perform = perform
        self.rows: list[dict[str, Any]] = []
        self.after: dict[str, Any] = {}
        self.commands: list[tuple[Grant, ...]] = []
        self.room = ALL
        self.more = 0
        self.unshown = 0

    # ---- what comes

    def step(
        self, item: Instruction, args: dict[str, object], scope: Scope, perhaps: bool
    ) -> object:
        """Port `Visitor`."""
        tool = self.program["tools"][item["tool"]]
        for one in tool["parameters"]:
            path = args.get(one["name"])
            if one.get("access") == "read" and isinstance(path, str) and not isinstance(path, Hole):
                self._bind(plain(path))
        brought = self._step(item, args, scope, perhaps)
        writes = may_write(tool, scope.grants)
        if writes is not None:
            self.commands.append(writes)
        return brought

    def _step(
        self, item: Instruction, args: dict[str, object], scope: Scope, perhaps: bool
    ) -> object:
        tool = self.program["tools"][item["tool"]]
        at = {"line": item["line"], "plan": scope.path, **({"perhaps": True} if perhaps else {})}
        changed = {
            one["access"]: args.get(one["name"])
            for one in tool["parameters"]
            if one.get("access") not in (None, "read")
        }
        if changed:
            self._change(at, item["tool"], tool, args, changed, perhaps)
            return UNKNOWN
        if tool.get("writes") == "unknown":
            self._row({**at, "what": "command", "text": _words(item["tool"], args)})
            run = tool.get("run")
            said = (*(run.get("command", ()) if run else ()), *args.values())
            for path in named(said, self.root, missing=True):
                self._bind(path)
            return UNKNOWN
        if tool["effect"] in ("pure", "read"):
            return self._read(item, args, tool, scope)
        if (
            not all(one.get("sink") == "user" for one in tool["parameters"])
            or not tool["parameters"]
        ):
            self._row({**at, "what": "step", "text": _words(item["tool"], args)})
        return UNKNOWN

    def files(self, item: Instruction, glob: object, scope: Scope, perhaps: bool) -> object:
        """Port `Visitor`."""
        at = {"line": item["line"], "plan": scope.path, **({"perhaps": True} if perhaps else {})}
        if not isinstance(glob, str):
            self._row({**at, "what": "unknown", "text": "which files match"})
            return UNKNOWN
        if self._may_change(glob):
            self._row(
                {
                    **at,
                    "what": "unknown",
                    "text": f"the files that match `{glob}` after the steps before",
                }
            )
            return UNKNOWN
        try:
            capability.listing(glob, scope.grants)
            found = globs.files(self.root.noting(scope.grants, self.noted), glob)
        except ToolFailure as failure:
            self._row({**at, "what": "unknown", "text": str(failure)})
            return UNKNOWN
        for path in found:
            self.noted.file(path, now_at(self.root, path))
        made = [
            path for path, data in self.after.items() if data is not None and matches(path, glob)
        ]
        gone = {path for path, data in self.after.items() if data is None}
        coming = sorted({*found, *made} - gone)
        self._row(
            {**at, "what": "files", "glob": glob, "files": coming[:LISTED], "count": len(coming)}
        )
        return coming

    def left(self, line: int, why: str, scope: Scope) -> None:
        """Port `Visitor`."""
        self._row({"line": line, "plan": scope.path, "what": "unknown", "text": why})

    def _bind(self, path: str) -> None:
        """The file is to be as it is now, but where a step above may change it."""
        if path not in self.after and not self._may_change(path):
            self.noted.file(path, now_at(self.root, path))

    def _may_change(self, glob: str) -> bool:
        """Whether a command above may write a file that a glob, or a path, names."""
        return any(not any(_apart(grant, glob) for grant in grants) for grants in self.commands)

    # ---- what is shown of it

    def _row(self, row: dict[str, Any]) -> None:
        if len(self.rows) < ROWS:
            self.rows.append(row)
        else:
            self.more += 1

    def _read(self, item: Instruction, args: dict[str, Any], tool: ToolRow, scope: Scope) -> Any:
        """What a step that only looks at files of the workspace brings, where that is known now."""
        looks = any(
            one.get("access") == "read" or one["kind"] == "glob" for one in tool["parameters"]
        )
        free = tool["effect"] == "read" and not tool.get("cost") and "run" not in tool
        known = not any(value is UNKNOWN or isinstance(value, Hole) for value in args.values())
        if (
            not (looks and free and known)
            or tool.get("trust") not in ("trusted", "workspace")
            or self.commands
        ):
            return UNKNOWN
        effect = Perform(
            "", "tool", item["tool"], args, "", "read", scope.path, item["line"], True, scope.grants
        )
        try:
            found = self.perform(effect, self.root.noting(scope.grants, self.noted))
        except ToolFailure:
            return UNKNOWN
        return UNKNOWN if self.after else found

    def _change(
        self,
        at: dict[str, Any],
        name: str,
        tool: ToolRow,
        args: dict[str, Any],
        changed: dict[str, Any],
        perhaps: bool,
    ) -> None:
        """A step that says which files it changes: how, from its declaration and its arguments."""
        wrong = [
            path for path in changed.values() if not isinstance(path, str) or isinstance(path, Hole)
        ]
        if wrong:
            shown = f" ({wrong[0]})" if isinstance(wrong[0], str) else ""
            self._row({**at, "what": "unknown", "text": f"which file `{name}` changes{shown}"})
            self.commands.append(())  # it may be any file
            return
        paths = {access: plain(path) for access, path in changed.items()}
        before = {access: self._content(path) for access, path in paths.items()}
        if "delete" in paths and "create" in paths:
            self._row({**at, "what": "rename", "file": paths["delete"], "to": paths["create"]})
            after = {paths["create"]: before["delete"], paths["delete"]: None}
        else:
            access, path = next(iter(paths.items()))
            new, whole = self._new(access, tool, args, before[access])
            after = {path: new}
            word = "create" if before[access] is None and access != "delete" else access
            row = {
                **at,
                "what": word,
                "file": path,
                "by": name,
                **self._shown(before[access], new, path, whole),
            }
            self._row(
                {**row, "note": "an earlier step may change this file first"}
                if self._may_change(path)
                else row
            )
        for path, data in after.items():
            self.after[path] = UNKNOWN if perhaps or isinstance(data, Hole) else data

    def _new(
        self, access: str, tool: ToolRow, args: dict[str, Any], before: Any
    ) -> tuple[Any, bool]:
        """The content that a step leaves (None: no file), and whether all of it is known."""
        if access == "delete":
            return None, True
        block = next((one for one in tool["parameters"] if one["kind"] == "block"), None)
        if block is None or "run" in tool:
            return UNKNOWN, False
        given = args.get(block["name"])
        if given is UNKNOWN:
            return UNKNOWN, False
        said = "" if given is None else given if isinstance(given, Hole) else text(given)
        if block.get("type") == "sections":
            if not isinstance(before, str) or isinstance(said, Hole):
                return UNKNOWN, False
            try:
                return merge_diff.apply(before, said)[0], True
            except ToolFailure:
                return UNKNOWN, False
        return said, not isinstance(said, Hole)

    def _content(self, path: str) -> Any:
        """What is in a file when the step comes: text, None for no file, UNKNOWN."""
        if path in self.after:
            return self.after[path]
        try:
            data = self.root.find(path)
        except ToolFailure as failure:
            self.noted.file(path, f"({failure.kind})")
            return UNKNOWN
        self.noted.file(path, NONE if data is None else digest(data))
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return UNKNOWN

    def _shown(self, before: Any, after: Any, path: str, whole: bool) -> dict[str, Any]:
        """The difference of two contents: its lines, up to a size, and how many bytes are left out."""
        out: dict[str, Any] = {}
        if not whole:
            out["partly"] = True
        if after is UNKNOWN or before is UNKNOWN:
            return {
                **out,
                "note": "the content is not known yet"
                if after is UNKNOWN
                else "the current content is not text",
            }
        if max((before or "").count("\n"), (after or "").count("\n")) > LONGEST:
            return {
                **out,
                "note": f"{len((before or '').encode())} bytes become {len((after or '').encode('utf-8', 'replace'))}",
            }
        lines = list(
            difflib.unified_diff(_lines(before), _lines(after), path, path, n=3, lineterm="")
        )[2:]
        kept, left = [], 0
        room = min(ONE, self.room)
        for line in lines:
            size = len(line.encode("utf-8", "replace")) + 1
            if left or size > room:
                left += size
                continue
            room -= size
            self.room -= size
            kept.append(line)
        self.unshown += left
        return {**out, "diff": kept, **({"left_out": left} if left else {})}


def _apart(grant: Grant, glob: str) -> bool:
    """Whether a plan that allows this cannot write what a glob names."""
    inner = compiled([(False, glob)])
    return all(compare(inner, compiled(outer)) is False for outer in grant.get("write", ()))


def _lines(content: str | None) -> list[str]:
    if not content:
        return []
    lines = content.split("\n")
    return (
        lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + "\n\\ no line end at the end"]
    )


def _words(name: str, args: dict[str, Any]) -> str:
    shown = [
        "…" if value is UNKNOWN else str(value) if isinstance(value, Hole) else text(value)
        for value in args.values() if value is not None
    ]  # fmt: skip
    return " ".join([name, *shown])[:2000]
