"""What one plan knows of files as it goes on: what stands in them, and who chose whether they are there."""

from __future__ import annotations

from ....linking.model import Unit
from ....syntax import tree
from .earlier import Earlier
from .file_taint import Pattern, Stored, hidden, meet, read_back, spelled
from .labels import DECIDES, FILES, SEES, THERE, TRUSTED, Labels


class PlanFiles:
    """Labels by path: `writes`, of what this plan and those it calls wrote; `there`, of what chose whether a file is there.

    `earlier`: what earlier runs wrote. `outside`: the files that others wrote, as the settings say. `sees`: the label of what
    lies where commands see it. `before`: what an earlier run of this plan may have left, `looked` where it was asked for.
    `called`: some plan here calls this one.
    """

    def __init__(
        self, labels: Labels, earlier: Earlier, outside: tuple[Pattern, ...], *, called: bool
    ) -> None:
        self.labels = labels
        self.earlier = earlier
        self.outside = outside
        self.called = called
        self.sees = TRUSTED
        self.writes = Stored()
        self.there = Stored()
        self.before = Stored()
        self.looked: set[Pattern] = set()
        self.at: tree.Statement | None = None
        self.shown: dict[int, tree.Statement] = {}

    def begin(self) -> None:
        """Back to the start of the plan; what it left for its next run is kept."""
        self.writes, self.there, self.sees = Stored(), Stored(), TRUSTED
        self.looked.clear()

    def settled(self) -> bool:
        """True at the end of the plan where its next run finds nothing more in the files that are read."""
        before, self.before = self.before, self.writes.lasting()
        return all(self.before.get(pattern) == before.get(pattern) for pattern in self.looked)

    def given(self, name: str) -> int:
        """What a caller gives. Who calls a plan that no plan calls is its user."""
        return self.labels.stands_for(name) if self.called else TRUSTED

    def stored(self, pattern: Pattern) -> int:
        """What may stand in files: what this plan and those it calls wrote, and what its callers did."""
        here = self.writes.get(pattern) | self.earlier.texts.get(pattern)
        return here | self.given(FILES + spelled(pattern)) if self.called else here

    def left(self, pattern: Pattern) -> int:
        """What an earlier run may have left in files: all that this plan writes outside of the folder of its run."""
        self.looked.add(pattern)
        return self.before.get(pattern)

    def of_others(self, pattern: Pattern, where: tuple[Unit, tree.Statement, str]) -> int:
        """What others wrote into files, as the settings say. `where`: the plan, statement and tool that look at it."""
        named = any(meet(pattern, one) for one in self.outside)
        return self.labels.of("untrusted", *where) if named else TRUSTED

    def holds(self, pattern: Pattern, where: tuple[Unit, tree.Statement, str]) -> int:
        """All that may stand in files."""
        return self.stored(pattern) | self.left(pattern) | self.of_others(pattern, where)

    def exists(self, pattern: Pattern) -> int:
        """What chose whether files are there: in this run, in its callers, and in earlier runs as the table says."""
        here = self.there.get(pattern) | self.earlier.there.get(pattern)
        return here | self.given(THERE + spelled(pattern)) if self.called else here

    def of_source(self, source: str, pattern: Pattern) -> int:
        """What a callee is given under a name that stands for files."""
        if source.startswith(FILES):
            return self.stored(pattern) | self.left(pattern)
        return self.exists(pattern)

    def write(self, pattern: Pattern, label: int) -> None:
        label &= self.labels.tainting
        if label:
            self.writes.put(pattern, label)
            self._seen(pattern, label)

    def touch(self, pattern: Pattern, label: int) -> None:
        """Notes what chose whether files are there. A model may choose that."""
        label &= self.labels.outside
        if label:
            self.there.put(pattern, label)
            self._seen(pattern, label)

    def _seen(self, pattern: Pattern, label: int) -> None:
        if not hidden(pattern):
            if label & ~self.sees and self.at is not None:
                self.shown.setdefault(label & ~self.sees, self.at)
            self.sees |= label

    def shown_by(self, label: int) -> tree.Statement | None:
        """The statement that first put a text of the label where commands see it."""
        return next((step for bits, step in self.shown.items() if bits & label), None)

    def changed(self) -> tuple[int, int, int]:
        """Tells states of the files apart."""
        return self.writes.changes, self.there.changes, self.sees

    def sees_now(self) -> int:
        """What lies where a command sees it."""
        here = self.sees | self.earlier.sees
        return here | self.given(SEES) if self.called else here

    def files(self, label: int, sources: set[str]) -> tuple[tuple[str, Pattern], ...]:
        """The files whose text, or whether they are there, a plan's summary speaks of: in its labels, or in `sources`."""
        label |= self.sees
        for written in (*self.writes.labels.values(), *self.there.labels.values()):
            label |= written
        sources = sources | {atom.source for atom in self.labels.atoms(label & self.labels.given)}
        plain = {source.removeprefix(DECIDES) for source in sources}
        files = sorted(source for source in plain if source.startswith((FILES, THERE)))
        return tuple((source, read_back(source.split(":", 1)[1])) for source in files)
