"""Stores the assumptions of a workspace's plans, apart from the verdict tables, which need only their number.

A pack is an append-only file. Each plan's assumptions are one range of bytes in it, which a `Ref` identifies.
When most of a pack is unused, it is rewritten with a new mark; older references are then invalid,
and their plans are checked again. Most lints append a few hundred bytes and read nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .. import cachedir
from ..diagnostics.diagnostic import Diagnostic, unpacked

Ref = bytes
"""Start and length of a range, in `_WIDTH` bytes; empty for no range."""

Packed = tuple[str, bytes, bytes]
"""Assumptions of many plans: the name of the pack, its mark, and the concatenated references."""

_WIDTH, _OFFSET, _MARK = 12, 8, 16
_WASTE = 4_000_000
"""Unused bytes that a pack may have, in addition to the number of its used bytes."""


class Lost(Exception):
    """A reference is invalid: the plans must be checked again."""


def read(packed: Packed, fresh: dict[Ref, bytes] | None = None) -> list[Diagnostic]:
    """Reads the assumptions. `fresh`: ranges that this process has in memory. Raises Lost."""
    name, mark, refs = packed
    stretches = [refs[at : at + _WIDTH] for at in range(0, len(refs), _WIDTH)]
    return unpacked(_stretches(name, mark, stretches, fresh or {}))


def _stretches(name: str, mark: bytes, refs: list[Ref], fresh: dict[Ref, bytes]) -> list[bytes]:
    data = b""
    if any(ref not in fresh for ref in refs):
        try:
            with cachedir.opened(name) as file:
                data = file.read()
        except OSError as failed:
            raise Lost from failed
        if data[:_MARK] != mark:
            raise Lost
    out = []
    for ref in refs:
        found = fresh.get(ref)
        if found is None:
            start, length = (
                int.from_bytes(ref[:_OFFSET], "big"),
                int.from_bytes(ref[_OFFSET:], "big"),
            )
            found = data[start : start + length]
            if len(found) != length:
                raise Lost
        out.append(found)
    return out


class Pack:
    """The pack of one table. `fresh`: ranges of this process; `kept`: False after a write failed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fresh: dict[Ref, bytes] = {}
        self.kept = True
        self.mark = b""
        try:
            with cachedir.opened(self.name) as file:
                self.mark = file.read(_MARK)
        except OSError:
            pass

    @property
    def _path(self) -> str:
        return os.path.join(cachedir.cache_dir(), self.name)

    def size(self) -> int:
        """The bytes of the file, used or not; 0 for none."""
        try:
            return os.stat(self._path).st_size if self.mark else 0
        except OSError:
            return 0

    def grew(self, size: int) -> bool:
        """Whether so much was added to the file since it had this size that a look at what is unused pays."""
        return self.size() > size + _WASTE

    def add(self, data: list[bytes]) -> list[Ref]:
        """Appends ranges to the file and returns their references; an empty range has an empty reference."""
        if not any(data):
            return [b"" for _ in data]
        start = self._append(b"".join(data))
        if start is None:
            self.kept, start = False, 1 << 62
        out = []
        for stretch in data:
            ref = (
                start.to_bytes(_OFFSET, "big") + len(stretch).to_bytes(_WIDTH - _OFFSET, "big")
                if stretch
                else b""
            )
            if ref:
                self.fresh[ref] = stretch
            start += len(stretch)
            out.append(ref)
        return out

    def _append(self, data: bytes) -> int | None:
        try:
            cachedir.make(os.path.dirname(self._path))
            if not self.mark:
                self._begin(b"")
            with open(self._path, "r+b", buffering=0, opener=_appending) as file:
                if file.read(_MARK) != self.mark:
                    return None  # another process rewrote it
                if file.write(data) != len(data):
                    return None
                return file.tell() - len(data)
        except OSError:
            return None

    def _begin(self, data: bytes) -> None:
        self.mark = os.urandom(_MARK)
        temporary = f"{self._path}.{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(self.mark + data)
        os.replace(temporary, self._path)

    def written_anew(self, refs: Iterable[Ref]) -> dict[Ref, Ref]:
        """Rewrites the file with only the ranges of `refs` if too much is unused. Returns the new references, if any."""
        try:
            size = self.size() if self.kept else 0
            if size <= _WASTE:
                return {}
            wanted = list(dict.fromkeys(ref for ref in refs if ref))
            used = sum(int.from_bytes(ref[_OFFSET:], "big") for ref in wanted)
            if size <= 2 * used + _WASTE:
                return {}
            data = _stretches(self.name, self.mark, wanted, self.fresh)
            self._begin(b"".join(data))
        except (OSError, Lost):
            return {}
        start, out = _MARK, {}
        for ref, stretch in zip(wanted, data, strict=True):
            out[ref] = start.to_bytes(_OFFSET, "big") + ref[_OFFSET:]
            start += len(stretch)
        self.fresh = dict(zip(out.values(), data, strict=True))
        return out


def _appending(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND)
