"""`research.py`: gathers what stated constraints name (FDC-56): a file, a folder, a definition, a search, a page.

What is out of reach is said.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click
from fdc_toolchain.api.commands import CLEAN, FINDINGS, find_root, reason, say

__all__ = ["command", "execute_research_protocol", "main"]


def execute_research_protocol(constraints: Mapping[str, object], root: str | None = None) -> str:
    """Executes a piece of research that its constraints describe.

    Args:
        constraints: `target` (`local_filesystem`, `external_web`, `external_repository`, `knowledge_graph`), `scope` (`file`,
            `directory`, `narrow`, `broad`, `enrich`), and what these need: `path`, `query` or `url`.
        root: the workspace; the nearest one above the working directory otherwise.

    Returns:
        The file's text, the folder's files, one a line, what a search or the knowledge graph has, or the text of a page.
        Where that cannot be had, a sentence that begins with `Error: `; nothing is made up.
    """
    return _execute(constraints, root)[0]


def _execute(constraints: Mapping[str, Any], root: str | None) -> tuple[str, bool]:
    from fdc_toolchain.api.tasks import opened
    from fdc_toolchain.api.tools import Outcome, ToolFailure, WorldFailed

    from . import research_protocol

    if not isinstance(constraints, Mapping):
        return "Error: the constraints are not an object.", False
    try:
        with opened(find_root(".") if root is None else root) as context:
            found = research_protocol.execute_research_protocol(dict(constraints), context)
            return str(found.value if isinstance(found, Outcome) else found), True
    except (ToolFailure, WorldFailed) as failed:
        said = str(failed)
        return said if said.startswith("Error: ") else f"Error: {said}", False
    except OSError as failed:
        return f"Error: {reason(failed)}", False


@click.command()
@click.option(
    "--target",
    required=True,
    help="local_filesystem, external_web, external_repository or knowledge_graph.",
)
@click.option("--scope", default="", help="file or directory; narrow or broad; enrich.")
@click.option("--path", help="The file or folder.")
@click.option("--query", help="What to search the web for; the name or file to enrich.")
@click.option("--url", help="What to fetch.")
def command(target: str, scope: str, path: str | None, query: str | None, url: str | None) -> int:
    """Gather what the constraints name and print it."""
    given = {"path": path, "query": query, "url": url}
    stated = {key: value for key, value in given.items() if value is not None}
    text, found = _execute({"target": target, "scope": scope, **stated}, None)
    if found:
        click.echo(text)
        return CLEAN
    say(text, err=True)
    return FINDINGS


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    from fdc_toolchain.api.commands import run

    return run(sys.argv[1:] if argv is None else argv, lambda: command, "research")
