"""The certificate of a program that is about to run, made and checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ..exits import Exit, Refused
from ..linking.link import Linker
from ..linking.project.files import Files
from ..workspace.confirmed_settings import settings_of

_OF_FILES = ("FDC411", "FDC412", "FDC415")
"""Findings that begin with the file that they are about: it is not there, is there, or is no file."""


def certified(program: dict[str, Any], plan: str, root: str) -> dict[str, Any]:
    """The certificate of a program that was proved, checked; the facts in it are those of the workspace now.

    Raises Refused where a file changed since the program was proved, and Exit, for a bug of fdc, where there is none that holds.
    """
    parts, wrong = _parts(program, root)
    if wrong is not None and wrong.startswith(
        "part `files`"
    ):  # the other parts speak of the program alone
        changed = _changed(program, root)
        if changed is not None:
            raise Refused(f"{changed} changed while it was being checked; run the command again")
        parts, wrong = _parts(program, root)  # what changed meanwhile may be as it was
    if wrong is not None:
        raise Exit(
            f"lint proved `{plan}`, and the independent check of its program found: {wrong}; nothing was run. "
            "This is a bug of fdc, please report it"
        )
    return {"format": 3, "program": parts["control"]["program"], **parts}


def _parts(program: dict[str, Any], root: str) -> tuple[dict[str, Any], str | None]:
    """The parts of a certificate, and what is wrong with one of them."""
    from ..certificate.check import PARTS
    from ..certificate.making import make_control, make_data, make_files
    from ..certificate.plans import Wrong

    parts: dict[str, Any] = {}
    makers: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
        "control": make_control.make, "data": make_data.make, "files": partial(make_files.make, kind=Files(root).kind)
    }  # fmt: skip
    for name, makes in makers.items():
        try:
            parts[name] = makes(program)
            found = None if parts[name] is None else PARTS[name](program, parts[name])
        except Wrong as refused:
            found = str(refused)
        if found is not None:
            return parts, f"part `{name}`: {found}"
    return parts, None


def _changed(program: dict[str, Any], root: str) -> str | None:
    """The file whose change made the plan another one than the program that was proved; None: it is proved as it was."""
    from ..certificate.control import digest
    from ..check import check, program_of

    checked = check(Linker(root, settings_of(root, trust=True)), [program["root"]], whole=True)
    wrong = [item for item in checked.diagnostics if item.severity == "error"]
    if not wrong:
        return (
            None
            if digest(program_of(checked)) == digest(program)
            else f"`{program['root']}`, or what it reaches,"
        )
    named = re.search(r"`([^`]+)`", wrong[0].message) if wrong[0].code in _OF_FILES else None
    return f"`{named[1] if named else program['root']}`"
