"""Which files of a workspace hold text from outside that earlier runs wrote: the table `.fdc/outside.jsonl`.

A row says of a path and a content which step of which run wrote it there. It holds while the file has that content and
no person has approved it. Rows are appended by `workspace.outside_table`, each before the file is there. A table that is
damaged is refused: without it it is unknown what is from outside.

    {"path": P, "sha256": HEX, "there": BOOL, "run": R, "at": ADDRESS, "plan": PATH, "line": N, "check": HEX}

`sha256` is empty where text from outside chose that the file is not there, and `*` while a step is under way that writes
files by itself: P may be anything of it then, and `*` stands for each file that has changed since (`since`, in
nanoseconds) until a row `{"closes": ADDRESS, "run": R, "check": HEX}`. `there`: text from outside chose that the file is there.

What a person approved is in the user's state folder, so that a clone cannot bring it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping

from ... import cachedir
from ...named_tuples import NamedTuple
from .files import Files
from .stat_cache import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLE = ".fdc/outside.jsonl"
ANY = "*"
"""As a path: each file that has changed since; as a content: any content."""

OUTSIDE = "outside"
"""`runs/NAME/outside/` is the folder of a run for text from outside; its path says so, no row does."""

_WORDS = {
    "path": str,
    "sha256": str,
    "there": bool,
    "run": str,
    "at": str,
    "plan": str,
    "line": int,
}


class Row(NamedTuple):
    """Text from outside in a file, and the step that wrote it. `steps`: the run and address of each one that wrote the same."""

    path: str
    sha256: str
    there: bool
    run: str
    at: str
    plan: str
    line: int
    since: int = 0
    steps: frozenset[tuple[str, str]] = frozenset()


class Damaged(OSError):
    """The table is damaged; the message says where."""


class Table:
    """The table as far as it was read: rows by path and content, and the rows of steps that are under way."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self.open: list[Row] = []
        self.lines = 0
        self.size = 0

    def add(self, data: bytes, path: str) -> None:
        """Reads on where the table has grown. The end of an append that was cut off counts for nothing: its file was never
        written. Raises Damaged."""
        for line in data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]:
            self.lines += 1
            self.size += len(line) + 1
            self._add_line(line, path)

    def _add_line(self, line: bytes, path: str) -> None:
        import json

        try:
            row: Any = json.loads(line)
            if row.pop("check") != check(row):
                raise ValueError
            if "closes" in row:
                closed = row["run"], row["closes"]
                self.open = [
                    open_row for open_row in self.open if (open_row.run, open_row.at) != closed
                ]
                return
            if any(type(row[name]) is not kind for name, kind in _WORDS.items()):
                raise ValueError
            entry = Row(**{name: row[name] for name in _WORDS}, since=int(row.get("since", 0)))
            entry = entry._replace(steps=frozenset({(entry.run, entry.at)}))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"line {self.lines} is damaged, so it is unknown which files hold text from outside; put a whole copy back"
            raise Damaged(errno.EINVAL, message, path) from None
        if entry.sha256 == ANY:
            self.open.append(entry)
        else:
            known = self.rows.get((entry.path, entry.sha256))
            self.rows[entry.path, entry.sha256] = (
                entry
                if known is None
                else known._replace(
                    there=known.there or entry.there, steps=known.steps | entry.steps
                )
            )


def check(row: Mapping[str, object]) -> str:
    """The checksum of a row, by which a damaged one is found."""
    import json
    from hashlib import blake2b

    return blake2b(json.dumps(row, sort_keys=True).encode("ascii"), digest_size=8).hexdigest()


def read(root: str, files: Files | None = None) -> Table:
    """The table of a workspace, empty where there is none. Raises Damaged, OSError."""
    files = files or Files(root)
    table = Table()
    try:
        data = files.read(TABLE)
    except PermissionError as failed:
        why = "it may not be read, so it is unknown which files hold text from outside: work in a clone of your own"
        raise PermissionError(failed.errno, why, failed.filename) from failed
    if data is not None:
        table.add(data, TABLE)
    elif files.kind(TABLE) != "missing":
        raise Damaged(
            errno.EINVAL,
            "this is not a regular file, so it is unknown which files hold text from outside",
            TABLE,
        )
    return table


def active(files: Files) -> tuple[Row, ...]:
    """The rows that hold now, by path. All that was looked at is in `files.seen`. Raises Damaged, OSError."""
    table = read(files.root, files)
    if not table.rows and not table.open:
        return ()
    approved = approvals(files)
    rows = [
        *table.rows.values(),
        *(row for open_row in table.open for row in _opened(files, open_row)),
    ]
    out = {}
    contents: dict[str, str] = {}
    for row in rows:
        if row.path not in contents:
            contents[row.path] = content(files, row.path)
        current = contents[row.path]
        holds = row.sha256 in (current, ANY) or current == ANY
        if holds and (row.path, current) not in approved and row.path not in out:
            out[row.path] = row
        elif holds and (known := out.get(row.path)) is not None:
            out[row.path] = known._replace(
                there=known.there or row.there, sha256=known.sha256 or row.sha256
            )
    return tuple(out[path] for path in sorted(out))


def content(files: Files, path: str) -> str:
    """The sha256 of a file as it is now, empty where there is none; `*` where it cannot be read."""
    try:
        data = files.read(path)
    except OSError:
        return ANY
    return "" if data is None else digest(data)


def digest(data: bytes) -> str:
    """The name of a content."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def _opened(files: Files, row: Row) -> Iterator[Row]:
    """What a step that is under way, or was lost, may have written."""
    if row.path != ANY:
        yield row
        return
    for path in changed_since(files.root, row.since):
        yield row._replace(path=path)


def changed_since(root: str, since: int) -> Iterator[str]:
    """The files whose inode changed at a time (in nanoseconds) or later, but for those of fdc, git and `runs/*/outside/`."""
    work = [""]
    while work:
        folder = work.pop()
        try:
            with os.scandir(os.path.join(root, folder) if folder else root) as listing:
                entries = list(listing)
        except OSError:
            continue
        for entry in entries:
            path = folder + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in (".git", ".fdc") and not is_hidden(path + "/"):
                        work.append(path + "/")
                elif (
                    entry.is_file(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_ctime_ns >= since
                ):
                    yield path
            except OSError:
                continue


def is_hidden(path: str) -> bool:
    """True for what lies in a run's folder for text from outside."""
    parts = path.split("/")
    return len(parts) > 3 and parts[0] == "runs" and parts[2] == OUTSIDE


# What a person approved


def approvals_path(root: str) -> str:
    """Where the approvals for the workspace at `root` lie on this machine, if there are any."""
    name = sha1(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cachedir.state_dir(), "approved", name)


def approvals(files: Files) -> set[tuple[str, str]]:
    """The paths and contents that this user approved here, and did not withdraw. Lines that cannot be read count for nothing."""
    import json

    out: set[tuple[str, str]] = set()
    for line in (files.read(approvals_path(files.root)) or b"").split(b"\n")[:-1]:
        try:
            row = json.loads(line)
            approval = str(row["path"]), str(row["sha256"])
        except (ValueError, KeyError, TypeError):
            continue
        if row.get("withdrawn"):
            out.discard(approval)
        else:
            out.add(approval)
    return out
