"""Shipped files by name: fdc's own (`resources`) and those of packs, in a checkout, installed, and under their old names.

A file of a pack is called `packs/NAME/PATH`, wherever the pack lies. What an older fdc shipped elsewhere is found under that
name too, as packs say (`renamed.files`): plans, programs and journals name such files.
"""

from __future__ import annotations

import os

from .. import resources
from .beside import FOLDER
from .index import index
from .model import PREFIX


def current(name: str) -> str:
    """The name today of what is shipped, or was, under a name; any other name as it is."""
    if name.startswith(PREFIX) or resources.exists(name):
        return name
    moved = index().moved
    old = max((one for one in moved if name.startswith(one)), key=len, default="")
    new = moved[old] + name.removeprefix(old) if old else name
    return new if path(new) is not None else name


def path(name: str) -> str | None:
    """Where the file of a name of today is, or None where no such file is shipped."""
    if not name.startswith(PREFIX):
        return resources.path(name) if resources.exists(name) else None
    pack, _, inside = name.removeprefix(PREFIX).partition("/")
    found = index().packs.get(pack)
    if found is None or ".." in inside.split("/") or inside.startswith("/") or "\0" in inside:
        return None
    place = os.path.join(found.folder, *inside.split("/"))
    return place if os.path.isfile(place) else None


def in_checkout(name: str) -> str | None:
    """The path from the top of fdc's own checkout of a file of a pack beside fdc: there it is a file of the workspace."""
    pack, _, inside = name.removeprefix(PREFIX).partition("/")
    found = index().packs.get(pack) if name.startswith(PREFIX) else None
    if found is None or not found.beside or path(name) is None:
        return None
    folder = os.path.relpath(found.folder, resources.ROOT).replace(os.sep, "/")
    return f"{folder}/{inside}"


def core_automaton(name: str) -> bool:
    """Whether `use fsm NAME` names an automaton of fdc's own, which no pack may use."""
    return any(resources.exists(f"tooling/{name}{end}") for end in ("_fsm.json", ".json"))


def pack_of(name: str) -> str | None:
    """The pack whose file has a name, or a path in a checkout of fdc, or None; the pack may not be there."""
    beside = os.path.relpath(FOLDER, resources.ROOT).replace(os.sep, "/")
    for above in (PREFIX, f"{beside}/"):
        pack, found, _ = name.removeprefix(above).partition("/")
        if name.startswith(above) and found:
            return pack
    return None


def read(name: str) -> bytes | None:
    """The bytes of a shipped file under its name or an old one; None where there is none."""
    place = path(current(name))
    if place is None:
        return None
    with open(place, "rb") as file:
        return file.read()
