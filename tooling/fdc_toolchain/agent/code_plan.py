"""The plan of a run that has code written until the tests of the workspace pass, and the tools that it has of its own.

It is linted like any plan. No other plan sees these tools: what the test command runs is the settings' choice. A patch
whose writer may have been shown text from outside is answered only once a person approved it (`provenance`), so what it
changes is cleared; and so is whether tests pass, which decides no more than whether another patch is asked for.
"""

from __future__ import annotations

from ..linking.catalogue import tool_of
from ..program.model import Program, ToolRow
from ..tools.plans.plan_text import proved

KEY = "fdc:agent/generate_code.plan"

_ROUND = """{0}patch <- code.write {{files}} {{what}}{1}
{0}applied <- code.apply {{patch}} {{files}}
{0}tests <- code.test {{applied}}
"""
_BEGIN = """# FSM: tooling/fdc_fsm.json
# Has code written until the tests of the workspace pass: one try, and a bounded number of repairs.
param files
param what

set_plan Code
plan_step_complete begun
"""
_REPAIR = """require tests.failed != "settings" else "no test command is configured (`test-command` in fdc.toml)"
if tests.exit_code != 0
  iterate max {} until tests.exit_code == 0
"""
_END = """require tests.exit_code == 0 else "the code could not be written so that the tests pass"
close_task
submit
"""
TOOLS: dict[str, ToolRow] = {
    "code.write": {
        "summary": "a patch, as JSON, from the coder", "action": "tool_exec", "effect": "once", "trust": "model",
        "clears": ["message", "choice"],
        "parameters": [
            {"name": "files", "kind": "word", "sink": "data"}, {"name": "what", "kind": "word", "sink": "change"},
            {"name": "tests", "kind": "word", "required": False, "sink": "data"},
        ],
        "result": {"edits": "list", "refused": "text?"},
    },
    "code.apply": {
        "summary": "applies a patch, all of it or nothing", "action": "tool_exec", "effect": "idempotent",
        "trust": "workspace", "failure": "value", "writes": "unknown",
        "parameters": [{"name": "patch", "kind": "word", "sink": "change"}, {"name": "files", "kind": "word", "sink": "path"}],
        "result": {"paths": "list"},
    },
    "code.test": {
        "summary": "runs the workspace's test command", "action": "tool_exec", "effect": "once", "repeatable": True,
        "clears": ["message", "choice"],
        "trust": "workspace", "failure": "value", "writes": "unknown",
        "parameters": [{"name": "applied", "kind": "word", "sink": "data"}],
        "result": "object",
    },
}  # fmt: skip


def program(root: str, repairs: int) -> Program:
    """The program, for so many repairs. Raises ValueError where the workspace's settings are wrong."""
    text = _BEGIN + _ROUND.format("", "")
    if repairs:
        text += _REPAIR.format(repairs) + _ROUND.format("    ", " {tests}")
    proof = proved(
        root, KEY, text + _END, {name: tool_of(name, row) for name, row in TOOLS.items()}
    )
    if proof.program is None:
        raise ValueError(f"{KEY}: {'; '.join(proof.findings)}")
    return proof.program
