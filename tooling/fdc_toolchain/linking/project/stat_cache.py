"""Remembers the stat data of all that a command looked at, so that the next one sees at once whether anything changed.

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

    from ...diagnostics.diagnostic import Plain
    from .obeyed import Leads

    Found = tuple[
        tuple[Plain, ...], tuple[str, bytes, bytes], int
    ]  # as `diagnostics.diagnostic.Kept`
    Value = tuple[int, Found, bytes]  # of a lint: the number of its plans, what it found, a mark
    Stored = tuple[
        "dict[str, Stamp | None]",
        "dict[str, tuple[Stamp | None, tuple[str, ...] | None]]",
        dict[str, "tuple[str, ...] | None"],
        tuple[str, ...],
        tuple[str, ...],
        Value,
    ]  # files, folders, repositories, paths that exist, paths that do not, and the value

try:
    from _sha1 import sha1 as sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # pragma: no cover - an interpreter built without it
    from hashlib import sha1 as sha1

Stamp = tuple[int, int, int, int]
"""Times of the last change of content and of inode in nanoseconds, size, inode."""

MOST = 256
"""Maximum remembered answers; the oldest are removed first."""

MOST_CHANGED = 16
"""Maximum changed files with which what is remembered is still of use."""

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


def settled(last_stamp: Stamp, since: int) -> bool:
    """True if no write at or after `since` can leave this same stamp.

    Two writes within the grain of a file system's clock may leave the same times. Where times
    have no fraction of a second, the grain may be two seconds.
    """
    latest = max(last_stamp[0], last_stamp[1])
    return latest < since - (200_000_000 if last_stamp[0] % 1_000_000_000 else 2_000_000_000)


def lasting(stamps: dict[str, Stamp | None], since: int) -> bool:
    """True if none of these files can change and keep its stamp."""
    return all(last_stamp is None or settled(last_stamp, since) for last_stamp in stamps.values())


ON_PATH = "/$PATH/"
"""Before the name of a program: what counts is whether a folder of PATH has it."""


def there(path: str) -> bool:
    """True if there is anything at a path, links not followed; where the path ends with a slash, a folder."""
    if path.startswith(ON_PATH):
        name = path.removeprefix(ON_PATH)
        folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
        return any(there(f"{folder}/{name}") for folder in folders if folder.startswith("/"))
    try:
        mode = os.lstat(path.rstrip("/") or "/").st_mode
    except (OSError, ValueError):
        return False
    return path[-1:] != "/" or mode & 0o170000 == 0o040000


class Seen:
    """The folders that a search listed, and the files that it read or passed over, with their stamps.

    `repositories` are folders `.git`, with what `git_names` says of them.
    `others` are text files that a search does not take for plans, with any content, and links to folders; `of_others` are
    the keys of files that may be plans of other tools. `began` is when the command began, in nanoseconds (None: now).
    """

    __slots__ = ("began", "folders", "repositories", "files", "others", "of_others")

    def __init__(self, began: int | None = None) -> None:
        self.began = time.time_ns() if began is None else began
        self.folders: dict[str, tuple[Stamp | None, tuple[str, ...]]] = {}
        self.repositories: dict[str, tuple[str, ...] | None] = {}
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
        for path, (earlier, names) in self.folders.items():
            enough = earlier is not None and earlier[2] in devices and settled(earlier, self.began)
            out[path] = (earlier, None if enough else names)
        return out


def folder_stamp(path: str) -> Stamp | None:
    """As `stamp`, for a folder, with its device in place of its size."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_dev, info.st_ino)


