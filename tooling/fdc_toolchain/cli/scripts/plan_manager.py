"""The console script `plan_manager`: `fdc registry` under the name that the seeds give it."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Runs `plan_manager register|deregister|list|audit`. Returns the exit code."""
    from ..main import run
    from ..project.registry import command

    return run(argv, command, name="plan_manager")
