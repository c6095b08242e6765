"""Access to files inside a workspace's root only.

Every file is reached by descriptors: the root is opened once, each component below it relative
to the one above and never through a symbolic link. No check looks at a path as text and then
lets the system resolve it again, so neither `..`, nor an absolute path, nor a link, nor a folder
that is swapped for a link at the wrong moment, leads out. Only regular files are opened; one
that has a second name (a hard link) is not written, because the other name may lie outside.
"""

from __future__ import annotations

import copy
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from ..linking.project import places
from ..linking.project.protected import RECORDS, SETTINGS, Protected, folded_path, protected
from ..linking.project.secret_files import secret
from ..program.model import Grant
from .access.descriptors import (
    FILE,
    FOLDER,
    Mode,
    fill,
    made,
    move_to,
    replaceable,
    said,
    second_name,
    unlink,
)
from .access.named_files import by_name, fdc_table, opened_names, refused
from .failure import ToolFailure
from .shown_files import Noted, difference, digest

if TYPE_CHECKING:
    from ..engine.files.released import Released
    from .outside_table import Keeper

_OF_RUN = re.compile(r"runs/(?:[^/]+/outside|[0-9]{8}-[0-9]{6}-[a-z0-9]{4})")
"""The folder of a run (`RunIds`), and the one in a run's for text from outside."""

MAX_FILE = places.MAX_FILE

Opening = Callable[[list[Protected]], None]
"""Called before a step changes files that the plans open by name. Raises Waiting, or ToolFailure if a person declines."""


