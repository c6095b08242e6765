"""The script `protocol_compiler`: `fdc protocols` under the name that the seeds give it."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Runs `protocol_compiler build|check`. Returns the exit code."""
    from ..main import run
    from ..project.protocols.build import command

    return run(argv, command, name="protocol_compiler")
