"""`fdc registry`, which is also `plan_manager`: the registry of reusable plans (FDC-42 to FDC-45)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from ...agent.audit import registry as work
from ...console.options import folder_named, format_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, FINDINGS
from ...linking.project.root import find_root
from ...linking.registry import NAME_RULE, REGISTRY
from ..shared.findings import show

workspace_option = click.option(
    "--workspace",
    metavar="DIR",
    callback=folder_named,
    help="Work as if started in DIR; paths are relative to it.",
)


@click.group(
    epilog="Exit codes: 0 done, 1 refused or findings, 2 wrong usage, 3 the environment failed.",
)
@workspace_option
@click.pass_context
def command(ctx: click.Context, workspace: str | None) -> None:
    """Give plans names, so that other plans can call them by name."""
    ctx.obj = workspace


def _in_workspace(function: Callable[..., int]) -> Callable[..., int]:
    """Adds `--workspace` to a subcommand, and passes the folder of relative paths as `base`."""

    def inner(*, workspace: str | None, **arguments: Any) -> int:
        chosen = workspace if workspace is not None else click.get_current_context().obj
        return function(base=os.path.abspath(chosen or os.curdir), **arguments)

    inner.__doc__ = function.__doc__
    inner.__name__ = function.__name__
    return workspace_option(inner)


@command.command(epilog=f"A name consists of {NAME_RULE}.")
@click.argument("name")
@click.argument("path", type=click.Path())
@_in_workspace
def register(base: str, name: str, path: str) -> int:
    """Give the plan at PATH the name NAME."""
    from ... import api

    root = find_root(base)
    code = _told(work.register(root, name, path if base == root else os.path.join(base, path)))
    if code == CLEAN and api.check(os.path.join(base, path), workspace=root).errors:
        say(
            f"warning: the plan has errors, and plans that call it will have them too; run `fdc lint {path}`",
            err=True,
        )
    return code


@command.command()
@click.argument("name")
@_in_workspace
def deregister(base: str, name: str) -> int:
    """Take the name NAME away; the plan's file stays."""
    return _told(work.deregister(find_root(base), name))


@command.command("list")
@format_option
@_in_workspace
def list_(base: str, form: str) -> int:
    """List the registered names and their paths, sorted by name."""
    root = find_root(base)
    registry, findings = work.load(root)
    entries = sorted(registry.entries.items())
    if findings:
        show(findings)
    elif work.is_missing(root):
        say(f"warning: {REGISTRY} does not exist; it is read as empty", err=True)
    if form == "json":
        say_json({"plans": dict(entries)})
    elif entries:
        width = max(len(name) for name, _ in entries)
        for name, path in entries:
            click.echo(f"{name:<{width}} : {path}")
    elif not findings:
        click.echo("The plan registry is currently empty.")
    return FINDINGS if findings else CLEAN


@command.command()
@_in_workspace
def audit(base: str) -> int:
    """Check for dead links, hidden files and damage; exit 1 if there are any."""
    root = find_root(base)
    findings = work.audit(root)
    if findings:
        show(findings, err=False)
        click.echo(f"{len(findings)} finding{'s' * (len(findings) != 1)} in the plan registry")
        return FINDINGS
    count = len(work.load(root)[0].entries)
    click.echo(f"The plan registry has no errors: {count} plan{'s' * (count != 1)}.")
    return CLEAN


def _told(outcome: work.Outcome) -> int:
    show(outcome.findings)
    say(outcome.message if outcome.done else f"error: {outcome.message}", err=not outcome.done)
    return CLEAN if outcome.done else FINDINGS
