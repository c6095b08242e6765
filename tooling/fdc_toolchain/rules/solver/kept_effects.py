"""What loops and `if`s do to files, kept from one check of an edited plan to the next (`linking.kept`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ...linking.bound import every
from ...linking.model import Choice, Invoke, Loop, Node
from .files.bodies import Outcomes
from .files.failures import CauseTable
from .files.fork_conflicts import ForkConflicts

MOST_CAUSES = 4
"""All is forgotten when so many times as many causes are known as after the first check: edits leave some behind."""


class KeptEffects:
    """By node, what it does to files. `lasting`: it is used for more than one check.

    A node that calls no plan does the same as long as it is the same object and all that its paths are read with is the same.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        self.lasting = lasting
        self._tables: dict[str, CauseTable] = {}
        self._ground: Hashable = None
        self._first = 0
        self._known: dict[int, tuple[Node, frozenset[str], Outcomes]] = {}

    def stand_on(self, ground: Hashable) -> None:
        """Forgets all where something else is known of the plans and the workspace than before."""
        if not self.lasting:
            return
        count = sum(len(table.groups) for table in self._tables.values())
        if ground != self._ground or self._first and count > MOST_CAUSES * self._first:
            self._tables, self._known, self._ground, self._first = {}, {}, ground, 0
        elif not self._first:
            self._first = count

    def table(self, key: str) -> CauseTable:
        """The causes of a plan, by its key."""
        return self._tables.setdefault(key, CauseTable()) if self.lasting else CauseTable()

    def of(
        self,
        node: Loop | Choice,
        unstable: frozenset[str],
        forks: ForkConflicts,
        make: Callable[[], Outcomes],
    ) -> Outcomes:
        """What a node does, where these names are not followed. What forks in it do to each other is found anew each time."""
        row = self._known.get(id(node))
        if row is not None and row[1] == unstable:
            return row[2]
        before = forks.noted
        found = make()
        if before == forks.noted and not any(isinstance(inner, Invoke) for inner in every([node])):
            self._known[id(node)] = node, unstable, found  # held, so that no other has its id
        return found
