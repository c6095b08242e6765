"""What the parts of a body do, in order, to the paths that they do not name (`files` asks for it path by path)."""

from __future__ import annotations

from .bodies import Effects, elsewhere
from .effects import SAME, Effect, Exits, composed, then
from .paths import Path


class Log:
    """Effects of parts in their order. What the commands of any stretch up to the end do is joined from a few blocks."""

    def __init__(self) -> None:
        self.entries: list[Effects] = []
        self._before: list[int] = []  # by entry: the commands before it
        self._blocks: list[list[Effect]] = [
            []
        ]  # by size (a power of two): what the commands of each block do
        self._known: dict[int, tuple[int, Effect]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, entry: Effects) -> None:
        """Puts a part at the end."""
        self.entries.append(entry)
        self._before.append(len(self._blocks[0]))
        if entry.rest is SAME:
            return
        size, effect = 0, entry.rest
        while True:
            if size == len(self._blocks):
                self._blocks.append([])
            blocks = self._blocks[size]
            blocks.append(effect)
            if len(blocks) % 2:
                return
            effect = then(blocks[-2], blocks[-1])
            size += 1

    def commands(self, start: int) -> Effect:
        """What the commands from an entry to the end do."""
        count = len(self._blocks[0])
        at = self._before[start] if start < len(self._before) else count
        return self._joined(at, count)

    def _joined(self, at: int, count: int) -> Effect:
        """What the commands from a number on do: those of the longest block that begins there, and then of the rest."""
        if at == count:
            return SAME
        known = self._known.get(at)
        if known is not None and known[0] == count:
            return known[1]
        size = 0
        while not at >> size & 1 and at + (2 << size) <= count:
            size += 1
        effect = then(self._blocks[size][at >> size], self._joined(at + (1 << size), count))
        self._known[at] = count, effect
        return effect

    def since(self, path: Path, found: Effect, start: int, *, by_commands: bool) -> Effect:
        """What was `found` to happen to a path before an entry, and then all from there. `by_commands`: nothing else does."""
        if start == len(self.entries):
            return found
        if by_commands:
            return then(found, self.commands(start))
        for number in range(start, len(self.entries)):
            found = then(found, elsewhere(path, self.entries[number]))
        return found

    def exits_since(self, found: Effect, start: int) -> Exits:
        """Where that leads to, for a path to which only commands did something since."""
        if start == len(self.entries):
            return found.exits
        more = self.commands(start)
        return found.exits if more is SAME else composed(found.exits, more.exits)
