"""The files of a workspace and the shipped ones, each under a key and read once."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Collection

from ... import resources
from ...packs import shipped
from ...packs.model import PREFIX
from ...text.image_kind import NO_IMAGE, image_kind
from . import regular_file
from .places import MAX_FILE, Inside
from .secret_files import withheld
from .stat_cache import LED_TO, ON_PATH, PACK, RIGHT_BELOW, listing, there

SHIPPED = "fdc:"
"""What starts the key of a shipped file."""


_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class Files:
    """Reads files of one workspace, each once, and remembers what was read: key to bytes (None: no such file)."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._above = os.path.join(root, "")
        self.seen: dict[str, bytes | None] = {}
        self.probed: dict[str, bool] = {}
        self._kinds: dict[str, str] = {}
        self.log: set[str] | None = None
        """While set, every key that is read is added to it."""
        self.led_to: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        """The answer of `leads`, where a caller has searched more folders than it does."""
        self.secret: Collection[str] = ()
        """The globs of the workspace's own secret files, for `definition`."""
        self._inside = Inside(root)

    def exists(self, path: str) -> bool:
        """True where the workspace has anything under a path that a plan names; a folder, where the path ends with a slash."""
        present = self.probed.get(path)
        if present is None:
            program = path.startswith(ON_PATH)
            present = there(path) if program else self.kind(path) != "missing"
            self.probed[path] = present
        return present

    def kind(self, path: str) -> str:
        """What lies at a path, links not followed: `file`, `folder`, `link`, `other` or `missing`. With a slash at its end, the
        path is that of a folder."""
        kind = self._kinds.get(path)
        if kind is None:
            name = path.rstrip("/")
            try:
                mode = os.lstat(name if name[:1] == "/" else self._above + name).st_mode
            except (OSError, ValueError):
                kind = "missing"
            else:
                kind = _KINDS.get(stat.S_IFMT(mode), "other")
                if path.endswith("/") and kind != "folder":
                    kind = "missing"
            self._kinds[path] = kind
        return kind

    def is_linked(self, key: str) -> bool:
        """Whether a path of the workspace leads through a link."""
        return self._inside.target(key) != key

    def read(self, key: str) -> bytes | None:
        """The bytes under a key, or None. Raises OSError for a file that is there and cannot be read."""
        if self.log is not None:
            self.log.add(key)
        if key in self.seen:
            return self.seen[key]
        data: bytes | None
        path = os.path.join(self.root, key)
        try:
            if key.startswith(SHIPPED):
                data = shipped.read(key[len(SHIPPED) :])
            elif regular_file.kind(path) == stat.S_IFREG:
                # a table of labels grows with the runs of a workspace
                most = 32 * MAX_FILE if key.startswith(".fdc/") else MAX_FILE
                data = regular_file.read(path, most)
            else:
                data = None
        except (FileNotFoundError, ValueError):
            data = None
        except OSError as failed:
            failed.filename = failed.filename or path
            raise
        self.seen[key] = data
        return data

    def definition(self, key: str) -> bytes | None:
        """The bytes of a catalogue, a prompt, a registry or a protocol, which findings quote and models are given.

        Raises OSError as `read` does, and where such a file is `refused`.
        """
        if why := self.refused(key):
            raise OSError(errno.EPERM, why, os.path.join(self.root, key))
        return self.read(key)

    def refused(self, key: str) -> str:
        """Why a definition is not read from the file under a key; empty where it is read, or is not there. A model may have
        written the plan that names an automaton, and a clone brings links of any name."""
        if key.startswith(SHIPPED):
            return ""
        why = refusal(self._inside, key, self.secret)
        return why if why and self.read(key) is not None else ""

    def unfit(self, path: str, *, image: bool = False) -> str | None:
        """Why a step cannot read a file as text (`image`: as an image); None if it can, or if there is no file."""
        data = self.seen.get(path)
        if data is None:
            try:
                if self.kind(path) != "file" or path in self.seen:
                    return None
                with open(os.path.join(self.root, path), "rb", buffering=0) as file:
                    if os.fstat(file.fileno()).st_size > MAX_FILE:
                        return f"it has more than {MAX_FILE} bytes"
                    data = file.read()
            except (OSError, ValueError):
                return None
        if image and image_kind(data) is None:
            return f"it is {NO_IMAGE}"
        try:
            image or data.isascii() or data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return f"it is not UTF-8 text (byte {wrong.start})"
        return f"it has more than {MAX_FILE} bytes" if len(data) > MAX_FILE else None

    def protocols(self, folder: str) -> list[str]:
        """The keys of the protocol sources below a folder."""
        return self._listed(folder.rstrip("/"))

    def packs(self) -> list[str]:
        """The names of the folders of the workspace's own packs."""
        paths = (key.split("/") for key in self._listed(PREFIX.rstrip("/") + RIGHT_BELOW))
        return [parts[2] for parts in paths if len(parts) == 4 and parts[3] == PACK]

    def leads(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Where links of protected and of secret names lead, at the top and in protected folders there, and git's settings."""
        if self.led_to is not None:
            return self.led_to
        rows = [line[len(LED_TO) + 1 :].partition(" ") for line in self._listed(LED_TO)]
        return (
            tuple(path for kind, _, path in rows if kind == "write"),
            tuple(path for kind, _, path in rows if kind == "read"),
        )

    def _listed(self, folder: str) -> list[str]:
        """The keys of what `listing` finds below a folder. What was found counts as the content of `FOLDER/`."""
        key = folder + "/"
        if self.log is not None:
            self.log.add(key)
        if key not in self.seen:
            self.seen[key] = listing(f"{self.root}/{key[:-1]}")
        return [
            key + name
            for name in (self.seen[key] or b"").decode("utf-8", "surrogateescape").split("\0")
            if name
        ]

    def find(self, path: str) -> str | None:
        """The key of a path as plans write it: the workspace's file, else the shipped one. One file has one key."""
        own = self.find_own(path)
        if own is not None:
            return own
        plain = _plain(path)
        if plain is None:
            return None
        key = SHIPPED + shipped.current(plain)
        return key if self.read(key) is not None else None

    def find_own(self, path: str) -> str | None:
        """The key of a path as plans write it where it is a file of the workspace."""
        plain = _plain(path)
        if plain is None:
            return None
        if self.read(plain) is not None:
            return plain
        if self.root != resources.ROOT:
            return None
        key = shipped.in_checkout(shipped.current(plain))
        return key if key is not None and self.read(key) is not None else None

    def is_shipped(self, path: str) -> bool:
        """Whether a path as plans write it names a shipped file; it is not read."""
        plain = _plain(path)
        return plain is not None and shipped.path(shipped.current(plain)) is not None


def refusal(inside: Inside, key: str, more: Collection[str] = ()) -> str:
    """Why fdc does not read a definition from a file; empty where it may."""
    if inside.leads_out(key):
        return "it is a link out of the workspace, and is not read"
    found = withheld(inside, key, more)
    return f"`{found.entry}` {found.what}, and no definition is read from it" if found else ""


def _plain(path: str) -> str | None:
    """A path as plans write it in its plain form, or None for one that leads out of the workspace."""
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        return None
    return posixpath.normpath(path) if "." in path.split("/") or "//" in path else path
