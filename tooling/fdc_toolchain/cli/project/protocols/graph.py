"""`fdc protocols graph`: protocols, rules, checks and tools as a graph, and its missing references (FDC-101, C-10)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from .... import durable
from ....console.options import choice_option, flag_option, text_option
from ....exits import CLEAN, FINDINGS, UsageError
from ....linking.project.root import find_root
from ....packs import shipped
from ....protocols.build import source_files
from ....protocols.load import RULE_FILES, load
from ...shared.findings import show

if TYPE_CHECKING:
    from ....protocols.compare.graph import World

_SUFFIXES = {
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".ttl": "turtle",
}


@click.command(
    epilog="Exit codes: 0 drawn, 1 a source has errors, 2 wrong usage, 3 the environment failed."
)
@click.option(
    "--source", metavar="DIR", type=click.Path(), help="The sources.  [default: protocols/]"
)
@choice_option(
    "--format form",
    ["mermaid", "dot", "graphml", "turtle"],
    "Default: by the suffix of -o, else mermaid.",
)
@text_option("-o --output", "FILE", "Write the graph to FILE instead of standard output.")
@flag_option("--check only_check", "Do not draw; exit 1 if a reference is missing.")
def command(source: str | None, form: str | None, output: str | None, only_check: bool) -> int:
    """Draw the references between protocols, rules, checks and tools.

    Missing references are listed on standard error: tools that no protocol names, rules whose check names a tool
    that their protocol does not name, and names of unknown tools.
    """
    from ....protocols.compare.graph import loose_ends, protocol_graph
    from ....protocols.compare.graph_forms import text_of

    root = find_root(os.curdir)
    folder = os.path.abspath(source) if source is not None else os.path.join(root, "protocols")
    if not os.path.isdir(folder):
        raise UsageError(
            f"no folder `{os.path.relpath(folder, root)}` with protocols exists; choose one with --source"
        )
    files = source_files(folder, root, RULE_FILES)
    sources, found = load(files)
    if any(item.severity == "error" for item in found):
        show(found)
        return FINDINGS
    world = world_of(root)
    loose = loose_ends(sources, files, world)
    show([*found, *loose])
    if only_check:
        return FINDINGS if any(item.severity == "warning" for item in loose) else CLEAN
    text = text_of(
        protocol_graph(sources, world),
        form or _SUFFIXES.get(os.path.splitext(output or "")[1].lower(), "mermaid"),
    )
    if output is None or output == "-":
        click.echo(text, nl=False)
    else:
        durable.output(output, text.encode("utf-8"))
    return CLEAN


def world_of(root: str) -> World:
    """What names of tools can refer to in a workspace."""
    import json

    from ....linking.catalogue import catalogues, read_catalogue
    from ....linking.project.settings import read_settings
    from ....protocols.compare.graph import World

    settings = read_settings(root)

    def data(path: str) -> bytes | None:
        parts = path.split("/")
        if ".." in parts or path.startswith("/") or "\0" in path or not path:
            return None
        try:
            return durable.read(os.path.join(root, *parts))
        except OSError:
            return None  # a folder, for example

    def read(path: str) -> str | None:
        found = data(path)
        return None if found is None else found.decode("utf-8", "replace")

    def ships(path: str) -> bool:
        return shipped.path(shipped.current(path)) is not None

    catalogue, found = read_catalogue(settings.catalogues, data)
    show(found)
    tools = dict.fromkeys(catalogue.tools, "")
    for path in (
        *catalogues(),
        *settings.catalogues,
    ):  # in a checkout of fdc, the shipped ones are the workspace's
        text = read(path)
        if text is not None and not any(
            item.span.path == path and item.severity == "error" for item in found
        ):
            tools.update(dict.fromkeys(json.loads(text.removeprefix("\ufeff"))["tools"], path))
    folder = os.path.join(root, "tooling")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    scripts = tuple(
        f"tooling/{name}" for name in names if name.endswith(".py") and not name.startswith("_")
    )
    return World(tools, scripts, read, ships)
