"""For commands of packs: options, exit codes, progress, running plans and their summaries.

Names that only commands which run a plan need are imported on first use, so that help stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console.options import (
    Renamed,
    budget_option,
    choice_option,
    count_option,
    flag_option,
    format_option,
    number_option,
    quiet_option,
    root_of,
    text_option,
    workspace_option,
    written,
)
from ..console.progress import Aside, Json
from ..console.terminal import say, say_json
from ..diagnostics.plural import plural as count
from ..exits import (
    CLEAN,
    FINDINGS,
    NO_RESULT,
    PARTIAL,
    PERSON,
    Exit,
    Refused,
    UsageError,
    WorldError,
    reason,
)
from ..runs.observer import Silent

if TYPE_CHECKING:
    from ..console.compiling import compile_or_refuse
    from ..console.process import run
    from ..console.run_options import budget_of, tell_weakness
    from ..console.run_summary import as_json, broken_off, exit_code
    from ..linking.project.root import find_root
    from ..runs.run_driver import Ended, begin, drive_run, given_for, task_for
    from ..workspace.operator import Operator

_LATER = {
    "console.compiling": ("compile_or_refuse",),
    "console.process": ("run",),
    "console.run_options": ("budget_of", "tell_weakness"),
    "console.run_summary": ("as_json", "broken_off", "exit_code"),
    "linking.project.root": ("find_root",),
    "runs.run_driver": ("Ended", "begin", "drive_run", "given_for", "task_for"),
    "workspace.operator": ("Operator",),
}
"""The modules of the names that are imported on first use."""

__all__ = [
    "Aside", "CLEAN", "Ended", "Exit", "FINDINGS", "Json", "NO_RESULT", "Operator", "PARTIAL", "PERSON", "Refused",
    "Renamed", "Silent", "UsageError", "WorldError", "as_json", "begin", "broken_off", "budget_of", "budget_option",
    "choice_option", "compile_or_refuse", "count", "count_option", "drive_run", "exit_code", "find_root", "flag_option",
    "format_option", "given_for", "number_option", "quiet_option", "reason", "root_of", "run", "say", "say_json", "task_for",
    "tell_weakness", "text_option", "workspace_option", "written",
]  # fmt: skip


def __getattr__(name: str) -> object:
    import importlib

    for module, names in _LATER.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"..{module}", __package__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
