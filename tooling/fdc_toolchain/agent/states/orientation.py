"""ORIENTING (FDC-88): the cascade, the workspace's files, the latest post-mortem, its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...tasks.postmortem import OUTSIDE
from ..turn import Failed, Turn

Tools = Mapping[str, Callable[[], Iterable[object]]]


def orient(turn: Turn, tools: Tools | None) -> str:
    """Starts the task, and describes the workspace; returns the next state. Raises Failed."""
    state = turn.state
    started = turn.world.start(turn.task)
    if started.refused:
        raise Failed(started.refused)
    state.vm_capability_report = started.capabilities
    files = _listed(turn, tools)
    latest = turn.world.latest_postmortem(turn.task)
    documents = turn.world.documents()
    state.messages = [row for row in state.messages if row.get("role") != "system"]
    if files is None:
        state.say("system", "The workspace has more files than fdc lists.")
    else:
        state.say("system", f"The workspace has {len(files)} files: {', '.join(files[:200])}")
    if latest is not None and OUTSIDE in latest[1]:
        state.say(
            "system",
            f"The latest post-mortem, {latest[0]}, is not shown: its task had been shown text from outside.",
        )
    elif latest is not None:
        state.say("system", f"The latest post-mortem, {latest[0]}:\n{latest[1][:8000]}")
    details = {
        "files": None if files is None else len(files), "latest_postmortem": None if latest is None else latest[0],
        "documents": documents.number, "skipped": [list(row) for row in documents.skipped[:50]],
    }  # fmt: skip
    state.orientation_complete = True
    turn.log(0, "INFO", details, "SUCCESS", "oriented")
    return "PLANNING"


def _listed(turn: Turn, tools: Tools | None) -> Sequence[str] | None:
    tool = (tools or {}).get("list_files")
    if tool is None:
        turn.log(
            0,
            "INFO",
            {"tool": "list_files"},
            "SUCCESS",
            "the caller gave no list_files tool, so the controller lists the files",
        )
        return turn.world.list_files()
    try:
        return [str(path) for path in tool()]
    except (
        Exception
    ) as failed:  # the caller's tool may raise anything; the files can be listed without it
        said = f"{type(failed).__name__}: {failed}"
        turn.log(0, "TOOL_EXEC", {"tool": "list_files"}, "FAILURE", error=said[:400])
        return turn.world.list_files()
