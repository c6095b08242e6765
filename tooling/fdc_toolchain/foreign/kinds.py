"""Which form a file has: by its place, and by what it says where the place does not settle it."""

from __future__ import annotations

import re

WORKFLOW = "workflow script"
SPEC_WORKFLOW = "Spec Kit workflow"
SPEC_TASKS = "Spec Kit tasks"
OPENSPEC = "OpenSpec tasks"
KIRO = "Kiro tasks"
TASK_MASTER = "Task Master tasks"
EXEC_PLAN = "ExecPlan"
MARKDOWN = "Markdown"

_SCRIPT_PLACE = re.compile(r"(^|/)\.[\w-]+/workflows/[^/]+\.m?js$")
_META = re.compile(r"^\s*(export\s+)?const\s+meta\s*=\s*\{", re.MULTILINE)
_SPEC_TASK = re.compile(r"^\s*[-*] \[[ xX]\] \*{0,2}T\d{3,}\b", re.MULTILINE)
_NUMBERED_TASK = re.compile(r"^\s*[-*] \[[ xX~-]\]\*? \*{0,2}\d+(\.\d+)*\.?\s", re.MULTILINE)
_CHECKBOX = re.compile(r"^\s*[-*] \[[ xX]\] ", re.MULTILINE)
_PROGRESS = re.compile(r"(?m)^#{1,6} (\d+[.)]? )?Progress\s*([(:].*)?$")
_EXEC_HEADINGS = re.compile(
    r"(?m)^#{1,6} (\d+[.)]? )?(Decision Log|Surprises( & | and )Discoveries|Outcomes( & | and )Retrospective)\s*([(:].*)?$"
)
_SPEC_STEPS = re.compile(r"^steps:\s*(#.*)?$", re.MULTILINE)
_SPEC_HEAD = re.compile(r"^workflow:\s*(#.*)?$", re.MULTILINE)


def kind_of(path: str, text: str) -> str | None:
    """The form of a file, or None where it is none that is known. `path` is from the workspace, with `/`."""
    name = path.rpartition("/")[2]
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("js", "mjs"):
        return WORKFLOW if _SCRIPT_PLACE.search(path) or _META.search(text) else None
    if suffix in ("yml", "yaml"):
        placed = "/.specify/workflows/" in f"/{path}"
        stated = _SPEC_STEPS.search(text)
        known = placed if stated or name.startswith("workflow.") else False
        return SPEC_WORKFLOW if known or stated and _SPEC_HEAD.search(text) else None
    if suffix == "json":
        placed = "/.taskmaster/" in f"/{path}" or '"subtasks"' in text or '"dependencies"' in text
        return TASK_MASTER if name == "tasks.json" and placed and '"tasks"' in text else None
    if suffix in ("md", "markdown", "mdc"):
        return _markdown(path, name, text)
    return None


def _markdown(path: str, name: str, text: str) -> str:
    if name == "tasks.md":
        if "/openspec/changes/" in f"/{path}":
            return OPENSPEC
        if "/.kiro/specs/" in f"/{path}":
            return KIRO
        if _SPEC_TASK.search(text):
            return SPEC_TASKS
        if _NUMBERED_TASK.search(text):
            return KIRO if "_Requirements:" in text else OPENSPEC
    if _PROGRESS.search(text) and _EXEC_HEADINGS.search(text) and _CHECKBOX.search(text):
        return EXEC_PLAN
    return MARKDOWN
