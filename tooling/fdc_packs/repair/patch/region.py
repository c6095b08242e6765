"""Where a hypothesis says that the fault is: whole lines of one file, so that a machine can hold a patch to them (HYP-15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..shapes import RegionAt

MOST = 120
"""Lines of a region: who claims more than a function claims nothing."""
KINDS = (
    "lambda_body",
    "conditional_expression",
    "enclosing_call_expression",
    "statement_boundary",
    "function",
    "lines",
)


class Region(NamedTuple):
    """Lines `first` to `last` of `path`, both included, counted from 1; `kind` says what of the program they hold."""

    path: str
    first: int
    last: int
    kind: str


def parse_region(value: object) -> Region:
    """The region that a JSON object describes: `path`, `first`, `last`, and `kind` (`lines` where it is missing).

    Raises ValueError with one sentence where it is prose, a list, or lines that cannot be (HYP-15, T-45).
    """
    if not isinstance(value, dict):
        raise ValueError("a region is an object of `path`, `first`, `last` and `kind`, not prose")
    path, kind = value.get("path"), value.get("kind", "lines")
    if (
        not isinstance(path, str)
        or not path.strip()
        or path.startswith("/")
        or ".." in path.split("/")
        or "\0" in path
    ):
        raise ValueError("a region's `path` names a file of the workspace")
    first, last = _line(value, "first"), _line(value, "last")
    if first > last:
        raise ValueError(f"a region begins at line {first} and ends before it, at line {last}")
    if last - first >= MOST:
        raise ValueError(f"a region has {MOST} lines at most, and this one {last - first + 1}")
    if kind not in KINDS:
        raise ValueError(f"a region's `kind` is one of {', '.join(KINDS)}")
    return Region(path.removeprefix("./"), first, last, kind)


def _line(value: dict[str, Any], name: str) -> int:
    number = value.get(name)
    if type(number) is not int or number < 1:
        raise ValueError(f"a region's `{name}` is a line number from 1")
    return number


def as_dict(region: Region) -> RegionAt:
    """The region as JSON; `parse_region` reads it back."""
    return {"path": region.path, "first": region.first, "last": region.last, "kind": region.kind}


def contains(region: Region, first: int, last: int) -> bool:
    """True where lines `first` to `last` lie in the region. A place between two lines has `last` = `first` - 1."""
    if last < first:
        return region.first <= first <= region.last + 1
    return region.first <= first and last <= region.last


def bundled(region: Region, spans: Sequence[tuple[int, int]]) -> bool:
    """True where a patch touches lines that the region does not have: a shotgun diff, or another place (HYP-14, 16)."""
    return not all(contains(region, first, last) for first, last in spans)
