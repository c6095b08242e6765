"""Writes down which files get text from outside, before they get it (`linking.project.outside_files` reads it, and has the form).

The program says which steps write text from outside (`outside`, found by `rules.flow`); a `Keeper` notes what each of
them writes. A file that is moved or edited takes along what is known of it.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import durable
from ..certificate.touches import only_looks
from ..engine.events import Perform, Record
from ..engine.ports import WorldFailed
from ..exits import reason
from ..linking.catalogue import reads_at_large, runs_plan
from ..linking.project.files import Files
from ..linking.project.outside_files import (
    ANY,
    TABLE,
    Damaged,
    Row,
    Table,
    active,
    approvals,
    approvals_path,
    changed_since,
    check,
    content,
    digest,
    is_hidden,
    read,
)
from ..linking.project.settings import SettingsError, read_settings
from ..named_tuples import NamedTuple
from ..program.model import Parameter, Program, ToolRow
from ..text.glob_match import matches
from . import run_folders
from .failure import ToolFailure

_THREADS = threading.Lock()
"""Branches of one run write one after the other; other processes are kept apart by the table's lock."""


class Book:
    """The table of one workspace, open for one run. It reads what is new in it, and no line twice.

    `met`: the run has looked at text from outside, or may have. Until then it writes none, whatever its program may do.
    `taken`: the run and address of the steps that a forked run took over, which count as its own.
    """

    def __init__(
        self, root: str, met: bool = True, taken: Collection[tuple[str, str]] = ()
    ) -> None:
        self.root = root
        self.met = met
        self._taken = taken
        self._table = Table()
        self._inode = 0
        self._looked = (0, 0)
        self._unproved: dict[str, Row] = {}
        self._changing = False

    def is_known(self, path: str, data: bytes) -> bool:
        """Whether a file with this content holds text from outside. Raises WorldFailed."""
        if not os.path.lexists(os.path.join(self.root, TABLE)):
            return False
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with _THREADS, _said():
            handle = os.open(os.path.join(self.root, TABLE), flags)
            try:
                rows = self._read(handle).rows
            finally:
                os.close(handle)
        what = path, digest(data)
        return what in rows and what not in approvals(Files(self.root))

    def unproved(self, run: str, program: Program) -> dict[str, Row]:
        """The files that hold text from outside since other runs wrote it, or that such text made or deleted, but those that
        the proof of a program took as such. Raises WorldFailed."""
        stored, chosen = program.get("stored", ()), program.get("chosen", ())
        path = os.path.join(self.root, TABLE)
        try:
            about = os.lstat(path)
        except FileNotFoundError:
            return {}
        stamp = about.st_ino, about.st_size
        with _THREADS, _said():
            if self._looked != stamp:
                self._looked, self._unproved = (
                    stamp,
                    {
                        row.path: row
                        for row in active(Files(self.root))
                        if not any(run == by or (by, at) in self._taken for by, at in row.steps)
                        if row.sha256
                        and row.path not in stored
                        or row.there
                        and row.path not in chosen
                    },
                )
            self.met |= bool(self._unproved)
        return self._unproved

    def check(self, run: str, program: Program, effect: Perform, declared: ToolRow) -> None:
        """Raises ToolFailure where a step may look at text from outside that the proof did not find there, and WorldFailed."""
        if self._changing:  # a command, or git, may bring back what a file had before
            self._looked = (0, 0)
        found = self.unproved(run, program)
        if found:
            as_proved(found, effect, declared)
        self._changing |= (
            effect.tool == "restore_file"
            or declared.get("writes") == "unknown"
            or "write" in declared.get("access", {})
        )
        if self.met:
            _unlinked(self.root, effect, declared)

    def append(self, rows: Sequence[Mapping[str, object]]) -> int:
        """Puts rows on record, for good when this returns. Returns the file system's time (in nanoseconds).

        Raises WorldFailed; nothing is on record then.
        """
        path = os.path.join(run_folders.folder(self.root), os.path.basename(TABLE))
        with _THREADS, _said(), durable.exclusive(path):
            now = os.stat(
                os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.lock")
            ).st_ctime_ns
            fresh = not os.path.lexists(path)
            handle = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600
            )
            try:
                table = self._read(handle)
                os.ftruncate(handle, table.size)  # the end of an append that was cut off
                new = [row for row in rows if not _is_there(table, row)]
                text = b"".join(_line(row, now) for row in new)
                try:
                    _write(handle, text, table.size)
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, table.size)
                    raise
                table.add(text, TABLE)
            finally:
                os.close(handle)
            if fresh:
                durable.sync_folder(os.path.dirname(path))
        return now

    def _read(self, handle: int) -> Table:
        """The table as it is now. Raises Damaged."""
        about = os.fstat(handle)
        if about.st_ino != self._inode or about.st_size < self._table.size:
            self._table, self._inode = Table(), about.st_ino
        if about.st_size > self._table.size:
            data = os.pread(handle, about.st_size - self._table.size, self._table.size)
            self._table.add(data, TABLE)
        return self._table


