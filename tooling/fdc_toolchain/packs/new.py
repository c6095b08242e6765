"""Creates a small working pack from the template, with a test."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from ..durable import named
from ..exits import Refused, UsageError
from .index import index
from .shipped import core_automaton

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "template")
_END = ".template"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def write(name: str, folder: str, taken: set[str]) -> list[str]:
    """Writes the pack `name` into a folder that does not exist yet; returns its files, in order, by paths below it.

    `taken`: the names of the core's commands. Raises UsageError for a name that no pack can have, and Refused where
    the folder or the name is taken; then nothing is written. Raises OSError.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"`{name}` cannot be the name of a pack: use lower-case letters, digits and `_`, beginning with a letter"
        )
    packs = index().packs
    if name in packs or name in taken or any(name in pack.commands for pack in packs.values()):
        raise Refused(
            f"the name `{name}` is taken: `fdc help --all` lists the commands, `fdc pack list` the packs"
        )
    if core_automaton(name):
        raise Refused(
            f"the name `{name}` is taken by an automaton of fdc, and the pack has one of its name: choose another"
        )
    if os.path.lexists(folder):
        raise Refused(f"`{folder}` exists; choose a folder that does not exist")
    above = os.path.dirname(os.path.abspath(folder))
    os.makedirs(above, exist_ok=True)
    with named(folder):
        made = tempfile.mkdtemp(prefix=".fdc-pack-", dir=above)
        try:
            files = _fill(made, name)
            os.chmod(made, 0o777 & ~_umask())
            os.rename(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    return files


def _fill(made: str, name: str) -> list[str]:
    files = []
    for here, _, found in os.walk(TEMPLATE):
        for one in found:
            if not one.endswith(_END):
                continue
            path = os.path.relpath(os.path.join(here, one), TEMPLATE)
            target = path.removesuffix(_END).replace("NAME", name)
            with open(os.path.join(here, one), encoding="utf-8") as file:
                text = file.read().replace("NAME", name)
            os.makedirs(os.path.dirname(os.path.join(made, target)) or made, exist_ok=True)
            with open(os.path.join(made, target), "x", encoding="utf-8") as file:
                file.write(text)
            files.append(target)
    return sorted(files)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
