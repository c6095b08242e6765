"""Files that several branches of a fork may use at the same time."""

from __future__ import annotations

from ....linking.graph import Instance
from ....linking.model import Loop
from .bodies import Effects, perhaps, unnamed
from .effects import COMMANDS, WRITES, only_passes, repeat
from .path_language import APART, CHANCE, KNOWN, NOBODY, SETTLED, hits, opaque
from .paths import Path


class ForkConflicts:
    """`conflicts`: the paths that all branches of a fork write.

    `doubts`: by fork, the pairs of paths that different branches may use at the same time, and whether only a value
    that is unknown makes it so. `noted`: how often something was added to either, known before or not.
    """

    def __init__(self) -> None:
        self.conflicts: dict[tuple[int, Path], tuple[Instance, Loop]] = {}
        self.doubts: dict[int, tuple[Instance, Loop, dict[tuple[Path, Path], int]]] = {}
        self.noted = 0

    def turns(self, instance: Instance, node: Loop, outer: Effects, *, noted: bool) -> Effects:
        """What a loop does whose turns do `outer`. `noted`: a path that all branches of a fork write is a conflict."""
        paths = {}
        for path, effect in outer.paths.items():
            if (
                node.kind == "fork"
                and node.most != 1
                and effect.uses == WRITES
                and path[0] != SETTLED
            ):
                if noted:
                    self.noted += 1
                    self.conflicts.setdefault((id(node), path), (instance, node))
                paths[path] = repeat(effect, 0, 1)  # what turns do to each other is said by that
            else:
                paths[path] = repeat(effect, node.least, node.most)
        wild = outer.wild if node.least else perhaps(outer.wild)
        return Effects(paths, repeat(outer.rest, node.least, node.most), wild, outer.fixed)

    def look_at(self, instance: Instance, node: Loop, branch: Effects, local: set[str]) -> None:
        """Notes the paths that two branches may use at the same time, one of them changing the file."""
        pairs: dict[tuple[Path, Path], int] = {}
        files = [path for path, effect in branch.paths.items() if not only_passes(effect)]
        for one, (bits, _) in (*branch.wild.items(), *branch.fixed.items()):
            if bits & COMMANDS:
                continue
            there = unnamed(one, local)
            if there != one:
                pairs[one, one] = CHANCE
            elif any(type(part) is tuple and part[0] == NOBODY for part in one):
                pairs[one, one] = CHANCE if opaque(one) else KNOWN
            for other in files:
                if other != one and other[0] != SETTLED and (met := hits(there, other)) != APART:
                    pairs[one, other] = met
        if pairs:
            self.noted += 1
            self.doubts.setdefault(id(node), (instance, node, {}))[2].update(pairs)
