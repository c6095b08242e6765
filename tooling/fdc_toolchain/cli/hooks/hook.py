"""`fdc hook NAME`: one command for each hook, imported when it is used.

To add a hook: a file in this folder that defines `command` (read `hook_answer.py`), and a row in `HOOKS`.
"""

from __future__ import annotations

import click

from ...narrow import narrow
from ...packs.imported import imported

HOOKS: dict[str, tuple[str, str]] = {
    # name: (module in this room, one line)
    "claude-exit-plan": (
        "claude_exit_plan",
        "Claude Code leaves plan mode: lint the plans in its plan",
    ),
    "claude-pre-tool": (
        "claude_pre_tool",
        "Claude Code uses a tool: protect approvals and the files that control agents",
    ),
    "claude-workflow": (
        "claude_workflow",
        "Claude Code launches a workflow: refuse too many agents",
    ),
    "codex": ("codex", "Codex uses a tool: protect approvals and the files that control agents"),
}


class _Hooks(click.Group):
    """Hooks by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(HOOKS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        row = HOOKS.get(name)
        if row is None:
            return None
        return narrow(imported(f"fdc_toolchain.cli.hooks.{row[0]}", "command"), click.Command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Hooks"):
            formatter.write_dl([(name, line) for name, (_, line) in HOOKS.items()])


command = _Hooks(
    name="hook",
    help="Answer a hook of an agent's program: read its JSON from stdin, write the answer to stdout.\n\n"
    "`docs/mcp-and-hooks.md` has the settings to paste.",
    epilog="Exit codes: 0 answered, 2 wrong usage, 3 the environment failed, 4 a bug of fdc.",
)
