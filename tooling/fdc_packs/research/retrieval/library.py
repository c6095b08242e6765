"""Documents and their index, kept between the steps of a run in this process; never the truth.

A step names the documents it means by the digest of their scan. Where they are not at hand (a
resumed run), they are read again, and the step says so if they are not the same any more.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from fdc_toolchain.api.files import Scan, Skipped, parts_of, scan
from fdc_toolchain.api.tools import Context, ToolFailure, from_os

from .file_worth import no_source

if TYPE_CHECKING:
    from .question import Concept
    from .retrieve import Index

GRANT = "documents.json"
"""In a run's own folder: the one folder outside of the workspace that the person who started the run opened to it."""
_KEPT = 2

_lock = threading.Lock()
_shelf: OrderedDict[tuple[str, bool, str], Shelf] = OrderedDict()


class Shelf:
    """The documents of one scan, and their index once somebody asked for it."""

    def __init__(self, folder: str, found: Scan) -> None:
        self.folder = folder
        self.scan = found
        self._index: tuple[tuple[str, ...], Index] | None = None
        self._lock = threading.Lock()

    def index(self, concepts: Sequence[Concept]) -> Index:
        """The index of the documents that can matter to the concepts. Raises ToolFailure where SQLite cannot search text."""
        import sqlite3

        from .prefilter import narrow
        from .retrieve import Index

        with self._lock:
            if self._index is not None and self._index[0] in (
                (),
                tuple(concept.word for concept in concepts),
            ):
                return self._index[1]
            try:
                kept = narrow(self.scan.documents, concepts) or self.scan.documents
                whole = len(kept) == len(self.scan.documents)
                self._index = (
                    () if whole else tuple(concept.word for concept in concepts),
                    Index(kept),
                )
            except sqlite3.OperationalError as failed:
                raise ToolFailure(
                    "unavailable", f"this Python's SQLite cannot search text: {failed}"
                ) from None
            return self._index[1]


class Opened(NamedTuple):
    """A folder of documents: its absolute path and a descriptor of it. The documents' paths begin with `prefix`
    and are relative to `base`: to the workspace where the folder lies in it, else to the folder itself."""

    path: str
    handle: int
    base: int
    prefix: str = ""


@contextmanager
def folder(name: str, context: Context) -> Iterator[Opened]:
    """Opens the folder that a plan names: below the workspace, or the one that was granted to the run.

    Raises ToolFailure, with the reason, for any other.
    """
    granted = _granted(context)
    if granted is not None and name == granted:
        try:
            handle = os.open(granted, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as failed:
            raise from_os(failed, f"`{name}`") from None
        try:
            yield Opened(granted, handle, handle)
        finally:
            os.close(handle)
        return
    parts = [] if name.strip("/") in ("", ".") and not name.startswith("/") else parts_of(name)
    if parts and (wrong := context.root.withheld("/".join(parts))):
        raise ToolFailure("protected", wrong)
    try:
        with context.root.folder(parts) as handle, context.root.folder([]) as base:
            yield Opened(
                os.path.join(context.root.path, *parts),
                handle,
                base,
                "".join(f"{part}/" for part in parts),
            )
    except NotADirectoryError:
        raise ToolFailure("file", f"`{name}` is not a folder") from None
    except FileNotFoundError:
        raise ToolFailure("missing", f"`{name}` does not exist") from None


def read(opened: Opened, code: bool) -> Shelf:
    """Reads the documents of a folder now, whatever was read before."""
    try:
        found = scan(opened.path, code, opened.handle, opened.prefix)
    except OSError as failed:
        raise from_os(failed, f"`{opened.path}`") from None
    return _put(opened, code, _sources(found) if code else found)


def _sources(found: Scan) -> Scan:
    """Without lock files, vendored, minified and generated files; they count as skipped."""
    skipped = list(found.skipped)
    kept = []
    for document in found.documents:
        why = no_source(document)
        if why:
            skipped.append(Skipped(document.path, why))
        else:
            kept.append(document)
    return Scan(kept, sorted(skipped, key=lambda one: (one.path, one.reason)))


def get(opened: Opened, code: bool, digest: str) -> Shelf:
    """The documents of an earlier scan, if at hand, else as they are now: compare the digests."""
    with _lock:
        kept = _shelf.get((opened.path, code, digest))
        if kept is not None:
            _shelf.move_to_end((opened.path, code, digest))
            return kept
    return read(opened, code)


def _put(opened: Opened, code: bool, found: Scan) -> Shelf:
    key = (opened.path, code, found.digest)
    with _lock:
        if key not in _shelf:
            _shelf[key] = Shelf(opened.path, found)
        _shelf[
            key
        ].scan = found  # the same documents; what was skipped may be something else by now
        _shelf.move_to_end(key)
        while len(_shelf) > _KEPT:
            _shelf.popitem(last=False)
        return _shelf[key]


def grant(run_folder: str, path: str) -> None:
    """Opens a folder outside of the workspace to a run, for reading. For the operator, never for a plan."""
    with open(os.path.join(run_folder, GRANT), "w", encoding="utf-8") as file:
        json.dump({"folder": os.path.realpath(path)}, file)


def _granted(context: Context) -> str | None:
    try:
        with open(os.path.join(context.run_folder, GRANT), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found.get("folder") if isinstance(found, dict) else None
