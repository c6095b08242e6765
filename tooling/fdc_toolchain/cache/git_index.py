"""Git's index: which blob each file of a checkout was, and when it was that.

Only where git stores files byte for byte: a repository in which anything could convert line
ends, expand keywords or run a filter is not asked.
"""

from __future__ import annotations

import os
import struct

from ..linking.project import regular_file
from ..linking.project.stat_cache import Stamp

Index = dict[str, tuple[Stamp, bytes]]


def read_index(root: str) -> tuple[Index, int]:
    """The stamp (32 bits of size and inode) and blob id of each file, and when the index was written.

    Empty where `root` is not the top of a checkout, or where its index cannot be trusted byte for byte.
    """
    git = f"{root}/.git"
    if not _byte_for_byte(root, git) or not os.path.isfile(f"{git}/index"):
        return {}, 0
    try:
        with open(f"{git}/index", "rb") as file:
            data = file.read()
            written = os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return {}, 0
    entries = _entries(data)
    if any(name.endswith(".gitattributes") for name in entries):
        return {}, 0
    return entries, written


def tracked(root: str, path: str) -> bool:
    """Whether git tracks the file, or something in the folder, at `path`; whether it exists where git's index cannot be read."""
    try:
        data = regular_file.read(f"{root}/.git/index")
    except FileNotFoundError:
        return False
    except OSError:  # the `.git` of a linked work tree is a file
        return os.path.exists(os.path.join(root, path))
    entries = _entries(data)
    if not entries and data[8:12] != b"\0\0\0\0":
        return os.path.exists(os.path.join(root, path))
    return any(name == path or name.startswith(path + "/") for name in entries)


def _byte_for_byte(root: str, git: str) -> bool:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    if any(name.startswith(("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS")) for name in os.environ):
        return False
    attributes = (
        f"{root}/.gitattributes",
        f"{git}/info/attributes",
        f"{config}/git/attributes",
        "/etc/gitattributes",
    )
    if any(os.path.exists(path) for path in attributes):
        return False
    everywhere = os.environ.get("GIT_CONFIG_GLOBAL")
    mine = (
        (everywhere,) if everywhere is not None else (f"{config}/git/config", f"{home}/.gitconfig")
    )
    system = os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"
    for path in (f"{git}/config", *mine, system):
        if path == os.devnull:
            continue  # git's own word for none
        try:
            text = regular_file.read(path).lower()
        except FileNotFoundError:
            if path == f"{git}/config":
                return False
            continue
        except OSError:
            return False
        if any(
            word in text
            for word in (
                b"autocrlf",
                b"attributesfile",
                b"objectformat",
                b"include",
                b"worktreeconfig",
            )
        ):
            return False
    return True


def _entries(data: bytes) -> Index:
    if data[:4] != b"DIRC" or len(data) < 12:
        return {}
    version, count = struct.unpack_from(">II", data, 4)
    if version not in (2, 3):
        return {}
    entry = struct.Struct(">IIIIIIIIII20sH").unpack_from
    at = 12
    entries: Index = {}
    try:
        for _ in range(count):
            cs, cn, ms, mn, _, inode, mode, _, _, size, blob, flags = entry(data, at)
            start = at + 62 + (2 if flags & 0x4000 else 0)
            end = data.index(b"\0", start)
            if mode & 0o170000 == 0o100000 and not flags & 0x3000:
                stamp = (ms * 1_000_000_000 + mn, cs * 1_000_000_000 + cn, size, inode)
                entries[os.fsdecode(data[start:end])] = (stamp, blob)
            at += (end - at + 8) & ~7  # entries end with one to eight NULs, at a multiple of eight
    except (struct.error, ValueError):
        return {}
    return entries
