"""`fdc lsp`: the language server for editors."""

from __future__ import annotations

import click

from ...console.options import flag_option
from ...exits import CLEAN, WorldError


@click.command(
    epilog="Exit codes: 0 the editor ended it, 2 wrong usage, 3 the extra `lsp` is not installed."
)
@flag_option("--stdio", "Use standard input and output (always on; editors pass this option).")
def command(stdio: bool) -> int:
    """Serve plans to an editor over the Language Server Protocol, on standard input and output.

    Editors start it; docs/editors.md has their settings. It needs `pip install 'fdc-toolchain[lsp]'`.
    """
    import importlib.util

    if importlib.util.find_spec("pygls") is None:
        raise WorldError(
            "the language server needs the extra `lsp`: pip install 'fdc-toolchain[lsp]'"
        )
    from ... import resources
    from ...language_server.server import serve

    try:
        serve(resources.read("VERSION").decode("ascii").strip())
    except MemoryError:
        raise WorldError(
            "the editor's message does not fit into memory; no data was lost"
        ) from None
    return CLEAN
