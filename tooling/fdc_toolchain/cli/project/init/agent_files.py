"""The files of each agent: instructions, a skill and a hook, at the paths that the agent reads."""

from __future__ import annotations

import json

from ....named_tuples import NamedTuple
from .file_edits import Work, pointer, template
from .merged import JSON, with_hooks


class Agent(NamedTuple):
    """`instructions`: the file that the agent reads first, with `head` if fdc creates it; `skills`: its folder of skills;
    `hooks`: the file of its hooks; `wanted`: their entries; `commands`: the commands that identify them."""

    instructions: str
    head: str
    skills: str
    hooks: str
    wanted: dict[str, JSON]
    commands: tuple[str, ...]


def _claude(event: str, matcher: str, command: str, seconds: int) -> dict[str, JSON]:
    hook: JSON = {"type": "command", "command": command, "timeout": seconds}
    return {event: [{"matcher": matcher, "hooks": [hook]}]}


_COMMIT = "`fdc lint` does not pass in this repository: run it, and repair what it finds before the commit"
_ON_COMMIT = "if grep -q 'git commit' && ! fdc lint --quiet 1>&2; then printf '%s\\n' '{}'; fi"
"""A hook that reads an event on stdin and refuses a commit while a plan has errors."""

_CURSOR_REFUSAL = {"permission": "deny", "user_message": _COMMIT, "agent_message": _COMMIT}
_COPILOT_REFUSAL = {"permissionDecision": "deny", "permissionDecisionReason": _COMMIT}


def _shell(refusal: dict[str, str]) -> str:
    return _ON_COMMIT.replace("{}", json.dumps(refusal))


AGENTS: dict[str, Agent] = {
    "claude": Agent(
        "CLAUDE.md", "", ".claude/skills", ".claude/settings.json",
        {"hooks": {
            **_claude("PermissionRequest", "ExitPlanMode", "fdc hook claude-exit-plan", 60),
            **_claude("PreToolUse", "Bash|Edit|MultiEdit|NotebookEdit|Write", "fdc hook claude-pre-tool", 30),
        }},
        ("fdc hook claude-exit-plan", "fdc hook claude-pre-tool"),
    ),
    "codex": Agent(
        "AGENTS.md", "", ".agents/skills", ".codex/hooks.json",
        {"hooks": _claude("PreToolUse", "Bash|apply_patch|Edit|Write", "fdc hook codex", 30)},
        ("fdc hook codex",),
    ),
    "cursor": Agent(
        ".cursor/rules/fdc.mdc", "---\ndescription: How to write and prove plans here\nalwaysApply: true\n---\n",
        ".cursor/skills", ".cursor/hooks.json",
        {"version": 1, "hooks": {"beforeShellExecution": [{"command": _shell(_CURSOR_REFUSAL)}]}},
        ("fdc lint",),
    ),
    "copilot": Agent(
        ".github/copilot-instructions.md", "", ".github/skills", ".github/hooks/fdc.json",
        {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": _shell(_COPILOT_REFUSAL), "timeoutSec": 30}]}},
        ("fdc lint",),
    ),
}  # fmt: skip
"""By value of `--agent`."""


def wanted(work: Work, name: str, rules: str, test: str) -> None:
    """Plans the files of an agent. `rules`: the file that the rules are compiled into, empty where there is none."""
    agent = AGENTS[name]
    work.block(agent.instructions, instructions(name, rules), agent.head)
    work.new(skill(name), template("skill_of_plans.md", test))
    text = json.dumps(agent.wanted, indent=2)
    work.add(agent.hooks, lambda old: with_hooks(old, agent.wanted, agent.commands), text)


def skill(name: str) -> str:
    """The file of an agent's skill."""
    return f"{AGENTS[name].skills}/fdc-plan/SKILL.md"


def instructions(name: str, rules: str) -> str:
    """The block in the file that an agent reads first; `rules` as in `wanted`."""
    more = [f"`{skill(name)}` says how."]
    if name == "claude" and rules:
        more += ["", f"@{rules}"]
    return pointer(rules, *more)
