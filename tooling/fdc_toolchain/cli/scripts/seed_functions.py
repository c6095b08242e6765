"""The public functions of the scripts in tooling/, by the names that the seeds give them.

Each is a command of fdc in the workspace above the current folder; the ones that act return its exit code. What would
write a whole registry or a whole file of lessons is not here: these files change by commands, which lose nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..main import main
from ..project.lessons import root_of


def start_task(task_id: str) -> int:
    """Begins a task: orientation, then TASK_START in the log."""
    return main(["start", "--task-id", task_id])


def close_task(task_id: str) -> int:
    """Ends a task: its post-mortem, then TASK_END in the log."""
    return main(["close", "--task-id", task_id])


def validate_plan(plan_filepath: str) -> int:
    """Follows a plan through its automaton, line by line."""
    return main(["validate", plan_filepath])


def analyze_plan(plan_filepath: str, return_results: bool = False) -> int | dict[str, str]:
    """Says how complex a plan is; with `return_results` its `complexity_class`, P or EXP, and its `modality` (FDC-13)."""
    if not return_results:
        return main(["analyze", plan_filepath])
    from ...runs.cost.figures import figures

    found, _ = figures(plan_filepath, root_of(None))
    hard = str(found["complexity"]).startswith("Exponential")
    return {"complexity_class": "EXP" if hard else "P", "modality": str(found["modality"])}


def get_registry() -> dict[str, str]:
    """The registry of plans: names and paths."""
    from ...agent.audit.registry import load

    return dict(load(root_of(None))[0].entries)


def register_plan(name: str, path: str) -> int:
    """Gives a plan a name."""
    return main(["registry", "register", name, path])


def deregister_plan(name: str) -> int:
    """Takes a name away."""
    return main(["registry", "deregister", name])


def list_plans() -> int:
    """Prints the registry."""
    return main(["registry", "list"])


def find_protocol_file(protocol_id: str) -> str | None:
    """The source of a protocol, None where there is none (FDC-80)."""
    from ...agent.lessons.host import sources_of
    from ...agent.lessons.protocol_updater import sources
    from ...protocols.load import load

    root = root_of(None)
    found = load(sources(root, sources_of(root)))[0].protocols
    return next((one.path for one in found if one.body["protocol_id"] == protocol_id), None)


def add_tool_to_protocol(protocol_id: str, tool_name: str) -> int:
    """Adds a tool to a protocol (FDC-78)."""
    from . import protocol_updater

    given = ["--protocol-id", protocol_id, "--tool-name", tool_name]
    return protocol_updater.main(["add-tool", *given])


def update_rule_in_protocol(protocol_id: str, rule_id: str, new_description: str) -> int:
    """Gives a rule another description (FDC-79)."""
    from . import protocol_updater

    given = ["--protocol-id", protocol_id, "--rule-id", rule_id, "--description", new_description]
    return protocol_updater.main(["update-rule", *given])


def generate_suggestion_plan(filepath: str, diff_content: str) -> str:
    """Writes the plan of one step that makes a change of code; its path (FDC-84)."""
    from ...agent.lessons.code_suggester import suggest

    root = root_of(None)
    return os.path.join(root, suggest(root, filepath, diff_content))


def load_lessons() -> list[dict[str, object]]:
    """The lessons on record."""
    from ...agent.lessons.lessons_file import load

    return load(root_of(None)).lessons


def process_lessons() -> int:
    """Applies the pending lessons, and builds AGENTS.md again (FDC-81)."""
    return main(["lessons", "apply"])


def format_lesson_entry(
    metadata: Mapping[str, str], lesson: Mapping[str, object]
) -> dict[str, object]:
    """A lesson as it is put on record, pending (FDC-72)."""
    from ...agent.lessons.lessons import made
    from ...tasks.postmortem import Found, Postmortem

    action = lesson["action"]
    one = Found(1, str(lesson["insight"]), action if isinstance(action, dict) else {})
    return made(Postmortem(metadata["task_id"], metadata["date"], (one,)), "")[0]
