"""The files of a workspace copied to another folder, without what git ignores where they are too many otherwise."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator

from fdc_toolchain.api.files import Ignored
from fdc_toolchain.api.tools import ToolFailure

MOST_BYTES = 1 << 30
MOST_FILES = 100_000
LEFT_OUT = frozenset(
    ".git .hg .svn .fdc runs __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .hypothesis .cache node_modules".split()
)
"""Folders that no copy holds: histories, caches, runs. `node_modules` is linked."""


class _Size:
    """How many files something has, and bytes."""

    def __init__(self) -> None:
        self.files = self.bytes = 0

    def add(self, path: str) -> None:
        """Counts a plain file. Pipes, sockets and links count nothing."""
        if not os.path.islink(path) and os.path.isfile(path):
            self.files += 1
            self.bytes += os.path.getsize(path)

    def too_large(self) -> bool:
        """Whether it has more than a copy may have."""
        return self.files > MOST_FILES or self.bytes > MOST_BYTES

    def share(self) -> float:
        """How much of the room of a copy it takes."""
        return max(self.files / MOST_FILES, self.bytes / MOST_BYTES)


def copy_tree(root: str, into: str, wanted: Iterable[str] = ()) -> list[str]:
    """Copies a tree. Where it is too large for that, the largest files and folders that git ignores are left out, until the
    rest is not; none that holds one of the `wanted` files. Returns what was left out. Raises ToolFailure (`size`), OSError."""
    without = _too_much(root, {os.path.join(root, one) for one in wanted})
    for at, folders, names in _walk(root):
        here = os.path.normpath(os.path.join(into, os.path.relpath(at, root)))
        os.makedirs(here, exist_ok=True)
        for name in list(folders):
            source = os.path.join(at, name)
            if os.path.islink(source):
                os.symlink(os.readlink(source), os.path.join(here, name))
                folders.remove(name)
            elif source in without:
                folders.remove(name)
            elif _is_linked(source):
                os.symlink(source, os.path.join(here, name))
                folders.remove(name)
        for name in names:
            if os.path.join(at, name) not in without:
                _copy_file(os.path.join(at, name), os.path.join(here, name))
    return sorted(os.path.relpath(one, root) for one in without)


def copy_files(root: str, into: str, paths: Iterable[str]) -> None:
    """Copies some files, with the folders that they are in. Raises ToolFailure (`size`), OSError."""
    size = _Size()
    for path in paths:
        source, target = os.path.join(root, path), os.path.join(into, path)
        size.add(source)
        if size.too_large():
            raise _refusal("these files have")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _copy_file(source, target)


def _walk(root: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk`, without what no copy holds but a link."""
    for at, folders, names in os.walk(root):
        folders[:] = [
            one for one in folders if one not in LEFT_OUT or _is_linked(os.path.join(at, one))
        ]
        yield at, folders, names


def _is_linked(folder: str) -> bool:
    """Whether a copy always has a link to a folder in its place: what is installed there is used as it is."""
    return os.path.basename(folder) == "node_modules" or os.path.exists(
        os.path.join(folder, "pyvenv.cfg")
    )


def _too_much(root: str, wanted: set[str]) -> set[str]:
    """What git ignores and must be left out, so that the rest can be copied."""
    rules, kept = Ignored(root), _Size()
    parts: dict[str, _Size] = {}
    for at, folders, names in _walk(root):
        relative = os.path.relpath(at, root)
        rules.enter(relative)
        for name in list(folders):
            source = os.path.join(at, name)
            if os.path.islink(source) or _is_linked(source):
                folders.remove(name)
            elif rules(os.path.join(relative, name), True):
                parts[source] = _size_of(source)
                folders.remove(name)
        for name in names:
            source = os.path.join(at, name)
            if rules(os.path.join(relative, name), False):
                parts[source] = _Size()
                parts[source].add(source)
            else:
                kept.add(source)
        if kept.too_large():
            raise _refusal("the workspace has")
    without: set[str] = set()
    for one in parts.values():
        kept.files, kept.bytes = kept.files + one.files, kept.bytes + one.bytes
    for path, one in sorted(parts.items(), key=lambda row: (-row[1].share(), row[0])):
        if not kept.too_large():
            break
        if path in wanted or any(file.startswith(path + os.sep) for file in wanted):
            continue
        without.add(path)
        kept.files, kept.bytes = kept.files - one.files, kept.bytes - one.bytes
    if kept.too_large():
        raise _refusal("with the files that may be changed, the workspace has")
    return without


def _size_of(folder: str) -> _Size:
    size = _Size()
    for at, folders, names in _walk(folder):
        folders[:] = [one for one in folders if not _is_linked(os.path.join(at, one))]
        for name in names:
            size.add(os.path.join(at, name))
    return size


def _refusal(what: str) -> ToolFailure:
    most = f"{MOST_FILES:,} files or {MOST_BYTES >> 20:,} MB"
    return ToolFailure(
        "size",
        f"{what} more than {most} that git does not ignore: that is too large for the copy in which code is repaired; "
        "give a smaller folder with `--workspace`",
    )


def _copy_file(source: str, target: str) -> None:
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif os.path.isfile(source):  # no pipe, no socket
        shutil.copy2(source, target)