def git_names(folder: str) -> tuple[str, ...] | None:
    """What `obeyed` takes from the listing of a `.git`: its `HEAD`, links and folders, by name; None where it cannot be read.

    git makes and removes other files there (`index.lock`), also while it calls a hook: the folder's times tell nothing.
    """
    try:
        with os.scandir(folder) as listing:
            found = [
                f"{entry.name}{'@' if entry.is_symlink() else ''}"
                for entry in listing
                if entry.name == "HEAD" or not entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return None
    return tuple(sorted(found))


PROTOCOLS = (".protocol.json", ".protocol.yaml", ".protocol.yml")
"""How the names of protocol sources end."""

PACK = "pack.toml"
"""The name of the file that says what a pack brings."""

RIGHT_BELOW = "/."
"""Suffix of a folder's path: only the folders right below it count."""

LED_TO = "./->"
"""Suffix of a workspace's path: what counts is where its links and the settings of git lead (`obeyed`)."""


def leads_of(folder: str) -> Leads:
    """Where the links of a workspace lead, by its path with `LED_TO`, without what its settings say beside the lists."""
    from .obeyed import Leads

    return Leads(folder.removesuffix("/" + LED_TO), whole=False)


def walked(folder: str) -> Iterator[tuple[str, list[str]]]:
    """The folders that `listing` looks into, and the names of their files."""
    if folder.endswith("/" + LED_TO):
        yield from ((path, []) for path in leads_of(folder).folders)
        return
    for path, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        if path != folder and folder.endswith(RIGHT_BELOW):
            folders.clear()
        yield path, names


def _raise(failed: OSError) -> None:
    """For a folder that cannot be listed: what is in it may count. A folder that is gone meanwhile holds nothing."""
    if not isinstance(failed, FileNotFoundError | NotADirectoryError):
        raise failed


def listing(folder: str) -> bytes | None:
    """The protocol sources below a folder, with NUL between, by their paths from it; None where the folder does not exist.

    Of a folder whose path ends with `/.` the packs: each `pack.toml` in a folder right below.

    It stands as the content of the key that is the folder's with a `/` behind it: what was found by
    looking for sources holds while the list is the same (and the sources, which are files like others).
    Raises OSError for a folder that cannot be listed.
    """
    if folder.endswith("/" + LED_TO):
        leads = leads_of(folder)
        rows = [
            *(f"write {path}" for path in leads.protect),
            *(f"read {path}" for path in leads.secret),
        ]
        return "\0".join(rows).encode("utf-8", "surrogateescape")
    if not os.path.isdir(folder):
        return None
    sources = []
    endings = PROTOCOLS if not folder.endswith(RIGHT_BELOW) else (PACK,)
    for path, names in walked(folder):
        start = path[len(folder) + 1 :] + "/" if path != folder else ""
        sources += [start + name for name in names if name.endswith(endings)]
    return "\0".join(sorted(sources)).encode("utf-8", "surrogateescape")


def _devices_that_keep_times() -> set[int]:
    """The devices of file systems of this machine that are known to change a folder's times with its listing."""
    devices: set[int] = set()
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
                    devices.add(os.makedev(int(major), int(minor)))
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    return devices


_identity: dict[str, str] = {}


def tool_identity() -> str:
    """Identifies this installation of fdc, on which verdicts depend besides the workspace's files; found once in a process.

    A wheel is known by its record, which lists the digest of every file in it, wherever and
    whenever it was installed; a checkout by the times of its code.
    """
    identity = _identity.get(resources.ROOT)
    if identity is None:
        identity = _identity[resources.ROOT] = _identified()
    return identity


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
        for path, folders, names in os.walk(os.path.join(resources.ROOT, *folder.split("/"))):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in names:
                info = os.stat(os.path.join(path, name))
                parts.append(f"{name}{info.st_mtime_ns}{info.st_size}")
    return "\n".join(sorted(parts))


def name_of(root: str, paths: list[str], options: str) -> str:
    """The cache name of a command: its options and paths, in the current folder, with this PATH and this fdc."""
    programs = os.environ.get("PATH", os.defpath)
    words = "\0".join((tool_identity(), root, os.getcwd(), options, programs, *sys.path, *paths))
    return f"{_FOLDER}/{sha1(words.encode('utf-8', 'surrogateescape')).hexdigest()}"


class Recalled:
    """What is kept under a name. `changed`: files of it whose stamps are others now; `moved`: folders with other times or
    names. All else that it depends on is unchanged."""

    __slots__ = ("stored", "changed", "moved")

    def __init__(self, stored: Stored, changed: dict[str, Stamp], moved: list[str]) -> None:
        self.stored = stored
        self.changed = changed
        self.moved = moved

    @property
    def value(self) -> Value:
        """The value that was kept."""
        return self.stored[-1]


def recall(name: str, stamps: dict[str, Stamp]) -> Recalled | None:  # noqa: C901
    """What is kept under a name, if at most `MOST_CHANGED` regular files of it changed, and no path came or went.

    `stamps` receives the stamps of files that were found unchanged.
    """
    stored = cachedir.load(name)
    if not isinstance(stored, tuple) or len(stored) != 6:
        return None
    files, folders, repositories, present, absent, _ = stored
    stat, lstat = os.stat, os.lstat
    changed: dict[str, Stamp] = {}
    moved = []
    try:
        for path, was in folders.items():
            if (
                folder_stamp(path) != was[0]
                or was[1] is not None
                and tuple(os.listdir(path)) != was[1]
            ):
                moved.append(path)
        for path, names in repositories.items():
            if git_names(path) != names:
                return None
        for path, was in files.items():
            if was is None:
                if stamp(path) is not None:
                    return None
                continue
            info = stat(path)
            if (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino) != was:
                now = stamp(path)
                if now is None or now == NO_FILE or len(changed) == MOST_CHANGED:
                    _hand_over(files, changed, path, stamps)
                    return None
                changed[path] = now
        for path in present:
            if path[-1:] != "/":
                lstat(path)
            elif lstat(path[:-1]).st_mode & 0o170000 != 0o040000:
                return None
    except (OSError, ValueError):
        return None
    if changed or moved:
        _hand_over(files, changed, "", stamps)
    for path in absent:
        if there(path):
            return None
    return Recalled(stored, changed, moved)


def _hand_over(
    files: dict[str, Stamp | None], changed: dict[str, Stamp], end: str, stamps: dict[str, Stamp]
) -> None:
    """Gives `stamps` those of the unchanged files before the file `end`."""
    for path, was in files.items():
        if path == end:
            break
        if was is not None and path not in changed:
            stamps[path] = was


def remember(
    name: str,
    seen: Seen,
    files: dict[str, Stamp | None],
    present: list[str],
    absent: list[str],
    value: Value,
) -> None:
    """Keeps a value of built-in types with what it depends on; not if a file can still change and keep its stamp."""
    files = {**seen.files, **files}
    if lasting(files, seen.began):
        folders = seen.lasting_folders()
        rest = (tuple(present), tuple(absent), value)
        cachedir.store(name, (files, folders, seen.repositories, *rest))
        cachedir.prune(_FOLDER, MOST)


def missing_part(path: str, present: dict[str, bool], start: int = 1) -> str:
    """The first folder on an absent path that is absent itself: while it is, so is the path.

    `present` caches which parts exist. Parts that end before `start` are known to exist.
    """
    at = path.find("/", start)
    while at > 0:
        part = path[:at]
        exists = present.get(part)
        if exists is None:
            exists = present[part] = os.path.lexists(part)
        if not exists:
            return part
        at = path.find("/", at + 1)
    return path
