"""What fdc found of packs: each that can be used, and of each that cannot, why."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from ..linking.catalogue_check import explain
from ..packs import shipped
from ..packs.beside import FILE
from ..packs.index import index
from ..packs.model import PREFIX
from ..tools.tool_rows import TOOLS
from .machine import Found


def examine(commands: Collection[str]) -> list[Found]:
    """One row for each pack, and one for each problem. A pack with a problem was asked for, and will not work.

    `commands`: the names of the core's own commands, which no pack may take.
    """
    found = index()
    good = [
        Found(f"pack: {pack.name}", "ok", pack.summary if pack.beside else pack.folder)
        for pack in found.packs.values()
    ]
    wrong = (*found.problems, *_taken(commands), *_data())
    return good + [Found("pack", "bad", said) for said in wrong]


def _taken(commands: Collection[str]) -> Iterator[str]:
    """A sentence for each name that a pack has and the core too: the core's is used."""
    for pack in index().packs.values():
        path = os.path.join(pack.folder, FILE)
        for kind, names, core in (
            ("commands", pack.commands, commands),
            ("tools", pack.tools, TOOLS),
        ):
            for name in names:
                if name in core:
                    yield f"{path}: `{kind}.{name}` is the core's already"


def _data() -> Iterator[str]:
    """A sentence for each file that a pack names and does not have, and for what is wrong in catalogues."""
    found = index()
    for name in (*found.catalogues, *found.automata.values(), *found.plans.values()):
        pack, _, inside = name.removeprefix(PREFIX).partition("/")
        path = os.path.join(found.packs[pack].folder, inside)
        data = shipped.read(name)
        if data is None:
            yield f"{path}: there is no such file, which `{FILE}` names"
        elif name in found.catalogues:
            for item in explain(data, path, frozenset(), {}):
                yield f"{path}:{item.span.line}: {item.message}"
