"""Output of `fdc agent` to a person, and the person's input: progress, waiting text, outcome, post-mortem."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ...console.terminal import say_json
from ...exits import CLEAN, FINDINGS, INTERRUPTED, PERSON, WORLD, UsageError
from ...linking.project import regular_file
from ...narrow import narrow
from ...report.terminal.terminal_text import visible
from ...runs.observer import Observer, Silent

if TYPE_CHECKING:
    from ...agent.master_control import MasterControlGraph
    from ...agent.state import AgentState

SHOWN_FINDINGS = 3
"""Maximum number of sentences shown of a research answer."""


class Talk:
    """Output for the user: lines of text, or one JSON object at the end."""

    def __init__(self, quiet: bool, form: str) -> None:
        self.quiet = quiet or form == "json"
        self.form = form

    def line(self, text: str) -> None:
        """Prints a line of progress."""
        if not self.quiet:
            for one in text.split("\n"):
                click.echo(visible(one))

    def steps(self) -> Observer:
        """The display of a run."""
        from ...console.terminal import style
        from ..shared.agent_progress import AgentLines, AgentQuiet

        if self.form == "json":
            return Silent()
        return AgentQuiet() if self.quiet else AgentLines(style())


def findings_lines(findings: dict[str, object]) -> list[str]:
    """The result of research for the planner: its first lines, and the path of the report (FDC-54)."""
    if not findings.get("answered"):
        return [f"  the research found no answer: {findings.get('why')}"]
    answer = narrow(findings["answer"], list)
    more = len(answer) - SHOWN_FINDINGS
    rows = [f"  {line}" for line in answer[:SHOWN_FINDINGS]] + (
        [f"  and {more} more"] if more > 0 else []
    )
    return [*rows, f"  report: {findings['report']}"]


def tell(graph: MasterControlGraph, state: AgentState, talk: Talk) -> int:
    """Prints the state of a task; returns the exit code."""
    notes = graph.notes(state)
    done = graph.finished and graph.current_state != "ERROR"
    codes = {
        "answer": PERSON,
        "approval": PERSON,
        "budget": PERSON,
        "broken": WORLD,
        "interrupted": INTERRUPTED,
    }
    code = CLEAN if done else FINDINGS if graph.finished else codes[graph.why_waiting]
    resume = f"fdc agent --resume {state.task_id}"
    held = notes.get("held") if graph.why_waiting == "approval" and not graph.finished else None
    if talk.form == "json":
        out: dict[str, Any] = {
            "task_id": state.task_id, "task": state.task, "state": graph.current_state,
            "run": notes.get("run"), "error": state.error, "waiting": None if graph.finished else graph.waiting or None,
            "postmortem": state.draft_postmortem_path, "research": state.research_findings or None,
            "report": state.final_report, "approval": held,
        }  # fmt: skip
        say_json(out)
        return code
    if done:
        for line in (state.final_report or "").split("\n"):
            click.echo(visible(line))
        click.echo(f"task {state.task_id}: {graph.current_state}")
    elif graph.finished:
        for line in (state.error or "no reason is on record").split("\n"):
            click.echo(
                f"error: {visible(line)}"
                if line == (state.error or "").split("\n")[0]
                else visible(line)
            )
        click.echo(f"task {state.task_id}: ERROR; start again with `{resume} --reorient`")
    else:
        click.echo(visible(graph.waiting or "waiting"))
        for line in _held(held, resume) if isinstance(held, dict) else ():
            click.echo(line)
        if (
            graph.current_state == "EXECUTING"
            and notes.get("run")
            and graph.why_waiting == "answer"
        ):
            click.echo(f"`fdc resume {notes['run']}` answers it")
        click.echo(f"task {state.task_id}: {graph.current_state}; `{resume}` goes on")
    return code


def _held(held: dict[str, Any], resume: str) -> list[str]:
    """A waiting text in full, with hidden characters escaped, as a person must see it before approval."""
    text = str(held["text"])
    size = len(text.encode("utf-8", "surrogatepass"))
    calls = [f"  it calls {visible(one)}" for one in held["calls"]]
    head = f"  {held['kind']}, {size} bytes, sha256 {held['sha256']}:"
    short = held["sha256"][:16]
    return [
        head, *(f"    | {visible(line)}" for line in text.split("\n")), *calls,
        f"`{resume} --approve {short}` approves exactly this text, `--decline {short}` returns it",
    ]  # fmt: skip


def plan_place(root: str, path: str) -> str:
    """The plan's path in the workspace. Raises UsageError for a path outside."""
    absolute = (
        os.path.abspath(path)
        if os.path.isabs(path) or os.path.exists(path)
        else os.path.join(root, path)
    )
    relative = os.path.relpath(absolute, root)
    if relative.startswith("..") or os.path.isdir(absolute):
        raise UsageError(f"`{path}` is not a path of a plan in the workspace {root}")
    return relative


def analysis_of(path: str | None, nothing: str | None) -> str | None:
    """A person's input to the post-mortem: a file, or the reason why nothing was learned."""
    from ...agent.retrospect import untaught

    if nothing is not None and not nothing.strip():
        raise UsageError("--nothing-learned needs a reason")
    if path is None:
        return None if nothing is None else untaught("", nothing)
    try:
        text = regular_file.read(path).decode("utf-8")
        return text if nothing is None else untaught(text, nothing)
    except UnicodeDecodeError as wrong:
        raise UsageError(f"`{path}` is not UTF-8 text") from wrong
    except FileNotFoundError as wrong:
        raise UsageError(f"`{path}` does not exist") from wrong
