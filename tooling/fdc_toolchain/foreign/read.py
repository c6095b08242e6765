"""Reads one file of another tool and checks it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..diagnostics.diagnostic import parted
from ..diagnostics.span import Span
from . import kinds
from .model import Found, Unreadable

if TYPE_CHECKING:
    from ..linking.project.settings import Settings

MOST_BYTES = 1 << 20
_INSTEAD = {"md": "\v", "markdown": "\v", "mdc": "\v", "yml": " ", "yaml": " "}


def text_of(path: str, data: bytes) -> str:
    """The text of a file as spans count in it. Raises Unreadable."""
    if len(data) > MOST_BYTES:
        reason = f"the file has {len(data)} bytes, more than {MOST_BYTES}"
        raise Unreadable(Span(path, 1, 1, 1, 2), reason)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise Unreadable(Span(path, line, 1, line, 2), f"line {line} is not UTF-8") from wrong
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    # a line of Markdown and YAML would end at a single return, and none of ours does; in a script it ends a comment
    return text.replace("\r", _INSTEAD.get(path.lower().rpartition(".")[2], "\r"))


def read(
    path: str, data: bytes, root: str, settings: Settings, said: str | None = None
) -> Found | None:
    """What is found in the file at `path` (from the workspace `root`), or None where it is not a plan that is known.

    `said` is the form of a file whose path and content do not tell it.
    """
    from ..check import settle

    try:
        text = text_of(path, data)
    except Unreadable as wrong:
        return Found("unreadable file", [wrong.finding], [], []) if _placed(path) else None
    kind = kinds.kind_of(path.replace(os.sep, "/"), text)
    kind = (said or kind) if kind in (None, kinds.MARKDOWN) else kind
    if kind is None:
        return None
    try:
        found = _read_as(kind, path, text, root, settings)
    except Unreadable as wrong:
        found = Found(kind, [wrong.finding], [], [])
    parts = parted(found.findings)
    settled = settle(settings, parts.findings, {})
    return found._replace(findings=[*settled, *parts.assumptions, *parts.fragments])


def _placed(path: str) -> bool:
    """Whether the place alone says that a file is a plan of another tool."""
    kind = kinds.kind_of(path.replace(os.sep, "/"), "")
    return kind in (kinds.WORKFLOW, kinds.OPENSPEC, kinds.KIRO, kinds.SPEC_WORKFLOW)


def _read_as(kind: str, path: str, text: str, root: str, settings: Settings) -> Found:
    if kind == kinds.WORKFLOW:
        from .workflow.check import read as workflow

        return workflow(path, text)
    if kind == kinds.SPEC_WORKFLOW:
        from .spec_workflow import read as spec_workflow

        return spec_workflow(path, text)
    if kind == kinds.TASK_MASTER:
        from .task_master import read as task_master

        return task_master(path, text)
    from .fences import read as fences

    plans = fences(path, text, root, settings)
    if kind == kinds.MARKDOWN:
        return plans
    from .checklist import read as checklist

    found = checklist(kind, path, text, root)
    return found._replace(findings=found.findings + plans.findings, plans=plans.plans)
