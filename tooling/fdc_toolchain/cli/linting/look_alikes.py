"""Warns of files that look like plans, but whose names the search of folders does not match."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

from ...exits import CLEAN, FINDINGS
from ...linking.catalogue import catalogues, document
from ...linking.project.discover import is_plan
from ...linking.project.stat_cache import Seen
from .options import Options

MOST_FILES = 300
"""Suffixes of files whose beginning is read."""
MOST_BYTES = 4096
MOST_NAMED = 5

_FIRST_WORD = re.compile(r"(?:[A-Za-z_]\w*[ \t]*<-[ \t]*)?([A-Za-z_][\w.-]*)")
_WORDS = ("for_each_file", "call_plan")


def looks_like_a_plan(data: bytes, tools: frozenset[str]) -> bool:
    """True if the text has `# FSM:` or `use fsm`, or its first step uses a known tool."""
    for line in data.decode("utf-8", "replace").split("\n"):
        text = line.strip()
        if re.match(r"#\s*FSM:|use fsm\s", text):
            return True
        if not text or text.startswith("#"):
            continue
        found = _FIRST_WORD.match(text)
        return found is not None and (found[1] in tools or found[1] in _WORDS)
    return False


def say(sight: Seen, options: Options, root: str, code: int) -> tuple[int, bool]:
    """Prints the warning on stderr. Returns the exit code (1 with `--strict`), and whether it printed."""
    links = [path for path in sorted(sight.others) if os.path.isdir(path)]
    linked = [os.path.relpath(path) for path in links if _has_plans_elsewhere(path, root)]
    files = sorted({*sight.others} - {*links})[:MOST_FILES]
    tools = known_tools() if files else frozenset()
    found = []
    for path in files:
        sight.file(path)
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            continue
        if looks_like_a_plan(data, tools):
            found.append(os.path.relpath(path))
    if not found and not linked:
        return code, False
    from ...report.terminal.terminal_text import visible

    for name in linked[:MOST_NAMED]:
        print(
            f"fdc: warning: the plans in {visible(name)} were not checked: it is a link, which a search does not follow;"
            f" name it: fdc lint {visible(name)}",
            file=sys.stderr,
        )
    if found:
        _say_found(found, visible)
    if code == CLEAN and not options["exit_zero"] and (options["strict"] or _strict(root)):
        return FINDINGS, True
    return code, True


def _has_plans_elsewhere(path: str, root: str) -> bool:
    """Whether a link leads to a folder with plans outside of the workspace; those inside are found in their own folder."""
    try:
        top, real = os.path.realpath(root), os.path.realpath(path)
        return os.path.commonpath((top, real)) != top and any(map(is_plan, os.listdir(path)))
    except OSError:
        return False


def _say_found(found: list[str], visible: Callable[[str], str]) -> None:
    many = len(found) > 1
    names = ", ".join(visible(name) for name in found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        names += f" and {len(found) - MOST_NAMED} more"
    print(
        f"fdc: warning: {names} look{'' if many else 's'} like {'plans' if many else 'a plan'} and"
        f" {'were' if many else 'was'} not checked: folders are searched for *.plan, *.plan.txt and plan.txt;"
        f" rename {'them' if many else 'it'}, or name {'each' if many else 'it'}: fdc lint {visible(found[0])}",
        file=sys.stderr,
    )


def known_tools() -> frozenset[str]:
    """The names of the shipped tools that are not plain English words."""
    names: set[str] = set()
    for name in catalogues():
        names.update(document(name)["tools"])
    return frozenset(name for name in names if "_" in name)


def _strict(root: str) -> bool:
    from ...workspace.confirmed_settings import settings_of

    return bool(settings_of(root).strict)
