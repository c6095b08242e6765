"""Commands and options of fdc that only a person may give: they answer, approve, allow, accept, or remove what guards.

The hook that guards an agent's shell refuses them (`cli.hooks.guarded_calls`). A test goes through every option of every
command: each has to be declared here, or said there to be one that an agent may give.
"""

from __future__ import annotations

COMMANDS = ("answer", "trust", "mcp", "ui", "lessons settle")

_RUNS = ("run", "resume", "agent", "worker", "fork", "lint")

OPTIONS: dict[str, tuple[str, ...]] = {
    "--approve": (),
    "--decline": (),
    "--answer": (),
    "--assume": (),
    "--allow-network": (),
    "--allow-unsandboxed": (),
    "--allow-weak-sandbox": (),
    "--trust-settings": (),
    "--accept-older": (),
    "--trust": _RUNS,
    "--force": _RUNS,
    "--remove": ("init",),
    "--yes": ("pack install", "trust"),
    "--web": ("research", "lgtm"),
}
"""By option: the commands with which it is a person's; of those without any, with every command."""
