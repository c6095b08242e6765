"""`fdc knowledge`: indexes the workspace, and collects what it contains about a task (FDC-66)."""

from __future__ import annotations

import os
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ...console.options import flag_option, format_option, text_option
from ...console.terminal import say, say_json
from ...diagnostics.plural import plural
from ...exits import CLEAN, FINDINGS, UsageError, WorldError, reason
from ...report.terminal.terminal_text import visible
from ..shared.lifecycle_options import root_of, workspace_option

if TYPE_CHECKING:
    from ...tasks.symbols import Index


@click.group()
def command() -> None:
    """Index the workspace, and show what it contains about a task."""


@command.command()
@workspace_option
@flag_option("--check only_check", "Write nothing; exit 1 if the index is out of date.")
def build(workspace: str | None, only_check: bool) -> int:
    """Write knowledge_core/symbols.json and knowledge_core/dependency_graph.json.

    They contain the definitions and imports of the Python files. Equal files give equal bytes.
    """
    from ... import durable
    from ...tasks.symbols import GRAPH, SYMBOLS, graph_json, symbols_json

    root = root_of(workspace)
    found = indexed(root)
    code, files = CLEAN, {}
    for path, data in ((SYMBOLS, symbols_json(found)), (GRAPH, graph_json(found))):
        target = durable.inside(root, path)
        if durable.read(target, limit=1 << 30) == data:
            click.echo(f"{path} is up to date")
        elif only_check:
            say(f"{path} is not what `fdc knowledge build` writes", err=True)
            code = FINDINGS
        else:
            files[path] = data
    durable.replace_all({durable.inside(root, path): data for path, data in files.items()})
    for path in files:
        click.echo(f"{path} written")
    click.echo(
        f"{plural(len(found.files), 'file')}, {plural(len(found.symbols), 'symbol')}, {plural(len(found.edges), 'import')}"
    )
    for path, why in found.skipped:
        say(f"  skipped {visible(path)}: {visible(why)}", err=True)
    return code


@command.command()
@click.argument("goal")
@workspace_option
@text_option("--task-id", "ID", "Write the context to the log of this open task, as Phase 1.")
@format_option
def context(goal: str, workspace: str | None, task_id: str | None, form: str) -> int:
    """Show what the workspace contains about GOAL: its entities, what depends on them, their history."""
    root = root_of(workspace)
    try:
        made = context_for(root, goal)
    except ValueError as wrong:
        say(f"error: {wrong}", err=True)
        return FINDINGS
    if task_id is not None:
        _log(root, task_id, made)
    if form == "json":
        say_json(made)
    else:
        _show(made)
    return CLEAN


def indexed(root: str) -> Index:
    """The current index of the workspace's Python files."""
    from ...tasks.symbols import index
    from ...tools.files.documents import scan

    found = scan(root, code=True, repeated=True)
    files = {
        document.path: "\n".join(document.lines)
        for document in found.documents
        if document.path.endswith((".py", ".pyi"))
    }
    skipped = [
        (skip.path, skip.reason)
        for skip in found.skipped
        if skip.path.endswith((".py", ".pyi")) and skip.reason != "empty"
    ]
    return index(files, skipped)


def context_for(root: str, goal: str) -> dict[str, object]:
    """What the workspace contains about a goal. Raises ValueError for a damaged index, OSError."""
    from ... import durable
    from ...tasks import activity_log
    from ...tasks.symbols import GRAPH, SYMBOLS, read_edges, read_symbols
    from ...tasks.task_context import Known, context_of
    from ...tools.files.documents import scan

    def file(path: str) -> bytes | None:
        return durable.read(os.path.join(root, *path.split("/")), limit=1 << 30)

    symbols, edges = file(SYMBOLS), file(GRAPH)
    if symbols is None or edges is None:
        found = indexed(root)
        known = Known(found.symbols, found.edges)
    else:
        known = Known(read_symbols(symbols), read_edges(edges))
    documents = scan(root)
    return context_of(
        goal,
        known._replace(
            entries=activity_log.history(root).entries,
            postmortems={
                document.path: "\n".join(document.lines)
                for document in documents.documents
                if document.path.startswith("postmortems/")
            },
            documents={
                document.path: document.lines
                for document in documents.documents
                if not document.path.startswith("postmortems/")
            },
            skipped=[(skip.path, skip.reason) for skip in documents.skipped],
        ),
    )


def _log(root: str, task_id: str, made: dict[str, Any]) -> None:
    from ...tasks import activity_log
    from ...tasks.activity import entry, open_tasks

    task = next(
        (
            open_task
            for open_task in open_tasks(activity_log.content(root))
            if open_task.id == task_id
        ),
        None,
    )
    if task is None:
        raise UsageError(
            f"the task `{task_id}` is not open here; start one with `fdc start --task-id ID`"
        )
    kept = {**made, "documents": made["documents"][:10], "skipped": made["skipped"][:10]}
    item = entry(
        "INFO", {"context": kept}, task_id=task.id, phase=1, session_id=task.session,
        log_id=str(uuid.uuid4()), now=datetime.now().astimezone(), message="context of the task",
    )  # fmt: skip
    try:
        activity_log.append(root, item)
    except OSError as failed:
        raise WorldError(f"the activity log cannot be written: {reason(failed)}") from failed


def _show(made: dict[str, Any]) -> None:
    def block(title: str, rows: list[str], left_off: int) -> None:
        click.echo(f"{title}: {len(rows) + left_off or 'none'}")
        for row in rows[:20]:
            click.echo(f"  {visible(row)}")
        more = len(rows) + left_off - 20
        if more > 0:
            click.echo(f"  ... and {more} more (--format json)")

    off = made["left_off"]
    block("entities", [f"{row['path']}:{row['line']}  {row['kind']} {row['name']}" for row in made["entities"]],
          off.get("entities", 0))  # fmt: skip
    block(
        "impact",
        [f"{row['path']}  ({row['distance']} away)" for row in made["impact"]],
        off.get("impact", 0),
    )
    block("history", [_event(row) for row in made["history"]], off.get("history", 0))
    block(
        "documents",
        [f"{row['path']}:{row['line']}  {row['text']}" for row in made["documents"]],
        off.get("documents", 0),
    )
    click.echo(f"{made['documents_read']} documents read, {len(made['skipped'])} skipped")


def _event(row: dict[str, Any]) -> str:
    if "postmortem" in row:
        return f"{row['postmortem']}:{row['line']}  {row['text']}"
    why = f"  failed: {row['failed']}" if "failed" in row else ""
    return f"{row.get('when', '')}  {row.get('task', '')}  {row.get('action', '')} {row.get('path', '')}{why}"
