"""Counts the use of tools in a workspace's activity log (FDC-101). Pure: bytes in, counts out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..named_tuples import NamedTuple
from .activity import Entry, failed, faults, inner, open_tasks, read

_SCRIPT = re.compile(r"(?:^|[\s;&|(/])([A-Za-z0-9_-]+)\.py\b")
_FDC = re.compile(r"(?:^|[;&|(]\s*|/)(fdc|plan_manager)(?=\s)")


_STEPS = ("TOOL_EXEC", "FILE_READ", "FILE_WRITE")


class Use(NamedTuple):
    """How often a tool was used, how often it failed, and the first line of the log about it."""

    name: str
    used: int
    failed: int
    line: int


class Usage(NamedTuple):
    """A log, summed up. `damaged` and `invalid` are lines by number, the latter with what is wrong.

    `tools` are the tools of steps; `scripts` the programs that commands among them started, by their
    name without `.py`. `unclosed` are tasks with the line of their last TASK_START.
    """

    entries: int = 0
    damaged: tuple[int, ...] = ()
    invalid: tuple[tuple[int, str], ...] = ()
    tools: tuple[Use, ...] = ()
    scripts: tuple[Use, ...] = ()
    steps: int = 0
    failures: int = 0
    cited: int = 0
    tasks: int = 0
    unclosed: tuple[tuple[str, int], ...] = ()
    odd: tuple[tuple[int, str], ...] = ()
    """Entries whose type of action is not one of the schema; they are counted all the same."""
    nameless: int = 0
    """Entries about a step that name no tool."""


def usage(log: bytes) -> Usage:
    """Counts the entries of a log; lines that are not valid entries are listed by number, with the reason if there is one."""
    damaged: list[int] = []
    invalid: list[tuple[int, str]] = []
    odd: list[tuple[int, str]] = []
    tools: dict[str, list[int]] = {}
    scripts: dict[str, list[int]] = {}
    started: dict[str, int] = {}
    steps = failures = cited = entries = nameless = 0
    for number, raw in enumerate(log.split(b"\n"), 1):
        if not raw.strip():
            continue
        parsed = read(raw).entries
        if not parsed:
            damaged.append(number)
            continue
        item = parsed[0]
        wrong = faults(item)
        kind = inner(item, "action", "type")
        if len(wrong) == 1 and isinstance(kind, str) and wrong[0].startswith("$.action.type:"):
            odd.append((number, kind))
            wrong = []
        if wrong:
            invalid.append((number, wrong[0]))
            continue
        entries += 1
        broken = failed(item)
        failures += broken
        if kind == "TASK_START":
            started[str(inner(item, "task", "id"))] = number
        details = inner(item, "action", "details")
        details = details if isinstance(details, dict) else {}
        tool = details.get("tool") or details.get("tool_name")
        if not isinstance(tool, str) or not tool:
            nameless += kind in _STEPS or (number, kind) in odd
            for name in _implied(item):
                _count(scripts, name, number, broken)
            continue
        steps += 1
        cited += "evidence_citation" in item
        _count(tools, tool, number, broken)
        for name in _started(details):
            _count(scripts, name, number, broken)
    left = {task.id for task in open_tasks(log)}
    unclosed = tuple((task, number) for task, number in sorted(started.items()) if task in left)
    return Usage(
        entries,
        tuple(damaged),
        tuple(invalid),
        _uses(tools),
        _uses(scripts),
        steps,
        failures,
        cited,
        len(started),
        unclosed,
        tuple(odd),
        nameless,
    )


def _count(into: dict[str, list[int]], name: str, number: int, failed: bool) -> None:
    row = into.setdefault(name, [0, 0, number])
    row[0] += 1
    row[1] += failed


def _uses(rows: dict[str, list[int]]) -> tuple[Use, ...]:
    return tuple(Use(name, *row) for name, row in sorted(rows.items()))


def _implied(item: Entry) -> Iterable[str]:
    """The scripts that make entries of this type; only they may (FDC-12)."""
    action = inner(item, "action", "type")
    if action == "TASK_START":
        return ("fdc_cli", "environmental_probe")
    return ("fdc_cli",) if action == "TASK_END" else ()


def _started(details: dict[str, Any]) -> set[str]:
    """The scripts that a step's command starts. `fdc` is `fdc_cli`: the same program."""
    arguments = details.get("arguments") or details.get("parameters")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str):
        return set()
    scripts = set(_SCRIPT.findall(command))
    return scripts | {"fdc_cli" if name == "fdc" else name for name in _FDC.findall(command)}
