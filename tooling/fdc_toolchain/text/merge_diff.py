"""SEARCH and REPLACE sections applied to a text (FDC-85), pure.

    <<<<<<< SEARCH
    lines that the file has, whole and exactly once
    =======
    lines that stand there afterwards
    >>>>>>> REPLACE

Every section is searched in the original text, so their order does not matter. If a section
is not found, is found twice, or overlaps another one, nothing is applied.
"""

from __future__ import annotations

from ..named_tuples import NamedTuple

OPEN, MIDDLE, CLOSE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


class NoMerge(ValueError):
    """A diff that is invalid, or does not fit the text; the message is one sentence."""


class Section(NamedTuple):
    """One section: the lines to find and those that replace them. `line` is where it opens in the diff."""

    line: int
    search: list[str]
    replace: list[str]


def sections(diff: str) -> list[Section]:
    """The sections of a diff. Raises NoMerge for anything that is not one."""
    out: list[Section] = []
    opened = 0
    search: list[str] | None = None
    replace: list[str] | None = None
    for number, raw in enumerate(diff.split("\n"), 1):
        line = raw.removesuffix("\r")
        if line == OPEN:
            if opened:
                raise _malformed(number, f"`{OPEN}` inside a section")
            opened, search, replace = number, [], None
        elif line == MIDDLE and opened:
            if replace is not None:
                raise _malformed(number, f"`{MIDDLE}` for the second time in a section")
            replace = []
        elif line == CLOSE:
            if search is None or replace is None:
                raise _malformed(number, f"`{CLOSE}` without `{OPEN}` and `{MIDDLE}` above it")
            if not search:
                raise _malformed(opened, "a section that searches for nothing")
            out.append(Section(opened, search, replace))
            opened, search, replace = 0, None, None
        elif replace is not None:
            replace.append(line)
        elif search is not None:
            search.append(line)
        elif line.strip():
            raise _malformed(number, "text outside of the sections")
    if opened:
        raise _malformed(opened, f"a section without `{CLOSE}`")
    if not out:
        raise _malformed(1, f"no `{OPEN}` section")
    return out


def apply(text: str, diff: str) -> tuple[str, int]:
    """The text with every section replaced, and how many there were. Raises NoMerge; then nothing was replaced."""
    parsed = sections(diff)
    lines = text.split("\n")
    plain = [line.removesuffix("\r") for line in lines]
    places: list[tuple[int, Section]] = []
    for section in parsed:
        matches = _places(plain, section.search)
        if len(matches) != 1:
            problem = f"is in the file {len(matches)} times" if matches else "is not in the file"
            near = "" if matches else _indented_otherwise(plain, section.search)
            raise NoMerge(f"the section at line {section.line} of the diff {problem}{near}")
        places.append((matches[0], section))
    places.sort(key=lambda place: place[0])
    for (start, first), (after, second) in zip(places, places[1:], strict=False):
        if start + len(first.search) > after:
            raise NoMerge(
                f"the sections at lines {first.line} and {second.line} of the diff overlap"
            )
    for start, section in reversed(places):
        ending = "\r" if lines[start].endswith("\r") else ""
        lines[start : start + len(section.search)] = [line + ending for line in section.replace]
    return "\n".join(lines), len(places)


def _places(lines: list[str], search: list[str]) -> list[int]:
    first, width = search[0], len(search)
    return [
        at
        for at in range(len(lines) - width + 1)
        if lines[at] == first and lines[at : at + width] == search
    ]


def _indented_otherwise(lines: list[str], search: list[str]) -> str:
    """Where the lines stand with another indentation, and with which; empty where they do not."""
    found = _places([line.strip() for line in lines], [line.strip() for line in search])
    first = next((number for number, line in enumerate(search) if line.strip()), None)
    if not found or first is None:
        return ""
    file, section = _indentation(lines[found[0] + first]), _indentation(search[first])
    where = f": from line {found[0] + 1} on it has these lines"
    if file == section:
        return f"{where}, with other white space"
    return f"{where}, indented by {file}, and the section indents them by {section}"


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _malformed(line: int, problem: str) -> NoMerge:
    return NoMerge(f"line {line} of the diff: {problem}")
