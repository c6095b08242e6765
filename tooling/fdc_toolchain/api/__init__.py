"""The public API of fdc: all that editors, packs and other programs may import.

    from fdc_toolchain import api

    result = api.check("plan.txt", workspace="/work/here")
    run = api.begin("plan.txt", workspace="/work/here", inputs={"topic": "tea"})
    ended = api.drive(run, workspace="/work/here")

A path is absolute, or counts from the workspace; the working folder does not matter. Every exception is an `FdcError`. Nothing
is printed: notices go to the logger `fdc`. Every function can be called from any thread. What is not in `__all__` is private
and may change; what is changes as semantic versioning says. `docs/api.md` has an example of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import (
    FdcError,
    InternalError,
    InvalidInput,
    NotFound,
    NotGranted,
    PlanRefused,
    RunBusy,
    RunRefused,
    WorldTrouble,
)
from .plan_calls import (
    apply_fixes,
    bounds,
    brief,
    catalogue,
    check,
    compile_plan,
    explain,
    find_workspace,
    fix,
    format_plan,
)
from .running.run_calls import answer, begin, cancel, drive, resume, runs, show
from .running.watching import Watcher
from .values import (
    JSON,
    Bound,
    Bounds,
    Call,
    Catalogue,
    Cause,
    CheckResult,
    Diagnostic,
    Done,
    Edit,
    Explanation,
    Fix,
    FixedText,
    FixResult,
    Label,
    Parameter,
    Policy,
    Program,
    Question,
    RunResult,
    RunState,
    RunStatus,
    RunSummary,
    Severity,
    Span,
    Step,
    StepStatus,
    Stop,
    ToolInfo,
    Verdict,
)

if TYPE_CHECKING:
    from ..engine.ports import Waiting
    from ..workspace.failure import ToolFailure
    from .context import Context, Tool
    from .editing.session import Session
    from .editing.values import CallSite, Machine, PlanView, StepStates, Symbol, Token

__all__ = [
    "Bound", "Bounds", "Call", "CallSite", "Catalogue", "Cause", "CheckResult", "Context", "Diagnostic", "Done", "Edit",
    "Explanation", "FdcError", "Fix", "FixResult", "FixedText", "InternalError", "InvalidInput", "JSON", "Label",
    "Machine", "NotFound", "NotGranted", "Parameter", "PlanRefused", "PlanView", "Policy", "Program", "Question",
    "RunBusy", "RunRefused", "RunResult", "RunState", "RunStatus", "RunSummary", "Session", "Severity", "Span",
    "Step", "StepStates", "StepStatus", "Stop", "Symbol", "Token", "Tool", "ToolFailure", "ToolInfo", "Verdict",
    "Waiting", "Watcher", "WorldTrouble", "answer", "apply_fixes", "begin", "bounds", "brief", "cancel", "catalogue", "check",
    "compile_plan", "drive", "explain", "find_workspace", "fix", "format_plan", "resume", "runs", "show",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Names that only tools and editors need are imported on first use, so that each call of a sandboxed tool stays fast."""
    value: object
    if name in ("Context", "Tool"):
        from . import context

        value = getattr(context, name)
    elif name == "ToolFailure":
        from ..workspace import failure

        value = failure.ToolFailure
    elif name == "Waiting":
        from ..engine import ports

        value = ports.Waiting
    elif name in ("CallSite", "Machine", "PlanView", "StepStates", "Symbol", "Token"):
        from .editing import values as editing

        value = getattr(editing, name)
    elif name == "Session":
        from .editing import session

        value = session.Session
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
