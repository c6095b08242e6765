"""The plans of a run, line by line: the text when the run began, and the results of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b

from ...engine.values import resolved
from ...packs import shipped
from ...program.instructions import every, nested
from ...program.model import Instruction, PlanBody, Program
from ...report import run_page
from ...report.run_page import Line, Plan, Step
from ...workspace.failure import ToolFailure
from ...workspace.files import Root

SHIPPED = "fdc:"
_PLANS = 200
_LINES = 5_000


def evidence(program: Program) -> dict[tuple[str, int], str]:
    """The evidence that steps state, by the path of their plan and their line."""
    return {
        (plan["path"], item["line"]): item["evidence"]
        for plan in program["plans"].values()
        for item in every(plan["body"])
        if isinstance(item.get("evidence"), str)
    }


def plans(root: str, program: Program, steps: list[Step]) -> Iterator[Plan]:
    """Each plan's text once, the root first; if its file changed, the text that the program contains."""
    with closing(Root(root)) as opened:
        seen: set[str] = set()
        order = [program["root"], *(name for name in program["plans"] if name != program["root"])]
        for plan in (program["plans"][name] for name in order):
            if plan["path"] in seen or len(seen) >= _PLANS:
                continue
            seen.add(plan["path"])
            states = _states(plan, steps)
            data = _source(opened, plan["path"])
            stated = program["sources"].get(plan["path"])
            if data is not None and blake2b(data, digest_size=32).hexdigest() == stated:
                lines = data.decode("utf-8", "replace").split("\n")
                lines = lines[:-1] if lines and not lines[-1] else lines
                more = (
                    f"{len(lines) - _LINES} more lines are not shown" if len(lines) > _LINES else ""
                )
                yield Plan(
                    plan["path"],
                    tuple(
                        Line(at, text, *states.get(at, ((), 0)))
                        for at, text in enumerate(lines[:_LINES], 1)
                    ),
                    more,
                )
            else:
                rows = [
                    (item["line"], _outline(depth, item)) for depth, item in nested(plan["body"])
                ][:_LINES]
                remark = "the file has changed since the run began; this text is reconstructed from the program"
                yield Plan(
                    plan["path"],
                    tuple(Line(at, text, *states.get(at, ((), 0))) for at, text in rows),
                    remark,
                )


def _source(root: Root, path: str) -> bytes | None:
    try:
        if path.startswith(SHIPPED):
            return shipped.read(path[len(SHIPPED) :])
        return root.find(path)
    except (OSError, ToolFailure, ValueError):
        return None


def _states(
    plan: PlanBody, steps: list[Step]
) -> dict[int, tuple[tuple[tuple[str, int], ...], int]]:
    """For each line with steps: the count of each state, and the step to show: the worst, else the first."""
    rank = {"failed": 0, run_page.FAILED_COMMAND: 1, "begun": 2, "waiting": 3, "ok": 4}
    counts: dict[int, dict[str, int]] = {
        item["line"]: {} for item in every(plan["body"]) if item["op"] == "step"
    }
    worst: dict[int, Step] = {}
    for step in steps:
        if step.path == plan["path"] and step.line:
            row = counts.setdefault(step.line, {})
            row[step.state] = row.get(step.state, 0) + 1
            before = worst.get(step.line)
            if before is None or rank[step.state] < rank[before.state]:
                worst[step.line] = step
    out = {}
    for line, row in counts.items():
        states = tuple(sorted(row.items(), key=lambda one: rank[one[0]])) or (("not reached", 0),)
        out[line] = (states, worst[line].number if line in worst else 0)
    return out


def _outline(depth: int, item: Instruction) -> str:
    name = item.get("tool") or item.get("name") or ""
    texts = sorted(
        (resolved(value, {}) for value in (item.get("args") or {}).values()),
        key=lambda text: "\n" in text,
    )
    args = " ".join(run_page.first(text) for text in texts)
    what = (
        name
        if item["op"] == "step"
        else f"{item['op']} {name}" + (" keep failures" if "keep" in item else "")
    )
    return "    " * depth + f"{what} {args}".rstrip()
