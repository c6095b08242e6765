"""The available packs, found once and then cached (`memory`)."""

from __future__ import annotations

import os
from functools import cache

from ..named_tuples import NamedTuple
from . import beside, memory
from .model import Command, Function, Pack, Page, pack_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLES = ("commands", "tools", "predicates", "pages", "automata", "plans", "moved")
"""What a pack brings by name. One name has one pack."""


class Index(NamedTuple):
    """The packs by name, what they bring, and one sentence for each pack that cannot be used."""

    packs: dict[str, Pack]
    problems: tuple[str, ...]
    commands: dict[str, Command]
    tools: dict[str, Function]
    predicates: dict[str, Function]
    pages: dict[str, Page]
    automata: dict[str, str]
    plans: dict[str, str]
    moved: dict[str, str]

    @property
    def catalogues(self) -> tuple[str, ...]:
        """The names of the catalogues of all packs."""
        return tuple(name for pack in self.packs.values() for name in pack.catalogues)

    @property
    def ours(self) -> frozenset[str]:
        """The catalogues that are shipped with fdc, which its tests check."""
        packs = [pack for pack in self.packs.values() if pack.beside]
        return frozenset(name for pack in packs for name in pack.catalogues)


@cache
def index() -> Index:
    """All packs, found once per process. An error in one pack does not affect the others."""
    kept = memory.load()
    if kept is None:
        stamps = {path: memory.stamp(path) for path in memory.roots()}
        rows, problems, files = _found()
        memory.store({**stamps, **files}, rows, problems)
        kept = rows, problems
    return _joined([pack_of(*row) for row in kept[0]], kept[1])


def _found() -> tuple[list[memory.Row], list[str], dict[str, memory.Stamp | None]]:
    """The arguments of `pack_of` for each pack that can be used, the problems, and the stamps of what was read."""
    from .find import beside as near
    from .find import candidates, installed
    from .model import PackError
    from .read import read

    rows: list[memory.Row] = []
    problems: list[str] = []
    stamps = {path: memory.stamp(path) for path in candidates()}
    folders: dict[str, str] = {}
    for place in (*near(), *installed()):
        if isinstance(place, PackError):
            problems.append(str(place))
            continue
        path = os.path.join(place.folder, beside.FILE)
        stamps[path] = memory.stamp(path)
        try:
            document = read(place.folder)
            first = folders.setdefault(str(document["name"]), place.folder)
            if first != place.folder:
                raise PackError(f"{path}: a pack `{document['name']}` already exists: {first}")
            if place.beside and document["name"] != os.path.basename(place.folder):
                raise PackError(f"{path}: `name` must be the name of its folder")
        except PackError as wrong:
            problems.append(str(wrong))
            continue
        rows.append((document, *place))
    return rows, problems, stamps


def _joined(packs: list[Pack], problems: list[str]) -> Index:
    """The contents of all packs. If two use the same name, the first has it, and the second is a problem."""
    said = list(problems)
    joined: dict[str, dict[str, Any]] = {}
    owners: dict[tuple[str, str], str] = {}
    for kind in TABLES:
        table = joined[kind] = {}
        for pack in packs:
            for name, row in getattr(pack, kind).items():
                owner = owners.setdefault((kind, name), pack.name)
                if owner == pack.name:
                    table[name] = row
                    continue
                path = os.path.join(pack.folder, beside.FILE)
                said.append(f"{path}: `{kind}.{name}` is already used by the pack `{owner}`")
    return Index({pack.name: pack for pack in packs}, tuple(said), **joined)
