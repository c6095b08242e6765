"""The script `protocol_updater`: changes protocol sources. Programs use no other way (FDC-78 to FDC-80)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from ...agent.lessons.host import sources_of
from ...agent.lessons.protocol_updater import update
from ...console.options import text_option
from ...exits import CLEAN, FINDINGS, UsageError
from ..project.lessons import root_of, workspace
from ..shared.findings import show


@click.group(
    epilog="Exit codes: 0 done, or done before; 1 refused, with every file as it was; 2 wrong usage; 3 the environment failed.",
)
def command() -> None:
    """Change one field of one protocol source; `fdc protocols build` brings AGENTS.md up to date afterwards."""


def _shared(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        workspace,
        click.option(
            "--protocols-dir",
            "folder",
            metavar="DIR",
            type=click.Path(),
            help="The sources.  [default: protocols/]",
        ),
        text_option("--protocol-id", "ID", "The protocol's id.", required=True),
    ):
        function = option(function)
    return function


@command.command("add-tool")
@_shared
@text_option(
    "--tool-name", "TOOL", "A script's path, a plan tool, a Python function.", required=True
)
def add_tool(protocol_id: str, tool_name: str, folder: str | None, workspace: str | None) -> int:
    """Add a tool to the associated tools of a protocol."""
    return _told("add-tool", folder, workspace, protocol_id=protocol_id, tool_name=tool_name)


@command.command("deprecate-tool")
@_shared
@text_option("--tool-name", "TOOL", "The tool's name in the protocol.", required=True)
def deprecate_tool(
    protocol_id: str, tool_name: str, folder: str | None, workspace: str | None
) -> int:
    """Take a tool from the associated tools of a protocol."""
    return _told("deprecate-tool", folder, workspace, protocol_id=protocol_id, tool_name=tool_name)


@command.command("update-rule")
@_shared
@text_option("--rule-id", "ID", "The rule's id in the protocol.", required=True)
@text_option("--description", "TEXT", "The new description, in one line.", required=True)
def update_rule(
    protocol_id: str, rule_id: str, description: str, folder: str | None, workspace: str | None
) -> int:
    """Replace the description of a rule, and nothing else of it."""
    return _told(
        "update-rule",
        folder,
        workspace,
        protocol_id=protocol_id,
        rule_id=rule_id,
        description=description,
    )


def _told(what: str, folder: str | None, workspace: str | None, **parameters: Any) -> int:
    root = root_of(workspace)
    place = os.path.join(root, sources_of(root)) if folder is None else os.path.abspath(folder)
    if not os.path.isdir(place):
        raise UsageError(
            f"no folder `{folder or sources_of(root)}` with protocols exists; choose one with --source"
        )
    outcome = update(root, place, what, parameters)
    show(outcome.findings)
    click.echo(
        outcome.message if outcome.done else f"error: {outcome.message}", err=not outcome.done
    )
    return CLEAN if outcome.done else FINDINGS


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    from ..main import run

    return run(argv, command, "protocol_updater")
