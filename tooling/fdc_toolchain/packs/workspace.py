"""Packs of a workspace: folders `packs/NAME/` with a `pack.toml`. They are data, and fdc imports nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ..named_tuples import NamedTuple
from .beside import FILE
from .model import PREFIX, Command, Pack, PackError, pack_of


class Local(NamedTuple):
    """The packs of a workspace by name, and the errors of those that cannot be used."""

    packs: dict[str, Pack]
    problems: tuple[PackError, ...]


NONE = Local({}, ())
"""A workspace without packs."""


def local(
    names: Iterable[str],
    read: Callable[[str], bytes | None],
    root: str,
    installed: Collection[str],
) -> Local:
    """The packs in the folders `names` below `packs/`. `read` gives the bytes under a path of the workspace at `root`.

    A function of such a pack is called `packs.NAME.MODULE:FUNCTION`, as any other of the workspace. No pack of a workspace takes
    the name of one that is installed.
    """
    packs: dict[str, Pack] = {}
    problems: list[PackError] = []
    for name in names:
        from .read import parsed

        path = f"{PREFIX}{name}/{FILE}"
        try:
            data = read(path)
            if data is None:
                raise PackError("it is not a regular file", path)
            document = parsed(data, path, data_only=True)
            if document["name"] != name:
                raise PackError(f"`name` must be `{name}`, the name of its folder", path, 1)
            if name in installed:
                raise PackError(f"a pack `{name}` is installed; remove one of them", path, 1)
        except PackError as wrong:
            problems.append(wrong)
            continue
        packs[name] = pack_of(document, f"{root}/{PREFIX}{name}", f"packs.{name}", False)
    return Local(packs, tuple(problems))


def commands(found: Local) -> dict[str, Command]:
    """The commands of a workspace's packs, by name; of two with one name the first."""
    out: dict[str, Command] = {}
    for pack in found.packs.values():
        for name, row in pack.commands.items():
            out.setdefault(name, row)
    return out
