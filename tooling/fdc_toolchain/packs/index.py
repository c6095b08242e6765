"""The packs that there are, looked for once and then remembered in the cache.

What is remembered rests on the times of the folders of the import path (installing a distribution changes one of them), of
the folder beside fdc and of every `pack.toml`. Looking at these takes a tenth of a millisecond; reading entry points and
TOML would take longer than a whole `fdc lint` whose verdict is known.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any, NamedTuple

from .. import cachedir
from . import beside
from .model import Command, Function, Pack, Page, pack_of

try:
    from _sha1 import sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # pragma: no cover - an interpreter built without it
    from hashlib import sha1

_FOLDER = "pack_index"
_MOST = 16
_Stamp = tuple[int, int, int] | None
_HERE = os.path.dirname(os.path.abspath(__file__))


class Index(NamedTuple):
    """The packs by name, what they bring, and one sentence for each pack that cannot be used."""

    packs: dict[str, Pack]
    problems: tuple[str, ...]
    commands: dict[str, Command]
    tools: dict[str, Function]
    predicates: dict[str, Function]
    pages: dict[str, Page]


@cache
def index() -> Index:
    """All packs, looked for once in a process. What is wrong with one never stops the others."""
    roots = [_HERE, beside.FOLDER, *sys.path]
    name = f"{_FOLDER}/{sha1(repr(roots).encode('utf-8', 'surrogateescape')).hexdigest()}"
    kept: Any = cachedir.load(name)
    if isinstance(kept, tuple) and len(kept) == 3:
        stamps, rows, problems = kept
        if all(_stamp(path) == was for path, was in stamps.items()):
            return _joined([pack_of(*row) for row in rows], problems)
    stamps = {path: _stamp(path) for path in (*roots, *_readers())}
    rows, problems, files = _found()
    stamps.update(files)
    cachedir.store(name, (stamps, rows, problems))
    cachedir.prune(_FOLDER, _MOST)
    return _joined([pack_of(*row) for row in rows], problems)


def _readers() -> list[str]:
    """The code that what is remembered was read by."""
    return [os.path.join(_HERE, name) for name in ("read.py", "find.py", "index.py")]


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path or ".")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _found() -> tuple[list[tuple[Any, ...]], list[str], dict[str, _Stamp]]:
    """The arguments of `pack_of` for each pack that can be used, the problems, and the stamps of what was read."""
    from .find import beside as near
    from .find import candidates, installed
    from .model import PackError
    from .read import read

    rows: list[tuple[Any, ...]] = []
    problems: list[str] = []
    stamps = {path: _stamp(path) for path in candidates()}
    folders: dict[str, str] = {}
    for place in (*near(), *installed()):
        if isinstance(place, PackError):
            problems.append(str(place))
            continue
        path = os.path.join(place.folder, beside.FILE)
        stamps[path] = _stamp(path)
        try:
            document = read(place.folder)
            first = folders.setdefault(document["name"], place.folder)
            if first != place.folder:
                raise PackError(f"{path}: a pack `{document['name']}` is there already: {first}")
            if place.beside and document["name"] != os.path.basename(place.folder):
                raise PackError(f"{path}: `name` must be the name of its folder")
        except PackError as wrong:
            problems.append(str(wrong))
            continue
        rows.append((document, *place))
    return rows, problems, stamps


def _joined(packs: list[Pack], problems: list[str]) -> Index:
    """What all packs bring together. Of two that bring one name, the first has it, and the other is a problem."""
    said = list(problems)
    joined: dict[str, dict[str, Any]] = {}
    owners: dict[tuple[str, str], str] = {}
    for kind in ("commands", "tools", "predicates", "pages"):
        table = joined[kind] = {}
        for pack in packs:
            for name, row in getattr(pack, kind).items():
                owner = owners.setdefault((kind, name), pack.name)
                if owner == pack.name:
                    table[name] = row
                    continue
                path = os.path.join(pack.folder, beside.FILE)
                said.append(f"{path}: `{kind}.{name}` is the pack `{owner}`'s already")
    return Index({pack.name: pack for pack in packs}, tuple(said), **joined)
