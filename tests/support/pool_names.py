"""A plan with the names that it binds renamed, each to one name of a pool: read line by line, without fdc's parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

BINDS = re.compile(r"^ *(?:param (\w+)|(?:(\w+) <- )?(?:(?:for|fork) (\w+) in )?)")
CONDITION = re.compile(r'^( *(?:if|require|iterate max \d+ until) )((?:"[^"\n]*"|(?! else ").)*)')


def bound(line: str) -> list[str]:
    """The names that a line binds."""
    found = BINDS.match(line)
    return [name for name in found.groups() if name] if found else []


def renamed(line: str, names: dict[str, str]) -> str:
    """A line with its names renamed: where it binds them, between braces, and in conditions outside of quotes."""

    def one(found: re.Match[str]) -> str:
        return names.get(found[0], found[0])

    head = BINDS.match(line)
    assert head is not None
    begin, rest = line[: head.end()], line[head.end() :]
    begin = re.sub(r"(?<=param )\w+|\w+(?= <- )|(?<=for )\w+|(?<=fork )\w+", one, begin)
    line = begin + re.sub(r"(?<=\{)\w+", one, rest)
    if (asked := CONDITION.match(line)) is None:
        return line
    parts = re.split(r'("[^"]*")', asked[2])
    parts[::2] = [re.sub(r"(?<![\w.])[A-Za-z_]\w*(?!\()", one, part) for part in parts[::2]]
    return asked[1] + "".join(parts) + line[asked.end(2) :]


def renamings(
    text: str, pool: Sequence[str], begins: Callable[[str], bool]
) -> Iterator[dict[str, str]]:
    """Every renaming of a plan's bound names to different names of a pool, of which each beginning of the plan that ends before
    a new name is one that `begins` takes."""
    lines = text.splitlines(keepends=True)
    order = [(number, name) for number, line in enumerate(lines) for name in bound(line)]
    first = {name: number for number, name in reversed(order)}

    def go(names: dict[str, str], left: list[str]) -> Iterator[dict[str, str]]:
        until = first[left[0]] if left else len(lines)
        if not begins("".join(renamed(line, names) for line in lines[:until])):
            return
        if not left:
            yield names
            return
        for other in pool:
            if other not in names.values():
                yield from go({**names, left[0]: other}, left[1:])

    yield from go({}, sorted(first, key=lambda name: first[name]))