def _is_there(table: Table, row: Mapping[str, Any]) -> bool:
    known = table.rows.get((row.get("path", ""), row.get("sha256", "")))
    mine = known is not None and (row["run"], row["at"]) in known.steps
    return known is not None and mine and (known.there or not row["there"])


def _line(row: Mapping[str, object], now: int) -> bytes:
    if row.get("sha256") == ANY:
        row = {**row, "since": now}
    return json.dumps({**row, "check": check(row)}, sort_keys=True).encode("ascii") + b"\n"


def _write(handle: int, data: bytes, at: int) -> None:
    while data:
        done = os.pwrite(handle, data, at)
        data, at = data[done:], at + done


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except Damaged as wrong:
        raise WorldFailed(f"{TABLE}: {wrong.strerror}") from None
    except OSError as failed:
        said = f"{TABLE}: {reason(failed)}; it says which files hold text from outside"
        raise WorldFailed(said) from failed


class Keeper:
    """Notes for one step which of the files that it changes hold text from outside. Raises WorldFailed."""

    def __init__(self, book: Book, run: str, effect: Perform) -> None:
        self._book = book
        self._run = run
        self._effect = effect

    @property
    def _mark(self) -> str:
        return self._effect.outside if self._book.met else ""

    def reads(self, path: str) -> None:
        """The step reads a file."""
        self._book.met |= is_hidden(path)

    def _row(self, path: str, sha256: str, there: bool) -> dict[str, Any]:
        effect = self._effect
        words = path, sha256, there, self._run, effect.address, effect.path, effect.line
        return dict(zip(Row._fields, words, strict=False))

    def wrote(self, path: str, data: bytes, before: bytes | None = None) -> None:
        """The step is about to write a file. `before`: what it had, where that is edited and not replaced."""
        mark = self._mark
        if not is_hidden(path) and (
            mark or (before is not None and self._book.is_known(path, before))
        ):
            self._book.append([self._row(path, digest(data), mark == "choice")])

    def moved(self, path: str, target: str, data: bytes) -> None:
        """The step is about to give a file another name."""
        mark = self._mark
        rows = []
        if not is_hidden(target) and (mark or is_hidden(path) or self._book.is_known(path, data)):
            rows.append(self._row(target, digest(data), mark == "choice"))
        if mark == "choice" and not is_hidden(path):
            rows.append(self._row(path, "", True))
        if rows:
            self._book.append(rows)

    def gone(self, path: str) -> None:
        """The step is about to delete a file."""
        if self._mark == "choice" and not is_hidden(path):
            self._book.append([self._row(path, "", True)])

    @contextmanager
    def around(self, declared: ToolRow, args: Mapping[str, object]) -> Iterator[None]:
        """While a step is under way that writes text from outside by itself: what it may write counts as such, and afterwards
        what it wrote."""
        names = [
            row["name"]
            for row in declared.get("parameters", ())
            if row.get("access") not in (None, "read")
        ]
        paths = [os.path.normpath(one) for name in names if isinstance(one := args.get(name), str)]
        if declared.get("writes") == "unknown" or not paths:
            paths = [ANY]
        there = self._mark == "choice"
        if not self._mark:
            yield
            return
        book, root = self._book, self._book.root
        since = book.append([self._row(path, ANY, there) for path in paths])
        try:
            yield
        finally:
            wrote = list(changed_since(root, since)) if paths == [ANY] else paths
            files = Files(root)
            found = [(path, content(files, path)) for path in wrote if not is_hidden(path)]
            rows = [
                self._row(path, sha256, there)
                for path, sha256 in found
                if sha256 != ANY and (sha256 or there)
            ]
            if all(sha256 != ANY for _, sha256 in found):
                rows.append({"closes": self._effect.address, "run": self._run})
            book.append(rows)


