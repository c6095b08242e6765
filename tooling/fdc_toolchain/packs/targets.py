"""Where pip puts the files and programs of a distribution, which of them are there already, and which are fdc's own."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata

from ..exits import UsageError
from .beside import DISTRIBUTION, FOLDER, PACKAGE

_CORE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of fdc's own package."""


def of_member(name: str) -> str:
    """The path of a wheel's file after its installation. Raises UsageError for a name that no wheel has."""
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise UsageError(f"this is not a wheel: it has a file `{name}`")
    if not parts[0].endswith(".data") or len(parts) < 3:
        return os.path.join(sysconfig.get_path("purelib"), *parts)
    if parts[1] not in ("purelib", "platlib", "scripts", "headers", "data"):
        raise UsageError(f"this is not a wheel: it has a file `{name}`")
    scheme = "include" if parts[1] == "headers" else parts[1]
    return os.path.join(sysconfig.get_path(scheme), *parts[2:])


def of_program(name: str) -> str:
    """The path of a program that pip makes. Raises UsageError for a name that is a path."""
    if name in ("", ".", "..") or not {"/", "\\", "\0"}.isdisjoint(name):
        raise UsageError(f"`{name}` is not the name of a program")
    return os.path.join(sysconfig.get_path("scripts"), name)


def shown(target: str) -> str:
    """A target as messages show it: from the folder of packages, else from the top of the environment."""
    for top in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sys.prefix):
        if target.startswith(f"{top}/"):
            return target[len(top) + 1 :]
    return target


def of_fdc(target: str) -> bool:
    """Whether a target is a file of fdc, or is where Python would look for one. Upper and lower case count as the same."""
    path = target.casefold()
    tops = [sysconfig.get_path(one) for one in ("purelib", "platlib")]
    folders = [_CORE, FOLDER]
    folders += [
        os.path.join(top, name) for top in tops for name in (os.path.basename(_CORE), PACKAGE)
    ]
    begins = [os.path.join(top, f"{DISTRIBUTION.replace('-', '_')}-") for top in tops]
    if path in (one.casefold() for one in folders) or path.startswith(
        tuple(f"{one}/".casefold() for one in folders) + tuple(one.casefold() for one in begins)
    ):
        return True
    return path in (of_program(name).casefold() for name in _programs())


def _programs() -> set[str]:
    """The names of fdc's programs in this environment."""
    package = os.path.basename(_CORE)
    found = metadata.entry_points(group="console_scripts")
    return {"fdc", *(one.name for one in found if one.module.partition(".")[0] == package)}


def told(targets: Iterable[str], packages: Iterable[str], own: str) -> Iterator[str]:
    """Lines about targets: what is replaced, and what is installed beside the packages of packs.

    `packages`: the paths of those, with a `/` behind. `own`: the name of the distribution, whose installed files do not count.
    Of a new folder only its name is told.
    """
    mine = _installed(own)
    homes = tuple(packages)
    replaced, added = set(), set()
    for target in targets:
        if os.path.lexists(target):
            if os.path.realpath(target) not in mine:
                replaced.add(shown(target))
        elif not target.startswith(homes) and not _about(target):
            added.add(shown(_new(target, homes)))
    yield from (f"replaces `{name}`" for name in sorted(replaced))
    yield from (f"also installs `{name}`" for name in sorted(added))


def _about(target: str) -> bool:
    """Whether a file is about a distribution, and nothing imports or runs it."""
    top = shown(target).partition("/")[0]
    return top.endswith(".dist-info")


def _new(target: str, homes: tuple[str, ...]) -> str:
    """The topmost part of a path that is not there yet, and that has no package of a pack in it."""
    at = target.find("/", 1)
    while at > 0:
        above = target[:at]
        if not os.path.lexists(above) and not any(home.startswith(f"{above}/") for home in homes):
            return above
        at = target.find("/", at + 1)
    return target


def _installed(name: str) -> set[str]:
    """The paths of the files of an installed distribution."""
    try:
        files = metadata.distribution(name).files or []
    except (metadata.PackageNotFoundError, ValueError):
        return set()
    return {os.path.realpath(str(file.locate())) for file in files}
