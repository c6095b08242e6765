"""`fdc mcp`: fdc as tools of an agent that speaks the Model Context Protocol."""

from __future__ import annotations

import os
import re
import secrets
import sys

import click

from ..console.options import flag_option, folder_named, port_option, port_refused, root_of
from ..console.terminal import say
from ..exits import CLEAN, UsageError, WorldError

MISSING = "`fdc mcp` needs the package of the protocol: `pip install 'fdc-toolchain[mcp]'`"


@click.command(
    epilog="Exit codes: 0 the client left (with --http: Ctrl-C), 2 wrong usage, 3 the port is taken or a package is missing."
)
@flag_option("--http", "Serve HTTP on loopback instead of stdin and stdout.")
@port_option("With --http: the port. [default: a free port]")
@click.option(
    "--workspace",
    metavar="DIR",
    callback=folder_named,
    help="The workspace. [default: the nearest above the current folder] Clients cannot leave it.",
)
def command(http: bool, port: int, workspace: str | None) -> int:
    """Serve fdc's tools to an agent: lint, fix, explain, run, tools, registry.

    Approvals and answers come from the person, through the agent's program or at a terminal; tools cannot give them. With
    --http every request needs a token: the value of FDC_MCP_TOKEN, or a new one, which is printed. Runs may do what
    the environment of this command allows, as with `fdc run`.
    """
    root = root_of(workspace)
    if port and not http:
        raise UsageError("`--port` needs `--http`")
    token, given = _token() if http else ("", False)
    try:
        from ..mcp_server import run_drives, server, transports
    except ModuleNotFoundError as absent:
        if (absent.name or "").split(".")[0] not in ("mcp", "uvicorn"):
            raise
        raise WorldError(MISSING) from absent
    from .main import _version

    drives = run_drives.Drives(root)
    made = server.made(drives, version=_version())
    if not http:
        if sys.stdin is not None and sys.stdin.isatty():
            say(
                "fdc mcp: waiting for a client on stdin; docs/mcp-and-hooks.md shows how to configure clients",
                err=True,
            )
        transports.on_stdio(made, drives.leave)
        return CLEAN
    try:
        opened = transports.listening(port)
    except OSError as failed:
        raise port_refused(port, failed) from failed
    with opened:
        click.echo(f"fdc mcp: http://127.0.0.1:{opened.getsockname()[1]}{transports.PATH}")
        click.echo(f"header: Authorization: Bearer {'$FDC_MCP_TOKEN' if given else token}")
        sys.stdout.flush()
        try:
            transports.on_http(made, opened, token, os._exit, drives.leave)
        except KeyboardInterrupt:
            click.echo("", err=True)
    return CLEAN


def _token() -> tuple[str, bool]:
    """The token, and whether it comes from the environment."""
    found = os.environ.pop("FDC_MCP_TOKEN", "")  # child processes do not need it
    if not found:
        return secrets.token_urlsafe(32), False
    if not re.fullmatch(r"[A-Za-z0-9._~+/=-]{32,512}", found):
        raise UsageError("FDC_MCP_TOKEN must have 32 to 512 letters, digits or `._~+/=-`")
    return found, True
