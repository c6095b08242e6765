"""What a command looked at, so that the next one knows at once whether looking again would show anything else.

The first and cheapest answer of `fdc lint`: every file that mattered has the times, size and
inode that it had, every folder that was searched lists the same names, every path that was
asked for is still there or still is not, and no pack was installed, changed or removed.
Nothing is read for that, and nothing is imported. Where any of it has changed, the caches that
go by content decide (`cache.verdicts`).
"""

from __future__ import annotations

import os
import sys
import time

from ... import cachedir, resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .obeyed import Leads

try:
    from _sha1 import sha1 as sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # pragma: no cover - an interpreter built without it
    from hashlib import sha1 as sha1

Stamp = tuple[int, int, int, int]
"""Times of the last change of content and of inode in nanoseconds, size, inode."""

MOST = 256
"""Memories kept in all; the oldest go first."""

_FOLDER = "seen"


NO_FILE: Stamp = (0, 0, -1, 0)
"""The stamp of what is there and is not a regular file, or cannot be looked at. No later stamp is taken for the same."""


def stamp(path: str) -> Stamp | None:
    """The stamp of the regular file at a path, None where there is nothing, or NO_FILE."""
    try:
        info = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError:
        return NO_FILE
    if info.st_mode & 0o170000 != 0o100000:
        return NO_FILE
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)


def settled(found: Stamp, since: int) -> bool:
    """True where no write that leaves this stamp can come after `since`, or come to be known only then.

    Two writes within the grain of a file system's clock may leave the same times. Where times
    have no fraction of a second, the grain may be two seconds.
    """
    latest = max(found[0], found[1])
    return latest < since - (200_000_000 if found[0] % 1_000_000_000 else 2_000_000_000)


def lasting(stamps: dict[str, Stamp | None], since: int) -> bool:
    """True where none of these files may yet change behind its stamp."""
    return all(found is None or settled(found, since) for found in stamps.values())


class Seen:
    """The folders that a search listed, and the files that it read or passed over, as they were before.

    `others` are texts among them that a search does not take for plans, whatever is in them; `of_others` are the keys of
    files that may be plans of other tools. `began` is when the command began, in nanoseconds (None: now).
    """

    __slots__ = ("began", "folders", "files", "others", "of_others")

    def __init__(self, began: int | None = None) -> None:
        self.began = time.time_ns() if began is None else began
        self.folders: dict[str, tuple[Stamp | None, tuple[str, ...]]] = {}
        self.files: dict[str, Stamp | None] = {}
        self.others: list[str] = []
        self.of_others: list[str] = []

    def file(self, path: str) -> None:
        """Notes a file that decides, by its content or its absence, what is found."""
        self.files[path] = stamp(path)

    def lasting_folders(self) -> dict[str, tuple[Stamp | None, tuple[str, ...] | None]]:
        """The folders, without the listing where the stamp alone tells of every change."""
        devices = _devices_that_keep_times()
        out: dict[str, tuple[Stamp | None, tuple[str, ...] | None]] = {}
        for path, (found, names) in self.folders.items():
            enough = found is not None and found[2] in devices and settled(found, self.began)
            out[path] = (found, None if enough else names)
        return out


def folder_stamp(path: str) -> Stamp | None:
    """As `stamp`, for a folder, with its device in place of its size."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_dev, info.st_ino)


PROTOCOLS = (".protocol.json", ".protocol.yaml", ".protocol.yml")
"""How the names of protocol sources end."""

PACK = "pack.toml"
"""The name of the file that says what a pack brings."""

RIGHT_BELOW = "/."
"""How the path of a folder ends of which only the folders right below count."""

LED_TO = "./->"
"""What stands behind the path of a workspace of which counts where its links and the settings of git lead (`obeyed`)."""


def leads_of(folder: str) -> Leads:
    """Where the links of a workspace lead, by its path with `LED_TO`, without what its settings say beside the lists."""
    from .obeyed import Leads

    return Leads(folder.removesuffix("/" + LED_TO), whole=False)


def walked(folder: str) -> Iterator[tuple[str, list[str]]]:
    """The folders that `listing` looks into, and the names of their files."""
    if folder.endswith("/" + LED_TO):
        yield from ((here, []) for here in leads_of(folder).folders)
    for here, folders, names in os.walk(folder):
        folders.sort()
        if here != folder and folder.endswith(RIGHT_BELOW):
            folders.clear()
        yield here, names


def listing(folder: str) -> bytes | None:
    """The protocol sources below a folder, one a line, by their paths from it; None where the folder does not exist.

    Of a folder whose path ends with `/.` the packs: each `pack.toml` in a folder right below.

    It stands as the content of the key that is the folder's with a `/` behind it: what was found by
    looking for sources holds while the list is the same (and the sources, which are files like others).
    """
    if folder.endswith("/" + LED_TO):
        leads = leads_of(folder)
        rows = [
            *(f"write {one}" for one in leads.protect),
            *(f"read {one}" for one in leads.secret),
        ]
        return "\n".join(rows).encode("utf-8", "surrogateescape")
    if not os.path.isdir(folder):
        return None
    found = []
    wanted = PROTOCOLS if not folder.endswith(RIGHT_BELOW) else (PACK,)
    for here, names in walked(folder):
        start = here[len(folder) + 1 :] + "/" if here != folder else ""
        found += [start + name for name in names if name.endswith(wanted)]
    return "\n".join(sorted(found)).encode("utf-8", "surrogateescape")


def _devices_that_keep_times() -> set[int]:
    """The devices of file systems of this machine that are known to change a folder's times with its listing."""
    found: set[int] = set()
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            for line in file:
                words = line.split()
                if words[words.index(b"-") + 1] in (
                    b"ext2",
                    b"ext3",
                    b"ext4",
                    b"xfs",
                    b"tmpfs",
                    b"overlay",
                ):
                    major, minor = words[2].split(b":")
                    found.add(os.makedev(int(major), int(minor)))
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    return found


