"""The hash chain of a run: every record's link covers the link before it and all of the record itself.

    link 0      what the run is: name, program, inputs, origin (`beginning`)
    link n      blake2b-256 of link n-1 and record n, then, where a key is at hand, a seal of it

A large body takes part by its blob's name, which is the hash of its content. The run's own row
keeps the link of its newest anchored record, and a digest of all of its columns. A link without
the key shows every change that is not made all along the chain; the seal (16 bytes, keyed by the
user's own key) shows who wrote it. docs/decisions/0004 says what that protects from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, Literal

from ..named_tuples import NamedTuple
from ..program.codec import canonical

SIZE = 32
SEAL = 16
FAULTS = 20
"""Faults beyond this many are not listed."""

Signature = Literal["ours", "none", "other"]
"""`ours`: sealed by the key at hand. `none`: not sealed. `other`: by another key, or forged."""

Row = tuple[str, str, int, int, str, str, float, str | None, str | None]
"""kind, address, turn, seq, tool, request, at, body, blob: a record as it is written."""
Linked = tuple[str, str, int, int, str, str, float, str | None, str | None, bytes]
"""The same and its link: a record as it lies in the table, where `check` looks at the types."""


class Owner(NamedTuple):
    """A run's own row, its texts as they are stored."""

    id: int
    name: str
    engine: int
    plan: str
    program: str
    inputs: str
    origin: str | None
    started: float
    epoch: int
    status: str
    ending: str | None
    ended: float | None
    seq: int
    head: bytes
    digest: bytes


class Checked(NamedTuple):
    """What a check of a run found: faults (none: the record is whole), how many records, and whose seal.

    `older`: why the record is not the newest one that this machine saw; empty where it is.
    """

    faults: tuple[str, ...]
    records: int
    signature: Signature
    older: str = ""


def beginning(owner: Owner) -> bytes:
    """Link 0: the hash of the columns of a run that never change."""
    return blake2b(_bytes(canonical(list(owner[:8]))), digest_size=SIZE).digest()


def digest_of(owner: Owner, key: bytes | None, start: bytes | None = None) -> bytes:
    """The digest of all columns of a run's row, sealed. `start`: its `beginning`, where that is known."""
    start = beginning(owner) if start is None else start
    plain = blake2b(
        start + _bytes(canonical([*owner[8:13], owner.head.hex()])), digest_size=SIZE
    ).digest()
    return plain + seal(plain, key)


def seal(link: bytes, key: bytes | None) -> bytes:
    """The seal of a digest, which only a holder of the key can make; empty without a key."""
    return b"" if key is None else blake2b(link, digest_size=SEAL, key=key).digest()


def linking(key: bytes | None) -> Callable[[bytes, Row], bytes]:
    """A function from the link before a record, and the record (without its last column), to the record's link.

    The key is hashed once for all links.
    """
    if key is None:
        return plain
    keyed = blake2b(digest_size=SEAL, key=key)

    def sealed(before: bytes, row: Row) -> bytes:
        plain_link = plain(before, row)
        hasher = keyed.copy()
        hasher.update(plain_link)
        return plain_link + hasher.digest()

    return sealed


def link(before: bytes, row: Row, key: bytes | None) -> bytes:
    """The link of one record."""
    return linking(key)(before, row)


def plain(before: bytes, row: Row | Linked) -> bytes:
    """The link without a seal. The lengths of texts are hashed too, so that different records have different input."""
    kind, address, turn, seq, tool, request, at, body, blob = row[:9]
    about = (
        f"{seq} {turn} {at!r} {len(kind)} {len(address)} {len(tool)} {len(request)} {blob}\n"
        f"{kind}{address}{tool}{request}{body}"
    )
    return blake2b(before + about.encode("utf-8", "surrogateescape"), digest_size=SIZE).digest()


def check(
    owner: Owner, rows: Iterable[Linked], key: bytes | None, blob: Callable[[str], bytes | None]
) -> Checked:
    """Follows the chain of a run from its beginning. `blob` gives a content by its name."""
    if not _is_row(owner):
        return Checked((_ROW_FAULT,), 0, "other")
    faults: list[str] = []
    if not _is_content(owner.program, blob):
        faults.append("the run's program is not what was written")
    before: bytes = beginning(owner)
    expected, count, broken = 1, 0, False
    anchor: bytes | None = before if owner.seq == 0 else None
    sealed = True
    for row in rows:
        seq, stored_link = row[3], row[9]
        place = f"record {seq} ({_shown(row[0])} of {_shown(row[1]) or 'the run'})"
        if not isinstance(seq, int) or not isinstance(stored_link, bytes) or seq < expected:
            faults.append(f"{place} does not belong where it stands")
            continue
        if seq > expected:
            faults.append(f"{_numbers(expected, seq - 1)} missing, before {place}")
            broken = True
        if not broken and not _matches(before, row, stored_link):
            faults.append(f"{place} is not what was written")
        if row[8] is not None and not _is_content(row[8], blob):
            faults.append(f"the content of {place} is not what was written")
        broken = False
        if seq == owner.seq:
            anchor = stored_link
        elif seq > owner.seq and key is not None:
            sealed = sealed and compare_digest(stored_link[SIZE:], seal(stored_link[:SIZE], key))
        before, expected, count = stored_link, seq + 1, count + 1
    if expected <= owner.seq:
        faults.append(
            f"{_numbers(expected, owner.seq)} missing at the end: the run's row knows of {owner.seq}"
        )
    elif anchor != owner.head and not faults:
        faults.append(f"record {owner.seq} is not the one that the run's row knows")
    if expected - 1 > owner.seq and owner.status not in ("running", "new"):
        faults.append(f"{_numbers(owner.seq + 1, expected - 1)} added after the end")
    expected_digest = digest_of(owner, key)
    if owner.digest[:SIZE] != expected_digest[:SIZE]:
        faults.append(_ROW_FAULT)
    signature: Signature = "none"
    if len(owner.digest) > SIZE:
        signature = (
            "ours"
            if key is not None and sealed and compare_digest(owner.digest, expected_digest)
            else "other"
        )
    return Checked(tuple(faults[:FAULTS]), count, signature)


_ROW_FAULT = "the run's own row is not what was written"
_TYPES = (
    int,
    str,
    int,
    str,
    str,
    str,
    str | None,
    float,
    int,
    str,
    str | None,
    float | None,
    int,
    bytes,
    bytes,
)


def _is_row(owner: Owner) -> bool:
    return all(isinstance(value, of) for value, of in zip(owner, _TYPES, strict=True))


def _matches(before: bytes, row: Linked, stored_link: bytes) -> bool:
    if (
        type(row[6]) is not float
        or not (row[7] is None or type(row[7]) is str)
        or (row[7] is None) == (row[8] is None)
    ):
        return False
    try:
        return len(stored_link) in (SIZE, SIZE + SEAL) and compare_digest(
            stored_link[:SIZE], plain(before, row)
        )
    except (TypeError, ValueError):  # a column of a type that no record has
        return False


def _is_content(name: Any, blob: Callable[[str], bytes | None]) -> bool:
    data = blob(name) if isinstance(name, str) else None
    return data is not None and blake2b(data, digest_size=32).hexdigest() == name


def _numbers(first: int, last: int) -> str:
    return f"record {first} is" if first == last else f"records {first} to {last} are"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