class Root:
    """An open workspace. `protected` are paths in it, beside the list, that no step may change; `protect` globs of what a
    step changes only where the plans name it, `secret` of what it reads only then. Not `guarded`: a folder of fdc's own, in
    which no path is special."""

    def __init__(
        self,
        path: str,
        protected: tuple[str, ...] = (),
        protect: tuple[str, ...] = (),
        guarded: bool = True,
        secret: tuple[str, ...] = (),
    ) -> None:
        self.path = os.path.abspath(path)
        self.protected = protected
        self.protect = protect
        self.secret = secret
        self.guarded = guarded
        self._grants: Sequence[Grant] = ()
        self._keeper: Keeper | None = None
        self.released: Released | None = None
        self._noted: Noted | None = None
        self._opening: Opening | None = None
        self._records: Callable[[], bool] | None = None
        self._only: frozenset[str] | None = None
        self._fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def granted(
        self,
        grants: Sequence[Grant],
        keeper: Keeper | None = None,
        released: Released | None = None,
        opening: Opening | None = None,
        records: Callable[[], bool] = lambda: False,
    ) -> Root:
        """The same open workspace for a step under these grants. It is closed with the first one.

        `keeper` is told of each change of a file before it is made. `released`: what an approval showed. A file of it that
        is read and is another one fails the step (`changed`). `opening` is asked before the step may change what is protected,
        `records` whether the step's own text names records of fdc, before it reads one.
        """
        seen = copy.copy(self)
        seen._grants, seen._keeper, seen.released = grants, keeper, released
        seen._opening, seen._records = opening, records
        return seen

    def only(self, paths: Iterable[str]) -> Root:
        """The same for a step that reads these files and sees no others."""
        seen = copy.copy(self)
        seen._only = frozenset(paths)
        return seen

    def open_named(self) -> None:
        """Asks for what the plans on the stack open by name, before a command, which may change it. Raises as `Opening`."""
        if self._opening is None or not self.guarded:
            return
        found = [
            protected(known, self.protected, self.protect)
            for grant in self._grants
            for known in opened_names(grant)
        ]
        entries = {
            one.entry: one
            for one in found
            if one is not None and not one.never and by_name(one.entry, self._grants)
        }
        if entries:
            self._opening(list(entries.values()))

    def noting(self, grants: Sequence[Grant], noted: Noted) -> Root:
        """The same for a preview, which records the listed and read files."""
        seen = self.granted(grants)
        seen._noted = noted
        return seen

    def listed(self, glob: str, found: list[str]) -> list[str]:
        """The files that a glob names for the step: those that an approval showed, and what the run itself made since."""
        if self._noted is not None:
            self._noted.list(glob, found)
        shown = None if self.released is None else self.released.lists.get(glob)
        if shown is None or self.released is None:
            return found
        own, known, there = self.released.is_own, set(shown), set(found)
        for path in shown:
            wrong = difference(self.released, self, path)
            if wrong or path not in there and not own(path):
                raise ToolFailure(
                    "changed", wrong or f"`{path}` was deleted after the approval showed it"
                )
        return [path for path in found if path in known or own(path)]

    def close(self) -> None:
        """Closes the root, after which no file can be opened."""
        os.close(self._fd)

    @contextmanager
    def folder(self, parts: list[str], make: bool = False) -> Iterator[int]:
        """A descriptor of the folder at `parts`, made with its parents where `make` says so. Raises OSError."""
        at = os.open(
            ".", FOLDER, dir_fd=self._fd
        )  # not a copy: copies share one place in the folder when they list it
        try:
            for name in parts:
                try:
                    below = os.open(name, FOLDER, dir_fd=at)
                except FileNotFoundError:
                    if not make:
                        raise
                    below = made(name, at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)

    def withheld(self, path: str) -> str:
        """Why a step may not read a file that holds secrets, or a record of fdc, as a sentence; empty where it may."""
        if self._only is not None and path not in self._only:
            return f"`{path}` is not one of the files that the plan listed"
        records = self._records if self.guarded else None
        if records is not None and RECORDS.search(folded_path(path)) and not records():
            return f"`{path}` is a record of fdc; a step can read it only if its text names it"
        found = secret(path, self.secret) if self.guarded else None
        if found is None or by_name(found.entry, self._grants, "read"):
            return ""
        return f"`{path}`: `{found.entry}` {found.what}; a plan that reads it must have `allow read {found.entry}`"

    def read(self, path: str) -> bytes:
        """The bytes of a regular file. Raises ToolFailure or WorldFailed."""
        parts = parts_of(path)
        wrong = self.withheld("/".join(parts))
        if wrong:
            raise ToolFailure("protected", wrong)
        return self._read(path, parts)

    def _read(self, path: str, parts: list[str]) -> bytes:
        """Like `read`, but without checks, for use in this class only."""
        with said(path), self.folder(parts[:-1]) as above:
            handle = os.open(parts[-1], os.O_RDONLY | FILE, dir_fd=above)
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise ToolFailure("file", f"`{path}` is not a regular file")
                data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise ToolFailure("size", f"`{path}` has more than {MAX_FILE} bytes")
        if self._keeper is not None:
            self._keeper.reads("/".join(parts))
        if self._noted is not None or self.released is not None:
            self._looked(path, "/".join(parts), data)
        return data

    def _looked(self, path: str, name: str, data: bytes) -> None:
        """Called after reading a file: records it, or compares it with what an approval showed."""
        if self._noted is not None:
            self._noted.file(name, digest(data))
        shown = None if self.released is None else self.released.shown(name)
        if shown is not None and shown != digest(data):
            raise ToolFailure("changed", f"`{path}` changed after the approval showed it")

    def find(self, path: str) -> bytes | None:
        """The bytes of a regular file, or None where there is nothing of that name."""
        try:
            return self.read(path)
        except ToolFailure as failure:
            if failure.kind == "missing":
                return None
            raise

    def write(self, path: str, data: bytes, mode: Mode, key: str) -> None:
        """Makes `data` the content of a file, all of it or nothing; folders on the way are made.

        `create`: the name must be free, but for a file that holds exactly `data` already (the step
        is being repeated). `write`: free or a file. `edit`: a file. `key` names the temporary
        file, so that a repeated step clears away what the first attempt left.
        """
        parts = self._writable(path, data)
        if len(data) > MAX_FILE:
            raise ToolFailure("size", f"`{path}` would have more than {MAX_FILE} bytes")
        mark = blake2b(key.encode("utf-8", "surrogateescape"), digest_size=9).hexdigest()
        temporary = f".fdc-{mark}.tmp"
        with said(path), self.folder(parts[:-1], make=mode != "edit") as above:
            permissions = replaceable(path, parts[-1], above, mode)
            if mode == "create" and permissions is not None:
                if self._read(path, parts) != data:
                    raise ToolFailure("exists", f"`{path}` already exists")
                unlink(
                    temporary, above
                )  # an earlier attempt was killed while the file had two names
                os.fsync(above)
                return
            if self._keeper is not None:
                self._keeper.wrote(
                    "/".join(parts), data, self._read(path, parts) if mode == "edit" else None
                )
            try:
                fill(temporary, data, above, permissions)
                if mode == "create":
                    second_name(temporary, above, parts[-1], above, path)
                else:
                    os.replace(temporary, parts[-1], src_dir_fd=above, dst_dir_fd=above)
            finally:
                unlink(temporary, above)
            os.fsync(above)

    def delete(self, path: str) -> bool:
        """Deletes a file. Returns False if it did not exist."""
        parts = self._writable(path, None)
        try:
            with said(path), self.folder(parts[:-1]) as above:
                replaceable(path, parts[-1], above, "edit")
                if self._keeper is not None:
                    self._keeper.gone("/".join(parts))
                os.unlink(parts[-1], dir_fd=above)
                os.fsync(above)
        except ToolFailure as failure:
            if failure.kind == "missing":
                return False
            raise
        return True

    def rename(self, path: str, target: str) -> None:
        """Renames a file to a name that must not exist; creates missing folders."""
        data = self.read(path)
        source, goal = self._writable(path, None), self._writable(target, data)
        with said(path), self.folder(source[:-1]) as above:
            replaceable(path, source[-1], above, "edit")
            if self._keeper is not None:
                self._keeper.moved("/".join(source), "/".join(goal), data)
            with said(target), self.folder(goal[:-1], make=True) as below:
                second_name(source[-1], above, goal[-1], below, target)
                unlink(source[-1], above)
                os.fsync(below)
            os.fsync(above)

    def kind(self, path: str) -> Literal["file", "folder", "other", "missing"]:
        """What lies at a path. A step that sees some files only sees these and the folders around them."""
        name, only = "/".join(parts_of(path)) + "/", self._only
        if only is not None and not any(f"{one}/".startswith(name) for one in only):
            return "missing"
        if (found := self._status(path)) is None:
            return "missing"
        mode = found.st_mode
        return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"

    def _status(self, path: str) -> os.stat_result | None:
        """The `stat` result of a path; None if it does not exist."""
        parts = parts_of(path)
        try:
            with self.folder(parts[:-1]) as above:
                return os.stat(parts[-1], dir_fd=above, follow_symlinks=False)
        except OSError:
            return None

    def settings(self) -> dict[str, object]:
        """The contents of the settings files: their bytes; of a pyproject.toml only [tool.fdc]."""
        found: dict[str, object] = {}
        for name in (*SETTINGS, *self.protected, "pyproject.toml"):
            try:
                found[name] = self.find(name)
            except ToolFailure as failure:
                found[name] = str(failure)
        data = found["pyproject.toml"]
        table = fdc_table(data) if isinstance(data, bytes) else None
        if type(table) is not object:  # a text that cannot be read stands for itself
            found["pyproject.toml"] = table
        return found

    def changed(self, before: dict[str, object]) -> list[str]:
        """The settings files that differ from `before`, a result of `settings`."""
        return [name for name, value in self.settings().items() if value != before.get(name)]

    def same(self, path: str, other: str) -> bool:
        """True where both paths name one and the same file."""
        one, two = self._status(path), self._status(other)
        return one is not None and two is not None and os.path.samestat(one, two)

    def forget(self, path: str) -> None:
        """Removes one of the two names that a file has while it is being renamed."""
        parts = self._writable(path, None)
        with said(path), self.folder(parts[:-1]) as above:
            os.unlink(parts[-1], dir_fd=above)
            os.fsync(above)

    def move_out(self, paths: Iterable[str], into: str) -> None:
        """Moves what lies at these paths, whatever it is, into a folder out of every step's reach, which is made. Raises OSError
        where one of them stays, after it moved the others."""
        os.makedirs(into, exist_ok=True)
        failed: OSError | None = None
        number = len(os.listdir(into))
        for parts in map(parts_of, paths):
            name = os.fsdecode(os.fsencode(parts[-1])[-200:])  # with its number it is a name, too
            while os.path.lexists(target := os.path.join(into, f"{number}-{name}")):
                number += 1
            number += 1
            try:
                with self.folder(parts[:-1]) as above:
                    move_to(parts[-1], above, target)
            except FileNotFoundError:
                pass  # another command that ended just now has taken it away
            except OSError as one:
                failed = one
        if failed is not None:
            raise failed

    def link_again(self, path: str, target: str) -> None:
        """Makes a symbolic link that was there before, and its folder, unless there is anything now. Raises OSError."""
        parts = parts_of(path)
        with self.folder(parts[:-1], make=True) as above, suppress(FileExistsError):
            os.symlink(target, parts[-1], dir_fd=above)

    def scan(self, parts: list[str]) -> list[tuple[str, bool]]:
        """The entries of a folder, sorted by name: (name, is a folder). Omits links and special files."""
        with self.folder(parts) as at, os.scandir(at) as entries:
            out = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
            ]
        return sorted(out)

    def _writable(self, path: str, data: bytes | None) -> list[str]:
        parts = parts_of(path)
        if not self.guarded:
            return parts
        if _OF_RUN.fullmatch("/".join(parts)) and self.kind(path) != "file":
            what = " for text from outside" if len(parts) > 2 else ""
            raise ToolFailure(
                "path", f"`{path}` is the run's folder{what}: a step cannot replace it"
            )
        held = refused(path, self._grants, self.protected, self.protect)
        if held is not None and self._opening is not None:
            self._opening([held])
        last = folded_path(path).rpartition("/")[2]
        if last == "pyproject.toml" and fdc_table(self.find(path)) != fdc_table(data):
            raise ToolFailure(
                "protected",
                f"`{path}` would get another [tool.fdc] table, which steps must not change",
            )
        return parts


def parts_of(path: str) -> list[str]:
    """The components of a path below the root. Raises ToolFailure for a path that is none."""
    refused = places.outside(path)
    if refused is not None:
        raise ToolFailure("path", refused)
    return places.components(path)