_identity: dict[str, str] = {}


def tool_identity() -> str:
    """What the verdicts of this fdc rest on besides files of the workspace: which fdc it is, looked at once in a process.

    A wheel is known by its record, which lists the digest of every file in it, wherever and
    whenever it was installed; a checkout by the times of its code.
    """
    found = _identity.get(resources.ROOT)
    if found is None:
        found = _identity[resources.ROOT] = _identified()
    return found


def _identified() -> str:
    version = resources.read("VERSION").decode("ascii", "replace").strip()
    package = os.path.dirname(os.path.abspath(resources.__file__))
    if os.path.dirname(resources.ROOT) == package:
        try:
            with open(f"{package}-{version}.dist-info/RECORD", "rb") as file:
                return version + sha1(file.read()).hexdigest()
        except OSError:
            return f"{version} {stamp(resources.path('VERSION'))}"
    parts = [version]
    for folder in ("tooling", "grammar", "plans/library"):
        for here, folders, names in os.walk(os.path.join(resources.ROOT, *folder.split("/"))):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in names:
                info = os.stat(os.path.join(here, name))
                parts.append(f"{name}{info.st_mtime_ns}{info.st_size}")
    return "\n".join(sorted(parts))


def name_of(root: str, paths: list[str], options: str) -> str:
    """The name under which what these words made fdc see, here, is remembered."""
    words = "\0".join((tool_identity(), root, os.getcwd(), options, *sys.path, *paths))
    return f"{_FOLDER}/{sha1(words.encode('utf-8', 'surrogateescape')).hexdigest()}"


def recall(name: str, stamps: dict[str, Stamp] | None = None) -> Any:  # noqa: C901
    """What was kept under a name, if all that it rests on is as it was; otherwise None.

    Then `stamps` learns those of files that were looked at and found as they were: no one has to look again.
    """
    stored = cachedir.load(name)
    if not isinstance(stored, tuple) or len(stored) != 5:
        return None
    files, folders, present, absent, kept = stored
    stat, lstat = os.stat, os.lstat
    try:
        for path, was in folders.items():
            if (
                folder_stamp(path) != was[0]
                or was[1] is not None
                and tuple(os.listdir(path)) != was[1]
            ):
                return None
        for path, was in files.items():
            if was is None:
                if stamp(path) is not None:
                    return None
                continue
            info = stat(path)
            if (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino) != was:
                if stamps is not None:
                    for one, found in files.items():
                        if one == path:
                            break
                        if found is not None:
                            stamps[one] = found
                return None
        for path in present:
            lstat(path)
    except (OSError, ValueError):
        return None
    for path in absent:
        if os.path.lexists(path):
            return None
    return kept


def remember(
    name: str,
    seen: Seen,
    files: dict[str, Stamp | None],
    present: list[str],
    absent: list[str],
    kept: object,
) -> None:
    """Keeps a value of built-in types with what it rests on; not where a file may yet change behind its stamp."""
    files = {**seen.files, **files}
    if lasting(files, seen.began):
        cachedir.store(name, (files, seen.lasting_folders(), tuple(present), tuple(absent), kept))
        cachedir.prune(_FOLDER, MOST)


def missing_part(path: str, there: dict[str, bool], start: int = 1) -> str:
    """The first part of an absent path that is absent itself: while that is so, so is the path. `there` is a memory.

    What ends before `start` is known to be there.
    """
    at = path.find("/", start)
    while at > 0:
        part = path[:at]
        found = there.get(part)
        if found is None:
            found = there[part] = os.path.lexists(part)
        if not found:
            return part
        at = path.find("/", at + 1)
    return path