def as_proved(found: Mapping[str, Row], effect: Perform, declared: ToolRow) -> None:
    """Raises ToolFailure (`changed`) where a step may look at, or execute, one of the files that were `found` to hold text from
    outside only after the plan was proved."""
    globs = [effect.args["glob"]] if effect.kind == "files" else []
    commands = declared.get("writes") == "unknown" and not runs_plan(declared)
    everything = "run" in declared
    if effect.kind == "tool":
        everything = commands or reads_at_large(declared) or "one_of" in declared.get("run", ())
    for parameter in _parameters(effect, declared):
        value, access = effect.args.get(parameter["name"]), parameter.get("access")
        named = "path" if parameter.get("kind") in ("path", "glob") else None
        silent = access == "write" or access == "create" and not effect.alone
        looks = parameter.get("sink", named) == "path" and not silent
        if looks or access in ("read", "edit") or access and "run" in declared:
            globs.append("**" if value is None else value)
    for access in ("read", "write"):  # what code of the workspace may open by itself
        globs += declared.get("access", {}).get(access, ())
    for path, row in found.items():
        if everything or any(_names(glob, path) for glob in globs if isinstance(glob, str)):
            what = f"is gone because text from outside chose so in the run {row.run}; it was not"
            if row.sha256:
                what = f"holds text from outside, which the run {row.run} stored there; it did not"
            said = f"`{path}` {what} when this plan was proved"
            raise ToolFailure("changed", f"{said}; `fdc trust --file {path}` approves it")


def _parameters(effect: Perform, declared: ToolRow) -> Iterable[Parameter]:
    return declared.get("parameters", ()) if effect.kind == "tool" else ()


def _unlinked(root: str, effect: Perform, declared: ToolRow) -> None:
    """Raises ToolFailure (`path`) where a command that only reads data would follow a link: the proof knows its files by name."""
    for parameter in _parameters(effect, declared):
        text = effect.args.get(parameter["name"]) if parameter.get("sink") == "command" else None
        if not isinstance(text, str) or only_looks(text) is None:
            continue
        for word in text.split(" ")[1:]:
            names = word.split("/")
            above = ["/".join(names[:number]) for number in range(1, len(names) + 1)]
            within = text.startswith("diff ") and not {"", ".", ".."} & {*names}
            tree = os.walk(os.path.join(root, word)) if within else ()
            below = (
                os.path.relpath(os.path.join(folder, name), root)
                for folder, folders, files in tree
                for name in (*folders, *files)
            )
            for place in (*above, *below):
                if place and os.path.islink(os.path.join(root, place)):
                    said = f"`{word}` leads through the link `{place}`"
                    raise ToolFailure("path", f"{said}, perhaps to text from outside")


def _names(glob: str, path: str) -> bool:
    plain = os.path.normpath(glob)
    return plain in (".", path) or path.startswith(plain + "/") or matches(path, glob)


def met(root: str, program: Program, records: Iterable[Record]) -> bool:
    """Whether a run has looked at text from outside before now, as its record says, or may do so in files."""
    try:
        if program.get("stored") or program.get("chosen") or read_settings(root).untrusted:
            return True
    except SettingsError:
        return True
    for record in records:
        if record.kind == "outcome":
            tool = program["tools"].get(record.tool)
            if "untrusted" in (
                tool and tool["trust"],
                (record.body.get("notes") or {}).get("trust"),
            ):
                return True
    return False


def paths(root: str) -> set[str]:
    """The files that hold text from outside which runs wrote. Raises WorldFailed."""
    with _said():
        return {row.path for row in active(Files(root)) if row.sha256}


class Found(NamedTuple):
    """A file from outside as a person is asked about it: its content, how large it is, and the step that wrote it."""

    sha256: str
    size: int
    run: str
    at: str
    plan: str
    line: int


def of_path(root: str, path: str, *, approved: bool = False) -> Found | None:
    """What is known of a file as it is now: of text from outside in it, or (`approved`) of such text that a person approved.
    Raises WorldFailed."""
    with _said():
        files = Files(root)
        rows = [row for row in active(files) if row.path == path]
        sha256, now = content(files, path), files.read(path) or b""
        if approved:
            known = read(root, files).rows.get((path, sha256))
            rows = [known] if known is not None and (path, sha256) in approvals(files) else []
    if not rows or sha256 == ANY:
        return None
    row = rows[0]
    return Found(sha256, len(now), row.run, row.at, row.plan, row.line)


def approve(
    root: str, path: str, sha256: str, by: str, at: float, *, withdrawn: bool = False
) -> None:
    """Puts on record that a person approved a content of a file, or takes that back. Raises OSError."""
    file = approvals_path(root)
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    row: dict[str, Any] = {"path": path, "sha256": sha256, "by": by, "at": round(at, 3)}
    if withdrawn:
        row["withdrawn"] = True
    with durable.exclusive(file):
        data = durable.read(file) or b""
        if data and not data.endswith(b"\n"):
            raise OSError(errno.EINVAL, "its last line is incomplete", file)
        durable.replace(file, data + json.dumps(row, sort_keys=True).encode("ascii") + b"\n")
