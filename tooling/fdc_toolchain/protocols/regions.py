"""Text that users add to a compiled file: what is between two markers is kept by every build.

    <!-- fdc:keep NAME -->
    anything
    <!-- /fdc:keep -->

A source of prose may hold such a pair: then the text stays at that place. A pair at any other
place stays after the line that it followed. The build sets the empty lines around a region.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from ..named_tuples import NamedTuple

_OPEN = re.compile(r"<!-- fdc:keep ([A-Za-z0-9][A-Za-z0-9_.-]{0,63}) -->")
_CLOSE = "<!-- /fdc:keep -->"
_MARKER = re.compile(r" {0,3}<!--\s*/?\s*fdc:keep\b")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")


class Region(NamedTuple):
    """One region: its lines with the markers, and how many lines that are not empty come before it."""

    name: str
    lines: tuple[str, ...]
    after: int


class Taken(NamedTuple):
    """A text taken apart: the lines outside of regions, the regions, what is wrong, markers in code blocks.

    `damaged` and `fenced` hold pairs: a line's number, and what is wrong there or what it says. `names`
    has for every line the region that it is in, "" for none.
    """

    rest: list[str]
    regions: list[Region]
    damaged: list[tuple[int, str]]
    fenced: list[tuple[int, str]]
    names: list[str]


def take(text: str) -> Taken:
    """Separates `text` from its regions. Never fails: incomplete regions are in `damaged`."""
    result = Taken([], [], [], [], [])
    inside, opened, name = "", 0, ""
    body: list[str] = []
    first: dict[str, int] = {}
    after, behind = 0, False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if _MARKER.match(line) and not (inside and not opened):
            start = _OPEN.fullmatch(bare)
            result.names.append(start[1] if start and not opened else name if opened else "")
            if start and not opened:
                opened, name, body = number, start[1], [bare]
                if first.setdefault(name, number) != number:
                    result.damaged.append(
                        (number, f"region `{name}` is there twice, first in line {first[name]}")
                    )
            elif bare == _CLOSE and opened:
                if inside:
                    result.damaged.append(
                        (number, f"region `{name}` opens a code block that does not end in it")
                    )
                result.regions.append(Region(name, (*body, bare), after))
                opened, inside, behind = 0, "", True
            else:
                result.damaged.append(
                    (number, _wrong(bare, start is not None, name if opened else ""))
                )
            continue
        if _MARKER.match(line):
            result.fenced.append((number, bare))
        result.names.append(name if opened else "")
        inside = fence(line, inside)
        if opened:
            body.append(line)
        elif bare or not behind or (result.rest and result.rest[-1].strip()):
            result.rest.append(line)
            after += bool(bare)
            behind = behind and not bare
    if opened:
        result.damaged.append((opened, f"region `{name}` has no `{_CLOSE}`"))
    return result


def put(text: str, regions: list[Region], old_rest: list[str]) -> str:
    """`text` with the regions in it: where a source keeps a place for the name, else behind the line behind
    which they stood in `old_rest`, but never inside of a code block.
    """
    if not regions:
        return text
    rest, own_regions, *_ = take(text)
    by_name = {region.name: region for region in regions}
    placed = {region.name for region in own_regions}
    full = [number for number, line in enumerate(rest) if line.strip()]
    places = _mapped([line for line in old_rest if line.strip()], [rest[number] for number in full])
    open_at = _outside(rest)
    inserted: dict[int, list[tuple[str, ...]]] = {}
    for region in own_regions:
        at = full[region.after - 1] + 1 if region.after else 0
        inserted.setdefault(at, []).append(by_name.get(region.name, region).lines)
    for region in regions:
        if region.name not in placed:
            after = places[min(region.after, len(places) - 1)]
            at = full[after - 1] + 1 if after else 0
            while not open_at[at]:
                at += 1
            inserted.setdefault(at, []).append(region.lines)
    lines_out: list[str] = []
    for number in range(len(rest) + 1):
        following = rest[number : number + 1]
        for lines in inserted.get(number, ()):
            lines_out += ["", *lines] if lines_out and lines_out[-1].strip() else lines
        if inserted.get(number) and (not following or following[0].strip()):
            lines_out.append("")
        lines_out += following
    return "\n".join(lines_out)


def fence(line: str, inside: str) -> str:
    """The code block that a line leaves open: "" for none, else the marks that began it. `inside` is the one before."""
    if inside:
        bare = line.strip()
        return "" if len(bare) >= len(inside) and set(bare) == {inside[0]} else inside
    match = _FENCE.match(line)
    return match[1] if match else ""


def _wrong(bare: str, begins: bool, within: str) -> str:
    if begins:
        return f"a region begins inside of region `{within}`"
    if bare == _CLOSE:
        return f"`{_CLOSE}` ends nothing"
    return f"`{bare[:80]}` is not a marker; a region begins with `<!-- fdc:keep NAME -->` and ends with `{_CLOSE}`"


def _mapped(old: list[str], new: list[str]) -> list[int]:
    """For each number of lines of `old` how many of `new` come before the same place."""
    places = []
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    for after in range(len(old) + 1):
        before = [block for block in blocks if block.size and block.a < after]
        places.append(before[-1].b + min(after - before[-1].a, before[-1].size) if before else 0)
    return places


def _outside(lines: list[str]) -> list[bool]:
    """For each place before a line, and the one after the last, whether a region may stand there."""
    allowed = [True] * (len(lines) + 1)
    inside = comment = ""
    front = lines[:1] == ["---"]
    for number, line in enumerate(lines):
        allowed[number] = not (inside or comment or front)
        if front and number and line == "---":
            front = False
        if comment:
            comment = "" if line.endswith("-->") else comment
        elif line.startswith("<!--") and "-->" not in line:
            comment = line
        elif not comment:
            inside = fence(line, inside)
    return allowed
