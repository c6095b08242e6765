"""`fdc ui`: a local web page over all runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from ....console.options import (
    flag_option,
    port_option,
    port_refused,
    root_of,
    workspace_option,
)
from ....console.run_options import database_option, is_terminal
from ....console.terminal import say
from ....exits import CLEAN
from ....linking.project.protected import outside_path
from ....runs.interrupt import interruptible
from ....sandbox import python_process
from .database_runs import Database
from .workspace_runs import Workspace

if TYPE_CHECKING:
    from ....server.web import Server

_OPENED = 60.0
"""Time limit in seconds for a browser that fdc opens."""
_PRINTED = 300.0
"""Time limit in seconds for opening a printed address."""
_WHO = "if you did not open it, another user of this machine did: press Ctrl-C"


@click.command(epilog="Exit codes: 0 ended by Ctrl-C, 2 wrong usage, 3 the port is taken.")
@port_option("The port. [default: a free port]")
@flag_option("--no-open", "Only print the address.")
@database_option
@workspace_option
def command(port: int, no_open: bool, database: str | None, workspace: str | None) -> int:
    """Show all runs of the workspace, or of a database, live in a browser: reports, questions, approvals, resume.

    It listens on this machine only. A printed address works for one browser, once, within five minutes; at
    a terminal, Enter prints another. Runs that it
    resumes are separate processes with the environment of this one, and continue when it ends. Runs of a database are continued
    by its workers after an answer.
    """
    from ....server.web import Server

    root = root_of(workspace)
    served = Database(root, database) if database else Workspace(root)
    try:
        server = Server(served, port, lambda sentence: say(f"fdc ui: {sentence}; {_WHO}", err=True))
    except OSError as failed:
        raise port_refused(port, failed) from failed
    terminal = is_terminal() and sys.stdin.isatty()
    click.echo(
        f"fdc ui: {server.address(_PRINTED)}\n{'Enter prints another address, ' if terminal else ''}Ctrl-C ends it"
    )
    sys.stdout.flush()
    if terminal:
        threading.Thread(target=_print_more, args=(server,), daemon=True).start()
    with ExitStack() as stack:
        if not no_open and _graphical():
            made = tempfile.TemporaryDirectory(
                prefix="fdc-ui-", dir=_private(), ignore_cleanup_errors=True
            )
            _open(server, stack.enter_context(made))
        try:
            with interruptible():
                server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo("", err=True)
        finally:
            server.server_close()
    return CLEAN


def _print_more(server: Server) -> None:
    """Prints a new address for each Enter at the terminal: for another browser, or after the time limit."""
    for _ in sys.stdin:
        click.echo(f"fdc ui: {server.address(_PRINTED)}")
        sys.stdout.flush()


def _private() -> str | None:
    """The folder for a file of this session; None: the system's temporary folder."""
    found = os.environ.get("XDG_RUNTIME_DIR", "")
    return found if os.path.isdir(found) and os.access(found, os.W_OK | os.X_OK) else None


def _graphical() -> bool:
    """True if a graphical browser can be opened; a text browser would occupy the terminal."""
    return bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    )


def _open(server: Server, folder: str) -> None:
    """Opens a browser.

    Other users of this machine can read command lines. So the browser opens a private file that
    redirects to the one-time address; the file is deleted after use or after the time limit.
    """
    path = os.path.join(folder, "open.html")
    code = server.guard.code(_OPENED)
    url = f"http://127.0.0.1:{server.server_port}/?code={code}"
    page = f'<!doctype html><title>fdc</title><meta http-equiv="refresh" content="0; url={url}"><a href="{url}">fdc ui</a>\n'
    with open(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600),
        "w",
        encoding="ascii",
    ) as file:
        file.write(page)

    def forget() -> None:
        while server.guard.waits(code) and not server.over.wait(0.2):
            pass
        try:
            os.unlink(path)
        except OSError:
            return  # it was deleted with its folder

    def begin() -> None:
        argv = python_process.packages("-m", "webbrowser", f"file://{quote(path)}")
        inside = {**python_process.environment(), "PATH": outside_path()}
        subprocess.run(argv, env=inside, stdout=subprocess.DEVNULL, check=False)

    for work in (begin, forget):  # some browsers return only when they end
        threading.Thread(target=work, daemon=True).start()
