"""Tools that are commands (`run: {command}`): a program with arguments, in the sandbox, touching what the row declares.

No shell reads the words, so no value can become a second command. A value cannot become an option either: one that begins
with `-` is refused, unless `--` or an option's name stands before it in the row.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import Any

from ...engine.events import Outcome
from ...linking.own_row import PLACEHOLDER
from ...program.model import ToolRow
from ...workspace.failure import ToolFailure
from .. import own_code
from ..context import Context, text

_SHOWN = 500


def call(declared: ToolRow, args: Mapping[str, object], context: Context) -> Outcome:
    """What the command printed, as the row's `result` says: a text without its last line end, or JSON. Raises ToolFailure."""
    argv = words(declared["run"]["command"], args)
    program = shutil.which(argv[0], path="/usr/local/bin:/usr/bin:/bin")
    if program is None:
        raise ToolFailure(
            "unavailable", f"the program `{argv[0]}` is not installed on this machine"
        )
    notes: dict[str, Any] = {}
    given = {name: value for name, value in args.items() if value is not None}
    done = own_code.run(argv[0], [program, *argv[1:]], b"", declared, given, context, notes)
    if done.exit_code != 0:
        last = done.errors.decode("utf-8", "replace").strip()[-_SHOWN:]
        said = f": {last}" if last else ""
        raise ToolFailure(
            "exit", f"`{argv[0]}` ended with exit code {done.exit_code}{said}", None, notes
        )
    if done.cut:
        raise ToolFailure(
            "size", f"`{argv[0]}` printed more than {own_code.MOST} bytes", None, notes
        )
    return Outcome(_value(argv[0], declared.get("result"), done.output, notes), notes=notes)


def words(command: list[str], args: Mapping[str, object]) -> list[str]:
    """The command with the step's values. A word of an optional parameter that is not given is left out."""
    out: list[str] = []
    for word in command:
        found = PLACEHOLDER.fullmatch(word)
        if found is None:
            out.append(word)
            continue
        if args.get(found[1]) is None:
            continue
        value = text(args, found[1])
        if "\0" in value:
            raise ToolFailure("input", f"`{found[1]}` contains a NUL byte")
        if value.startswith("-") and found[0].startswith("{") and "--" not in out:  # `own_row.bare`
            raise ToolFailure(
                "input",
                f"`{found[1]}` begins with `-`, which `{command[0]}` would read as an option",
            )
        out.append(word.replace(f"{{{found[1]}}}", value))
    return out


def _value(program: str, result: object, output: bytes, notes: dict[str, Any]) -> Any:
    try:
        said = output.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolFailure(
            "tool", f"`{program}` printed bytes that are not UTF-8", None, notes
        ) from None
    if result is None:
        return None
    if result == "text":
        return said.removesuffix("\n")
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        raise ToolFailure(
            "tool", f"`{program}` printed output that is not JSON: {said[:80]!r}", None, notes
        ) from None
